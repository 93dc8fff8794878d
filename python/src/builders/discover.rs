//! The builder that discovers the type.

use super::{
    kinds::Kind,
    times,
    trouble::{Trouble, exception},
    turns::Turns,
    typed::Layout,
    walk::{Memory, Walk, described},
};
use forthwith_builders::{self as builders, BuildError, Fault, Step};
use pyo3::{
    prelude::*,
    types::{PyBytes, PyIterator, PyString},
};

/// The commands of `forthwith.ArrayBuilder`, which adds methods that need other packages.
#[pyclass(subclass, frozen, module = "forthwith._forthwith")]
pub(crate) struct ArrayBuilder(Turns<Filled>);

/// A builder, and its cache of Python types and names.
struct Filled {
    builder: builders::ArrayBuilder,
    memory: Memory,
}

impl Filled {
    /// Appends an object at the position of the next value.
    fn append(
        &mut self,
        object: &Bound<'_, PyAny>,
        told: impl FnOnce(&Self, Trouble) -> PyErr,
    ) -> PyResult<()> {
        let place = self.builder.place().map_err(|refused| exception(object.py(), &refused))?;
        let depth = self.builder.depth();
        let done = Walk::new(self.builder.sink(), &mut self.memory, depth).append(place, object);
        done.map_err(|trouble| told(self, trouble))
    }

    /// Returns the exception for an error below the position of the next value.
    fn placed(&self, py: Python<'_>, trouble: Trouble) -> PyErr {
        match trouble {
            Trouble::Refused(refused) => exception(py, &self.builder.locate(refused)),
            raised => raised.into_exception(py),
        }
    }
}

impl ArrayBuilder {
    fn tell(
        &self,
        py: Python<'_>,
        told: impl FnOnce(&mut builders::ArrayBuilder) -> Result<(), BuildError>,
    ) -> PyResult<()> {
        self.0.with(py, |filled| told(&mut filled.builder))?.map_err(|refused| exception(py, &refused))
    }

