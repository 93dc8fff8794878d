//! Reading and writing of files and streams in Arrow's IPC format.
//!
//! [`IpcFile`] finds the messages: the footer of a file lists them, and those of a stream are consecutive.
//! Only the header of a record batch is read (`message`), which has the ranges of the buffers. [`IpcTable`]
//! creates plans: one group for each column and one task for each record batch, with the bytes from the first
//! to the last buffer of the column. [`IpcFormat`] decodes a task: `buffers` creates an Arrow array from it,
//! which the Arrow library validates, and `forthwith_columns::arrow` converts it to columns.
//!
//! Dictionaries are replaced by their values: columns have the value type. The stored dictionaries of a
//! column are part of its decoder.
//!
//! The format is specified at
//! <https://arrow.apache.org/docs/format/Columnar.html#serialization-and-interprocess-communication-ipc>.
#![deny(missing_docs)]

mod array_data;
mod buffers;
mod decode;
mod dictionary;
mod expanded;
mod file;
mod layout;
mod message;
mod reachable;
mod recover;
mod table;
mod value_bytes;
mod writer;

pub use decode::IpcFormat;
pub use file::IpcFile;
pub use recover::LostPart;
pub use table::IpcTable;
pub use writer::IpcWriter;
