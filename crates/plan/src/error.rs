//! Errors of files, and their places.

use crate::NameListing;
use forthwith_columns::{ManyDigits, safe_lines, safe_text};
use std::fmt;

/// A shorthand.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A fault, and its place in the file. Rendered only when shown.
#[derive(Debug)]
pub struct Error {
    /// The fault.
    pub kind: ErrorKind,
    /// The place of the fault.
    pub place: Box<Place>,
}

/// The kinds of faults. The numbers are the file's own claims and the bounds they broke.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The bytes could not be had.
    #[error("{0}")]
    Source(#[from] forthwith_io::Error),
    /// A block does not decompress.
    #[error("{0}")]
    Codec(forthwith_io::CodecError),
    /// Fewer bytes than the structure needs.
    #[error("{what} needs {needed} bytes, {available} are left")]
    Truncated {
        /// The structure.
        what: &'static str,
        /// Bytes it needs.
        needed: u64,
        /// Bytes there are.
        available: u64,
    },
    /// A number in the file contradicts another.
    #[error("{what} is {found}, expected {expected}")]
    Mismatch {
        /// The number.
        what: &'static str,
        /// The number that it should be.
        expected: u64,
        /// The number in the file.
        found: u64,
    },
    /// A number in the file is outside what is possible.
    #[error("{what} is {found}, which must not be above {limit}")]
    OutOfRange {
        /// The number.
        what: &'static str,
        /// The number in the file.
        found: i64,
        /// The largest possible value.
        limit: i64,
    },
    /// The bytes are not what they should be.
    #[error("not {what}: {found}")]
    NotA {
        /// The thing that was expected.
        what: &'static str,
        /// The thing that is there, in clear.
        found: String,
    },
    /// The data break a rule of their own format, noticed by a generated program.
    #[error("{what}")]
    Fault {
        /// The rule.
        what: String,
    },
    /// A block is not where the metadata say.
    #[error("{reason}")]
    Missing {
        /// Why not.
        reason: String,
    },
    /// The machine stopped.
    #[error("{0}")]
    Machine(forthwith_program::RunError),
    /// A generated program does not compile: a defect of forthwith, not of the file.
    #[error("generated program does not compile: {0}")]
    Compile(#[from] forthwith_program::CompileError),
    /// Nothing of that name.
    #[error("no {what} named {name:?}{}", near_text(.near, .known))]
    NotFound {
        /// "object", "branch", "cycle", …
        what: &'static str,
        /// The name asked for.
        name: String,
        /// The most similar names there are, best first.
        near: Vec<String>,
        /// The names there are, listed if none is similar.
        known: NameListing,
    },
    /// Well-formed, but this version cannot read it.
    #[error("not supported yet: {what}")]
    Unsupported {
        /// The type or feature.
        what: String,
    },
    /// Missing values, which the format that is written does not have. An option may say what they are filled with.
    #[error("not supported yet: missing values in {place} ({type_string}, value {row})")]
    MissingValues {
        /// What is written: `a tree`.
        place: &'static str,
        /// The type of the values.
        type_string: String,
        /// The first row of these values that is missing.
        row: u64,
    },
    /// Text that is not UTF-8, which the format that is written requires. An option may convert it.
    #[error("{what}")]
    NotUtf8 {
        /// The text and where it is.
        what: String,
    },
    /// The request makes no sense for this file.
    #[error("{what}")]
    Invalid {
        /// The reason.
        what: String,
    },
    /// Memory could not be had, or the data ask for more than the limit.
    #[error("not enough memory for {what}{}", bytes_text(*.bytes))]
    OutOfMemory {
        /// For what.
        what: &'static str,
        /// How much was asked for; 0 if that is not known.
        bytes: u64,
    },
    /// The caller asked to stop.
    #[error("cancelled")]
    Cancelled,
}

/// Memory that a codec does not get says nothing of the block.
impl From<forthwith_io::CodecError> for ErrorKind {
    fn from(error: forthwith_io::CodecError) -> Self {
        match error {
            forthwith_io::CodecError::OutOfMemory { .. } => Self::OutOfMemory { what: "a codec", bytes: 0 },
            error => Self::Codec(error),
        }
    }
}

/// Memory that a program does not get says nothing of the data.
impl From<forthwith_program::RunError> for ErrorKind {
    fn from(error: forthwith_program::RunError) -> Self {
        match error {
            forthwith_program::RunError::OutOfMemory => Self::OutOfMemory { what: "a column", bytes: 0 },
            error => Self::Machine(error),
        }
    }
}

/// Checks that this number of bytes can be allocated at this moment, before work whose own allocations would end the process if
/// they failed.
///
/// # Errors
/// [`ErrorKind::OutOfMemory`].
pub fn check_headroom(what: &'static str, bytes: usize) -> Result<()> {
    match forthwith_io::has_headroom(bytes) {
        true => Ok(()),
        false => Err(Error::new(ErrorKind::OutOfMemory { what, bytes: bytes as u64 })),
    }
}

fn bytes_text(bytes: u64) -> String {
    if bytes == 0 { String::new() } else { format!(": {bytes} bytes were refused") }
}

fn near_text(near: &[String], known: &NameListing) -> String {
    match (near, known.to_string()) {
        ([], known) if known.is_empty() => String::new(),
        ([], known) => format!("; {}", safe_text(&known)),
        (near, _) => format!("; did you mean {}?", safe_text(&near.join(", "))),
    }
}

/// A place in a file: as much as is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub uri: Option<String>,
    /// The object in it, such as `dir/tree/branch`.
    pub object: Option<String>,
    /// The basket, cluster or block number.
    pub block: Option<u64>,
    /// The format's word for a block, if it is no basket.
    pub unit: Option<&'static str>,
    /// The entry.
    pub entry: Option<u64>,
    /// A byte position: in the file, or in the block's payload when `block` is given.
    pub byte: Option<u64>,
    /// The member path within the entry.
    pub member: Option<String>,
}

