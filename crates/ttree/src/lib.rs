//! Trees of ROOT files: columns in baskets.
//!
//! A [`Tree`] is an object of a [`RootFile`](forthwith_root::RootFile) whose data are in further records: the baskets,
//! which [`TreeFormat`] decodes. Its record is parsed once; a branch is resolved on request, and is then a
//! [`Field`](forthwith_plan::Field) of a [`Dataset`](forthwith_plan::Dataset) as any other.
//!
//! ```
//! use forthwith_plan::Dataset;
//! use forthwith_root::RootFile;
//! use forthwith_ttree::Tree;
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/zmumu.root");
//! let file = RootFile::open(forthwith_io::open(path)?)?;
//! let tree = Tree::open(&file, "events")?;
//! let run = tree.describe(tree.find("run")?)?;
//! assert_eq!(run.type_name, "uint32_t");
//! assert!(tree.entries()? > 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//! # From branches to columns
//!
//! `metadata.rs` reads the tree's record, `baskets.rs` where the baskets of a branch are, and `tree/` is the dataset made of
//! both. `columns.rs` decides from leaf, streamer element and title which values a branch holds, `programs.rs` makes
//! Programs where no kernel fits, and `format.rs` takes the framing off a basket. `check.rs` compares the baskets that
//! trees name with the records of the file.
//!
//! # From classes to columns
//!
//! `unroll/` makes a `program::Layout` of a class: `member.rs` handles each member, `evolve.rs` reads
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

mod baskets;
mod check;
mod columns;
mod format;
mod metadata;
mod programs;
mod tree;
mod unroll;

pub use check::TreeCheck;
pub use format::TreeFormat;
pub use metadata::TreeInfo;
pub use tree::Tree;
