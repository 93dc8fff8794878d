//! Conversion of Python objects to values of a [`Sink`].
//!
//! Conversion of an item may run Python code that changes its container: each item is held by a reference
//! meanwhile, and lengths are checked each time.

use super::{
    arrays,
    kinds::{Kind, Kinds},
    times,
    trouble::{Trouble, Walked},
};
use forthwith_builders::{DEEPEST, Fault, Leaf, Shape, Sink, Slot, Step};
use pyo3::{
    exceptions::PyTypeError,
    prelude::*,
    types::{PyBool, PyBytes, PyComplex, PyDict, PyFloat, PyIterator, PyList, PyString, PyTuple},
};

/// Cache that is kept between the walks of one sink.
pub(super) struct Memory {
    kinds: Kinds,
    /// Names whose addresses the sink has cached.
    names: Vec<Py<PyString>>,
    /// Whether times of day are refused, which otherwise become datetimes of 1970.
    refuses_times: bool,
}

impl Memory {
    pub(super) fn new(py: Python<'_>) -> Self {
        Self { kinds: Kinds::new(py), names: Vec::new(), refuses_times: false }
    }

    /// Creates the cache for a writer, which refuses times of day.
    pub(super) fn refusing_times(py: Python<'_>) -> Self {
        Self { refuses_times: true, ..Self::new(py) }
    }

    pub(super) fn kind(&mut self, object: &Bound<'_, PyAny>) -> PyResult<Kind> {
        self.kinds.of(object)
    }
}

/// A walk over Python objects that fills a sink.
pub(super) struct Walk<'a> {
    sink: &'a mut Sink,
    memory: &'a mut Memory,
    /// Number of further levels of nesting.
    room: usize,
    /// Number of items since the walk began, for the checks for signals.
    ticks: u32,
    /// Whether alternatives of a union are being tried; `tries` is the number of failures that remain.
    trying: bool,
    tries: u32,
}

impl<'a> Walk<'a> {
    /// Creates a walk that begins at nesting level `depth`.
    pub(super) fn new(sink: &'a mut Sink, memory: &'a mut Memory, depth: usize) -> Self {
        Self { sink, memory, room: DEEPEST.saturating_sub(depth), ticks: 0, trying: false, tries: MOST_TRIES }
    }

    /// Appends one object. After an error, the sink has the length it had before.
    pub(super) fn append(&mut self, at: Slot, object: &Bound<'_, PyAny>) -> Walked<()> {
        let before = self.sink.len_at(at);
        let done = self.value(at, object);
        if done.is_err() {
            self.sink.truncate_at(at, before);
        }
        done
    }

    /// Appends all items of an object. After an error, the items before the failed one remain.
    pub(super) fn extend(&mut self, at: Slot, object: &Bound<'_, PyAny>) -> Walked<()> {
        let before = self.sink.len_at(at);
        let done = match self.memory.kinds.of(object)? {
            Kind::List => self.list_items(at, object.cast::<PyList>().map_err(PyErr::from)?),
            Kind::Tuple => self.tuple_items(at, object.cast::<PyTuple>().map_err(PyErr::from)?),
            Kind::Array => match arrays::flat(object)? {
                Some(array) if !array.shape.is_empty() => Ok(arrays::items(self.sink, at, &array)?),
                _ => self.iterate(at, &object.try_iter()?),
            },
            _ => self.iterate(at, &object.try_iter()?),
        };
        if done.is_err() {
            // Complete items may include one of the failed object's.
            let complete = self.sink.len_at(at);
            self.sink.truncate_at(at, complete.max(before));
        }
        done
    }

    fn value(&mut self, at: Slot, object: &Bound<'_, PyAny>) -> Walked<()> {
        match self.memory.kinds.of(object)? {
            Kind::Float => self.sink.put_real(at, object.cast::<PyFloat>().map_err(PyErr::from)?.value())?,
            Kind::Int => self.integer(at, object)?,
            Kind::Str => {
                let text = object.cast::<PyString>().map_err(PyErr::from)?;
                self.sink.put_text(at, text.to_str()?.as_bytes(), false)?;
            }
            Kind::Bool => {
                self.sink.put_boolean(at, object.cast::<PyBool>().map_err(PyErr::from)?.is_true())?;
            }
            Kind::None => self.sink.put_null(at)?,
            Kind::Bytes => {
                self.sink.put_text(at, object.cast::<PyBytes>().map_err(PyErr::from)?.as_bytes(), true)?;
            }
            Kind::List => {
                let list = object.cast::<PyList>().map_err(PyErr::from)?;
                self.attempt(at, Shape::List, |this| {
                    let (open, content) = this.sink.open_list(at)?;
                    this.list_items(content, list)?;
                    Ok(this.sink.close_list(open)?)
                })?;
            }
            Kind::Dict => {
                let dict = object.cast::<PyDict>().map_err(PyErr::from)?;
                self.attempt(at, Shape::Record, |this| this.dict(at, dict))?;
            }
            Kind::Tuple => {
                let tuple = object.cast::<PyTuple>().map_err(PyErr::from)?;
                self.attempt(at, Shape::Tuple(tuple.len()), |this| this.tuple(at, tuple))?;
            }
            kind => self.rare(at, object, kind)?,
        }
        Ok(())
    }

