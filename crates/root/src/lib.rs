//! Reads and writes CERN ROOT files.
//!
//! A [`RootFile`] is a container of records, each after its [`Key`] and listed in a [`Directory`]. The
//! payload of a record is an object in ROOT's own serialization, which a [`Cursor`] reads. The file describes
//! the serialization of its classes in its [`Streamers`], by which [`RootFile::object`] reads any object with
//! all objects to which it points ([`Objects`]). Trees are such objects, whose data are in further records;
//! the crate `forthwith-ttree` reads them, and takes part in [`RootFile::check`] as a [`TableCheck`].
//! [`write`](mod@write) writes files.
//!
//! ```
//! use forthwith_root::RootFile;
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/zmumu.root");
//! let file = RootFile::open(forthwith_io::open(path)?)?;
//! for found in file.keys_recursive()? {
//!     println!("{};{} is a {}", found.path, found.key.cycle, found.key.class_name);
//! }
//!
//! let mass = file.object(&file.find("mass")?.key)?;
//! assert_eq!(mass.top().class(), "TH1F");
//! assert_eq!(mass.top().text("fName").as_deref(), Some("mass"));
//! let bins = mass.top().object("fXaxis").and_then(|axis| axis.int("fNbins"));
//! assert!(bins > Some(0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![deny(missing_docs)]

pub mod class;
mod cpp;
mod file;
mod histogram;
mod object;
mod record;
mod streamer;
pub mod unroll;
pub mod write;

pub use cpp::{Container, CppType, Holds, Number, Packing, code};
pub use file::{
    BasketPlace, BranchBaskets, Check, Checked, Directory, DirectoryRecord, Found, Header, Record, RecordGap,
    Records, Recovered, RootFile, TableCheck, check_record, decompress_blocks, decompress_record,
    has_checksums, is_roots_own, setting_name,
};
pub use histogram::{efficiency, histogram, histogram_error};
pub use object::{
    Array, Base, EntryValue, Items, Leftover, List, Object, Objects, Packed, Shape, Value, Walker,
    names_class,
};
pub use record::{
    BasketHeader, Cursor, Datime, EmbeddedBasket, Frame, Key, KeyOf, RawKey, TObject, Tag, lossy, text,
};
pub use streamer::{
    Counter, Element, ElementKind, StreamerInfo, Streamers, any_unframed, builtin_divided, forget_class,
    is_unframed, prepare, register_class, register_unframed, registered, registrations,
};
