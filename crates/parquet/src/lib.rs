//! Parquet files: column chunks to columns, and back.
//!
//! A [`ParquetFile`] is a footer. [`ParquetFile::table`] makes a [`ParquetTable`] of it, a
//! [`Dataset`](forthwith_plan::Dataset) whose blocks are row groups. Each of the file's columns is a group of
//! the plan, and a task is one of its chunks; columns that belong to one field, as those of a record do, are
//! joined at the end. [`ParquetFormat`] decodes chunks: pages are decompressed, levels become offsets and
//! indexes by the kernels of the columns crate, and values go from the page to their final place.
//!
//! A `ParquetWriter` writes columns as Arrow has them. It is behind the feature `write`, which is on by default: without it,
//! nothing of the `parquet` crate is built.
//!
//! ```no_run
//! use forthwith_parquet::{Options, ParquetFile};
//! use forthwith_plan::Dataset;
//!
//! let file = ParquetFile::open(forthwith_io::open("events.parquet")?)?;
//! let table = file.table(&Options::default())?;
//! for (number, field) in table.fields()?.iter().enumerate() {
//!     println!("{}: {}", field.path, table.describe(number as u32)?.type_name);
//! }
//! # Ok::<(), forthwith_plan::Error>(())
//! ```
//! # How chunks are decoded
//!
//! Footers are read by `thrift.rs` and not by the `parquet` crate, which refuses footers that the reference
//! library reads. A schema must not be nested more deeply than the stack allows.
//!
//! * On its turn, a chunk is written while it is decoded. Before its turn, it is decompressed and counted,
//!   and written when its slots are known.
//! * The column readers of the `parquet` crate are not used: they return levels as 16-bit numbers and values
//!   as vectors, which costs more than reading both.
//! * `hints.rs` looks up what Arrow's schema in the file says of durations and of lists of one length. Such
//!   lists lose their offsets when they are complete (`Array::regular`).
//! * A field of a record is a field of the table as well (`Field::is_part`): the same parts without the
//!   records around them, whose options it takes over. It is read only when it is requested by path.
//!
//! # How chunks are encoded
//!
//! * Columns of numbers, booleans and byte strings are encoded by `write/encode/`, page by page: smallest and largest value,
//!   dictionary indices or plain values, compression. Values that are not compressed are written from the memory of the
//!   array. Nested columns, rare types, gzip and brotli are left to the `parquet` crate.
//! * A sample of the first rows says whether a dictionary pays: the number of different values is estimated by how
//!   many meet in the sample. A dictionary that grows beyond a megabyte is not used further.
//! * Tests compare indexes, statistics and bounds of pages with those of the `parquet` crate.
#![deny(missing_docs)]

mod check;
mod codec;
mod decode;
mod delta;
mod dictionary;
mod encodings;
mod field;
mod file;
mod footer;
mod format;
mod hints;
mod hybrid;
mod index;
mod item_views;
mod leaf;
mod levels;
mod page;
mod pages;
mod schema;
mod table;
mod texts;
mod thrift;
mod values;
#[cfg(feature = "write")]
mod write;

pub use file::ParquetFile;
pub use format::ParquetFormat;
pub use table::{Bound, Chunk, Options, ParquetTable, RowGroup};
#[cfg(feature = "write")]
pub use write::ParquetWriter;