    fn integer(&mut self, at: Slot, object: &Bound<'_, PyAny>) -> Walked<()> {
        match object.extract::<i64>() {
            Ok(x) => Ok(self.sink.put_integer(at, x)?),
            Err(_) => match object.extract::<u64>() {
                Ok(x) => Ok(self.sink.put_unsigned(at, x)?),
                Err(_) => Ok(self.sink.put_huge(at)?),
            },
        }
    }

    fn list_items(&mut self, at: Slot, list: &Bound<'_, PyList>) -> Walked<()> {
        let mut next = 0;
        // The length is checked each time, because Python code called meanwhile may change the list.
        while next < list.len() {
            let kinds = &self.memory.kinds;
            match self.sink.leaf_at(at) {
                Leaf::Real(mut items) => {
                    while let Some(item) = item_of(list, next).filter(|item| kinds.is_float(item)) {
                        items.push(item.cast::<PyFloat>().map_err(PyErr::from)?.value())?;
                        next += 1;
                    }
                }
                Leaf::Integer(mut items) => {
                    while let Some(item) = item_of(list, next).filter(|item| kinds.is_int(item)) {
                        let Ok(x) = item.extract::<i64>() else { break };
                        items.push(x)?;
                        next += 1;
                    }
                }
                _ => {}
            }
            let Some(item) = item_of(list, next) else { break };
            self.value(at, &item).map_err(|trouble| trouble.within(Step::Item(next)))?;
            next += 1;
        }
        Ok(())
    }

    fn tuple_items(&mut self, at: Slot, tuple: &Bound<'_, PyTuple>) -> Walked<()> {
        for (next, item) in tuple.iter().enumerate() {
            self.value(at, &item).map_err(|trouble| trouble.within(Step::Item(next)))?;
        }
        Ok(())
    }

    fn iterate(&mut self, at: Slot, iterator: &Bound<'_, PyIterator>) -> Walked<()> {
        for (next, item) in iterator.clone().enumerate() {
            let within = |trouble: Trouble| trouble.within(Step::Item(next));
            let item = item.map_err(|error| within(error.into()))?;
            self.value(at, &item).map_err(within)?;
            self.ticks = self.ticks.wrapping_add(1);
            if self.ticks.is_multiple_of(LOOK_UP) {
                // An infinite iterator may never run Python code.
                iterator.py().check_signals()?;
            }
        }
        Ok(())
    }

    fn tuple(&mut self, at: Slot, tuple: &Bound<'_, PyTuple>) -> Walked<()> {
        let open = self.sink.open_tuple(at, tuple.len())?;
        for (next, item) in tuple.iter().enumerate() {
            let slot = self.sink.slot_of(&open, next);
            self.value(slot, &item).map_err(|trouble| trouble.within(Step::Slot(next)))?;
        }
        Ok(self.sink.close_tuple(open)?)
    }

    fn dict(&mut self, at: Slot, dict: &Bound<'_, PyDict>) -> Walked<()> {
        let mut open = self.sink.open_record(at, None)?;
        let count = dict.len();
        let mut pairs = dict.iter();
        for _ in 0..count {
            // The iterator panics if the dict changes, so changes are detected here.
            if dict.len() != count {
                return Err(pyo3::exceptions::PyRuntimeError::new_err(
                    "dictionary changed size during iteration",
                )
                .into());
            }
            let Some((key, value)) = pairs.next() else { break };
            let slot = match self.sink.known_field(&mut open, key.as_ptr().addr()) {
                Some(slot) => slot,
                None => {
                    let Ok(name) = key.cast::<PyString>() else {
                        return Err(Fault::NoName(described(&key).into()).into());
                    };
                    let (slot, learnt) =
                        self.sink.field_of(&mut open, name.to_str()?, key.as_ptr().addr())?;
                    if learnt {
                        self.memory.names.push(name.clone().unbind());
                    }
                    slot
                }
            };
            self.value(slot, &value).map_err(|trouble| {
                let name = key.extract::<String>().unwrap_or_default();
                trouble.within(Step::Field(name.into()))
            })?;
        }
        Ok(self.sink.close_record(open)?)
    }

