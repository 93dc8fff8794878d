//! Trees (`TTree`) of ROOT files.
//!
//! A [`Tree`] is an object of a [`RootFile`](forthwith_root::RootFile) whose data are in further records, the
//! baskets, which [`TreeFormat`] decodes. The record of the tree is parsed once. A branch is resolved when it
//! is first needed, and is a [`Field`](forthwith_plan::Field) of a [`Dataset`](forthwith_plan::Dataset).
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
//! `metadata.rs` parses the tree's record, `baskets.rs` finds the baskets of a branch, and `tree/` makes a
//! dataset of both. `columns.rs` derives the type of a branch from its leaf, streamer element and title.
//! `format.rs` decodes the frame of baskets. `check.rs` compares the baskets in trees with the records of the
//! file. Classes are unrolled to columns by `forthwith_root::unroll`.
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
