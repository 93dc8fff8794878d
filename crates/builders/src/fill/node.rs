//! The columns of a type.

use crate::form::{Form, FormError, Index, Kind, Primitive, Text, Unit};
use crate::growth::push;
use crate::layout::half;
use crate::{Fault, MOST_COLUMNS, Refused};

/// A place of the type and its columns. All of them lie in one table and name each other by number.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) columns: Columns,
    /// The type, for errors.
    pub(super) expected: Box<str>,
}

#[derive(Clone, Debug)]
pub(super) enum Columns {
    /// Of unknown type: nothing goes here.
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
    Option {
        index: Vec<i64>,
        content: u32,
    },
    Union {
        tags: Vec<i8>,
        index: Vec<i64>,
        contents: Box<[u32]>,
    },
}

#[derive(Clone, Debug)]
pub(super) struct Record {
    pub(super) fields: Box<[Field]>,
    /// Positions of the fields, by name.
    pub(super) by_name: std::collections::HashMap<Box<str>, u32>,
    pub(super) length: usize,
}

#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) name: Box<str>,
    pub(super) content: u32,
    /// The number that stands for the name; 0 for none.
    pub(super) token: usize,
}

/// A value that was given, by its kind.
#[derive(Clone, Copy, Debug)]
pub(super) enum Found {
    Null,
    Boolean,
    Integer(i64),
    Unsigned(u64),
    Huge,
    Real,
    Complex,
    Time { date: bool },
    Text { binary: bool },
    List,
    Tuple(usize),
    Record,
}

impl Found {
    /// In an error.
    pub(super) fn name(self) -> Box<str> {
        match self {
            Self::Null => "None".into(),
            Self::Boolean => "a truth value".into(),
            Self::Integer(x) => format!("the integer {x}").into(),
            Self::Unsigned(x) => format!("the integer {x}").into(),
            Self::Huge => "a larger integer".into(),
            Self::Real => "a real number".into(),
            Self::Complex => "a complex number".into(),
            Self::Time { date: true } => "a date".into(),
            Self::Time { date: false } => "a span of time".into(),
            Self::Text { binary: false } => "a string".into(),
            Self::Text { binary: true } => "a byte string".into(),
            Self::List => "a list".into(),
            Self::Tuple(size) => format!("a tuple of {size}").into(),
            Self::Record => "a record".into(),
        }
    }
}

/// The table. The array itself is number 0.
#[derive(Clone, Debug, Default)]
pub(super) struct Nodes(Vec<Node>);

impl Nodes {
    /// Columns for a Form, which is changed to the one they will have: offsets and indexes of 64 bits, options by index.
    pub(super) fn new(form: &mut Form) -> Result<Self, FormError> {
        let mut nodes = Self::default();
        nodes.add(form, 0)?;
        Ok(nodes)
    }

    fn add(&mut self, form: &mut Form, depth: usize) -> Result<u32, FormError> {
        if depth > Form::DEEPEST || self.0.len() >= MOST_COLUMNS {
            return Err(FormError::Deep);
        }
        let number = self.0.len() as u32; // far less than can be numbered
        self.0.push(Node { columns: Columns::Nothing, expected: form.type_string().into() });
        let columns = self.columns(form, depth)?;
        self.at_mut(number).columns = columns;
        Ok(number)
    }

