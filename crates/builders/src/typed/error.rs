//! Errors of commands, with the path in the type.

use crate::form::Unit;
use std::fmt;

/// Error for a refused command. The builder is unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandError(Box<Details>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Details {
    command: &'static str,
    kind: CommandErrorKind,
    entry: u64,
    path: String,
}

/// Reason why a command was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CommandErrorKind {
    /// The command is not possible at this place.
    #[error("not possible here; expected {} for {expected}", Choice(possible))]
    Unexpected {
        /// Commands that are possible.
        possible: Vec<&'static str>,
        /// Type of the expected value, or of the open record.
        expected: String,
    },
    /// Several alternatives of the union are possible: `tag` must choose one.
    #[error("several alternatives of {0} are possible; choose one by tag")]
    Ambiguous(String),
    /// The number is out of range for the type.
    #[error("the number does not fit {0}")]
    Range(String),
    /// The conversion of a time to the unit of the column is not exact, or out of range.
    #[error("this number of [{found}] is no whole number of [{expected}] in 64 bits")]
    Unit {
        /// Unit of the given time.
        found: Unit,
        /// Unit of the column.
        expected: Unit,
    },
    /// The list already has this number of items, its fixed size.
    #[error("the list has its {0} items; expected end_list")]
    Full(u64),
    /// The list has fewer items than its fixed size.
    #[error("the list has {found} of its {size} items; expected more")]
    Short {
        /// Number of items.
        found: u64,
        /// Fixed size of the list.
        size: u64,
    },
    /// The field or slot already has a value.
    #[error("{0:?} already has a value")]
    Twice(String),
    /// These fields or slots have no value and cannot be null.
    #[error("no value for {}", Quoted(.0, usize::MAX))]
    Missing(Vec<String>),
    /// The record lacks the named field.
    #[error("there is no field {name:?}; expected {}", Quoted(fields, 20))]
    NoField {
        /// Given name.
        name: String,
        /// Names of the fields of the record.
        fields: Vec<String>,
    },
    /// A slot, alternative or row is out of range, or a tuple has another size.
    #[error("{number}: expected {expected}")]
    NoSuch {
        /// Given number; -1 if it exceeds the maximum of `i64`.
        number: i64,
        /// Description of the expected number.
        expected: String,
    },
    /// Records have another name.
    #[error("a record {found:?} is not possible here; expected {expected}")]
    Name {
        /// Given name.
        found: String,
        /// Expected type.
        expected: String,
    },
    /// Strings have another fixed length.
    #[error("{found} bytes; expected {size}")]
    Length {
        /// Number of given bytes.
        found: u64,
        /// Fixed length in bytes.
        size: u64,
    },
    /// The number of rows exceeds the 32-bit indexes or offsets of the Form.
    #[error("more rows than the Form's 32 bits count")]
    Wide,
    /// The content of the mask has an unknown type, so no value can be stored in place of a null.
    #[error("nothing of an unknown type can stand in the place of a null")]
    Placeless,
    /// The value is nested too deeply.
    #[error("the value is nested too deeply")]
    Deep,
    /// Memory could not be allocated. Complete entries are still available; the builder must be cleared to
    /// continue.
    #[error("out of memory")]
    OutOfMemory,
    /// Memory could not be allocated for an earlier command.
    #[error("the builder ran out of memory; take what is complete and clear it")]
    Broken,
}

impl CommandError {
    pub(crate) fn new(command: &'static str, kind: CommandErrorKind, entry: u64, path: String) -> Self {
        Self(Box::new(Details { command, kind, entry, path }))
    }

    /// Returns the reason.
    #[must_use]
    pub fn kind(&self) -> &CommandErrorKind {
        &self.0.kind
    }

    /// Returns the command, by the name of its method.
    #[must_use]
    pub fn command(&self) -> &'static str {
        self.0.command
    }

    /// Returns the number of the current entry.
    #[must_use]
    pub fn entry(&self) -> u64 {
        self.0.entry
    }

    /// Returns the path in an entry: `[].x` is the field `x` of an item of a list, `|1` is alternative 1 of a
    /// union.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.0.path
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Details { command, kind, entry, path } = &*self.0;
        write!(f, "{command}: {kind} (at entry {entry}")?;
        if !path.is_empty() {
            write!(f, ", {path}")?;
        }
        f.write_str(")")
    }
}

impl std::error::Error for CommandError {}

/// Words formatted as a choice.
struct Choice<'a>(&'a [&'static str]);

impl fmt::Display for Choice<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((last, others)) = self.0.split_last() else { return f.write_str("nothing") };
        if !others.is_empty() {
            write!(f, "{} or ", others.join(", "))?;
        }
        f.write_str(last)
    }
}

/// Names in quotes, up to a maximum number.
struct Quoted<'a>(&'a [String], usize);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted: Vec<_> = self.0.iter().take(self.1).map(|name| format!("{name:?}")).collect();
        f.write_str(&quoted.join(", "))?;
        match self.0.len().saturating_sub(self.1) {
            0 => Ok(()),
            more => write!(f, " or {more} more"),
        }
    }
}
