//! Columns of a known type from one object.

use super::{
    typed::Layout,
    walk::{Memory, Walk},
};
use forthwith_builders::{ArrayBuilder, Form, FormError, Sink, TypedColumns};
use pyo3::{exceptions::PyValueError, prelude::*};

/// Builds an array of a type from the items of an object, or, with `single`, from the object itself.
///
/// The type is in Awkward Array's notation; a Form is JSON.
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

/// Builds columns for a writer from the items of an object, and discovers their type. Text and byte strings
/// are never converted to each other, and times of day are refused.
#[pyfunction]
pub(crate) fn found_rows(object: &Bound<'_, PyAny>) -> PyResult<Layout> {
    let py = object.py();
    let mut builder = ArrayBuilder::new().with_texts_apart();
    let done = Walk::new(builder.sink(), &mut Memory::refusing_times(py), 0).extend(Sink::ROOT, object);
    done.map_err(|trouble| trouble.into_exception(py))?;
    Ok(Layout(builder.finish()))
}
