//! Trees of ROOT files: columns in baskets.
//!
//! A [`Tree`] is an object of a [`RootFile`](forthwith_root::RootFile) whose data are in further records: the
//! baskets, which [`TreeFormat`] decodes. Its record is parsed once; a branch is resolved on request, and is
//! then a [`Field`](forthwith_plan::Field) of a [`Dataset`](forthwith_plan::Dataset) as any other.
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
//! `metadata.rs` reads the tree's record, `baskets.rs` where the baskets of a branch are, and `tree/` is the
//! dataset made of both. `columns.rs` decides from leaf, streamer element and title which values a branch
//! holds, `format.rs` takes the framing off a basket.
//! `check.rs` compares the baskets that trees name with the records of the file. Classes are unrolled to
//! columns by `forthwith_root::unroll`.
#![deny(missing_docs)]

mod baskets;
mod check;
mod columns;
pub mod copy;
mod format;
mod leaf_classes;
mod metadata;
mod tree;
pub mod write;

pub use check::TreeCheck;
pub use format::TreeFormat;
pub use metadata::TreeInfo;
pub use tree::{DamagedBasket, Tree};
