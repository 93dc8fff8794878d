//! Functions and classes for single formats. No other module of the binding names a format.

mod avro;
mod avro_rows;
mod histogram;
mod ntuple_options;
mod own;
mod parquet;
mod protobuf;
mod root;
mod root_given;
mod root_merge;
mod root_records;
mod root_writer;
mod tree_options;

pub(crate) use own::raised;

use forthwith::Object;
use pyo3::{exceptions::PyNotImplementedError, prelude::*};

/// A sentinel for missing values.
#[derive(FromPyObject)]
enum GivenNumber {
    Whole(i128),
    Real(f64),
}

impl From<GivenNumber> for forthwith::plan::Number {
    fn from(number: GivenNumber) -> Self {
        match number {
            GivenNumber::Whole(number) => Self::Whole(number),
            GivenNumber::Real(number) => Self::Real(number),
        }
    }
}

/// Adds the classes and functions of all formats to the module.
pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<avro::AvroWriter>()?;
    module.add_class::<own::Stored>()?;
    module.add_class::<root::Objects>()?;
    module.add_class::<root_writer::RootWriter>()?;
    let functions = [
        wrap_pyfunction!(avro::avro_apart, module)?,
        wrap_pyfunction!(avro::avro_canonical, module)?,
        wrap_pyfunction!(avro::avro_damage, module)?,
        wrap_pyfunction!(avro::avro_encode, module)?,
        wrap_pyfunction!(avro::avro_encode_rows, module)?,
        wrap_pyfunction!(avro::avro_is_alike, module)?,
        wrap_pyfunction!(avro::avro_joined, module)?,
        wrap_pyfunction!(avro::avro_messages, module)?,
        wrap_pyfunction!(avro::avro_schema, module)?,
        wrap_pyfunction!(own::register_format, module)?,
        wrap_pyfunction!(own::registered_endings, module)?,
        wrap_pyfunction!(own::registered_formats, module)?,
        wrap_pyfunction!(own::unregister_format, module)?,
        wrap_pyfunction!(parquet::parquet_chunks, module)?,
        wrap_pyfunction!(parquet::parquet_row_groups, module)?,
        wrap_pyfunction!(protobuf::protobuf_column, module)?,
        wrap_pyfunction!(protobuf::protobuf_messages, module)?,
        wrap_pyfunction!(protobuf::protobuf_schema, module)?,
        wrap_pyfunction!(histogram::efficiency_errors, module)?,
        wrap_pyfunction!(histogram::efficiency_values, module)?,
        wrap_pyfunction!(histogram::emptied_array, module)?,
        wrap_pyfunction!(histogram::emptied_axes, module)?,
        wrap_pyfunction!(histogram::emptied_sums, module)?,
        wrap_pyfunction!(root::ntuple_descriptor, module)?,
        wrap_pyfunction!(root::ntuple_envelopes, module)?,
        wrap_pyfunction!(root::register_class, module)?,
        wrap_pyfunction!(root_merge::root_merge, module)?,
        wrap_pyfunction!(root_records::root_directory, module)?,
        wrap_pyfunction!(root_records::root_key, module)?,
        wrap_pyfunction!(root_records::root_streamers, module)?,
    ];
    functions.into_iter().try_for_each(|function| module.add_function(function))
}

/// Converts an object of a file that is not a table to Python.
pub(crate) fn object(py: Python<'_>, object: Object) -> PyResult<Bound<'_, PyAny>> {
    root::object(py, object)
        .map_err(|object| PyNotImplementedError::new_err(format!("an object of class {}", object.class())))?
}
