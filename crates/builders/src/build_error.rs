//! Why a value or a command is refused, and where.

use crate::Command;
use std::fmt;

/// A value or a command that was refused. What is in the builder already stays as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildError(Box<(Fault, Vec<Step>)>);

impl BuildError {
    /// The reason.
    #[must_use]
    pub fn fault(&self) -> &Fault {
        &self.0.0
    }

    /// The place, from the outermost item in.
    pub fn place(&self) -> impl Iterator<Item = &Step> {
        self.0.1.iter().rev()
    }

    /// The same, one level further out: how an error learns its place while calls return.
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

/// One level of a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// An item of a list, or of the array itself.
    Item(usize),
    /// A field of a record.
    Field(Box<str>),
    /// A slot of a tuple.
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

/// The reason why a command was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// A command that needs another one before it.
    #[error("called '{command}' without '{needs}' at the same level before it")]
    Unbegun {
        /// The command.
        command: Command,
        /// The command that has to come first.
        needs: Command,
    },
    /// A value where a record or tuple is open and none of its fields is selected.
    #[error("called '{command}' immediately after '{begun}'; needs '{select}' or '{end}'")]
    Unplaced {
        /// The command.
        command: Command,
        /// The command that opened it.
        begun: Command,
        /// The command that selects a field of it.
        select: Command,
        /// The command that ends it.
        end: Command,
    },
    /// A record's field with two values, by its name.
    #[error("record field {0:?} filled more than once")]
    FieldTwice(Box<str>),
    /// A tuple's slot with two values, by its number.
    #[error("tuple index {0} filled more than once")]
    SlotTwice(usize),
    /// A slot that the tuple does not have.
    #[error("'index' {index} is out of bounds for a tuple with number of fields {size}")]
    NoSlot {
        /// The slot that was asked for.
        index: i64,
        /// Slots there are.
        size: usize,
    },
    /// A tuple of an impossible size, the one that was asked for.
    #[error("a tuple cannot have {} fields: from 0 to {} are possible", .0, crate::MOST_SLOTS)]
    TupleSize(i64),
    /// Lists, records and tuples within each other beyond reason.
    #[error(
        "more than {} levels of lists, records and tuples, or something that contains itself",
        crate::DEEPEST
    )]
    Deep,
    /// More kinds of values in one place than a union can tell apart.
    #[error("more than {} different types in one place", crate::MOST_ALTERNATIVES)]
    Alternatives,
    /// More columns than can be numbered.
    #[error("more than {} columns", crate::MOST_COLUMNS)]
    Columns,
    /// An object that is no value.
    #[error("cannot convert {0} to an array element")]
    NoElement(Box<str>),
    /// An object that cannot name a field.
    #[error("a field's name must be a string, not {0}")]
    NoName(Box<str>),
    /// An integer that needs more than 64 bits, and the type it should fit in.
    #[error("the integer does not fit in {0}")]
    TooLarge(&'static str),
    /// Something is still open.
    #[error("called '{command}' while a {open} is open")]
    StillOpen {
        /// The command.
        command: Command,
        /// The structure that is open.
        open: &'static str,
    },
    /// A value of another type than the column's.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// The type of the place.
        expected: Box<str>,
        /// The value that was given.
        found: Box<str>,
    },
    /// Unions within unions, of which too many combinations were tried.
    #[error("too many ways to fit the data into its unions")]
    Ambiguous,
    /// A record without one of its fields, by its name.
    #[error("the record has no field {0:?}, which cannot be missing")]
    Missing(Box<str>),
    /// A record with a field too many.
    #[error("the record has a field {name:?}; expected {expected}")]
    Unknown {
        /// The field.
        name: Box<str>,
        /// The type of the record.
        expected: Box<str>,
    },
    /// A list of another length than all lists there must have.
    #[error("a list of {found} items where lists of {expected} are expected")]
    Length {
        /// The length they have.
        expected: u64,
        /// The length of this one.
        found: u64,
    },
    /// The system refuses memory for more items; their number.
    #[error("out of memory: no room for {0} more items")]
    Memory(usize),
}

/// Whether a name needs no quotes.
pub(crate) fn is_identifier(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
