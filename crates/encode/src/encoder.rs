//! The way from an array to bytes: bound once, then row by row.

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

/// Columns bound to the layout they are written in. What can be wrong with their types and numbers has been found by
/// then.
#[derive(Debug)]
pub struct Encoder<'a> {
    node: Node<'a>,
    rows: u64,
}

impl<'a> Encoder<'a> {
    /// Binds columns to a layout and a dialect.
    ///
    /// # Errors
    /// Columns that are not what their Form says, or do not fit the layout; values that do not fit their
    /// type, with the first such row.
    pub fn new(layout: &Layout, dialect: &Dialect, array: &'a Array) -> Result<Self, EncodeError> {
        array.validate()?;
        Self::of_part(layout, dialect, &array.form, array, array.length)
    }

    /// Binds the first `rows` rows of a part of an array. `form` is the Form of that part. The caller has validated the
    /// array.
    ///
    /// # Errors
    /// As [`new`](Self::new).
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

    /// Binds columns, an array each, to the fields of a record. A [`Layout::Constant`] needs no column.
    ///
    /// # Errors
    /// As [`new`](Self::new); columns of different lengths.
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

    /// The number of rows.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// Appends one row; nothing for a row that is not there, nor where there is an error.
    ///
    /// # Errors
    /// More bytes in a frame, or items in a list, than can be counted; text with a NUL that would end it; memory that
    /// was changed by others.
    pub fn row(&self, row: u64, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let begin = out.len();
        match usize::try_from(row) {
            Ok(at) if row < self.rows => self.node.append(at, out),
            _ => Ok(()),
        }
        .inspect_err(|_| out.truncate(begin))
    }

    /// Appends rows as items of one list that are stored together, without their number.
    ///
    /// # Errors
    /// As [`row`](Self::row).
    pub fn items(&self, rows: Range<usize>, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let begin = out.len();
        self.node.append_list(rows, out).inspect_err(|_| out.truncate(begin))
    }

    /// Refuses rows of which two are equal.
    ///
    /// # Errors
    /// As [`row`](Self::row), and two equal values.
    pub fn distinct(&self, rows: Range<usize>) -> Result<(), EncodeError> {
        self.node.distinct(rows)
    }

    /// Refuses a row that is a list with two equal items, or pairs with equal keys.
    ///
    /// # Errors
    /// As [`row`](Self::row), and two equal values.
    pub fn distinct_items(&self, row: usize) -> Result<(), EncodeError> {
        self.node.distinct_items(row)
    }
}
