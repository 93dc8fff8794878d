//! The builder of a known type.

use super::{
    kinds::{Kind, Kinds},
    times,
    trouble::{Trouble, Walked, classes, refused_command},
    walk::described,
};
use crate::{array::Buffer, arrow};
use forthwith::{columns::DType, plan::Place};
use forthwith_builders::{self as builders, CommandError, CommandErrorKind, Fault, Form, Primitive, Unit};
use pyo3::{
    exceptions::{PyOverflowError, PyTypeError, PyValueError},
    prelude::*,
    types::{
        PyBool, PyByteArray, PyBytes, PyCapsule, PyComplex, PyDict, PyFloat, PyInt, PyIterator, PyList,
        PyString, PyTuple,
    },
};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The commands of `forthwith.TypedArrayBuilder`, which adds methods that need other packages.
///
/// No Python code runs while the lock is held: arguments are converted before, and each command locks on its
/// own.
#[pyclass(subclass, frozen, module = "forthwith._forthwith")]
pub(crate) struct TypedArrayBuilder {
    builder: Mutex<builders::TypedArrayBuilder>,
}

impl TypedArrayBuilder {
    fn lock(&self) -> MutexGuard<'_, builders::TypedArrayBuilder> {
        self.builder.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[inline]
    fn tell(
        &self,
        py: Python<'_>,
        told: impl FnOnce(&mut builders::TypedArrayBuilder) -> Result<(), CommandError>,
    ) -> PyResult<()> {
        told(&mut self.lock()).map_err(|error| refused_command(py, &error))
    }

    fn tell_integer(&self, object: &Bound<'_, PyAny>) -> Walked<()> {
        match object.extract::<i64>() {
            Ok(value) => Ok(self.lock().integer(value)?),
            Err(error) if error.is_instance_of::<PyOverflowError>(object.py()) => {
                match object.extract::<u64>() {
                    Ok(value) => Ok(self.lock().unsigned(value)?),
                    Err(_) => Err(self.lock().too_large().into()),
                }
            }
            Err(error) => Err(error.into()),
        }
    }

    fn time(&self, object: &Bound<'_, PyAny>, class: &'static str) -> Walked<()> {
        let object = &times::parsed(object, class)?;
        let kind = Kinds::new(object.py()).of(object)?;
        let (value, unit) = times::given(object, kind, class)?;
        self.tell_time(object, value, &unit)
    }

    fn tell_time(&self, object: &Bound<'_, PyAny>, value: i64, dtype: &str) -> Walked<()> {
        let date = dtype.starts_with("datetime64");
        let unit = match Primitive::from_name(dtype) {
            Some(Primitive::Datetime64(unit) | Primitive::Timedelta64(unit)) => unit,
            // `NaT` may have no unit.
            _ if value == i64::MIN => Unit::of(builders::TimeUnit::Second),
            _ => return Err(Fault::NoElement(described(object).into()).into()),
        };
        let mut builder = self.lock();
        if date {
            builder.datetime(value, unit)?
        } else {
            builder.timedelta(value, unit)?
        }
        Ok(())
    }

    fn walk<T>(&self, py: Python<'_>, walk: impl FnOnce(&mut Walk<'_>) -> Walked<T>) -> PyResult<T> {
        let before = self.lock().checkpoint();
        let mut walker = Walk { builder: self, kinds: Kinds::new(py), ticks: 0 };
        walk(&mut walker).map_err(|stopped| {
            // A refused object leaves no parts behind.
            self.lock().rollback(&before);
            stopped.into_exception(py)
        })
    }
}

#[pymethods]
impl TypedArrayBuilder {
    #[new]
    fn new(description: &str) -> PyResult<Self> {
        let form = Form::parse(description);
        let builder = form.and_then(|form| builders::TypedArrayBuilder::new(&form));
        match builder {
            Ok(builder) => Ok(Self { builder: Mutex::new(builder) }),
            Err(error) => Err(classes::BuilderError::new_err((error.to_string(),))),
        }
    }

