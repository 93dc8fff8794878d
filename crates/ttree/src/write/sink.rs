//! The end of the way of baskets: the file.

use forthwith_plan::{BlockSink, Result, StoredBlock};
use forthwith_root::write::{DirectoryId, FileWriter, KeyKind, KeyText};

use super::baskets::Work;
use crate::copy::{Grown, Placed, basket_header};

/// Writes baskets in order.
pub(super) struct Written<'a> {
    pub(super) file: &'a mut FileWriter,
    pub(super) directory: DirectoryId,
    pub(super) tree: &'a str,
    pub(super) work: &'a Work<'a>,
    pub(super) filled: &'a mut [Grown],
}

impl BlockSink for Written<'_> {
    fn listen(&mut self) -> Result<()> {
        self.file.listen()
    }

    fn take(&mut self, block: usize, stored: &mut StoredBlock) -> Result<()> {
        let piece = &self.work.pieces[block];
        if !piece.ends {
            return Ok(());
        }
        let branch = &self.work.branches[piece.branch];
        let count = piece.count as u32;
        let offsets = if branch.has_offsets { 4 * (u64::from(count) + 2) } else { 0 };
        let last = u64::from(branch.key_len) + stored.payload - offsets;
        let capacity = if branch.has_offsets { 1000.max(count + 1) } else { branch.width };
        let filled = &mut self.filled[branch.number];
        let header = basket_header(capacity, count, last as u32);
        let text = KeyText { class: "TBasket", name: &branch.name, title: self.tree };
        let kind = KeyKind::Basket { number: filled.before + filled.baskets.len() as u32, header };
        let place =
            self.file.record(text, self.directory, kind, stored.payload as usize, &[&stored.bytes])?;
        let bytes = place.length() as u32;
        filled.baskets.push(Placed { entry: filled.entries, bytes, position: place.position });
        filled.entries += piece.count;
        filled.total += u64::from(branch.key_len) + stored.payload;
        filled.stored += u64::from(bytes);
        filled.largest = filled.largest.max(stored.note);
        Ok(())
    }
}
