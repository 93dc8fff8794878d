//! Encoding of logical types: dates, times, decimals, UUIDs.

use super::{
    nodes::{Node, Of},
    refused::{Trouble, Walked, Why},
    walk::Walk,
};
use crate::builders::{Kind, day, span_of, time_of_day};
use forthwith::avro::{Logical, Unit, put_long};
use forthwith_builders::TimeUnit;
use pyo3::{
    prelude::*,
    sync::PyOnceLock,
    types::{PyBytes, PyTuple, PyType},
};

/// Penalties of conversions, by which branches of unions are compared. `ALIKE` is for a date as a timestamp,
/// a datetime as its date, or a duration as a time of day; `WHOLE` for an integer as a decimal; `SPELLED` for
/// text as a date.
const ALIKE: u32 = 6;
const WHOLE: u32 = 10;
const SPELLED: u32 = 22;
/// Additional penalty of integers and bytes for a logical type.
const BARE: u32 = 2;
const DAY: i64 = 86_400_000_000;

impl Walk<'_, '_> {
    /// Encodes a value of the logical type's Python class, or of the type that stores it; returns the
    /// penalty. Returns `None` for values that are to be encoded as the underlying type.
    pub(super) fn meant(
        &mut self,
        at: usize,
        node: &Node,
        logical: Logical,
        object: &Bound<'_, PyAny>,
        kind: Kind,
        out: &mut Vec<u8>,
    ) -> Walked<Option<u32>> {
        let wrong = || Trouble::refused(at, Why::Type(object.clone().unbind()));
        let beyond = || Trouble::refused(at, Why::Range(object.clone().unbind()));
        let number = match (logical, kind) {
            (Logical::Decimal { precision, scale }, kind) => {
                let score = match kind {
                    Kind::Bytes => return Ok(Some(self.scalar(at, node, object, kind, out)? + ALIKE)),
                    Kind::Int => WHOLE,
                    Kind::Other if object.is_instance(class(self.py, &DECIMAL, "decimal", "Decimal")?)? => 0,
                    Kind::Other => return Ok(None),
                    _ => return Err(wrong()),
                };
                let whole = unscaled(object, precision, scale)?.ok_or_else(beyond)?;
                decimal(&whole, node, out).ok_or_else(beyond)?;
                return Ok(Some(score));
            }
            (Logical::Uuid, Kind::Other) => {
                if !object.is_instance(class(self.py, &UUID, "uuid", "UUID")?)? {
                    return Ok(None);
                }
                if let Of::Fixed(_) = node.of {
                    out.extend_from_slice(object.getattr("bytes")?.cast::<PyBytes>()?.as_bytes());
                    return Ok(Some(1));
                } else {
                    let text = object.str()?;
                    let text = text.to_str()?;
                    put_long(text.len() as i64, out);
                    out.extend_from_slice(text.as_bytes());
                }
                return Ok(Some(0));
            }
            (Logical::Uuid, Kind::Str) => {
                let score = self.scalar(at, node, object, kind, out)?;
                let is_one = object.extract::<String>().is_ok_and(|text| spells_uuid(&text));
                return Ok(Some(if is_one { score } else { score + SPELLED }));
            }
            (Logical::Uuid | Logical::Duration, _) => return Ok(None),
            // Integers are encoded unchanged.
            (_, Kind::Int) => return Ok(Some(self.scalar(at, node, object, kind, out)? + BARE)),
            (_, Kind::NumpyInt | Kind::Other) => return Ok(None),
            (Logical::Date, Kind::Date | Kind::DateTime) => {
                let score = if kind == Kind::Date { 0 } else { ALIKE };
                (day(object)?, score)
            }
            (Logical::Date, Kind::Str) => {
                let date = class(self.py, &DATE, "datetime", "date")?;
                let date = date.call_method1("fromisoformat", (object,)).map_err(|_| wrong())?;
                (day(&date)?, SPELLED)
            }
            (Logical::Date, Kind::NumpyTime) => (numpy(object, "M", "D")?.ok_or_else(wrong)?, 0),
            (Logical::Time(unit), Kind::Time) => {
                let micros = time_of_day(object)?;
                let is_cut = matches!(unit, Unit::Milli) && micros % 1000 != 0;
                (in_unit(micros, 0, unit).ok_or_else(beyond)?, if is_cut { BARE } else { 0 })
            }
            (Logical::Time(unit), Kind::Delta) => {
                let micros =
                    span_of(object)?.filter(|micros| (0..DAY).contains(micros)).ok_or_else(beyond)?;
                (in_unit(micros, 0, unit).ok_or_else(beyond)?, ALIKE)
            }
            (Logical::Time(unit), Kind::NumpyTime) => {
                let span = numpy(object, "m", short(unit))?.ok_or_else(wrong)?;
                let nanos = numpy(object, "m", "ns")?.filter(|nanos| (0..DAY * 1000).contains(nanos));
                (nanos.map(|_| span).ok_or_else(beyond)?, ALIKE)
            }
            // `NaT` of pandas is an instance of `datetime`.
            (_, Kind::DateTime) if object.getattr_opt("_value")?.is_some() && !object.eq(object)? => {
                return Err(wrong());
            }
            (Logical::Timestamp(unit), Kind::DateTime) => {
                (self.moment(object, unit, false)?.ok_or_else(beyond)?, 0)
            }
            (Logical::LocalTimestamp(unit), Kind::DateTime) => {
                (self.moment(object, unit, true)?.ok_or_else(beyond)?, 0)
            }
            (Logical::Timestamp(unit) | Logical::LocalTimestamp(unit), Kind::Date) => {
                (in_unit(day(object)? * DAY, 0, unit).ok_or_else(beyond)?, ALIKE)
            }
            (Logical::Timestamp(unit) | Logical::LocalTimestamp(unit), Kind::NumpyTime) => {
                (numpy(object, "M", short(unit))?.ok_or_else(wrong)?, 0)
            }
            _ => return Err(wrong()),
        };
        if let (Of::Int, Err(_)) = (&node.of, i32::try_from(number.0)) {
            return Err(beyond());
        }
        put_long(number.0, out);
        Ok(Some(number.1))
    }

