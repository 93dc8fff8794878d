//! The replacements for missing values, where neither a tree nor an option of an RNTuple has a mark for them.

use forthwith_columns::DType;

/// A number of this type in native order; nothing if the type does not have it. Digits of real numbers may be lost.
#[must_use]
pub fn number_as(dtype: DType, number: f64) -> Option<Vec<u8>> {
    macro_rules! whole {
        ($ty:ty) => {
            (number as $ty as f64 == number).then(|| (number as $ty).to_ne_bytes().to_vec())
        };
    }
    match dtype {
        DType::Bool => (number == 0.0 || number == 1.0).then(|| vec![u8::from(number == 1.0)]),
        DType::Int8 => whole!(i8),
        DType::Int16 => whole!(i16),
        DType::Int32 => whole!(i32),
        DType::Int64 => whole!(i64),
        DType::UInt8 => whole!(u8),
        DType::UInt16 => whole!(u16),
        DType::UInt32 => whole!(u32),
        DType::UInt64 => whole!(u64),
        DType::Float32 => {
            let single = number as f32;
            (single.is_finite() || !number.is_finite()).then(|| single.to_ne_bytes().to_vec())
        }
        DType::Float64 => Some(number.to_ne_bytes().to_vec()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_a_type_or_none() {
        for dtype in DType::ALL {
            let zero = number_as(*dtype, 0.0).map(|bytes| bytes.len());
            assert_eq!(zero, Some(dtype.size()), "{dtype}");
            let real = matches!(dtype, DType::Float32 | DType::Float64);
            for number in [0.5, f64::NAN, f64::INFINITY] {
                assert_eq!(number_as(*dtype, number).is_some(), real, "{number} as {dtype}");
            }
            let signed = real || dtype.name().starts_with("int");
            assert_eq!(number_as(*dtype, -9.0).is_some(), signed, "{dtype}");
            let wide = dtype.size() > 1;
            assert_eq!(number_as(*dtype, 300.0).is_some(), wide, "{dtype}");
            assert_eq!(number_as(*dtype, 1e300).is_some(), *dtype == DType::Float64, "{dtype}");
        }
        assert_eq!(number_as(DType::Int16, -2.0), Some((-2i16).to_ne_bytes().to_vec()));
        assert_eq!(number_as(DType::Bool, 1.0), Some(vec![1]));
    }
}
