//! Conversion of single values, and the ranges of integer types.

use forthwith_columns::{Column, DType, LogicalType, Moment};

/// Returns the smallest and the largest value of an integer type; `None` for `uint64` and for other types.
pub(crate) const fn bounds(dtype: DType) -> Option<(i64, i64)> {
    Some(match dtype {
        DType::Int8 => (i8::MIN as i64, i8::MAX as i64),
        DType::Int16 => (i16::MIN as i64, i16::MAX as i64),
        DType::Int32 => (i32::MIN as i64, i32::MAX as i64),
        DType::Int64 => (i64::MIN, i64::MAX),
        DType::UInt8 => (0, u8::MAX as i64),
        DType::UInt16 => (0, u16::MAX as i64),
        DType::UInt32 => (0, u32::MAX as i64),
        _ => return None,
    })
}

/// Returns a date or timestamp as the integer that its column stores; `None` if the string is not such a date
/// or timestamp, has a zone where the type has none or the reverse, or cannot be represented exactly.
pub(crate) fn count(text: &str, meaning: LogicalType) -> Option<i64> {
    let moment = Moment::parse(text.as_bytes())?;
    if moment.has_zone() != matches!(meaning, LogicalType::Timestamp { zone: Some(_), .. }) {
        return None;
    }
    let (count, has_rest) = moment.count(meaning).ok()?;
    let days_fit = meaning != LogicalType::Date || i32::try_from(count).is_ok();
    if has_rest || !days_fit { None } else { i64::try_from(count).ok() }
}

/// Parses `NaN`, `Infinity` and `-Infinity`, which JSON can only express as strings.
pub(crate) fn not_finite(text: &str) -> Option<f64> {
    Some(match text {
        "NaN" => f64::NAN,
        "Infinity" => f64::INFINITY,
        "-Infinity" => f64::NEG_INFINITY,
        _ => return None,
    })
}

/// Returns the first 40 characters of a string, for error messages.
pub(crate) fn short(text: &str) -> &str {
    text.char_indices().nth(40).map_or(text, |(end, _)| &text[..end])
}

/// Narrows integers, which must be in the range of `dtype`, to a column of that type.
pub(crate) fn narrowed(dtype: DType, values: Vec<i64>) -> Column {
    macro_rules! narrow {
        ($type:ty) => {
            Column::from_vec(values.into_iter().map(|value| value as $type).collect::<Vec<_>>())
        };
    }
    match dtype {
        DType::Int8 => narrow!(i8),
        DType::Int16 => narrow!(i16),
        DType::Int32 => narrow!(i32),
        DType::UInt8 => narrow!(u8),
        DType::UInt16 => narrow!(u16),
        DType::UInt32 => narrow!(u32),
        _ => Column::from_vec(values),
    }
}
