//! Extending existing trees of ROOT files.

use crate::{format, table::read};
use forthwith_engine::{Engine, Options};
use forthwith_plan::{Dataset, Error, Result};
use forthwith_root::{Found, RootFile, write::FileWriter};
use forthwith_ttree::{
    Tree,
    write::{TreeOptions, TreeWriter},
};

/// Opens an existing tree of a ROOT file to append entries, as [`TreeWriter::open`] does. The first entry of
/// each branch that is written by the layout of a class is read, so that a class whose streamer writes other
/// bytes is detected before anything is written.
///
/// `old` is the file as it was when `file` began to change it, and `found` the tree in it. The options for
/// baskets, clusters and missing values apply; the other settings are those of the tree.
///
/// ```no_run
/// # fn extend(columns: &[forthwith::columns::Array]) -> forthwith::plan::Result<()> {
/// use forthwith::io::{UpdateSink, open_unmapped};
/// use forthwith::root::write::{FileSettings, FileWriter};
/// use forthwith::root::{RootFile, TreeOptions, extend_tree};
///
/// // The file is locked first, and not mapped, since its bytes change.
/// let sink = UpdateSink::open("events.root")?;
/// let old = RootFile::open(open_unmapped("events.root")?)?;
/// let sink = sink.begin_at(old.header().end)?;
/// let mut file = FileWriter::update(Box::new(sink), &old, FileSettings::of(&old))?;
/// let mut tree = extend_tree(&mut file, &old, &old.find("events")?, TreeOptions::default())?;
/// tree.extend(&mut file, columns)?;
/// tree.finish(&mut file)?;
/// file.finish()?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Returns an error if the tree cannot be read, or if it has branches that cannot be extended; the error
/// names them.
pub fn extend_tree(
    file: &mut FileWriter,
    old: &RootFile,
    found: &Found,
    options: TreeOptions,
) -> Result<TreeWriter> {
    TreeWriter::open(file, old, found, options, |tree, branches| first_entries(old, tree, branches))
}

/// Reads the first entry of each of these branches.
fn first_entries(old: &RootFile, tree: &Tree, branches: &[u32]) -> Result<()> {
    let engine = Engine::new(Options::with_threads(1));
    let entries = tree.entries()?.min(1);
    let first = |branch: u32| {
        let plan = tree.plan(&[branch], 0..entries)?;
        // Branches with baskets in other files are refused later, for that reason.
        if plan.others.is_empty() {
            read(&engine, old.source(), format(&plan.format)?, tree, &plan, Some(1), None)?;
        }
        Ok(())
    };
    branches.iter().try_for_each(|&branch| {
        first(branch).map_err(|error: Error| {
            let what = format!("extending a branch whose first entry cannot be read: {}", error.kind);
            Error { kind: Error::unsupported(what).kind, place: error.place }
        })
    })
}
