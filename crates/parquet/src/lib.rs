//! Parquet files: decoding of column chunks, and writing.
//!
//! A [`ParquetFile`] is the footer of a file. [`ParquetFile::table`] returns a [`ParquetTable`], a
//! [`Dataset`](forthwith_plan::Dataset) whose blocks are row groups. Each column of the file is a group of
//! the plan, and each of its chunks is a task. Columns of one field, such as those of a record, are joined at
//! the end. [`ParquetFormat`] decodes chunks: pages are decompressed, levels are converted to offsets and
//! indexes by kernels, and values are copied from the page to their final position.
//!
//! A `ParquetWriter` writes columns of Arrow types. It requires the feature `write`, which is on by default.
//! Without it, this crate does not depend on the `parquet` crate.
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
//! Footers are parsed by `thrift.rs`, because the `parquet` crate refuses footers that the reference library
//! reads. The nesting of schemas is bounded, so that recursion does not overflow the stack.
//!
//! * On its turn, a chunk is written while it is decoded. Before its turn, it is decompressed and counted,
//!   and written when its slots are known.
//! * The column readers of the `parquet` crate are not used: they return levels as 16-bit numbers and values
//!   as vectors, which costs more than reading both.
//! * `hints.rs` reads the types of durations and fixed-size lists from Arrow's schema in the file. Such lists
//!   lose their offsets when they are complete (`Array::regular`).
//! * A field of a record is a field of the table as well (`Field::is_part`). It has the parts of the record's
//!   column without the records around it, and is an option if one of these is. It is read only if it is
//!   requested by path.
//! # How chunks are encoded
//!
//! * Columns of numbers, booleans and byte strings are encoded by `write/encode/`, page by page: bounds,
//!   dictionary indexes or plain values, compression. Values that are not compressed are written from the
//!   memory of the array. Nested columns, rare types, gzip and brotli are encoded by the `parquet` crate.
//! * A sample of the first rows decides on a dictionary: the number of distinct values is estimated from the
//!   duplicates in the sample. A dictionary that exceeds one megabyte is abandoned.
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