    /// Returns a `datetime` in units since 1970: in UTC, which is also assumed without a time zone, or, with
    /// `local`, as wall-clock time. Returns `None` on overflow.
    fn moment(&self, object: &Bound<'_, PyAny>, unit: Unit, local: bool) -> PyResult<Option<i64>> {
        let py = self.py;
        let aware = !object.call_method0("utcoffset")?.is_none();
        let since = if aware && !local {
            EPOCH.get_or_try_init(py, || {
                let utc = py.import("datetime")?.getattr("timezone")?.getattr("utc")?;
                let class = class(py, &DATETIME, "datetime", "datetime")?;
                class.call1((1970, 1, 1, 0, 0, 0, 0, utc)).map(Bound::unbind)
            })?
        } else {
            LOCAL.get_or_try_init(py, || {
                class(py, &DATETIME, "datetime", "datetime")?.call1((1970, 1, 1)).map(Bound::unbind)
            })?
        };
        let bare = if object.getattr("tzinfo")?.is_none() || (aware && !local) {
            object.clone()
        } else {
            let without = pyo3::types::PyDict::new(object.py());
            without.set_item("tzinfo", object.py().None())?;
            object.call_method("replace", (), Some(&without))?
        };
        // Timestamps of pandas have nanoseconds.
        let nanos = match object.getattr_opt("nanosecond")? {
            Some(nanos) => nanos.extract::<i64>()?,
            None => 0,
        };
        Ok(span_of(&bare.sub(since.bind(object.py()))?)?.and_then(|micros| in_unit(micros, nanos, unit)))
    }
}

/// Whether a text has the form of a UUID. Other text may be encoded as well, with a penalty.
fn spells_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// Converts microseconds, and nanoseconds below them, to a unit, rounded down. Returns `None` on overflow.
fn in_unit(micros: i64, nanos: i64, unit: Unit) -> Option<i64> {
    match unit {
        Unit::Milli => Some(micros.div_euclid(1000)),
        Unit::Micro => Some(micros),
        Unit::Nano => micros.checked_mul(1000)?.checked_add(nanos),
    }
}

const fn short(unit: Unit) -> &'static str {
    match unit {
        Unit::Milli => "ms",
        Unit::Micro => "us",
        Unit::Nano => "ns",
    }
}