    /// Appends a missing value.
    fn null(&self, py: Python<'_>) -> PyResult<()> {
        self.tell(py, |builder| builder.null())
    }

    /// Appends a boolean.
    fn boolean(&self, x: &Bound<'_, PyAny>) -> PyResult<()> {
        let truth = match x.cast::<PyBool>() {
            Ok(truth) => truth.is_true(),
            Err(_) if x.is_instance_of::<PyInt>() => x.is_truthy()?,
            Err(_) => x.extract()?,
        };
        self.tell(x.py(), |builder| builder.boolean(truth))
    }

    /// Appends an integer.
    fn integer(&self, x: &Bound<'_, PyAny>) -> PyResult<()> {
        self.tell_integer(x).map_err(|trouble| trouble.into_exception(x.py()))
    }

    /// Appends a floating-point number.
    fn real(&self, py: Python<'_>, x: f64) -> PyResult<()> {
        self.tell(py, |builder| builder.real(x))
    }

    /// Appends a complex number.
    fn complex(&self, x: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = x.py();
        let made;
        let value = match x.cast::<PyComplex>() {
            Ok(value) => value,
            Err(_) => {
                if x.is_instance_of::<PyString>() {
                    return Err(PyTypeError::new_err("a complex number must be a number, not str"));
                }
                made = py.get_type::<PyComplex>().call1((x,))?.cast_into::<PyComplex>()?;
                &made
            }
        };
        let (real, imaginary) = parts(value)?;
        self.tell(py, |builder| builder.complex(real, imaginary))
    }

    /// Appends a date and time.
    fn datetime(&self, x: &Bound<'_, PyAny>) -> PyResult<()> {
        self.time(x, "datetime64").map_err(|stopped| stopped.into_exception(x.py()))
    }

    /// Appends a duration.
    fn timedelta(&self, x: &Bound<'_, PyAny>) -> PyResult<()> {
        self.time(x, "timedelta64").map_err(|stopped| stopped.into_exception(x.py()))
    }

    /// Appends a byte string.
    fn bytestring(&self, x: &Bound<'_, PyAny>) -> PyResult<()> {
        if let Ok(bytes) = x.cast::<PyBytes>() {
            return self.tell(x.py(), |builder| builder.bytestring(bytes.as_bytes()));
        }
        let bytes: Vec<u8> = x.cast::<PyByteArray>()?.to_vec();
        self.tell(x.py(), |builder| builder.bytestring(&bytes))
    }

    /// Appends text.
    fn string(&self, py: Python<'_>, x: &str) -> PyResult<()> {
        self.tell(py, |builder| builder.string(x))
    }

    /// Begins a list.
    fn begin_list(&self, py: Python<'_>) -> PyResult<()> {
        self.tell(py, |builder| builder.begin_list())
    }

    /// Ends a list.
    fn end_list(&self, py: Python<'_>) -> PyResult<()> {
        self.tell(py, |builder| builder.end_list())
    }

    /// Begins a tuple.
    fn begin_tuple(&self, py: Python<'_>, numfields: i64) -> PyResult<()> {
        self.tell(py, |builder| builder.begin_tuple(number(numfields)))
    }

