//! JSON as tables: values one after the other, as in JSON Lines, or the items of one list.
//!
//! Opening a file reads it once, in pieces: `scan` finds where values begin and counts them, and `seen` finds the type of each
//! place from all of its values. Values are grouped into blocks of a few megabytes; [`JsonFormat`] parses the blocks again, on several
//! threads, and keeps only the requested members of objects.
//!
//! `lexer` takes what RFC 8259 defines and nothing more. Of members of one name in an object, the last one counts.
#![deny(missing_docs)]

mod decode;
mod fill;
mod lexer;
mod scan;
mod seen;
mod table;

pub use decode::JsonFormat;
pub use scan::{JsonFile, JsonOptions};
pub use table::JsonTable;
