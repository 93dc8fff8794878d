//! Encodings of single values in files.

use crate::DType;
use serde::{Deserialize, Serialize};

/// Encoding of a fixed-width value in a file, and its type in a column.
///
/// The two packed encodings are those of ROOT's `Float16_t` and `Double32_t`; they are here because a column
/// kernel decodes them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Encoding {
    /// The column's own type, most significant byte first.
    Big(DType),
    /// The column's own type, least significant byte first.
    Little(DType),
    /// One byte; anything but zero is true.
    Bool,
    /// One byte, 0 or 1; other values are invalid.
    StrictBool,
    /// A big-endian `f32` that becomes a `f64` (`Double32_t` without a range).
    Widened,
    /// A big-endian `u32`: `value / factor + min`, computed in double precision, rounded once to `to`.
    Scaled {
        /// Steps per unit.
        factor: f64,
        /// The value of zero.
        min: f64,
        /// The largest value; larger ones were clamped to it when they were written.
        max: f64,
        /// `Float32` or `Float64`.
        to: DType,
    },
    /// One exponent byte, then a big-endian `u16` with `bits` mantissa bits below a rounding bit and a sign.
    Truncated {
        /// Mantissa bits, 2 to 14.
        bits: u8,
        /// `Float32` or `Float64`.
        to: DType,
    },
}

impl Encoding {
    /// Number of bytes of a value in the file.
    #[must_use]
    pub const fn width(self) -> usize {
        match self {
            Self::Big(t) | Self::Little(t) => t.size(),
            Self::Bool | Self::StrictBool => 1,
            Self::Widened | Self::Scaled { .. } => 4,
            Self::Truncated { .. } => 3,
        }
    }

    /// Element type of the column.
    #[must_use]
    pub const fn dtype(self) -> DType {
        match self {
            Self::Big(t) | Self::Little(t) => t,
            Self::Bool | Self::StrictBool => DType::Bool,
            Self::Widened => DType::Float64,
            Self::Scaled { to, .. } | Self::Truncated { to, .. } => to,
        }
    }
}
