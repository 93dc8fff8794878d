//! Conversion of dicts to objects that are written to ROOT files. `forthwith._writable` creates these dicts
//! from Python objects.

use crate::errors;
use forthwith::root::write::{Given, GivenObject};
use pyo3::{
    prelude::*,
    types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple},
};

/// Converts a dict to an object. Objects are numbered in the order in which they are found.
pub(super) fn given_object(members: &Bound<'_, PyDict>, depth: u32, met: &mut u32) -> PyResult<GivenObject> {
    let mut object = GivenObject { number: *met, ..GivenObject::default() };
    *met += 1;
    for (name, value) in members.iter() {
        let name: String = name.extract()?;
        if name == "_typename" {
            object.class = value.extract()?;
        } else {
            object.members.insert(name, given(&value, depth + 1, met)?);
        }
    }
    Ok(object)
}

/// Converts a Python value. Arrays of numbers are tuples of type and bytes, which are 64-bit numbers in
/// native byte order.
fn given(value: &Bound<'_, PyAny>, depth: u32, met: &mut u32) -> PyResult<Given> {
    let py = value.py();
    if depth > DEEPEST {
        return Err(errors::request(py, format!("an object with others in it, more than {DEEPEST} deep")));
    }
    Ok(if value.is_none() {
        Given::Null
    } else if let Ok(value) = value.cast::<PyBool>() {
        Given::Int(value.is_true().into())
    } else if value.is_instance_of::<PyInt>() {
        match value.extract::<i64>() {
            Ok(value) => Given::Int(value),
            Err(_) => Given::Unsigned(value.extract()?),
        }
    } else if value.is_instance_of::<PyFloat>() {
        Given::Float(value.extract()?)
    } else if let Ok(value) = value.cast::<PyString>() {
        Given::Text(value.to_str()?.to_owned())
    } else if let Ok(value) = value.cast::<PyTuple>() {
        let (kind, bytes): (String, Bound<'_, PyBytes>) = value.extract()?;
        let numbers = bytes.as_bytes().as_chunks::<8>().0.iter();
        match &*kind {
            "i8" => Given::Integers(numbers.map(|number| i64::from_ne_bytes(*number)).collect()),
            _ => Given::Numbers(numbers.map(|number| f64::from_ne_bytes(*number)).collect()),
        }
    } else if let Ok(value) = value.cast::<PyDict>() {
        if value.contains("_typename")? {
            Given::Object(Box::new(given_object(value, depth, met)?))
        } else if let (1, Some(number)) = (value.len(), value.get_item("$ref")?) {
            Given::Again(number.extract()?)
        } else {
            let entries =
                value.iter().map(|(name, value)| Ok((name.extract()?, given(&value, depth + 1, met)?)));
            Given::Named(entries.collect::<PyResult<_>>()?)
        }
    } else if let Ok(items) = value.cast::<PyList>() {
        Given::List(items.iter().map(|item| given(&item, depth + 1, met)).collect::<PyResult<_>>()?)
    } else {
        let class = value.get_type().name()?;
        return Err(errors::request(py, format!("a value of type {class} as a member of an object")));
    })
}

/// Maximum depth of nested objects and lists.
const DEEPEST: u32 = 100;
