//! What by nature only one format has, a room for each: its own words for Python, and its own view of a file or a table. Nothing else of
//! the binding names a format.

mod avro;
mod ntuple_options;
mod own;
mod parquet;
mod root;
mod root_given;
mod root_merge;
mod root_records;
mod root_writer;
mod tree_options;

pub(crate) use own::raised;

use forthwith::Object;
use pyo3::{exceptions::PyNotImplementedError, prelude::*};

/// Adds the classes and functions of all formats to the module.
pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    avro::add_to(module)?;
    own::add_to(module)?;
    parquet::add_to(module)?;
    root::add_to(module)?;
    root_merge::add_to(module)?;
    root_records::add_to(module)?;
    root_writer::add_to(module)
}

/// An object of a file that is no table, as Python sees it.
pub(crate) fn object(py: Python<'_>, object: Object) -> PyResult<Bound<'_, PyAny>> {
    root::object(py, object)
        .map_err(|object| PyNotImplementedError::new_err(format!("an object of class {}", object.class())))?
}
