//! Reading with checks for signals and reports of progress.

use crate::{
    array::{Array, place},
    desk::raised,
    handle::Handle,
};
use forthwith::{
    Progress, ProgressCallback, Table,
    plan::{Plan, Result},
};
use forthwith_platform::Instant;
use pyo3::prelude::*;
use std::time::Duration;

/// Minimum interval between two attachments to the interpreter while reading.
const LISTEN: Duration = Duration::from_millis(50);

/// Calls `with` without the interpreter, with the callback for progress. The callback reports progress at the
/// start, at the end, and after each interval, and runs pending signal handlers if this is the main thread.
/// An exception of a handler or of `progress` stops the read and is returned.
pub(crate) fn listening<T: Send>(
    py: Python<'_>,
    handle: &Handle,
    progress: Option<&Py<PyAny>>,
    with: impl FnOnce(&mut ProgressCallback<'_>) -> Result<T> + Send,
) -> PyResult<T> {
    handle.check_open(py)?;
    let _entered = handle.enter(py)?;
    let mut stopped = None;
    let outcome = py.detach(|| {
        let mut listened = Instant::now();
        let mut tick = |now: Progress| {
            if listened.elapsed() < LISTEN && now.blocks != 0 && now.blocks != now.all_blocks {
                return true;
            }
            listened = Instant::now();
            let heard = Python::try_attach(|py| py.check_signals().and_then(|()| report(py, progress, now)));
            match heard {
                Some(Err(exception)) => {
                    stopped = Some(exception);
                    handle.give_up();
                    false
                }
                _ => true,
            }
        };
        with(&mut tick)
    });
    if let Some(exception) = stopped.or_else(raised) {
        return Err(exception);
    }
    outcome.map_err(|error| handle.error(py, error))
}

/// Reads the columns of a plan.
pub(crate) fn read(
    py: Python<'_>,
    handle: &Handle,
    table: &Table,
    plan: &Plan,
    threads: Option<usize>,
    progress: Option<&Py<PyAny>>,
) -> PyResult<Vec<Array>> {
    let arrays = listening(py, handle, progress, |tick| table.read(plan, threads, Some(tick)))?;
    let uri = handle.file.uri();
    let paths = plan.paths(arrays.len());
    let made =
        |(array, path)| Array::new(py, array, place(uri, path, plan.entries.start), table.text_policy());
    arrays.iter().zip(paths).map(made).collect()
}

fn report(py: Python<'_>, progress: Option<&Py<PyAny>>, now: Progress) -> PyResult<()> {
    if let Some(progress) = progress {
        progress.call1(py, (now.blocks, now.all_blocks, now.bytes, now.all_bytes))?;
    }
    Ok(())
}
