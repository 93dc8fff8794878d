//! Files and streams of Arrow's IPC format: reading and writing.
//!
//! [`IpcFile`] finds the messages of a file: a footer lists those of a file proper, and those of a stream follow each other.
//! Of a record batch only the header is read (`message`), which says where the buffers of each column are. [`IpcTable`] makes
//! a plan of it: one group for each column, one task for each record batch, with the bytes between the first and the last buffer
//! of the column. [`IpcFormat`] decodes such a task: `buffers` makes an Arrow array of it, whose contents Arrow's library
//! validates, and `forthwith_columns::arrow` makes columns of that.
//!
//! Values of dictionaries are put in their place: columns have the type of the values. The dictionaries that a column needs are
//! part of its decoder, as they are stored.
//!
//! The format is <https://arrow.apache.org/docs/format/Columnar.html#serialization-and-interprocess-communication-ipc>.
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