    fn columns(&mut self, form: &mut Form, depth: usize) -> Result<Columns, FormError> {
        if let Some(text) = form.as_text() {
            let binary = text == Text::Bytes;
            if let Kind::Regular { size, .. } = form.kind {
                return Ok(Columns::Fixed { binary, size: whole(size)?, length: 0, bytes: Vec::new() });
            }
            plain_list(form);
            return Ok(Columns::Text { binary, offsets: vec![0], bytes: Vec::new() });
        }
        plain_list(form);
        plain_option(form);
        shaped(form);
        let below = depth + 1;
        Ok(match &mut form.kind {
            Kind::Empty => Columns::Nothing,
            Kind::Numpy { primitive, .. } => numbers(*primitive),
            Kind::Regular { size, content } => {
                Columns::Regular { size: whole(*size)?, length: 0, content: self.add(content, below)? }
            }
            Kind::ListOffset { content, .. } => {
                Columns::List { offsets: vec![0], content: self.add(content, below)? }
            }
            Kind::Record { fields: None, contents } => {
                let contents = contents.iter_mut().map(|content| self.add(content, below));
                Columns::Tuple { contents: contents.collect::<Result<_, _>>()?, length: 0 }
            }
            Kind::Record { fields: Some(names), contents } => {
                let both = names.iter().zip(contents);
                let fields = both.map(|(name, content)| {
                    let content = self.add(content, below)?;
                    Ok(Field { name: name.as_str().into(), content, token: 0 })
                });
                let fields: Box<[Field]> = fields.collect::<Result<_, FormError>>()?;
                let positions = fields.iter().zip(0..).map(|(field, at)| (field.name.clone(), at));
                let by_name: std::collections::HashMap<_, _> = positions.collect();
                if by_name.len() < fields.len() {
                    return Err(FormError::Unsupported {
                        what: "a record with two fields of one name".into(),
                    });
                }
                Columns::Record(Box::new(Record { fields, by_name, length: 0 }))
            }
            Kind::IndexedOption { index, content } => {
                *index = Index::I64;
                Columns::Option { index: Vec::new(), content: self.add(content, below)? }
            }
            Kind::Union { index, contents } => {
                *index = Index::I64;
                if contents.len() > crate::MOST_ALTERNATIVES {
                    return Err(FormError::Unsupported {
                        what: format!("a union of {} types", contents.len()),
                    });
                }
                let contents = contents.iter_mut().map(|content| self.add(content, below));
                let contents = contents.collect::<Result<_, _>>()?;
                Columns::Union { tags: Vec::new(), index: Vec::new(), contents }
            }
            _ => return Err(FormError::Unsupported { what: form.type_string() }),
        })
    }

    #[inline]
    pub(super) fn at(&self, node: u32) -> &Node {
        &self.0[node as usize]
    }

    #[inline]
    pub(super) fn at_mut(&mut self, node: u32) -> &mut Node {
        &mut self.0[node as usize]
    }

    #[inline]
    pub(super) fn columns_at(&mut self, node: u32) -> &mut Columns {
        &mut self.at_mut(node).columns
    }

    pub(super) fn len(&self, node: u32) -> usize {
        match &self.at(node).columns {
            Columns::Nothing => 0,
            Columns::Boolean(items) | Columns::UInt8(items) => items.len(),
            Columns::Int8(items) => items.len(),
            Columns::Int16(items) => items.len(),
            Columns::Int32(items) => items.len(),
            Columns::Int64(items) | Columns::Time { items, .. } => items.len(),
            Columns::UInt16(items) | Columns::Float16(items) => items.len(),
            Columns::UInt32(items) => items.len(),
            Columns::UInt64(items) => items.len(),
            Columns::Float32(items) => items.len(),
            Columns::Float64(items) => items.len(),
            Columns::Complex64(items) => items.len(),
            Columns::Complex128(items) => items.len(),
            Columns::Text { offsets, .. } | Columns::List { offsets, .. } => offsets.len() - 1,
            Columns::Fixed { length, .. }
            | Columns::Regular { length, .. }
            | Columns::Tuple { length, .. } => *length,
            Columns::Record(record) => record.length,
            Columns::Option { index, .. } => index.len(),
            Columns::Union { tags, .. } => tags.len(),
        }
    }

    /// Takes everything after the first `length` values back, unfinished ones included.
    pub(super) fn truncate(&mut self, node: u32, length: usize) {
        let mut inner: Vec<(u32, usize)> = Vec::new();
        match self.columns_at(node) {
            Columns::Nothing => {}
            Columns::Boolean(items) | Columns::UInt8(items) => items.truncate(length),
            Columns::Int8(items) => items.truncate(length),
            Columns::Int16(items) => items.truncate(length),
            Columns::Int32(items) => items.truncate(length),
            Columns::Int64(items) | Columns::Time { items, .. } => items.truncate(length),
            Columns::UInt16(items) | Columns::Float16(items) => items.truncate(length),
            Columns::UInt32(items) => items.truncate(length),
            Columns::UInt64(items) => items.truncate(length),
            Columns::Float32(items) => items.truncate(length),
            Columns::Float64(items) => items.truncate(length),
            Columns::Complex64(items) => items.truncate(length),
            Columns::Complex128(items) => items.truncate(length),
            Columns::Text { offsets, bytes, .. } => {
                offsets.truncate(length.saturating_add(1));
                bytes.truncate(end(offsets));
            }
            Columns::Fixed { size, length: all, bytes, .. } => {
                *all = length.min(*all);
                bytes.truncate(*size * *all);
            }
            Columns::List { offsets, content } => {
                offsets.truncate(length.saturating_add(1));
                inner.push((*content, end(offsets)));
            }
            Columns::Regular { size, length: all, content } => {
                *all = length.min(*all);
                inner.push((*content, *size * *all));
            }
            Columns::Tuple { contents, length: all } => {
                *all = length.min(*all);
                inner.extend(contents.iter().map(|content| (*content, *all)));
            }
            Columns::Record(record) => {
                record.length = length.min(record.length);
                inner.extend(record.fields.iter().map(|field| (field.content, record.length)));
            }
            Columns::Option { index, content } => {
                index.truncate(length);
                inner.push((*content, valid(index)));
            }
            Columns::Union { tags, index, contents } => {
                tags.truncate(length);
                index.truncate(length);
                inner.extend(contents.iter().copied().zip(alternatives(tags, index, contents.len())));
            }
        }
        for (content, length) in inner {
            self.truncate(content, length);
        }
    }

