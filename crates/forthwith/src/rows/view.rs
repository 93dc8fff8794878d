//! Columns of numbers as slices.

use bytes::Bytes;
use forthwith_columns::{Column, Native, items_of};
use forthwith_plan::Error;
use std::{marker::PhantomData, ops::Deref};

/// Numbers of a column as a slice.
pub struct NumberView<T> {
    /// Aligned for `T`.
    bytes: Bytes,
    number: PhantomData<fn() -> T>,
}

impl<T: Native> NumberView<T> {
    /// Makes a view of a column of this type, copied if it is not aligned.
    pub(super) fn of(column: &Column) -> Self {
        let is_aligned = items_of::<T>(column.as_bytes()).is_some();
        let column = if is_aligned { column.clone() } else { column.compact() };
        Self { bytes: column.to_bytes(), number: PhantomData }
    }

    /// Returns the bytes of the numbers.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns a number. Rows are in range, because the length was checked against the array when the view
    /// was made; out of range, the result is zero. A loop that could panic would keep its sums in memory
    /// instead of registers.
    #[inline]
    pub(super) fn at(&self, row: usize) -> T {
        debug_assert!(row < self.len(), "row {row} of {}", self.len());
        self.get(row).copied().unwrap_or_default()
    }
}

impl<T: Native> Deref for NumberView<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        items_of(&self.bytes).unwrap_or_default()
    }
}

impl<T> Clone for NumberView<T> {
    fn clone(&self) -> Self {
        Self { bytes: self.bytes.clone(), number: PhantomData }
    }
}

pub(super) fn invalid(error: impl std::fmt::Display) -> Error {
    Error::fault(error.to_string())
}
