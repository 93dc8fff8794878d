//! Dates, times, durations and decimals as objects of Python's own classes.

use crate::errors;
use forthwith::{
    columns::{LogicalType, TimeUnit, Zone, calendar},
    plan::{Error, Place},
};
use pyo3::{
    prelude::*,
    sync::PyOnceLock,
    types::{PyBytes, PyDict, PyInt},
};
use std::cell::RefCell;

/// Microseconds of a day.
const DAY: i64 = 86_400_000_000;

/// Constructors of Python's classes, and the last time zone. Dates and times are created from the bytes of
/// their pickled state, in a third of the time of a call with year, month and so on.
pub(super) struct Moments<'py, 'a> {
    py: Python<'py>,
    /// File, column and first entry of the values, for errors.
    place: &'a Place,
    date: &'py Bound<'py, PyAny>,
    time: &'py Bound<'py, PyAny>,
    datetime: &'py Bound<'py, PyAny>,
    timedelta: &'py Bound<'py, PyAny>,
    decimal: &'py Bound<'py, PyAny>,
    zone: RefCell<Option<(Zone, Bound<'py, PyAny>)>>,
    whole_nanoseconds: bool,
}

static DATE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static TIME: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static DATETIME: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static TIMEDELTA: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static DECIMAL: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

impl<'py, 'a> Moments<'py, 'a> {
    pub(super) fn new(py: Python<'py>, place: &'a Place, whole_nanoseconds: bool) -> PyResult<Self> {
        Ok(Self {
            py,
            place,
            date: DATE.import(py, "datetime", "date")?,
            time: TIME.import(py, "datetime", "time")?,
            datetime: DATETIME.import(py, "datetime", "datetime")?,
            timedelta: TIMEDELTA.import(py, "datetime", "timedelta")?,
            decimal: DECIMAL.import(py, "decimal", "Decimal")?,
            zone: RefCell::new(None),
            whole_nanoseconds,
        })
    }

    /// Returns the Python object of a value of a logical type.
    pub(super) fn object(&self, meaning: LogicalType, value: i64) -> PyResult<Bound<'py, PyAny>> {
        let microseconds = match meaning {
            LogicalType::Time(unit) | LogicalType::Duration(unit) | LogicalType::Timestamp { unit, .. } => {
                if unit == TimeUnit::Nano && self.whole_nanoseconds {
                    return Ok(PyInt::new(self.py, value).into_any());
                }
                self.microseconds(meaning, unit, value)?
            }
            _ => value,
        };
        match meaning {
            LogicalType::Decimal { .. } => self.decimal.call1((meaning.spell_number(value),)),
            LogicalType::Date => {
                let [year, month, day] = self.calendar(meaning, value, value)?;
                let [century, year] = (year as u16).to_be_bytes();
                self.date.call1((PyBytes::new(self.py, &[century, year, month as u8, day as u8]),))
            }
            LogicalType::Time(_) if !(0..DAY).contains(&microseconds) => Err(self.outside(meaning, value)),
            LogicalType::Time(_) => self.time.call1((PyBytes::new(self.py, &clock(microseconds)),)),
            LogicalType::Duration(_) => self.timedelta.call1((0, 0, microseconds)),
            LogicalType::Timestamp { zone, .. } => {
                let day = self.calendar(meaning, value, microseconds.div_euclid(DAY))?;
                self.timestamp(day, microseconds.rem_euclid(DAY), zone)
            }
            _ => Ok(PyInt::new(self.py, value).into_any()),
        }
    }

    fn microseconds(&self, meaning: LogicalType, unit: TimeUnit, value: i64) -> PyResult<i64> {
        let scaled = match unit {
            TimeUnit::Second => value.checked_mul(1_000_000),
            TimeUnit::Milli => value.checked_mul(1_000),
            TimeUnit::Micro => Some(value),
            TimeUnit::Nano => (value % 1_000 == 0).then_some(value / 1_000),
        };
        scaled.ok_or_else(|| self.outside(meaning, value))
    }

