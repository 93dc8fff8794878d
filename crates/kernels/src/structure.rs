//! Positions of quotes and brackets of JSON text, 64 bytes at a time.

use crate::CpuFeatures;
use crate::levels::compare::{self, Compare, for_each_compare};

/// Number of bytes that one [`Structure`] describes.
pub const LANES: usize = 64;

/// Masks of 64 bytes of text: bit `i` stands for byte `i`. Bytes within quotes are in no mask but `newline`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Structure {
    /// `{` and `[`.
    pub open: u64,
    /// `}` and `]`.
    pub close: u64,
    /// Commas.
    pub comma: u64,
    /// Line feeds, also those within quotes.
    pub newline: u64,
}

/// State of the parser before the next byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QuoteState {
    /// All bits set within quotes, otherwise 0.
    inside: u64,
    /// 1 after a backslash that escapes the next byte, otherwise 0.
    escaped: u64,
}

impl QuoteState {
    /// Whether the next byte is within quotes.
    #[must_use]
    pub const fn is_inside(self) -> bool {
        self.inside != 0
    }
}

/// Appends the masks of a text that continues from `state`: one for every 64 bytes begun. Only a text whose
/// length is a multiple of 64 bytes can be continued by another.
pub fn structure(text: &[u8], state: &mut QuoteState, masks: &mut Vec<Structure>) {
    masks.reserve(text.len().div_ceil(LANES));
    structure_by(CpuFeatures::current(), text, state, masks);
}

for_each_compare!(
    fn structure_by(text: &[u8], state: &mut QuoteState, masks: &mut Vec<Structure>) = structure_body
);

#[inline(always)]
fn structure_body<C: Compare>(text: &[u8], state: &mut QuoteState, masks: &mut Vec<Structure>) {
    let (blocks, rest) = text.as_chunks::<LANES>();
    let mut now = *state;
    masks.extend(blocks.iter().map(|block| masks_of::<C>(block, &mut now)));
    if !rest.is_empty() {
        let mut block = [b' '; LANES];
        block[..rest.len()].copy_from_slice(rest);
        masks.push(masks_of::<C>(&block, &mut now));
    }
    *state = now;
}

#[inline(always)]
fn masks_of<C: Compare>(block: &compare::Block, state: &mut QuoteState) -> Structure {
    // SAFETY: `C` is of the generation that this is compiled for.
    let (equal, folded) = unsafe {
        let equal = |byte| C::equal(block, byte);
        // `[` and `{`, and `]` and `}`, differ in one bit.
        let folded = |byte| C::equal_folded(block, byte);
        ((equal(b'"'), equal(b'\\'), equal(b','), equal(b'\n')), (folded(b'{'), folded(b'}')))
    };
    let (quote, backslash, comma, newline) = equal;
    let quote = quote & !escaped(backslash, &mut state.escaped);
    let inside = fill(quote) ^ state.inside;
    state.inside = ((inside as i64) >> 63) as u64;
    let outside = !inside;
    Structure { open: folded.0 & outside, close: folded.1 & outside, comma: comma & outside, newline }
}

/// Returns the bytes that a backslash escapes.
#[inline(always)]
fn escaped(backslash: u64, carry: &mut u64) -> u64 {
    if backslash == 0 {
        return std::mem::take(carry);
    }
    // A run of backslashes escapes every second one of its bytes and, if its length is odd, the byte after
    // it. Runs that start at even and at odd positions are added up separately.
    const EVEN: u64 = 0x5555_5555_5555_5555;
    let backslash = backslash & !*carry;
    let follows = backslash << 1 | *carry;
    let odd_starts = backslash & !EVEN & !follows;
    let (runs, overflow) = odd_starts.overflowing_add(backslash);
    *carry = u64::from(overflow);
    (EVEN ^ (runs << 1)) & follows
}

/// Sets the bits from each odd-numbered set bit up to before the next one: for quotes, the text between them
/// and the opening quote.
#[inline(always)]
fn fill(bits: u64) -> u64 {
    let mut filled = bits;
    for shift in [1, 2, 4, 8, 16, 32] {
        filled ^= filled << shift;
    }
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computes the masks byte by byte.
    fn plain(text: &[u8]) -> Vec<Structure> {
        let mut masks = vec![Structure::default(); text.len().div_ceil(LANES)];
        let (mut inside, mut escaped) = (false, false);
        for (at, byte) in text.iter().enumerate() {
            let (mask, bit) = (&mut masks[at / LANES], 1 << (at % LANES));
            match byte {
                b'{' | b'[' if !inside => mask.open |= bit,
                b'}' | b']' if !inside => mask.close |= bit,
                b',' if !inside => mask.comma |= bit,
                b'\n' => mask.newline |= bit,
                b'"' if !escaped => inside = !inside,
                _ => {}
            }
            escaped = *byte == b'\\' && !escaped;
        }
        masks
    }

    const BYTES: &[u8] = b"\\\\\\\"\"{}[],\n;\x7f\xdb a";

    #[test]
    fn every_cpu_finds_what_a_loop_finds() {
        let mut seed = 7_u64;
        for length in (0..200).chain([1 << 12]) {
            let mut next = || {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                BYTES[(seed >> 33) as usize % BYTES.len()]
            };
            let text: Vec<u8> = (0..length).map(|_| next()).collect();
            for features in CpuFeatures::available() {
                let (mut masks, mut state) = (Vec::new(), QuoteState::default());
                structure_by(features, &text, &mut state, &mut masks);
                assert_eq!(masks, plain(&text), "{} {text:?}", features.name());
                let (mut pieces, mut state) = (Vec::new(), QuoteState::default());
                for piece in text.chunks(128) {
                    structure_by(features, piece, &mut state, &mut pieces);
                }
                assert_eq!(pieces, masks);
            }
        }
    }
}
