//! Reading around damage, driven by Python, which makes other things of what was read.

use crate::handle::Handle;
use forthwith::plan::Place;
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The division of a range of entries into parts that can be read and parts that are lost.
#[pyclass(frozen, module = "forthwith._forthwith")]
pub(crate) struct Salvage {
    handle: Arc<Handle>,
    salvage: Mutex<forthwith::Salvage>,
}

impl Salvage {
    pub(crate) fn new(handle: Arc<Handle>, salvage: forthwith::Salvage) -> Self {
        Self { handle, salvage: Mutex::new(salvage) }
    }

    fn lock(&self) -> MutexGuard<'_, forthwith::Salvage> {
        self.salvage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Salvage {
    fn next_range(&self) -> Option<(u64, u64)> {
        self.lock().next_range().map(|range| (range.start, range.end))
    }

    fn is_of_table(&self, file: Option<String>, object: Option<String>) -> bool {
        self.lock().is_of_table(&Place { uri: file, object, ..Place::default() })
    }

    #[pyo3(signature = (start, stop, *, object, block, entry))]
    fn lose(
        &self,
        py: Python<'_>,
        start: u64,
        stop: u64,
        object: Option<String>,
        block: Option<u64>,
        entry: Option<u64>,
    ) -> PyResult<Option<(u64, u64)>> {
        let place = Place { object, block, entry, ..Place::default() };
        let lost = self.handle.run(py, || self.lock().lose(&(start..stop), &place))?;
        Ok(lost.map(|entries| (entries.start, entries.end)))
    }
}
