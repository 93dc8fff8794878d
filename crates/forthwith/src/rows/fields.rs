//! The columns of a struct's fields: those that were read, and those that are filled.

use super::list::{Bounds, lists};
use super::{Prefixed, Row, Value};
use forthwith_columns::{Array, Column, DType, Form, NumberCast};
use forthwith_plan::{Error, Result};
use std::{borrow::Cow, cell::OnceCell, collections::HashMap};

/// The arrays of a step by the names of their columns, or the fields of a record.
pub struct FieldArrays<'a> {
    arrays: Arrays<'a>,
    prefix: String,
    /// Where the fields are lists that have to be equally long: the first of them.
    lists: Option<&'a OnceCell<SharedLists>>,
}

#[derive(Clone, Copy)]
enum Arrays<'a> {
    Columns { numbers: &'a HashMap<String, usize>, arrays: &'a [Array] },
    Record(&'a Array),
}

/// The offsets that all fields of a list by a prefix have.
struct SharedLists {
    column: String,
    bounds: Bounds,
    length: u64,
}

impl<'a> FieldArrays<'a> {
    /// Those of a step.
    pub(super) fn new(numbers: &'a HashMap<String, usize>, arrays: &'a [Array]) -> Self {
        Self { arrays: Arrays::Columns { numbers, arrays }, prefix: String::new(), lists: None }
    }

    /// Those of an array of records.
    #[must_use]
    pub fn of_record(array: &'a Array) -> Self {
        Self { arrays: Arrays::Record(array), prefix: String::new(), lists: None }
    }

    /// The values of a field.
    ///
    /// # Errors
    /// As [`Value::view`].
    pub fn field<T: Value>(&self, name: &str) -> Result<T::View> {
        match self.array(name)? {
            Some(array) => T::view(&array),
            None => Err(Error::fault(format!("the column {name:?} was not read"))),
        }
    }

    /// The values of a field that has a default; none if there is no such column.
    ///
    /// # Errors
    /// As [`Value::view`].
    pub fn field_or_default<T: Value>(&self, name: &str) -> Result<Option<T::View>> {
        self.array(name)?.map(|array| T::view(&array)).transpose()
    }

    /// The values of a field whose columns have a prefix.
    ///
    /// # Errors
    /// As [`Value::view`].
    pub fn prefixed_field<T: Prefixed>(&self, prefix: &str, count: Option<&str>) -> Result<T::View> {
        T::view_prefixed(self, prefix, count)
    }

    /// The columns that begin with a prefix.
    #[must_use]
    pub fn prefixed(&self, prefix: &str) -> Self {
        Self { prefix: format!("{}{prefix}", self.prefix), ..*self }
    }

    /// The items of lists in columns that begin with a prefix, and the bounds of the lists.
    pub(super) fn lists<T: Row>(&self, prefix: &str, count: Option<&str>) -> Result<(Bounds, T::View)> {
        let shared = OnceCell::new();
        let prefix = format!("{}{prefix}", self.prefix);
        let view = T::view_fields(&FieldArrays { arrays: self.arrays, prefix, lists: Some(&shared) })?;
        let shared = shared.into_inner().ok_or_else(|| Error::fault("lists without a column were read"))?;
        if let Some(name) = count {
            let Some(counts) = self.array(name)? else {
                return Err(Error::fault(format!("the column {name:?} was not read")));
            };
            check_counts(name, &counts, &shared)?;
        }
        Ok((shared.bounds, view))
    }

    fn array(&self, name: &str) -> Result<Option<Cow<'a, Array>>> {
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
        let (bounds, items) = lists(array)?;
        let length = array.length;
        let first =
            shared.get_or_init(|| SharedLists { column: column.clone(), bounds: bounds.clone(), length });
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

/// Compares counts with the lists that they count.
fn check_counts(name: &str, counts: &Array, lists: &SharedLists) -> Result<()> {
    let form = Form::Numpy { key: "count".into(), dtype: DType::Int64, shape: vec![] };
    let counts = counts.cast(&form, NumberCast::Exact).map_err(|error| Error::invalid(error.to_string()))?;
    let counts = counts.as_slice::<i64>().map_err(|error| Error::fault(error.to_string()))?;
    let wrong = (0..lists.length as usize)
        .zip(counts)
        .find(|(row, count)| u64::try_from(**count).ok() != Some(lists.bounds.range(*row).len() as u64));
    match wrong {
        None => Ok(()),
        Some((row, count)) => Err(Error::invalid(format!(
            "{name:?} is {count} in row {row} of the step, and {:?} has {} items there",
            lists.column,
            lists.bounds.range(row).len()
        ))),
    }
}

/// The filled columns of a struct: columns of a table, or fields of a record.
#[derive(Debug, Default)]
pub struct FieldWriter {
    pub(super) fields: Vec<WrittenField>,
    key: String,
    prefix: String,
    /// The key and the offsets of the lists around all fields.
    lists: Option<(String, Column)>,
}

/// A filled column, or field of a record.
#[derive(Debug)]
pub(super) struct WrittenField {
    pub(super) name: String,
    pub(super) form: Form,
    pub(super) columns: Vec<(String, Column)>,
}

impl FieldWriter {
    /// No fields; keys of their nodes begin with `key`.
    #[must_use]
    pub fn new(key: &str) -> Self {
        Self { key: key.to_owned(), ..Self::default() }
    }

    /// Takes the filled columns of a field.
    pub fn field<T: Value>(&mut self, name: &str, builder: T::Builder) {
        let mut columns = Vec::new();
        let mut form = T::finish(builder, &format!("{}.{}", self.key, self.fields.len()), &mut columns);
        if let Some((key, offsets)) = &self.lists {
            form = Form::List { key: key.clone(), content: Box::new(form) };
            columns.push((format!("{key}-offsets"), offsets.clone()));
        }
        self.fields.push(WrittenField { name: format!("{}{name}", self.prefix), form, columns });
    }

    /// Takes the filled columns of a field whose columns have a prefix.
    pub fn prefixed_field<T: Prefixed>(&mut self, prefix: &str, count: Option<&str>, builder: T::Builder) {
        T::finish_prefixed(builder, self, prefix, count);
    }

    /// Takes the filled columns of a struct, with a prefix before the names.
    pub fn record<T: Row>(&mut self, builder: T::Builder, prefix: &str) {
        let before = self.prefix.len();
        self.prefix.push_str(prefix);
        T::finish_fields(builder, self);
        self.prefix.truncate(before);
    }

    /// Takes the filled columns of lists of a struct, with a prefix before the names and a column of the lengths.
    pub(super) fn lists<T: Row>(
        &mut self,
        offsets: Vec<i64>,
        items: T::Builder,
        prefix: &str,
        count: Option<&str>,
    ) {
        if let Some(count) = count {
            let counts = offsets.windows(2).map(|pair| (pair[1] - pair[0]) as i32).collect();
            self.field::<i32>(count, counts);
        }
        let key = format!("{}.{}.lists", self.key, self.fields.len());
        let around = self.lists.replace((key, Column::from_vec(offsets)));
        self.record::<T>(items, prefix);
        self.lists = around;
    }

    /// The filled columns of a struct as records.
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
