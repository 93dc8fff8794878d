//! Avro object container files as tables.
//!
//! An [`AvroFile`] is a header with schema, codec and metadata. [`AvroFile::table`] makes an [`AvroTable`] of
//! it, a [`Dataset`](forthwith_plan::Dataset) that finds the blocks by reading only their headers. Its plans
//! contain one [`Program`](forthwith_program::Program) for the requested fields, which skips all others, and
//! [`AvroFormat`] decodes the framing of blocks. This crate has no decoder of values: a [`Schema`] is
//! translated to a [layout](forthwith_program::Layout), and a layout to AwkwardForth.
//!
//! ```no_run
//! use forthwith_avro::{AvroFile, Options};
//! use forthwith_plan::Dataset;
//!
//! let file = AvroFile::open(forthwith_io::open("events.avro")?)?;
//! println!("{} values, {}", file.name(), file.header().codec.name());
//! let table = file.table(&Options::default())?;
//! let plan = table.plan(&[0, 1], 0..table.entries()?)?;
//! println!("{} bytes in {} tasks", plan.stored_bytes(), plan.tasks.len());
//! # Ok::<(), forthwith_plan::Error>(())
//! ```
//! # How blocks are decoded
//!
//! * The bytes of a task begin with the sync marker before its first block, with which the following markers
//!   are compared. Small consecutive blocks are one task; if one of them is damaged, they are read one by one
//!   to find it.
//! * A part of a field, `a/b`, is decoded within its record, reduced to the requested parts, and picked from
//!   it at the end (`Plan::picks`, `Array::pick`); this includes reads with a reader's schema. Defaults are
//!   read from a second input of the program.
//! * Unions write one byte for each row; their indexes are computed when all blocks are decoded.
//! * Booleans are validated at the end (`Finisher::ValidateBool`). If one is invalid, the blocks are read
//!   again with a program that checks each value (`program::translate_checking`), to report the entry and the
//!   byte offset.
#![deny(missing_docs)]

mod container;
mod datum;
mod default;
mod fixed;
mod format;
mod resolve;
mod schema;
mod table;
mod translate;
mod write;

pub use container::{BlockCodec, BlockPlace, Damage, Header, MARKER};
pub use datum::{DatumFormat, Datums, SchemaStore, encode_datums, message_head};
pub use default::encode_default;
pub use format::AvroFormat;
pub use forthwith_encode::zigzag as put_long;
pub use schema::{Field, Id, Kind, Logical, Name, Schema, SchemaError, Type, Unit};
pub use table::{AvroFile, AvroTable, Options};
pub use write::{AvroWriter, DEFAULT_BLOCK, Writing, schema_of};
