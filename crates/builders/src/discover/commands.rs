//! The commands.

use super::{ArrayBuilder, Begun, Kind};
use crate::table::Columns;
use crate::{BuildError, Command, DEEPEST, Fault, MOST_SLOTS, Open, Sink, Slot, Step};

impl ArrayBuilder {
    /// Appends a null.
    pub fn null(&mut self) -> Result<(), BuildError> {
        let here = self.here(Command::Null)?;
        self.placed(|this| Sink::put_null(this, here))
    }

    /// Appends a truth value.
    pub fn boolean(&mut self, x: bool) -> Result<(), BuildError> {
        let here = self.here(Command::Boolean)?;
        self.placed(|this| Sink::put_boolean(this, here, x))
    }

    /// Appends an integer.
    pub fn integer(&mut self, x: i64) -> Result<(), BuildError> {
        let here = self.here(Command::Integer)?;
        self.placed(|this| Sink::put_integer(this, here, x))
    }

    /// Appends a real number.
    pub fn real(&mut self, x: f64) -> Result<(), BuildError> {
        let here = self.here(Command::Real)?;
        match self.nodes.at_mut(here.0) {
            // Nothing can go wrong here, so that nothing has to be kept for an error.
            Columns::Float64(items) if items.len() < items.capacity() => {
                items.push(x);
                Ok(())
            }
            _ => self.other_real(here, x),
        }
    }

    #[inline(never)]
    fn other_real(&mut self, here: Slot, x: f64) -> Result<(), BuildError> {
        self.placed(|this| Sink::put_real(this, here, x))
    }

    /// Appends a complex number.
    pub fn complex(&mut self, re: f64, im: f64) -> Result<(), BuildError> {
        let here = self.here(Command::Complex)?;
        self.placed(|this| Sink::put_complex(this, here, [re, im]))
    }

    /// Appends a date and time, or a date: `x` units since 1970. The unit is written as NumPy's type is,
    /// `datetime64[us]`.
    pub fn datetime(&mut self, x: i64, unit: &str) -> Result<(), BuildError> {
        let here = self.here(Command::Datetime)?;
        self.placed(|this| Sink::put_time(this, here, x, unit))
    }

    /// Appends a span of time. The unit is written as NumPy's type is, `timedelta64[us]`.
    pub fn timedelta(&mut self, x: i64, unit: &str) -> Result<(), BuildError> {
        let here = self.here(Command::Timedelta)?;
        self.placed(|this| Sink::put_time(this, here, x, unit))
    }

    /// Appends a string of bytes.
    pub fn bytestring(&mut self, x: &[u8]) -> Result<(), BuildError> {
        let here = self.here(Command::Bytestring)?;
        self.placed(|this| this.put_text(here, x, true))
    }

    /// Appends text.
    pub fn string(&mut self, x: &str) -> Result<(), BuildError> {
        let here = self.here(Command::String)?;
        self.placed(|this| this.put_text(here, x.as_bytes(), false))
    }

    /// Begins a list; what follows are its items.
    pub fn begin_list(&mut self) -> Result<(), BuildError> {
        let here = self.room(Command::BeginList)?;
        let (open, content) = self.placed(|this| Sink::open_list(this, here))?;
        self.enter(Kind::List, open, Some(content));
        Ok(())
    }

    /// Ends a list.
    pub fn end_list(&mut self) -> Result<(), BuildError> {
        self.end(Kind::List, Sink::close_list)
    }

    /// Begins a tuple of `size` slots, which are filled in any order: [`index`](Self::index).
    pub fn begin_tuple(&mut self, size: i64) -> Result<(), BuildError> {
        let here = self.room(Command::BeginTuple)?;
        let slots = usize::try_from(size).ok().filter(|size| *size <= MOST_SLOTS);
        let slots = slots.ok_or_else(|| self.refuse(Fault::TupleSize { size }))?;
        let open = self.placed(|this| Sink::open_tuple(this, here, slots))?;
        self.enter(Kind::Tuple, open, None);
        Ok(())
    }

