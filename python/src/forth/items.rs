//! The outputs of a machine, in place.

use forthwith::forth::{DType, Lease};
use pyo3::{prelude::*, types::PyDict};

/// The items of an output at some moment, that NumPy takes over as they are.
#[pyclass(frozen, module = "forthwith._forthwith")]
pub(crate) struct Items(pub(crate) Lease);

#[pymethods]
impl Items {
    #[getter]
    fn typestr(&self) -> &'static str {
        match self.0.dtype() {
            DType::Bool => "|b1",
            DType::Int8 => "|i1",
            DType::UInt8 => "|u1",
            DType::Int16 => native("<i2", ">i2"),
            DType::Int32 => native("<i4", ">i4"),
            DType::Int64 => native("<i8", ">i8"),
            DType::UInt16 => native("<u2", ">u2"),
            DType::UInt32 => native("<u4", ">u4"),
            DType::UInt64 => native("<u8", ">u8"),
            DType::Float32 => native("<f4", ">f4"),
            DType::Float64 => native("<f8", ">f8"),
        }
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// A holder of the address keeps this object, and so the memory.
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