    /// Selects a slot of the tuple.
    fn index<'py>(slf: &Bound<'py, Self>, i: i64) -> PyResult<Bound<'py, Self>> {
        slf.get().tell(slf.py(), |builder| builder.index(number(i)))?;
        Ok(slf.clone())
    }

    /// Ends a tuple.
    fn end_tuple(&self, py: Python<'_>) -> PyResult<()> {
        self.tell(py, |builder| builder.end_tuple())
    }

    /// Begins a record.
    #[pyo3(signature = (name=None))]
    fn begin_record(&self, py: Python<'_>, name: Option<&str>) -> PyResult<()> {
        self.tell(py, |builder| builder.begin_record(name))
    }

    /// Selects a field of the record.
    fn field<'py>(slf: &Bound<'py, Self>, key: &str) -> PyResult<Bound<'py, Self>> {
        slf.get().tell(slf.py(), |builder| builder.field(key))?;
        Ok(slf.clone())
    }

    /// Ends a record.
    fn end_record(&self, py: Python<'_>) -> PyResult<()> {
        self.tell(py, |builder| builder.end_record())
    }

    /// Selects an alternative of a union.
    fn tag<'py>(slf: &Bound<'py, Self>, i: i64) -> PyResult<Bound<'py, Self>> {
        slf.get().tell(slf.py(), |builder| builder.tag(number(i)))?;
        Ok(slf.clone())
    }

    /// Appends any value.
    fn append(&self, obj: &Bound<'_, PyAny>) -> PyResult<()> {
        self.walk(obj.py(), |walk| walk.put(obj, 0))
    }

    /// Appends all items of an iterable.
    fn extend(&self, iterable: &Bound<'_, PyAny>) -> PyResult<()> {
        self.walk(iterable.py(), |walk| walk.items(iterable, 0))
    }

    /// Removes all data.
    fn clear(&self) {
        self.lock().clear();
    }

    fn __len__(&self) -> usize {
        usize::try_from(self.lock().len()).unwrap_or(usize::MAX)
    }

    #[getter]
    fn typestr(&self) -> String {
        let builder = self.lock();
        format!("{} * {}", builder.len(), builder.type_string())
    }

    #[getter]
    fn source(&self) -> String {
        self.lock().source().to_owned()
    }

    #[getter]
    fn _form(&self) -> String {
        self.lock().form().to_json()
    }

    fn _snapshot(&self, py: Python<'_>) -> PyResult<Layout> {
        let layout = self.lock().snapshot();
        layout.map(Layout).map_err(|error| {
            let made = py.get_type::<classes::OutOfMemoryError>().call1((error.to_string(),));
            made.map_or_else(|failure| failure, PyErr::from_value)
        })
    }

    fn __repr__(&self) -> String {
        format!("<TypedArrayBuilder type='{}'>", self.typestr())
    }
}

/// The complete entries of a builder.
#[pyclass(frozen, module = "forthwith._forthwith")]
pub(crate) struct Layout(pub(super) builders::Layout);

#[pymethods]
impl Layout {
    #[getter]
    fn form(&self) -> String {
        self.0.form.to_json()
    }

    #[getter]
    fn type_string(&self) -> String {
        self.0.form.type_string()
    }

    #[getter]
    fn nbytes(&self) -> usize {
        self.0.nbytes()
    }

    fn __len__(&self) -> usize {
        usize::try_from(self.0.length).unwrap_or(usize::MAX)
    }

    fn buffers(&self) -> Vec<(String, Buffer)> {
        self.0.columns.iter().map(|(key, column)| (key.clone(), Buffer::new(column.clone()))).collect()
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        // The protocol permits producers to ignore a requested schema that they cannot convert to.
        drop(requested_schema);
        let plain = self.0.to_array().map_err(|error| PyValueError::new_err(error.to_string()))?;
        arrow::array(py, &plain, &Place::default(), &arrow::options(false, false))
    }

    fn __repr__(&self) -> String {
        format!("<Layout {} * {}>", self.0.length, self.0.form.type_string())
    }
}

/// Converts an index or count. Negative numbers become the largest one, which is out of range.
fn number(i: i64) -> usize {
    usize::try_from(i).unwrap_or(usize::MAX)
}

/// Converter of Python objects to commands.
struct Walk<'a> {
    builder: &'a TypedArrayBuilder,
    kinds: Kinds,
    /// Number of items since the conversion began, for the checks for signals.
    ticks: u32,
}

