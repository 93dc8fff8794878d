//! Appending to a sink: single values, and lists, tuples and records.

use crate::form::{Primitive, Unit};
use crate::growth::{extend, push};
use crate::sink::{Items, Shape};
use crate::table::{Columns, Found};
use crate::{BuildError, Fault, Leaf, Open, Sink, Slot};

impl Sink {
    /// Slot of the items of the array.
    pub const ROOT: Slot = Slot(0);

    /// Returns the number of complete values of a slot.
    #[must_use]
    pub fn len_at(&self, at: Slot) -> usize {
        self.nodes.len(at.0)
    }

    /// Removes all values of a slot after the first `len`.
    pub fn truncate_at(&mut self, at: Slot, len: usize) {
        self.nodes.truncate(at.0, len);
    }

    /// Promotes a node for a value that it does not accept yet.
    #[cold]
    fn grow(&mut self, at: u32, found: Found<'_>) -> Result<u32, BuildError> {
        self.nodes.grow(at, found)
    }

    /// Returns the node of a slot that accepts a value.
    fn find(&mut self, at: u32, found: Found<'_>) -> Result<u32, BuildError> {
        match found {
            _ if self.grows => self.grow(at, found),
            Found::Huge => Err(self.nodes.refuse(at, found)),
            Found::List | Found::Tuple(_) | Found::Record(_) => {
                let nth = std::mem::take(&mut self.nth);
                self.nodes.find(at, found, nth)
            }
            _ => self.nodes.find(at, found, 0),
        }
    }

    /// Appends a null and returns `true`; returns `false` if the slot cannot be null.
    #[inline]
    fn null(&mut self, at: u32) -> Result<bool, BuildError> {
        if self.grows { self.nodes.grow_null(at).map(|()| true) } else { self.nodes.null(at, None) }
    }

    /// Appends one value; nothing is changed on error.
    #[inline(never)]
    fn put(
        &mut self,
        at: Slot,
        found: Found<'_>,
        mut write: impl FnMut(&mut Columns) -> Result<(), BuildError>,
    ) -> Result<(), BuildError> {
        let done = match self.nodes.nearest(at.0, found) {
            Some((tag, content)) => self.nodes.put_nearest(at.0, tag, content, write),
            None => {
                let node = self.find(at.0, found)?;
                self.nodes.put(at.0, node, &mut write)
            }
        };
        if done.is_err() {
            // Enclosing nodes record the value last, so the length of the slot is still that without the
            // value.
            self.nodes.truncate(at.0, self.nodes.len(at.0));
        }
        done
    }

    /// Appends a null.
    #[inline]
    pub fn put_null(&mut self, at: Slot) -> Result<(), BuildError> {
        if self.null(at.0)? { Ok(()) } else { Err(self.nodes.refuse(at.0, Found::Null)) }
    }

    /// Appends a boolean.
    #[inline]
    pub fn put_boolean(&mut self, at: Slot, x: bool) -> Result<(), BuildError> {
        match self.nodes.at_mut(at.0) {
            Columns::Boolean(items) => push(items, x.into()),
            _ => self.put(at, Found::Boolean, |columns| match columns {
                Columns::Boolean(items) => push(items, x.into()),
                _ => Ok(()), // never
            }),
        }
    }

    /// Appends an integer.
    #[inline]
    pub fn put_integer(&mut self, at: Slot, x: i64) -> Result<(), BuildError> {
        match self.nodes.at_mut(at.0) {
            Columns::Int64(items) => push(items, x),
            Columns::Float64(items) => push(items, x as f64),
            _ => self.put_other_integer(at, x),
        }
    }

    /// Appends an integer to a column that the fast path does not handle.
    pub(crate) fn put_other_integer(&mut self, at: Slot, x: i64) -> Result<(), BuildError> {
        let columns = self.nodes.at_mut(at.0);
        match columns.range() {
            Some((low, high)) if low <= x && u64::try_from(x).is_ok_and(|x| x <= high) | (x < 0) => {
                columns.write_integer(x)
            }
            _ => self.put(at, Found::Integer(x), |columns| columns.write_integer(x)),
        }
    }

    /// Appends an integer that may be above the maximum of `int64`.
    pub fn put_unsigned(&mut self, at: Slot, x: u64) -> Result<(), BuildError> {
        match i64::try_from(x) {
            Ok(x) => self.put_integer(at, x),
            Err(_) => self.put(at, Found::Unsigned(x), |columns| columns.write_unsigned(x)),
        }
    }

    /// Returns the error for an integer beyond 64 bits.
    pub fn put_huge(&mut self, at: Slot) -> Result<(), BuildError> {
        self.find(at.0, Found::Huge).map(drop)
    }

