//! Definition and repetition levels of a page: unpacked, and as bit masks of the levels that begin slots and
//! items of each node.

use crate::{
    hybrid::{Hybrid, old_levels},
    leaf::Leaf,
    page::PageHeader,
    pages::{DATA, width},
    values::Loaded,
};
use forthwith_kernels::levels::{levels_from, levels_to};
use forthwith_plan::{Error, Result};
use std::ops::Range;

/// Number of levels in a batch.
pub(crate) const BATCH: usize = 8192;
const MASKS: usize = BATCH / 64;

#[derive(Default)]
pub(crate) struct Work {
    pub(crate) rep: Vec<u8>,
    pub(crate) def: Vec<u8>,
    /// Mask of levels that are at most each repetition level, and mask of levels that are at least each
    /// definition level.
    pub(crate) rep_masks: Vec<[u64; MASKS]>,
    pub(crate) def_masks: Vec<[u64; MASKS]>,
    /// Masks of the levels that begin slots and items, for each node.
    pub(crate) slots: Vec<[u64; MASKS]>,
    pub(crate) items: Vec<[u64; MASKS]>,
    /// Mask of bits that belong to a level.
    pub(crate) valid: Vec<u64>,
    pub(crate) loaded: Loaded,
}

impl Work {
    /// Computes the masks of slots and items of every node for these levels.
    pub(crate) fn masks(&mut self, leaf: &Leaf, wanted: Range<usize>, same: bool) {
        let count = wanted.len();
        let masks = count.div_ceil(64);
        let (max_rep, max_def) = (usize::from(leaf.max_rep), usize::from(leaf.max_def));
        self.rep_masks.resize(self.rep_masks.len().max(max_rep), [0; MASKS]);
        self.def_masks.resize(self.def_masks.len().max(max_def), [0; MASKS]);
        self.slots.resize(self.slots.len().max(leaf.nodes.len()), [0; MASKS]);
        self.items.resize(self.items.len().max(leaf.nodes.len()), [0; MASKS]);
        let mut all = [u64::MAX; MASKS];
        if !count.is_multiple_of(64) {
            all[masks - 1] = (1 << (count % 64)) - 1;
        }
        self.valid.clear();
        self.valid.extend_from_slice(&all[..masks]);
        for (most, mask) in (0..).zip(&mut self.rep_masks[..max_rep]) {
            levels_to(&self.rep[wanted.clone()], most, mask);
        }
        for (least, mask) in (1..).zip(&mut self.def_masks[..max_def]) {
            match same {
                true => *mask = all,
                false => levels_from(&self.def[wanted.clone()], least, mask),
            }
        }
        let rep = |most: u8| self.rep_masks[..max_rep].get(usize::from(most)).unwrap_or(&all);
        let def = |least: u8| usize::from(least).checked_sub(1).map_or(&all, |at| &self.def_masks[at]);
        for (at, node) in leaf.nodes.iter().enumerate() {
            let inner = node.rep + u8::from(node.is_list);
            let both = |to: &mut [u64; MASKS], rep: &[u64; MASKS], def: &[u64; MASKS]| {
                for ((to, rep), def) in to[..masks].iter_mut().zip(rep).zip(def) {
                    *to = rep & def;
                }
            };
            both(&mut self.slots[at], rep(node.rep), def(node.slot));
            both(&mut self.items[at], rep(inner), def(node.item));
        }
    }

    /// Returns whether a repetition level continues an empty or null list. `before` is the definition level
    /// before these.
    pub(crate) fn is_torn(&self, leaf: &Leaf, masks: usize, before: u8) -> bool {
        leaf.nodes.iter().filter(|node| node.is_list).any(|node| {
            // Levels that continue a list of the node.
            let (outer, inner) = (usize::from(node.rep), usize::from(node.rep) + 1);
            let within = |word: usize| {
                self.rep_masks[..usize::from(leaf.max_rep)].get(inner).map_or(u64::MAX, |mask| mask[word])
            };
            let mut carry = u64::from(before >= node.item);
            (0..masks).any(|word| {
                let there = self.def_masks[usize::from(node.item) - 1][word];
                let both = there & (there << 1 | carry);
                carry = there >> 63;
                within(word) & !self.rep_masks[outer][word] & !both & self.valid[word] != 0
            })
        })
    }
}
pub(crate) fn ones(masks: &[u64]) -> usize {
    masks.iter().map(|mask| mask.count_ones() as usize).sum()
}

/// Repetition or definition levels of a page.
pub(crate) enum Levels<'a> {
    /// All levels are 0.
    None,
    Runs(Hybrid<'a>),
    Old(Vec<u8>, usize),
}

impl<'a> Levels<'a> {
    pub(crate) fn new(header: &PageHeader, max: u8, encoding: i64, bytes: &'a [u8]) -> Result<Self> {
        Ok(match (max, encoding) {
            (0, _) => Self::None,
            (_, 4) if header.kind == DATA => {
                Self::Old(old_levels(bytes, width(max), header.values as usize)?, 0)
            }
            _ => Self::Runs(Hybrid::new(bytes, width(max))?),
        })
    }

    /// Returns an error if bytes follow the last level: then the length of the levels, or of the values after
    /// them, is wrong.
    pub(crate) fn end(&self) -> Result<()> {
        match self {
            Self::Runs(runs) if !runs.is_at_end() => {
                Err(Error::fault("levels that end before their bytes do"))
            }
            _ => Ok(()),
        }
    }

    /// Reads the next levels. Returns the level if all of them are known to be equal; it may be the only
    /// output then.
    pub(crate) fn read(&mut self, out: &mut Vec<u8>, count: usize) -> Result<Option<u8>> {
        match self {
            Self::None => Ok(Some(0)),
            Self::Runs(hybrid) => {
                out.resize(count, 0);
                hybrid.levels(out)
            }
            Self::Old(levels, at) => {
                out.clear();
                out.extend_from_slice(&levels[*at..*at + count]);
                *at += count;
                Ok(None)
            }
        }
    }
}

/// Checks that levels are at most `max`: bit-packed levels may have larger values, and repeated ones have
/// whole bytes.
pub(crate) fn bounded(same: Option<u8>, levels: &[u8], max: u8, what: &'static str) -> Result<()> {
    let most = same.unwrap_or_else(|| levels.iter().fold(0, |most, level| most.max(*level)));
    if most > max {
        return Err(Error::out_of_range(what, most, max));
    }
    Ok(())
}
