//! CERN ROOT files, read from first principles.
//!
//! A [`RootFile`] is a container of records, each behind a [`Key`] and listed in a [`Directory`]. The payload
//! of a record is an object in ROOT's own serialization, which a [`Cursor`] reads. How a class is serialized,
//! the file says itself in its [`Streamers`]; by them [`RootFile::object`] reads any object with everything
//! it points to ([`Objects`]). A [`Tree`] is such an object, whose data are in further records: the baskets,
//! which [`TreeFormat`] decodes.
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
//! # From classes to columns
//!
//! `tree/unroll/` makes a `program::Schema` of a class: `member.rs` handles each member, `evolve.rs` reads
//! other versions of a class as the latest one, `pointed.rs` chooses the classes that a pointer may lead to,
//! and `budget.rs` limits how far classes are unrolled that contain themselves. Frames, versions, items
//! stored member by member and pointers are words of the schema (`program/translate/framed.rs`), which knows
//! nothing else of ROOT.
//!
//! * Versions of a class may pack one number in several ways. The numbers are kept as they are stored, each
//!   with its way of packing, until `columns::Finisher::Mixed` converts them.
//! * The classes that a pointer may lead to follow from the streamer infos. The class of one object is read
//!   where the data name it, by looking back in the data, so a program keeps no state.
//! * A reference to an object pauses the program. The engine (`engine/objects.rs`) looks the object up among
//!   those that pointers of the same place wrote, and `columns::Finisher::Objects` makes the index of rows.
#![deny(missing_docs)]

mod class;
mod cpp;
mod efficiency;
mod file;
mod format;
mod object;
mod streamer;
mod tree;

pub use cpp::{Basic, Packing, code};
pub use efficiency::{Interval, beta_interval};
pub use file::{
    Checked, Datime, Directory, DirectoryRecord, Found, Header, Key, Record, Records, Recovered, RootFile,
    check_record, decompress_blocks, decompress_record,
};
pub use format::TreeFormat;
pub use object::{
    Array, Base, BasketHeader, Cursor, EmbeddedBasket, Frame, Items, Leftover, List, Object, Objects, Packed,
    Shape, TObject, Tag, Value, Walker, text,
};
pub use streamer::{
    Counter, Element, ElementKind, StreamerInfo, Streamers, forget_class, prepare, register_class,
    register_unframed,
};
pub use tree::{Tree, TreeInfo};