    /// Appends a floating-point number.
    #[inline]
    pub fn put_real(&mut self, at: Slot, x: f64) -> Result<(), BuildError> {
        match self.nodes.at_mut(at.0) {
            Columns::Float64(items) => push(items, x),
            Columns::Float32(items) => push(items, x as f32),
            _ => self.put(at, Found::Real, |columns| columns.write_real(x)),
        }
    }

    /// Appends a complex number, given by its real and imaginary parts.
    pub fn put_complex(&mut self, at: Slot, x: [f64; 2]) -> Result<(), BuildError> {
        self.put(at, Found::Complex, |columns| columns.write_complex(x))
    }

    /// Appends a date, timestamp or duration in a unit spelled as in NumPy's dtype: `datetime64[us]`,
    /// `timedelta64[D]`.
    pub fn put_time(&mut self, at: Slot, x: i64, unit: &str) -> Result<(), BuildError> {
        let (date, from) = match Primitive::from_name(unit) {
            Some(Primitive::Datetime64(from)) => (true, from),
            Some(Primitive::Timedelta64(from)) => (false, from),
            _ if unit == "datetime64" => (true, Unit::NONE),
            _ if unit == "timedelta64" => (false, Unit::NONE),
            _ => return Err(Fault::NoElement(unit.into()).into()),
        };
        let mut converted = Some(x);
        let done = self.put(at, Found::Time { date, unit: from }, |columns| match columns {
            Columns::Time { unit: to, items, .. } => {
                converted = from.convert(x, *to, date);
                converted.map_or_else(|| Err(Fault::Deep.into()), |x| push(items, x)) // replaced below
            }
            _ => Ok(()), // never
        });
        done.map_err(|refused| match converted {
            Some(_) => refused,
            None => {
                let expected = self.nodes.expected(at.0).into();
                Fault::Expected { expected, found: format!("{x} as {unit}").into() }.into()
            }
        })
    }

    /// Appends a string, or a byte string if `binary`.
    #[inline]
    pub fn put_text(&mut self, at: Slot, bytes: &[u8], binary: bool) -> Result<(), BuildError> {
        match self.nodes.at_mut(at.0) {
            columns @ Columns::Text { .. } if columns.is_text(binary) => columns.write_text(bytes),
            _ => {
                let found = Found::Text { binary, bytes: bytes.len() };
                self.put(at, found, |columns| columns.write_text(bytes))
            }
        }
    }

    /// Appends several integers.
    pub fn put_integers(&mut self, at: Slot, more: &[i64]) -> Result<(), BuildError> {
        match self.nodes.at_mut(at.0) {
            Columns::Int64(items) => extend(items, more),
            _ => more.iter().try_for_each(|x| self.put_integer(at, *x)),
        }
    }

    /// Appends several floating-point numbers.
    pub fn put_reals(&mut self, at: Slot, more: &[f64]) -> Result<(), BuildError> {
        match self.nodes.at_mut(at.0) {
            Columns::Float64(items) => extend(items, more),
            _ => more.iter().try_for_each(|x| self.put_real(at, *x)),
        }
    }

