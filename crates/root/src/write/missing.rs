//! The replacements for missing values, where neither a tree nor an option of an RNTuple has a mark for them.

use forthwith_columns::{DType, with_integer};

/// A number of this type in native order; nothing if the type does not have it. Digits of real numbers may be lost.
#[must_use]
pub fn number_as(dtype: DType, number: f64) -> Option<Vec<u8>> {
    with_integer!(dtype,
        T => (number as T as f64 == number).then(|| (number as T).to_ne_bytes().to_vec()),
        DType::Bool => (number == 0.0 || number == 1.0).then(|| vec![u8::from(number == 1.0)]),
        DType::Float32 => {
            let single = number as f32;
            (single.is_finite() || !number.is_finite()).then(|| single.to_ne_bytes().to_vec())
        }
        DType::Float64 => Some(number.to_ne_bytes().to_vec()),
    )
}
