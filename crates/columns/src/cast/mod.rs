//! Arrays in another Form for the same values.

mod alternatives;
mod number;
#[cfg(test)]
mod tests;

use crate::lookup::{Lookup, rows_of};
use crate::unite::field_order;
use crate::validate::items;
use crate::{Array, Column, DType, Form, Invalid, Presence};
use std::collections::HashMap;
use std::ops::Range;

/// The numbers that a cast may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberCast {
    /// None: numbers have to be of the wanted type.
    Same,
    /// Those that the wanted type has exactly. A fraction is never a whole number, and truth values are not numbers.
    Exact,
}

/// The reason why an array is not cast, and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CastError {
    /// The path of the values within an entry: empty for the entry itself, `.x` for a field, `[]` for the items of lists.
    pub member: String,
    /// The reason.
    pub reason: CastReason,
}

/// A reason why an array is not cast.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CastReason {
    /// Values of another type.
    #[error("expected {wanted}, found {found}")]
    Type {
        /// The type that they have.
        found: String,
        /// The expected type.
        wanted: String,
    },
    /// A number that the wanted type does not have.
    #[error("{number}, which is no {wanted}")]
    Number {
        /// The number.
        number: String,
        /// The wanted type.
        wanted: DType,
    },
    /// A missing value where none may be missing.
    #[error("expected {wanted}, found a missing value in row {row}")]
    Null {
        /// The row, counted in all values of its place.
        row: u64,
        /// The expected type.
        wanted: String,
    },
    /// Lists of other lengths.
    #[error("a list of {found} items in row {row} where each has {size}")]
    Length {
        /// The row, counted in all lists of its place.
        row: u64,
        /// Items of the list.
        found: u64,
        /// Items of each list of the wanted type.
        size: u64,
    },
    /// An array that contradicts itself.
    #[error("{0}")]
    Invalid(Invalid),
}

impl std::fmt::Display for CastError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.member.trim_start_matches('.') {
            "" => write!(f, "{}", self.reason),
            member => write!(f, "{member}: {}", self.reason),
        }
    }
}

impl std::error::Error for CastError {}

impl From<CastReason> for CastError {
    fn from(reason: CastReason) -> Self {
        Self { member: String::new(), reason }
    }
}

impl From<Invalid> for CastError {
    fn from(invalid: Invalid) -> Self {
        CastReason::Invalid(invalid).into()
    }
}

impl CastError {
    fn within(mut self, member: &str) -> Self {
        self.member.insert_str(0, member);
        self
    }

    fn of_type(found: &Form, wanted: &Form) -> Self {
        CastReason::Type { found: found.type_string(), wanted: wanted.type_string() }.into()
    }
}

type Result<T, E = CastError> = std::result::Result<T, E>;

impl Array {
    /// Casts to another Form, which the result has with [keys of its own](Form::with_own_keys). Buffers that
    /// need not change are shared.
    ///
    /// Fields are matched by name. Lists of fixed and of variable length are cast to each other; values
    /// become optional, and optional values lose their option if none is missing. Empty lists may have an
    /// unknown type. Alternatives of a union are matched by position. Where the wanted union is within an
    /// option, a value goes to the alternative with the name of its record, and a value without a name to the
    /// only alternative of its type.
    ///
    /// # Errors
    /// If types do not match, or a value is not one of the wanted type.
    pub fn cast(&self, form: &Form, numbers: NumberCast) -> Result<Self> {
        let form = form.clone().with_own_keys();
        let mut cast = Cast { numbers, columns: Vec::new() };
        cast.node(&Lookup::of(self), &self.form, &form, self.length)?;
        Ok(Self { form, length: self.length, columns: cast.columns })
    }
}

struct Cast {
    numbers: NumberCast,
    columns: Vec<(String, Column)>,
}

