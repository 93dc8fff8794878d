//! [`Encoder`]: encodes the rows of an array, which it binds to a layout once.

use crate::{
    EncodeError,
    bind::{self, Binder},
    node::Node,
    rows::Rows,
    tagged,
};
use forthwith_columns::{Array, Form};
use forthwith_program::{Dialect, Layout};
use std::ops::Range;

/// Columns of an array bound to the layout in which they are encoded. Types and numbers are checked when it
/// is made, so that few errors remain for [`row`](Self::row).
#[derive(Debug)]
pub struct Encoder<'a> {
    node: Node<'a>,
    rows: u64,
}

impl<'a> Encoder<'a> {
    /// Binds columns to a layout and a dialect.
    ///
    /// # Errors
    /// Returns an error if the array is invalid or its Form does not fit the layout, or if a value is out of
    /// range for its type; the error has the first such row.
    pub fn new(layout: &Layout, dialect: &Dialect, array: &'a Array) -> Result<Self, EncodeError> {
        array.validate()?;
        Self::of_part(layout, dialect, &array.form, array, array.length)
    }

    /// Binds the first `rows` rows of a part of an array, whose Form is `form`. The caller has validated the
    /// array.
    ///
    /// # Errors
    /// Returns the errors of [`new`](Self::new), except that the array is not validated.
    pub fn of_part(
        layout: &Layout,
        dialect: &Dialect,
        form: &Form,
        array: &'a Array,
        rows: u64,
    ) -> Result<Self, EncodeError> {
        let node = Binder::new(array, dialect).bind(layout, form, &Rows::all(rows), "")?;
        Ok(Self { node, rows })
    }

    /// Binds an array for each field of a record. A [`Layout::Constant`] needs no array.
    ///
    /// # Errors
    /// Returns the errors of [`new`](Self::new), and an error if the arrays have different lengths.
    pub fn of_fields(
        layout: &Layout,
        dialect: &Dialect,
        names: &[String],
        arrays: &'a [Array],
    ) -> Result<Self, EncodeError> {
        let rows = arrays.first().map_or(0, |array| array.length);
        for (array, name) in arrays.iter().zip(names) {
            array.validate()?;
            if array.length != rows {
                let (found, wanted) = (format!("{} rows", array.length), format!("{rows} rows"));
                return Err(EncodeError::Type { member: name.clone(), found, wanted });
            }
        }
        let node = match layout {
            Layout::Tagged(tagged) => tagged::columns(tagged, dialect, names, arrays)?,
            layout => bind::fields(layout, dialect, names, arrays)?,
        };
        Ok(Self { node, rows })
    }

    /// Returns the number of rows.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// Appends the bytes of one row. Appends nothing if `row` is out of range or an error is returned.
    ///
    /// # Errors
    /// Returns an error if a frame or list is too large for its count, if a string that ends at a NUL
    /// contains one, or if the memory of a column was changed since it was bound.
    pub fn row(&self, row: u64, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let begin = out.len();
        match usize::try_from(row) {
            Ok(at) if row < self.rows => self.node.append(at, out),
            _ => Ok(()),
        }
        .inspect_err(|_| out.truncate(begin))
    }

    /// Appends rows as the items of one list that are encoded together, without their count.
    ///
    /// # Errors
    /// Returns the errors of [`row`](Self::row).
    pub fn items(&self, rows: Range<usize>, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let begin = out.len();
        self.node.append_list(rows, out).inspect_err(|_| out.truncate(begin))
    }

    /// Checks that no two of the rows are equal.
    ///
    /// # Errors
    /// Returns the errors of [`row`](Self::row), and an error if two rows are equal or one is NaN.
    pub fn distinct(&self, rows: Range<usize>) -> Result<(), EncodeError> {
        self.node.distinct(rows)
    }

    /// Checks that no two items of the list at `row` are equal, or that no two of its pairs have equal keys.
    /// Values other than lists pass.
    ///
    /// # Errors
    /// Returns the errors of [`row`](Self::row), and an error if two items or keys are equal or one is NaN.
    pub fn distinct_items(&self, row: usize) -> Result<(), EncodeError> {
        self.node.distinct_items(row)
    }
}
