//! Outputs of a machine, without a copy.

use forthwith::forth::Lease;
use pyo3::{prelude::*, types::PyDict};

/// The items of an output at one moment, which NumPy views through `__array_interface__`.
#[pyclass(frozen, module = "forthwith._forthwith")]
pub(crate) struct Items(pub(crate) Lease);

#[pymethods]
impl Items {
    #[getter]
    fn typestr(&self) -> &'static str {
        self.0.dtype().typestr()
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// NumPy keeps a reference to this object, and so the memory alive.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("typestr", self.typestr())?;
        interface.set_item("shape", (self.0.len(),))?;
        interface.set_item("data", (self.0.address(), false))?;
        Ok(interface)
    }

    fn __repr__(&self) -> String {
        format!("<Items of {} {}>", self.0.len(), self.0.dtype())
    }
}
