//! The columns of a place of the type.

use crate::BuildError;
use crate::form::{Index, Primitive, Unit};
use crate::growth::push;
use std::collections::HashMap;

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
pub(crate) use each_number;

#[derive(Clone, Debug)]
#[repr(u8)]
pub(crate) enum Columns {
    /// Of unknown type: no value goes here.
    Nothing {
        /// Nulls, of which alone the type that is found out may consist so far.
        nulls: usize,
    },
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
        /// Whether it is a dimension of the numbers below, with which it shares its node of the Form.
        inner: bool,
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
        contents: Vec<u32>,
    },
}

/// The row of each value, by its bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Categories(pub(crate) HashMap<Vec<u8>, i64>);

/// The buffers that lists become.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Lists {
    pub(crate) width: Index,
    /// Starts and stops rather than offsets.
    pub(crate) separate: bool,
}

impl Lists {
    pub(crate) const PLAIN: Self = Self { width: Index::I64, separate: false };
}

/// Records, or tuples, whose fields have no names.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record {
    pub(crate) is_tuple: bool,
    /// The name of the record; empty for none.
    pub(crate) name: Box<str>,
    pub(crate) fields: Vec<Field>,
    pub(crate) length: usize,
    /// Positions of the fields by name, once there are enough of them for a search to take time.
    by_name: HashMap<Box<str>, u32>,
}

#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) name: Box<str>,
    pub(crate) content: u32,
    /// The number that stands for the name; 0 for none.
    token: usize,
}

impl Record {
    pub(crate) fn named(name: &str, fields: Vec<Field>) -> Self {
        let mut record = Self { name: name.into(), fields, ..Self::default() };
        record.index();
        record
    }

    /// A tuple of some slots.
    pub(crate) fn tuple(contents: Vec<u32>) -> Self {
        let slots = contents.into_iter().map(|content| Field::new("", content));
        Self { is_tuple: true, fields: slots.collect(), ..Self::default() }
    }

    /// The field by the number of its name; the one at `next` is tried first.
    #[inline]
    pub(crate) fn known(&self, next: usize, token: usize) -> Option<usize> {
        match self.fields.get(next) {
            Some(field) if field.token == token => Some(next),
            _ if self.fields.len() > FEW => None,
            _ => self.fields.iter().position(|field| field.token == token),
        }
    }

    /// The field by its name; the one at `next` is tried first.
    #[inline]
    pub(crate) fn find(&self, next: usize, name: &str) -> Option<usize> {
        match self.fields.get(next) {
            Some(field) if *field.name == *name => Some(next),
            _ if self.fields.len() > FEW => self.by_name.get(name).map(|at| *at as usize),
            _ => self.fields.iter().position(|field| *field.name == *name),
        }
    }

    /// Lets a number stand for the name of a field that has none yet; whether it does now.
    pub(crate) fn learn(&mut self, at: usize, token: usize) -> bool {
        let field = &mut self.fields[at];
        let learns = token != 0 && field.token == 0;
        if learns {
            field.token = token;
        }
        learns
    }

    pub(crate) fn add(&mut self, name: &str, token: usize, content: u32) -> Result<(), BuildError> {
        push(&mut self.fields, Field { token, ..Field::new(name, content) })?;
        self.index();
        Ok(())
    }

    /// The name of a field, or the number of a slot.
    pub(crate) fn name_of(&self, at: usize) -> String {
        if self.is_tuple { at.to_string() } else { self.fields[at].name.to_string() }
    }

    fn index(&mut self) {
        if self.fields.len() > FEW {
            let from = self.by_name.len();
            for (at, field) in self.fields.iter().enumerate().skip(from) {
                self.by_name.insert(field.name.clone(), at as u32); // no more than there are columns
            }
        }
    }
}

impl Field {
    pub(crate) fn new(name: &str, content: u32) -> Self {
        Self { name: name.into(), content, token: 0 }
    }
}

/// Fields that are found by looking at each.
const FEW: usize = 16;