    /// How well a place takes what came: 0 is best, `None` not at all.
    pub(super) fn rank(&self, node: u32, found: Found) -> Option<u8> {
        use Columns as C;
        use Found as F;
        match (found, &self.at(node).columns) {
            (F::Null, C::Option { .. }) => Some(0),
            (_, C::Option { content, .. }) => self.rank(*content, found),
            (_, C::Union { contents, .. }) => {
                contents.iter().filter_map(|content| self.rank(*content, found)).min()
            }
            (F::Boolean, C::Boolean(_)) | (F::Real, C::Float64(_)) | (F::Complex, C::Complex128(_)) => {
                Some(0)
            }
            (F::Integer(x), columns) => integer_rank(i128::from(x), columns),
            (F::Unsigned(x), columns) => integer_rank(i128::from(x), columns),
            (F::Real, C::Float32(_)) | (F::Complex, C::Complex64(_)) => Some(1),
            (F::Real, C::Float16(_)) => Some(2),
            (F::Real, C::Complex128(_)) => Some(3),
            (F::Real, C::Complex64(_)) => Some(4),
            (F::Time { date: found }, C::Time { date, .. }) => (found == *date).then_some(0),
            (F::Text { binary: found }, C::Text { binary, .. } | C::Fixed { binary, .. }) => {
                (found == *binary).then_some(0)
            }
            (F::List, C::List { .. } | C::Regular { .. }) | (F::Record, C::Record(_)) => Some(0),
            (F::Tuple(size), C::Tuple { contents, .. }) => (size == contents.len()).then_some(0),
            (F::Tuple(_), C::List { .. } | C::Regular { .. }) => Some(1),
            _ => None,
        }
    }

    /// Writes one value at a place, through options and unions; these note it after it was written.
    pub(super) fn put(
        &mut self,
        node: u32,
        found: Found,
        write: &mut dyn FnMut(&mut Columns) -> Result<(), Refused>,
    ) -> Result<(), Refused> {
        if let Columns::Option { content, .. } = self.at(node).columns {
            let row = self.len(content) as i64;
            self.put(content, found, write)?;
            let Columns::Option { index, .. } = self.columns_at(node) else { return Ok(()) }; // never
            return push(index, row);
        }
        if !matches!(self.at(node).columns, Columns::Union { .. }) {
            return if self.rank(node, found).is_some() {
                write(self.columns_at(node))
            } else {
                Err(self.refuse(node, found))
            };
        }
        let (tag, content) = self.choose(node, found, 0)?;
        let row = self.len(content) as i64;
        self.put(content, found, write)?;
        let Columns::Union { tags, index, .. } = self.columns_at(node) else { return Ok(()) }; // never
        push(index, row)?;
        push(tags, tag)
    }

    /// The alternative of a union that takes what came: of the best, or of those less good, the `nth`.
    pub(super) fn choose(&self, node: u32, found: Found, nth: usize) -> Result<(i8, u32), Refused> {
        let Columns::Union { contents, .. } = &self.at(node).columns else { return Ok((0, node)) }; // never
        let mut ranked: Vec<_> = contents
            .iter()
            .enumerate()
            .filter_map(|(tag, content)| Some((self.rank(*content, found)?, tag, *content)))
            .collect();
        ranked.sort_unstable();
        match ranked.get(nth) {
            Some((_, tag, content)) => Ok((*tag as i8, *content)), // no more than tags can name
            None => Err(self.refuse(node, found)),
        }
    }

    /// Alternatives that might take what came.
    pub(super) fn candidates(&self, node: u32, found: Found) -> usize {
        match &self.at(node).columns {
            Columns::Option { content, .. } => self.candidates(*content, found),
            Columns::Union { contents, .. } => {
                contents.iter().filter(|content| self.rank(**content, found).is_some()).count()
            }
            _ => 1,
        }
    }