/// Converts a `datetime64` (kind `M`) or `timedelta64` (kind `m`) of NumPy to a unit, rounded down. Returns
/// `None` for the other kind, for `NaT` and on overflow, at which NumPy itself would wrap.
fn numpy(object: &Bound<'_, PyAny>, kind: &str, unit: &str) -> PyResult<Option<i64>> {
    let dtype = object.getattr("dtype")?;
    if dtype.getattr("kind")?.extract::<String>()? != kind {
        return Ok(None);
    }
    let (own, count): (String, i64) =
        object.py().import("numpy")?.call_method1("datetime_data", (&dtype,))?.extract()?;
    let number: i64 = object.call_method1("astype", ("int64",))?.extract()?;
    if number == i64::MIN {
        return Ok(None);
    }
    if let "Y" | "M" = &*own {
        // Years that do not overflow in any of the units.
        let near = number.checked_mul(count).is_some_and(|number| number.abs() < 1 << 24);
        let days = object.call_method1("astype", (format!("{kind}8[D]"),));
        return if near && kind == "M" { numpy(&days?, kind, unit) } else { Ok(None) };
    }
    // Length of a unit, if it is constant.
    let length = |unit: &str| TimeUnit::from_name(unit)?.attoseconds();
    let (Some(from), Some(to)) = (length(&own), length(unit)) else { return Ok(None) };
    let number = i128::from(number) * i128::from(count);
    let moved = if from >= to { number.checked_mul(from / to) } else { Some(number.div_euclid(to / from)) };
    Ok(moved.and_then(|moved| i64::try_from(moved).ok()))
}

/// Returns a decimal as an integer, multiplied by ten to the power of `scale`; `None` if it has more digits
/// than `precision` and `scale` allow.
fn unscaled<'py>(
    object: &Bound<'py, PyAny>,
    precision: u32,
    scale: u32,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let class = class(object.py(), &DECIMAL, "decimal", "Decimal")?;
    let exact = class.call1((object,))?;
    let parts = exact.call_method0("as_tuple")?;
    let (sign, digits, exponent) = (parts.get_item(0)?, parts.get_item(1)?, parts.get_item(2)?);
    // The exponent of infinities and `NaN` is a letter.
    let Ok(exponent) = exponent.extract::<i64>() else { return Ok(None) };
    let mut digits: Vec<u8> = digits.extract::<Vec<u8>>()?;
    let Some(mut more) = exponent.checked_add(i64::from(scale)) else { return Ok(None) };
    while more < 0 && digits.pop_if(|last| *last == 0).is_some() {
        more += 1;
    }
    let leading = digits.iter().take_while(|digit| **digit == 0).count();
    digits.drain(..leading);
    if digits.is_empty() {
        (digits, more) = (vec![0], 0);
    }
    let count = (digits.len() as i64).checked_add(more);
    if more < 0 || count.is_none_or(|count| count > i64::from(precision)) && digits != [0] {
        return Ok(None);
    }
    let digits = PyTuple::new(object.py(), digits)?;
    class.call1(((sign, digits, more),))?.call_method0("__int__").map(Some)
}

/// Encodes an integer as big-endian two's complement; `None` if it exceeds a fixed size.
fn decimal(whole: &Bound<'_, PyAny>, node: &Node, out: &mut Vec<u8>) -> Option<()> {
    let size = match node.of {
        Of::Fixed(size) => size,
        _ => whole.call_method0("bit_length").ok()?.extract::<usize>().ok()? / 8 + 1,
    };
    let signed = pyo3::types::PyDict::new(whole.py());
    signed.set_item("signed", true).ok()?;
    let bytes = whole.call_method("to_bytes", (size, "big"), Some(&signed)).ok()?;
    let bytes = bytes.cast::<PyBytes>().ok()?;
    if !matches!(node.of, Of::Fixed(_)) {
        put_long(size as i64, out);
    }
    out.extend_from_slice(bytes.as_bytes());
    Some(())
}

static DECIMAL: PyOnceLock<Py<PyType>> = PyOnceLock::new();
pub(super) static UUID: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static DATE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static DATETIME: PyOnceLock<Py<PyType>> = PyOnceLock::new();
/// 1970-01-01 in UTC, and without a time zone.
static EPOCH: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static LOCAL: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

pub(super) fn class<'py>(
    py: Python<'py>,
    cell: &'static PyOnceLock<Py<PyType>>,
    module: &str,
    name: &str,
) -> PyResult<&'py Bound<'py, PyType>> {
    cell.import(py, module, name)
}
