//! Answers of stores and their faults.

use bytes::Bytes;
use forthwith_io::ErrorKind;
use std::ops::Range;

/// A request of a store.
#[derive(Clone, Debug)]
pub(crate) enum Wanted {
    /// These ranges, ascending and apart. A store without multi-range requests answers the first only.
    Ranges(Vec<Range<u64>>),
    /// The last bytes, fewer if there are fewer.
    End(u64),
    /// The first bytes and the last ones, of which there may be fewer, by a request of two ranges.
    Ends { head: u64, end: u64 },
}

impl Wanted {
    pub(crate) fn one(range: Range<u64>) -> Self {
        Self::Ranges(std::iter::once(range).collect())
    }

    pub(crate) fn is_several(&self) -> bool {
        self.count() > 1
    }

    /// The number of ranges.
    pub(crate) fn count(&self) -> usize {
        match self {
            Self::Ranges(ranges) => ranges.len(),
            Self::End(_) => 1,
            Self::Ends { .. } => 2,
        }
    }

    /// Upper bound on the bytes of an answer.
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

/// A part of a file, and where it begins.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) start: u64,
    pub(crate) bytes: Bytes,
}

impl Part {
    pub(crate) fn range(&self) -> Range<u64> {
        self.start..self.start.saturating_add(self.bytes.len() as u64)
    }

    /// The bytes of a range, if the part has them all.
    pub(crate) fn slice(&self, range: &Range<u64>) -> Option<Bytes> {
        let own = self.range();
        (own.start <= range.start && range.end <= own.end)
            .then(|| self.bytes.slice((range.start - own.start) as usize..(range.end - own.start) as usize))
    }
}

/// An answer: some of the wanted bytes from the beginning on, and the file's state.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) parts: Vec<Part>,
    pub(crate) mark: Mark,
}

/// The state of a file: all answers have to agree about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) size: u64,
    /// The entity tag, or the time of the last change where there is none.
    pub(crate) tag: Option<String>,
    /// Whether the file was changed in the second of the answer: tags that are made of such times may miss a later change.
    pub(crate) fresh: bool,
}

impl Mark {
    /// The state of a file with these.
    pub(crate) fn new(size: u64, tag: Option<String>) -> Self {
        Self { size, tag, fresh: false }
    }

    /// The error of an answer of another state.
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

    /// The error of an answer that is not of the state that an index is of. No mark is another one, too.
    pub(crate) fn compare_with_index(&self, now: &Self) -> Result<(), ErrorKind> {
        let different = match (self.compare(now), &self.tag, &now.tag) {
            (Err(ErrorKind::Changed { what }), ..) => what,
            (_, Some(before), None) => format!("its mark was {before}, and now it has none"),
            (compared, ..) => return compared,
        };
        Err(stale(&different))
    }
}

/// The error of an index of another state of the file.
pub(crate) fn stale(different: &str) -> ErrorKind {
    let what = format!("the file changed since its index was made ({different}): make it anew");
    ErrorKind::Index { what }
}

/// A request that failed.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) kind: ErrorKind,
    /// Whether it may go well another time.
    pub(crate) passing: bool,
    /// Whether ranges that were asked for together may go well one by one.
    pub(crate) singly: bool,
    /// The size of the file, from a server that refuses a range as outside of it.
    pub(crate) unsatisfied: Option<u64>,
    /// Bytes that came before.
    pub(crate) parts: Vec<Part>,
    /// The state of the file that these are of.
    pub(crate) mark: Option<Box<Mark>>,
}

impl Fault {
    pub(crate) fn lasting(kind: ErrorKind) -> Self {
        Self { kind, passing: false, singly: false, unsatisfied: None, parts: Vec::new(), mark: None }
    }

    pub(crate) fn passing(text: String) -> Self {
        Self { passing: true, ..Self::answer(text) }
    }

    /// A fault of the server's answer that a repetition would not mend.
    pub(crate) fn answer(text: impl Into<String>) -> Self {
        Self::lasting(ErrorKind::Remote { text: crate::redact(&text.into()) })
    }

    pub(crate) fn with(self, parts: Vec<Part>, mark: Mark) -> Self {
        Self { parts, mark: Some(Box::new(mark)), ..self }
    }
}