impl Error {
    /// An error whose place is not known yet.
    #[must_use]
    pub fn new(kind: impl Into<ErrorKind>) -> Self {
        Self { kind: kind.into(), place: Box::default() }
    }

    /// The precise "not supported yet" error.
    #[must_use]
    pub fn unsupported(what: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unsupported { what: what.into() })
    }

    /// The error of a request that makes no sense for this file.
    #[cold]
    #[must_use]
    pub fn invalid(what: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid { what: what.into() })
    }

    /// The error of text that cannot be written because it is not UTF-8.
    #[cold]
    #[must_use]
    pub fn not_utf8(what: impl Into<String>) -> Self {
        Self::new(ErrorKind::NotUtf8 { what: what.into() })
    }

    /// The error of data that break a rule of their format.
    #[cold]
    #[must_use]
    pub fn fault(what: impl Into<String>) -> Self {
        Self::new(ErrorKind::Fault { what: what.into() })
    }

    /// The error of bytes that are not what they should be.
    #[cold]
    #[must_use]
    pub fn not_a(what: &'static str, found: impl Into<String>) -> Self {
        Self::new(ErrorKind::NotA { what, found: found.into() })
    }

    /// The error of a number that contradicts another.
    #[cold]
    #[must_use]
    pub fn mismatch(what: &'static str, expected: impl Stated, found: impl Stated) -> Self {
        Self::new(ErrorKind::Mismatch { what, expected: expected.unsigned(), found: found.unsigned() })
    }

    /// The error of a number outside of what is possible.
    #[cold]
    #[must_use]
    pub fn out_of_range(what: &'static str, found: impl Stated, limit: impl Stated) -> Self {
        Self::new(ErrorKind::OutOfRange { what, found: found.signed(), limit: limit.signed() })
    }

    /// The error of fewer bytes than a structure needs.
    #[cold]
    #[must_use]
    pub fn truncated(what: &'static str, needed: impl Stated, available: impl Stated) -> Self {
        Self::new(ErrorKind::Truncated { what, needed: needed.unsigned(), available: available.unsigned() })
    }

    /// Whether bytes contradict themselves or their format, or a single entry is of a kind that is not supported.
    #[must_use]
    pub fn is_damage(&self) -> bool {
        match &self.kind {
            ErrorKind::Source(source) => matches!(source.kind, forthwith_io::ErrorKind::BeyondEnd { .. }),
            ErrorKind::Unsupported { .. } => self.place.entry.is_some(),
            ErrorKind::NotFound { .. }
            | ErrorKind::MissingValues { .. }
            | ErrorKind::NotUtf8 { .. }
            | ErrorKind::Invalid { .. }
            | ErrorKind::OutOfMemory { .. }
            | ErrorKind::Codec(forthwith_io::CodecError::OverLimit { .. })
            | ErrorKind::Cancelled
            | ErrorKind::Compile(_) => false,
            _ => true,
        }
    }

    /// Adds the file, unless known already.
    #[must_use]
    pub fn in_file(mut self, uri: &str) -> Self {
        self.place.uri.get_or_insert_with(|| uri.to_owned());
        self
    }

    /// Adds the object, unless known already.
    #[must_use]
    pub fn in_object(mut self, path: &str) -> Self {
        self.place.object.get_or_insert_with(|| path.to_owned());
        self
    }

    /// Adds the block number, unless known already.
    #[must_use]
    pub fn in_block(mut self, block: u64) -> Self {
        self.place.block.get_or_insert(block);
        self
    }

    /// Says what the format calls a block, unless known already.
    #[must_use]
    pub fn in_unit(mut self, unit: &'static str) -> Self {
        self.place.unit.get_or_insert(unit);
        self
    }

    /// Changes the entry number, if there is one.
    #[must_use]
    pub fn renumbered(mut self, number: impl FnOnce(u64) -> Option<u64>) -> Self {
        self.place.entry = self.place.entry.and_then(number);
        self
    }

    /// Adds the entry number if there is one, unless known already.
    #[must_use]
    pub fn at_entry(mut self, entry: impl Into<Option<u64>>) -> Self {
        self.place.entry = self.place.entry.or(entry.into());
        self
    }

    /// Adds the byte position, unless known already.
    #[must_use]
    pub fn at_byte(mut self, byte: u64) -> Self {
        self.place.byte.get_or_insert(byte);
        self
    }

    /// Counts the byte position from this many bytes before, which is where it is if none is known.
    #[cold]
    #[must_use]
    pub fn behind(mut self, bytes: u64) -> Self {
        self.place.byte = Some(self.place.byte.unwrap_or(0).saturating_add(bytes));
        self
    }

    /// Adds the place of a decimal in a column whose first row is this entry.
    #[must_use]
    pub fn in_many_digits(self, column: &str, first: u64, many: &ManyDigits) -> Self {
        self.in_row(column, first.saturating_add(many.row), &many.member)
    }

    /// Adds the place of a value in a column: its entry, and the path within that, which a full stop may stand before.
    #[must_use]
    pub fn in_row(self, column: &str, entry: u64, member: &str) -> Self {
        let error = self.in_object(column).at_entry(entry);
        match member.trim_start_matches('.') {
            "" => error,
            member => error.in_member(member),
        }
    }

    /// Adds the member path, unless known already.
    #[must_use]
    pub fn in_member(mut self, member: &str) -> Self {
        self.place.member.get_or_insert_with(|| member.to_owned());
        self
    }
}

