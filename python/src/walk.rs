//! Reading step after step.

use crate::{
    array::{Array, Buffer, place},
    errors,
    handle::Handle,
    read::listening,
    selection,
};
use forthwith::{
    Batch,
    plan::{Error, ErrorKind},
};
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, TryLockError};

/// Steps that are still to be read.
#[pyclass(frozen, module = "forthwith._forthwith")]
pub(crate) struct Walk {
    handle: Arc<Handle>,
    /// Nothing while another thread has it.
    walk: Mutex<Option<forthwith::Steps>>,
}

impl Walk {
    pub(crate) fn new(handle: Arc<Handle>, walk: forthwith::Steps) -> Self {
        Self { handle, walk: Mutex::new(Some(walk)) }
    }

    fn with<T>(&self, act: impl FnOnce(&mut forthwith::Steps) -> Result<T, Error>) -> Result<T, Error> {
        // Waiting could be for ever: `progress` is called while a step is read.
        let mut walk = match self.walk.try_lock() {
            Ok(walk) => walk,
            Err(TryLockError::Poisoned(walk)) => walk.into_inner(),
            Err(TryLockError::WouldBlock) => {
                return Err(Error::new(ErrorKind::Invalid { what: "a step is being read already".into() }));
            }
        };
        match &mut *walk {
            Some(walk) => act(walk),
            None => Err(Error::new(ErrorKind::Invalid { what: GONE.into() })),
        }
    }

    /// The reader of the steps, for other rooms.
    pub(crate) fn take(&self, py: Python<'_>) -> PyResult<forthwith::Steps> {
        let walk = self.walk.try_lock().ok().and_then(|mut walk| walk.take());
        walk.ok_or_else(|| errors::request(py, GONE.into()))
    }
}

/// First entry, the one after the last, arrays, entries of these.
type Step = (u64, u64, Vec<Array>, Option<Buffer>);

/// What is said when there is none.
const GONE: &str = "the steps are being read already";

#[pymethods]
impl Walk {
    /// The next step, which is not read: its first entry and the one after its last.
    fn pass_step(&self, py: Python<'_>) -> PyResult<Option<(u64, u64)>> {
        let step = listening(py, &self.handle, None, |_| self.with(forthwith::Steps::skip_step))?;
        Ok(step.map(|step| (step.start, step.end)))
    }

    /// The next step: its first entry, the one after its last, an array for each column, and the entries that these have if some may have
    /// been left out.
    #[pyo3(signature = (threads=None, progress=None))]
    fn read(
        &self,
        py: Python<'_>,
        threads: Option<usize>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Option<Step>> {
        let step = listening(py, &self.handle, progress.as_ref(), |tick| {
            self.with(|walk| Ok(walk.read_batch(threads, Some(tick))?.map(|step| (step, walk.paths()))))
        })?;
        let Some((Batch { entries, kept, arrays }, paths)) = step else { return Ok(None) };
        let uri = self.handle.file.uri();
        let made = |(array, path)| Array::new(py, array, place(uri, path, entries.start));
        let arrays = arrays.iter().zip(paths).map(made).collect::<PyResult<_>>()?;
        Ok(Some((entries.start, entries.end, arrays, kept.map(selection::kept))))
    }
}
