//! Columns of a type in one table, filled by commands or from objects, for known and inferred types.

mod buffers;
mod numbers;
mod place;
mod stored;

pub(crate) use place::Found;
pub(crate) use stored::{Columns, Field, Lists, Record};

use crate::form::{Form, FormError, Index, Kind, Text};
use crate::growth::{push, reserve, resize};
use crate::{BuildError, Fault, MOST_COLUMNS};
use std::collections::HashSet;
use stored::{each_number, end};

/// Table of columns. They refer to each other by number, so that promoting one does not affect the others.
/// Number 0 is the array itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct Nodes {
    columns: Vec<Columns>,
    /// Types of the nodes of a Form, for errors; empty for an inferred type.
    expected: Vec<Box<str>>,
    /// Whether strings and byte strings in one place make a union.
    pub(crate) texts_apart: bool,
}

impl Nodes {
    /// Creates empty columns for a Form.
    pub(crate) fn new(form: &Form) -> Result<Self, FormError> {
        let mut nodes = Self::default();
        nodes.add_form(form, 0)?;
        Ok(nodes)
    }

    /// Creates a column of unknown type.
    pub(crate) fn unknown() -> Self {
        Self { columns: vec![Columns::UNKNOWN], ..Self::default() }
    }

    fn add_form(&mut self, form: &Form, depth: usize) -> Result<u32, FormError> {
        if depth > Form::DEEPEST || self.columns.len() >= MOST_COLUMNS {
            return Err(FormError::Deep);
        }
        let number = self.columns.len() as u32; // far less than can be numbered
        self.expected.push(form.type_string().into());
        self.columns.push(Columns::UNKNOWN);
        let columns = self.columns(form, depth + 1)?;
        *self.at_mut(number) = columns;
        Ok(number)
    }

    /// Returns an error if the limit does not allow `more` columns.
    pub(crate) fn room(&self, more: usize) -> Result<(), BuildError> {
        match self.columns.len().checked_add(more) {
            Some(all) if all <= MOST_COLUMNS => Ok(()),
            _ => Err(Fault::Columns.into()),
        }
    }

    /// Adds columns and returns their number.
    pub(crate) fn add(&mut self, columns: Columns) -> Result<u32, BuildError> {
        self.room(1)?;
        let number = self.columns.len() as u32; // the most is far less
        push(&mut self.columns, columns)?;
        Ok(number)
    }

    fn columns(&mut self, form: &Form, depth: usize) -> Result<Columns, FormError> {
        let lists = |width, separate| Lists { width, separate };
        if let Some(text) = form.as_text() {
            let binary = text == Text::Bytes;
            let layout = match form.kind {
                Kind::Regular { size, .. } => {
                    return Ok(Columns::Fixed { binary, size: whole(size)?, length: 0, bytes: Vec::new() });
                }
                Kind::List { starts, .. } => lists(starts, true),
                Kind::ListOffset { offsets, .. } => lists(offsets, false),
                _ => lists(Index::I64, false), // never: texts are lists
            };
            return Ok(Columns::text(binary, layout));
        }
        Ok(match &form.kind {
            Kind::Empty => Columns::UNKNOWN,
            Kind::Numpy { primitive, shape } => match shape.split_first() {
                None => Columns::numbers(*primitive),
                Some((size, rest)) => {
                    let kind = Kind::Numpy { primitive: *primitive, shape: rest.to_vec() };
                    let inner = Form { kind, ..form.clone() };
                    let content = self.add_form(&inner, depth)?;
                    Columns::Regular { size: whole(*size)?, length: 0, content, inner: true }
                }
            },
            Kind::Regular { size, content } => {
                let content = self.add_form(content, depth)?;
                Columns::Regular { size: whole(*size)?, length: 0, content, inner: false }
            }
            Kind::ListOffset { offsets: width, content } | Kind::List { starts: width, content } => {
                let layout = lists(*width, matches!(form.kind, Kind::List { .. }));
                Columns::List { layout, offsets: vec![0], content: self.add_form(content, depth)? }
            }
            Kind::Record { fields: None, contents } => {
                let contents = contents.iter().map(|content| self.add_form(content, depth));
                Columns::Record(Box::new(Record::tuple(contents.collect::<Result<_, _>>()?)))
            }
            Kind::Record { fields: Some(names), contents } => {
                let mut known = HashSet::new();
                if let Some(twice) = names.iter().find(|name| !known.insert(name.as_str())) {
                    return Err(FormError::Unsupported(format!("a record with two fields {twice:?}")));
                }
                let fields = names.iter().zip(contents);
                let fields =
                    fields.map(|(name, content)| Ok(Field::new(name, self.add_form(content, depth)?)));
                let fields = fields.collect::<Result<_, FormError>>()?;
                Columns::Record(Box::new(Record::named(form.record_name().unwrap_or_default(), fields)))
            }
            Kind::Indexed { index: width, content } | Kind::IndexedOption { index: width, content } => {
                Columns::Indexed {
                    nulls: matches!(form.kind, Kind::IndexedOption { .. }),
                    width: *width,
                    index: Vec::new(),
                    content: self.add_form(content, depth)?,
                    categories: form.is_categorical().then(Box::default),
                }
            }
            Kind::ByteMasked { valid_when, content } | Kind::BitMasked { valid_when, content, .. } => {
                let bits = match form.kind {
                    Kind::BitMasked { lsb_order, .. } => Some(lsb_order),
                    _ => None,
                };
                let valid = i8::from(*valid_when);
                Columns::Masked { valid, bits, mask: Vec::new(), content: self.add_form(content, depth)? }
            }
            Kind::Unmasked { content } => Columns::Unmasked { content: self.add_form(content, depth)? },
            Kind::Union { index: width, contents } => {
                let count = contents.len();
                if count > crate::MOST_ALTERNATIVES {
                    return Err(FormError::Unsupported(format!("a union of {count} types")));
                }
                let contents = contents.iter().map(|content| self.add_form(content, depth));
                let contents = contents.collect::<Result<_, _>>()?;
                Columns::Union { width: *width, tags: Vec::new(), index: Vec::new(), contents }
            }
        })
    }