    #[cold]
    fn outside(&self, meaning: LogicalType, value: i64) -> PyErr {
        let spelled = meaning.spell_number(value).unwrap_or_default();
        let error =
            Error::unsupported(format!("{spelled}, a {meaning}, which Python's datetime does not have"));
        let error = error.in_object(self.place.object.as_deref().unwrap_or_default());
        errors::exception(self.py, &error.in_file(self.place.uri.as_deref().unwrap_or_default()))
    }

    /// Returns year, month and day, or an error for years that Python's classes do not support.
    fn calendar(&self, meaning: LogicalType, value: i64, day: i64) -> PyResult<[i64; 3]> {
        let date = calendar(day);
        if (1..=9999).contains(&date[0]) { Ok(date) } else { Err(self.outside(meaning, value)) }
    }

    fn timestamp(
        &self,
        [year, month, day]: [i64; 3],
        microseconds: i64,
        zone: Option<Zone>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut state = [0; 10];
        let [century, year] = (year as u16).to_be_bytes();
        state[..4].copy_from_slice(&[century, year, month as u8, day as u8]);
        state[4..].copy_from_slice(&clock(microseconds));
        let state = PyBytes::new(self.py, &state);
        let Some(zone) = zone else { return self.datetime.call1((state,)) };
        let zone_info = self.zone(zone)?;
        let moment = self.datetime.call1((state, &zone_info))?;
        if zone == Zone::UTC { Ok(moment) } else { zone_info.call_method1("fromutc", (moment,)) }
    }

    /// Returns Python's object for a time zone.
    fn zone(&self, zone: Zone) -> PyResult<Bound<'py, PyAny>> {
        if let Some((known, object)) = &*self.zone.borrow()
            && *known == zone
        {
            return Ok(object.clone());
        }
        let module = self.py.import("datetime")?;
        let object = if zone == Zone::UTC {
            module.getattr("timezone")?.getattr("utc")?
        } else if let Some(minutes) = offset(zone.name()) {
            let span = self.timedelta.call1((0, minutes * 60))?;
            module.getattr("timezone")?.call1((span,))?
        } else {
            self.py.import("zoneinfo")?.getattr("ZoneInfo")?.call1((zone.name(),))?
        };
        *self.zone.borrow_mut() = Some((zone, object.clone()));
        Ok(object)
    }

    /// Returns the decimal of a big-endian integer of any length.
    pub(super) fn decimal_of_bytes(
        &self,
        meaning: LogicalType,
        bytes: &[u8],
        scale: u32,
    ) -> PyResult<Bound<'py, PyAny>> {
        if let Ok(Some(text)) = meaning.spell_bytes(bytes) {
            return self.decimal.call1((text,));
        }
        let signed = PyDict::new(self.py);
        signed.set_item("signed", true)?;
        let whole = self.py.get_type::<PyInt>();
        let whole = whole.call_method("from_bytes", (PyBytes::new(self.py, bytes), "big"), Some(&signed))?;
        self.decimal.call1((format!("{}E-{scale}", whole.str()?),))
    }
}

/// Returns hour, minute, second and microsecond of a time of day as in the pickled state of Python's classes.
fn clock(microseconds: i64) -> [u8; 6] {
    let seconds = microseconds / 1_000_000;
    let [_, high, middle, low] = ((microseconds % 1_000_000) as u32).to_be_bytes();
    [(seconds / 3600) as u8, (seconds / 60 % 60) as u8, (seconds % 60) as u8, high, middle, low]
}

/// Returns the offset from UTC in minutes of a zone such as `+02:00`; `None` for other names.
fn offset(name: &str) -> Option<i64> {
    let sign = if name.starts_with('-') { -1 } else { 1 };
    let (hours, minutes) = name.strip_prefix(['+', '-'])?.split_once(':')?;
    Some(sign * (hours.parse::<i64>().ok()? * 60 + minutes.parse::<i64>().ok()?))
}
