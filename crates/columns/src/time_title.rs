//! Logical types of times in titles, for files whose columns are plain numbers.
//!
//! Such a title ends in a note that no other writer uses, `(forthwith:timestamp[us])`. Words such as `us
//! since 1970-01-01` occur in titles of other writers, too, and are only for human readers.

use crate::{DType, Form, LogicalType, TimeUnit};

const BEGIN: &str = "(forthwith:";
const END: char = ')';

impl LogicalType {
    /// Whether values are dates, times of day, timestamps or durations.
    #[must_use]
    pub const fn is_time(self) -> bool {
        matches!(self, Self::Date | Self::Time(_) | Self::Timestamp { .. } | Self::Duration(_))
    }

    /// Returns the note at the end of a title, from which [`of_title`](Self::of_title) restores the logical
    /// type.
    #[must_use]
    pub fn title_note(self) -> String {
        format!("{BEGIN}{self}{END}")
    }

    /// Returns a title with unit and origin of times, and the note; `None` for logical types other than
    /// times.
    #[must_use]
    pub fn time_title(self) -> Option<String> {
        let words = match self {
            Self::Timestamp { unit, zone } => {
                format!("{} since 1970-01-01{}", unit.name(), if zone.is_some() { " UTC" } else { "" })
            }
            Self::Date => "days since 1970-01-01".to_owned(),
            Self::Time(unit) => format!("{} since midnight", unit.name()),
            Self::Duration(unit) => unit.name().to_owned(),
            Self::Decimal { .. } | Self::Half => return None,
        };
        Some(format!("{words} {}", self.title_note()))
    }

    /// Parses the note at the end of a title; `None` if there is none, or if it names a type other than a
    /// time.
    #[must_use]
    pub fn of_title(title: &str) -> Option<Self> {
        let (_, name) = title.strip_suffix(END)?.rsplit_once(BEGIN)?;
        Self::parse(name).filter(|meaning| meaning.is_time())
    }

    /// Whether such times are stored as numbers of `dtype`.
    const fn is_counted_in(self, dtype: DType) -> bool {
        match self {
            Self::Date | Self::Time(TimeUnit::Milli) => matches!(dtype, DType::Int32),
            _ => matches!(dtype, DType::Int64),
        }
    }
}

impl Form {
    /// Returns the logical type of times, at any depth of lists and options; `None` for other Forms.
    #[must_use]
    pub fn times(&self) -> Option<LogicalType> {
        match self {
            Self::Option { content, .. } | Self::List { content, .. } | Self::Regular { content, .. } => {
                content.times()
            }
            Self::Logical { meaning, .. } => Some(*meaning).filter(|meaning| meaning.is_time()),
            _ => None,
        }
    }

    /// Changes numbers, at any depth of lists and options, to times. Numbers of another type than these times
    /// are stored in are unchanged.
    #[must_use]
    pub fn with_times(mut self, times: LogicalType) -> Self {
        match self {
            Self::Numpy { key, dtype, shape } if times.is_counted_in(dtype) => {
                let numbers = Box::new(Self::Numpy { key, dtype, shape: Vec::new() });
                let times = Self::Logical { meaning: times, content: numbers };
                let inside = |content, size: &u64| Self::Regular { size: *size, content: Box::new(content) };
                shape.iter().rev().fold(times, inside)
            }
            Self::Option { ref mut content, .. }
            | Self::List { ref mut content, .. }
            | Self::Regular { ref mut content, .. } => {
                let inner = std::mem::replace(&mut **content, Self::Empty);
                **content = inner.with_times(times);
                self
            }
            other => other,
        }
    }

    /// Changes times to the numbers that store them. The columns are unchanged.
    pub fn strip_times(&mut self) {
        self.change(&mut |node| {
            while let Self::Logical { meaning, content } = node
                && meaning.is_time()
            {
                *node = std::mem::replace(content, Self::Empty);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Zone;

    fn all() -> Vec<LogicalType> {
        let units = [TimeUnit::Milli, TimeUnit::Micro, TimeUnit::Nano];
        let zones = [None, Some(Zone::UTC), Zone::parse("Europe/Berlin")];
        let stamps = units
            .iter()
            .flat_map(|unit| zones.iter().map(|zone| LogicalType::Timestamp { unit: *unit, zone: *zone }));
        let clocks = units.iter().flat_map(|unit| [LogicalType::Time(*unit), LogicalType::Duration(*unit)]);
        let others = [LogicalType::Date, LogicalType::Duration(TimeUnit::Second)];
        stamps.chain(clocks).chain(others).collect()
    }

    #[test]
    fn titles_are_read_again() {
        for times in all() {
            let title = times.time_title().expect("times");
            assert_eq!(LogicalType::of_title(&title), Some(times), "{title}");
            assert_eq!(LogicalType::of_title(&format!("When {}", times.title_note())), Some(times));
        }
        assert_eq!(LogicalType::Half.time_title(), None);
    }

    #[test]
    fn titles_of_other_writers_say_nothing() {
        let titles = [
            "",
            ")",
            "s",
            "us since 1970-01-01",
            "timestamp[us]",
            "(timestamp[us])",
            "(forthwith:timestamp[us]) of the event",
            "(forthwith:float16)",
            "(forthwith:decimal[4, 2])",
            "(forthwith:)",
            "(forthwith:timestamp[us]",
            "forthwith:date)",
        ];
        for title in titles {
            assert_eq!(LogicalType::of_title(title), None, "{title}");
        }
    }

    #[test]
    fn numbers_of_the_right_type_become_times() {
        let numbers = |dtype, shape: &[u64]| Form::Numpy { key: "n".into(), dtype, shape: shape.into() };
        let list = |content| Form::List { key: "l".into(), content: Box::new(content) };
        let day = LogicalType::Date;
        let mut days = list(numbers(DType::Int32, &[2, 3])).with_times(day);
        assert_eq!(days.type_string(), "var * 2 * 3 * date");
        assert_eq!(days.times(), Some(day));
        days.strip_times();
        assert_eq!(days.type_string(), "var * 2 * 3 * int32");
        assert_eq!(numbers(DType::Int64, &[]).with_times(day), numbers(DType::Int64, &[]));
        let record = Form::Record { fields: None, contents: vec![numbers(DType::Int32, &[])], name: None };
        assert_eq!(record.clone().with_times(day), record);
    }
}
