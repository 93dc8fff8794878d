//! The footer of a file: schema and description of each column chunk.
//!
//! It is read as leniently as the reference library does: unknown and unused fields are skipped, whatever
//! their type, and only fields without which a chunk cannot be found or decoded are required.

use crate::field::{Kind, Logical, Repetition, Type};
use crate::thrift::Compact;
use forthwith_plan::{Error, Result};
use std::ops::Range;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Footer {
    pub(crate) version: i64,
    pub(crate) created_by: Option<String>,
    pub(crate) key_values: Vec<(String, Option<String>)>,
    pub(crate) schema: Type,
    /// Columns of the file.
    pub(crate) columns: Vec<Column>,
    pub(crate) row_groups: Vec<Rows>,
    /// Number of rows of the file.
    pub(crate) rows: Option<i64>,
}

/// A column of the file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Column {
    /// Names of the groups around the column and of the column itself, joined by `.`.
    pub(crate) path: String,
    /// Number of the physical type.
    pub(crate) physical: i64,
    /// Whether the column has unsigned integers.
    pub(crate) is_unsigned: bool,
    /// Whether the values are items of lists.
    pub(crate) is_in_lists: bool,
}

/// A row group.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Rows {
    pub(crate) rows: i64,
    pub(crate) total_bytes: i64,
    pub(crate) chunks: Vec<Chunk>,
}

/// A column chunk.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Chunk {
    /// Error for a chunk that is in another file or encrypted.
    pub(crate) elsewhere: Option<&'static str>,
    pub(crate) codec: i64,
    pub(crate) values: i64,
    pub(crate) uncompressed: i64,
    pub(crate) compressed: i64,
    pub(crate) data_page: i64,
    pub(crate) dictionary_page: Option<i64>,
    /// Set of encodings, as bits by their numbers.
    pub(crate) encodings: u32,
    pub(crate) statistics: Option<Box<Statistics>>,
    /// Offset and length of the offset index, zeros if there is none; see [`index`](crate::index).
    pub(crate) offset_index: (i64, i64),
    /// Offset and length of the column index, zeros if there is none.
    pub(crate) column_index: (i64, i64),
}

/// Statistics of a chunk, as stored.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Statistics {
    pub(crate) min: Option<Vec<u8>>,
    pub(crate) max: Option<Vec<u8>>,
    /// Whether these are the deprecated bounds, which were compared as signed numbers or bytes regardless of
    /// the type of the column.
    pub(crate) is_old: bool,
    pub(crate) nulls: Option<u64>,
    pub(crate) distinct: Option<u64>,
    /// Whether minimum and maximum are values that occur.
    pub(crate) exact: [bool; 2],
}

impl Footer {
    pub(crate) fn read(bytes: &[u8]) -> Result<Self> {
        let mut compact = Compact::new(bytes);
        let (mut version, mut created_by, mut key_values) = (0, None, Vec::new());
        let (mut schema, mut columns, mut row_groups) = (None, Vec::new(), Vec::new());
        let mut rows = None;
        compact.fields(&mut |compact, number, kind| {
            match (number, kind) {
                (1, _) => compact.number(kind, &mut version)?,
                (2, 9) => {
                    let root = Type::read(compact)?;
                    if paths(&root, 0) > LONGEST_PATHS {
                        return Err(Error::unsupported("a schema of longer names than memory is kept for"));
                    }
                    columns.clear();
                    leaves(&root, &mut String::new(), false, &mut columns);
                    schema = Some(root);
                }
                (3, _) => compact.optional(kind, &mut rows)?,
                (4, 9) => compact.items(12, "row groups that are no structures", |compact| {
                    row_groups.push(Rows::read(compact, columns.len())?);
                    Ok(())
                })?,
                (5, 9) => compact.items(12, "pairs of key and value that are no structures", |compact| {
                    key_values.push(pair(compact)?);
                    Ok(())
                })?,
                (6, 8) => created_by = Some(compact.text()?),
                _ => compact.skip(kind, 0)?,
            }
            Ok(())
        })?;
        let schema = schema.ok_or_else(|| compact.odd("no schema"))?;
        Ok(Self { version, created_by, key_values, schema, columns, row_groups, rows })
    }

