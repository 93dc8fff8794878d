//! The commands of builders.

use std::fmt;

/// The commands of a builder. The numbers are those of the program of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[non_exhaustive]
#[expect(missing_docs, reason = "they are the commands")]
pub enum Command {
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
    Append,
}

impl Command {
    /// The name of the method.
    #[must_use]
    pub const fn name(self) -> &'static str {
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
            Self::Append => "append",
        }
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
