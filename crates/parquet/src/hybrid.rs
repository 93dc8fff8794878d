//! Small numbers in runs: repeated, or packed into bits.

use forthwith_plan::{Error, ErrorKind, Result};

/// Reads a run-length/bit-packed hybrid.
#[derive(Clone, Debug)]
pub(crate) struct Hybrid<'a> {
    bytes: &'a [u8],
    at: usize,
    width: u32,
    run: Run<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Run<'a> {
    Same { left: usize, value: u32 },
    Packed { left: usize, bytes: &'a [u8], next: usize },
}

#[cold]
fn cut() -> Error {
    Error::new(ErrorKind::Fault { what: "packed numbers end before the last value".into() })
}

impl<'a> Hybrid<'a> {
    pub(crate) fn new(bytes: &'a [u8], width: u32) -> Result<Self> {
        if width > 32 {
            let limit = 32;
            return Err(ErrorKind::OutOfRange {
                what: "bits of a packed number",
                found: width.into(),
                limit,
            }
            .into());
        }
        Ok(Self { bytes, at: 0, width, run: Run::Same { left: 0, value: 0 } })
    }

    /// Levels as they were packed once, the highest bit first, without runs.
    pub(crate) fn old(bytes: &[u8], width: u32, count: usize) -> Result<Vec<u8>> {
        let bits = count.checked_mul(width as usize).ok_or_else(cut)?;
        if bytes.len() < bits.div_ceil(8) {
            return Err(cut());
        }
        let bit = |at: usize| bytes[at / 8] >> (7 - at % 8) & 1;
        let level =
            |at: usize| (0..width as usize).fold(0, |level, b| level << 1 | bit(at * width as usize + b));
        Ok((0..count).map(level).collect())
    }

    /// Begins the next run.
    fn next(&mut self) -> Result<()> {
        let mut head = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = *self.bytes.get(self.at).ok_or_else(cut)?;
            self.at += 1;
            head |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        let rest = &self.bytes[self.at..];
        let count = usize::try_from(head >> 1).map_err(|_| cut())?;
        if head & 1 == 0 {
            let width = self.width.div_ceil(8) as usize;
            let bytes = rest.get(..width).ok_or_else(cut)?;
            let value = bytes.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte));
            self.at += width;
            self.run = Run::Same { left: count, value };
        } else {
            let left = count.checked_mul(8).ok_or_else(cut)?;
            // The last group may be cut behind the last value.
            let bytes = &rest[..rest.len().min(count.saturating_mul(self.width as usize))];
            self.at += bytes.len();
            self.run = Run::Packed { left, bytes, next: 0 };
        }
        Ok(())
    }

    /// The next numbers, a piece at a time: `same` for those of one value, `packed` for others with the bytes they are in and the first's number.
    fn pieces(
        &mut self,
        count: usize,
        mut same: impl FnMut(usize, usize, u32),
        mut packed: impl FnMut(usize, usize, &[u8], usize),
    ) -> Result<()> {
        let width = self.width as usize;
        let mut done = 0;
        while done < count {
            match &mut self.run {
                Run::Same { left: 0, .. } | Run::Packed { left: 0, .. } => self.next()?,
                Run::Same { left, value } => {
                    let here = (*left).min(count - done);
                    same(done, here, *value);
                    *left -= here;
                    done += here;
                }
                Run::Packed { left, bytes, next } => {
                    let here = (*left).min(count - done);
                    if (*next + here).saturating_mul(width) > bytes.len().saturating_mul(8) {
                        return Err(cut());
                    }
                    packed(done, here, bytes, *next);
                    *left -= here;
                    *next += here;
                    done += here;
                }
            }
        }
        Ok(())
    }

    /// Numbers of eight bits at most. Answers the value if it is the same for all.
    pub(crate) fn levels(&mut self, out: &mut [u8]) -> Result<Option<u8>> {
        // Of the usual long run nothing needs to be looked at.
        if let Run::Same { left, value } = &mut self.run
            && *left >= out.len()
        {
            *left -= out.len();
            out.fill(*value as u8);
            return Ok(Some(*value as u8));
        }
        let width = self.width;
        let out = std::cell::RefCell::new(out);
        let count = out.borrow().len();
        self.pieces(
            count,
            |at, here, value| out.borrow_mut()[at..at + here].fill(value as u8),
            |at, here, bytes, first| unpack_levels(bytes, first, width, &mut out.borrow_mut()[at..at + here]),
        )?;
        Ok(None)
    }

    pub(crate) fn numbers(&mut self, out: &mut [u32]) -> Result<()> {
        let width = self.width;
        let out = std::cell::RefCell::new(out);
        let count = out.borrow().len();
        self.pieces(
            count,
            |at, here, value| out.borrow_mut()[at..at + here].fill(value),
            |at, here, bytes, first| {
                for (number, to) in (first..).zip(&mut out.borrow_mut()[at..at + here]) {
                    *to = bits(bytes, number * width as usize, width) as u32;
                }
            },
        )
    }
}