    /// Whether data pages of version 2 are compressed regardless of their header, which the reference library
    /// set wrongly up to its version 1.
    pub(crate) fn always_compressed(&self) -> bool {
        let version = self.created_by.as_deref().and_then(|by| by.strip_prefix("parquet-cpp version "));
        let major = version.and_then(|version| version.split('.').next());
        major.and_then(|major| major.parse::<u32>().ok()).is_some_and(|major| major < 2)
    }
}

/// Upper bound on the bytes of the paths of all columns, each of which includes the names of its groups.
const LONGEST_PATHS: usize = 64 << 20;

fn paths(field: &Type, before: usize) -> usize {
    let here = before.saturating_add(field.name.len()).saturating_add(1);
    let below = field.fields().iter().map(|field| paths(field, here)).fold(0, usize::saturating_add);
    here.saturating_add(below)
}

/// Collects the columns in a field of a schema whose depth is bounded.
fn leaves(field: &Type, path: &mut String, in_lists: bool, found: &mut Vec<Column>) {
    for field in field.fields() {
        let in_lists = in_lists || field.repetition == Repetition::Repeated;
        let before = path.len();
        if before > 0 {
            path.push('.');
        }
        path.push_str(&field.name);
        match field.kind {
            Kind::Leaf { physical, .. } => {
                let is_unsigned = matches!(field.logical(), Some(Logical::Integer { signed: false, .. }));
                found.push(Column { path: path.clone(), physical, is_unsigned, is_in_lists: in_lists });
            }
            Kind::Group(_) => leaves(field, path, in_lists, found),
        }
        path.truncate(before);
    }
}

fn pair(compact: &mut Compact<'_>) -> Result<(String, Option<String>)> {
    let mut pair = (String::new(), None);
    compact.fields(&mut |compact, number, kind| {
        match (number, kind) {
            (1, 8) => pair.0 = compact.text()?,
            (2, 8) => pair.1 = Some(compact.text()?),
            _ => compact.skip(kind, 0)?,
        }
        Ok(())
    })?;
    Ok(pair)
}

impl Rows {
    /// Reads a row group of `columns` columns. Another number is an error before any column is read, so that
    /// memory stays proportional to the bytes.
    fn read(compact: &mut Compact<'_>, columns: usize) -> Result<Self> {
        let mut this = Self::default();
        compact.fields(&mut |compact, number, kind| match (number, kind) {
            (1, 9) => {
                let (item, size) = compact.list()?;
                if size != columns as u64 || item != 12 && size > 0 {
                    let found = format!("a row group of {size} columns, where the schema has {columns}");
                    return Err(compact.odd(found));
                }
                this.chunks.clear();
                for _ in 0..size {
                    this.chunks.push(Chunk::read(compact)?);
                }
                Ok(())
            }
            (2, _) => compact.number(kind, &mut this.total_bytes),
            (3, _) => compact.number(kind, &mut this.rows),
            _ => compact.skip(kind, 0),
        })?;
        if this.chunks.len() != columns {
            return Err(compact.odd("a row group without columns"));
        }
        Ok(this)
    }
}

impl Chunk {
    /// Returns the byte range of the pages, in a file of `size` bytes.
    pub(crate) fn range(&self, size: u64) -> Result<Range<u64>> {
        // Some writers store a dictionary offset of 0, which is invalid.
        let first = self.dictionary_page.filter(|at| *at > 0 && *at < self.data_page);
        let start = u64::try_from(first.unwrap_or(self.data_page)).ok();
        let length = u64::try_from(self.compressed).ok();
        let end = start.zip(length).and_then(|(start, length)| start.checked_add(length));
        match start.zip(end).filter(|(_, end)| *end <= size) {
            Some((start, end)) => Ok(start..end),
            None => Err(Error::truncated("a column chunk", length.unwrap_or(u64::MAX), size)),
        }
    }

    /// Returns the byte range of the dictionary before the data pages, in a file of `size` bytes, if there is
    /// one.
    pub(crate) fn dictionary_range(&self, size: u64) -> Result<Option<Range<u64>>> {
        let all = self.range(size)?;
        let end = u64::try_from(self.data_page).unwrap_or(0).min(all.end);
        Ok((all.start < end).then_some(all.start..end))
    }

