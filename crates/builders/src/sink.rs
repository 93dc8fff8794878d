//! The sink that a walk over foreign objects fills.

use crate::table::Nodes;
use crate::{BuildError, growth};

/// What takes values, place by place: the columns of an [`ArrayBuilder`](crate::ArrayBuilder), which finds the
/// type out on the way, or of [`TypedColumns`](crate::TypedColumns), whose type is known.
///
/// A [`Slot`] is a place for one value after the other: the array itself, the items of a list, a field of a
/// record. Code that walks over objects begins at the [outermost](Self::ROOT) one and gets the inner ones from
/// what it begins. Lists, records and tuples must be ended in the order opposite to that in which they were
/// begun; what was begun and not ended is taken back by [`truncate_at`](Self::truncate_at). Anything else leaves
/// columns of different lengths, which is wrong but not unsafe.
#[derive(Clone, Debug)]
pub struct Sink {
    pub(crate) nodes: Nodes,
    /// Whether the type is found out on the way, so that a place takes whatever comes.
    pub(crate) grows: bool,
    /// The alternative to begin with, of those that might take a list, record or tuple.
    pub(crate) nth: usize,
}

/// A place for values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot(pub(crate) u32);

/// A list, record or tuple as seen from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A list.
    List,
    /// A tuple with this number of slots.
    Tuple(usize),
    /// A record.
    Record,
}

/// A list, record or tuple that was begun and has to be ended.
#[derive(Debug)]
pub struct Open {
    /// The place at which it was begun.
    pub(crate) slot: Slot,
    /// The list, record or tuple itself.
    pub(crate) node: u32,
    /// The field that is probably next.
    pub(crate) next: u32,
}

/// A column of plain values.
#[derive(Debug)]
pub enum Leaf<'a> {
    /// Truth values.
    Boolean(Items<'a, u8>),
    /// Integers.
    Integer(Items<'a, i64>),
    /// Numbers.
    Real(Items<'a, f64>),
    /// Anything else.
    Other,
}

/// The end of a column.
#[derive(Debug)]
pub struct Items<'a, T>(pub(crate) &'a mut Vec<T>);

impl<T> Items<'_, T> {
    /// One more. Truth values are 0 or 1.
    #[inline]
    pub fn push(&mut self, item: T) -> Result<(), BuildError> {
        growth::push(self.0, item)
    }
}