/// So many bits (57 at most) from this one on; what is not there is 0.
#[inline]
pub(crate) fn bits(bytes: &[u8], at: usize, width: u32) -> u64 {
    let rest = bytes.get(at / 8..).unwrap_or_default();
    let word = match rest.first_chunk::<8>() {
        Some(word) => u64::from_le_bytes(*word),
        None => rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    };
    word >> (at % 8) & ((1 << width) - 1)
}

/// What the eight bits of a byte are, and its four pairs.
static ONES: [[u8; 8]; 256] = table();
static TWOS: [[u8; 4]; 256] = table();

const fn table<const N: usize>() -> [[u8; N]; 256] {
    let mut table = [[0; N]; 256];
    let width = 8 / N;
    let mut byte = 0;
    while byte < 256 {
        let mut at = 0;
        while at < N {
            table[byte][at] = (byte >> (at * width)) as u8 & ((1 << width) - 1);
            at += 1;
        }
        byte += 1;
    }
    table
}

fn unpack_levels(bytes: &[u8], first: usize, width: u32, out: &mut [u8]) {
    let aligned = (first * width as usize).is_multiple_of(8);
    let from = bytes.get(first * width as usize / 8..).unwrap_or_default();
    let done = match width {
        1 if aligned => expand(from, &ONES, out),
        2 if aligned => expand(from, &TWOS, out),
        _ => 0,
    };
    for (number, to) in (first + done..).zip(&mut out[done..]) {
        *to = bits(bytes, number * width as usize, width) as u8;
    }
}

/// Whole bytes by the table; answers how many levels.
fn expand<const N: usize>(bytes: &[u8], table: &[[u8; N]; 256], out: &mut [u8]) -> usize {
    let (out, _) = out.as_chunks_mut::<N>();
    for (to, byte) in out.iter_mut().zip(bytes) {
        *to = table[usize::from(*byte)];
    }
    N * out.len().min(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_and_packed_numbers_take_turns() {
        // Five times 3, then sixteen packed numbers of two bits, then 2 for ever.
        let bytes = [10, 3, 0b101, 0b1110_0100, 0b1110_0100, 0b0001_1011, 0b0001_1011, 0xfe, 0x7f, 2];
        let want = [3, 3, 3, 3, 3, 0, 1, 2, 3, 0, 1, 2, 3, 3, 2, 1, 0, 3, 2, 1, 0, 2, 2];
        for step in [1, 2, 3, 7, 23] {
            let mut hybrid = Hybrid::new(&bytes, 2).unwrap();
            let mut numbers = Hybrid::new(&bytes, 2).unwrap();
            let (mut out, mut wide) = (vec![0; want.len()], vec![0; want.len()]);
            out.chunks_mut(step).for_each(|out| assert!(hybrid.levels(out).is_ok()));
            wide.chunks_mut(step).for_each(|out| numbers.numbers(out).unwrap());
            assert_eq!(out, want);
            assert_eq!(wide, want.map(u32::from));
        }
        let mut cut = Hybrid::new(&bytes[..4], 2).unwrap();
        assert!(cut.levels(&mut [0; 5]).is_ok() && cut.levels(&mut [0; 4]).is_ok());
        assert!(cut.levels(&mut [0; 1]).is_err());
    }

    #[test]
    fn numbers_of_no_bits_are_zero() {
        let mut hybrid = Hybrid::new(&[3, 8], 0).unwrap();
        let mut out = [9; 12];
        hybrid.numbers(&mut out).unwrap();
        assert_eq!(out, [0; 12]);
        assert_eq!(Hybrid::old(&[0b0110_1100], 2, 4).unwrap(), [1, 2, 3, 0]);
    }
}
