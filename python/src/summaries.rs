//! Comparisons and summaries, as JSON.

use crate::{file::File, read::listening, selection::Selection, table::Table};
use forthwith::{DiffOptions, PathFilter, Progress, StatsOptions, diff, plan::Result, stats};
use pyo3::prelude::*;
use serde::Serialize;
use std::{collections::HashSet, sync::Arc};

/// Options of a comparison of tables.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Comparison {
    rtol: f64,
    atol: f64,
    bitwise: bool,
    nan_equal: bool,
    same_content: bool,
    on: Vec<String>,
    columns: Option<HashSet<String>>,
    common: bool,
    brief: bool,
    most: usize,
    threads: Option<usize>,
}

impl Comparison {
    fn options(self) -> DiffOptions {
        let Self { rtol, atol, bitwise, nan_equal, same_content, on, columns, common, brief, most, threads } =
            self;
        let columns = columns.map(|names| -> PathFilter { Arc::new(move |path| names.contains(path)) });
        DiffOptions {
            rtol,
            atol,
            bitwise,
            nan_equal,
            same_content,
            on,
            columns,
            common,
            brief,
            most,
            threads,
        }
    }
}

/// Compares two tables; returns the differences as JSON.
#[pyfunction]
#[pyo3(signature = (left, right, comparison, progress=None))]
pub(crate) fn diff_tables(
    py: Python<'_>,
    left: &Table,
    right: &Table,
    comparison: Comparison,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let options = comparison.options();
    let _entered = right.handle.enter(py)?;
    let found = listening(py, &left.handle, progress.as_ref(), |tick| {
        diff(&left.table, &right.table, &options, &mut |done, total| tick(told(done, total)))
    })?;
    Ok(json(&found))
}

/// Compares two files; returns the differences as JSON.
#[pyfunction]
#[pyo3(signature = (left, right, comparison, progress=None))]
pub(crate) fn diff_files(
    py: Python<'_>,
    left: &File,
    right: &File,
    comparison: Comparison,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let options = comparison.options();
    let _entered = right.handle.enter(py)?;
    let found = listening(py, &left.handle, progress.as_ref(), |tick| {
        let progress: &mut forthwith::DiffProgress<'_> = &mut |done, total| tick(told(done, total));
        forthwith::diff_files(&left.handle.file, &right.handle.file, &options, progress)
    })?;
    Ok(json(&found))
}

/// Summarises the columns of a selection; returns the summaries as JSON.
#[pyfunction]
#[pyo3(signature = (selection, start, stop, quantiles, top, distinct, threads=None, progress=None))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub(crate) fn summaries(
    py: Python<'_>,
    selection: &Selection,
    start: u64,
    stop: u64,
    quantiles: Vec<f64>,
    top: usize,
    distinct: usize,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let options = StatsOptions { quantiles, top, distinct, threads };
    let found = listening(py, &selection.handle, progress.as_ref(), |tick| -> Result<_> {
        stats(&selection.selection, start..stop, &options, &mut |done, total| tick(told(done, total)))
    })?;
    Ok(json(&found))
}

const fn told(done: u64, total: u64) -> Progress {
    Progress { blocks: done, all_blocks: total, bytes: done, all_bytes: total }
}

/// Serialises a value. Values without maps of non-text keys have no errors.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
