//! Reading with an ear for signals and a word on progress.

use crate::{array::Array, handle::Handle};
use forthwith::{Progress, Table, plan::Plan};
use pyo3::prelude::*;
use std::time::{Duration, Instant};

/// How often the interpreter is attached while reading.
const LISTEN: Duration = Duration::from_millis(50);

/// Reads a plan. Signals are looked at from time to time, if this is the main thread; an exception of their handlers or of
/// `progress` stops the work and is passed on.
pub(crate) fn read(
    py: Python<'_>,
    handle: &Handle,
    table: &Table,
    plan: &Plan,
    threads: Option<usize>,
    progress: Option<&Py<PyAny>>,
) -> PyResult<Vec<Array>> {
    handle.check_open(py)?;
    let all = Progress {
        all_blocks: plan.tasks.len() as u64,
        all_bytes: plan.stored_bytes(),
        ..Progress::default()
    };
    report(py, progress, all)?;
    let mut stopped = None;
    let outcome = py.detach(|| {
        let mut listened = Instant::now();
        let mut tick = |now: Progress| {
            if listened.elapsed() < LISTEN || now.blocks == now.all_blocks {
                return true;
            }
            listened = Instant::now();
            let heard = Python::try_attach(|py| py.check_signals().and_then(|()| report(py, progress, now)));
            match heard {
                Some(Err(exception)) => {
                    stopped = Some(exception);
                    false
                }
                _ => true,
            }
        };
        table.read(plan, threads, Some(&mut tick))
    });
    if let Some(exception) = stopped {
        return Err(exception);
    }
    let arrays = outcome.map_err(|error| handle.error(py, error))?;
    report(py, progress, Progress { blocks: all.all_blocks, bytes: all.all_bytes, ..all })?;
    arrays.iter().map(|array| Array::new(py, array)).collect()
}

fn report(py: Python<'_>, progress: Option<&Py<PyAny>>, now: Progress) -> PyResult<()> {
    if let Some(progress) = progress {
        progress.call1(py, (now.blocks, now.all_blocks, now.bytes, now.all_bytes))?;
    }
    Ok(())
}
