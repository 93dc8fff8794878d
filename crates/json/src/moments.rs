//! Texts that are dates or times in ISO form.

use forthwith_columns::{DType, LogicalType, Moment, TimeUnit, Zone};

/// What the texts of a place have been so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Moments {
    dates: bool,
    times: bool,
    zoned: bool,
    local: bool,
    /// Times with more than six digits behind the second.
    fine: bool,
    /// Times that nanoseconds of 64 bits do not reach.
    far: bool,
    /// Texts that are neither.
    others: bool,
}

impl Moments {
    /// Takes note of a text.
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

    /// Adds the texts of another part.
    pub(crate) fn merge(&mut self, other: Self) {
        self.dates |= other.dates;
        self.times |= other.times;
        self.zoned |= other.zoned;
        self.local |= other.local;
        self.fine |= other.fine;
        self.far |= other.far;
        self.others |= other.others;
    }

    /// The type that keeps all of them, if they are all dates or all times with or all without a zone.
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

    /// The type of the numbers of a meaning.
    pub(crate) fn dtype(meaning: LogicalType) -> DType {
        if meaning == LogicalType::Date { DType::Int32 } else { DType::Int64 }
    }
}

fn timestamp(unit: TimeUnit, is_zoned: bool) -> LogicalType {
    LogicalType::Timestamp { unit, zone: is_zoned.then_some(Zone::UTC) }
}
