//! Columns of numbers: ranges, conversions and bulk operations.

use super::Columns;
use crate::growth::{extend, push};
use crate::layout::half;
use crate::{BuildError, Fault};
use forthwith_columns::DType;

impl Columns {
    /// Returns the minimum and the maximum of a column of integers; `None` for other columns.
    #[inline]
    pub(crate) const fn range(&self) -> Option<(i64, u64)> {
        Some(match self {
            Self::Int8(_) => (i8::MIN as i64, i8::MAX as u64),
            Self::Int16(_) => (i16::MIN as i64, i16::MAX as u64),
            Self::Int32(_) => (i32::MIN as i64, i32::MAX as u64),
            Self::Int64(_) => (i64::MIN, i64::MAX as u64),
            Self::UInt8(_) => (0, u8::MAX as u64),
            Self::UInt16(_) => (0, u16::MAX as u64),
            Self::UInt32(_) => (0, u32::MAX as u64),
            Self::UInt64(_) => (0, u64::MAX),
            _ => return None,
        })
    }

    /// Returns how well a column represents an integer: 0 is best, `None` means that it cannot.
    pub(crate) fn integer_rank(&self, x: i128) -> Option<u8> {
        match self.range() {
            Some((low, high)) => (i128::from(low) <= x && x <= i128::from(high)).then_some(0),
            None => self.real_rank().map(|rank| rank + 1),
        }
    }

    /// Returns how well a column represents a floating-point number: 0 is best, `None` means that it cannot.
    pub(crate) const fn real_rank(&self) -> Option<u8> {
        match self {
            Self::Float64(_) => Some(0),
            Self::Float32(_) => Some(1),
            Self::Float16(_) => Some(2),
            Self::Complex128(_) => Some(3),
            Self::Complex64(_) => Some(4),
            _ => None,
        }
    }

    /// Appends an integer that is in the range of the column.
    pub(crate) fn write_integer(&mut self, x: i64) -> Result<(), BuildError> {
        match self {
            Self::Int8(items) => push(items, x as i8),
            Self::Int16(items) => push(items, x as i16),
            Self::Int32(items) => push(items, x as i32),
            Self::Int64(items) => push(items, x),
            Self::UInt8(items) => push(items, x as u8),
            Self::UInt16(items) => push(items, x as u16),
            Self::UInt32(items) => push(items, x as u32),
            Self::UInt64(items) => push(items, x as u64),
            // Converted directly, since rounding to double precision first could change the result.
            Self::Float32(items) => push(items, x as f32),
            Self::Complex64(items) => push(items, [x as f32, 0.0]),
            other => other.write_real(x as f64),
        }
    }

    /// Appends an integer above the maximum of `i64` that is in the range of the column.
    pub(crate) fn write_unsigned(&mut self, x: u64) -> Result<(), BuildError> {
        match self {
            Self::UInt64(items) => push(items, x),
            Self::Float32(items) => push(items, x as f32),
            Self::Complex64(items) => push(items, [x as f32, 0.0]),
            other => other.write_real(x as f64),
        }
    }

    /// Appends a floating-point number to a column that accepts it.
    pub(crate) fn write_real(&mut self, x: f64) -> Result<(), BuildError> {
        match self {
            Self::Float16(items) => push(items, half(x)),
            Self::Float32(items) => push(items, x as f32),
            Self::Float64(items) => push(items, x),
            other => other.write_complex([x, 0.0]),
        }
    }

    /// Appends a complex number to a column that accepts it.
    pub(crate) fn write_complex(&mut self, x: [f64; 2]) -> Result<(), BuildError> {
        match self {
            Self::Complex64(items) => push(items, x.map(|part| part as f32)),
            Self::Complex128(items) => push(items, x),
            _ => Ok(()), // never: the place takes it
        }
    }

    /// Appends a string or byte string to a column that accepts it.
    ///
    /// # Errors
    /// Returns an error if the column has a fixed length that differs.
    pub(crate) fn write_text(&mut self, x: &[u8]) -> Result<(), BuildError> {
        match self {
            Self::Text { offsets, bytes, .. } => {
                extend(bytes, x)?;
                push(offsets, bytes.len() as i64)
            }
            Self::Fixed { size, .. } if x.len() != *size => {
                Err(Fault::Length { expected: *size as u64, found: x.len() as u64 }.into())
            }
            Self::Fixed { length, bytes, .. } => {
                extend(bytes, x)?;
                *length += 1;
                Ok(())
            }
            _ => Ok(()), // never: the place takes it
        }
    }

