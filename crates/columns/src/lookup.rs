//! Checked access to the buffers of a Form's nodes.

use crate::{Array, Column, DType, Form, Invalid, Presence, TextViews};
use std::borrow::Cow;
use std::collections::HashMap;

/// The columns of an array by name.
#[derive(Debug)]
pub struct Lookup<'a>(HashMap<&'a str, &'a Column>);

impl<'a> Lookup<'a> {
    /// Indexes the columns of an array.
    #[must_use]
    pub fn of(array: &'a Array) -> Self {
        Self(array.columns.iter().map(|(name, column)| (name.as_str(), column)).collect())
    }

    /// Returns the buffer `key-part`, of any type.
    ///
    /// # Errors
    /// [`Invalid::Missing`] if the buffer is missing.
    pub fn any(&self, key: &str, part: &str) -> Result<&'a Column, Invalid> {
        let name = format!("{key}-{part}");
        self.0.get(name.as_str()).copied().ok_or(Invalid::Missing { key: name })
    }

    /// Returns the buffer `key-part`, and checks its type and that it has at least `needed` items.
    ///
    /// # Errors
    /// [`Invalid::Missing`], [`Invalid::Type`] or [`Invalid::Short`].
    pub fn column(&self, key: &str, part: &str, dtype: DType, needed: u64) -> Result<&'a Column, Invalid> {
        let column = self.any(key, part)?;
        let name = || format!("{key}-{part}");
        if column.dtype() != dtype {
            return Err(Invalid::Type { key: name(), found: column.dtype(), wanted: dtype });
        }
        if (column.len() as u64) < needed {
            return Err(Invalid::Short { key: name(), found: column.len() as u64, needed });
        }
        Ok(column)
    }

    /// Returns the first `count` items of an int64 buffer, copied only if they are not aligned.
    ///
    /// # Errors
    /// Errors of [`column`](Self::column).
    pub fn integers(&self, key: &str, part: &str, count: u64) -> Result<Cow<'a, [i64]>, Invalid> {
        let column = self.column(key, part, DType::Int64, count)?;
        let count = count as usize; // no more than the column's length
        Ok(match column.as_i64() {
            Some(items) => Cow::Borrowed(&items[..count]),
            None => (0..count).filter_map(|at| column.item(at)).collect::<Vec<_>>().into(),
        })
    }

    /// Returns the first rows of a node as an array.
    pub(crate) fn array(&self, form: &Form, length: u64) -> Array {
        let keys = form.keys();
        let own = |name: &str| name.rsplit_once('-').is_some_and(|(key, _)| keys.contains(key));
        let columns = self.0.iter().filter(|(name, _)| own(name));
        let columns = columns.map(|(name, column)| ((*name).to_owned(), (*column).clone())).collect();
        Array { form: form.clone(), length, columns }
    }

    /// Whether the index of an option of `length` rows is 0, 1, 2, …, so that no row is missing.
    pub(crate) fn is_complete(&self, key: &str, length: u64) -> Result<bool, Invalid> {
        let index = self.column(key, "index", DType::Int64, length)?;
        Ok(index.len() as u64 == length && index.counts_up())
    }

    /// Returns the number of rows of the content that the index of an option of `length` rows refers to.
    pub(crate) fn rows_there(&self, key: &str, length: u64) -> Result<u64, Invalid> {
        Ok(match self.presence(key, length)? {
            Some(rows) => rows.there() as u64,
            None => rows_of(self.integers(key, "index", length)?.iter().copied()),
        })
    }

    /// Returns the rows that the index of an option of `length` rows was made of, if it was.
    pub(crate) fn presence(&self, key: &str, length: u64) -> Result<Option<&'a Presence>, Invalid> {
        let rows = self.column(key, "index", DType::Int64, length)?.presence();
        Ok(rows.filter(|rows| rows.rows() as u64 == length))
    }

    /// Returns the views that the offsets of `length` texts are computed from, if they are.
    pub(crate) fn texts(&self, key: &str, length: u64) -> Result<Option<&'a TextViews>, Invalid> {
        let count = length.checked_add(1).ok_or(Invalid::Overflow { rows: length, each: 1 })?;
        let texts = self.column(key, "offsets", DType::Int64, count)?.texts();
        Ok(texts.map(|(texts, _)| texts).filter(|texts| texts.rows() as u64 == length))
    }

    /// Returns the first `length` tags of a union.
    pub(crate) fn tags(&self, key: &str, length: u64) -> Result<&'a [i8], Invalid> {
        let column = self.column(key, "tags", DType::Int8, length)?;
        Ok(column.as_i8().map_or(&[], |tags| &tags[..length as usize])) // bytes are always aligned
    }
}

/// Returns the number of rows that an index with negative items for nulls refers to.
#[must_use]
pub fn rows_of(index: impl Iterator<Item = i64>) -> u64 {
    index.fold(-1, i64::max).max(-1).wrapping_add(1).unsigned_abs()
}