/// The columns of each type of numbers, but for times: none so far, and of which type they are.
macro_rules! types {
    ($($primitive:ident $columns:ident;)*) => {
        impl Columns {
            pub(crate) const fn numbers(primitive: Primitive) -> Self {
                match primitive {
                    $(Primitive::$primitive => Self::$columns(Vec::new()),)*
                    Primitive::Datetime64(unit) => Self::Time { date: true, unit, items: Vec::new() },
                    Primitive::Timedelta64(unit) => Self::Time { date: false, unit, items: Vec::new() },
                }
            }

            /// The type of the numbers, if they are that.
            pub(crate) const fn primitive(&self) -> Option<Primitive> {
                Some(match self {
                    $(Self::$columns(_) => Primitive::$primitive,)*
                    Self::Time { date: true, unit, .. } => Primitive::Datetime64(*unit),
                    Self::Time { unit, .. } => Primitive::Timedelta64(*unit),
                    _ => return None,
                })
            }
        }
    };
}

types! {
    Bool Boolean; Int8 Int8; Int16 Int16; Int32 Int32; Int64 Int64; UInt8 UInt8; UInt16 UInt16; UInt32 UInt32;
    UInt64 UInt64; Float16 Float16; Float32 Float32; Float64 Float64; Complex64 Complex64; Complex128 Complex128;
}

impl Columns {
    pub(crate) const UNKNOWN: Self = Self::Nothing { nulls: 0 };

    /// Nulls, which are -1, and rows of a content.
    pub(crate) const fn option(index: Vec<i64>, content: u32) -> Self {
        Self::Indexed { nulls: true, width: Index::I64, index, content, categories: None }
    }

    /// Lists of a content, none so far.
    pub(crate) fn list(content: u32) -> Self {
        Self::List { layout: Lists::PLAIN, offsets: vec![0], content }
    }

    /// Texts or bytes, none so far.
    pub(crate) fn text(binary: bool, layout: Lists) -> Self {
        Self::Text { binary, layout, offsets: vec![0], bytes: Vec::new() }
    }

    pub(crate) const fn is_text(&self, wanted: bool) -> bool {
        matches!(self, Self::Text { binary, .. } if *binary == wanted)
    }

    /// One more list, of items that are there already and end at `end`.
    #[inline]
    pub(crate) fn add_list(&mut self, end: usize) -> Result<(), BuildError> {
        match self {
            Self::List { offsets, .. } => push(offsets, end as i64),
            _ => Ok(()), // never
        }
    }

    /// One more list of as many items as all have.
    #[inline]
    pub(crate) fn add_regular(&mut self) -> Result<(), BuildError> {
        if let Self::Regular { length, .. } = self {
            *length += 1;
        }
        Ok(())
    }

    /// One more record or tuple, of values that are there already.
    #[inline]
    pub(crate) fn add_record(&mut self) -> Result<(), BuildError> {
        if let Self::Record(record) = self {
            record.length += 1;
        }
        Ok(())
    }

    /// The content of an option or an indirection.
    #[inline]
    pub(crate) fn inner(&self) -> Option<u32> {
        match self {
            Self::Indexed { content, .. } | Self::Masked { content, .. } | Self::Unmasked { content } => {
                Some(*content)
            }
            _ => None,
        }
    }

    /// Takes the items after `length` values of this node alone back.
    pub(crate) fn truncate(&mut self, length: usize) {
        each_number!(self, items => items.truncate(length), {
            Self::Nothing { nulls } => *nulls = length.min(*nulls),
            Self::Unmasked { .. } => {}
            Self::Text { offsets, bytes, .. } => {
                offsets.truncate(length.saturating_add(1));
                bytes.truncate(end(offsets));
            }
            Self::Fixed { size, length: all, bytes, .. } => {
                *all = length.min(*all);
                bytes.truncate(*size * *all);
            }
            Self::List { offsets, .. } => offsets.truncate(length.saturating_add(1)),
            Self::Regular { length: all, .. } => *all = length.min(*all),
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
    pub(crate) fn shrink(&mut self) {
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
    pub(crate) fn copied(&self) -> Result<Self, BuildError> {
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
                    Self::Nothing { .. }
                    | Self::Regular { .. }
                    | Self::Record(_)
                    | Self::Unmasked { .. } => self.clone(),
                }
            };
        }
        Ok(numbers!(Boolean Int8 Int16 Int32 Int64 UInt8 UInt16 UInt32 UInt64 Float16 Float32 Float64
            Complex64 Complex128))
    }
}

/// The end of the last list.
pub(crate) fn end(offsets: &[i64]) -> usize {
    offsets.last().map_or(0, |end| *end as usize)
}

/// Bytes of a column that are kept for what comes after it was cleared.
const MOST_KEPT: usize = 1 << 20;
