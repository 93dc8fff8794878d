//! Values of a struct's fields: read from columns, and written to columns.

use super::{
    FieldArrays, FieldWriter, Prefixed, Row, Value,
    bounds::Bounds,
    fields::{FilledLists, SharedLists, WrittenField},
};
use forthwith_columns::{Array, Column, DType, Form, NumberCast};
use forthwith_plan::{Error, Result};
use std::cell::OnceCell;

impl FieldArrays<'_> {
    /// Returns the values of a field.
    ///
    /// # Errors
    /// Errors of [`Value::view`].
    pub fn field<T: Value>(&self, name: &str) -> Result<T::View> {
        match self.array(name)? {
            Some(array) => T::view(&array),
            None => Err(Error::fault(format!("the column {name:?} was not read"))),
        }
    }

    /// Returns the values of a field with a default, or `None` if its column is absent.
    ///
    /// # Errors
    /// Errors of [`Value::view`].
    pub fn field_or_default<T: Value>(&self, name: &str) -> Result<Option<T::View>> {
        self.array(name)?.map(|array| T::view(&array)).transpose()
    }

    /// Returns the values of a field whose columns have a prefix.
    ///
    /// # Errors
    /// Errors of [`Value::view`].
    pub fn prefixed_field<T: Prefixed>(&self, prefix: &str, count: Option<&str>) -> Result<T::View> {
        T::view_prefixed(self, prefix, count)
    }

    /// Returns the bounds of lists in columns with a prefix, and their items.
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
}

impl FieldWriter {
    /// Adds the filled columns of a field.
    pub fn field<T: Value>(&mut self, name: &str, builder: T::Builder) {
        let mut columns = Vec::new();
        let mut form = T::finish(builder, &format!("{}.{}", self.key, self.fields.len()), &mut columns);
        let mut counter = None;
        if let Some(FilledLists { key, offsets, counter: of_lists }) = &self.lists {
            counter = of_lists.clone().filter(|_| matches!(form.kept(), Form::Numpy { .. }));
            form = Form::List { key: key.clone(), content: Box::new(form) };
            columns.push((format!("{key}-offsets"), offsets.clone()));
        }
        self.fields.push(WrittenField { name: format!("{}{name}", self.prefix), form, columns, counter });
    }

    /// Adds the filled columns of a field whose columns have a prefix.
    pub fn prefixed_field<T: Prefixed>(&mut self, prefix: &str, count: Option<&str>, builder: T::Builder) {
        T::finish_prefixed(builder, self, prefix, count);
    }

    /// Adds the filled columns of a struct, with a prefix before their names.
    pub fn record<T: Row>(&mut self, builder: T::Builder, prefix: &str) {
        let before = self.prefix.len();
        self.prefix.push_str(prefix);
        T::finish_fields(builder, self);
        self.prefix.truncate(before);
    }

    /// Adds the filled columns of lists of a struct, with a prefix before their names and a column of the
    /// lengths.
    pub(super) fn lists<T: Row>(
        &mut self,
        offsets: Vec<i64>,
        items: T::Builder,
        prefix: &str,
        count: Option<&str>,
    ) {
        let counter = count.map(|count| format!("{}{count}", self.prefix));
        if let Some(count) = count {
            let counts = offsets.windows(2).map(|pair| (pair[1] - pair[0]) as i32).collect();
            self.field::<i32>(count, counts);
        }
        let key = format!("{}.{}.lists", self.key, self.fields.len());
        let around = self.lists.replace(FilledLists { key, offsets: Column::from_vec(offsets), counter });
        self.record::<T>(items, prefix);
        self.lists = around;
    }
}

/// Checks a column of counts against the lengths of lists.
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
