//! Histograms with buffered entries, and efficiencies: computations of `forthwith::hist` for objects of a
//! file.
//!
//! Each function takes the number of an object, and the file and path for its errors. Arrays are bytes in
//! native byte order.

use super::root::Objects;
use crate::errors;
use forthwith::{
    hist::{Efficiency, Histogram},
    plan::Error,
    root,
};
use pyo3::{
    prelude::*,
    types::{PyBytes, PyDict},
};

/// Number of bins, lower and upper edge of an axis whose range was computed or extended.
type FoundRange = (i64, f64, f64);

/// Returns the axes of a histogram after its buffered entries are filled; `None` for unchanged axes.
#[pyfunction]
pub(super) fn emptied_axes(
    py: Python<'_>,
    objects: &Objects,
    number: u32,
    file: &str,
    path: &str,
) -> PyResult<Vec<Option<FoundRange>>> {
    let found = || {
        let histogram = histogram(objects, number)?;
        let axes = histogram.emptied_axes().map_err(root::histogram_error)?;
        let both = axes.into_iter().zip(histogram.own_axes());
        Ok(both
            .map(|(new, old)| {
                let is_found = new.low != old.low || new.high != old.high || new.bins != old.bins;
                (is_found || new.edges.len() != old.edges.len()).then_some((new.bins, new.low, new.high))
            })
            .collect())
    };
    found().map_err(|error: Error| errors::exception(py, &error.in_file(file).in_object(path)))
}

/// Returns data type and numbers of an array after buffered entries are filled; `None` if the histogram does
/// not store it.
#[pyfunction]
pub(super) fn emptied_array<'py>(
    py: Python<'py>,
    objects: &Objects,
    number: u32,
    name: &str,
    file: &str,
    path: &str,
) -> PyResult<Option<(&'static str, Bound<'py, PyBytes>)>> {
    let histogram = emptied(py, objects, number, file, path)?;
    let array = if name == "contents" { histogram.contents() } else { histogram.array(name) };
    let big_endian = cfg!(target_endian = "big");
    let array = array.filter(|array| !array.is_empty());
    Ok(array.map(|array| (array.dtype().name(), PyBytes::new(py, &array.bytes(big_endian)))))
}

/// Returns the sums over all entries after buffered entries are filled, by the names of their members.
#[pyfunction]
pub(super) fn emptied_sums<'py>(
    py: Python<'py>,
    objects: &Objects,
    number: u32,
    file: &str,
    path: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let sums = PyDict::new(py);
    for (name, value) in &emptied(py, objects, number, file, path)?.scalars {
        sums.set_item(*name, value)?;
    }
    Ok(sums)
}

/// Returns the efficiency of each bin, including underflow and overflow.
#[pyfunction]
pub(super) fn efficiency_values<'py>(
    py: Python<'py>,
    objects: &Objects,
    number: u32,
    file: &str,
    path: &str,
) -> PyResult<Bound<'py, PyBytes>> {
    let efficiency = efficiency(py, objects, number, file, path)?;
    Ok(floats(py, efficiency.values().into_iter()))
}

/// Returns the distances from the efficiency of each bin to the lower and upper end of its confidence
/// interval. Without a level, that of the object is used.
#[pyfunction]
pub(super) fn efficiency_errors<'py>(
    py: Python<'py>,
    objects: &Objects,
    number: u32,
    level: Option<f64>,
    file: &str,
    path: &str,
) -> PyResult<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
    let efficiency = efficiency(py, objects, number, file, path)?;
    let level = level.unwrap_or(efficiency.level);
    if !(level > 0.0 && level < 1.0) {
        let what = format!("a confidence level must be between 0 and 1, not {level}");
        return Err(errors::request(py, what));
    }
    let errors = efficiency.errors(level, || py.check_signals())?;
    let below = errors.iter().map(|(below, _)| *below);
    Ok((floats(py, below), floats(py, errors.iter().map(|(_, above)| *above))))
}

fn histogram(objects: &Objects, number: u32) -> Result<Histogram, Error> {
    let object = objects.0.object(number);
    root::histogram(object.ok_or_else(|| Error::fault(format!("no object {number}")))?)
}

fn emptied(py: Python<'_>, objects: &Objects, number: u32, file: &str, path: &str) -> PyResult<Histogram> {
    let emptied = histogram(objects, number).and_then(|found| found.emptied().map_err(root::histogram_error));
    emptied.map_err(|error| errors::exception(py, &error.in_file(file).in_object(path)))
}

fn efficiency(
    py: Python<'_>,
    objects: &Objects,
    number: u32,
    file: &str,
    path: &str,
) -> PyResult<Efficiency> {
    root::efficiency(objects.at(number)?)
        .map_err(|error| errors::exception(py, &error.in_file(file).in_object(path)))
}

fn floats<'py>(py: Python<'py>, numbers: impl Iterator<Item = f64>) -> Bound<'py, PyBytes> {
    PyBytes::new(py, &numbers.flat_map(f64::to_ne_bytes).collect::<Vec<u8>>())
}
