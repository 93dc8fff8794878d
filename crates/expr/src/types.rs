//! NumPy's rules for the types of results.

use forthwith_columns::DType;

/// Classes of numbers, in the order of promotion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    Bool,
    Unsigned,
    Signed,
    Float,
}

pub(crate) const fn class(dtype: DType) -> Class {
    match dtype {
        DType::Bool => Class::Bool,
        DType::UInt8 | DType::UInt16 | DType::UInt32 | DType::UInt64 => Class::Unsigned,
        DType::Int8 | DType::Int16 | DType::Int32 | DType::Int64 => Class::Signed,
        DType::Float32 | DType::Float64 => Class::Float,
    }
}

pub(crate) fn is_float(dtype: DType) -> bool {
    class(dtype) == Class::Float
}

/// Returns the common type of two types.
pub(crate) fn promote(a: DType, b: DType) -> DType {
    DType::promote([a, b]).unwrap_or(a)
}

/// Returns the result type of floating-point functions. NumPy has `float16` for booleans and the smallest
/// integers; columns have no such type, and use `float32`.
pub(crate) const fn floating(dtype: DType) -> DType {
    match dtype {
        DType::Float32 | DType::Bool | DType::Int8 | DType::UInt8 | DType::Int16 | DType::UInt16 => {
            DType::Float32
        }
        _ => DType::Float64,
    }
}

/// Returns the type of a quotient.
pub(crate) const fn quotient(dtype: DType) -> DType {
    match dtype {
        DType::Float32 => DType::Float32,
        _ => DType::Float64,
    }
}

/// Returns the type of a sum or product of items.
pub(crate) fn accumulated(dtype: DType) -> DType {
    match class(dtype) {
        Class::Bool | Class::Signed => DType::Int64,
        Class::Unsigned => DType::UInt64,
        Class::Float => dtype,
    }
}

/// Returns the smallest and the largest integer of a type; `None` for booleans and floats.
pub(crate) fn bounds(dtype: DType) -> Option<(i128, i128)> {
    let bits = 8 * dtype.size() as u32;
    match class(dtype) {
        Class::Bool | Class::Float => None,
        Class::Unsigned => Some((0, (1i128 << bits) - 1)),
        Class::Signed => Some((-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)),
    }
}
