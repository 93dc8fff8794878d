//! Why a command was refused, and where.

use crate::form::Unit;
use std::fmt;

/// A command that was refused. Nothing has changed: the builder goes on as if it had not been told.
#[derive(Clone, Debug, PartialEq)]
pub struct CommandError(Box<Details>);

#[derive(Clone, Debug, PartialEq)]
struct Details {
    command: &'static str,
    kind: CommandErrorKind,
    entry: u64,
    path: String,
}

/// The reason why a command was refused.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum CommandErrorKind {
    /// Something else is expected here.
    Unexpected {
        /// The commands that are possible here.
        possible: Vec<&'static str>,
        /// The type of which a value is expected, or of the record that is open.
        expected: String,
    },
    /// Several alternatives of a union understand it: `tag` has to say which.
    Ambiguous {
        /// The union.
        expected: String,
    },
    /// The number does not fit its type.
    Range {
        /// The type.
        expected: String,
    },
    /// The time is not a whole number of units, or there are too many.
    Unit {
        /// Its own unit.
        found: Unit,
        /// The unit of the column.
        expected: Unit,
    },
    /// The list has all its items.
    Full {
        /// The number of its items.
        size: u64,
    },
    /// The list has not all its items.
    Short {
        /// The number of items that it has.
        found: u64,
        /// The number of items that it must have.
        size: u64,
    },
    /// The field or slot has its value.
    Twice {
        /// Which.
        field: String,
    },
    /// Fields or slots have no value.
    Missing {
        /// Which.
        fields: Vec<String>,
    },
    /// There is no such field.
    NoField {
        /// Its name.
        name: String,
        /// The fields there are.
        fields: Vec<String>,
    },
    /// There is no such slot, alternative or row, or tuples have another length.
    NoSuch {
        /// The number; -1 for any that no index can be.
        number: i64,
        /// The type that is expected.
        expected: String,
    },
    /// Records have another name.
    Name {
        /// The name.
        found: String,
        /// The type expected here.
        expected: String,
    },
    /// Strings have another length here.
    Length {
        /// Bytes it has.
        found: u64,
        /// Bytes it must have.
        size: u64,
    },
    /// There are more rows than the Form's 32 bits count.
    Wide,
    /// Under this mask, nothing can stand in the place of a null.
    Placeless,
    /// More structure within structure than a value may have.
    Deep,
    /// Memory was refused. What is complete can still be taken; then the builder has to be cleared.
    OutOfMemory,
    /// An earlier command found no memory.
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
        write!(f, "{command}: ")?;
        match kind {
            CommandErrorKind::Unexpected { possible, expected } => {
                write!(f, "not possible here; expected {} for {expected}", Choice(possible))?;
            }
            CommandErrorKind::Ambiguous { expected } => {
                write!(f, "several alternatives of {expected} are possible; choose one by tag")?;
            }
            CommandErrorKind::Range { expected } => write!(f, "the number does not fit {expected}")?,
            CommandErrorKind::Unit { found, expected } => {
                write!(f, "this number of [{found}] is no whole number of [{expected}] in 64 bits")?;
            }
            CommandErrorKind::Full { size } => write!(f, "the list has its {size} items; expected end_list")?,
            CommandErrorKind::Short { found, size } => {
                write!(f, "the list has {found} of its {size} items; expected more")?;
            }
            CommandErrorKind::Twice { field } => write!(f, "{field:?} has its value")?,
            CommandErrorKind::Missing { fields } => {
                let quoted: Vec<_> = fields.iter().map(|field| format!("{field:?}")).collect();
                write!(f, "no value for {}", quoted.join(", "))?;
            }
            CommandErrorKind::NoField { name, fields } => {
                let quoted: Vec<_> = fields.iter().take(20).map(|field| format!("{field:?}")).collect();
                write!(f, "there is no field {name:?}; expected {}", quoted.join(", "))?;
                if fields.len() > 20 {
                    write!(f, " or {} more", fields.len() - 20)?;
                }
            }
            CommandErrorKind::NoSuch { number, expected } => write!(f, "{number}: expected {expected}")?,
            CommandErrorKind::Name { found, expected } => {
                write!(f, "a record {found:?} is not possible here; expected {expected}")?;
            }
            CommandErrorKind::Length { found, size } => write!(f, "{found} bytes; expected {size}")?,
            CommandErrorKind::Wide => f.write_str("more rows than the Form's 32 bits count")?,
            CommandErrorKind::Placeless => {
                f.write_str("nothing of an unknown type can stand in the place of a null")?;
            }
            CommandErrorKind::Deep => f.write_str("the value is nested too deeply")?,
            CommandErrorKind::OutOfMemory => f.write_str("out of memory")?,
            CommandErrorKind::Broken => {
                f.write_str("the builder ran out of memory; take what is complete and clear it")?;
            }
        }
        write!(f, " (at entry {entry}")?;
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
