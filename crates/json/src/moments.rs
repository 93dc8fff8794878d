//! Inference of date and timestamp types from ISO 8601 strings.

use forthwith_columns::{DType, LogicalType, Moment, TimeUnit, Zone};

/// Kinds of strings that were found at a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Moments {
    dates: bool,
    times: bool,
    zoned: bool,
    local: bool,
    /// Timestamps with more than six digits after the decimal point.
    fine: bool,
    /// Timestamps that are out of range for 64-bit nanoseconds.
    far: bool,
    /// Strings that are neither dates nor timestamps.
    others: bool,
}

impl Moments {
    /// Records the kind of a string.
    #[inline]
    pub(crate) fn add(&mut self, text: &str) {
        if self.others {
            return;
        }
        let is_like = text.len() >= 10 && text.as_bytes()[4] == b'-';
        match if is_like { Moment::parse(text.as_bytes()) } else { None } {
            None => self.others = true,
            Some(_) if text.len() == 10 => self.dates = true,
            Some(moment) => {
                self.times = true;
                self.zoned |= moment.has_zone();
                self.local |= !moment.has_zone();
                self.fine |= moment.count(timestamp(TimeUnit::Micro, true)).is_ok_and(|(_, rest)| rest);
                let nano = moment.count(timestamp(TimeUnit::Nano, true));
                self.far |= !nano.is_ok_and(|(count, _)| i64::try_from(count).is_ok());
            }
        }
    }

    /// Merges the kinds found in another part of the file.
    pub(crate) fn merge(&mut self, other: Self) {
        self.dates |= other.dates;
        self.times |= other.times;
        self.zoned |= other.zoned;
        self.local |= other.local;
        self.fine |= other.fine;
        self.far |= other.far;
        self.others |= other.others;
    }

    /// Returns the type that represents all strings exactly; `None` unless all are dates, or all are
    /// timestamps with a zone, or all are timestamps without one.
    pub(crate) fn found(self) -> Option<LogicalType> {
        match self {
            Self { others: true, .. } | Self { dates: true, times: true, .. } => None,
            Self { dates: true, .. } => Some(LogicalType::Date),
            Self { zoned: true, local: true, .. } | Self { fine: true, far: true, .. } => None,
            Self { times: true, fine, zoned, .. } => {
                Some(timestamp(if fine { TimeUnit::Nano } else { TimeUnit::Micro }, zoned))
            }
            _ => None,
        }
    }

    /// Returns the storage type of a date or timestamp type.
    pub(crate) fn dtype(meaning: LogicalType) -> DType {
        if meaning == LogicalType::Date { DType::Int32 } else { DType::Int64 }
    }
}

fn timestamp(unit: TimeUnit, is_zoned: bool) -> LogicalType {
    LogicalType::Timestamp { unit, zone: is_zoned.then_some(Zone::UTC) }
}
