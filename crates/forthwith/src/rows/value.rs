//! The types that values of a column can have.

use super::{Check, FieldArrays, FieldCheck, FieldWriter, RawOrder};
use forthwith_columns::{Array, Column, Form};
use forthwith_plan::Result;

/// A type of values of a column. Implemented for the types that the page of [`rows`](super) lists, and by
/// `#[derive(forthwith::Row)]`.
pub trait Value: Sized {
    /// The columns of a batch that values of this type are made of.
    type View: Send + Sync + 'static;
    /// This type with references into such columns: `&'v str` for `&'static str`.
    type Borrowed<'v>: Value<View = Self::View, Builder = Self::Builder>;
    /// Columns being filled.
    type Builder: Default + Send + 'static;

    /// The byte order of the file, for values that are not decoded before they are used.
    const RAW: Option<RawOrder> = None;

    /// Compares the type with that of a column, and reports a misfit.
    fn check(form: &Form, check: &mut Check<'_>);

    /// The values of an array, of a Form that [`check`](Self::check) accepted.
    ///
    /// # Errors
    /// Columns that are not what the Form says; text that is not UTF-8.
    fn view(array: &Array) -> Result<Self::View>;

    /// One value.
    ///
    /// # Panics
    /// If there is no such row.
    fn get(view: &Self::View, row: usize) -> Self::Borrowed<'_>;

    /// The number of rows for which [`get`](Self::get) needs no bounds check. A loop over them has no branches.
    #[inline]
    fn rows(_: &Self::View) -> usize {
        usize::MAX
    }

    /// Appends the value to columns.
    fn push_to(&self, builder: &mut Self::Builder);

    /// Appends the filled columns to others, and returns their Form, whose nodes have `key` or begin with it.
    fn finish(builder: Self::Builder, key: &str, columns: &mut Vec<(String, Column)>) -> Form;
}

/// A struct whose fields are columns, made by `#[derive(forthwith::Row)]`.
pub trait Row: Prefixed {
    /// The name of the struct, for errors.
    const NAME: &'static str;

    /// Compares all fields.
    fn check_fields(fields: &mut FieldCheck<'_, '_>);

    /// The columns of all fields.
    ///
    /// # Errors
    /// As [`Value::view`].
    fn view_fields(fields: &FieldArrays<'_>) -> Result<Self::View>;

    /// The filled columns of all fields.
    fn finish_fields(builder: Self::Builder, fields: &mut FieldWriter);
}

/// A value whose fields may be columns of the table by a prefix: a row, or lists of rows.
pub trait Prefixed: Value {
    /// Compares the columns that begin with a prefix.
    fn check_prefixed(fields: &mut FieldCheck<'_, '_>, field: &str, prefix: &str, count: Option<&str>);

    /// The columns that begin with a prefix.
    ///
    /// # Errors
    /// As [`Value::view`]; lists that are not equally long.
    fn view_prefixed(fields: &FieldArrays<'_>, prefix: &str, count: Option<&str>) -> Result<Self::View>;

    /// The filled columns, whose names begin with a prefix.
    fn finish_prefixed(builder: Self::Builder, fields: &mut FieldWriter, prefix: &str, count: Option<&str>);
}

/// The same for each struct, in the words of [`Row`].
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
