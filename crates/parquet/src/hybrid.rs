//! RLE/bit-packed hybrid encoding of small integers, with the errors of a page.

use forthwith_kernels::hybrid::{CutOff, Hybrid as Runs};
use forthwith_plan::{Error, Result};

/// Decoder of the RLE/bit-packed hybrid encoding.
#[derive(Clone, Debug)]
pub(crate) struct Hybrid<'a>(Runs<'a>);

#[cold]
fn cut(_: CutOff) -> Error {
    Error::fault("packed numbers end before the last value")
}

impl<'a> Hybrid<'a> {
    pub(crate) fn new(bytes: &'a [u8], width: u32) -> Result<Self> {
        if width > 32 {
            return Err(Error::out_of_range("bits of a packed number", width, 32));
        }
        Ok(Self(Runs::new(bytes, width)))
    }

    /// Reads numbers of at most eight bits. Returns the value if all are known to be equal.
    pub(crate) fn levels(&mut self, out: &mut [u8]) -> Result<Option<u8>> {
        self.0.levels(out).map_err(cut)
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.0.is_at_end()
    }

    pub(crate) fn numbers(&mut self, out: &mut [u32]) -> Result<()> {
        self.0.numbers(out).map_err(cut)
    }
}

/// Unpacks levels in the deprecated `BIT_PACKED` encoding, without runs and with the most significant bit
/// first.
pub(crate) fn old_levels(bytes: &[u8], width: u32, count: usize) -> Result<Vec<u8>> {
    let bits = count.checked_mul(width as usize).ok_or_else(|| cut(CutOff))?;
    if bytes.len() < bits.div_ceil(8) {
        return Err(cut(CutOff));
    }
    let bit = |at: usize| bytes[at / 8] >> (7 - at % 8) & 1;
    let level = |at: usize| (0..width as usize).fold(0, |level, b| level << 1 | bit(at * width as usize + b));
    Ok((0..count).map(level).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_levels_have_their_highest_bit_first() {
        assert_eq!(old_levels(&[0b0110_1100], 2, 4).unwrap(), [1, 2, 3, 0]);
        assert!(old_levels(&[0b0110_1100], 2, 5).is_err());
        assert!(Hybrid::new(&[], 33).is_err());
    }
}
