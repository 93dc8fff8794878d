//! The state native code works on.

use crate::output::Outputs;
use forthwith_kernels::settled::settled;

/// Borrowed parts of the machine while a plan runs.
pub(super) struct Exec<'a> {
    /// The input values come from.
    pub(super) data: &'a [u8],
    pub(super) inputs: &'a [&'a [u8]],
    pub(super) positions: &'a mut [usize],
    pub(super) variables: &'a mut [i64],
    pub(super) outputs: &'a mut Outputs,
}

impl Exec<'_> {
    /// The next little-endian u32 of an input other than `data`.
    #[inline(always)]
    pub(super) fn next_u32(&mut self, input: usize) -> Option<u32> {
        let at = self.positions[input];
        let bytes = self.inputs[input].get(at..)?.first_chunk::<4>()?;
        self.positions[input] = at + 4;
        Some(settled(u32::from_le_bytes(*bytes).into()) as u32)
    }
}

#[inline(always)]
pub(super) fn chunk<const N: usize>(data: &[u8], at: usize) -> Option<[u8; N]> {
    data.get(at..)?.first_chunk::<N>().copied()
}
