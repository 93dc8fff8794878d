//! Columns with the same value in all entries, such as Hive partitions, which are not stored in blocks.

use crate::{Error, ErrorKind, Limit, Result};
use forthwith_columns::{Array, Column, DType, Form};
use serde::{Deserialize, Serialize};

/// A column with the same value in all entries of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Constant {
    /// The column's name.
    pub name: String,
    /// The value of each entry.
    pub value: Value,
    /// Whether the value is missing in this file or in another one of the same dataset.
    pub may_lack: bool,
}

/// Value of a [`Constant`]; `None` is a missing value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Value {
    /// An integer.
    Whole(Option<i64>),
    /// A string.
    Text(Option<String>),
}

/// A [`Constant`] and its position among the arrays of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedConstant {
    /// Index of the array.
    pub at: u32,
    /// The column.
    pub constant: Constant,
}

impl Constant {
    /// Returns the Form of the column: an option type if values may be missing.
    #[must_use]
    pub fn form(&self) -> Form {
        let key = "node0".to_owned();
        let form = match self.value {
            Value::Whole(_) => Form::Numpy { key, dtype: DType::Int64, shape: Vec::new() },
            Value::Text(_) => Form::String { key, binary: false },
        };
        if self.may_lack { form.optional() } else { form }
    }

    /// Returns the name of the type in a schema.
    #[must_use]
    pub const fn type_name(&self) -> &'static str {
        match self.value {
            Value::Whole(_) => "int64",
            Value::Text(_) => "string",
        }
    }

    /// Returns the number of bytes per entry: those of a number, or of an offset and the text.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        match &self.value {
            Value::Text(Some(value)) => 8 + value.len() as u64,
            Value::Whole(_) | Value::Text(None) => 8,
        }
    }

    /// Returns the value as the least and greatest of the column; `None` if it is missing.
    #[must_use]
    pub fn limit(&self) -> Option<Limit> {
        match &self.value {
            Value::Whole(value) => value.map(|value| Limit::Integer(value.into())),
            Value::Text(value) => value.as_ref().map(|value| Limit::Text(value.clone().into_bytes())),
        }
    }

    /// Returns an array of `rows` rows with this value.
    ///
    /// # Errors
    /// [`OutOfMemory`](ErrorKind::OutOfMemory) if the columns cannot be allocated.
    pub fn array(&self, rows: u64) -> Result<Array> {
        let count = usize::try_from(rows).map_err(|_| no_room(rows))?;
        let columns = match &self.value {
            Value::Whole(Some(value)) => {
                vec![("node0-data".to_owned(), Column::from_vec(filled(count, *value)?))]
            }
            Value::Text(Some(value)) => {
                let size = count.checked_mul(value.len()).ok_or_else(|| no_room(u64::MAX))?;
                let mut bytes = room(size)?;
                (0..count).for_each(|_| bytes.extend_from_slice(value.as_bytes()));
                let mut offsets: Vec<i64> = room(count.saturating_add(1))?;
                offsets.extend((0..=count).map(|row| (row * value.len()) as i64));
                let data = Column::from_vec(bytes);
                vec![("node0-offsets".to_owned(), Column::from_vec(offsets)), ("node0-data".to_owned(), data)]
            }
            Value::Whole(None) | Value::Text(None) => {
                room::<i64>(count)?;
                return Ok(Array::nulls(&self.form(), rows));
            }
        };
        let mut form = self.form();
        if let Form::Option { content, .. } = form {
            form = *content;
        }
        let array = Array { form, length: rows, columns };
        let fault = |error: forthwith_columns::Invalid| Error::fault(error.to_string());
        if self.may_lack { array.present().map_err(fault) } else { Ok(array) }
    }
}

fn filled(count: usize, value: i64) -> Result<Vec<i64>> {
    let mut made = room(count)?;
    made.resize(count, value);
    Ok(made)
}

/// Returns an empty vector with capacity for `count` items.
fn room<T>(count: usize) -> Result<Vec<T>> {
    let mut made = Vec::new();
    made.try_reserve_exact(count)
        .map_err(|_| no_room((count as u64).saturating_mul(size_of::<T>() as u64)))?;
    Ok(made)
}

fn no_room(bytes: u64) -> Error {
    Error::new(ErrorKind::OutOfMemory { what: "a column", bytes })
}