impl Cast {
    /// Adds the columns of a wanted node for the first `rows` rows of one that was found.
    fn node(&mut self, of: &Lookup<'_>, found: &Form, wanted: &Form, rows: u64) -> Result<()> {
        match (found, wanted) {
            (Form::Empty, _) if rows == 0 => {
                self.columns.extend(Array::empty(wanted.clone()).columns);
                Ok(())
            }
            (Form::Numpy { key, dtype, shape }, Form::Numpy { key: to, dtype: d, shape: s })
                if shape == s =>
            {
                let column = of.column(key, "data", *dtype, items(rows, shape)?)?;
                let unlike = || CastError::of_type(found, wanted);
                let column = match self.numbers {
                    _ if dtype == d => column.clone(),
                    NumberCast::Same => return Err(unlike()),
                    NumberCast::Exact => {
                        number::converted(column, *d, items(rows, shape)?)?.ok_or_else(unlike)?
                    }
                };
                self.push(to, "data", column);
                Ok(())
            }
            (Form::String { key, binary }, Form::String { key: to, binary: b }) if binary == b => {
                self.push(
                    to,
                    "offsets",
                    of.column(key, "offsets", DType::Int64, rows.saturating_add(1))?.clone(),
                );
                self.push(to, "data", of.column(key, "data", DType::UInt8, 0)?.clone());
                Ok(())
            }
            (Form::Categorical { key, .. }, Form::Categorical { .. }) => {
                self.categories(of.column(key, "index", DType::Int32, rows)?, found, wanted)
            }
            (Form::Logical { meaning, content }, Form::Logical { meaning: m, content: c })
                if meaning == m =>
            {
                self.node(of, content, c, rows)
            }
            (Form::Record { fields, contents, .. }, Form::Record { fields: f, contents: c, .. })
                if contents.len() == c.len() =>
            {
                let order = field_order(fields.as_deref(), f.as_deref(), c.len());
                let order = order.ok_or_else(|| CastError::of_type(found, wanted))?;
                order.into_iter().zip(c).enumerate().try_for_each(|(slot, (at, wanted))| {
                    let name = || match f.as_ref().and_then(|names| names.get(slot)) {
                        Some(name) => format!(".{name}"),
                        None => format!(".{slot}"),
                    };
                    self.node(of, &contents[at], wanted, rows).map_err(|error| error.within(&name()))
                })
            }
            (_, Form::Option { key, content }) if let Form::Union { key: union, contents } = &**content => {
                self.alternatives(of, found, (key, union, contents), rows)
            }
            (Form::Union { key, contents }, Form::Union { key: to, contents: wanted })
                if contents.len() == wanted.len() =>
            {
                let (tags, index) = (of.tags(key, rows)?, of.integers(key, "index", rows)?);
                self.push(to, "tags", of.column(key, "tags", DType::Int8, rows)?.clone());
                self.push(to, "index", of.column(key, "index", DType::Int64, rows)?.clone());
                contents.iter().zip(wanted).enumerate().try_for_each(|(at, (content, wanted))| {
                    self.node(of, content, wanted, rows_of_alternative(at, tags, &index))
                })
            }
            (Form::Option { key, content }, Form::Option { key: to, content: wanted }) => {
                self.push(to, "index", of.column(key, "index", DType::Int64, rows)?.clone());
                self.node(of, content, wanted, of.rows_there(key, rows)?)
            }
            (_, Form::Option { key: to, content }) => {
                let complete = usize::try_from(rows).map_err(|_| Invalid::Overflow { rows, each: 1 })?;
                self.push(to, "index", Column::of_rows(Presence::complete(complete)));
                self.node(of, found, content, rows)
            }
            (Form::Option { key, content }, _) => self.present(of, (key, content), wanted, rows),
            (_, Form::List { .. } | Form::Regular { .. } | Form::Numpy { .. }) => {
                self.lists(of, found, wanted, rows)
            }
            _ => Err(CastError::of_type(found, wanted)),
        }
    }

    fn push(&mut self, key: &str, part: &str, column: Column) {
        self.columns.push((format!("{key}-{part}"), column));
    }

