//! Commands of [`ArrayBuilder`].

use super::{ArrayBuilder, Begun};
use crate::growth::add;
use crate::table::Columns;
use crate::{BuildError, Command, DEEPEST, Fault, MOST_SLOTS, Open, Sink, Slot, Step};

impl ArrayBuilder {
    /// Appends a null.
    pub fn null(&mut self) -> Result<(), BuildError> {
        self.tell(Command::Null, |sink, here| sink.nodes.grow_null(here.0))
    }

    /// Appends a boolean.
    pub fn boolean(&mut self, x: bool) -> Result<(), BuildError> {
        self.tell(Command::Boolean, |sink, here| sink.put_boolean(here, x))
    }

    /// Appends an integer.
    pub fn integer(&mut self, x: i64) -> Result<(), BuildError> {
        let here = self.here(Command::Integer)?;
        let done = match self.sink.nodes.at_mut(here.0) {
            Columns::Int64(items) => add(items, x),
            Columns::Float64(items) => add(items, x as f64),
            _ => None,
        };
        if done.is_some() { Ok(()) } else { self.other(|sink| sink.put_other_integer(here, x)) }
    }

    /// Appends a floating-point number.
    pub fn real(&mut self, x: f64) -> Result<(), BuildError> {
        let here = self.here(Command::Real)?;
        let done = match self.sink.nodes.at_mut(here.0) {
            Columns::Float64(items) => add(items, x),
            _ => None,
        };
        if done.is_some() { Ok(()) } else { self.other(|sink| sink.put_real(here, x)) }
    }

    /// Appends a complex number.
    pub fn complex(&mut self, re: f64, im: f64) -> Result<(), BuildError> {
        self.tell(Command::Complex, |sink, here| sink.put_complex(here, [re, im]))
    }

    /// Appends a date or timestamp: `x` units since 1970-01-01. The unit is spelled as in NumPy's dtype,
    /// `datetime64[us]`.
    pub fn datetime(&mut self, x: i64, unit: &str) -> Result<(), BuildError> {
        self.tell(Command::Datetime, |sink, here| sink.put_time(here, x, unit))
    }

    /// Appends a duration. The unit is spelled as in NumPy's dtype, `timedelta64[us]`.
    pub fn timedelta(&mut self, x: i64, unit: &str) -> Result<(), BuildError> {
        self.tell(Command::Timedelta, |sink, here| sink.put_time(here, x, unit))
    }

    /// Appends a byte string.
    pub fn bytestring(&mut self, x: &[u8]) -> Result<(), BuildError> {
        self.tell(Command::Bytestring, |sink, here| sink.put_text(here, x, true))
    }

    /// Appends a string.
    pub fn string(&mut self, x: &str) -> Result<(), BuildError> {
        self.tell(Command::String, |sink, here| sink.put_text(here, x.as_bytes(), false))
    }

    /// Begins a list. The values that follow are its items.
    pub fn begin_list(&mut self) -> Result<(), BuildError> {
        self.begin(Command::BeginList, |sink, here| {
            let (open, content) = sink.open_list(here)?;
            Ok((open, Some(content)))
        })
    }

    /// Ends a list.
    pub fn end_list(&mut self) -> Result<(), BuildError> {
        self.end(Command::EndList, Command::BeginList, Sink::close_list)
    }

    /// Begins a tuple of `size` slots, which are selected in any order by [`index`](Self::index).
    pub fn begin_tuple(&mut self, size: i64) -> Result<(), BuildError> {
        self.begin(Command::BeginTuple, |sink, here| {
            let slots = usize::try_from(size).ok().filter(|size| *size <= MOST_SLOTS);
            let Some(slots) = slots else { return Err(Fault::TupleSize(size).into()) };
            Ok((sink.open_tuple(here, slots)?, None))
        })
    }

    /// Selects a slot of the tuple for the next value.
    pub fn index(&mut self, index: i64) -> Result<&mut Self, BuildError> {
        let tuple = match self.open.last() {
            Some(Begun { by: Command::BeginTuple, open, .. }) => self.sink.nodes.record(open.node),
            _ => None,
        };
        let Some(tuple) = tuple else { return Err(self.unbegun(Command::Index, Command::BeginTuple)) };
        let size = tuple.fields.len();
        let slot = usize::try_from(index).ok().filter(|slot| *slot < size);
        let slot = slot.ok_or_else(|| self.refuse(Fault::NoSlot { index, size }))?;
        let content = Slot(tuple.fields[slot].content);
        if let Some(begun) = self.open.last_mut() {
            (begun.to, begun.selected) = (Some(content), slot);
        }
        Ok(self)
    }