    /// The list, record or tuple in which something is begun; of several that might take it the `nth`.
    pub(super) fn begin(&self, node: u32, found: Found, nth: usize) -> Result<u32, Refused> {
        match &self.at(node).columns {
            Columns::Option { content, .. } => self.begin(*content, found, nth),
            Columns::Union { .. } => self.begin(self.choose(node, found, nth)?.1, found, 0),
            _ if self.rank(node, found).is_some() => Ok(node),
            _ => Err(self.refuse(node, found)),
        }
    }

    /// Notes in options and unions around a list, record or tuple that it is complete, before its own length grows.
    pub(super) fn finish(&mut self, place: u32, node: u32) -> Result<(), Refused> {
        if place == node {
            return Ok(());
        }
        match &self.at(place).columns {
            Columns::Option { content, .. } => {
                let content = *content;
                let row = self.len(content) as i64;
                self.finish(content, node)?;
                let Columns::Option { index, .. } = self.columns_at(place) else { return Ok(()) }; // never
                push(index, row)
            }
            Columns::Union { contents, .. } => {
                let tag = contents.iter().position(|content| self.reaches(*content, node)).unwrap_or(0);
                let content = contents[tag];
                let row = self.len(content) as i64;
                self.finish(content, node)?;
                let Columns::Union { tags, index, .. } = self.columns_at(place) else { return Ok(()) }; // never
                push(index, row)?;
                push(tags, tag as i8)
            }
            _ => Ok(()),
        }
    }

