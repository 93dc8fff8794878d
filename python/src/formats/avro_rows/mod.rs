//! Rows of Python values as datums of a schema of Avro.
//!
//! Columns of such rows would have to be of one type each before the schema is looked at. So the schema says value by value what is
//! written, and which branch of a union a value is of: `nodes` are what a schema's types are for that, `walk` goes through lists and
//! dicts, `unions` chooses branches, `meant` has what logical types mean, `refused` says why a value is none of its type.

mod meant;
mod nodes;
mod refused;
mod scalars;
mod unions;
mod walk;

use forthwith::avro::{self, Schema};
use nodes::Nodes;
use pyo3::{
    prelude::*,
    types::{PyList, PyTuple},
};
use walk::Walk;

/// What rows of one schema are written by.
pub(super) struct Rows {
    nodes: Nodes,
    head: Vec<u8>,
}

impl Rows {
    /// With `strict`, no field of a row may be missing.
    pub(super) fn new(py: Python<'_>, schema: &Schema, strict: bool) -> Self {
        Self { nodes: Nodes::of(py, schema, strict), head: avro::message_head(schema) }
    }

    /// All items of a list or tuple as datums, or as messages: their bytes, and where each ends.
    pub(super) fn encode(&self, rows: &Bound<'_, PyAny>, message: bool) -> PyResult<(Vec<u8>, Vec<usize>)> {
        let py = rows.py();
        let mut walk = Walk::new(py, &self.nodes);
        let (mut bytes, mut ends) = (Vec::new(), Vec::new());
        let head = if message { &self.head[..] } else { &[] };
        let mut put = |row: &Bound<'_, PyAny>| {
            bytes.extend_from_slice(head);
            walk.row(row, &mut bytes)
                .map_err(|trouble| trouble.into_exception(py, &self.nodes, ends.len()))?;
            ends.push(bytes.len());
            if ends.len().is_multiple_of(LOOK_UP) { py.check_signals() } else { Ok(()) }
        };
        if let Ok(list) = rows.cast::<PyList>() {
            // Asked for in each turn: Python code that is called on the way may change it.
            let mut next = 0;
            while next < list.len() {
                put(&list.get_item(next)?)?;
                next += 1;
            }
        } else {
            for row in rows.cast::<PyTuple>()?.iter() {
                put(&row)?;
            }
        }
        Ok((bytes, ends))
    }
}

/// Rows between two looks at Python's signals.
const LOOK_UP: usize = 1 << 12;
