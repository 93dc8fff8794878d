//! NumPy's type promotion.

use crate::DType;

impl DType {
    /// Returns the smallest type to which all types convert by the rules of `numpy.result_type`; `None`
    /// without any types.
    ///
    /// ```
    /// use forthwith_dtype::DType;
    ///
    /// assert_eq!(DType::promote([DType::Int8, DType::UInt8]), Some(DType::Int16));
    /// assert_eq!(DType::promote([DType::Int32, DType::Float32]), Some(DType::Float64));
    /// ```
    #[must_use]
    pub fn promote(types: impl IntoIterator<Item = Self>) -> Option<Self> {
        // Width in bytes of the widest type of each kind.
        let (mut is_any, mut signed, mut unsigned, mut float) = (false, 0, 0, 0);
        for dtype in types {
            is_any = true;
            let widest = match dtype {
                Self::Bool => continue,
                Self::Int8 | Self::Int16 | Self::Int32 | Self::Int64 => &mut signed,
                Self::UInt8 | Self::UInt16 | Self::UInt32 | Self::UInt64 => &mut unsigned,
                Self::Float32 | Self::Float64 => &mut float,
            };
            *widest = dtype.size().max(*widest);
        }
        Some(match (float, signed, unsigned) {
            _ if !is_any => return None,
            // A float represents all integers of at most half its bits.
            (1.., ..) if float == 8 || signed.max(unsigned) > 2 => Self::Float64,
            (1.., ..) => Self::Float32,
            (0, 0, 0) => Self::Bool,
            (0, 0, 1) => Self::UInt8,
            (0, 0, 2) => Self::UInt16,
            (0, 0, 3..=4) => Self::UInt32,
            (0, 0, _) => Self::UInt64,
            _ => match signed.max(2 * unsigned) {
                0..=1 => Self::Int8,
                2 => Self::Int16,
                3..=4 => Self::Int32,
                5..=8 => Self::Int64,
                _ => Self::Float64,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use DType::{Bool, Float32, Float64, Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64};

    #[test]
    fn types_are_promoted_as_numpy_promotes_them() {
        for (types, expected) in [
            (&[Bool][..], Bool),
            (&[Bool, Int8], Int8),
            (&[Int8, UInt8], Int16),
            (&[Int8, UInt16], Int32),
            (&[Int8, UInt32], Int64),
            (&[Int8, UInt64], Float64),
            (&[Int16, UInt8], Int16),
            (&[Int32, UInt8], Int32),
            (&[Int32, UInt32], Int64),
            (&[Int32, Int64], Int64),
            (&[Int64, UInt32], Int64),
            (&[Int64, UInt64], Float64),
            (&[Int64, Float64], Float64),
            (&[Int16, Float32], Float32),
            (&[Int32, Float32], Float64),
            (&[Float32, Float64], Float64),
            (&[UInt8, UInt16], UInt16),
            (&[UInt8, UInt32], UInt32),
            (&[UInt8, UInt32, UInt64], UInt64),
            (&[Int16, UInt16, Float32], Float32),
        ] {
            assert_eq!(DType::promote(types.iter().copied()), Some(expected), "{types:?}");
            assert_eq!(DType::promote(types.iter().rev().copied()), Some(expected), "{types:?}");
        }
        assert_eq!(DType::promote([]), None);
    }
}
