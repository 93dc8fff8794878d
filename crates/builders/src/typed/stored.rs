//! The columns of a place of the type.

use crate::BuildError;
use crate::form::{Index, Primitive, Unit};
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
pub(super) use each_number;

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

impl Columns {
    pub(super) fn numbers(primitive: Primitive) -> Self {
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
    pub(super) fn truncate(&mut self, length: usize) {
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
    pub(super) fn shrink(&mut self) {
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
    pub(super) fn copied(&self) -> Result<Self, BuildError> {
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

/// The end of the last list.
pub(super) fn end(offsets: &[i64]) -> usize {
    offsets.last().map_or(0, |end| *end as usize)
}

/// Bytes of a column that are kept for what comes after it was cleared.
const MOST_KEPT: usize = 1 << 20;
