//! Errors of reading and writing files, with their locations.

use crate::NameListing;
use forthwith_columns::{ManyDigits, safe_lines, safe_text};
use std::fmt;

/// Result with [`Error`] as the default error type.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error and its location in the file. The message is formatted on display.
#[derive(Debug)]
pub struct Error {
    /// The kind of the error.
    pub kind: ErrorKind,
    /// The location of the error.
    pub place: Box<Place>,
}

/// The kinds of errors. Their numbers are those in the file and the violated bounds.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The source could not be read, or the sink not written.
    #[error("{0}")]
    Source(#[from] forthwith_io::Error),
    /// A block could not be decompressed.
    #[error("{0}")]
    Codec(forthwith_io::CodecError),
    /// The bytes end before the end of a structure.
    #[error("{what} needs {needed} bytes, {available} are left")]
    Truncated {
        /// The structure.
        what: &'static str,
        /// Number of bytes required.
        needed: u64,
        /// Number of bytes available.
        available: u64,
    },
    /// A number in the file does not match another one.
    #[error("{what} is {found}, expected {expected}")]
    Mismatch {
        /// Description of the number.
        what: &'static str,
        /// The expected number.
        expected: u64,
        /// The number found.
        found: u64,
    },
    /// A number in the file exceeds its upper bound.
    #[error("{what} is {found}, which must not be above {limit}")]
    OutOfRange {
        /// Description of the number.
        what: &'static str,
        /// The number found.
        found: i64,
        /// The upper bound.
        limit: i64,
    },
    /// The bytes are not those of the expected structure.
    #[error("not {what}: {found}")]
    NotA {
        /// The expected structure.
        what: &'static str,
        /// Description of the bytes found.
        found: String,
    },
    /// The data violate their format.
    #[error("{what}")]
    Fault {
        /// Description of the violation.
        what: String,
    },
    /// The metadata give an impossible location of a block.
    #[error("{reason}")]
    Missing {
        /// Description of the problem.
        reason: String,
    },
    /// The Forth machine stopped with an error.
    #[error("{0}")]
    Machine(forthwith_program::RunError),
    /// A generated program does not compile: a defect of forthwith, not of the file.
    #[error("generated program does not compile: {0}")]
    Compile(#[from] forthwith_program::CompileError),
    /// An object of this name does not exist.
    #[error("no {what} named {name:?}{}", near_text(.near, .known))]
    NotFound {
        /// "object", "branch", "cycle", …
        what: &'static str,
        /// The requested name.
        name: String,
        /// The most similar existing names, best first.
        near: Vec<String>,
        /// The existing names, which are listed if none is similar.
        known: NameListing,
    },
    /// The file is valid, but has a type or feature that is not supported.
    #[error("not supported yet: {what}")]
    Unsupported {
        /// The type or feature.
        what: String,
    },
    /// The output format cannot represent missing values. An option may replace them.
    #[error("not supported yet: missing values in {place} ({type_string}, value {row})")]
    MissingValues {
        /// The output, such as `a tree`.
        place: &'static str,
        /// The type of the values.
        type_string: String,
        /// Row of the first missing value.
        row: u64,
    },
    /// The output format requires UTF-8, and a text is not. An option may convert it.
    #[error("{what}")]
    NotUtf8 {
        /// The text and its location.
        what: String,
    },
    /// The request is not valid for this file.
    #[error("{what}")]
    Invalid {
        /// The reason.
        what: String,
    },
    /// Memory could not be allocated, or the data exceed the limit.
    #[error("not enough memory for {what}{}", bytes_text(*.bytes))]
    OutOfMemory {
        /// Purpose of the memory.
        what: &'static str,
        /// Number of bytes requested; 0 if unknown.
        bytes: u64,
    },
    /// The operation was cancelled.
    #[error("cancelled")]
    Cancelled,
}

/// A failed allocation of a codec becomes [`ErrorKind::OutOfMemory`], since it does not mean a corrupt block.
impl From<forthwith_io::CodecError> for ErrorKind {
    fn from(error: forthwith_io::CodecError) -> Self {
        match error {
            forthwith_io::CodecError::OutOfMemory { .. } => Self::OutOfMemory { what: "a codec", bytes: 0 },
            error => Self::Codec(error),
        }
    }
}

/// A failed allocation of a program becomes [`ErrorKind::OutOfMemory`], since it does not mean corrupt data.
impl From<forthwith_program::RunError> for ErrorKind {
    fn from(error: forthwith_program::RunError) -> Self {
        match error {
            forthwith_program::RunError::OutOfMemory => Self::OutOfMemory { what: "a column", bytes: 0 },
            error => Self::Machine(error),
        }
    }
}

/// Checks that `bytes` bytes can be allocated at this moment, for code whose own allocations would abort the
/// process on failure.
///
/// # Errors
/// [`ErrorKind::OutOfMemory`] for the purpose `what`.
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

/// Location in a file, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Name of the file.
    pub uri: Option<String>,
    /// Path of the object in the file, such as `dir/tree/branch`.
    pub object: Option<String>,
    /// Number of the basket, cluster or block.
    pub block: Option<u64>,
    /// The format's name for a block, if it is not a basket.
    pub unit: Option<&'static str>,
    /// Number of the entry.
    pub entry: Option<u64>,
    /// Byte offset in the file, or in the payload of `block` if that is set.
    pub byte: Option<u64>,
    /// Path of the member within the entry.
    pub member: Option<String>,
}

