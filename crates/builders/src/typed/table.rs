//! The table of the columns of a type.

use super::stored::{Columns, Field, Lists, Record, each_number, end};
use crate::form::{Form, FormError, Index, Kind, Text};
use crate::growth::{push, reserve, resize};
use crate::{BuildError, Fault, MOST_COLUMNS};
use std::collections::HashSet;

/// A place of the type and its columns. All of them lie in one table and name each other by number.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) columns: Columns,
    about: Box<About>,
}

/// The facts about a node that only errors and results need.
#[derive(Clone, Debug)]
pub(super) struct About {
    /// The type.
    pub(super) expected: Box<str>,
    /// The beginning of the names of its buffers.
    pub(super) key: Box<str>,
    /// The same for the bytes of a text, which are a node of their own in the Form.
    pub(super) bytes_key: Box<str>,
}

/// The table. The array itself is number 0.
#[derive(Clone, Debug, Default)]
pub(super) struct Nodes(Vec<Node>);

impl Nodes {
    /// Empty columns for a Form with keys.
    pub(super) fn new(form: &Form) -> Result<Self, FormError> {
        let mut nodes = Self::default();
        nodes.add(form, 0)?;
        Ok(nodes)
    }

    fn add(&mut self, form: &Form, depth: usize) -> Result<u32, FormError> {
        if depth > Form::DEEPEST || self.0.len() >= MOST_COLUMNS {
            return Err(FormError::Deep);
        }
        let number = self.0.len() as u32; // far less than can be numbered
        let key = |form: &Form| form.key.as_deref().unwrap_or_default().into();
        let about = About {
            expected: form.type_string().into(),
            key: key(form),
            bytes_key: form.contents().first().map(key).unwrap_or_default(),
        };
        self.0.push(Node { columns: Columns::Nothing, about: Box::new(about) });
        let columns = self.columns(form, depth + 1)?;
        *self.at_mut(number) = columns;
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
            return Ok(Columns::Text { binary, layout, offsets: vec![0], bytes: Vec::new() });
        }
        Ok(match &form.kind {
            Kind::Empty => Columns::Nothing,
            Kind::Numpy { primitive, shape } => match shape.split_first() {
                None => Columns::numbers(*primitive),
                Some((size, rest)) => {
                    let kind = Kind::Numpy { primitive: *primitive, shape: rest.to_vec() };
                    let inner = Form { kind, ..form.clone() };
                    Columns::Regular { size: whole(*size)?, length: 0, content: self.add(&inner, depth)? }
                }
            },
            Kind::Regular { size, content } => {
                Columns::Regular { size: whole(*size)?, length: 0, content: self.add(content, depth)? }
            }
            Kind::ListOffset { offsets: width, content } | Kind::List { starts: width, content } => {
                let layout = lists(*width, matches!(form.kind, Kind::List { .. }));
                Columns::List { layout, offsets: vec![0], content: self.add(content, depth)? }
            }
            Kind::Record { fields: None, contents } => {
                let contents = contents.iter().map(|content| self.add(content, depth));
                Columns::Tuple { contents: contents.collect::<Result<_, _>>()?, length: 0 }
            }
            Kind::Record { fields: Some(names), contents } => {
                let mut known = HashSet::new();
                if let Some(twice) = names.iter().find(|name| !known.insert(name.as_str())) {
                    return Err(FormError::Unsupported {
                        what: format!("a record with two fields {twice:?}"),
                    });
                }
                let fields = names.iter().zip(contents).map(|(name, content)| {
                    Ok(Field { name: name.as_str().into(), content: self.add(content, depth)?, token: 0 })
                });
                let fields: Box<[Field]> = fields.collect::<Result<_, FormError>>()?;
                let by_name = fields.iter().zip(0..).map(|(field, at)| (field.name.clone(), at)).collect();
                let name = form.record_name().unwrap_or_default().into();
                Columns::Record(Box::new(Record { name, fields, by_name, length: 0 }))
            }
            Kind::Indexed { index: width, content } | Kind::IndexedOption { index: width, content } => {
                Columns::Indexed {
                    nulls: matches!(form.kind, Kind::IndexedOption { .. }),
                    width: *width,
                    index: Vec::new(),
                    content: self.add(content, depth)?,
                    categories: form.is_categorical().then(Box::default),
                }
            }
            Kind::ByteMasked { valid_when, content } | Kind::BitMasked { valid_when, content, .. } => {
                let bits = match form.kind {
                    Kind::BitMasked { lsb_order, .. } => Some(lsb_order),
                    _ => None,
                };
                let valid = i8::from(*valid_when);
                Columns::Masked { valid, bits, mask: Vec::new(), content: self.add(content, depth)? }
            }
            Kind::Unmasked { content } => Columns::Unmasked { content: self.add(content, depth)? },
            Kind::Union { index: width, contents } => {
                let count = contents.len();
                if count > crate::MOST_ALTERNATIVES {
                    return Err(FormError::Unsupported { what: format!("a union of {count} types") });
                }
                let contents = contents.iter().map(|content| self.add(content, depth));
                let contents = contents.collect::<Result<_, _>>()?;
                Columns::Union { width: *width, tags: Vec::new(), index: Vec::new(), contents }
            }
        })
    }

    #[inline]
    pub(super) fn at(&self, node: u32) -> &Columns {
        &self.0[node as usize].columns
    }

    #[inline]
    pub(super) fn at_mut(&mut self, node: u32) -> &mut Columns {
        &mut self.0[node as usize].columns
    }

    pub(super) fn about(&self, node: u32) -> &About {
        &self.0[node as usize].about
    }

    /// The numbers of all nodes.
    pub(super) fn numbers(&self) -> std::ops::Range<u32> {
        0..self.0.len() as u32
    }

    pub(super) fn len(&self, node: u32) -> usize {
        each_number!(self.at(node), items => items.len(), {
            Columns::Nothing => 0,
            Columns::Text { offsets, .. } | Columns::List { offsets, .. } => offsets.len() - 1,
            Columns::Fixed { length, .. }
            | Columns::Regular { length, .. }
            | Columns::Tuple { length, .. } => *length,
            Columns::Record(record) => record.length,
            Columns::Indexed { index, .. } => index.len(),
            Columns::Masked { mask, .. } => mask.len(),
            Columns::Unmasked { content } => self.len(*content),
            Columns::Union { tags, .. } => tags.len(),
        })
    }

    /// The nodes directly below, and how many rows the first `length` values have in each.
    pub(super) fn below(&self, node: u32, length: usize) -> Vec<(u32, usize)> {
        match self.at(node) {
            Columns::List { offsets, content, .. } => {
                vec![(*content, offsets.get(length).map_or_else(|| end(offsets), |end| *end as usize))]
            }
            // Sizes of items that take no memory can be any number.
            Columns::Regular { size, content, .. } => vec![(*content, size.saturating_mul(length))],
            Columns::Masked { content, .. } | Columns::Unmasked { content } => vec![(*content, length)],
            Columns::Tuple { contents, .. } => contents.iter().map(|content| (*content, length)).collect(),
            Columns::Record(record) => record.fields.iter().map(|field| (field.content, length)).collect(),
            Columns::Indexed { index, content, nulls, categories, .. } => {
                let index = &index[..length.min(index.len())];
                // Rows count up unless some are referred to again.
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

    /// Takes everything after the first `length` values back, unfinished ones included.
    pub(super) fn truncate(&mut self, node: u32, length: usize) {
        let length = length.min(self.len(node));
        let below = self.below(node, length);
        self.at_mut(node).truncate(length);
        for (content, length) in below {
            self.truncate(content, length);
        }
        self.forget_categories(node);
    }

    /// Truncates each node to a length of its own: [`lengths`](Self::lengths) at an earlier time.
    pub(super) fn truncate_all(&mut self, lengths: &[usize]) {
        for (node, length) in self.0.iter_mut().zip(lengths) {
            node.columns.truncate(*length);
        }
        self.numbers().for_each(|node| self.forget_categories(node));
    }

    pub(super) fn lengths(&self) -> Box<[usize]> {
        self.numbers().map(|node| self.len(node)).collect()
    }

    /// Takes everything back. Memory is kept within a bound.
    pub(super) fn clear(&mut self) {
        let none = vec![0; self.0.len()];
        self.truncate_all(&none);
        self.0.iter_mut().for_each(|node| node.columns.shrink());
    }

    fn forget_categories(&mut self, node: u32) {
        if let Columns::Indexed { content, categories: Some(_), .. } = self.at(node) {
            let rows = self.len(*content) as i64;
            if let Columns::Indexed { categories: Some(categories), .. } = self.at_mut(node) {
                categories.0.retain(|_, row| *row < rows);
            }
        }
    }

    /// A copy.
    pub(super) fn copied(&self) -> Result<Self, BuildError> {
        let nodes =
            self.0.iter().map(|node| Ok(Node { columns: node.columns.copied()?, about: node.about.clone() }));
        nodes.collect::<Result<_, _>>().map(Self)
    }

    /// Whether something can stand in the place of a null under a mask.
    pub(super) fn is_fillable(&self, node: u32) -> bool {
        match self.at(node) {
            Columns::Nothing => false,
            Columns::Indexed { nulls: true, .. } | Columns::Regular { size: 0, .. } => true,
            Columns::Indexed { content, .. }
            | Columns::Regular { content, .. }
            | Columns::Masked { content, .. }
            | Columns::Unmasked { content } => self.is_fillable(*content),
            Columns::Tuple { contents, .. } => contents.iter().all(|content| self.is_fillable(*content)),
            Columns::Record(record) => record.fields.iter().all(|field| self.is_fillable(field.content)),
            Columns::Union { contents, .. } => contents.iter().any(|content| self.is_fillable(*content)),
            _ => true,
        }
    }

    /// Appends `rows` values that stand in the place of nulls: zeros, empty lists and texts, nulls.
    pub(super) fn fill(&mut self, node: u32, rows: usize) -> Result<(), BuildError> {
        let more = |rows: usize, size: usize| {
            rows.checked_mul(size).ok_or_else(|| BuildError::from(Fault::Memory { items: usize::MAX }))
        };
        // The nodes below first, so that a row whose parts found no memory is not there.
        let below: Vec<(u32, usize)> = match self.at(node) {
            Columns::Regular { size, content, .. } => vec![(*content, more(rows, *size)?)],
            Columns::Masked { content, .. }
            | Columns::Unmasked { content }
            | Columns::Indexed { nulls: false, content, .. } => vec![(*content, rows)],
            Columns::Tuple { contents, .. } => contents.iter().map(|content| (*content, rows)).collect(),
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
            Columns::Nothing | Columns::Unmasked { .. } => Ok(()),
            Columns::Text { offsets, .. } | Columns::List { offsets, .. } => {
                let end = offsets.last().copied().unwrap_or(0);
                resize(offsets, rows, end)
            }
            Columns::Fixed { size, length, bytes, .. } => {
                resize(bytes, more(rows, *size)?, 0)?;
                *length += rows;
                Ok(())
            }
            Columns::Regular { length, .. } | Columns::Tuple { length, .. } => {
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
    fits.ok_or_else(|| FormError::Unsupported { what: format!("a list of always {size} items") })
}
