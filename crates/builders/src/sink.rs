//! Sink of code that traverses objects.

use crate::table::Nodes;
use crate::{BuildError, growth};

/// Receiver of values: the columns of an [`ArrayBuilder`](crate::ArrayBuilder), which infers the type, or of
/// [`TypedColumns`](crate::TypedColumns), whose type is known.
///
/// A [`Slot`] accepts consecutive values: of the array itself, the items of a list, or a field of a record.
/// Code begins at the [outermost](Self::ROOT) slot and obtains inner ones when it begins lists, records and
/// tuples. These must be ended in reverse order; unfinished ones are removed by
/// [`truncate_at`](Self::truncate_at). Otherwise the columns have inconsistent lengths, which is wrong but
/// not unsafe.
#[derive(Clone, Debug)]
pub struct Sink {
    pub(crate) nodes: Nodes,
    /// Whether the type is inferred, so that a slot accepts any value.
    pub(crate) grows: bool,
    /// Number of the alternative to try first for the next list, record or tuple.
    pub(crate) nth: usize,
}

/// Slot to which values are appended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot(pub(crate) u32);

/// Kind of structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A list.
    List,
    /// A tuple with this number of slots.
    Tuple(usize),
    /// A record.
    Record,
}

/// Open list, record or tuple.
#[derive(Debug)]
pub struct Open {
    /// Slot in which it was begun.
    pub(crate) slot: Slot,
    /// Node of the list, record or tuple.
    pub(crate) node: u32,
    /// Index of the field that is expected next.
    pub(crate) next: u32,
}

/// Column of plain values.
#[derive(Debug)]
pub enum Leaf<'a> {
    /// Booleans.
    Boolean(Items<'a, u8>),
    /// Integers.
    Integer(Items<'a, i64>),
    /// Floating-point numbers.
    Real(Items<'a, f64>),
    /// Any other column.
    Other,
}

/// Appender to a column.
#[derive(Debug)]
pub struct Items<'a, T>(pub(crate) &'a mut Vec<T>);

impl<T> Items<'_, T> {
    /// Appends an item. Booleans are 0 or 1.
    #[inline]
    pub fn push(&mut self, item: T) -> Result<(), BuildError> {
        growth::push(self.0, item)
    }
}
