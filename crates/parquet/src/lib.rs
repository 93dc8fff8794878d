//! Parquet files: column chunks to columns, and back.
//!
//! A [`ParquetFile`] is a footer. [`ParquetFile::table`] makes a [`ParquetTable`] of it, a
//! [`Dataset`](forthwith_plan::Dataset) whose blocks are row groups. Each of the file's columns is a group of the plan, and a task is one of
//! its chunks; columns that belong to one field, as those of a record do, are joined at the end. [`ParquetFormat`] decodes chunks: pages are
//! decompressed, levels become offsets and indexes by the kernels of the columns crate, and values go from the page to their final place.
//!
//! A [`ParquetWriter`] writes columns as Arrow has them.
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
#![deny(missing_docs)]

mod codec;
mod decode;
mod delta;
mod field;
mod file;
mod footer;
mod format;
mod hints;
mod hybrid;
mod leaf;
mod page;
mod schema;
mod table;
mod thrift;
mod values;
mod writer;

pub use file::ParquetFile;
pub use format::ParquetFormat;
pub use table::{Bound, Chunk, Options, ParquetTable, RowGroup};
pub use writer::ParquetWriter;
