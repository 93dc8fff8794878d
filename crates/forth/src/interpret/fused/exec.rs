//! The state that native code works on.

use crate::output::Outputs;

/// Borrowed parts of the machine while a plan runs.
pub(super) struct Exec<'a> {
    /// The input that values are read from.
    pub(super) data: &'a [u8],
    pub(super) inputs: &'a [&'a [u8]],
    pub(super) positions: &'a mut [usize],
    pub(super) variables: &'a mut [i64],
    pub(super) outputs: &'a mut Outputs,
}

#[inline(always)]
pub(super) fn chunk<const N: usize>(data: &[u8], at: usize) -> Option<[u8; N]> {
    data.get(at..)?.first_chunk::<N>().copied()
}
