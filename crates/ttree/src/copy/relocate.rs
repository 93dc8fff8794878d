//! Entries with pointers to objects, at another offset of a basket.
//!
//! The name of a class stands in an entry once, and class tags and references to objects are offsets, counted from the first
//! byte of the basket's key. ROOT could read entries that keep those of another basket by displacements behind the entry
//! offsets, but complains of them, so they are written anew.

use std::sync::Arc;

use bytes::Bytes;
use forthwith_plan::{Error, ErrorKind, Result};
use forthwith_root::write::{Buffer, Edits};
use forthwith_root::{EntryValue, Walker};

use crate::metadata::Branch;
use crate::tree::Tree;

/// How the entries of one branch are written at another offset.
#[derive(Debug)]
pub(super) struct Relocation {
    walker: Arc<Walker>,
    /// Why entries with pointers cannot be read, if they cannot.
    value: std::result::Result<EntryValue, String>,
}

impl Relocation {
    /// That of a branch; `None` if no pointers to objects can be in its entries.
    pub(super) fn of(tree: &Tree, branch: &Branch<'_>, walker: &Arc<Walker>) -> Option<Self> {
        let value = tree.entry_value(branch).transpose()?;
        Some(Self { walker: Arc::clone(walker), value })
    }

    /// Appends an entry that began at one offset and gets another.
    ///
    /// # Errors
    /// Something in the entry is not described, or its pointers are damaged.
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

/// Why an entry cannot get another offset.
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