    /// A null, if the place may have one.
    pub(super) fn null(&mut self, node: u32) -> Result<bool, Refused> {
        match self.columns_at(node) {
            Columns::Option { index, .. } => push(index, -1).map(|()| true),
            Columns::Union { contents, .. } => {
                let contents = contents.clone();
                for (tag, content) in contents.iter().enumerate() {
                    let row = self.len(*content) as i64;
                    if self.null(*content)? {
                        let Columns::Union { tags, index, .. } = self.columns_at(node) else { continue }; // never
                        push(index, row)?;
                        push(tags, tag as i8)?;
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            _ => Ok(false),
        }
    }

    pub(super) fn refuse(&self, node: u32, found: Found) -> Refused {
        let expected = self.at(node).expected.clone();
        match (found, &self.at(node).columns) {
            (Found::Integer(_) | Found::Unsigned(_) | Found::Huge, columns) => match integer_name(columns) {
                Some(dtype) => Fault::TooLarge { dtype }.into(),
                None => Fault::Expected { expected, found: found.name() }.into(),
            },
            _ => Fault::Expected { expected, found: found.name() }.into(),
        }
    }

    fn reaches(&self, place: u32, node: u32) -> bool {
        place == node
            || match &self.at(place).columns {
                Columns::Option { content, .. } => self.reaches(*content, node),
                Columns::Union { contents, .. } => {
                    contents.iter().any(|content| self.reaches(*content, node))
                }
                _ => false,
            }
    }
}

fn whole(size: u64) -> Result<usize, FormError> {
    // Sizes that could overflow a count are no sizes.
    let fits = u32::try_from(size).ok().and_then(|size| usize::try_from(size).ok());
    fits.ok_or_else(|| FormError::Unsupported { what: format!("a list of always {size} items") })
}

/// Lists one after the other with offsets of 64 bits, whatever they were.
fn plain_list(form: &mut Form) {
    if let Kind::ListOffset { content, .. } | Kind::List { content, .. } = &mut form.kind {
        let content = std::mem::replace(content, Box::new(Form::new(Kind::Empty)));
        form.kind = Kind::ListOffset { offsets: Index::I64, content };
    }
}

/// Options with an index, whatever they were.
fn plain_option(form: &mut Form) {
    if let Kind::ByteMasked { content, .. } | Kind::BitMasked { content, .. } | Kind::Unmasked { content } =
        &mut form.kind
    {
        let content = std::mem::replace(content, Box::new(Form::new(Kind::Empty)));
        form.kind = Kind::IndexedOption { index: Index::I64, content };
    }
}

/// Inner dimensions as lists.
fn shaped(form: &mut Form) {
    if let Kind::Numpy { primitive, shape } = &mut form.kind
        && let [size, inner @ ..] = &**shape
    {
        let (size, inner, primitive) = (*size, inner.to_vec(), *primitive);
        let content = Box::new(Form::new(Kind::Numpy { primitive, shape: inner }));
        form.kind = Kind::Regular { size, content };
    }
}

fn numbers(primitive: Primitive) -> Columns {
    match primitive {
        Primitive::Bool => Columns::Boolean(Vec::new()),
        Primitive::Int8 => Columns::Int8(Vec::new()),
        Primitive::Int16 => Columns::Int16(Vec::new()),
        Primitive::Int32 => Columns::Int32(Vec::new()),
        Primitive::Int64 => Columns::Int64(Vec::new()),
        Primitive::UInt8 => Columns::UInt8(Vec::new()),
        Primitive::UInt16 => Columns::UInt16(Vec::new()),
        Primitive::UInt32 => Columns::UInt32(Vec::new()),
        Primitive::UInt64 => Columns::UInt64(Vec::new()),
        Primitive::Float16 => Columns::Float16(Vec::new()),
        Primitive::Float32 => Columns::Float32(Vec::new()),
        Primitive::Float64 => Columns::Float64(Vec::new()),
        Primitive::Complex64 => Columns::Complex64(Vec::new()),
        Primitive::Complex128 => Columns::Complex128(Vec::new()),
        Primitive::Datetime64(unit) => Columns::Time { date: true, unit, items: Vec::new() },
        Primitive::Timedelta64(unit) => Columns::Time { date: false, unit, items: Vec::new() },
    }
}

fn integer_name(columns: &Columns) -> Option<&'static str> {
    Some(match columns {
        Columns::Int8(_) => "int8",
        Columns::Int16(_) => "int16",
        Columns::Int32(_) => "int32",
        Columns::Int64(_) => "int64",
        Columns::UInt8(_) => "uint8",
        Columns::UInt16(_) => "uint16",
        Columns::UInt32(_) => "uint32",
        Columns::UInt64(_) => "uint64",
        _ => return None,
    })
}

fn integer_rank(x: i128, columns: &Columns) -> Option<u8> {
    let fits = |low: i128, high: i128| (low <= x && x <= high).then_some(0);
    match columns {
        Columns::Int8(_) => fits(i8::MIN.into(), i8::MAX.into()),
        Columns::Int16(_) => fits(i16::MIN.into(), i16::MAX.into()),
        Columns::Int32(_) => fits(i32::MIN.into(), i32::MAX.into()),
        Columns::Int64(_) => fits(i64::MIN.into(), i64::MAX.into()),
        Columns::UInt8(_) => fits(0, u8::MAX.into()),
        Columns::UInt16(_) => fits(0, u16::MAX.into()),
        Columns::UInt32(_) => fits(0, u32::MAX.into()),
        Columns::UInt64(_) => fits(0, u64::MAX.into()),
        Columns::Float64(_) => Some(1),
        Columns::Float32(_) => Some(2),
        Columns::Float16(_) => Some(3),
        Columns::Complex128(_) => Some(4),
        Columns::Complex64(_) => Some(5),
        _ => None,
    }
}

/// Writes an integer that has been found to fit.
pub(super) fn write_integer(columns: &mut Columns, x: i64) -> Result<(), Refused> {
    match columns {
        Columns::Int8(items) => push(items, x as i8),
        Columns::Int16(items) => push(items, x as i16),
        Columns::Int32(items) => push(items, x as i32),
        Columns::Int64(items) => push(items, x),
        Columns::UInt8(items) => push(items, x as u8),
        Columns::UInt16(items) => push(items, x as u16),
        Columns::UInt32(items) => push(items, x as u32),
        Columns::UInt64(items) => push(items, x as u64),
        other => write_real(other, x as f64),
    }
}

/// Writes a number that its place takes.
pub(super) fn write_real(columns: &mut Columns, x: f64) -> Result<(), Refused> {
    match columns {
        Columns::Float16(items) => push(items, half(x)),
        Columns::Float32(items) => push(items, x as f32),
        Columns::Float64(items) => push(items, x),
        other => write_complex(other, [x, 0.0]),
    }
}

/// Writes a complex number that its place takes.
pub(super) fn write_complex(columns: &mut Columns, x: [f64; 2]) -> Result<(), Refused> {
    match columns {
        Columns::Complex64(items) => push(items, x.map(|part| part as f32)),
        Columns::Complex128(items) => push(items, x),
        _ => Ok(()), // never: the place takes it
    }
}

/// Where the last list ends.
pub(super) fn end(offsets: &[i64]) -> usize {
    offsets.last().map_or(0, |end| *end as usize)
}

/// Values that are not null, where their rows count up.
pub(super) fn valid(index: &[i64]) -> usize {
    index.iter().rev().find(|row| **row >= 0).map_or(0, |row| *row as usize + 1)
}

/// Values of each alternative, where their rows count up.
pub(super) fn alternatives(tags: &[i8], index: &[i64], count: usize) -> Vec<usize> {
    let mut rows = vec![0; count];
    for (tag, row) in tags.iter().zip(index) {
        rows[*tag as usize] = *row as usize + 1;
    }
    rows
}
