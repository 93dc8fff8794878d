//! Reading of a table in steps.

use crate::{
    array::{Array, Buffer, place},
    errors,
    handle::Handle,
    read::listening,
    selection,
};
use forthwith::{Selected, plan::Error};
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, TryLockError};

/// Reader of the steps of one table.
#[pyclass(frozen, module = "forthwith._forthwith")]
pub(crate) struct BatchReader {
    handle: Arc<Handle>,
    /// `None` after [`take`](Self::take).
    reader: Mutex<Option<forthwith::Steps>>,
}

impl BatchReader {
    pub(crate) fn new(handle: Arc<Handle>, reader: forthwith::Steps) -> Self {
        Self { handle, reader: Mutex::new(Some(reader)) }
    }

    fn with<T>(&self, act: impl FnOnce(&mut forthwith::Steps) -> Result<T, Error>) -> Result<T, Error> {
        // Blocking could deadlock: `progress` is called while a step is read.
        let mut reader = match self.reader.try_lock() {
            Ok(reader) => reader,
            Err(TryLockError::Poisoned(reader)) => reader.into_inner(),
            Err(TryLockError::WouldBlock) => {
                return Err(Error::invalid("a step is being read already"));
            }
        };
        match &mut *reader {
            Some(reader) => act(reader),
            None => Err(Error::invalid(GONE)),
        }
    }

    /// Takes the reader, for an Arrow stream.
    pub(crate) fn take(&self, py: Python<'_>) -> PyResult<forthwith::Steps> {
        let reader = self.reader.try_lock().ok().and_then(|mut reader| reader.take());
        reader.ok_or_else(|| errors::request(py, GONE.into()))
    }
}

/// First entry, entry after the last, arrays of the columns, and the selected entries if some may be
/// excluded.
type Step = (u64, u64, Vec<Array>, Option<Buffer>);

/// Message of the error after the reader was taken.
const GONE: &str = "the steps are being read already";

#[pymethods]
impl BatchReader {
    /// Skips the next step; returns its first entry and the entry after its last.
    fn skip(&self, py: Python<'_>) -> PyResult<Option<(u64, u64)>> {
        let step = listening(py, &self.handle, None, |_| self.with(forthwith::Steps::skip_step))?;
        Ok(step.map(|step| (step.start, step.end)))
    }

    /// Reads the next step; returns its first entry, the entry after its last, an array for each column, and
    /// the entries of these arrays if some may be excluded.
    #[pyo3(signature = (threads=None, progress=None))]
    fn read(
        &self,
        py: Python<'_>,
        threads: Option<usize>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Option<Step>> {
        let step = listening(py, &self.handle, progress.as_ref(), |tick| {
            self.with(|reader| {
                let step = reader.read_batch(threads, Some(tick))?;
                Ok(step.map(|step| (step, reader.paths(), reader.table().text_policy())))
            })
        })?;
        let Some((Selected { entries, kept, arrays }, paths, text)) = step else { return Ok(None) };
        let uri = self.handle.file.uri();
        let made = |(array, path)| Array::new(py, array, place(uri, path, entries.start), text);
        let arrays = arrays.iter().zip(paths).map(made).collect::<PyResult<_>>()?;
        Ok(Some((entries.start, entries.end, arrays, kept.map(selection::kept))))
    }
}
