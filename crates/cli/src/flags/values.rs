//! The flags for values as they are read: text that is not UTF-8, and times.

use crate::opened;
use clap::{Args, ValueEnum};
use forthwith::columns::TextPolicy;

#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Values {
    /// Text that is not UTF-8 [default: an error in Avro and Parquet, and wherever UTF-8 is written]
    #[arg(long, value_name = "HOW", conflicts_with = "no_check_text")]
    text: Option<How>,
    /// Accept text that is not UTF-8 and keep its bytes
    #[arg(long)]
    no_check_text: bool,
    /// Dates, times and lengths of time as the whole numbers that they are stored as
    #[arg(long)]
    times_as_integers: bool,
}

/// The treatment of text that is not UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum How {
    /// An error
    Strict,
    /// All text as byte strings
    Bytes,
    /// Decode as Latin-1
    #[value(name = "latin-1")]
    Latin1,
    /// Replace what is not valid by U+FFFD
    Replace,
    /// Leave out the bytes that are not valid
    Ignore,
}

impl Values {
    /// How tables are read.
    pub(crate) fn reading(self) -> opened::Values {
        let text = match self.text {
            None if self.no_check_text => TextPolicy::Stored,
            None | Some(How::Strict) => TextPolicy::Strict,
            Some(How::Bytes) => TextPolicy::Bytes,
            Some(How::Latin1) => TextPolicy::Latin1,
            Some(How::Replace) => TextPolicy::Replace,
            Some(How::Ignore) => TextPolicy::Ignore,
        };
        opened::Values { text, times_as_integers: self.times_as_integers }
    }
}