/// A whole number of any type, as errors state it. One that has no room becomes the nearest that has.
pub trait Stated {
    /// The number with a sign.
    fn signed(self) -> i64;
    /// The number without one.
    fn unsigned(self) -> u64;
}

macro_rules! stated {
    ($($ty:ty)*) => {$(
        impl Stated for $ty {
            fn signed(self) -> i64 {
                i64::try_from(self).unwrap_or(i64::MAX)
            }

            fn unsigned(self) -> u64 {
                u64::try_from(self).unwrap_or(0)
            }
        }
    )*};
}

stated! { u8 u16 u32 u64 usize i16 i32 i64 }

impl ErrorKind {
    /// Whether line feeds in the text are ours, not those of a name in the file: reports of compilers and hints.
    const fn may_have_lines(&self) -> bool {
        !matches!(
            self,
            Self::NotA { .. }
                | Self::Fault { .. }
                | Self::Missing { .. }
                | Self::NotFound { .. }
                | Self::Unsupported { .. }
                | Self::MissingValues { .. }
        )
    }
}

/// Names of a file are escaped, so that an error cannot steer the terminal it is printed on.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.kind.to_string();
        let kind = if self.kind.may_have_lines() { safe_lines(&kind) } else { safe_text(&kind) };
        let place = self.place.to_string();
        if place.is_empty() { write!(f, "{kind}") } else { write!(f, "{kind}\n  in {place}") }
    }
}

