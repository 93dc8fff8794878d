//! Appending of decoded blocks to the columns of a group.

use crate::{ColumnSpec, Columns, Error, Result};
use forthwith_columns::{Array, Column, DType, Form, kernels};

/// Rule by which the items of a block are appended to a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// Values, which are copied.
    Data,
    /// Offsets, to each of which the last offset of the earlier blocks is added.
    Offsets,
    /// Index of an option type, to which the number of content rows of earlier blocks is added.
    Index,
    /// Index of a union type, whose tags are in the preceding column. The numbers of content rows of its
    /// `alternatives` are kept after those of all columns, from `first` on.
    Tagged { first: usize, alternatives: usize },
}

/// Columns of a Form, for formats that decode each block to an [`Array`] and [`append`] it.
#[derive(Debug, Default)]
pub struct BlockColumns {
    columns: Vec<(ColumnSpec, Part)>,
    /// Number of alternatives of all unions.
    alternatives: usize,
}

impl BlockColumns {
    /// Returns the columns of a Form. Node types that decoders of such formats never produce have no columns.
    #[must_use]
    pub fn of(form: &Form) -> Self {
        let mut parts = Self::default();
        parts.add(form, "", true);
        parts
    }

    /// Returns the columns as a group of a plan declares them.
    pub fn specs(&self) -> impl Iterator<Item = &ColumnSpec> {
        self.columns.iter().map(|(spec, _)| spec)
    }

    /// Whether the Form has option or union types.
    #[must_use]
    pub fn has_indexes(&self) -> bool {
        self.columns.iter().any(|(_, part)| matches!(part, Part::Index | Part::Tagged { .. }))
    }

    fn column(&mut self, key: &str, name: &str, dtype: DType, part: Part, member: &str, once: bool) {
        let spec = ColumnSpec {
            key: format!("{key}-{name}"),
            dtype,
            offsets: part == Part::Offsets,
            member: member.to_owned(),
            // An estimate of one item per byte; a column that needs more grows.
            bytes_per_payload_byte: if once { 0 } else { dtype.size() as u32 },
        };
        self.columns.push((spec, part));
    }

    /// Adds the columns of a Form. `once` means one item for each entry.
    fn add(&mut self, form: &Form, member: &str, once: bool) {
        match form {
            Form::Numpy { key, dtype, shape } => {
                self.column(key, "data", *dtype, Part::Data, member, once && shape.is_empty());
            }
            Form::String { key, .. } => {
                self.column(key, "offsets", DType::Int64, Part::Offsets, member, once);
                self.column(key, "data", DType::UInt8, Part::Data, member, false);
            }
            Form::List { key, content } => {
                self.column(key, "offsets", DType::Int64, Part::Offsets, member, once);
                self.add(content, &format!("{member}[]"), false);
            }
            Form::Option { key, content } => {
                self.column(key, "index", DType::Int64, Part::Index, member, once);
                self.add(content, member, false);
            }
            Form::Union { key, contents } => {
                self.column(key, "tags", DType::Int8, Part::Data, member, once);
                let part = Part::Tagged { first: self.alternatives, alternatives: contents.len() };
                self.alternatives += contents.len();
                self.column(key, "index", DType::Int64, part, member, once);
                contents.iter().for_each(|content| self.add(content, member, false));
            }
            Form::Regular { content, .. } => self.add(content, &format!("{member}[]"), false),
            Form::Logical { content, .. } => self.add(content, member, once),
            Form::Record { fields, contents, .. } => {
                for (at, content) in contents.iter().enumerate() {
                    let name = fields.as_ref().and_then(|names| names.get(at).cloned());
                    let name = name.unwrap_or_else(|| at.to_string());
                    let member = if member.is_empty() { name } else { format!("{member}.{name}") };
                    self.add(content, &member, once);
                }
            }
            // Decoders of these formats do not produce other types.
            _ => {}
        }
    }
}

const OVERFLOW: &str = "offsets beyond 64 bits";

