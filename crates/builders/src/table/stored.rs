//! Columns of a node of the type.

use crate::BuildError;
use crate::form::{Index, Primitive, Unit};
use crate::growth::push;
use std::collections::HashMap;

/// Evaluates an expression for the items of any column of numbers; the remaining arms are for the other
/// columns.
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
    /// Unknown type, which accepts no values.
    Nothing {
        /// Number of nulls, the only values that an inferred type may have had so far.
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
        /// Whether these are dates or timestamps; otherwise durations.
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
    /// Strings of a fixed length.
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
        /// Whether this is an inner dimension of numbers, which shares the node of the Form with them.
        inner: bool,
    },
    Record(Box<Record>),
    /// Rows of a content, in the order of an index.
    Indexed {
        /// Whether rows may be null, with -1 in the index.
        nulls: bool,
        width: Index,
        index: Vec<i64>,
        content: u32,
        /// Row of each value, if the values of the content are unique.
        categories: Option<Box<Categories>>,
    },
    /// Values with a mask; arbitrary values are in place of nulls.
    Masked {
        /// Mask item of values that are not null.
        valid: i8,
        /// For a mask of bits: whether the least significant bit is the first row. `None` for a mask of
        /// bytes.
        bits: Option<bool>,
        mask: Vec<i8>,
        content: u32,
    },
    /// Values of a nullable type without nulls.
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

/// Row of each value, by its bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Categories(pub(crate) HashMap<Vec<u8>, i64>);

/// Layout of the buffers of lists.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Lists {
    pub(crate) width: Index,
    /// Whether to output starts and stops instead of offsets.
    pub(crate) separate: bool,
}

impl Lists {
    pub(crate) const PLAIN: Self = Self { width: Index::I64, separate: false };
}

/// Records, or tuples, whose fields have no names.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record {
    pub(crate) is_tuple: bool,
    /// Name of the record; empty if it has none.
    pub(crate) name: Box<str>,
    pub(crate) fields: Vec<Field>,
    pub(crate) length: usize,
    /// Indexes of the fields by name, if there are more than [`FEW`].
    by_name: HashMap<Box<str>, u32>,
}

#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) name: Box<str>,
    pub(crate) content: u32,
    /// Token of the name, given by the caller; 0 for none.
    token: usize,
}

impl Record {
    pub(crate) fn named(name: &str, fields: Vec<Field>) -> Self {
        let mut record = Self { name: name.into(), fields, ..Self::default() };
        record.index();
        record
    }

    /// Creates a tuple from the nodes of its slots.
    pub(crate) fn tuple(contents: Vec<u32>) -> Self {
        let slots = contents.into_iter().map(|content| Field::new("", content));
        Self { is_tuple: true, fields: slots.collect(), ..Self::default() }
    }

    /// Returns the index of a field by the token of its name; `next` is tried first.
    #[inline]
    pub(crate) fn known(&self, next: usize, token: usize) -> Option<usize> {
        match self.fields.get(next) {
            Some(field) if field.token == token => Some(next),
            _ if self.fields.len() > FEW => None,
            _ => self.fields.iter().position(|field| field.token == token),
        }
    }

    /// Returns the index of a field by its name; `next` is tried first.
    #[inline]
    pub(crate) fn find(&self, next: usize, name: &str) -> Option<usize> {
        match self.fields.get(next) {
            Some(field) if *field.name == *name => Some(next),
            _ if self.fields.len() > FEW => self.by_name.get(name).map(|at| *at as usize),
            _ => self.fields.iter().position(|field| *field.name == *name),
        }
    }

    /// Stores the token of a field that has none; returns whether it was stored.
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

    /// Returns the name of a field, or the number of a slot.
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

/// Number of fields up to which linear search is used.
const FEW: usize = 16;

/// Maps primitive types other than times to columns, and the reverse.
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

            /// Returns the primitive type of a column of numbers; `None` for other columns.
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

    /// Returns an option: an index into a content, with -1 for nulls.
    pub(crate) const fn option(index: Vec<i64>, content: u32) -> Self {
        Self::Indexed { nulls: true, width: Index::I64, index, content, categories: None }
    }

    /// Returns an empty column of lists.
    pub(crate) fn list(content: u32) -> Self {
        Self::List { layout: Lists::PLAIN, offsets: vec![0], content }
    }

    /// Returns an empty column of strings or byte strings.
    pub(crate) fn text(binary: bool, layout: Lists) -> Self {
        Self::Text { binary, layout, offsets: vec![0], bytes: Vec::new() }
    }

    pub(crate) const fn is_text(&self, wanted: bool) -> bool {
        matches!(self, Self::Text { binary, .. } if *binary == wanted)
    }

    /// Appends a list whose items end at `end`.
    #[inline]
    pub(crate) fn add_list(&mut self, end: usize) -> Result<(), BuildError> {
        match self {
            Self::List { offsets, .. } => push(offsets, end as i64),
            _ => Ok(()), // never
        }
    }

    /// Appends a list of the fixed size, whose items were appended.
    #[inline]
    pub(crate) fn add_regular(&mut self) -> Result<(), BuildError> {
        if let Self::Regular { length, .. } = self {
            *length += 1;
        }
        Ok(())
    }

    /// Appends a record or tuple, whose values were appended.
    #[inline]
    pub(crate) fn add_record(&mut self) -> Result<(), BuildError> {
        if let Self::Record(record) = self {
            record.length += 1;
        }
        Ok(())
    }

    /// Returns the content of an option or indirection; `None` for other columns.
    #[inline]
    pub(crate) fn inner(&self) -> Option<u32> {
        match self {
            Self::Indexed { content, .. } | Self::Masked { content, .. } | Self::Unmasked { content } => {
                Some(*content)
            }
            _ => None,
        }
    }

    /// Removes the items of this node after the first `length`, without those of its contents.
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

    /// Frees unused memory above [`MOST_KEPT`].
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

    /// Returns a copy, or an error if memory cannot be allocated, where [`clone`](Clone::clone) would abort.
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
                    // Columns without items.
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

/// Returns the last offset.
pub(crate) fn end(offsets: &[i64]) -> usize {
    offsets.last().map_or(0, |end| *end as usize)
}

/// Number of bytes of a column that are kept when it is cleared.
const MOST_KEPT: usize = 1 << 20;