/// Names are escaped.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts: Vec<String> = Vec::new();
        match (&self.uri, &self.object) {
            // The table of a file that is one has no name.
            (Some(uri), Some(object)) if !object.is_empty() => parts.push(format!("{uri}:{object}")),
            (Some(uri), _) => parts.push(uri.clone()),
            (None, Some(object)) => parts.push(object.clone()),
            (None, None) => {}
        }
        if let Some(block) = self.block {
            parts.push(format!("{} {block}", self.unit.unwrap_or("basket")));
        }
        if let Some(entry) = self.entry {
            parts.push(format!("entry {entry}"));
        }
        if let Some(byte) = self.byte {
            // The pages of a cluster are anywhere in the file: their bytes are counted from its beginning.
            let within = self.block.is_some() && self.unit != Some("cluster");
            parts.push(format!("byte {}{byte:#x}", if within { "+" } else { "" }));
        }
        if let Some(member) = &self.member {
            parts.push(format!("member {member}"));
        }
        f.write_str(&safe_text(&parts.join(", ")))
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.kind)
    }
}

impl<K: Into<ErrorKind>> From<K> for Error {
    fn from(kind: K) -> Self {
        Self::new(kind)
    }
}

#[cfg(test)]
mod tests {
    use super::{Error, ErrorKind, check_headroom};
    use crate::NameListing;

    #[test]
    fn memory_that_is_refused_is_no_damage() {
        let codec = forthwith_io::CodecError::OutOfMemory { codec: forthwith_io::Codec::Zstd };
        let machine = forthwith_program::RunError::OutOfMemory;
        for error in [Error::new(codec), Error::new(machine)] {
            assert!(matches!(error.kind, ErrorKind::OutOfMemory { .. }), "{error}");
        }
        assert!(check_headroom("a test", 1 << 16).is_ok());
        let refused = check_headroom("a test", usize::MAX / 2).map_err(|error| error.kind);
        assert!(matches!(refused, Err(ErrorKind::OutOfMemory { what: "a test", .. })));
    }

    #[test]
    fn names_of_a_file_are_escaped() {
        let name = "a\u{1b}]0;x\u{7}\u{9b}31m\u{202e}\r\n  in b.root";
        let near = vec![name.to_owned()];
        let errors = [
            Error::new(ErrorKind::NotFound {
                what: "branch",
                name: "x".into(),
                near,
                known: NameListing::default(),
            }),
            Error::unsupported(name),
            Error::fault(name),
            Error::invalid("x").in_object(name).in_member(name),
        ];
        for error in errors {
            let text = error.in_file("a.root").in_object("t").to_string();
            assert_eq!(text.lines().count(), 2, "{text}");
            assert!(text.chars().all(|c| c == '\n' || !forthwith_columns::is_unsafe_to_show(c)), "{text:?}");
            assert!(text.contains("a\\u{1b}]0;x\\u{7}\\u{9b}31m\\u{202e}\\r\\n  in b.root"), "{text}");
        }
        assert_eq!(Error::invalid("one\ntwo").to_string(), "one\ntwo");
    }

    #[test]
    fn a_table_without_a_name_leaves_no_colon() {
        for (object, place) in [("", "a.parquet"), ("t", "a.parquet:t"), ("d/t", "a.parquet:d/t")] {
            let error = Error::unsupported("x").in_file("a.parquet").in_object(object);
            assert!(error.to_string().ends_with(&format!("\n  in {place}")), "{error}");
        }
    }
}
