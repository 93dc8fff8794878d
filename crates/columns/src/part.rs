//! Copy of a range of rows of an array.

use crate::invalid::DEEPEST;
use crate::lookup::Lookup;
use crate::validate::items;
use crate::{Array, Column, DType, Form, Invalid};
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

impl Array {
    /// Copies a range of rows, so that the result keeps no memory of this array alive, apart from categories.
    /// Offsets begin with zero, and indexes with the first row that they refer to.
    ///
    /// # Errors
    /// [`Invalid::Range`] if the range exceeds the array, and other [`Invalid`] for an array that contradicts
    /// itself.
    pub fn part(&self, rows: Range<u64>) -> Result<Self, Invalid> {
        if rows.start > rows.end || rows.end > self.length {
            return Err(Invalid::Range { key: "rows".into(), row: rows.end });
        }
        let mut cut = Cut { from: Lookup::of(self), done: HashMap::new(), columns: Vec::new() };
        cut.node(&self.form, rows.clone(), 0)?;
        Ok(Self { form: self.form.clone(), length: rows.end - rows.start, columns: cut.columns })
    }
}

/// State of the copy.
struct Cut<'a> {
    from: Lookup<'a>,
    /// Rows that were copied for each key, since nodes may share one.
    done: HashMap<&'a str, Range<u64>>,
    columns: Vec<(String, Column)>,
}

impl<'a> Cut<'a> {
    fn node(&mut self, form: &'a Form, rows: Range<u64>, depth: u32) -> Result<(), Invalid> {
        if depth > DEEPEST {
            return Err(Invalid::Deep);
        }
        match form {
            Form::Empty => Ok(()),
            Form::Numpy { key, dtype, shape } => {
                if self.first(key, &rows)? {
                    self.data(key, *dtype, items(rows.start, shape)?..items(rows.end, shape)?)?;
                }
                Ok(())
            }
            Form::String { key, .. } => {
                if self.done.contains_key(key.as_str()) {
                    return self.first(key, &rows).map(drop);
                }
                let count = rows.end.checked_add(1).ok_or(Invalid::Overflow { rows: rows.end, each: 1 })?;
                if let Some((texts, all)) = self.from.column(key, "offsets", DType::Int64, count)?.texts()
                    && all.start == 0
                {
                    self.first(key, &rows)?;
                    let part = texts.part(rows.start as usize..rows.end as usize); // as long as the end
                    let [offsets, bytes] = Column::of_texts(part);
                    self.columns.push((format!("{key}-offsets"), offsets));
                    self.columns.push((format!("{key}-data"), bytes));
                    return Ok(());
                }
                let bytes = self.offsets(key, &rows)?;
                self.data(key, DType::UInt8, bytes)
            }
            Form::Categorical { key, categories } => {
                if self.first(key, &rows)? {
                    let numbers = self.from.column(key, "index", DType::Int32, rows.end)?;
                    let numbers = numbers.slice(rows.start as usize..rows.end as usize).compact();
                    self.columns.push((format!("{key}-index"), numbers));
                    // Categories are shared, as they are few.
                    let count = categories.len() as u64;
                    let offsets = self.from.column(key, "offsets", DType::Int64, count + 1)?;
                    self.columns.push((format!("{key}-offsets"), offsets.clone()));
                    let bytes = self.from.column(key, "data", DType::UInt8, 0)?;
                    self.columns.push((format!("{key}-data"), bytes.clone()));
                }
                Ok(())
            }
            Form::List { key, content } => {
                let inner = self.offsets(key, &rows)?;
                self.node(content, inner, depth + 1)
            }
            Form::Regular { size, content } => {
                self.node(content, items(rows.start, &[*size])?..items(rows.end, &[*size])?, depth + 1)
            }
            Form::Logical { content, .. } => self.node(content, rows, depth + 1),
            Form::Record { contents, .. } => {
                contents.iter().try_for_each(|content| self.node(content, rows.clone(), depth + 1))
            }
            Form::Option { key, content } => {
                let known = self.from.column(key, "index", DType::Int64, rows.end)?.presence();
                if let Some(all) = known {
                    let (part, inner) = all.part(rows.start as usize..rows.end as usize); // as long as the end
                    if self.first(key, &rows)? {
                        self.columns.push((format!("{key}-index"), Column::of_rows(part)));
                    }
                    return self.node(content, inner.start as u64..inner.end as u64, depth + 1);
                }
                let index = self.from.integers(key, "index", rows.end)?;
                let index = &index[rows.start as usize..]; // as long as the end
                let inner = meant(index.iter().copied().filter(|at| *at >= 0));
                if self.first(key, &rows)? {
                    let base = inner.start as i64;
                    self.keep(
                        key,
                        "index",
                        index.iter().map(|at| if *at < 0 { -1 } else { at - base }).collect(),
                    );
                }
                self.node(content, inner, depth + 1)
            }
            Form::Union { key, contents } => {
                let tags = &self.from.tags(key, rows.end)?[rows.start as usize..];
                let index = self.from.integers(key, "index", rows.end)?;
                let index = &index[rows.start as usize..];
                let mut inner = Vec::new();
                for tag in 0..contents.len() {
                    let mine = tags.iter().zip(index).filter(|(t, _)| usize::try_from(**t) == Ok(tag));
                    inner.push(meant(mine.map(|(_, at)| (*at).max(0))));
                }
                if self.first(key, &rows)? {
                    let base = |tag: &i8| usize::try_from(*tag).ok().and_then(|tag| inner.get(tag));
                    let moved = tags.iter().zip(index).enumerate().map(|(row, (tag, at))| {
                        let base = base(tag).map(|inner| inner.start as i64).filter(|_| *at >= 0);
                        let key = || format!("{key}-index");
                        base.map(|base| at - base)
                            .ok_or_else(|| Invalid::Range { key: key(), row: row as u64 })
                    });
                    let moved = moved.collect::<Result<Vec<_>, _>>()?;
                    self.columns.push((format!("{key}-tags"), Column::from_slice(tags)));
                    self.keep(key, "index", moved);
                }
                contents
                    .iter()
                    .zip(inner)
                    .try_for_each(|(content, inner)| self.node(content, inner, depth + 1))
            }
        }
    }

