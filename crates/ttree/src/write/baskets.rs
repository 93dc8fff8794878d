//! Builds baskets from the columns of a step, on any thread.

use super::{entries::Entries, values::Values};
use crate::copy::array;
use forthwith_plan::{Bench, BlockMaker, Error, Result, StoredBlock};
use forthwith_root::write::{Compression, compress_instead};
use std::{
    ops::Range,
    sync::{Mutex, PoisonError},
};

/// Work of one step: the entries for each basket of a branch.
#[derive(Debug)]
pub(super) struct Work<'a> {
    pub(super) values: &'a [Values<'a>],
    pub(super) branches: &'a [BasketBranch],
    pub(super) pieces: Vec<Piece>,
}

/// Properties of a branch that its baskets need.
#[derive(Debug)]
pub(super) struct BasketBranch {
    /// Index among all branches.
    pub(super) number: usize,
    pub(super) name: String,
    /// Length of the keys of baskets, from which entry offsets count.
    pub(super) key_len: u32,
    pub(super) has_offsets: bool,
    /// Size of an entry in bytes, if there are no offsets.
    pub(super) width: u32,
    pub(super) compression: Compression,
    /// Approximate size of a basket in bytes.
    pub(super) basket_bytes: u64,
}

/// Entries of one branch for one basket.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) branch: usize,
    pub(super) rows: Range<usize>,
    /// Entries of the open basket before this step and, unless it ends in this step, after it.
    pub(super) open: Mutex<Option<Entries>>,
    /// Number of entries in the basket, including earlier ones.
    pub(super) count: u64,
    /// Whether the basket ends with this step.
    pub(super) ends: bool,
}

impl BlockMaker for Work<'_> {
    fn blocks(&self) -> usize {
        self.pieces.len()
    }

    fn weight(&self, block: usize) -> u64 {
        let piece = &self.pieces[block];
        self.values.get(piece.branch).map_or(0, |values| 2 * values.bytes(piece.rows.clone()))
    }

    fn make(&self, block: usize, bench: &mut Bench) -> Result<StoredBlock> {
        let piece = &self.pieces[block];
        let branch = &self.branches[piece.branch];
        let held = piece.open.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut entries = held.unwrap_or_else(|| {
            // Uncompressed data are stored without a copy. A basket that stays open returns its buffer for a
            // later one.
            let mut data = match (piece.ends, branch.compression == Compression::NONE) {
                (true, false) => std::mem::take(&mut bench.payload),
                _ => bench.used(),
            };
            data.clear();
            Entries { data, ..Entries::default() }
        });
        // A basket that ends with its earlier entries gets no others.
        if let Some(values) = self.values.get(piece.branch) {
            values.append(piece.rows.clone(), &mut entries).map_err(|e| e.in_object(&branch.name))?;
        }
        if !piece.ends {
            *piece.open.lock().unwrap_or_else(PoisonError::into_inner) = Some(entries);
            return Ok(StoredBlock::default());
        }
        let Entries { mut data, starts, largest, .. } = entries;
        if branch.has_offsets {
            if i32::try_from(starts.len() + 1).is_err() {
                return Err(Error::unsupported(format!("{} entries in one basket", starts.len())));
            }
            // Entry offsets count from the key.
            array(&mut data, starts.iter().map(|start| start + branch.key_len));
        }
        let payload = data.len() as u64;
        if branch.compression == Compression::NONE {
            return Ok(StoredBlock { bytes: data, payload, note: largest });
        }
        let mut stored = bench.used();
        let compressed = compress_instead(branch.compression, &data, &mut bench.compressor, &mut stored);
        let (bytes, other) = match compressed.map_err(|e| e.in_object(&branch.name))? {
            true => (stored, data),
            false => (data, stored),
        };
        bench.payload = other;
        Ok(StoredBlock { bytes, payload, note: largest })
    }
}