    /// Ends a tuple; slots without a value become nulls.
    pub fn end_tuple(&mut self) -> Result<(), BuildError> {
        self.end(Command::EndTuple, Command::BeginTuple, Sink::close_tuple)
    }

    /// Begins a record, optionally with a name. Its fields are selected in any order by
    /// [`field`](Self::field).
    pub fn begin_record(&mut self, name: Option<&str>) -> Result<(), BuildError> {
        self.begin(Command::BeginRecord, |sink, here| Ok((sink.open_record(here, name)?, None)))
    }

    /// Selects a field of the record for the next value.
    pub fn field(&mut self, name: &str) -> Result<&mut Self, BuildError> {
        let Some(begun) = self.open.last_mut().filter(|begun| begun.by == Command::BeginRecord) else {
            return Err(self.unbegun(Command::Field, Command::BeginRecord));
        };
        match self.sink.field_of(&mut begun.open, name, 0) {
            Ok((slot, _)) => {
                begun.to = Some(slot);
                begun.selected = begun.open.next as usize - 1; // it is behind the field just found
                Ok(self)
            }
            Err(refused) => Err(self.locate(refused)),
        }
    }

    /// Ends a record; fields without a value become nulls.
    pub fn end_record(&mut self) -> Result<(), BuildError> {
        self.end(Command::EndRecord, Command::BeginRecord, Sink::close_record)
    }

    /// Returns the slot of the next value, from which objects can be appended to the [sink](Self::sink).
    pub fn place(&self) -> Result<Slot, BuildError> {
        self.here(Command::Append)
    }

    /// Returns the number of open lists, records and tuples.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// Adds the path of the next value to an error.
    #[must_use]
    #[cold]
    pub fn locate(&self, refused: BuildError) -> BuildError {
        let nodes = &self.sink.nodes;
        let inside = |refused: BuildError, begun: &Begun| {
            let Some(to) = begun.to else { return refused };
            refused.within(match nodes.record(begun.open.node) {
                None => {
                    let before = nodes.below(begun.open.node, usize::MAX).first().map_or(0, |(_, end)| *end);
                    Step::Item(nodes.len(to.0).saturating_sub(before))
                }
                Some(record) if record.is_tuple => Step::Slot(begun.selected),
                Some(record) => Step::Field(record.fields[begun.selected].name.clone()),
            })
        };
        let refused = self.open.iter().rev().fold(refused, inside);
        refused.within(Step::Item(self.len()))
    }

    pub(super) fn refuse(&self, fault: Fault) -> BuildError {
        self.locate(fault.into())
    }

    fn unbegun(&self, command: Command, needs: Command) -> BuildError {
        self.refuse(Fault::Unbegun { command, needs })
    }

    /// Executes a command at the slot of the next value.
    #[inline]
    fn tell<T>(
        &mut self,
        command: Command,
        told: impl FnOnce(&mut Sink, Slot) -> Result<T, BuildError>,
    ) -> Result<T, BuildError> {
        let here = self.here(command)?;
        self.placed(|sink| told(sink, here))
    }

    #[inline]
    fn placed<T>(&mut self, told: impl FnOnce(&mut Sink) -> Result<T, BuildError>) -> Result<T, BuildError> {
        told(&mut self.sink).map_err(|refused| self.locate(refused))
    }

    /// Executes `told` out of line, for values that the fast path did not append.
    #[inline(never)]
    fn other(&mut self, told: impl FnOnce(&mut Sink) -> Result<(), BuildError>) -> Result<(), BuildError> {
        self.placed(told)
    }

    /// Begins a list, record or tuple. `begin` also returns the slot of the next value, or `None` if a field
    /// must be selected first.
    #[inline]
    fn begin(
        &mut self,
        by: Command,
        begin: impl FnOnce(&mut Sink, Slot) -> Result<(Open, Option<Slot>), BuildError>,
    ) -> Result<(), BuildError> {
        if self.open.len() >= DEEPEST {
            return Err(self.refuse(Fault::Deep));
        }
        let (open, to) = self.tell(by, begin)?;
        self.open.push(Begun { open, by, to, selected: 0 });
        Ok(())
    }

    /// Ends the innermost open structure if it was begun by the command `needs`.
    #[inline]
    fn end(
        &mut self,
        command: Command,
        needs: Command,
        end: impl FnOnce(&mut Sink, Open) -> Result<(), BuildError>,
    ) -> Result<(), BuildError> {
        let Some(begun) = self.open.last().filter(|begun| begun.by == needs) else {
            return Err(self.unbegun(command, needs));
        };
        let open = begun.clone().open;
        self.placed(|sink| end(sink, open))?;
        self.open.pop();
        Ok(())
    }
}