    /// Returns the column of a slot if nothing but its items has to be written, so that a loop over values of
    /// one type looks it up once.
    pub fn leaf_at(&mut self, at: Slot) -> Leaf<'_> {
        match self.nodes.at_mut(at.0) {
            Columns::Boolean(items) => Leaf::Boolean(Items(items)),
            Columns::Int64(items) => Leaf::Integer(Items(items)),
            Columns::Float64(items) => Leaf::Real(Items(items)),
            _ => Leaf::Other,
        }
    }

    /// Returns how many of the types of a slot may accept a value of this shape. If there are several, the
    /// caller tries one after the other: it calls [`choose`](Self::choose) before each attempt, and removes
    /// the values of failed ones.
    #[must_use]
    pub fn candidates(&self, at: Slot, shape: Shape) -> usize {
        let found = match shape {
            Shape::List => Found::List,
            Shape::Tuple(size) => Found::Tuple(size),
            Shape::Record => Found::Record(None),
        };
        match self.nodes.at(at.0) {
            Columns::Indexed { .. } | Columns::Union { .. } if !self.grows => {
                self.nodes.candidates(at.0, found)
            }
            _ => 1,
        }
    }

    /// Sets the alternative for the structure that is begun next: the `nth` of the possible ones.
    pub const fn choose(&mut self, nth: usize) {
        self.nth = nth;
    }

    fn open(&mut self, at: Slot, found: Found<'_>) -> Result<Open, BuildError> {
        Ok(Open { slot: at, node: self.find(at.0, found)?, next: 0 })
    }

    /// Begins a list and returns the slot of its items.
    #[inline]
    pub fn open_list(&mut self, at: Slot) -> Result<(Open, Slot), BuildError> {
        if let Columns::List { content, .. } = *self.nodes.at(at.0) {
            return Ok((Open { slot: at, node: at.0, next: 0 }, Slot(content)));
        }
        let open = self.open(at, Found::List)?;
        match *self.nodes.at(open.node) {
            Columns::List { content, .. } | Columns::Regular { content, .. } => Ok((open, Slot(content))),
            _ => Ok((open, at)), // never
        }
    }

    /// Ends a list.
    #[inline]
    pub fn close_list(&mut self, open: Open) -> Result<(), BuildError> {
        match *self.nodes.at(open.node) {
            Columns::List { content, .. } => {
                let end = self.nodes.len(content);
                self.nodes.complete(open.slot.0, open.node, |columns| columns.add_list(end))
            }
            Columns::Regular { size, length, content, .. } => {
                let found = self.nodes.len(content) - size * length;
                if found != size {
                    return Err(Fault::Length { expected: size as u64, found: found as u64 }.into());
                }
                self.nodes.complete(open.slot.0, open.node, Columns::add_regular)
            }
            _ => Ok(()), // never
        }
    }

    /// Begins a tuple.
    pub fn open_tuple(&mut self, at: Slot, size: usize) -> Result<Open, BuildError> {
        self.open(at, Found::Tuple(size))
    }

    /// Returns a slot of a tuple; `index` must be less than its size.
    #[inline]
    pub fn slot_of(&mut self, open: &Open, index: usize) -> Slot {
        match self.nodes.at(open.node) {
            Columns::Record(record) => Slot(record.fields[index].content),
            Columns::List { content, .. } | Columns::Regular { content, .. } => Slot(*content),
            _ => open.slot, // never
        }
    }

    /// Ends a tuple.
    pub fn close_tuple(&mut self, open: Open) -> Result<(), BuildError> {
        match self.nodes.record(open.node) {
            Some(_) => self.close_record(open),
            None => self.close_list(open),
        }
    }

    /// Begins a record.
    #[inline]
    pub fn open_record(&mut self, at: Slot, name: Option<&str>) -> Result<Open, BuildError> {
        match self.nodes.record(at.0) {
            Some(record) if !record.is_tuple && name.is_none_or(|name| *record.name == *name) => {
                Ok(Open { slot: at, node: at.0, next: 0 })
            }
            _ => self.open(at, Found::Record(name)),
        }
    }

    /// Returns the slot of a field by a token for its name, such as the address of an object with the name. A
    /// token of 0 means none. The caller must ensure that a token keeps its meaning as long as the sink
    /// exists.
    #[inline]
    pub fn known_field(&mut self, open: &mut Open, token: usize) -> Option<Slot> {
        let record = self.nodes.record(open.node)?;
        let at = record.known(open.next as usize, token)?;
        open.next = at as u32 + 1;
        Some(Slot(record.fields[at].content))
    }

    /// Returns the slot of a field by its name, and whether the token was stored for it.
    pub fn field_of(
        &mut self,
        open: &mut Open,
        name: &str,
        token: usize,
    ) -> Result<(Slot, bool), BuildError> {
        let Columns::Record(record) = self.nodes.at_mut(open.node) else {
            return Ok((open.slot, false)); // never
        };
        if let Some(at) = record.find(open.next as usize, name) {
            open.next = at as u32 + 1;
            return Ok((Slot(record.fields[at].content), record.learn(at, token)));
        }
        if !self.grows {
            let expected = self.nodes.expected(open.node).into();
            return Err(Fault::Unknown { name: name.into(), expected }.into());
        }
        let next = record.fields.len() as u32 + 1; // no more than there are columns
        let content = self.nodes.grow_field(open.node, name, token)?;
        open.next = next;
        Ok((Slot(content), token != 0))
    }

    /// Ends a record, or a tuple stored as one. Fields without a value become null if they can be.
    ///
    /// # Errors
    /// Returns an error if a field that cannot be null has no value, or if a field has several.
    pub fn close_record(&mut self, open: Open) -> Result<(), BuildError> {
        let Some(record) = self.nodes.record(open.node) else { return Ok(()) }; // never
        let (count, length, is_tuple) = (record.fields.len(), record.length, record.is_tuple);
        for index in 0..count {
            let Some(record) = self.nodes.record(open.node) else { return Ok(()) }; // never
            let content = record.fields[index].content;
            let filled = self.nodes.len(content);
            if filled == length + 1 {
                continue;
            }
            let name = record.fields[index].name.clone();
            if filled > length {
                let twice = if is_tuple { Fault::SlotTwice(index) } else { Fault::FieldTwice(name) };
                return Err(twice.into());
            }
            if !self.null(content)? {
                let name = if is_tuple { index.to_string().into() } else { name };
                return Err(Fault::Missing(name).into());
            }
        }
        self.nodes.complete(open.slot.0, open.node, Columns::add_record)
    }
}
