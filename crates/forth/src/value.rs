//! Items of outputs, one at a time: for people, tests and text formats.

use std::fmt;

use crate::dtype::Dtype;
use crate::output::Output;

/// One item of an output.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// Of `bool`.
    Bool(bool),
    /// Of `int8` to `int64`.
    Signed(i64),
    /// Of `uint8` to `uint64`.
    Unsigned(u64),
    /// Of `float32`.
    Single(f32),
    /// Of `float64`.
    Double(f64),
}

impl Output {
    /// The items, converted one by one. Whoever is in a hurry takes [`Self::as_bytes`].
    pub fn values(&self) -> impl DoubleEndedIterator<Item = Value> + ExactSizeIterator + '_ {
        let dtype = self.dtype();
        self.as_bytes().chunks_exact(dtype.size()).map(move |item| value(dtype, item))
    }
}

fn value(dtype: Dtype, item: &[u8]) -> Value {
    // Integers by their sign, floats by their bits.
    let mut bytes = [0; 8];
    bytes[..item.len()].copy_from_slice(item);
    let bits = u64::from_ne_bytes(bytes);
    match dtype {
        Dtype::Bool => Value::Bool(bits != 0),
        Dtype::Int8 => Value::Signed(i64::from(bits as i8)),
        Dtype::Int16 => Value::Signed(i64::from(bits as i16)),
        Dtype::Int32 => Value::Signed(i64::from(bits as i32)),
        Dtype::Int64 => Value::Signed(bits as i64),
        Dtype::UInt8 | Dtype::UInt16 | Dtype::UInt32 | Dtype::UInt64 => Value::Unsigned(bits),
        Dtype::Float32 => Value::Single(f32::from_bits(bits as u32)),
        Dtype::Float64 => Value::Double(f64::from_bits(bits)),
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(x) => write!(f, "{}", u8::from(*x)),
            Self::Signed(x) => write!(f, "{x}"),
            Self::Unsigned(x) => write!(f, "{x}"),
            Self::Single(x) => write!(f, "{x}"),
            Self::Double(x) => write!(f, "{x}"),
        }
    }
}