/// Appends the columns of a block to those of earlier blocks. The inner error is the description of a corrupt
/// block.
///
/// # Errors
/// Errors of [`Columns`]; a block that lacks one of the columns or has it with another type.
pub fn append(
    block: &Array,
    parts: &BlockColumns,
    columns: &mut dyn Columns,
) -> Result<std::result::Result<(), &'static str>> {
    let column = |(at, spec): (usize, &ColumnSpec)| {
        // Most blocks have their columns in the order of the Form, so a search by name is rarely needed.
        let there = block.columns.get(at).filter(|(name, _)| *name == spec.key).map(|(_, column)| column);
        there
            .or_else(|| block.column(&spec.key))
            .filter(|column| column.dtype() == spec.dtype)
            .ok_or_else(|| Error::invalid(format!("the block has no column {}", spec.key)))
    };
    let own = parts.specs().enumerate().map(column).collect::<Result<Vec<_>>>()?;
    columns.wait()?;
    let mut before = columns.ends();
    before.resize(own.len() + parts.alternatives, 0);
    let Some((items, ends)) = counts(&own, parts, &before) else { return Ok(Err(OVERFLOW)) };
    columns.set_ends(&ends);
    let mut slots = columns.take_last(&items)?;
    for (at, slot) in slots.iter_mut().enumerate() {
        let (column, part) = (own[at], parts.columns[at].1);
        match part {
            Part::Data => kernels::copy(column.as_bytes(), slot),
            Part::Offsets => {
                let offsets = column.as_bytes().get(8..).unwrap_or_default();
                if kernels::rebase(offsets, before[at], slot).is_err() {
                    return Ok(Err(OVERFLOW));
                }
            }
            Part::Index => {
                append_index(column.items::<i64>().unwrap_or_default(), before[at], slot);
            }
            Part::Tagged { first, alternatives } => {
                let bases = &before[own.len() + first..own.len() + first + alternatives];
                let rows = column.items::<i64>().unwrap_or_default();
                let tags = own[at - 1].items::<i8>().unwrap_or_default();
                for ((row, tag), place) in rows.iter().zip(tags.iter()).zip(slot.as_chunks_mut::<8>().0) {
                    let base = usize::try_from(*tag).ok().and_then(|tag| bases.get(tag));
                    *place = row.saturating_add(base.copied().unwrap_or(0)).to_ne_bytes();
                }
            }
        }
    }
    Ok(Ok(()))
}

/// Writes the index of an option type with `before` added to each valid row. The caller has checked that this
/// does not overflow.
fn append_index(rows: &[i64], before: i64, slot: &mut [u8]) {
    let places = slot.as_chunks_mut::<8>().0.iter_mut();
    // Usually no value is missing. Both loops are free of branches, so that they can be vectorised.
    let differences =
        rows.iter().zip(0..).fold(0, |differences, (row, at): (&i64, i64)| differences | (row ^ at));
    if differences == 0 {
        places.zip(before..).for_each(|(place, row)| *place = row.to_ne_bytes());
        return;
    }
    for (row, place) in rows.iter().zip(places) {
        let row = if *row < 0 { -1 } else { row.wrapping_add(before) };
        *place = row.to_ne_bytes();
    }
}

/// Returns the number of items that a block adds to each column, and the ends for the next block; `None` if
/// an end overflows 64 bits.
fn counts(own: &[&Column], parts: &BlockColumns, before: &[i64]) -> Option<(Vec<usize>, Vec<i64>)> {
    let (mut items, mut ends) = (Vec::with_capacity(own.len()), before.to_vec());
    for (at, (column, (_, part))) in own.iter().zip(&parts.columns).enumerate() {
        let numbers = column.items::<i64>().unwrap_or_default();
        let (count, more) = match part {
            Part::Data => (column.len(), 0),
            Part::Offsets => (column.len().saturating_sub(1), numbers.last().copied().unwrap_or(0)),
            Part::Index => (column.len(), rows(numbers.iter().copied())?),
            Part::Tagged { first, alternatives } => {
                let tags = own[at - 1].items::<i8>().unwrap_or_default();
                for tag in 0..*alternatives {
                    let mine =
                        tags.iter().zip(numbers.iter()).filter(|(t, _)| usize::try_from(**t) == Ok(tag));
                    let end = &mut ends[own.len() + first + tag];
                    *end = end.checked_add(rows(mine.map(|(_, row)| *row))?)?;
                }
                (column.len(), 0)
            }
        };
        items.push(count);
        ends[at] = ends[at].checked_add(more)?;
    }
    Some((items, ends))
}

/// Returns the number of content rows, which is one more than the largest row in the index: truncated arrays
/// have no content beyond.
fn rows(index: impl Iterator<Item = i64>) -> Option<i64> {
    index.fold(-1, i64::max).max(-1).checked_add(1)
}
