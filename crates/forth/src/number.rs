//! Conversion of parsed numbers to stack items and output items.

use crate::DType;

/// A value on its way from a parser or the stack to an output.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Number {
    Signed(i64),
    Unsigned(u64),
    Single(f32),
    Double(f64),
}

impl Number {
    /// Converts to a stack item before the width is applied: floats are truncated, and those out of range
    /// become `i64::MIN`.
    pub(crate) fn to_stack(self) -> i64 {
        match self {
            Self::Signed(x) => x,
            Self::Unsigned(x) => x as i64,
            Self::Single(x) => to_int64(f64::from(x)),
            Self::Double(x) => to_int64(x),
        }
    }

    /// Converts to an item of a 32-bit stack: integers are wrapped, floats out of range become `i32::MIN`.
    pub(crate) fn to_stack32(self) -> i64 {
        match self {
            Self::Single(x) => i64::from(to_int32(f64::from(x))),
            Self::Double(x) => i64::from(to_int32(x)),
            integer => i64::from(integer.to_stack() as i32),
        }
    }

    fn is_true(self) -> bool {
        match self {
            Self::Signed(x) => x != 0,
            Self::Unsigned(x) => x != 0,
            Self::Single(x) => x != 0.0,
            Self::Double(x) => x != 0.0,
        }
    }

    fn to_bits64(self) -> u64 {
        match self {
            Self::Signed(x) => x as u64,
            Self::Unsigned(x) => x,
            Self::Single(x) => to_uint64(f64::from(x)),
            Self::Double(x) => to_uint64(x),
        }
    }

    fn to_bits32(self) -> u32 {
        match self {
            Self::Signed(x) => x as u32,
            Self::Unsigned(x) => x as u32,
            Self::Single(x) => to_int32(f64::from(x)) as u32,
            Self::Double(x) => to_int32(x) as u32,
        }
    }

    fn to_f32(self) -> f32 {
        match self {
            Self::Signed(x) => x as f32,
            Self::Unsigned(x) => x as f32,
            Self::Single(x) => x,
            Self::Double(x) => x as f32,
        }
    }

    fn to_f64(self) -> f64 {
        match self {
            Self::Signed(x) => x as f64,
            Self::Unsigned(x) => x as f64,
            Self::Single(x) => f64::from(x),
            Self::Double(x) => x,
        }
    }

    /// Returns the bytes of the item in native byte order; only the first `dtype.size()` are significant.
    pub(crate) fn to_item(self, dtype: DType) -> [u8; 8] {
        match dtype {
            DType::Bool => padded([u8::from(self.is_true())]),
            DType::Int8 | DType::UInt8 => padded([self.to_bits32() as u8]),
            DType::Int16 | DType::UInt16 => padded((self.to_bits32() as u16).to_ne_bytes()),
            DType::Int32 => padded(self.to_bits32().to_ne_bytes()),
            DType::UInt32 => padded((self.to_bits64() as u32).to_ne_bytes()),
            DType::Int64 => padded((self.to_stack()).to_ne_bytes()),
            DType::UInt64 => padded(self.to_bits64().to_ne_bytes()),
            DType::Float32 => padded(self.to_f32().to_ne_bytes()),
            DType::Float64 => padded(self.to_f64().to_ne_bytes()),
        }
    }
}

/// Returns `last + value` in the arithmetic of the dtype; all three are item bytes.
pub(crate) fn add_items(dtype: DType, last: [u8; 8], value: [u8; 8]) -> [u8; 8] {
    macro_rules! sum {
        ($type:ty, $n:literal, $add:expr) => {{
            let a = <$type>::from_ne_bytes(first::<$n>(last));
            let b = <$type>::from_ne_bytes(first::<$n>(value));
            let add: fn($type, $type) -> $type = $add;
            padded(add(a, b).to_ne_bytes())
        }};
    }
    match dtype {
        DType::Bool => padded([u8::from(last[0] != 0 || value[0] != 0)]),
        DType::Int8 | DType::UInt8 => sum!(u8, 1, u8::wrapping_add),
        DType::Int16 | DType::UInt16 => sum!(u16, 2, u16::wrapping_add),
        DType::Int32 | DType::UInt32 => sum!(u32, 4, u32::wrapping_add),
        DType::Int64 | DType::UInt64 => sum!(u64, 8, u64::wrapping_add),
        DType::Float32 => sum!(f32, 4, |a, b| a + b),
        DType::Float64 => sum!(f64, 8, |a, b| a + b),
    }
}

fn first<const N: usize>(bytes: [u8; 8]) -> [u8; N] {
    std::array::from_fn(|at| bytes[at])
}

fn padded<const N: usize>(bytes: [u8; N]) -> [u8; 8] {
    let mut item = [0; 8];
    item[..N].copy_from_slice(&bytes);
    item
}

// Rust's `as` saturates; the language yields MIN for values out of range, as x86 hardware does.
fn to_int64(x: f64) -> i64 {
    if (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&x) { x as i64 } else { i64::MIN }
}

fn to_uint64(x: f64) -> u64 {
    if (9_223_372_036_854_775_808.0..18_446_744_073_709_551_616.0).contains(&x) {
        x as u64
    } else {
        to_int64(x) as u64
    }
}

fn to_int32(x: f64) -> i32 {
    if x > -2_147_483_649.0 && x < 2_147_483_648.0 { x as i32 } else { i32::MIN }
}
