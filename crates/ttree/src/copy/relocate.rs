//! Moves entries with pointers to objects to another offset of a basket.
//!
//! An entry has the name of each class once. Class tags and references to objects are offsets from the first
//! byte of the basket's key. ROOT could read entries with offsets of another basket by displacements after
//! the entry offsets, but warns of them, so the offsets are rewritten.

use std::sync::Arc;

use bytes::Bytes;
use forthwith_plan::{Error, ErrorKind, Result};
use forthwith_root::write::{Buffer, Edits};
use forthwith_root::{EntryValue, Walker};

use crate::metadata::Branch;
use crate::tree::Tree;

/// Rewriting of the entries of one branch for another offset.
#[derive(Debug)]
pub(super) struct Relocation {
    walker: Arc<Walker>,
    /// Reason why entries with pointers cannot be read, if so.
    value: std::result::Result<EntryValue, String>,
}

impl Relocation {
    /// Returns the relocation of a branch, or `None` if its entries have no pointers to objects.
    pub(super) fn of(tree: &Tree, branch: &Branch<'_>, walker: &Arc<Walker>) -> Option<Self> {
        let value = tree.entry_value(branch).transpose()?;
        Some(Self { walker: Arc::clone(walker), value })
    }

    /// Appends an entry whose offset was `from` and will be `to`.
    ///
    /// # Errors
    /// Returns an error if a class in the entry has no streamer info, or if its pointers are damaged.
    pub(super) fn entry(&self, entry: &[u8], from: u32, to: u32, out: &mut Vec<u8>) -> Result<()> {
        let value = self.value.as_ref().map_err(|why| unmoved(Error::unsupported(why.clone())))?;
        let objects = self.walker.read_entry(Bytes::copy_from_slice(entry), from, value).map_err(unmoved)?;
        let mut buffer = Buffer::at(to);
        Edits::new(&objects).and_then(|edits| edits.write(&mut buffer)).map_err(unmoved)?;
        if buffer.is_too_long() {
            return Err(Error::unsupported("entries of more than 1 GB"));
        }
        out.extend(buffer.bytes());
        Ok(())
    }
}

/// Describes why an entry cannot move to another offset.
fn unmoved(error: Error) -> Error {
    match error.kind {
        ErrorKind::Unsupported { what } => {
            let kind = ErrorKind::Unsupported {
                what: format!("copying an entry with pointers apart from its basket: {what}"),
            };
            Error { kind, place: error.place }
        }
        _ => error,
    }
}
