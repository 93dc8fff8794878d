//! Columns of a known type, all at once.

use super::{
    typed::Layout,
    walk::{Memory, Walk},
};
use forthwith_builders::{ArrayBuilder, Form, FormError, Sink, TypedColumns};
use pyo3::{exceptions::PyValueError, prelude::*};

/// Fills columns of a type with the items of an object, or with the object alone.
///
/// The type is written as Awkward Array prints it; a Form comes as JSON.
#[pyfunction]
#[pyo3(signature = (object, r#type=None, form=None, single=false))]
pub(crate) fn from_iter(
    object: &Bound<'_, PyAny>,
    r#type: Option<&str>,
    form: Option<&str>,
    single: bool,
) -> PyResult<Layout> {
    let py = object.py();
    let form = match (r#type, form) {
        (Some(text), _) => Form::from_type(text),
        (None, json) => Form::from_json(json.unwrap_or_default()),
    };
    let refused = |error: FormError| PyValueError::new_err(error.to_string());
    let mut columns = form.and_then(|form| TypedColumns::new(&form)).map_err(refused)?;
    let mut memory = Memory::new(py);
    let mut walk = Walk::new(columns.sink(), &mut memory, 0);
    let done = if single { walk.append(Sink::ROOT, object) } else { walk.extend(Sink::ROOT, object) };
    done.map_err(|trouble| trouble.into_exception(py))?;
    Ok(Layout(columns.finish()))
}

/// Columns of a type that is found out, of the items of an object that are to be written: text and byte strings are never made of each other,
/// and times of day are refused.
#[pyfunction]
pub(crate) fn found_rows(object: &Bound<'_, PyAny>) -> PyResult<Layout> {
    let py = object.py();
    let mut builder = ArrayBuilder::new().with_texts_apart();
    let done = Walk::new(builder.sink(), &mut Memory::refusing_times(py), 0).extend(Sink::ROOT, object);
    done.map_err(|trouble| trouble.into_exception(py))?;
    Ok(Layout(builder.finish()))
}