    fn read(compact: &mut Compact<'_>) -> Result<Self> {
        let mut this = Self::default();
        let mut is_there = false;
        compact.fields(&mut |compact, number, kind| match (number, kind) {
            (1, 8) => {
                if !compact.bytes()?.is_empty() {
                    this.elsewhere = Some("columns in another file");
                }
                Ok(())
            }
            (3, 12) => {
                is_there = true;
                this.metadata(compact)
            }
            (4, _) => compact.number(kind, &mut this.offset_index.0),
            (5, _) => compact.number(kind, &mut this.offset_index.1),
            (6, _) => compact.number(kind, &mut this.column_index.0),
            (7, _) => compact.number(kind, &mut this.column_index.1),
            (8, 12) => {
                this.elsewhere = Some("encrypted columns");
                compact.skip(kind, 0)
            }
            _ => compact.skip(kind, 0),
        })?;
        if !is_there && this.elsewhere.is_none() {
            return Err(compact.odd("a column chunk that says nothing of itself"));
        }
        Ok(this)
    }

    fn metadata(&mut self, compact: &mut Compact<'_>) -> Result<()> {
        let (mut codec, mut values, mut sizes, mut data_page) = (None, None, [None; 2], None);
        compact.fields(&mut |compact, number, kind| match (number, kind) {
            (2, 9) => compact.items(5, "encodings that are no numbers", |compact| {
                let encoding = u32::try_from(compact.integer()?).ok();
                self.encodings |= encoding.and_then(|bit| 1u32.checked_shl(bit)).unwrap_or(0);
                Ok(())
            }),
            (4, _) => compact.optional(kind, &mut codec),
            (5, _) => compact.optional(kind, &mut values),
            (6, _) => compact.optional(kind, &mut sizes[0]),
            (7, _) => compact.optional(kind, &mut sizes[1]),
            (9, _) => compact.optional(kind, &mut data_page),
            (11, _) => compact.optional(kind, &mut self.dictionary_page),
            (12, 12) => {
                self.statistics = Some(Box::new(Statistics::read(compact)?));
                Ok(())
            }
            _ => compact.skip(kind, 0),
        })?;
        let missing = |what: &str| compact.odd(format!("a column chunk without {what}"));
        self.codec = codec.ok_or_else(|| missing("a codec"))?;
        self.values = values.ok_or_else(|| missing("a number of values"))?;
        self.uncompressed = sizes[0].ok_or_else(|| missing("an uncompressed size"))?;
        self.compressed = sizes[1].ok_or_else(|| missing("a size"))?;
        self.data_page = data_page.ok_or_else(|| missing("a place for its pages"))?;
        Ok(())
    }
}

impl Statistics {
    fn read(compact: &mut Compact<'_>) -> Result<Self> {
        let mut this = Self::default();
        let (mut old, mut new) = ([None, None], [None, None]);
        let (mut nulls, mut distinct) = (None, None);
        compact.fields(&mut |compact, number, kind| {
            match (number, kind) {
                (1, 8) => old[1] = Some(compact.bytes()?.to_vec()),
                (2, 8) => old[0] = Some(compact.bytes()?.to_vec()),
                (3, _) => compact.optional(kind, &mut nulls)?,
                (4, _) => compact.optional(kind, &mut distinct)?,
                (5, 8) => new[1] = Some(compact.bytes()?.to_vec()),
                (6, 8) => new[0] = Some(compact.bytes()?.to_vec()),
                (7, _) => compact.flag(kind, &mut this.exact[1])?,
                (8, _) => compact.flag(kind, &mut this.exact[0])?,
                _ => compact.skip(kind, 0)?,
            }
            Ok(())
        })?;
        this.is_old = new.iter().all(Option::is_none);
        [this.min, this.max] = if this.is_old { old } else { new };
        let count = |number: Option<i64>| number.and_then(|number| u64::try_from(number).ok());
        (this.nulls, this.distinct) = (count(nulls), count(distinct));
        Ok(this)
    }
}
