//! Encoding of lists, dicts, and objects that convert to them.
//!
//! Encoding of an item may run Python code that changes its container, so lengths are not relied on.

use super::{
    nodes::{Absent, Member, Nodes, Of},
    refused::{DEEPEST, Ended, Step, Trouble, Walked, Why},
    unions::HINT,
};
use crate::builders::{Kind, Kinds};
use forthwith::avro::put_long;
use pyo3::{
    prelude::*,
    sync::PyOnceLock,
    types::{PyByteArray, PyBytes, PyDict, PyFloat, PyList, PyMemoryView, PyString, PyTuple, PyType},
};

/// Penalty of integers as floating-point numbers.
pub(super) const NEAR: u32 = 8;
/// Penalty of a tuple as a record, and of a list of pairs as a map.
const ALIKE: u32 = 5;

/// Encoder of rows. Its methods return the penalty of a value for its type; 0 means an exact match.
pub(super) struct Walk<'n, 'py> {
    pub(super) py: Python<'py>,
    pub(super) nodes: &'n Nodes,
    pub(super) kinds: Kinds,
    /// Number of further levels of nesting.
    room: usize,
    /// Number of values encoded for this row, and of those for rejected branches.
    pub(super) steps: usize,
    pub(super) in_vain: usize,
    /// Number of enclosing unions.
    pub(super) unions: usize,
    /// Iterators in this row that can be consumed only once, with their items, as a value may be tried for
    /// several branches.
    gone_through: Vec<(Py<PyAny>, Py<PyAny>)>,
}

impl<'n, 'py> Walk<'n, 'py> {
    pub(super) fn new(py: Python<'py>, nodes: &'n Nodes) -> Self {
        Self {
            py,
            nodes,
            kinds: Kinds::new(py),
            room: DEEPEST,
            steps: 0,
            in_vain: 0,
            unions: 0,
            gone_through: Vec::new(),
        }
    }

    pub(super) fn row(&mut self, row: &Bound<'_, PyAny>, out: &mut Vec<u8>) -> Walked<()> {
        (self.room, self.steps, self.in_vain, self.unions) = (DEEPEST, 0, 0, 0);
        self.gone_through.clear();
        self.put(0, row, out).map(|_| ())
    }

    pub(super) fn down(&mut self) -> Walked<()> {
        self.room = self.room.checked_sub(1).ok_or_else(|| Trouble::ended(Ended::Deep))?;
        Ok(())
    }

    pub(super) fn up(&mut self) {
        self.room += 1;
    }

    pub(super) fn put(&mut self, at: usize, object: &Bound<'_, PyAny>, out: &mut Vec<u8>) -> Walked<u32> {
        self.down()?;
        self.steps += 1;
        let done = self.value(at, object, out);
        self.up();
        done
    }

    fn value(&mut self, at: usize, object: &Bound<'_, PyAny>, out: &mut Vec<u8>) -> Walked<u32> {
        let nodes = self.nodes;
        let node = nodes.get(at);
        if let Of::Union { branches, null } = &node.of {
            return self.union(at, branches, *null, object, out);
        }
        let kind = self.kinds.of(object)?;
        if let Some(logical) = node.logical
            && let Some(score) = self.meant(at, node, logical, object, kind, out)?
        {
            return Ok(score);
        }
        match (&node.of, kind) {
            (Of::Record(members), Kind::Dict) => {
                return self.record(at, members, object.cast::<PyDict>()?, out);
            }
            (Of::Record(members), Kind::Tuple) => {
                let tuple = object.cast::<PyTuple>()?;
                // The values of a named tuple are matched by name.
                if !object.is_exact_instance_of::<PyTuple>()
                    && let Some(named) = object.getattr_opt("_asdict")?
                {
                    return self.record(at, members, named.call0()?.cast::<PyDict>()?, out);
                }
                if tuple.len() == members.len() {
                    return self.places(at, members, tuple, out);
                }
            }
            (Of::Array(item), Kind::List) => {
                let list = object.cast::<PyList>()?;
                return self.items(*item, list.len(), |next| list.get_item(next), out);
            }
            (Of::Array(item), Kind::Tuple) => {
                let tuple = object.cast::<PyTuple>()?;
                return self.items(*item, tuple.len(), |next| tuple.get_item(next), out);
            }
            (Of::Map(value), Kind::Dict) => {
                let pairs = object.cast::<PyDict>()?.items();
                return self.pairs(at, *value, &pairs, 0, out);
            }
            (Of::Map(value), Kind::List) => {
                return self.pairs(at, *value, object.cast::<PyList>()?, ALIKE, out);
            }
            _ => {}
        }
        match self.plain(object, kind)? {
            Some(plain) => self.put(at, &plain, out),
            None => self.scalar(at, node, object, kind, out),
        }
    }

    fn record(
        &mut self,
        at: usize,
        members: &[Member],
        dict: &Bound<'_, PyDict>,
        out: &mut Vec<u8>,
    ) -> Walked<u32> {
        let (mut found, mut score) = (0, 0u32);
        for (number, member) in members.iter().enumerate() {
            if let Some(value) = dict.get_item(member.key.bind(self.py))? {
                found += 1;
                let put = self.put(member.node, &value, out);
                score = score.saturating_add(put.map_err(|trouble| trouble.within(Step::Field(at, number)))?);
                continue;
            }
            match &member.absent {
                Absent::Bytes(bytes) => out.extend_from_slice(bytes),
                Absent::Refused => return Err(Trouble::refused(at, Why::Missing(number))),
                Absent::Wrong(why) => return Err(Trouble::refused(at, Why::Other(why.clone()))),
            }
            // Records with all their fields are preferred.
            score = score.saturating_add(1);
        }
        if dict.len() > found {
            self.no_more(at, members, dict)?;
        }
        Ok(score)
    }

