//! Answers and faults of stores.

use bytes::Bytes;
use forthwith_io::ErrorKind;
use std::ops::Range;

/// The bytes that a request asks for.
#[derive(Clone, Debug)]
pub(crate) enum Wanted {
    /// Ranges, ascending and disjoint. A store without multi-range requests answers the first only.
    Ranges(Vec<Range<u64>>),
    /// The last bytes, or all if the file has fewer.
    End(u64),
    /// The first and the last bytes, or all if the file has fewer, by a request of two ranges.
    Ends { head: u64, end: u64 },
}

impl Wanted {
    pub(crate) fn one(range: Range<u64>) -> Self {
        Self::Ranges(std::iter::once(range).collect())
    }

    pub(crate) fn is_several(&self) -> bool {
        self.count() > 1
    }

    /// Returns the number of ranges.
    pub(crate) fn count(&self) -> usize {
        match self {
            Self::Ranges(ranges) => ranges.len(),
            Self::End(_) => 1,
            Self::Ends { .. } => 2,
        }
    }

    /// Returns an upper bound on the number of bytes of an answer.
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Self::Ranges(ranges) => {
                ranges.iter().fold(0, |sum, range| sum.saturating_add(range.end - range.start))
            }
            Self::End(length) => *length,
            Self::Ends { head, end } => head + end,
        }
    }
}

/// Bytes of a file, and their offset.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) start: u64,
    pub(crate) bytes: Bytes,
}

impl Part {
    pub(crate) fn range(&self) -> Range<u64> {
        self.start..self.start.saturating_add(self.bytes.len() as u64)
    }

    /// Returns the bytes of a range; `None` if the part does not contain all of them.
    pub(crate) fn slice(&self, range: &Range<u64>) -> Option<Bytes> {
        let own = self.range();
        (own.start <= range.start && range.end <= own.end)
            .then(|| self.bytes.slice((range.start - own.start) as usize..(range.end - own.start) as usize))
    }
}

/// An answer: all of the wanted bytes or a leading part of them, and the state of the file.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) parts: Vec<Part>,
    pub(crate) mark: Mark,
}

/// The state of a file, which has to be the same in all answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) size: u64,
    /// The entity tag, or the time of the last change if there is none.
    pub(crate) tag: Option<String>,
    /// Whether the file was changed within the second of the answer: a tag derived from that time may miss a
    /// later change.
    pub(crate) fresh: bool,
}

impl Mark {
    /// Creates the state of a file with a size and a tag.
    pub(crate) fn new(size: u64, tag: Option<String>) -> Self {
        Self { size, tag, fresh: false }
    }

    /// Returns an error if an answer is of another state.
    pub(crate) fn compare(&self, other: &Self) -> Result<(), ErrorKind> {
        if self.size != other.size {
            let what = format!("{} bytes then, {} now", self.size, other.size);
            return Err(ErrorKind::Changed { what });
        }
        match (&self.tag, &other.tag) {
            (Some(before), Some(now)) if before != now => {
                Err(ErrorKind::Changed { what: format!("its mark was {before}, and is {now}") })
            }
            _ => Ok(()),
        }
    }

    /// Returns an error if an answer is not of the state that an index describes. An answer without a tag is
    /// of another state if the index has one.
    pub(crate) fn compare_with_index(&self, now: &Self) -> Result<(), ErrorKind> {
        let different = match (self.compare(now), &self.tag, &now.tag) {
            (Err(ErrorKind::Changed { what }), ..) => what,
            (_, Some(before), None) => format!("its mark was {before}, and now it has none"),
            (compared, ..) => return compared,
        };
        Err(stale(&different))
    }
}

/// Returns the error for an index of another state of the file.
pub(crate) fn stale(different: &str) -> ErrorKind {
    let what = format!("the file changed since its index was made ({different}): make it anew");
    ErrorKind::Index { what }
}

/// A request that failed.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) kind: ErrorKind,
    /// Whether the request may succeed if it is repeated.
    pub(crate) passing: bool,
    /// Whether ranges that were requested together may succeed one by one.
    pub(crate) singly: bool,
    /// Size of the file, from a server that refuses a range as outside of it.
    pub(crate) unsatisfied: Option<u64>,
    /// Bytes received before the failure.
    pub(crate) parts: Vec<Part>,
    /// State of the file that `parts` belong to.
    pub(crate) mark: Option<Box<Mark>>,
}

impl Fault {
    pub(crate) fn lasting(kind: ErrorKind) -> Self {
        Self { kind, passing: false, singly: false, unsatisfied: None, parts: Vec::new(), mark: None }
    }

    pub(crate) fn passing(text: String) -> Self {
        Self { passing: true, ..Self::answer(text) }
    }

    /// Creates a fault of the server's answer, which a repetition would not mend.
    pub(crate) fn answer(text: impl Into<String>) -> Self {
        Self::lasting(ErrorKind::Remote { text: crate::redact(&text.into()) })
    }

    pub(crate) fn with(self, parts: Vec<Part>, mark: Mark) -> Self {
        Self { parts, mark: Some(Box::new(mark)), ..self }
    }
}
