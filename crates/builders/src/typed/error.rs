//! Why a command was refused, and where.

use crate::form::Unit;
use std::fmt;

/// A command that was refused. Nothing has changed: the builder goes on as if it had not been told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandError(Box<Details>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Details {
    command: &'static str,
    kind: CommandErrorKind,
    entry: u64,
    path: String,
}

/// The reason why a command was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CommandErrorKind {
    /// Something else is expected here.
    #[error("not possible here; expected {} for {expected}", Choice(possible))]
    Unexpected {
        /// The commands that are possible here.
        possible: Vec<&'static str>,
        /// The type of which a value is expected, or of the record that is open.
        expected: String,
    },
    /// Several alternatives of the union understand it: `tag` has to say which.
    #[error("several alternatives of {0} are possible; choose one by tag")]
    Ambiguous(String),
    /// The number does not fit this type.
    #[error("the number does not fit {0}")]
    Range(String),
    /// The time is not a whole number of units, or there are too many.
    #[error("this number of [{found}] is no whole number of [{expected}] in 64 bits")]
    Unit {
        /// Its own unit.
        found: Unit,
        /// The unit of the column.
        expected: Unit,
    },
    /// The list already has all its items; their number.
    #[error("the list has its {0} items; expected end_list")]
    Full(u64),
    /// The list has not all its items.
    #[error("the list has {found} of its {size} items; expected more")]
    Short {
        /// The number of items that it has.
        found: u64,
        /// The number of items that it must have.
        size: u64,
    },
    /// The field or slot already has a value.
    #[error("{0:?} already has a value")]
    Twice(String),
    /// These fields or slots have no value.
    #[error("no value for {}", Quoted(.0, usize::MAX))]
    Missing(Vec<String>),
    /// There is no such field.
    #[error("there is no field {name:?}; expected {}", Quoted(fields, 20))]
    NoField {
        /// Its name.
        name: String,
        /// The fields there are.
        fields: Vec<String>,
    },
    /// There is no such slot, alternative or row, or tuples have another length.
    #[error("{number}: expected {expected}")]
    NoSuch {
        /// The number; -1 for any that no index can be.
        number: i64,
        /// The type that is expected.
        expected: String,
    },
    /// Records have another name.
    #[error("a record {found:?} is not possible here; expected {expected}")]
    Name {
        /// The name.
        found: String,
        /// The type expected here.
        expected: String,
    },
    /// Strings have another length here.
    #[error("{found} bytes; expected {size}")]
    Length {
        /// Bytes it has.
        found: u64,
        /// Bytes it must have.
        size: u64,
    },
    /// There are more rows than the Form's 32 bits count.
    #[error("more rows than the Form's 32 bits count")]
    Wide,
    /// Under this mask, nothing can stand in the place of a null.
    #[error("nothing of an unknown type can stand in the place of a null")]
    Placeless,
    /// More structure within structure than a value may have.
    #[error("the value is nested too deeply")]
    Deep,
    /// Memory was refused. What is complete can still be taken; then the builder has to be cleared.
    #[error("out of memory")]
    OutOfMemory,
    /// An earlier command found no memory.
    #[error("the builder ran out of memory; take what is complete and clear it")]
    Broken,
}

impl CommandError {
    pub(crate) fn new(command: &'static str, kind: CommandErrorKind, entry: u64, path: String) -> Self {
        Self(Box::new(Details { command, kind, entry, path }))
    }

    /// The reason.
    #[must_use]
    pub fn kind(&self) -> &CommandErrorKind {
        &self.0.kind
    }

    /// The command, by the name of its method.
    #[must_use]
    pub fn command(&self) -> &'static str {
        self.0.command
    }

    /// The number of the entry that is being built.
    #[must_use]
    pub fn entry(&self) -> u64 {
        self.0.entry
    }

    /// The place in an entry: `[].x` is the field `x` of an item of a list, `|1` the alternative 1 of a
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

/// Words as a choice.
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

/// Names in quotes: the first of them, as many as the number says.
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