    /// Returns whether a key occurs for the first time. Nodes that share a key must use it for the same rows.
    fn first(&mut self, key: &'a str, rows: &Range<u64>) -> Result<bool, Invalid> {
        match self.done.insert(key, rows.clone()) {
            None => Ok(true),
            Some(before) if before == *rows => Ok(false),
            Some(_) => Err(Invalid::Range { key: key.to_owned(), row: rows.start }),
        }
    }

    /// Returns the range of items of the lists, and their offsets.
    fn lists(&self, key: &str, rows: &Range<u64>) -> Result<(Range<u64>, Cow<'a, [i64]>), Invalid> {
        let count = rows.end.checked_add(1).ok_or(Invalid::Overflow { rows: rows.end, each: 1 })?;
        let mut offsets = self.from.integers(key, "offsets", count)?;
        let skipped = rows.start as usize; // below the count
        match &mut offsets {
            Cow::Borrowed(offsets) => *offsets = &offsets[skipped..],
            Cow::Owned(offsets) => drop(offsets.drain(..skipped)),
        }
        let end = |offset: Option<&i64>| offset.and_then(|offset| u64::try_from(*offset).ok());
        match (end(offsets.first()), end(offsets.last())) {
            (Some(first), Some(last)) if first <= last => Ok((first..last, offsets)),
            _ => Err(Invalid::Backwards { key: format!("{key}-offsets"), row: rows.start }),
        }
    }

    /// Copies the offsets of lists, starting at zero, and returns the range of their items.
    fn offsets(&mut self, key: &'a str, rows: &Range<u64>) -> Result<Range<u64>, Invalid> {
        let (inner, offsets) = self.lists(key, rows)?;
        if self.first(key, rows)? {
            let base = inner.start as i64;
            self.keep(key, "offsets", offsets.iter().map(|offset| offset.wrapping_sub(base)).collect());
        }
        Ok(inner)
    }

    fn data(&mut self, key: &str, dtype: DType, rows: Range<u64>) -> Result<(), Invalid> {
        let column = self.from.column(key, "data", dtype, rows.end)?;
        let part = column.slice(rows.start as usize..rows.end as usize);
        self.columns.push((format!("{key}-data"), part.compact()));
        Ok(())
    }

    fn keep(&mut self, key: &str, part: &str, items: Vec<i64>) {
        self.columns.push((format!("{key}-{part}"), Column::from_vec(items)));
    }
}

/// Returns the range from the lowest to the highest row of an index.
fn meant(index: impl Iterator<Item = i64>) -> Range<u64> {
    let ends = index.fold(None, |ends: Option<(i64, i64)>, at| {
        Some(ends.map_or((at, at), |(low, high)| (low.min(at), high.max(at))))
    });
    ends.map_or(0..0, |(low, high)| low.unsigned_abs()..high.unsigned_abs().saturating_add(1))
}
