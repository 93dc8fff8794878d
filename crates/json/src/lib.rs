//! JSON files as tables: consecutive values, as in JSON Lines, or the items of one list.
//!
//! Opening a file reads it once, in pieces: `scan` controls the pass, `framing` finds the boundaries of
//! values from brackets and quotes, and `typing` infers the types of the blocks of a piece on several
//! threads, unless there is a schema. Blocks of a few megabytes are later decoded by [`JsonFormat`]: `fill`
//! appends values to the columns of a Form, and `skip` steps over members that are not requested.
//!
//! A stream with a schema is not read when it is opened: `blocks` continues the pass as entries are
//! requested, and drops blocks that were read. Inferring types requires all values, so a stream without a
//! schema is read to its end.
//!
//! `lexer` accepts JSON as defined by RFC 8259, without extensions. If an object has several members of one
//! name, the last one is used.
//!
//! If each value is on a line of its own, damage is confined to its line: only the entry of that line cannot
//! be read.
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
