//! Types of values of columns.

use super::{Check, FieldArrays, FieldCheck, FieldWriter, RawOrder};
use forthwith_columns::{Array, Column, Form};
use forthwith_plan::Result;

/// A type of values of a column. Implemented for the types that the documentation of [`rows`](super) lists,
/// and by `#[derive(forthwith::Row)]`.
pub trait Value: Sized {
    /// Columns of a batch that values of this type are made of.
    type View: Send + Sync + 'static;
    /// This type with references to such columns: `&'v str` for `&'static str`.
    type Borrowed<'v>: Value<View = Self::View, Builder = Self::Builder>;
    /// Builder of such columns.
    type Builder: Default + Send + 'static;

    /// Byte order of the file, for values that are decoded on access.
    const RAW: Option<RawOrder> = None;

    /// Checks the type against that of a column, and reports a mismatch.
    fn check(form: &Form, check: &mut Check<'_>);

    /// Returns the values of an array with a Form that [`check`](Self::check) accepted.
    ///
    /// # Errors
    /// The columns contradict the Form; text is not UTF-8.
    fn view(array: &Array) -> Result<Self::View>;

    /// Returns a value.
    ///
    /// # Panics
    /// If `row` is out of range.
    fn get(view: &Self::View, row: usize) -> Self::Borrowed<'_>;

    /// Returns the number of rows for which [`get`](Self::get) needs no bounds check, so that a loop over
    /// them has no branches.
    #[inline]
    fn rows(_: &Self::View) -> usize {
        usize::MAX
    }

    /// Appends the value to a builder.
    fn push_to(&self, builder: &mut Self::Builder);

    /// Appends the columns of a builder to others, and returns their Form, whose keys start with `key`.
    fn finish(builder: Self::Builder, key: &str, columns: &mut Vec<(String, Column)>) -> Form;
}

/// A struct whose fields are columns, implemented by `#[derive(forthwith::Row)]`.
pub trait Row: Prefixed {
    /// Name of the struct, for errors.
    const NAME: &'static str;

    /// Checks all fields.
    fn check_fields(fields: &mut FieldCheck<'_, '_>);

    /// Returns the columns of all fields.
    ///
    /// # Errors
    /// Errors of [`Value::view`].
    fn view_fields(fields: &FieldArrays<'_>) -> Result<Self::View>;

    /// Adds the filled columns of all fields.
    fn finish_fields(builder: Self::Builder, fields: &mut FieldWriter);
}

/// A value whose fields may be columns of the table with a prefix: a row, or lists of rows.
pub trait Prefixed: Value {
    /// Checks the columns with a prefix.
    fn check_prefixed(fields: &mut FieldCheck<'_, '_>, field: &str, prefix: &str, count: Option<&str>);

    /// Returns the columns with a prefix.
    ///
    /// # Errors
    /// Errors of [`Value::view`]; lists of different lengths.
    fn view_prefixed(fields: &FieldArrays<'_>, prefix: &str, count: Option<&str>) -> Result<Self::View>;

    /// Adds the filled columns, whose names have a prefix.
    fn finish_prefixed(builder: Self::Builder, fields: &mut FieldWriter, prefix: &str, count: Option<&str>);
}

/// Implements [`Prefixed`](crate::rows::Prefixed) for a struct by the methods of [`Row`](crate::rows::Row).
#[macro_export]
#[doc(hidden)]
macro_rules! prefixed_row {
    ($($header:tt)*) => {
        $($header)* {
            fn check_prefixed(
                fields: &mut $crate::rows::FieldCheck<'_, '_>,
                field: &str,
                prefix: &str,
                count: ::core::option::Option<&str>,
            ) {
                fields.record::<Self>(field, prefix, count);
            }

            fn view_prefixed(
                fields: &$crate::rows::FieldArrays<'_>,
                prefix: &str,
                _: ::core::option::Option<&str>,
            ) -> $crate::plan::Result<Self::View> {
                <Self as $crate::rows::Row>::view_fields(&fields.prefixed(prefix))
            }

            fn finish_prefixed(
                builder: Self::Builder,
                fields: &mut $crate::rows::FieldWriter,
                prefix: &str,
                _: ::core::option::Option<&str>,
            ) {
                fields.record::<Self>(builder, prefix);
            }
        }
    };
}
