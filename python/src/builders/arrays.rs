//! NumPy arrays as a whole.

use forthwith_builders::{BuildError, Sink, Slot};
use pyo3::{
    buffer::{Element, ElementType, PyUntypedBuffer},
    prelude::*,
    types::PyDict,
};
use std::ops::Range;

/// A copy of the items of an array, in C order.
pub(super) struct Flat {
    pub(super) shape: Vec<usize>,
    items: Items,
}

enum Items {
    Boolean(Vec<u8>),
    Integer(Vec<i64>),
    Unsigned(Vec<u64>),
    Real(Vec<f64>),
    /// Pairs of real and imaginary part.
    Complex(Vec<f64>),
    Time(Vec<i64>, String),
}

/// Returns the items of a `numpy.ndarray`; `None` for arrays of objects, text or records.
pub(super) fn flat(array: &Bound<'_, PyAny>) -> PyResult<Option<Flat>> {
    let shape = array.getattr("shape")?.extract()?;
    // Arrays of dates do not support the buffer protocol, and booleans have a format of their own.
    let direct = match PyUntypedBuffer::get(array) {
        Ok(buffer) => numbers(array.py(), &buffer)?,
        Err(_) => None,
    };
    let items = match direct {
        Some(items) => Some(items),
        None => converted(array)?,
    };
    Ok(items.map(|items| Flat { shape, items }))
}

fn numbers(py: Python<'_>, buffer: &PyUntypedBuffer) -> PyResult<Option<Items>> {
    use ElementType::{Float, SignedInteger, UnsignedInteger};
    // The type character does not include the byte order.
    if matches!(buffer.format().to_bytes(), [b'>' | b'!', ..]) != cfg!(target_endian = "big") {
        return Ok(None);
    }
    Ok(Some(match ElementType::from_format(buffer.format()) {
        SignedInteger { bytes: 1 } => Items::Integer(all(py, buffer, |x: i8| x.into())?),
        SignedInteger { bytes: 2 } => Items::Integer(all(py, buffer, |x: i16| x.into())?),
        SignedInteger { bytes: 4 } => Items::Integer(all(py, buffer, |x: i32| x.into())?),
        SignedInteger { bytes: 8 } => Items::Integer(all(py, buffer, |x: i64| x)?),
        UnsignedInteger { bytes: 1 } => Items::Integer(all(py, buffer, |x: u8| x.into())?),
        UnsignedInteger { bytes: 2 } => Items::Integer(all(py, buffer, |x: u16| x.into())?),
        UnsignedInteger { bytes: 4 } => Items::Integer(all(py, buffer, |x: u32| x.into())?),
        UnsignedInteger { bytes: 8 } => Items::Unsigned(all(py, buffer, |x: u64| x)?),
        Float { bytes: 4 } => Items::Real(all(py, buffer, |x: f32| x.into())?),
        Float { bytes: 8 } => Items::Real(all(py, buffer, |x: f64| x)?),
        _ => return Ok(None),
    }))
}

fn all<T: Element, U>(py: Python<'_>, buffer: &PyUntypedBuffer, convert: fn(T) -> U) -> PyResult<Vec<U>> {
    Ok(buffer.as_typed::<T>()?.to_vec(py)?.into_iter().map(convert).collect())
}

/// Converts an array with NumPy: other byte orders and widths, and types that the buffer protocol does not
/// support.
fn converted(array: &Bound<'_, PyAny>) -> PyResult<Option<Items>> {
    let py = array.py();
    let dtype = array.getattr("dtype")?;
    let kind: String = dtype.getattr("kind")?.extract()?;
    let native = dtype.call_method1("newbyteorder", ("=",))?;
    let to = match kind.as_str() {
        "b" => "bool".into_pyobject(py)?.into_any(),
        "i" => "int64".into_pyobject(py)?.into_any(),
        "u" => "uint64".into_pyobject(py)?.into_any(),
        "f" => "float64".into_pyobject(py)?.into_any(),
        "c" => "complex128".into_pyobject(py)?.into_any(),
        "M" | "m" => native.clone(),
        _ => return Ok(None),
    };
    let known = PyDict::new(py);
    known.set_item("dtype", to)?;
    let numpy = py.import("numpy")?;
    let plain =
        numpy.call_method("ascontiguousarray", (array,), Some(&known))?.call_method1("reshape", (-1,))?;
    let seen = |as_type: &str| PyUntypedBuffer::get(&plain.call_method1("view", (as_type,))?);
    Ok(Some(match kind.as_str() {
        "b" => Items::Boolean(all(py, &seen("uint8")?, |x: u8| x)?),
        "i" => Items::Integer(all(py, &seen("int64")?, |x: i64| x)?),
        "u" => Items::Unsigned(all(py, &seen("uint64")?, |x: u64| x)?),
        "f" => Items::Real(all(py, &seen("float64")?, |x: f64| x)?),
        "c" => Items::Complex(all(py, &seen("float64")?, |x: f64| x)?),
        _ => Items::Time(all(py, &seen("int64")?, |x: i64| x)?, native.str()?.to_str()?.to_owned()),
    }))
}

/// Appends the array as one list.
pub(super) fn list(sink: &mut Sink, at: Slot, array: &Flat) -> Result<(), BuildError> {
    let (open, content) = sink.open_list(at)?;
    items(sink, content, array)?;
    sink.close_list(open)
}

/// Appends the items of the array, which are lists if it has more than one dimension.
pub(super) fn items(sink: &mut Sink, at: Slot, array: &Flat) -> Result<(), BuildError> {
    let all = array.shape.iter().product();
    level(sink, at, &array.shape, &array.items, 0..all)
}

fn level(
    sink: &mut Sink,
    at: Slot,
    shape: &[usize],
    items: &Items,
    range: Range<usize>,
) -> Result<(), BuildError> {
    match shape {
        [] | [_] => put(sink, at, items, range),
        [count, inner @ ..] => {
            let each: usize = inner.iter().product();
            for row in 0..*count {
                let (open, content) = sink.open_list(at)?;
                let start = range.start + row * each;
                level(sink, content, inner, items, start..start + each)?;
                sink.close_list(open)?;
            }
            Ok(())
        }
    }
}

fn put(sink: &mut Sink, at: Slot, items: &Items, range: Range<usize>) -> Result<(), BuildError> {
    match items {
        Items::Boolean(items) => items[range].iter().try_for_each(|x| sink.put_boolean(at, *x != 0)),
        Items::Integer(items) => sink.put_integers(at, &items[range]),
        Items::Unsigned(items) => items[range].iter().try_for_each(|x| sink.put_unsigned(at, *x)),
        Items::Real(items) => sink.put_reals(at, &items[range]),
        Items::Complex(items) => {
            let pairs = items[2 * range.start..2 * range.end].as_chunks::<2>().0;
            pairs.iter().try_for_each(|x| sink.put_complex(at, *x))
        }
        Items::Time(items, unit) => items[range].iter().try_for_each(|x| sink.put_time(at, *x, unit)),
    }
}
