//! The table of the columns of a type.

use crate::form::{Form, FormError, Index, Kind, Primitive, Text, Unit};
use crate::growth::{push, reserve, resize};
use crate::{BuildError, Fault, MOST_COLUMNS};
use std::collections::{HashMap, HashSet};

/// One expression for the items of whichever column of numbers it is; then the arms for the other columns.
macro_rules! each_number {
    ($columns:expr, $items:ident => $number:expr, { $($arms:tt)* }) => {
        match $columns {
            Columns::Boolean($items) | Columns::UInt8($items) => $number,
            Columns::Int8($items) => $number,
            Columns::Int16($items) => $number,
            Columns::Int32($items) => $number,
            Columns::Int64($items) | Columns::Time { items: $items, .. } => $number,
            Columns::UInt16($items) | Columns::Float16($items) => $number,
            Columns::UInt32($items) => $number,
            Columns::UInt64($items) => $number,
            Columns::Float32($items) => $number,
            Columns::Float64($items) => $number,
            Columns::Complex64($items) => $number,
            Columns::Complex128($items) => $number,
            $($arms)*
        }
    };
}

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

#[derive(Clone, Debug)]
pub(super) enum Columns {
    /// Of unknown type: no value goes here.
    Nothing,
    Boolean(Vec<u8>),
    Int8(Vec<i8>),
    Int16(Vec<i16>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    UInt8(Vec<u8>),
    UInt16(Vec<u16>),
    UInt32(Vec<u32>),
    UInt64(Vec<u64>),
    Float16(Vec<u16>),
    Float32(Vec<f32>),
    Float64(Vec<f64>),
    Complex64(Vec<[f32; 2]>),
    Complex128(Vec<[f64; 2]>),
    Time {
        /// Rather than a span.
        date: bool,
        unit: Unit,
        items: Vec<i64>,
    },
    Text {
        binary: bool,
        layout: Lists,
        offsets: Vec<i64>,
        bytes: Vec<u8>,
    },
    /// Texts of one length.
    Fixed {
        binary: bool,
        size: usize,
        length: usize,
        bytes: Vec<u8>,
    },
    List {
        layout: Lists,
        offsets: Vec<i64>,
        content: u32,
    },
    Regular {
        size: usize,
        length: usize,
        content: u32,
    },
    Tuple {
        contents: Box<[u32]>,
        length: usize,
    },
    Record(Box<Record>),
    /// Rows of a content by their number.
    Indexed {
        /// Whether a row may be null, which is -1.
        nulls: bool,
        width: Index,
        index: Vec<i64>,
        content: u32,
        /// The row of each value, if the content has each value once.
        categories: Option<Box<Categories>>,
    },
    /// Values, and something in the place of nulls.
    Masked {
        /// The item of the mask for a value.
        valid: i8,
        /// If the mask becomes bits: whether the first row is the least significant one.
        bits: Option<bool>,
        mask: Vec<i8>,
        content: u32,
    },
    /// Values that could be null and never are.
    Unmasked {
        content: u32,
    },
    Union {
        width: Index,
        tags: Vec<i8>,
        index: Vec<i64>,
        contents: Box<[u32]>,
    },
}

/// The row of each value, by its bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct Categories(pub(super) HashMap<Vec<u8>, i64>);

/// The buffers that lists become.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Lists {
    pub(super) width: Index,
    /// Starts and stops rather than offsets.
    pub(super) separate: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Record {
    /// The name of the record; empty for none.
    pub(super) name: Box<str>,
    pub(super) fields: Box<[Field]>,
    /// Positions of the fields, by name.
    pub(super) by_name: HashMap<Box<str>, u32>,
    pub(super) length: usize,
}

impl Record {
    /// The number of a field: most likely `next`.
    #[inline]
    pub(super) fn find(&self, next: usize, name: &str) -> Option<usize> {
        match self.fields.get(next) {
            Some(field) if *field.name == *name => Some(next),
            _ => self.by_name.get(name).map(|at| *at as usize),
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) name: Box<str>,
    pub(super) content: u32,
    /// The number that stands for the name; 0 for none.
    pub(super) token: usize,
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

impl Columns {
    fn numbers(primitive: Primitive) -> Self {
        match primitive {
            Primitive::Bool => Self::Boolean(Vec::new()),
            Primitive::Int8 => Self::Int8(Vec::new()),
            Primitive::Int16 => Self::Int16(Vec::new()),
            Primitive::Int32 => Self::Int32(Vec::new()),
            Primitive::Int64 => Self::Int64(Vec::new()),
            Primitive::UInt8 => Self::UInt8(Vec::new()),
            Primitive::UInt16 => Self::UInt16(Vec::new()),
            Primitive::UInt32 => Self::UInt32(Vec::new()),
            Primitive::UInt64 => Self::UInt64(Vec::new()),
            Primitive::Float16 => Self::Float16(Vec::new()),
            Primitive::Float32 => Self::Float32(Vec::new()),
            Primitive::Float64 => Self::Float64(Vec::new()),
            Primitive::Complex64 => Self::Complex64(Vec::new()),
            Primitive::Complex128 => Self::Complex128(Vec::new()),
            Primitive::Datetime64(unit) => Self::Time { date: true, unit, items: Vec::new() },
            Primitive::Timedelta64(unit) => Self::Time { date: false, unit, items: Vec::new() },
        }
    }

    /// The content of an option or an indirection.
    #[inline]
    pub(super) fn inner(&self) -> Option<u32> {
        match self {
            Self::Indexed { content, .. } | Self::Masked { content, .. } | Self::Unmasked { content } => {
                Some(*content)
            }
            _ => None,
        }
    }

    /// Takes the items after `length` values of this node alone back.
    fn truncate(&mut self, length: usize) {
        each_number!(self, items => items.truncate(length), {
            Self::Nothing | Self::Unmasked { .. } => {}
            Self::Text { offsets, bytes, .. } => {
                offsets.truncate(length.saturating_add(1));
                bytes.truncate(end(offsets));
            }
            Self::Fixed { size, length: all, bytes, .. } => {
                *all = length.min(*all);
                bytes.truncate(*size * *all);
            }
            Self::List { offsets, .. } => offsets.truncate(length.saturating_add(1)),
            Self::Regular { length: all, .. } | Self::Tuple { length: all, .. } => *all = length.min(*all),
            Self::Record(record) => record.length = length.min(record.length),
            Self::Indexed { index, .. } => index.truncate(length),
            Self::Masked { mask, .. } => mask.truncate(length),
            Self::Union { tags, index, .. } => {
                tags.truncate(length);
                index.truncate(length);
            }
        });
    }

    /// Gives memory back that is neither used nor little.
    fn shrink(&mut self) {
        fn shrink<T>(items: &mut Vec<T>) {
            items.shrink_to(MOST_KEPT / size_of::<T>());
        }
        each_number!(self, items => shrink(items), {
            Self::Text { offsets, bytes, .. } => {
                shrink(offsets);
                shrink(bytes);
            }
            Self::Fixed { bytes, .. } => shrink(bytes),
            Self::List { offsets: items, .. } | Self::Indexed { index: items, .. } => shrink(items),
            Self::Masked { mask, .. } => shrink(mask),
            Self::Union { tags, index, .. } => {
                shrink(tags);
                shrink(index);
            }
            _ => {}
        });
    }

    /// A copy, without what [`clone`](Clone::clone) does where there is no memory: end the process.
    fn copied(&self) -> Result<Self, BuildError> {
        fn copy<T: Copy>(items: &[T]) -> Result<Vec<T>, BuildError> {
            let mut copy = Vec::new();
            crate::growth::extend(&mut copy, items)?;
            Ok(copy)
        }
        macro_rules! numbers {
            ($($name:ident)*) => {
                match self {
                    $(Self::$name(items) => Self::$name(copy(items)?),)*
                    Self::Time { date, unit, items } => {
                        Self::Time { date: *date, unit: *unit, items: copy(items)? }
                    }
                    Self::Text { binary, layout, offsets, bytes } => {
                        let (offsets, bytes) = (copy(offsets)?, copy(bytes)?);
                        Self::Text { binary: *binary, layout: *layout, offsets, bytes }
                    }
                    Self::Fixed { binary, size, length, bytes } => {
                        Self::Fixed { binary: *binary, size: *size, length: *length, bytes: copy(bytes)? }
                    }
                    Self::List { layout, offsets, content } => {
                        Self::List { layout: *layout, offsets: copy(offsets)?, content: *content }
                    }
                    Self::Indexed { nulls, width, index, content, categories } => Self::Indexed {
                        nulls: *nulls,
                        width: *width,
                        index: copy(index)?,
                        content: *content,
                        categories: categories.as_ref().map(|_| Box::default()),
                    },
                    Self::Masked { valid, bits, mask, content } => {
                        Self::Masked { valid: *valid, bits: *bits, mask: copy(mask)?, content: *content }
                    }
                    Self::Union { width, tags, index, contents } => Self::Union {
                        width: *width,
                        tags: copy(tags)?,
                        index: copy(index)?,
                        contents: contents.clone(),
                    },
                    // They hold no items.
                    Self::Nothing
                    | Self::Regular { .. }
                    | Self::Tuple { .. }
                    | Self::Record(_)
                    | Self::Unmasked { .. } => self.clone(),
                }
            };
        }
        Ok(numbers!(Boolean Int8 Int16 Int32 Int64 UInt8 UInt16 UInt32 UInt64 Float16 Float32 Float64
            Complex64 Complex128))
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

/// The end of the last list.
pub(super) fn end(offsets: &[i64]) -> usize {
    offsets.last().map_or(0, |end| *end as usize)
}

/// Bytes of a column that are kept for what comes after it was cleared.
const MOST_KEPT: usize = 1 << 20;
