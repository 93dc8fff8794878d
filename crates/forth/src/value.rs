//! Single items of outputs, for display, tests and text formats.

use std::fmt;

use crate::DType;
use crate::output::Output;

/// One item of an output.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// An item of dtype `bool`.
    Bool(bool),
    /// An item of dtype `int8` to `int64`.
    Signed(i64),
    /// An item of dtype `uint8` to `uint64`.
    Unsigned(u64),
    /// An item of dtype `float32`.
    Single(f32),
    /// An item of dtype `float64`.
    Double(f64),
}

impl Output {
    /// Returns the items, converted one by one. [`Self::as_bytes`] is faster.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = Value> + ExactSizeIterator + '_ {
        let dtype = self.dtype();
        self.as_bytes().chunks_exact(dtype.size()).map(move |item| value(dtype, item))
    }
}

fn value(dtype: DType, item: &[u8]) -> Value {
    // Signed integers are sign-extended from their size, floats reinterpreted from their bits.
    let mut bytes = [0; 8];
    bytes[..item.len()].copy_from_slice(item);
    let bits = u64::from_ne_bytes(bytes);
    match dtype {
        DType::Bool => Value::Bool(bits != 0),
        DType::Int8 => Value::Signed(i64::from(bits as i8)),
        DType::Int16 => Value::Signed(i64::from(bits as i16)),
        DType::Int32 => Value::Signed(i64::from(bits as i32)),
        DType::Int64 => Value::Signed(bits as i64),
        DType::UInt8 | DType::UInt16 | DType::UInt32 | DType::UInt64 => Value::Unsigned(bits),
        DType::Float32 => Value::Single(f32::from_bits(bits as u32)),
        DType::Float64 => Value::Double(f64::from_bits(bits)),
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
