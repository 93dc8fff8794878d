//! Branches prepared for a check of the file.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use forthwith_plan::{Decoder, Error, Kernel, Result, Scratch};
use forthwith_root::{EntryValue, Walker, names_class};

use super::Tree;
use crate::{
    baskets::BasketRef,
    format::{Asked, misplaced, unframe},
};

/// The baskets that reading a branch requires, and their positions.
pub(crate) struct Inspected {
    /// Path of the branch.
    pub(crate) path: String,
    /// Entries of its baskets, according to the branch.
    pub(crate) entries: Range<u64>,
    /// Number of entries that the branch claims (`fEntries`).
    pub(crate) counted: u64,
    /// Its baskets, or the error of finding them.
    pub(crate) baskets: Result<Vec<BasketRef>>,
    asked: Asked,
    size: Size,
    /// How entries with pointers to objects are read, if there may be any.
    pointers: Option<(Arc<Walker>, EntryValue)>,
}

/// Size of an entry, as far as it is known.
#[derive(Clone, Copy)]
enum Size {
    /// Unknown without decoding.
    Any,
    /// A fixed number of bytes.
    Fixed(u64),
    /// A number of bytes, and a number of bytes for each item.
    Items(u64, u64),
}

impl Inspected {
    /// Reads a basket up to the decoding of its entries, and checks the sizes of these.
    pub(crate) fn look_at(&self, entries: &Range<u64>, stored: &[u8], scratch: &mut Scratch) -> Result<()> {
        let block = unframe(self.asked, entries, entries, stored, scratch)?;
        let found = block.payload.len() as u64;
        match self.size {
            Size::Any => {}
            Size::Fixed(size) => {
                let expected = block.entries.saturating_mul(size);
                if expected != found {
                    return Err(Error::mismatch("length of all entries", expected, found));
                }
            }
            Size::Items(header, item) => {
                let bounds = block.bounds.as_chunks::<4>().0;
                let bound =
                    |at: usize| bounds.get(at).map_or(0, |bound| u64::from(u32::from_le_bytes(*bound)));
                let odd = |at: &usize| {
                    let items = bound(at + 1).checked_sub(bound(*at) + header);
                    items.is_none_or(|items| items % item.max(1) != 0)
                };
                if let Some(at) = (0..bounds.len().saturating_sub(1)).find(odd) {
                    return Err(Error::fault(format!("entry {at} of the basket ends within an item")));
                }
            }
        }
        if self.pointers.is_some() && names_class(block.payload) {
            return self.check_pointers(entries, stored, scratch);
        }
        Ok(())
    }

    /// Checks that class tags and references in entries point to classes and objects in the same entry.
    fn check_pointers(&self, entries: &Range<u64>, stored: &[u8], scratch: &mut Scratch) -> Result<()> {
        let Some((walker, value)) = &self.pointers else { return Ok(()) };
        let asked = Asked { bounds: true, ..self.asked };
        let block = unframe(asked, entries, entries, stored, scratch)?;
        let bounds = block.bounds.as_chunks::<4>().0;
        for (at, pair) in bounds.windows(2).enumerate() {
            let [begin, end] = [pair[0], pair[1]].map(u32::from_le_bytes);
            let entry = block.payload.get(begin as usize..end as usize).unwrap_or_default();
            if names_class(entry) {
                let origin = block.origin as u32 + begin;
                let checked = walker.check_pointers(Bytes::copy_from_slice(entry), origin, value);
                checked.map_err(|error| {
                    let byte = error.place.byte.unwrap_or(0);
                    Error::fault(format!("entry {at} of the basket, byte {byte}: {}", error.kind))
                })?;
            }
        }
        Ok(())
    }

    /// Returns whether entries may have pointers to objects, which are checked.
    pub(crate) fn has_pointers(&self) -> bool {
        self.pointers.is_some()
    }

    /// Returns whether [`look_at`](Self::look_at) checks entry offsets.
    pub(crate) fn asks_bounds(&self) -> bool {
        self.asked.bounds
    }
}

impl Tree {
    /// Returns the branches whose baskets are in this file.
    pub(crate) fn inspect(&self) -> impl Iterator<Item = Inspected> {
        (0..self.metadata.fields.len() as u32).filter_map(|field| self.inspect_field(field))
    }

    pub(super) fn inspect_field(&self, field: u32) -> Option<Inspected> {
        let branch = self.branch(field).ok()?;
        if !branch.file_name.is_empty() || branch.class == "TBranchClones" {
            return None;
        }
        let (mut asked, mut size) = (Asked::default(), Size::Any);
        // Branches that cannot be read have baskets nevertheless.
        if let Ok(column) = self.column(field, &branch)
            && let Ok(reading) = &column.reading
        {
            let counted = (column.counter.is_some() && branch.generates_offsets) || column.counts.is_some();
            asked = Asked::by(&reading.decoder, counted);
            size = match &reading.decoder {
                Decoder::Kernel(Kernel::Flat { wire, per_entry }) => {
                    Size::Fixed(per_entry.saturating_mul(wire.width() as u64))
                }
                Decoder::Kernel(Kernel::Slots { size, .. }) => Size::Fixed(*size),
                Decoder::Kernel(Kernel::Jagged { header, wire, per_item }) => {
                    Size::Items(u64::from(*header), per_item.saturating_mul(wire.width() as u64))
                }
                _ => Size::Any,
            };
        }
        // The pointers of a branch that cannot be read as objects are not checked.
        let pointers = self.entry_value(&branch).ok().flatten();
        Some(Inspected {
            pointers: pointers.map(|value| (self.walker(), value)),
            path: branch.field.path.clone(),
            entries: branch.first_entry..branch.end(),
            counted: branch.entries,
            baskets: self.baskets(&branch),
            asked,
            size,
        })
    }

    /// Returns the reader of objects in entries.
    fn walker(&self) -> Arc<Walker> {
        Arc::clone(self.walker.get_or_make(|| Arc::new(Walker::with(Arc::clone(&self.layouts)))))
    }

    /// Returns the error for a basket whose position in its branch is invalid.
    pub(crate) fn misplaced(&self, seek: i64, length: i64) -> Error {
        misplaced(seek, length, self.file_size)
    }
}
