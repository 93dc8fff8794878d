//! Bulk words such as `#2rle->`: spelling and external bytecode.

use super::BulkWord;

/// One bulk instruction with all that is known about it when compiling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bulk {
    pub(crate) word: BulkWord,
    /// Width of the items of `#rle->`; 0 means that it is on the stack. 0 for other words.
    pub(crate) bits: u8,
    /// The input that is read; for levels, the definition levels.
    pub(crate) input: u32,
    /// Repetition levels, if there are any.
    pub(crate) repetition: Option<u32>,
    pub(crate) output: u32,
}

/// Numbers of an instruction, opcode included.
const LENGTH: usize = 4;
/// All of them are repeated and go to an output, in the notation of parsers.
const FLAGS: i32 = 3;

impl Bulk {
    /// Reads the word; inputs and output are filled in by the caller.
    pub(crate) fn parse(word: &str) -> Option<Self> {
        let rest = word.strip_prefix('#')?;
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, text) = rest.split_at(digits);
        let word = BulkWord::ALL.iter().copied().find(|word| word.text() == text)?;
        let bits = match (word, digits) {
            (_, "") => 0,
            (BulkWord::Rle, _) => digits.parse::<u8>().ok().filter(|bits| (1..=64).contains(bits))?,
            _ => return None,
        };
        Some(Self { word, bits, input: 0, repetition: None, output: 0 })
    }

    /// Whether it reads levels, and may read repetition levels.
    pub(crate) fn is_levels(self) -> bool {
        self.word != BulkWord::Rle
    }

    /// Items taken from the stack.
    pub(crate) fn pops(self) -> usize {
        self.word.pops() + usize::from(self.word == BulkWord::Rle && self.bits == 0)
    }

    /// Items left on the stack.
    pub(crate) fn pushes(self) -> usize {
        self.word.pushes()
    }

    /// The word as written.
    pub(crate) fn word(self) -> String {
        let bits = if self.bits == 0 { String::new() } else { self.bits.to_string() };
        format!("#{bits}{}", self.word.text())
    }

    pub(crate) fn encode(self, to: &mut Vec<i32>) {
        // Levels have no width; the place of it tells which input repetition levels come from.
        let extra = if self.is_levels() {
            self.repetition.map_or(0, |input| input as i32 + 1)
        } else {
            i32::from(self.bits)
        };
        to.extend([!(FLAGS + i32::from(self.word as u8) * 8), self.input as i32, extra, self.output as i32]);
    }

    /// The instruction at the head of `code`, if it is a bulk word, and its length.
    pub(crate) fn decode(code: &[i32]) -> Option<(Self, usize)> {
        let &[first, input, extra, output] = code.get(..LENGTH)? else { return None };
        let flags = !first;
        let word = *BulkWord::ALL.iter().find(|&&word| flags == FLAGS + i32::from(word as u8) * 8)?;
        let mut bulk = Self { word, bits: 0, input: input as u32, repetition: None, output: output as u32 };
        if bulk.is_levels() {
            bulk.repetition = (extra > 0).then(|| extra as u32 - 1);
        } else {
            bulk.bits = extra as u8;
        }
        Some((bulk, LENGTH))
    }
}
