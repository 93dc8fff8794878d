//! JSON as tables: values one after the other, as in JSON Lines, or the items of one list.
//!
//! Opening a file reads it once, in pieces: `framing` finds where values begin by brackets and quotes, `typing` the types of a piece's
//! blocks on several threads, unless there is a `schema`, and `scan` has the order of all this. Blocks of a few megabytes are parsed again by
//! [`JsonFormat`]: `fill` appends values to the columns of a Form, and `skip` steps over what is not requested.
//!
//! A stream that is read by a schema is not read when it is opened: `blocks` has the pass go on as entries are asked for, and drops blocks
//! that were read. Types can only be found of all values, so a stream without a schema is read to its end.
//!
//! `lexer` takes what RFC 8259 defines and nothing more. Of members of one name in an object, the last one counts.
//!
//! If each value is on a line of its own, damage ends with its line: a damaged line is an entry that cannot be read.
#![deny(missing_docs)]

mod blocks;
mod context;
mod convert;
mod decode;
mod file;
mod fill;
mod framing;
mod lexer;
mod moments;
mod number;
mod place;
mod record;
mod scan;
mod schema;
mod seen;
mod skip;
mod table;
#[cfg(test)]
mod tests;
mod typing;

pub use decode::JsonFormat;
pub use file::{JsonFile, JsonOptions};
pub use table::JsonTable;