    #[inline]
    pub(crate) fn at(&self, node: u32) -> &Columns {
        &self.columns[node as usize]
    }

    #[inline]
    pub(crate) fn at_mut(&mut self, node: u32) -> &mut Columns {
        &mut self.columns[node as usize]
    }

    /// Returns the columns of a node; `None` if the number is out of range.
    #[inline]
    pub(crate) fn get(&self, node: u32) -> Option<&Columns> {
        self.columns.get(node as usize)
    }

    /// Returns a node that is a record or tuple; `None` for other nodes.
    #[inline]
    pub(crate) fn record(&self, node: u32) -> Option<&Record> {
        if let Some(Columns::Record(record)) = self.get(node) { Some(record) } else { None }
    }

    /// Returns the type of a node, for errors.
    pub(crate) fn expected(&self, node: u32) -> &str {
        self.expected.get(node as usize).map_or("", |expected| expected)
    }

    /// Returns the numbers of all nodes.
    pub(crate) fn numbers(&self) -> std::ops::Range<u32> {
        0..self.columns.len() as u32
    }

    #[inline]
    pub(crate) fn len(&self, node: u32) -> usize {
        each_number!(self.at(node), items => items.len(), {
            Columns::Nothing { nulls } => *nulls,
            Columns::Text { offsets, .. } | Columns::List { offsets, .. } => offsets.len() - 1,
            Columns::Fixed { length, .. } | Columns::Regular { length, .. } => *length,
            Columns::Record(record) => record.length,
            Columns::Indexed { index, .. } => index.len(),
            Columns::Masked { mask, .. } => mask.len(),
            Columns::Unmasked { content } => self.len_below(*content),
            Columns::Union { tags, .. } => tags.len(),
        })
    }

    fn len_below(&self, node: u32) -> usize {
        self.len(node)
    }

