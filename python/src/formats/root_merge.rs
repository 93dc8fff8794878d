//! Merging and copying of ROOT files.

use crate::{errors, handle::error_of};
use forthwith::{
    Engine, EntryBounds, File, Merge, OpenOptions, Options, PathFilter, files, merge,
    plan::{ErrorKind, Result},
    root::write::Compression,
};
use forthwith_platform::Instant;
use pyo3::prelude::*;
use std::{collections::HashSet, ops::Range, path::PathBuf, sync::Arc, time::Duration};

/// Interval of progress reports and checks for signals.
const PAUSE: Duration = Duration::from_millis(50);

/// Merges the objects of several files into one file. `objects` and `branches` are the names of those to
/// write; `None` means all.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "the keywords of the function in Python")]
#[pyo3(signature = (inputs, to, setting, common, objects, branches, entries, exist, mask, threads, progress, store))]
pub(super) fn root_merge(
    py: Python<'_>,
    inputs: Vec<PathBuf>,
    to: PathBuf,
    setting: Option<i32>,
    common: bool,
    objects: Option<HashSet<String>>,
    branches: Option<HashSet<String>>,
    entries: Option<Vec<(u64, u64)>>,
    exist: bool,
    mask: Option<u64>,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
    store: Option<Vec<(String, String)>>,
) -> PyResult<Vec<(String, u64)>> {
    let mut raised = None;
    let done = py.detach(|| {
        let filter = |names: Option<HashSet<String>>| {
            names.map(|names| -> PathFilter { Arc::new(move |path| names.contains(path)) })
        };
        let compression = setting.map(Compression::from_setting).transpose()?;
        let job = Merge {
            codec: compression.map(|compression| compression.name().to_owned()),
            level: compression.and_then(Compression::level),
            common,
            objects: filter(objects),
            columns: filter(branches),
            entries: entries
                .map(|ranges| ranges.into_iter().map(|(begin, end)| begin..end).collect::<Vec<Range<_>>>()),
            bounds: match mask {
                Some(length) => EntryBounds::Mask(length),
                None if exist => EntryBounds::Existing,
                None => EntryBounds::Clamped,
            },
            tables: None,
            threads,
        };
        let store = crate::files::options(&store.unwrap_or_default());
        let open = |uri: &PathBuf| {
            let source = files::source_with(uri, &store)?;
            File::from_source_with(source, Arc::new(Engine::new(Options::default())), &OpenOptions::new())
        };
        let inputs = inputs.iter().map(open).collect::<Result<Vec<_>>>()?;
        let sink = files::sink(&to, &store)?;
        let mut last = Instant::now();
        let merged = merge(&inputs, sink, &job, &mut |done, total| {
            if last.elapsed() < PAUSE {
                return true;
            }
            last = Instant::now();
            Python::attach(|py| {
                let told = py.check_signals().and_then(|()| match &progress {
                    Some(progress) => progress.call1(py, (done, total)).map(drop),
                    None => Ok(()),
                });
                let goes_on = told.is_ok();
                raised = told.err();
                goes_on
            })
        });
        merged.map(|merged| merged.tables)
    });
    match (done, raised) {
        (_, Some(raised)) => Err(raised),
        (Ok(trees), None) => Ok(trees),
        (Err(error), None) if matches!(error.kind, ErrorKind::Invalid { .. }) => {
            Err(errors::exception(py, &error))
        }
        (Err(error), None) => Err(error_of(py, error, None, None)),
    }
}
