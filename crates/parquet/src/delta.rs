//! Delta encoding of integers, in blocks of miniblocks.

use forthwith_kernels::hybrid::unpack_numbers;
use forthwith_plan::{Error, Result};

/// Decoder of `DELTA_BINARY_PACKED`.
#[derive(Clone, Debug)]
pub(crate) struct Delta<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Number of values that are not read yet.
    left: u64,
    last: i64,
    /// Whether `last` is the first value, which is not returned yet.
    first: bool,
    minis: usize,
    /// Number of values in a miniblock.
    size: usize,
    /// Smallest difference in the block, and the bit widths of its remaining miniblocks.
    least: i64,
    widths: &'a [u8],
    /// Bytes and bit width of the miniblock, and the index of the next value in it.
    mini: &'a [u8],
    width: u32,
    next: usize,
}

#[cold]
fn bad(what: &str) -> Error {
    Error::fault(format!("numbers by their differences: {what}"))
}

impl<'a> Delta<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Result<Self> {
        let mut this = Self {
            bytes,
            at: 0,
            left: 0,
            last: 0,
            first: true,
            minis: 0,
            size: 0,
            least: 0,
            widths: &[],
            mini: &[],
            width: 0,
            next: 0,
        };
        let block = this.varint()?;
        let minis = this.varint()?;
        this.left = this.varint()?;
        let first = this.varint()?;
        this.last = unzigzag(first);
        // The limits are generous: writers use blocks of 128 or 256 values with miniblocks of 32 or 64.
        if minis == 0 || minis > 1 << 16 || block > 1 << 24 || !block.is_multiple_of(minis) || block == 0 {
            return Err(bad("impossible blocks"));
        }
        this.minis = minis as usize;
        this.size = (block / minis) as usize;
        if !this.size.is_multiple_of(8) {
            return Err(bad("impossible blocks"));
        }
        this.next = this.size;
        Ok(this)
    }

    fn varint(&mut self) -> Result<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = *self.bytes.get(self.at).ok_or_else(|| bad("cut off"))?;
            self.at += 1;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(bad("a number of more than ten bytes"))
    }

    pub(crate) fn read(&mut self, out: &mut [i64]) -> Result<()> {
        if self.left < out.len() as u64 {
            return Err(bad("fewer than the page has"));
        }
        let mut out = out;
        if self.first && !out.is_empty() {
            self.first = false;
            self.left -= 1;
            out[0] = self.last;
            out = &mut out[1..];
        }
        let mut deltas = [0; 64];
        while !out.is_empty() {
            if self.next == self.size {
                self.mini()?;
            }
            let count = out.len().min(self.size - self.next).min(deltas.len());
            let (here, rest) = out.split_at_mut(count);
            unpack_numbers(self.mini, self.next, self.width, &mut deltas[..count]);
            for (to, delta) in here.iter_mut().zip(deltas) {
                self.last = self.last.wrapping_add(self.least).wrapping_add(delta as i64);
                *to = self.last;
            }
            self.next += count;
            self.left -= count as u64;
            out = rest;
        }
        Ok(())
    }

    /// Starts the next miniblock and, if necessary, the next block.
    fn mini(&mut self) -> Result<()> {
        if self.widths.is_empty() {
            let least = self.varint()?;
            self.least = unzigzag(least);
            self.widths = self.bytes.get(self.at..self.at + self.minis).ok_or_else(|| bad("cut off"))?;
            self.at += self.minis;
        }
        let Some((&width, widths)) = self.widths.split_first() else { return Err(bad("no miniblocks")) };
        if width > 64 {
            return Err(bad("more than 64 bits"));
        }
        self.widths = widths;
        self.width = width.into();
        let rest = &self.bytes[self.at..];
        // The last miniblock may end after the last value.
        let there = self.left.min(self.size as u64) as usize;
        if rest.len() < (there * usize::from(width)).div_ceil(8) {
            return Err(bad("cut off"));
        }
        self.mini = &rest[..rest.len().min(self.size / 8 * usize::from(width))];
        self.at += self.mini.len();
        self.next = 0;
        Ok(())
    }

    /// Skips the remaining values, and returns the offset of the bytes after them.
    pub(crate) fn end(mut self) -> Result<usize> {
        let mut buffer = [0; 128];
        while self.left > 0 {
            let here = self.left.min(128) as usize;
            self.read(&mut buffer[..here])?;
        }
        Ok(self.at)
    }
}

const fn unzigzag(raw: u64) -> i64 {
    (raw >> 1) as i64 ^ -((raw & 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_added_up() {
        // The example of the format's description: 7, 5, 3, 1, 2, 3, 4, 5 in one miniblock of 8.
        let bytes = [8, 1, 8, 14, 3, 2, 0b1100_0000, 0b0011_1111];
        let mut out = [0; 8];
        let mut delta = Delta::new(&bytes).unwrap();
        delta.read(&mut out[..3]).unwrap();
        delta.read(&mut out[3..]).unwrap();
        assert_eq!(out, [7, 5, 3, 1, 2, 3, 4, 5]);
        assert!(delta.read(&mut [0]).is_err());
        assert!(Delta::new(&[8, 0, 8, 14]).is_err());
    }
}
