//! The sink that a walk over foreign objects fills.

use crate::{BuildError, growth};

/// Something that takes values, place by place: an [`ArrayBuilder`](crate::ArrayBuilder), which finds the
/// type out on the way, or [`TypedColumns`](crate::TypedColumns), whose type is known.
///
/// A [`Slot`] is a place for one value after the other: the array itself, the items of a list, a field of a
/// record. Code that walks over objects begins at the outermost one and gets the inner ones from what it
/// begins. Lists, records and tuples must be ended in the order opposite to that in which they were begun;
/// what was begun and not ended is taken back by [`truncate_at`](Self::truncate_at). Anything else leaves
/// columns of different lengths, which is wrong but not unsafe.
pub trait Sink {
    /// Values in a place, unfinished ones apart.
    fn len_at(&self, at: Slot) -> usize;
    /// Takes everything after the first `len` values of a place back.
    fn truncate_at(&mut self, at: Slot, len: usize);

    /// A missing value.
    fn put_null(&mut self, at: Slot) -> Result<(), BuildError>;
    /// A truth value.
    fn put_boolean(&mut self, at: Slot, x: bool) -> Result<(), BuildError>;
    /// An integer.
    fn put_integer(&mut self, at: Slot, x: i64) -> Result<(), BuildError>;
    /// An integer that may be too large for a signed one.
    fn put_unsigned(&mut self, at: Slot, x: u64) -> Result<(), BuildError>;
    /// An integer that does not fit in 64 bits of either kind.
    fn put_huge(&mut self, at: Slot) -> Result<(), BuildError>;
    /// A number.
    fn put_real(&mut self, at: Slot, x: f64) -> Result<(), BuildError>;
    /// A complex number: real part, imaginary part.
    fn put_complex(&mut self, at: Slot, x: [f64; 2]) -> Result<(), BuildError>;
    /// A date and time, or a span of time, in units that NumPy would write so: `datetime64[us]`,
    /// `timedelta64[D]`.
    fn put_time(&mut self, at: Slot, x: i64, unit: &str) -> Result<(), BuildError>;
    /// Text, or any bytes.
    fn put_text(&mut self, at: Slot, bytes: &[u8], binary: bool) -> Result<(), BuildError>;

    /// Several integers.
    fn put_integers(&mut self, at: Slot, items: &[i64]) -> Result<(), BuildError> {
        items.iter().try_for_each(|x| self.put_integer(at, *x))
    }
    /// Several numbers.
    fn put_reals(&mut self, at: Slot, items: &[f64]) -> Result<(), BuildError> {
        items.iter().try_for_each(|x| self.put_real(at, *x))
    }
    /// The column behind a place where nothing but its items has to be written, so that a loop over values of
    /// one type need not look for it each time.
    fn leaf_at(&mut self, at: Slot) -> Leaf<'_>;

    /// How many of the types possible in a place might take something of such a shape. Where there are
    /// several, the caller tries one after the other, taking back what failed, and says before which is to be
    /// tried: [`choose`](Self::choose).
    fn candidates(&self, _at: Slot, _shape: Shape) -> usize {
        1
    }
    /// Of several types that might take what is begun next, the one to try.
    fn choose(&mut self, _nth: usize) {}

    /// Begins a list and answers the place of its items.
    fn open_list(&mut self, at: Slot) -> Result<(Open, Slot), BuildError>;
    /// Ends a list.
    fn close_list(&mut self, open: Open) -> Result<(), BuildError>;

    /// Begins a tuple.
    fn open_tuple(&mut self, at: Slot, size: usize) -> Result<Open, BuildError>;
    /// The place of one slot of a tuple of more than `index` slots.
    fn slot_of(&mut self, open: &Open, index: usize) -> Slot;
    /// Ends a tuple.
    fn close_tuple(&mut self, open: Open) -> Result<(), BuildError>;

    /// Begins a record.
    fn open_record(&mut self, at: Slot, name: Option<&str>) -> Result<Open, BuildError>;
    /// The place of a field by a number that stands for its name, as the address of an object does that holds
    /// it: a caller with such numbers sees to it that one that was learnt keeps its meaning as long as the
    /// sink lives. 0 stands for nothing.
    fn known_field(&mut self, open: &mut Open, token: usize) -> Option<Slot>;
    /// The place of a field by its name, and whether the number was learnt for it.
    fn field_of(&mut self, open: &mut Open, name: &str, token: usize) -> Result<(Slot, bool), BuildError>;
    /// Ends a record.
    fn close_record(&mut self, open: Open) -> Result<(), BuildError>;
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
