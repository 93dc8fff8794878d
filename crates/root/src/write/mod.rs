//! Writing of ROOT files.
//!
//! A [`FileWriter`] owns the sink. Tables append their data with [`FileWriter::record`], which no directory
//! lists, and their metadata with [`FileWriter::object`], which a directory lists. A [`Buffer`] holds the
//! serialised bytes of one object. The class of every written object has to be described
//! ([`FileWriter::describe`], [`FileWriter::describe_class`]); a finished file has these descriptions in its
//! streamer record.
//!
//! ```
//! use forthwith_io::MemorySink;
//! use forthwith_root::{RootFile, write::{FileSettings, FileWriter, KeyText}};
//! use std::sync::Arc;
//!
//! let memory = MemorySink::new("example.root");
//! let mut file = FileWriter::create(Box::new(memory.clone()), FileSettings::default())?;
//! let directory = file.directory("run/1")?;
//! let key = KeyText { class: "TObjString", name: "note", title: "Collectable string class" };
//! file.describe_class("TObjString")?;
//! file.object(directory, key, |buffer| {
//!     buffer.frame(1, |buffer| {
//!         buffer.tobject(0, 0);
//!         buffer.string("a good run");
//!     });
//! })?;
//! file.finish()?;
//!
//! let bytes = memory.bytes().ok_or("nothing was written")?;
//! let file = RootFile::open(Arc::new(forthwith_io::Memory::new("example.root", bytes)))?;
//! let note = file.object(&file.find("run/1/note")?.key)?;
//! assert_eq!(note.top().text("fString").as_deref(), Some("a good run"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod add;
mod buffer;
mod classes;
mod compress;
mod copy;
mod describe;
mod described;
mod directory;
mod edit;
mod file;
mod free;
mod given;
mod header;
mod infos;
mod key;
mod lists;
mod moment;
mod output;
mod processes;
mod settings;
mod stored;
mod update;

pub use add::Sum;
pub use buffer::Buffer;
pub(crate) use classes::{STL_VERSION, is_told_by_checksum};
pub use classes::{described_class, described_classes};
pub use compress::{Algorithm, Compression, compress, compress_instead, compress_into, compressed};
pub use directory::DirectoryId;
pub use edit::Edits;
pub use file::FileWriter;
pub use given::{Given, GivenObject};
pub use infos::checksum;
pub use key::{KeyKind, KeyText, RecordPlace};
pub use moment::{Moment, Uuid};
pub use processes::counts_processes;
pub use settings::FileSettings;
pub use stored::StoredRecord;
