//! The builder that finds out the type.

use super::{
    kinds::Kind,
    times,
    trouble::{Trouble, exception},
    walk::{Memory, Walk, described},
};
use crate::array::Buffer;
use forthwith_builders::{self as builders, Fault, Refused, Sink};
use pyo3::{
    prelude::*,
    types::{PyBytes, PyString},
};

/// The commands of `forthwith.ArrayBuilder`, which adds what needs other packages.
#[pyclass(subclass, module = "forthwith._forthwith")]
pub(crate) struct ArrayBuilder {
    builder: builders::ArrayBuilder,
    memory: Memory,
}

impl ArrayBuilder {
    fn new_in(py: Python<'_>) -> Self {
        Self { builder: builders::ArrayBuilder::new(), memory: Memory::new(py) }
    }

    fn put_time(&mut self, object: &Bound<'_, PyAny>, class: &str, kinds: [Kind; 4]) -> PyResult<()> {
        let py = object.py();
        let parsed;
        let object = match object.cast::<PyString>() {
            Ok(text) => {
                parsed = times::parsed(text, class)?;
                &parsed
            }
            Err(_) => object,
        };
        let place = self.builder.place().map_err(|refused| exception(py, &refused))?;
        let done = self.memory.kind(object).map_err(Trouble::from).and_then(|kind| {
            let known = kinds.contains(&kind).then(|| times::of(object, kind)).transpose()?;
            match known {
                Some((x, unit)) if unit.starts_with(class) => Ok(self.builder.put_time(place, x, &unit)?),
                _ => Err(Fault::NoElement { found: described(object).into() }.into()),
            }
        });
        done.map_err(|trouble| self.placed(py, trouble))
    }

    /// The exception for what went wrong below the place where the next value goes.
    fn placed(&self, py: Python<'_>, trouble: Trouble) -> PyErr {
        match trouble {
            Trouble::Refused(refused) => exception(py, &self.builder.locate(refused)),
            raised => raised.into_exception(py),
        }
    }
}

fn raise(py: Python<'_>, done: Result<(), Refused>) -> PyResult<()> {
    done.map_err(|refused| exception(py, &refused))
}

#[pymethods]
impl ArrayBuilder {
    #[new]
    #[pyo3(signature = (*, behavior=None, attrs=None, initial=1024, resize=8.0))]
    fn new(
        py: Python<'_>,
        behavior: Option<Bound<'_, PyAny>>,
        attrs: Option<Bound<'_, PyAny>>,
        initial: i64,
        resize: f64,
    ) -> Self {
        // Python keeps the first two. The others steer buffers that grow in another way here.
        drop((behavior, attrs, initial, resize));
        Self::new_in(py)
    }

    fn __len__(&self) -> usize {
        self.builder.len()
    }

    #[getter]
    fn typestr(&self) -> String {
        self.builder.type_string()
    }

    #[getter]
    fn _form(&self) -> String {
        self.builder.form_json()
    }

    fn _snapshot(&self) -> Snapshot {
        Snapshot(self.builder.snapshot())
    }

    /// Takes the data out; for one whose builder nobody sees.
    fn _finish(&mut self) -> Snapshot {
        Snapshot(std::mem::take(&mut self.builder).finish())
    }

    fn clear(&mut self) {
        self.builder.clear();
    }

    fn null(&mut self, py: Python<'_>) -> PyResult<()> {
        raise(py, self.builder.null())
    }

    fn boolean(&mut self, x: &Bound<'_, PyAny>) -> PyResult<()> {
        // As pybind11 does: whatever is a number, and None.
        let number = x.is_none() || x.get_type().hasattr("__bool__")?;
        if !number {
            return Err(pyo3::exceptions::PyTypeError::new_err(format!(
                "boolean() takes True or False, not {}",
                described(x)
            )));
        }
        raise(x.py(), self.builder.boolean(x.is_truthy()?))
    }

    fn integer(&mut self, x: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = x.py();
        match x.extract::<i64>() {
            Ok(x) => raise(py, self.builder.integer(x)),
            Err(error) if error.is_instance_of::<pyo3::exceptions::PyOverflowError>(py) => {
                let refused = Fault::TooLarge { dtype: "int64" }.into();
                Err(exception(py, &self.builder.locate(refused)))
            }
            Err(error) => Err(error),
        }
    }

    fn real(&mut self, py: Python<'_>, x: f64) -> PyResult<()> {
        raise(py, self.builder.real(x))
    }

