//! Writes finished baskets to the file.

use forthwith_plan::{BlockSink, Result, StoredBlock};
use forthwith_root::write::{DirectoryId, FileWriter};

use super::baskets::Work;
use crate::copy::{Filling, Grown, basket_text, write_basket};

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
        let (offsets, size) = match branch.has_offsets {
            true => (4 * (u64::from(count) + 2), 1000.max(count + 1)),
            false => (0, branch.width),
        };
        let filling = Filling { entries: count, data: (stored.payload - offsets) as u32, size };
        let filled = &mut self.filled[branch.number];
        let (placed, total) = write_basket(
            self.file,
            (self.directory, basket_text(&branch.name, self.tree)),
            (filled.before + filled.baskets.len() as u32, filled.entries, 0),
            filling,
            (stored.payload as usize, &stored.bytes),
        )?;
        filled.baskets.push(placed);
        filled.entries += piece.count;
        filled.total += total;
        filled.stored += u64::from(placed.bytes);
        filled.largest = filled.largest.max(stored.note);
        Ok(())
    }
}
