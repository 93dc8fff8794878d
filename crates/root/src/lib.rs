//! CERN ROOT files, read from first principles.
//!
//! A [`RootFile`] is a container of records, each behind a [`Key`] and listed in a [`Directory`]. The payload of a record
//! is an object in ROOT's own serialization, which a [`Cursor`] reads.
//!
//! ```no_run
//! use forthwith_root::RootFile;
//!
//! let file = RootFile::open(forthwith_io::open("events.root")?)?;
//! for found in file.keys_recursive()? {
//!     println!("{};{} is a {}", found.path, found.key.cycle, found.key.class_name);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![deny(missing_docs)]

mod file;
mod format;
mod near;
mod object;
mod streamer;
mod tree;

pub use file::{
    Datime, Directory, DirectoryRecord, Found, Header, Key, Record, Records, RootFile, check_record,
    decompress_blocks, decompress_record,
};
pub use format::TreeFormat;
pub use near::near;
pub use object::{
    Array, Basic, BasketHeader, Cursor, EmbeddedBasket, Frame, Items, Object, Objects, TObject, Tag, Value,
    Walker, text,
};
pub use streamer::{Counter, Element, ElementKind, Packing, StreamerInfo, Streamers, code};
pub use tree::{Tree, TreeInfo};