impl Error {
    /// Creates an error without a location.
    #[must_use]
    pub fn new(kind: impl Into<ErrorKind>) -> Self {
        Self { kind: kind.into(), place: Box::default() }
    }

    /// Creates an [`Unsupported`](ErrorKind::Unsupported) error.
    #[must_use]
    pub fn unsupported(what: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unsupported { what: what.into() })
    }

    /// Creates an [`Invalid`](ErrorKind::Invalid) error, for a request that is not valid for this file.
    #[cold]
    #[must_use]
    pub fn invalid(what: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid { what: what.into() })
    }

    /// The error of a field index that the table does not have.
    #[cold]
    #[must_use]
    pub fn no_field(field: u32, len: usize) -> Self {
        Self::invalid(format!("field index {field} is out of range: the table has {len} fields"))
    }

    /// Creates a [`NotUtf8`](ErrorKind::NotUtf8) error, for text that cannot be written.
    #[cold]
    #[must_use]
    pub fn not_utf8(what: impl Into<String>) -> Self {
        Self::new(ErrorKind::NotUtf8 { what: what.into() })
    }

    /// Creates a [`Fault`](ErrorKind::Fault) error, for data that violate their format.
    #[cold]
    #[must_use]
    pub fn fault(what: impl Into<String>) -> Self {
        Self::new(ErrorKind::Fault { what: what.into() })
    }

    /// Creates a [`NotA`](ErrorKind::NotA) error, for bytes that are not those of the expected structure.
    #[cold]
    #[must_use]
    pub fn not_a(what: &'static str, found: impl Into<String>) -> Self {
        Self::new(ErrorKind::NotA { what, found: found.into() })
    }

    /// Creates a [`Mismatch`](ErrorKind::Mismatch) error, for a number that does not match another one.
    #[cold]
    #[must_use]
    pub fn mismatch(what: &'static str, expected: impl Stated, found: impl Stated) -> Self {
        Self::new(ErrorKind::Mismatch { what, expected: expected.unsigned(), found: found.unsigned() })
    }

    /// Creates an [`OutOfRange`](ErrorKind::OutOfRange) error, for a number that exceeds its upper bound.
    #[cold]
    #[must_use]
    pub fn out_of_range(what: &'static str, found: impl Stated, limit: impl Stated) -> Self {
        Self::new(ErrorKind::OutOfRange { what, found: found.signed(), limit: limit.signed() })
    }

    /// Creates a [`Truncated`](ErrorKind::Truncated) error, for bytes that end before the end of a structure.
    #[cold]
    #[must_use]
    pub fn truncated(what: &'static str, needed: impl Stated, available: impl Stated) -> Self {
        Self::new(ErrorKind::Truncated { what, needed: needed.unsigned(), available: available.unsigned() })
    }

    /// Whether the error is due to damaged data, or to a single entry of an unsupported kind, rather than to
    /// the request or the environment.
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

    /// Sets the file, unless it is set.
    #[must_use]
    pub fn in_file(mut self, uri: &str) -> Self {
        self.place.uri.get_or_insert_with(|| uri.to_owned());
        self
    }

    /// Sets the object, unless it is set.
    #[must_use]
    pub fn in_object(mut self, path: &str) -> Self {
        self.place.object.get_or_insert_with(|| path.to_owned());
        self
    }

    /// Sets the block number, unless it is set.
    #[must_use]
    pub fn in_block(mut self, block: u64) -> Self {
        self.place.block.get_or_insert(block);
        self
    }

    /// Sets the format's name for a block, unless it is set.
    #[must_use]
    pub fn in_unit(mut self, unit: &'static str) -> Self {
        self.place.unit.get_or_insert(unit);
        self
    }

    /// Maps the entry number, if it is set; `None` removes it.
    #[must_use]
    pub fn renumbered(mut self, number: impl FnOnce(u64) -> Option<u64>) -> Self {
        self.place.entry = self.place.entry.and_then(number);
        self
    }

    /// Sets the entry number, unless it is set or `entry` is `None`.
    #[must_use]
    pub fn at_entry(mut self, entry: impl Into<Option<u64>>) -> Self {
        self.place.entry = self.place.entry.or(entry.into());
        self
    }

    /// Sets the byte offset, unless it is set.
    #[must_use]
    pub fn at_byte(mut self, byte: u64) -> Self {
        self.place.byte.get_or_insert(byte);
        self
    }

    /// Adds `bytes` to the byte offset; an unset one is taken as 0.
    #[cold]
    #[must_use]
    pub fn behind(mut self, bytes: u64) -> Self {
        self.place.byte = Some(self.place.byte.unwrap_or(0).saturating_add(bytes));
        self
    }

    /// Sets the location of a decimal in a column whose first row is the entry `first`.
    #[must_use]
    pub fn in_many_digits(self, column: &str, first: u64, many: &ManyDigits) -> Self {
        self.in_row(column, first.saturating_add(many.row), &many.member)
    }

    /// Sets the location of a value in a column: its entry, and its member path, whose leading full stops are
    /// removed.
    #[must_use]
    pub fn in_row(self, column: &str, entry: u64, member: &str) -> Self {
        let error = self.in_object(column).at_entry(entry);
        match member.trim_start_matches('.') {
            "" => error,
            member => error.in_member(member),
        }
    }

    /// Sets the member path, unless it is set.
    #[must_use]
    pub fn in_member(mut self, member: &str) -> Self {
        self.place.member.get_or_insert_with(|| member.to_owned());
        self
    }
}

/// An integer of any type, for errors. Values out of range are converted as documented for each method.
pub trait Stated {
    /// Returns the number as `i64`; `i64::MAX` if it is larger.
    fn signed(self) -> i64;
    /// Returns the number as `u64`; 0 if it is negative.
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
    /// Whether line feeds in the message are intended, as those of compiler reports and hints, and cannot be
    /// part of a name in the file.
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

/// Writes the message. Names in the file are escaped, so that they cannot control the terminal.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.kind.to_string();
        let kind = if self.kind.may_have_lines() { safe_lines(&kind) } else { safe_text(&kind) };
        let place = self.place.to_string();
        if place.is_empty() { write!(f, "{kind}") } else { write!(f, "{kind}\n  in {place}") }
    }
}

/// Writes the location, with escaped names.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts: Vec<String> = Vec::new();
        match (&self.uri, &self.object) {
            // The table of a file that consists of one table has no name.
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
            // Pages of a cluster may be anywhere in the file, so their byte offsets are those in the file.
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
