//! Loops over whole blocks that decode bytes of a file to items of columns.
//!
//! Each kernel is compiled for several sets of CPU features, one of which is chosen at run time (see
//! [`CpuFeatures`](forthwith_kernels::CpuFeatures)); all give the same bytes. Kernels check the lengths of
//! their arguments and report the row of invalid data; they never panic on it.

mod copy;
mod decode;
mod offsets;
mod parts;
mod planes;
mod short_floats;
mod split;
mod text;

#[cfg(test)]
mod tests;

pub use copy::copy;
pub(crate) use decode::are_truths;
pub use decode::{DecodeError, decode, decode_jagged, decode_strided};
pub use offsets::{OffsetsError, fall, fall_by, offsets_from_bounds, offsets_from_counts, rebase};
pub use planes::{Planes, from_planes, offsets_from_planes, sum_of_planes};
pub use short_floats::{ShortFloats, from_short_floats};
pub use split::{Differences, differences_to_planes, to_bits, to_planes};
pub use text::{BadText, are_texts, check_utf8, check_utf8_by};
