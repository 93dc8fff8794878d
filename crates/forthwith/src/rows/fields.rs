//! Columns of a struct's fields, for reading and for writing.

use super::bounds::{Bounds, lists};
use forthwith_columns::{Array, Column, Form};
use forthwith_plan::{Error, Result};
use std::{borrow::Cow, cell::OnceCell, collections::HashMap};

/// Arrays of a step by column name, or the fields of a record.
pub struct FieldArrays<'a> {
    pub(super) arrays: Arrays<'a>,
    pub(super) prefix: String,
    /// Lists of the first field, if all fields are lists of equal lengths.
    pub(super) lists: Option<&'a OnceCell<SharedLists>>,
}

#[derive(Clone, Copy)]
pub(super) enum Arrays<'a> {
    Columns { numbers: &'a HashMap<String, usize>, arrays: &'a [Array] },
    Record(&'a Array),
}

/// Offsets that the fields of a list with a prefix share.
pub(super) struct SharedLists {
    pub(super) column: String,
    pub(super) bounds: Bounds,
    pub(super) length: u64,
}

impl<'a> FieldArrays<'a> {
    /// Makes the columns of a step.
    pub(super) fn new(numbers: &'a HashMap<String, usize>, arrays: &'a [Array]) -> Self {
        Self { arrays: Arrays::Columns { numbers, arrays }, prefix: String::new(), lists: None }
    }

    /// Makes the columns of an array of records.
    #[must_use]
    pub fn of_record(array: &'a Array) -> Self {
        Self { arrays: Arrays::Record(array), prefix: String::new(), lists: None }
    }

    /// Returns the columns with a prefix.
    #[must_use]
    pub fn prefixed(&self, prefix: &str) -> Self {
        Self { prefix: format!("{}{prefix}", self.prefix), ..*self }
    }

    pub(super) fn array(&self, name: &str) -> Result<Option<Cow<'a, Array>>> {
        let (numbers, arrays) = match self.arrays {
            Arrays::Columns { numbers, arrays } => (numbers, arrays),
            Arrays::Record(array) => {
                let Form::Record { fields: Some(names), .. } = array.form.kept() else {
                    return Err(Error::fault(format!("{} is not a record", array.form.type_string())));
                };
                if !names.iter().any(|known| known == name) {
                    return Ok(None);
                }
                let field = array.field(name).map_err(|error| Error::fault(error.to_string()))?;
                return Ok(Some(Cow::Owned(field)));
            }
        };
        let column = format!("{}{name}", self.prefix);
        let Some(array) = numbers.get(&column).and_then(|at| arrays.get(*at)) else { return Ok(None) };
        let Some(shared) = self.lists else { return Ok(Some(Cow::Borrowed(array))) };
        // Lists with a common count mostly share their offsets, which are validated once.
        if let Some(items) = shared.get().and_then(|first| first.bounds.items_of(array)) {
            return Ok(Some(Cow::Owned(items)));
        }
        let (bounds, items) = lists(array)?;
        let length = array.length;
        let Some(first) = shared.get() else {
            shared.get_or_init(|| SharedLists { column, bounds, length });
            return Ok(Some(Cow::Owned(items)));
        };
        if let Some(row) = first.bounds.first_difference(&bounds, length) {
            let [one, other] = [&first.bounds, &bounds].map(|bounds| bounds.range(row).len());
            let what = format!(
                "lists of one struct differ in length in row {row} of the step: {one} items in {:?}, {other} in {column:?}",
                first.column
            );
            return Err(Error::invalid(what));
        }
        Ok(Some(Cow::Owned(items)))
    }
}

/// Filled columns of a struct: columns of a table, or fields of a record.
#[derive(Debug, Default)]
pub struct FieldWriter {
    pub(super) fields: Vec<WrittenField>,
    pub(super) key: String,
    pub(super) prefix: String,
    /// Lists that contain all fields.
    pub(super) lists: Option<FilledLists>,
}

/// Lists that contain the fields of a struct.
#[derive(Debug)]
pub(super) struct FilledLists {
    pub(super) key: String,
    pub(super) offsets: Column,
    /// Name of the column of their lengths.
    pub(super) counter: Option<String>,
}

/// A filled column, or field of a record.
#[derive(Debug)]
pub(super) struct WrittenField {
    pub(super) name: String,
    pub(super) form: Form,
    pub(super) columns: Vec<(String, Column)>,
    /// Name of the column of the lengths of its lists of numbers.
    pub(super) counter: Option<String>,
}

impl FieldWriter {
    /// Makes a writer without fields; keys of nodes start with `key`.
    #[must_use]
    pub fn new(key: &str) -> Self {
        Self { key: key.to_owned(), ..Self::default() }
    }

    /// Converts the filled columns of a struct to records.
    pub fn into_record(self, name: &str, columns: &mut Vec<(String, Column)>) -> Form {
        let mut names = Vec::with_capacity(self.fields.len());
        let mut contents = Vec::with_capacity(self.fields.len());
        for field in self.fields {
            names.push(field.name);
            contents.push(field.form);
            columns.extend(field.columns);
        }
        Form::Record { fields: Some(names), contents, name: Some(name.to_owned()) }
    }
}
