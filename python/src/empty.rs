//! Cached layouts of empty arrays.
//!
//! A pointer may refer to any class of a file, whose members refer to others: the type of such a column has
//! thousands of nodes, most of which have no rows. Awkward Array takes ten microseconds to create a node, and
//! nodes without rows are equal for all arrays of a type.

use crate::layout;
use forthwith::columns::Form;
use pyo3::{
    prelude::*,
    sync::PyOnceLock,
    types::{PyBytes, PyDict},
};
use std::hash::{BuildHasher, RandomState};

/// Maximum number of cached layouts; beyond it, the cache is cleared.
const MOST: usize = 2048;

/// Minimum number of nodes for which caching is faster.
const WORTH: usize = 8;

/// The cache of a process.
struct Known {
    layouts: Py<PyDict>,
    /// Two hashers, because keys hold the hashes of Forms and not the Forms.
    hashers: [RandomState; 2],
}

/// Returns the layout without rows, from the cache; `None` if the Form has too few nodes to be cached, or
/// categories.
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
    // Layouts with categories have their texts even without rows.
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