    fn complex(&mut self, x: &Bound<'_, PyAny>) -> PyResult<()> {
        let value: [f64; 2] = match x.extract::<f64>() {
            Ok(re) if !x.hasattr("imag")? || x.getattr("imag")?.extract::<f64>()? == 0.0 => [re, 0.0],
            _ if x.get_type().hasattr("__complex__")? => {
                [x.getattr("real")?.extract()?, x.getattr("imag")?.extract()?]
            }
            _ => {
                return Err(pyo3::exceptions::PyTypeError::new_err(format!(
                    "complex() takes a number, not {}",
                    described(x)
                )));
            }
        };
        raise(x.py(), self.builder.complex(value[0], value[1]))
    }

    fn datetime(&mut self, x: &Bound<'_, PyAny>) -> PyResult<()> {
        self.put_time(x, "datetime64", [Kind::NumpyTime, Kind::DateTime, Kind::Date, Kind::Time])
    }

    fn timedelta(&mut self, x: &Bound<'_, PyAny>) -> PyResult<()> {
        self.put_time(x, "timedelta64", [Kind::NumpyTime, Kind::Delta, Kind::Delta, Kind::Delta])
    }

    fn bytestring(&mut self, x: &Bound<'_, PyBytes>) -> PyResult<()> {
        raise(x.py(), self.builder.bytestring(x.as_bytes()))
    }

    fn string(&mut self, x: &Bound<'_, PyString>) -> PyResult<()> {
        raise(x.py(), self.builder.string(x.to_str()?))
    }

    fn begin_list(&mut self, py: Python<'_>) -> PyResult<()> {
        raise(py, self.builder.begin_list())
    }

    fn end_list(&mut self, py: Python<'_>) -> PyResult<()> {
        raise(py, self.builder.end_list())
    }

    fn begin_tuple(&mut self, py: Python<'_>, numfields: i64) -> PyResult<()> {
        raise(py, self.builder.begin_tuple(numfields))
    }

    fn index(mut this: PyRefMut<'_, Self>, i: i64) -> PyResult<PyRefMut<'_, Self>> {
        let done = this.builder.index(i).map(drop);
        raise(this.py(), done)?;
        Ok(this)
    }

    fn end_tuple(&mut self, py: Python<'_>) -> PyResult<()> {
        raise(py, self.builder.end_tuple())
    }

    #[pyo3(signature = (name=None))]
    fn begin_record(&mut self, py: Python<'_>, name: Option<&str>) -> PyResult<()> {
        raise(py, self.builder.begin_record(name))
    }

    fn field<'py>(mut this: PyRefMut<'py, Self>, key: &str) -> PyResult<PyRefMut<'py, Self>> {
        let done = this.builder.field(key).map(drop);
        raise(this.py(), done)?;
        Ok(this)
    }

    fn end_record(&mut self, py: Python<'_>) -> PyResult<()> {
        raise(py, self.builder.end_record())
    }

    fn append(&mut self, obj: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = obj.py();
        let place = self.builder.place().map_err(|refused| exception(py, &refused))?;
        let depth = self.builder.depth();
        let done = Walk::new(&mut self.builder, &mut self.memory, depth).append(place, obj);
        done.map_err(|trouble| self.placed(py, trouble))
    }

    fn extend(&mut self, obj: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = obj.py();
        let place = match self.builder.place() {
            Ok(place) => place,
            // No items need no place.
            Err(refused) => return obj.try_iter()?.next().map_or(Ok(()), |_| Err(exception(py, &refused))),
        };
        let depth = self.builder.depth();
        let done = Walk::new(&mut self.builder, &mut self.memory, depth).extend(place, obj);
        done.map_err(|trouble| trouble.into_exception(py))
    }
}

/// Columns and their Form, for `ak.from_buffers`.
#[pyclass(frozen, module = "forthwith._forthwith")]
pub(crate) struct Snapshot(pub(super) builders::Snapshot);

#[pymethods]
impl Snapshot {
    #[getter]
    fn form(&self) -> &str {
        &self.0.form
    }

    fn __len__(&self) -> usize {
        usize::try_from(self.0.length).unwrap_or(usize::MAX) // they are in memory
    }

    fn buffers(&self) -> Vec<(String, Buffer)> {
        self.0.columns.iter().map(|(key, column)| (key.clone(), Buffer::new(column.clone()))).collect()
    }
}
