//! Layouts without rows, made once.
//!
//! A pointer may lead to any of the classes of a file, and their members to others: the type of such a column has thousands of nodes, of
//! which most never have a row. Awkward Array takes ten microseconds to make a node; one without rows is the same whatever was read.

use crate::layout;
use forthwith::columns::Form;
use pyo3::{
    prelude::*,
    sync::PyOnceLock,
    types::{PyBytes, PyDict},
};
use std::hash::{BuildHasher, RandomState};

/// Layouts kept; where there are more, all are forgotten.
const MOST: usize = 2048;

/// With fewer nodes there is nothing to gain.
const WORTH: usize = 8;

/// Facts about a process.
struct Known {
    layouts: Py<PyDict>,
    /// Two, because the hashes stand for the Forms.
    hashers: [RandomState; 2],
}

/// The layout of no rows, if the Form has enough nodes that it is worth keeping it.
pub(crate) fn layout<'py>(
    py: Python<'py>,
    form: &Form,
    logical: Option<&str>,
    typed: bool,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    static KNOWN: PyOnceLock<Known> = PyOnceLock::new();
    if form.nodes().nth(WORTH - 1).is_none() {
        return Ok(None);
    }
    let known = KNOWN.get_or_init(py, || Known {
        layouts: PyDict::new(py).unbind(),
        hashers: [RandomState::new(), RandomState::new()],
    });
    let key = known.hashers.each_ref().map(|hasher| hasher.hash_one((form, logical, typed)).to_ne_bytes());
    let (key, layouts) = (PyBytes::new(py, &key.concat()), known.layouts.bind(py));
    if let Some(found) = layouts.get_item(&key)? {
        return Ok(Some(found));
    }
    // The texts of categories are there without rows, too.
    if form.nodes().any(|node| matches!(node, Form::Categorical { .. })) {
        return Ok(None);
    }
    let made = layout::without_rows(py, form, logical, typed)?;
    if layouts.len() >= MOST {
        layouts.clear();
    }
    layouts.set_item(key, &made)?;
    Ok(Some(made))
}
