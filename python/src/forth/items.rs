//! What a machine wrote, in place.

use forthwith::forth::{Dtype, Lease};
use pyo3::{prelude::*, types::PyDict};

/// The items of an output at some moment, that NumPy takes over as they are.
#[pyclass(frozen, module = "forthwith._forthwith")]
pub(crate) struct Items(pub(crate) Lease);

#[pymethods]
impl Items {
    #[getter]
    fn typestr(&self) -> &'static str {
        match self.0.dtype() {
            Dtype::Bool => "|b1",
            Dtype::Int8 => "|i1",
            Dtype::UInt8 => "|u1",
            Dtype::Int16 => native("<i2", ">i2"),
            Dtype::Int32 => native("<i4", ">i4"),
            Dtype::Int64 => native("<i8", ">i8"),
            Dtype::UInt16 => native("<u2", ">u2"),
            Dtype::UInt32 => native("<u4", ">u4"),
            Dtype::UInt64 => native("<u8", ">u8"),
            Dtype::Float32 => native("<f4", ">f4"),
            Dtype::Float64 => native("<f8", ">f8"),
        }
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// Whoever takes the address keeps this object, and so the memory.
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

const fn native(little: &'static str, big: &'static str) -> &'static str {
    if cfg!(target_endian = "little") { little } else { big }
}