    /// Lists as lists, of one length or of any; dimensions of numbers are lists of one length.
    fn lists(&mut self, of: &Lookup<'_>, found: &Form, wanted: &Form, rows: u64) -> Result<()> {
        let inside = |error: CastError| error.within("[]");
        match (found, found.fixed(), wanted, wanted.fixed()) {
            (Form::List { key, content }, _, Form::List { key: to, content: wanted }, _) => {
                let offsets = of.column(key, "offsets", DType::Int64, rows.saturating_add(1))?;
                let end = offsets.item::<i64>(rows as usize).and_then(|end| u64::try_from(end).ok());
                let end = end.ok_or_else(|| Invalid::Range { key: format!("{key}-offsets"), row: rows })?;
                self.push(to, "offsets", offsets.clone());
                self.node(of, content, wanted, end).map_err(inside)
            }
            (_, Some((size, content)), Form::List { key: to, content: wanted }, _) => {
                let end = items(rows, &[size])?;
                let offsets = (0..=rows).map(|row| (row * size).cast_signed()).collect();
                self.push(to, "offsets", Column::from_vec(offsets));
                self.node(of, &content, wanted, end).map_err(inside)
            }
            (_, Some((size, content)), _, Some((s, wanted))) if size == s => {
                self.node(of, &content, &wanted, items(rows, &[size])?).map_err(inside)
            }
            (Form::List { key, content }, _, _, Some((size, wanted))) => {
                let offsets = of.integers(key, "offsets", rows.saturating_add(1))?;
                for (row, pair) in offsets.array_windows::<2>().enumerate() {
                    let found = pair[1].wrapping_sub(pair[0]).cast_unsigned();
                    if found != size {
                        return Err(CastReason::Length { row: row as u64, found, size }.into());
                    }
                }
                let count = items(rows, &[size])?;
                match offsets.first().copied().map(u64::try_from) {
                    Some(Ok(0)) | None => self.node(of, content, &wanted, count).map_err(inside),
                    Some(Ok(first)) => {
                        // Items before the first list belong to none.
                        let rows = std::iter::once(first..first.saturating_add(count)).collect();
                        self.picked(of, content, &wanted, rows).map_err(inside)
                    }
                    Some(Err(_)) => Err(Invalid::Range { key: format!("{key}-offsets"), row: 0 }.into()),
                }
            }
            _ => Err(CastError::of_type(found, wanted)),
        }
    }

    /// Values of an option of which none may be missing.
    fn present(&mut self, of: &Lookup<'_>, option: (&str, &Form), wanted: &Form, rows: u64) -> Result<()> {
        let (key, content) = option;
        if of.is_complete(key, rows)? {
            return self.node(of, content, wanted, rows);
        }
        let mut runs: Vec<Range<u64>> = Vec::new();
        for (row, at) in of.integers(key, "index", rows)?.iter().enumerate() {
            let null = |_| CastReason::Null { row: row as u64, wanted: wanted.type_string() };
            let at = u64::try_from(*at).map_err(null)?;
            match runs.last_mut() {
                Some(run) if run.end == at => run.end += 1,
                _ => runs.push(at..at.saturating_add(1)),
            }
        }
        self.picked(of, content, wanted, runs)
    }

    /// Some rows of a node, by themselves.
    fn picked(&mut self, of: &Lookup<'_>, found: &Form, wanted: &Form, rows: Vec<Range<u64>>) -> Result<()> {
        let all = of.array(found, rows.iter().map(|run| run.end).max().unwrap_or(0));
        let picked = Array::gather(&[(&all, &rows)])?;
        self.node(&Lookup::of(&picked), found, wanted, picked.length)
    }

    /// Texts as numbers of other categories, among which theirs are.
    fn categories(&mut self, index: &Column, found: &Form, wanted: &Form) -> Result<()> {
        let (Form::Categorical { categories, .. }, Form::Categorical { key: to, categories: wanted_ones }) =
            (found, wanted)
        else {
            return Err(CastError::of_type(found, wanted));
        };
        let index = if categories == wanted_ones {
            index.clone()
        } else {
            let places: HashMap<&str, i32> = wanted_ones.iter().map(String::as_str).zip(0..).collect();
            let renumbered = |row: usize| {
                let at = index.item::<i32>(row).and_then(|at| usize::try_from(at).ok());
                let text = at.and_then(|at| categories.get(at));
                let text = text.ok_or(Invalid::Range { key: "index".into(), row: row as u64 })?;
                let unlike = || CastError::of_type(found, wanted);
                places.get(text.as_str()).copied().ok_or_else(unlike)
            };
            Column::from_vec((0..index.len()).map(renumbered).collect::<Result<Vec<_>>>()?)
        };
        self.push(to, "index", index);
        self.columns.extend(crate::text::texts(to, wanted_ones));
        Ok(())
    }
}

/// Rows of an alternative that the rows of a union need.
fn rows_of_alternative(at: usize, tags: &[i8], index: &[i64]) -> u64 {
    let own = tags.iter().zip(index).filter(|(tag, _)| usize::try_from(**tag) == Ok(at));
    rows_of(own.map(|(_, at)| *at))
}