    /// Returns the child nodes, with the number of their rows that belong to the first `length` values.
    pub(crate) fn below(&self, node: u32, length: usize) -> Vec<(u32, usize)> {
        match self.at(node) {
            Columns::List { offsets, content, .. } => {
                vec![(*content, offsets.get(length).map_or_else(|| end(offsets), |end| *end as usize))]
            }
            // If items take no memory, the size can be any number.
            Columns::Regular { size, content, .. } => vec![(*content, size.saturating_mul(length))],
            Columns::Masked { content, .. } | Columns::Unmasked { content } => vec![(*content, length)],
            Columns::Record(record) => record.fields.iter().map(|field| (field.content, length)).collect(),
            Columns::Indexed { index, content, nulls, categories, .. } => {
                let index = &index[..length.min(index.len())];
                // Rows increase, except in categories, where they can be repeated.
                let last = if *nulls && categories.is_none() {
                    index.iter().rev().find(|row| **row >= 0)
                } else {
                    index.iter().max()
                };
                vec![(*content, last.map_or(0, |row| (*row + 1) as usize))]
            }
            Columns::Union { tags, index, contents, .. } => {
                let mut rows = vec![0; contents.len()];
                for (tag, row) in tags.iter().zip(index).take(length) {
                    rows[*tag as usize] = *row as usize + 1;
                }
                contents.iter().copied().zip(rows).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Removes all values after the first `length`, including unfinished ones.
    pub(crate) fn truncate(&mut self, node: u32, length: usize) {
        let length = length.min(self.len(node));
        let below = self.below(node, length);
        self.at_mut(node).truncate(length);
        for (content, length) in below {
            self.truncate(content, length);
        }
        self.forget_categories(node);
    }

    /// Truncates each node to its own length, as returned by [`lengths`](Self::lengths) at an earlier time.
    pub(crate) fn truncate_all(&mut self, lengths: &[usize]) {
        for (columns, length) in self.columns.iter_mut().zip(lengths) {
            columns.truncate(*length);
        }
        self.numbers().for_each(|node| self.forget_categories(node));
    }

    pub(crate) fn lengths(&self) -> Box<[usize]> {
        self.numbers().map(|node| self.len(node)).collect()
    }

    /// Removes all values; memory up to a bound is kept.
    pub(crate) fn clear(&mut self) {
        let none = vec![0; self.columns.len()];
        self.truncate_all(&none);
        self.columns.iter_mut().for_each(Columns::shrink);
    }

    fn forget_categories(&mut self, node: u32) {
        if let Columns::Indexed { content, categories: Some(_), .. } = self.at(node) {
            let rows = self.len(*content) as i64;
            if let Columns::Indexed { categories: Some(categories), .. } = self.at_mut(node) {
                categories.0.retain(|_, row| *row < rows);
            }
        }
    }

    /// Returns a copy of the columns, or an error if memory cannot be allocated.
    pub(crate) fn copied(&self) -> Result<Self, BuildError> {
        let columns = self.columns.iter().map(Columns::copied).collect::<Result<_, _>>()?;
        Ok(Self { columns, expected: Vec::new(), texts_apart: false })
    }

    /// Whether a node has a value that can be stored in place of a null under a mask.
    pub(crate) fn is_fillable(&self, node: u32) -> bool {
        match self.at(node) {
            Columns::Nothing { .. } => false,
            Columns::Indexed { nulls: true, .. } | Columns::Regular { size: 0, .. } => true,
            Columns::Indexed { content, .. }
            | Columns::Regular { content, .. }
            | Columns::Masked { content, .. }
            | Columns::Unmasked { content } => self.is_fillable(*content),
            Columns::Record(record) => record.fields.iter().all(|field| self.is_fillable(field.content)),
            Columns::Union { contents, .. } => contents.iter().any(|content| self.is_fillable(*content)),
            _ => true,
        }
    }

    /// Appends `rows` values in place of nulls: zeros, empty lists and strings, nulls.
    pub(crate) fn fill(&mut self, node: u32, rows: usize) -> Result<(), BuildError> {
        let more = |rows: usize, size: usize| {
            rows.checked_mul(size).ok_or_else(|| BuildError::from(Fault::Memory(usize::MAX)))
        };
        // Child nodes are filled first, so that no row is added if memory for its parts cannot be allocated.
        let below: Vec<(u32, usize)> = match self.at(node) {
            Columns::Regular { size, content, .. } => vec![(*content, more(rows, *size)?)],
            Columns::Masked { content, .. }
            | Columns::Unmasked { content }
            | Columns::Indexed { nulls: false, content, .. } => vec![(*content, rows)],
            Columns::Record(record) => record.fields.iter().map(|field| (field.content, rows)).collect(),
            Columns::Union { contents, .. } => {
                let first = contents.iter().find(|content| self.is_fillable(**content));
                first.map(|content| (*content, rows)).into_iter().collect()
            }
            _ => Vec::new(),
        };
        let first = below.first().map_or(0, |(content, _)| self.len(*content) as i64);
        let chosen = below.first().map(|(content, _)| *content);
        for (content, rows) in below {
            self.fill(content, rows)?;
        }
        each_number!(self.at_mut(node), items => resize(items, rows, Default::default()), {
            Columns::Nothing { .. } | Columns::Unmasked { .. } => Ok(()),
            Columns::Text { offsets, .. } | Columns::List { offsets, .. } => {
                let end = offsets.last().copied().unwrap_or(0);
                resize(offsets, rows, end)
            }
            Columns::Fixed { size, length, bytes, .. } => {
                resize(bytes, more(rows, *size)?, 0)?;
                *length += rows;
                Ok(())
            }
            Columns::Regular { length, .. } => {
                *length = length.saturating_add(rows);
                Ok(())
            }
            Columns::Record(record) => {
                record.length = record.length.saturating_add(rows);
                Ok(())
            }
            Columns::Indexed { nulls: true, index, .. } => resize(index, rows, -1),
            Columns::Indexed { index, .. } => append_rows(index, first, rows),
            Columns::Masked { valid, mask, .. } => resize(mask, rows, 1 - *valid),
            Columns::Union { tags, index, contents, .. } => {
                let tag = contents.iter().position(|content| Some(*content) == chosen).unwrap_or(0);
                append_rows(index, first, rows)?;
                resize(tags, rows, tag as i8)
            }
        })
    }
}

fn append_rows(index: &mut Vec<i64>, first: i64, rows: usize) -> Result<(), BuildError> {
    if rows == 1 {
        return push(index, first);
    }
    reserve(index, rows)?;
    index.extend((first..).take(rows));
    Ok(())
}

fn whole(size: u64) -> Result<usize, FormError> {
    let fits = i64::try_from(size).ok().and_then(|_| usize::try_from(size).ok());
    fits.ok_or_else(|| FormError::Unsupported(format!("a list of always {size} items")))
}