impl Walk<'_> {
    fn tell(
        &self,
        told: impl FnOnce(&mut builders::TypedArrayBuilder) -> Result<(), CommandError>,
    ) -> Walked<()> {
        Ok(told(&mut self.builder.lock())?)
    }

    /// Appends one value. If several alternatives of a union are possible, the first alternative that accepts the
    /// whole value is used.
    fn put(&mut self, object: &Bound<'_, PyAny>, depth: u32) -> Walked<()> {
        if depth > DEEPEST {
            return Err(self.builder.lock().too_deep().into());
        }
        let here = self.builder.lock().position();
        match self.attempt(object, depth) {
            // The error concerns this value: one in a nested value has another position.
            Err(Trouble::Command(error))
                if matches!(error.kind(), CommandErrorKind::Ambiguous(_))
                    && self.builder.lock().position() == here =>
            {
                let before = self.builder.lock().checkpoint();
                for tag in 0.. {
                    // The loop ends at the first tag that the union does not have.
                    if self.tell(|builder| builder.tag(tag)).is_err() {
                        break;
                    }
                    match self.put(object, depth + 1) {
                        Err(Trouble::Command(_)) => self.builder.lock().rollback(&before),
                        done => return done,
                    };
                }
                Err(error.into())
            }
            done => done,
        }
    }

    fn attempt(&mut self, object: &Bound<'_, PyAny>, depth: u32) -> Walked<()> {
        let kind = self.kinds.of(object)?;
        match kind {
            Kind::None => self.tell(|builder| builder.null()),
            Kind::Bool | Kind::NumpyBool => {
                let truth = object.is_truthy()?;
                self.tell(|builder| builder.boolean(truth))
            }
            Kind::Int | Kind::NumpyInt => self.builder.tell_integer(object),
            Kind::Float | Kind::NumpyFloat => {
                let value = match object.cast::<PyFloat>() {
                    Ok(value) => value.value(),
                    Err(_) => object.extract()?,
                };
                self.tell(|builder| builder.real(value))
            }
            Kind::Complex => {
                let (real, imaginary) = parts(object.cast::<PyComplex>().map_err(PyErr::from)?)?;
                self.tell(|builder| builder.complex(real, imaginary))
            }
            Kind::Str => {
                let text = object.cast::<PyString>().map_err(PyErr::from)?;
                let text = text.to_str()?;
                self.tell(|builder| builder.string(text))
            }
            Kind::Bytes => {
                let bytes = object.cast::<PyBytes>().map_err(PyErr::from)?;
                self.tell(|builder| builder.bytestring(bytes.as_bytes()))
            }
            Kind::Tuple => self.tuple(object.cast::<PyTuple>().map_err(PyErr::from)?, depth),
            Kind::Dict => self.record(object.cast::<PyDict>().map_err(PyErr::from)?, depth),
            Kind::NumpyTime | Kind::DateTime | Kind::Date | Kind::Time | Kind::Delta => {
                let (value, dtype) = times::of(object, kind)?;
                self.builder.tell_time(object, value, &dtype)
            }
            Kind::List => self.list(object, depth),
            Kind::Array | Kind::Other => self.other(object, depth),
        }
    }

    fn list(&mut self, object: &Bound<'_, PyAny>, depth: u32) -> Walked<()> {
        self.tell(|builder| builder.begin_list())?;
        self.items(object, depth + 1)?;
        self.tell(|builder| builder.end_list())
    }

    /// Appends a tuple, as a list if a list is expected.
    fn tuple(&mut self, tuple: &Bound<'_, PyTuple>, depth: u32) -> Walked<()> {
        let begun = self.tell(|builder| builder.begin_tuple(tuple.len()));
        if let Err(Trouble::Command(error)) = &begun
            && matches!(error.kind(), CommandErrorKind::Unexpected { .. })
        {
            return self.list(tuple, depth);
        }
        begun?;
        for (at, slot) in tuple.iter().enumerate() {
            self.tell(|builder| builder.index(at))?;
            self.put(&slot, depth + 1)?;
        }
        self.tell(|builder| builder.end_tuple())
    }

    fn record(&mut self, dict: &Bound<'_, PyDict>, depth: u32) -> Walked<()> {
        self.tell(|builder| builder.begin_record(None))?;
        // A copy, because conversion of a value may run Python code that changes the dict.
        let pairs: Vec<_> = dict.iter().collect();
        for (name, value) in pairs {
            let Ok(name) = name.cast::<PyString>() else {
                return Err(Fault::NoName(described(&name).into()).into());
            };
            let name = name.to_str()?;
            self.tell(|builder| builder.field(name))?;
            self.put(&value, depth + 1)?;
        }
        self.tell(|builder| builder.end_record())
    }

    /// Appends a NumPy scalar, a record or array of Awkward Array, or an iterable.
    fn other(&mut self, object: &Bound<'_, PyAny>, depth: u32) -> Walked<()> {
        let class = object.get_type();
        let module = class.module().map(|module| module.to_string_lossy().into_owned()).unwrap_or_default();
        if module == "numpy" || module.starts_with("numpy.") {
            let masked = class.name().is_ok_and(|name| name == "MaskedConstant");
            if masked {
                return self.tell(|builder| builder.null());
            }
            if object.getattr("ndim")?.extract::<usize>()? == 0 {
                let item = object.call_method0("item")?;
                // `item` returns an object of the same class if Python has no equivalent type.
                if !item.get_type().is(&class) {
                    return self.put(&item, depth + 1);
                }
            }
        }
        if module.starts_with("awkward.highlevel") {
            let plain = object.call_method0("to_list")?;
            return self.put(&plain, depth + 1);
        }
        if !class.hasattr("__iter__")? && !class.hasattr("__getitem__")? {
            return Err(Fault::NoElement(described(object).into()).into());
        }
        self.list(object, depth)
    }

    /// Appends all items of an object.
    fn items(&mut self, object: &Bound<'_, PyAny>, depth: u32) -> Walked<()> {
        if let Ok(list) = object.cast::<PyList>() {
            // Conversion of an item may run Python code that changes the list, so its length is checked each
            // time.
            let mut at = 0;
            while at < list.len() {
                let Ok(item) = list.get_item(at) else { break };
                self.put(&item, depth)?;
                self.tick(object.py())?;
                at += 1;
            }
            return Ok(());
        }
        if self.kinds.of(object)? == Kind::Array && self.array(object)? {
            return Ok(());
        }
        for item in PyIterator::from_object(object)? {
            self.put(&item?, depth)?;
            self.tick(object.py())?;
        }
        Ok(())
    }

    /// Appends a one-dimensional array of numbers at once; returns `false` for other arrays.
    fn array(&mut self, array: &Bound<'_, PyAny>) -> Walked<bool> {
        if array.getattr("ndim")?.extract::<usize>()? != 1 {
            return Ok(false);
        }
        let dtype = array.getattr("dtype")?.getattr("str")?;
        let dtype = dtype.cast::<PyString>().map_err(PyErr::from)?;
        let Some(dtype) = native(dtype.to_str()?) else { return Ok(false) };
        let bytes = array.call_method0("tobytes")?;
        let bytes = bytes.cast::<PyBytes>().map_err(PyErr::from)?;
        self.tell(|builder| builder.extend_bytes(dtype, bytes.as_bytes()))?;
        Ok(true)
    }

    fn tick(&mut self, py: Python<'_>) -> Walked<()> {
        self.ticks += 1;
        if self.ticks.is_multiple_of(LOOK_UP) {
            py.check_signals()?;
        }
        Ok(())
    }
}

/// Returns the type of items for NumPy's type string; `None` for other byte orders and types.
fn native(typestr: &str) -> Option<DType> {
    DType::ALL.iter().copied().find(|dtype| dtype.typestr() == typestr)
}

fn parts(value: &Bound<'_, PyComplex>) -> PyResult<(f64, f64)> {
    Ok((value.getattr("real")?.extract()?, value.getattr("imag")?.extract()?))
}

const DEEPEST: u32 = 600;
const LOOK_UP: u32 = 1 << 12;
