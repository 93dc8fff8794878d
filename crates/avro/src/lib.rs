//! Avro: object container files as tables, by programs made of their schema.
//!
//! An [`AvroFile`] is a header: schema, codec, metadata. [`AvroFile::table`] finds the blocks, reading only
//! what stands between them, and makes an [`AvroTable`] of them, a [`Dataset`](forthwith_plan::Dataset) like
//! any other. Its plans carry one [`Program`](forthwith_program::Program) for the fields that are wanted;
//! what is not wanted is stepped over. [`AvroFormat`] knows what is round the entries' bytes. There is no
//! decoder of Avro here, or anywhere: a [`Schema`] becomes a [layout](forthwith_program::Layout), a layout
//! becomes AwkwardForth, and the machine runs that.
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
//! * A task begins with the sync marker before its first block, so the task itself says what the following
//!   markers must be. Small consecutive blocks are one task; if one of them is damaged, they are read singly
//!   to find it.
//! * A part of a field, `a/b`, is decoded within its record, reduced to the wanted parts, and taken out of it
//!   at the end (`Plan::picks`, `Array::pick`), with a reader's schema as well. Defaults are read from a
//!   second input of the program.
//! * Unions write one byte a row; their indexes are made when all blocks are there.
//! * Booleans are validated at the end (`Finisher::ValidateBool`). If one is invalid, the blocks are read
//!   again with a program that checks each (`program::translate_checking`), which names entry and byte.
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