    /// Selects a slot of the tuple for the next value.
    pub fn index(&mut self, index: i64) -> Result<&mut Self, BuildError> {
        let tuple = match self.open.last() {
            Some(Begun { kind: Kind::Tuple, open, .. }) => self.nodes.record(open.node),
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
        self.end(Kind::Tuple, Sink::close_tuple)
    }

    /// Begins a record, perhaps of a named class; its fields are filled in any order: [`field`](Self::field).
    pub fn begin_record(&mut self, name: Option<&str>) -> Result<(), BuildError> {
        let here = self.room(Command::BeginRecord)?;
        let open = self.placed(|this| Sink::open_record(this, here, name))?;
        self.enter(Kind::Record, open, None);
        Ok(())
    }

    /// Selects a field of the record for the next value.
    pub fn field(&mut self, name: &str) -> Result<&mut Self, BuildError> {
        match self.open.pop() {
            Some(mut begun) if begun.kind == Kind::Record => {
                let found = Sink::field_of(self, &mut begun.open, name, 0);
                if let Ok((slot, _)) = found {
                    begun.to = Some(slot);
                    begun.selected = begun.open.next as usize - 1; // it is behind the field just found
                }
                self.open.push(begun);
                found.map_err(|refused| self.locate(refused)).map(|_| self)
            }
            other => {
                self.open.extend(other);
                Err(self.unbegun(Command::Field, Command::BeginRecord))
            }
        }
    }

    /// Ends a record; fields without a value become nulls.
    pub fn end_record(&mut self) -> Result<(), BuildError> {
        self.end(Kind::Record, Sink::close_record)
    }

    /// The place where the next value goes, for a walk over an object that is to go there.
    pub fn place(&self) -> Result<Slot, BuildError> {
        self.here(Command::Append)
    }

    /// Lists, records and tuples that are open.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// The same error with the place where the next value would have gone.
    #[must_use]
    #[cold]
    pub fn locate(&self, refused: BuildError) -> BuildError {
        let inside = |refused: BuildError, begun: &Begun| match (begun.kind, begun.to) {
            (Kind::List, Some(content)) => {
                let before = self.nodes.below(begun.open.node, usize::MAX).first().map_or(0, |(_, end)| *end);
                refused.within(Step::Item(self.nodes.len(content.0).saturating_sub(before)))
            }
            (Kind::Tuple, Some(_)) => refused.within(Step::Slot(begun.selected)),
            (Kind::Record, Some(_)) => match self.nodes.record(begun.open.node) {
                Some(record) => refused.within(Step::Field(record.fields[begun.selected].name.clone())),
                None => refused,
            },
            _ => refused,
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

    /// The place of a list, record or tuple, if it may be begun.
    fn room(&self, command: Command) -> Result<Slot, BuildError> {
        if self.open.len() >= DEEPEST {
            return Err(self.refuse(Fault::Deep));
        }
        self.here(command)
    }

    fn enter(&mut self, kind: Kind, open: Open, to: Option<Slot>) {
        self.open.push(Begun { open, kind, to, selected: 0 });
    }

    #[inline]
    fn placed<T>(&mut self, f: impl FnOnce(&mut Self) -> Result<T, BuildError>) -> Result<T, BuildError> {
        f(self).map_err(|refused| self.locate(refused))
    }

    fn end(
        &mut self,
        kind: Kind,
        f: impl FnOnce(&mut Self, Open) -> Result<(), BuildError>,
    ) -> Result<(), BuildError> {
        let (command, needs) = match kind {
            Kind::List => (Command::EndList, Command::BeginList),
            Kind::Tuple => (Command::EndTuple, Command::BeginTuple),
            Kind::Record => (Command::EndRecord, Command::BeginRecord),
        };
        let Some(begun) = self.open.last().filter(|begun| begun.kind == kind) else {
            return Err(self.unbegun(command, needs));
        };
        let open = begun.clone().open;
        self.placed(|this| f(this, open))?;
        self.open.pop();
        Ok(())
    }
}
