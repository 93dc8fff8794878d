//! Trees that are in a ROOT file already, to be extended.

use std::sync::Arc;

use crate::File;
use forthwith_engine::{Engine, Options};
use forthwith_plan::{Error, Result};
use forthwith_root::{Found, RootFile, write::FileWriter};
use forthwith_ttree::write::{TreeOptions, TreeWriter};

/// Opens a tree that is in a ROOT file already, to be extended: [`TreeWriter::open`], with the first entry of each branch
/// read that is written by the layout of a class, so that a class whose streamer writes something else is found before
/// anything of it is written.
///
/// `old` is the file as it was when `file` began to change it, and `found` the tree in it. Of the options those hold that
/// say how baskets and clusters are made, and what missing values are; the rest follows from the tree.
///
/// # Errors
/// The tree cannot be read, or has branches whose entries cannot be written; they are named.
pub fn extend_tree(
    file: &mut FileWriter,
    old: &RootFile,
    found: &Found,
    options: TreeOptions,
) -> Result<TreeWriter> {
    TreeWriter::open(file, old, found, options, |branches| first_entries(old, found, branches))
}

/// Reads the first entry of each of these branches.
fn first_entries(old: &RootFile, found: &Found, branches: &[u32]) -> Result<()> {
    let engine = Arc::new(Engine::new(Options::with_threads(1)));
    let file = File::from_source(Arc::clone(old.source()), engine)?;
    let table = file.table(&format!("{};{}", found.path, found.key.cycle))?;
    let entries = table.entries()?.min(1);
    branches.iter().try_for_each(|&branch| {
        let read = table.plan(&[branch], 0..entries).and_then(|plan| table.read(&plan, Some(1), None));
        read.map(drop).map_err(|error| {
            let what = format!("extending a branch whose first entry cannot be read: {}", error.kind);
            Error { kind: Error::unsupported(what).kind, place: error.place }
        })
    })
}
