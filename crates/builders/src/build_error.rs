//! Errors of builders, with the path of the refused value.

use crate::Command;
use std::fmt;

/// Error for a value or command that was refused. The builder is unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildError(Box<(Fault, Vec<Step>)>);

impl BuildError {
    /// Returns the reason.
    #[must_use]
    pub fn fault(&self) -> &Fault {
        &self.0.0
    }

    /// Returns the path of the refused value, from the outermost item inwards.
    pub fn place(&self) -> impl Iterator<Item = &Step> {
        self.0.1.iter().rev()
    }

    /// Adds an enclosing step to the path, as the error is passed up.
    #[must_use]
    pub fn within(mut self, step: Step) -> Self {
        self.0.1.push(step);
        self
    }
}

impl From<Fault> for BuildError {
    fn from(fault: Fault) -> Self {
        Self(Box::new((fault, Vec::new())))
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fault().fmt(f)?;
        if self.0.1.is_empty() {
            return Ok(());
        }
        f.write_str("\n  at ")?;
        self.place().try_for_each(|step| step.fmt(f))
    }
}

impl std::error::Error for BuildError {}

/// Step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Item of a list, or of the array itself.
    Item(usize),
    /// Field of a record.
    Field(Box<str>),
    /// Slot of a tuple.
    Slot(usize),
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Item(at) => write!(f, "[{at}]"),
            Self::Field(name) if is_identifier(name) => write!(f, ".{name}"),
            Self::Field(name) => write!(f, "[{name:?}]"),
            Self::Slot(at) => write!(f, "({at})"),
        }
    }
}

/// Reason why a value or command was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// A command was called without the command that must precede it.
    #[error("called '{command}' without '{needs}' at the same level before it")]
    Unbegun {
        /// Refused command.
        command: Command,
        /// Command that must precede it.
        needs: Command,
    },
    /// A value was appended to a record or tuple none of whose fields is selected.
    #[error("called '{command}' immediately after '{begun}'; needs '{select}' or '{end}'")]
    Unplaced {
        /// Refused command.
        command: Command,
        /// Command that opened the record or tuple.
        begun: Command,
        /// Command that selects a field of it.
        select: Command,
        /// Command that ends it.
        end: Command,
    },
    /// A field of a record, given by name, has two values.
    #[error("record field {0:?} filled more than once")]
    FieldTwice(Box<str>),
    /// A slot of a tuple, given by number, has two values.
    #[error("tuple index {0} filled more than once")]
    SlotTwice(usize),
    /// A slot is outside the tuple.
    #[error("'index' {index} is out of bounds for a tuple with number of fields {size}")]
    NoSlot {
        /// Requested slot.
        index: i64,
        /// Number of slots.
        size: usize,
    },
    /// The requested size of a tuple is out of range.
    #[error("a tuple cannot have {} fields: from 0 to {} are possible", .0, crate::MOST_SLOTS)]
    TupleSize(i64),
    /// Lists, records and tuples are nested too deeply.
    #[error(
        "more than {} levels of lists, records and tuples, or something that contains itself",
        crate::DEEPEST
    )]
    Deep,
    /// One place has more types of values than a union can distinguish.
    #[error("more than {} different types in one place", crate::MOST_ALTERNATIVES)]
    Alternatives,
    /// The builder would have too many columns.
    #[error("more than {} columns", crate::MOST_COLUMNS)]
    Columns,
    /// An object of this type is not a value.
    #[error("cannot convert {0} to an array element")]
    NoElement(Box<str>),
    /// An object of this type cannot be the name of a field.
    #[error("a field's name must be a string, not {0}")]
    NoName(Box<str>),
    /// An integer is out of range for the given type.
    #[error("value out of range for {0}")]
    TooLarge(&'static str),
    /// The command is not possible while a list, record or tuple is open.
    #[error("called '{command}' while a {open} is open")]
    StillOpen {
        /// Refused command.
        command: Command,
        /// Open structure.
        open: &'static str,
    },
    /// The type of a value does not match that of its column.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// Type of the column.
        expected: Box<str>,
        /// Description of the given value.
        found: Box<str>,
    },
    /// Nested unions led to too many combinations of alternatives.
    #[error("too many ways to fit the data into its unions")]
    Ambiguous,
    /// A field, given by name, is absent from a record and cannot be null.
    #[error("the record has no field {0:?}, which cannot be missing")]
    Missing(Box<str>),
    /// A record has an unknown field.
    #[error("the record has a field {name:?}; expected {expected}")]
    Unknown {
        /// Name of the field.
        name: Box<str>,
        /// Type of the record.
        expected: Box<str>,
    },
    /// The length of a list differs from the fixed length of its type.
    #[error("a list of {found} items where lists of {expected} are expected")]
    Length {
        /// Length of the type.
        expected: u64,
        /// Length of the list.
        found: u64,
    },
    /// Memory for this number of additional items could not be allocated.
    #[error("out of memory: no room for {0} more items")]
    Memory(usize),
}

/// Whether a name can be written without quotes.
pub(crate) fn is_identifier(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
