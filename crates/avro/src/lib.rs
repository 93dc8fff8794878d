//! Avro: object container files as tables, by programs made of their schema.
//!
//! An [`AvroFile`] is a header: schema, codec, metadata. [`AvroFile::table`] finds the blocks, reading only what stands between them, and
//! makes an [`AvroTable`] of them, a [`Dataset`](forthwith_plan::Dataset) like any other. Its plans carry one
//! [`Program`](forthwith_program::Program) for the fields that are wanted; what is not wanted is stepped over. [`AvroFormat`] knows
//! what is round the entries' bytes. There is no decoder of Avro here, or anywhere: a [`Schema`] becomes a
//! [layout](forthwith_program::Schema), a layout becomes AwkwardForth, and the machine runs that.
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

pub use container::{BlockCodec, BlockPlace, Damage, Header};
pub use datum::{DatumFormat, Datums, SchemaStore, encode_datums};
pub use format::AvroFormat;
pub use schema::{Field, Id, Kind, Logical, Name, Schema, SchemaError, Type, Unit};
pub use table::{AvroFile, AvroTable, Options};
pub use write::{AvroWriter, DEFAULT_BLOCK, Writing, schema_of};
