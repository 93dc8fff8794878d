//! Encoding of rows of Python values as Avro datums.
//!
//! Conversion to columns would need one type for each column before the schema is applied. Instead, each
//! value is encoded by its type in the schema, which also selects the branches of unions: `nodes` prepares
//! the types of a schema, `walk` encodes lists and dicts, `scalars` single values, `unions` selects branches,
//! `meant` encodes logical types, and `refused` has the errors.

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

/// Encoder of rows of one schema.
pub(super) struct Rows {
    nodes: Nodes,
    head: Vec<u8>,
}

impl Rows {
    /// Creates an encoder. With `strict`, rows must have all fields.
    pub(super) fn new(py: Python<'_>, schema: &Schema, strict: bool) -> Self {
        Self { nodes: Nodes::of(py, schema, strict), head: avro::message_head(schema) }
    }

    /// Encodes the items of a list or tuple as datums, or as messages; returns their bytes, and the end of
    /// each.
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
            // The length is checked each time, because Python code called meanwhile may change the list.
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

/// Number of rows between two checks for signals.
const LOOK_UP: usize = 1 << 12;
