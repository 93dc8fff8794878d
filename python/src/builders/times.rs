//! Conversion of dates, times and durations to integers with a unit.

use super::{kinds::Kind, trouble::Walked, walk::described};
use forthwith_builders::Fault;
use pyo3::{
    prelude::*,
    sync::PyOnceLock,
    types::{PyDateTime, PyString},
};
use std::borrow::Cow;

/// Returns the value in units since 1970, or of a duration, and the name of NumPy's type.
pub(super) fn of<'a>(object: &Bound<'_, PyAny>, kind: Kind) -> Walked<(i64, Cow<'a, str>)> {
    let py = object.py();
    Ok(match kind {
        Kind::NumpyTime => {
            let value = object.call_method1("astype", ("int64",))?.extract()?;
            let unit = object.getattr("dtype")?.str()?.to_str()?.to_owned();
            (value, unit.into())
        }
        Kind::DateTime => {
            let since = EPOCH.get_or_try_init(py, || {
                PyDateTime::new(py, 1970, 1, 1, 0, 0, 0, 0, None).map(Bound::unbind)
            })?;
            if !object.call_method0("utcoffset")?.is_none() {
                let (expected, found) = ("a datetime without a zone".into(), described(object).into());
                return Err(Fault::Expected { expected, found }.into());
            }
            let span = object.sub(since.bind(py))?;
            (microseconds(&span, "datetime64[us]")?, "datetime64[us]".into())
        }
        Kind::Date => (day(object)?, "datetime64[D]".into()),
        Kind::Time => (time_of_day(object)?, "datetime64[us]".into()),
        _ => (microseconds(object, "timedelta64[us]")?, "timedelta64[us]".into()),
    })
}

/// Returns value and type of an object that must be of the given class, `datetime64` or `timedelta64`.
pub(super) fn given<'a>(object: &Bound<'_, PyAny>, kind: Kind, class: &str) -> Walked<(i64, Cow<'a, str>)> {
    let may_be = match kind {
        Kind::NumpyTime => true,
        Kind::DateTime | Kind::Date | Kind::Time => class == "datetime64",
        Kind::Delta => class == "timedelta64",
        _ => false,
    };
    let found = if may_be { Some(of(object, kind)?) } else { None };
    let found = found.filter(|(_, unit)| unit.starts_with(class));
    found.ok_or_else(|| Fault::NoElement(described(object).into()).into())
}

/// Converts text with `numpy.datetime64` or `numpy.timedelta64`; other objects are returned unchanged.
pub(super) fn parsed<'py>(object: &Bound<'py, PyAny>, class: &str) -> PyResult<Bound<'py, PyAny>> {
    match object.cast::<PyString>() {
        Ok(text) => object.py().import("numpy")?.getattr(class)?.call1((text,)),
        Err(_) => Ok(object.clone()),
    }
}

fn microseconds(span: &Bound<'_, PyAny>, dtype: &'static str) -> Walked<i64> {
    Ok(span_of(span)?.ok_or(Fault::TooLarge(dtype))?)
}

/// Returns the number of days from 1970-01-01 to a date or datetime.
pub(crate) fn day(date: &Bound<'_, PyAny>) -> PyResult<i64> {
    Ok(date.call_method0("toordinal")?.extract::<i64>()? - DAY_OF_1970)
}

/// Returns the microseconds of a time of day since midnight.
pub(crate) fn time_of_day(time: &Bound<'_, PyAny>) -> PyResult<i64> {
    let part = |name: &str| time.getattr(name)?.extract::<i64>();
    let seconds = (part("hour")? * 60 + part("minute")?) * 60 + part("second")?;
    Ok(seconds * 1_000_000 + part("microsecond")?)
}

/// Returns the microseconds of a duration; `None` if they exceed 64 bits.
pub(crate) fn span_of(span: &Bound<'_, PyAny>) -> PyResult<Option<i64>> {
    let part = |name: &str| span.getattr(name)?.extract::<i64>();
    let seconds = part("days")? * 86_400 + part("seconds")?;
    let micros = part("microseconds")?;
    Ok(seconds.checked_mul(1_000_000).and_then(|whole| whole.checked_add(micros)))
}

static EPOCH: PyOnceLock<Py<PyDateTime>> = PyOnceLock::new();
/// Proleptic Gregorian ordinal of 1970-01-01; that of 0001-01-01 is 1.
const DAY_OF_1970: i64 = 719_163;