    #[cold]
    #[inline(never)]
    fn rare(&mut self, at: Slot, object: &Bound<'_, PyAny>, kind: Kind) -> Walked<()> {
        match kind {
            Kind::Complex => {
                let x = object.cast::<PyComplex>().map_err(PyErr::from)?;
                self.sink.put_complex(at, [x.real(), x.imag()])?;
            }
            Kind::NumpyBool => self.sink.put_boolean(at, object.is_truthy()?)?,
            Kind::NumpyInt => self.integer(at, object)?,
            Kind::NumpyFloat => self.sink.put_real(at, object.extract()?)?,
            Kind::Time if self.memory.refuses_times => {
                return Err(Fault::NoElement(described(object).into()).into());
            }
            Kind::NumpyTime | Kind::DateTime | Kind::Date | Kind::Time | Kind::Delta => {
                let (x, unit) = times::of(object, kind)?;
                self.sink.put_time(at, x, &unit)?;
            }
            Kind::Array => match arrays::flat(object)? {
                Some(array) if !array.shape.is_empty() => arrays::list(self.sink, at, &array)?,
                _ => self.other(at, object)?,
            },
            _ => self.other(at, object)?,
        }
        Ok(())
    }

    /// Appends an iterable, or an object with `to_list` or `tolist`.
    fn other(&mut self, at: Slot, object: &Bound<'_, PyAny>) -> Walked<()> {
        match object.try_iter() {
            Ok(iterator) => {
                // An iterator can be consumed only once, so it becomes a list if several types may have to be
                // tried.
                if self.sink.candidates(at, Shape::List) > 1 {
                    let list = object.py().get_type::<PyList>().call1((iterator,))?;
                    return self.value(at, &list);
                }
                return self.attempt(at, Shape::List, |this| {
                    let (open, content) = this.sink.open_list(at)?;
                    this.iterate(content, &iterator)?;
                    Ok(this.sink.close_list(open)?)
                });
            }
            Err(error) if error.is_instance_of::<PyTypeError>(object.py()) => {}
            Err(error) => return Err(error.into()),
        }
        for way in ["to_list", "tolist"] {
            if object.hasattr(way)? {
                let listed = object.call_method0(way)?;
                self.room = self.room.checked_sub(1).ok_or(Fault::Deep)?;
                let done = self.value(at, &listed);
                self.room += 1;
                return done;
            }
        }
        Err(Fault::NoElement(described(object).into()).into())
    }

    /// Enters a level of nesting and calls `fill`. If several types are possible, they are tried in order; if
    /// all fail, the first error is returned.
    #[inline]
    fn attempt(
        &mut self,
        at: Slot,
        shape: Shape,
        mut fill: impl FnMut(&mut Self) -> Walked<()>,
    ) -> Walked<()> {
        self.room = self.room.checked_sub(1).ok_or(Fault::Deep)?;
        let count = self.sink.candidates(at, shape);
        let done = if count > 1 { self.attempts(at, count, &mut fill) } else { fill(self) };
        self.room += 1;
        done
    }

    #[cold]
    fn attempts(
        &mut self,
        at: Slot,
        count: usize,
        fill: &mut dyn FnMut(&mut Self) -> Walked<()>,
    ) -> Walked<()> {
        let before = self.sink.len_at(at);
        let mut first = None;
        let outermost = !std::mem::replace(&mut self.trying, true);
        if outermost {
            self.tries = MOST_TRIES;
        }
        for nth in 0..count {
            self.sink.choose(nth);
            match fill(self) {
                Err(trouble @ Trouble::Refused(_)) => {
                    self.sink.truncate_at(at, before);
                    first.get_or_insert(trouble);
                    // Without a bound, nested unions would be tried in all combinations.
                    self.tries = self.tries.checked_sub(1).ok_or(Fault::Ambiguous)?;
                }
                done => {
                    self.trying = !outermost;
                    return done;
                }
            }
        }
        self.trying = !outermost;
        first.map_or(Ok(()), Err)
    }
}

/// Returns an item, if the list still has it.
#[inline]
fn item_of<'py>(list: &Bound<'py, PyList>, at: usize) -> Option<Bound<'py, PyAny>> {
    if at < list.len() { list.get_item(at).ok() } else { None }
}

/// Describes an object for an error: its truncated repr, and its type.
pub(crate) fn described(object: &Bound<'_, PyAny>) -> String {
    let text = object.repr().map_or_else(|_| "<no repr>".into(), |text| text.to_string_lossy().into_owned());
    let mut short: String = text.chars().take(LONGEST_REPR).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    let class = object.get_type();
    let name = class.name().map_or_else(|_| "?".into(), |name| name.to_string_lossy().into_owned());
    format!("{short} (type {name})")
}

const LONGEST_REPR: usize = 100;
const LOOK_UP: u32 = 1 << 12;
/// Maximum number of failures for one value of a union, as nested unions would take time exponential in their
/// depth.
const MOST_TRIES: u32 = 1 << 16;
