//! Commands, step by step: the definition that the program's text is written from.

use crate::form::Index;
use forthwith_forth::DType;

/// The commands of a builder. The numbers are those of the generated program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Command {
    Null,
    Boolean,
    Integer,
    /// An integer that only an unsigned type can hold.
    Unsigned,
    Real,
    Complex,
    Datetime,
    Timedelta,
    Bytestring,
    String,
    BeginList,
    EndList,
    BeginTuple,
    Index,
    EndTuple,
    BeginRecord,
    Field,
    EndRecord,
    Tag,
    /// Many items of the column's own type.
    Extend,
}

/// How many commands there are.
pub(crate) const COMMANDS: usize = Command::Extend as usize + 1;

impl Command {
    /// The name of the method.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "boolean",
            Self::Integer | Self::Unsigned => "integer",
            Self::Real => "real",
            Self::Complex => "complex",
            Self::Datetime => "datetime",
            Self::Timedelta => "timedelta",
            Self::Bytestring => "bytestring",
            Self::String => "string",
            Self::BeginList => "begin_list",
            Self::EndList => "end_list",
            Self::BeginTuple => "begin_tuple",
            Self::Index => "index",
            Self::EndTuple => "end_tuple",
            Self::BeginRecord => "begin_record",
            Self::Field => "field",
            Self::EndRecord => "end_record",
            Self::Tag => "tag",
            Self::Extend => "extend",
        }
    }
}

/// Why a program refuses a command. The numbers are those it leaves in its variable `error`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i64)]
pub(crate) enum Refusal {
    /// Nothing of the kind belongs here.
    Unexpected = 1,
    /// The number does not fit its type.
    Range,
    /// The list has all its items.
    Full,
    /// The list has not all its items.
    Short,
    /// The field has its value.
    Twice,
    /// Fields have no value.
    Missing,
    /// There is no such field, slot, alternative, row; or tuples and records are not of that length or name.
    Argument,
    /// The string has another length.
    Length,
    /// More rows than 32 bits count.
    Wide,
    /// Nothing can stand in the place of a null.
    Placeless,
}

impl Refusal {
    pub(crate) const fn from_code(code: i64) -> Self {
        match code {
            2 => Self::Range,
            3 => Self::Full,
            4 => Self::Short,
            5 => Self::Twice,
            6 => Self::Missing,
            7 => Self::Argument,
            8 => Self::Length,
            9 => Self::Wide,
            10 => Self::Placeless,
            _ => Self::Unexpected,
        }
    }
}

/// A variable of the program.
pub(crate) type Var = usize;
/// An output of the program.
pub(crate) type Out = usize;

/// How many rows a list or string adds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Amount {
    Count(Var),
    /// The length of the data.
    Bytes,
}

/// The smallest piece of what a command does. Steps that refuse come before those that write.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    /// Refuses in any case.
    Refuse(Refusal),
    /// Refuses if there are as many as fit.
    Room {
        count: Var,
        size: u64,
    },
    /// Refuses if the data are more items than there is room for.
    RoomForAll {
        count: Var,
        size: u64,
        item: usize,
    },
    /// Refuses if there are fewer.
    Complete {
        count: Var,
        size: u64,
    },
    /// Refuses if the field has a value.
    Unfilled {
        filled: Var,
        bit: u32,
    },
    /// Refuses if one of these fields has none.
    Filled {
        filled: Var,
        bits: i64,
    },
    /// Refuses if the data have another length.
    Length {
        bytes: u64,
    },
    /// Refuses if a column would get more rows than its index type counts.
    Fits {
        total: Var,
        amount: Amount,
        index: Index,
    },
    /// Refuses if the rows of a content are as many as its index type counts.
    Below {
        rows: Var,
        index: Index,
    },
    /// Refuses if the integer in the data is outside; otherwise keeps it for [`Step::Kept`].
    Keep {
        low: i64,
        high: i64,
    },
    /// Refuses if the argument is not a row of the content.
    Reference {
        rows: Var,
    },

    /// Appends a number.
    Literal {
        value: i64,
        output: Out,
    },
    /// Appends the next row of a content.
    Next {
        rows: Var,
        output: Out,
    },
    /// Appends from the data, as `parser` reads it.
    Scalar {
        parser: char,
        output: Out,
    },
    /// Appends two of them.
    Pair {
        parser: char,
        output: Out,
    },
    /// Appends what was kept.
    Kept {
        output: Out,
    },
    /// Appends the argument.
    Argument {
        output: Out,
    },
    /// Appends the end of a list.
    Offset {
        count: Var,
        output: Out,
    },
    /// Appends a string, with its end if it may have any length.
    Bytes {
        offsets: Option<Out>,
        data: Out,
    },
    /// Appends all of the data, items of one size in bytes, and counts them.
    Bulk {
        parser: char,
        item: usize,
        output: Out,
        count: Var,
    },
    /// Appends zeros.
    Zeros {
        output: Out,
        items: u64,
    },
    /// Appends an empty list or string.
    Repeat {
        output: Out,
    },
    Set {
        variable: Var,
        value: i64,
    },
    Add {
        variable: Var,
        value: i64,
    },
    /// Counts the rows that [`Step::Fits`] found room for.
    Grow {
        total: Var,
        amount: Amount,
    },
    /// The state from now on.
    State(usize),
    /// Another routine; what it refuses is refused.
    Call(usize),
    /// Another routine, repeated.
    Times {
        times: u64,
        routine: usize,
    },
    /// Only if the field has no value.
    IfUnfilled {
        filled: Var,
        bit: u32,
        steps: Vec<Self>,
    },
}

/// The steps of a command in some state, or of a routine.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Action {
    Steps(Vec<Step>),
    /// By the argument; anything else is refused.
    Cases(Vec<(i64, Vec<Step>)>),
}

/// An output and its type in the machine.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OutputSpec {
    pub(crate) name: String,
    pub(crate) dtype: DType,
    /// Whether a zero stands first.
    pub(crate) offsets: bool,
}