    fn put_time(&self, object: &Bound<'_, PyAny>, class: &str) -> PyResult<()> {
        let py = object.py();
        let object = &times::parsed(object, class)?;
        let mut filled = self.0.take(py)?;
        let place = filled.builder.place().map_err(|refused| exception(py, &refused))?;
        let kind = filled.memory.kind(object).map_err(Trouble::from);
        let done = kind.and_then(|kind| {
            let (x, unit) = times::given(object, kind, class)?;
            Ok(filled.builder.sink().put_time(place, x, &unit)?)
        });
        done.map_err(|trouble| filled.placed(py, trouble))
    }
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
        // `behavior` and `attrs` are stored in Python. `initial` and `resize` have no effect: buffers of this
        // builder grow differently.
        drop((behavior, attrs, initial, resize));
        Self(Turns::new(Filled { builder: builders::ArrayBuilder::new(), memory: Memory::new(py) }))
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.0.with(py, |filled| filled.builder.len())
    }

    #[getter]
    fn typestr(&self, py: Python<'_>) -> PyResult<String> {
        self.0.with(py, |filled| filled.builder.type_string())
    }

    #[getter]
    fn _form(&self, py: Python<'_>) -> PyResult<String> {
        self.0.with(py, |filled| filled.builder.form().to_json())
    }

    fn _snapshot(&self, py: Python<'_>) -> PyResult<Layout> {
        self.0.with(py, |filled| Layout(filled.builder.snapshot()))
    }

    /// Takes the data out of a builder that Python code cannot access.
    fn _finish(&self, py: Python<'_>) -> PyResult<Layout> {
        self.0.with(py, |filled| Layout(std::mem::take(&mut filled.builder).finish()))
    }

    fn clear(&self, py: Python<'_>) -> PyResult<()> {
        self.0.with(py, |filled| filled.builder.clear())
    }

    fn null(&self, py: Python<'_>) -> PyResult<()> {
        self.tell(py, |builder| builder.null())
    }

    fn boolean(&self, x: &Bound<'_, PyAny>) -> PyResult<()> {
        // Accepts the types that pybind11 converts: numbers and `None`.
        let number = x.is_none() || x.get_type().hasattr("__bool__")?;
        if !number {
            return Err(pyo3::exceptions::PyTypeError::new_err(format!(
                "boolean() takes True or False, not {}",
                described(x)
            )));
        }
        let x_is = x.is_truthy()?;
        self.tell(x.py(), |builder| builder.boolean(x_is))
    }

    fn integer(&self, x: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = x.py();
        match x.extract::<i64>() {
            Ok(x) => self.tell(py, |builder| builder.integer(x)),
            Err(error) if error.is_instance_of::<pyo3::exceptions::PyOverflowError>(py) => {
                let refused = Fault::TooLarge("int64").into();
                self.tell(py, |builder| Err(builder.locate(refused)))
            }
            Err(error) => Err(error),
        }
    }

    fn real(&self, py: Python<'_>, x: f64) -> PyResult<()> {
        self.tell(py, |builder| builder.real(x))
    }

    fn complex(&self, x: &Bound<'_, PyAny>) -> PyResult<()> {
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
        self.tell(x.py(), |builder| builder.complex(value[0], value[1]))
    }

    fn datetime(&self, x: &Bound<'_, PyAny>) -> PyResult<()> {
        self.put_time(x, "datetime64")
    }

    fn timedelta(&self, x: &Bound<'_, PyAny>) -> PyResult<()> {
        self.put_time(x, "timedelta64")
    }

    fn bytestring(&self, x: &Bound<'_, PyBytes>) -> PyResult<()> {
        self.tell(x.py(), |builder| builder.bytestring(x.as_bytes()))
    }

    fn string(&self, x: &Bound<'_, PyString>) -> PyResult<()> {
        let text = x.to_str()?;
        self.tell(x.py(), |builder| builder.string(text))
    }

    fn begin_list(&self, py: Python<'_>) -> PyResult<()> {
        self.tell(py, |builder| builder.begin_list())
    }

    fn end_list(&self, py: Python<'_>) -> PyResult<()> {
        self.tell(py, |builder| builder.end_list())
    }

    fn begin_tuple(&self, py: Python<'_>, numfields: i64) -> PyResult<()> {
        self.tell(py, |builder| builder.begin_tuple(numfields))
    }

    fn index<'py>(this: &Bound<'py, Self>, i: i64) -> PyResult<Bound<'py, Self>> {
        this.get().tell(this.py(), |builder| builder.index(i).map(drop))?;
        Ok(this.clone())
    }

    fn end_tuple(&self, py: Python<'_>) -> PyResult<()> {
        self.tell(py, |builder| builder.end_tuple())
    }

    #[pyo3(signature = (name=None))]
    fn begin_record(&self, py: Python<'_>, name: Option<&str>) -> PyResult<()> {
        self.tell(py, |builder| builder.begin_record(name))
    }

    fn field<'py>(this: &Bound<'py, Self>, key: &str) -> PyResult<Bound<'py, Self>> {
        this.get().tell(this.py(), |builder| builder.field(key).map(drop))?;
        Ok(this.clone())
    }

    fn end_record(&self, py: Python<'_>) -> PyResult<()> {
        self.tell(py, |builder| builder.end_record())
    }

    fn append(&self, obj: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = obj.py();
        self.0.take(py)?.append(obj, |filled, trouble| filled.placed(py, trouble))
    }

    fn extend(&self, obj: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = obj.py();
        let mut filled = self.0.take(py)?;
        if !matches!(filled.memory.kind(obj)?, Kind::List | Kind::Tuple | Kind::Array) {
            drop(filled);
            return self.extend_one_by_one(&obj.try_iter()?);
        }
        let place = match filled.builder.place() {
            Ok(place) => place,
            // An empty iterable needs no position.
            Err(refused) => return obj.try_iter()?.next().map_or(Ok(()), |_| Err(exception(py, &refused))),
        };
        let depth = filled.builder.depth();
        let Filled { builder, memory } = &mut *filled;
        let done = Walk::new(builder.sink(), memory, depth).extend(place, obj);
        done.map_err(|trouble| trouble.into_exception(py))
    }
}

impl ArrayBuilder {
    /// Appends the items of an iterator. The builder is free between items, as the iterator may block or use
    /// the builder itself.
    fn extend_one_by_one(&self, items: &Bound<'_, PyIterator>) -> PyResult<()> {
        let py = items.py();
        for (next, item) in items.clone().enumerate() {
            let within = |trouble: Trouble| trouble.within(Step::Item(next)).into_exception(py);
            let item = item.map_err(|error| within(error.into()))?;
            self.0.take(py)?.append(&item, |_, trouble| within(trouble))?;
            if next % LOOK_UP == LOOK_UP - 1 {
                // An infinite iterator may never run Python code.
                py.check_signals()?;
            }
        }
        Ok(())
    }
}

/// Number of items between two checks for signals.
const LOOK_UP: usize = 1 << 12;