    /// Appends items of the dtype of the column, in native byte order; returns `None` for a column of another
    /// dtype and for booleans, which not every byte is.
    pub(crate) fn extend_bytes(&mut self, dtype: DType, bytes: &[u8]) -> Option<Result<(), BuildError>> {
        fn all<T, const N: usize>(
            items: &mut Vec<T>,
            bytes: &[u8],
            read: fn([u8; N]) -> T,
        ) -> Option<Result<(), BuildError>> {
            let (more, _) = bytes.as_chunks::<N>();
            if items.capacity() - items.len() < more.len()
                && let Err(refused) = crate::growth::reserve(items, more.len())
            {
                return Some(Err(refused));
            }
            items.extend(more.iter().map(|item| read(*item)));
            Some(Ok(()))
        }
        match (self, dtype) {
            (Self::Int8(items), DType::Int8) => all(items, bytes, i8::from_ne_bytes),
            (Self::Int16(items), DType::Int16) => all(items, bytes, i16::from_ne_bytes),
            (Self::Int32(items), DType::Int32) => all(items, bytes, i32::from_ne_bytes),
            (Self::Int64(items), DType::Int64) => all(items, bytes, i64::from_ne_bytes),
            (Self::UInt8(items), DType::UInt8) => all(items, bytes, u8::from_ne_bytes),
            (Self::UInt16(items), DType::UInt16) => all(items, bytes, u16::from_ne_bytes),
            (Self::UInt32(items), DType::UInt32) => all(items, bytes, u32::from_ne_bytes),
            (Self::UInt64(items), DType::UInt64) => all(items, bytes, u64::from_ne_bytes),
            (Self::Float32(items), DType::Float32) => all(items, bytes, f32::from_ne_bytes),
            (Self::Float64(items), DType::Float64) => all(items, bytes, f64::from_ne_bytes),
            _ => None,
        }
    }

    /// Returns the bytes of the last value, with zero without sign, so that equal values have equal bytes.
    pub(crate) fn last_value(&self) -> Vec<u8> {
        fn last<T: Copy, const N: usize>(items: &[T], bytes: impl Fn(T) -> [u8; N]) -> Vec<u8> {
            items.last().map_or_else(Vec::new, |item| bytes(*item).to_vec())
        }
        match self {
            Self::Float16(items) => last(items, |x| if x == 0x8000 { [0; 2] } else { x.to_ne_bytes() }),
            Self::Float32(items) => last(items, |x| (x + 0.0).to_ne_bytes()),
            Self::Float64(items) => last(items, |x| (x + 0.0).to_ne_bytes()),
            Self::Complex64(items) => items.last().map_or_else(Vec::new, |parts| {
                parts.iter().flat_map(|part| (part + 0.0).to_ne_bytes()).collect()
            }),
            Self::Complex128(items) => items.last().map_or_else(Vec::new, |parts| {
                parts.iter().flat_map(|part| (part + 0.0).to_ne_bytes()).collect()
            }),
            Self::Boolean(items) | Self::UInt8(items) => last(items, u8::to_ne_bytes),
            Self::Int8(items) => last(items, i8::to_ne_bytes),
            Self::Int16(items) => last(items, i16::to_ne_bytes),
            Self::Int32(items) => last(items, i32::to_ne_bytes),
            Self::Int64(items) | Self::Time { items, .. } => last(items, i64::to_ne_bytes),
            Self::UInt16(items) => last(items, u16::to_ne_bytes),
            Self::UInt32(items) => last(items, u32::to_ne_bytes),
            Self::UInt64(items) => last(items, u64::to_ne_bytes),
            Self::Text { offsets, bytes, .. } => match offsets[..] {
                [.., start, end] => bytes[start as usize..end as usize].to_vec(),
                _ => Vec::new(),
            },
            Self::Fixed { size, bytes, .. } => bytes[bytes.len() - size.min(&bytes.len())..].to_vec(),
            _ => Vec::new(),
        }
    }
}