    /// Returns an error for a key that is not a field, except a hint that names this record.
    fn no_more(&self, at: usize, members: &[Member], dict: &Bound<'_, PyDict>) -> Walked<()> {
        let node = self.nodes.get(at);
        for key in dict.keys() {
            let name = key.cast::<PyString>().ok().and_then(|name| name.to_str().ok());
            if name.is_some_and(|name| members.iter().any(|member| member.name == name)) {
                continue;
            }
            if name == Some(HINT)
                && let Some(hint) = dict.get_item(&key)?
                && let Ok(hint) = hint.cast::<PyString>()
                && hint.to_str().is_ok_and(|hint| hint == node.full || hint == node.short)
            {
                continue;
            }
            return Err(Trouble::refused(at, Why::Extra(key.unbind())));
        }
        Ok(())
    }

    fn places(
        &mut self,
        at: usize,
        members: &[Member],
        tuple: &Bound<'_, PyTuple>,
        out: &mut Vec<u8>,
    ) -> Walked<u32> {
        let mut score = ALIKE;
        for ((number, member), value) in members.iter().enumerate().zip(tuple.iter()) {
            let put = self.put(member.node, &value, out);
            score = score.saturating_add(put.map_err(|trouble| trouble.within(Step::Field(at, number)))?);
        }
        Ok(score)
    }

    fn items<'a>(
        &mut self,
        node: usize,
        count: usize,
        item: impl Fn(usize) -> PyResult<Bound<'a, PyAny>>,
        out: &mut Vec<u8>,
    ) -> Walked<u32> {
        let mut score = 0u32;
        if count > 0 {
            put_long(count as i64, out);
        }
        for next in 0..count {
            // If the list becomes shorter, this raises `IndexError`; if it becomes longer, further items are
            // ignored.
            let put = self.put(node, &item(next)?, out);
            score = score.saturating_add(put.map_err(|trouble| trouble.within(Step::Item(next)))?);
        }
        out.push(0);
        Ok(score)
    }

    fn pairs(
        &mut self,
        at: usize,
        node: usize,
        pairs: &Bound<'_, PyList>,
        first: u32,
        out: &mut Vec<u8>,
    ) -> Walked<u32> {
        let (mut score, count) = (first, pairs.len());
        if count > 0 {
            put_long(count as i64, out);
        }
        for next in 0..count {
            let pair = pairs.get_item(next)?;
            let Ok((key, value)) = pair.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>() else {
                return Err(Trouble::refused(at, Why::Type(pair.unbind())).within(Step::Item(next)));
            };
            let name = key.cast::<PyString>().ok().and_then(|key| key.to_str().ok());
            let Some(name) = name else { return Err(Trouble::refused(at, Why::Key(key.unbind()))) };
            put_long(name.len() as i64, out);
            out.extend_from_slice(name.as_bytes());
            let put = self.put(node, &value, out);
            score = score.saturating_add(put.map_err(|trouble| trouble.within(Step::Key(name.to_owned())))?);
        }
        out.push(0);
        Ok(score)
    }

    /// Converts an object of another library to Python's own types: scalars and arrays of NumPy, mappings,
    /// byte buffers, iterables. Returns `None` for objects that need no conversion or have none.
    pub(super) fn plain<'o>(
        &mut self,
        object: &Bound<'o, PyAny>,
        kind: Kind,
    ) -> PyResult<Option<Bound<'o, PyAny>>> {
        let py = object.py();
        let listed = |from: &Bound<'o, PyAny>| py.get_type::<PyList>().call1((from,));
        Ok(match kind {
            Kind::NumpyBool | Kind::NumpyInt => Some(object.call_method0("item")?),
            // `item` of an extended-precision number returns the number itself.
            Kind::NumpyFloat => Some(py.get_type::<PyFloat>().call1((object,))?),
            // `tolist` would convert dates to integers without a unit.
            Kind::Array if object.getattr("ndim")?.extract::<usize>()? > 0 => Some(listed(object)?),
            Kind::Array => Some(object.get_item(PyTuple::empty(py))?),
            Kind::Other => {
                if object.is_instance_of::<PyByteArray>() || object.is_instance_of::<PyMemoryView>() {
                    return py.get_type::<PyBytes>().call1((object,)).map(Some);
                }
                if object.is_instance(mapping(py)?)? {
                    return py.get_type::<PyDict>().call1((object,)).map(Some);
                }
                let names =
                    object.getattr_opt("dtype")?.map(|dtype| dtype.getattr_opt("names")).transpose()?;
                if let Some(names) = names.flatten().filter(|names| !names.is_none()) {
                    let dict = PyDict::new(py);
                    for name in names.try_iter()? {
                        let name = name?;
                        dict.set_item(&name, object.get_item(&name)?)?;
                    }
                    return Ok(Some(dict.into_any()));
                }
                for way in ["to_list", "tolist", "as_py"] {
                    if let Some(call) = object.getattr_opt(way)? {
                        return call.call0().map(Some);
                    }
                }
                if object.getattr_opt("__iter__")?.is_none() {
                    return Ok(None);
                }
                if object.getattr_opt("__next__")?.is_none() {
                    return listed(object).map(Some);
                }
                let known = self.gone_through.iter().find(|(known, _)| known.is(object));
                if let Some((_, items)) = known {
                    return Ok(Some(items.bind(py).clone()));
                }
                let items = listed(object)?;
                self.gone_through.push((object.clone().unbind(), items.clone().unbind()));
                Some(items)
            }
            _ => None,
        })
    }
}

/// Returns `collections.abc.Mapping`.
fn mapping(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    CLASS.import(py, "collections.abc", "Mapping")
}
