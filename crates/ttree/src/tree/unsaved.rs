//! Baskets that were written after their tree was last saved, in a file that was not closed.

use super::Tree;
use crate::{
    baskets::{BasketRef, Bytes},
    format::{Asked, unframe},
    metadata::Branch,
};
use forthwith_plan::{Block, Result, Scratch};
use forthwith_root::{BasketHeader, BasketPlace, Cursor, Key, RootFile};
use std::collections::{HashMap, HashSet};

/// Unsaved baskets of all branches, up to the last entry that all branches have.
pub(super) struct Unsaved {
    /// One past that entry.
    end: u64,
    saved: u64,
    baskets: HashMap<u32, Vec<BasketRef>>,
}

impl Unsaved {
    /// Returns one past the last entry of a branch, and its unsaved baskets.
    pub(super) fn of(&self, field: u32) -> (u64, &[BasketRef]) {
        (self.end, self.baskets.get(&field).map(Vec::as_slice).unwrap_or_default())
    }
}

impl Tree {
    /// Returns the number of entries that were found in baskets written after the tree was saved.
    #[must_use]
    pub fn unsaved_entries(&self) -> u64 {
        self.unsaved.as_ref().map_or(0, |unsaved| unsaved.end - unsaved.saved)
    }

    /// Finds baskets after those in the tree's record. Entries that some branches lack are left out.
    ///
    /// A basket must continue the numbers of its branch, and must not have been written before the tree was
    /// saved. A deleted tree may have left baskets with the same names, which is evident if some have the
    /// numbers of listed baskets: then only baskets count that were written in a later second, or after the
    /// tree and its baskets in the file. If a basket with the number of a listed one was written after the
    /// tree was saved, a later tree has the same names, and the baskets of both cannot be told apart: none
    /// counts. None counts either if a basket does not begin with the entries that the tree's own record has
    /// of it.
    pub(super) fn find_unsaved(&mut self, file: &RootFile, key: &Key) -> Result<()> {
        let Some(found) = file.found_baskets(key.seek_directory, &key.name) else { return Ok(()) };
        let saved = self.metadata.info.entries;
        let (mut candidates, mut names) = (Vec::new(), HashSet::new());
        for field in 0..self.metadata.fields.len() as u32 {
            let branch = self.branch(field)?;
            if !branch.field.has_data {
                continue;
            }
            let name = branch.object.text("fName").unwrap_or_default();
            let places = found.get(&name).map(Vec::as_slice).unwrap_or_default();
            let is_elsewhere = !branch.file_name.is_empty() || branch.saved_end() != saved;
            if places.is_empty() || is_elsewhere || !names.insert(name) {
                return Ok(());
            }
            candidates.push((field, branch.write_basket, places));
        }
        if candidates.is_empty() || self.metadata.references().is_some() {
            return Ok(());
        }
        let listed: HashSet<u64> = self.basket_ranges().map(|bytes| bytes.start).collect();
        let is_of_another_tree =
            |place: &BasketPlace, next: u64| u64::from(place.number) < next && !listed.contains(&place.at);
        let has_others = candidates.iter().any(|(_, next, places)| {
            *next > u64::from(u16::MAX) || places.iter().any(|place| is_of_another_tree(place, *next))
        });
        let last = listed.iter().copied().max().unwrap_or(0).max(key.seek);
        let is_later = |place: &BasketPlace| {
            place.written > key.datime.0 || (place.written == key.datime.0 && place.at > last)
        };
        let has_later_tree = candidates.iter().any(|(_, next, places)| {
            places.iter().any(|place| is_of_another_tree(place, *next) && is_later(place))
        });
        if has_later_tree {
            return Ok(());
        }
        let saved_at = (key.datime.0, if has_others { last } else { 0 });
        let (mut end, mut baskets) = (u64::MAX, HashMap::new());
        for (field, _, places) in candidates {
            let chain = self.chain(file, &self.branch(field)?, places, saved_at)?;
            let Some(last) = chain.last() else { return Ok(()) };
            end = end.min(last.entries.end);
            baskets.insert(field, chain);
        }
        if end <= saved {
            return Ok(());
        }
        for chain in baskets.values_mut() {
            chain.retain(|basket| basket.entries.start < end);
        }
        self.metadata.info.entries = end;
        self.unsaved = Some(Unsaved { end, saved, baskets });
        Ok(())
    }

    /// Returns the baskets that continue those of a branch. They were written in a later second than
    /// `second`, or in the same one at a position after `byte`.
    fn chain(
        &self,
        file: &RootFile,
        branch: &Branch<'_>,
        places: &[BasketPlace],
        (second, byte): (u32, u64),
    ) -> Result<Vec<BasketRef>> {
        let mut listed = self.baskets(branch)?;
        let partial = listed.iter().find(|basket| basket.number == branch.write_basket).cloned();
        listed.retain(|basket| basket.number < branch.write_basket);
        let known: HashSet<u64> =
            listed.iter().filter_map(|basket| Some(basket.file_bytes()?.start)).collect();
        let mut at = listed.last().map_or(branch.first_entry, |last| last.entries.end);
        let mut by_number: HashMap<u16, Vec<&BasketPlace>> = HashMap::new();
        for place in places.iter().filter(|place| !known.contains(&place.at)) {
            if place.written > second || (place.written == second && place.at > byte) {
                by_number.entry(place.number).or_default().push(place);
            }
        }
        let mut chain: Vec<BasketRef> = Vec::new();
        let mut written = second;
        for number in branch.write_basket.. {
            let candidates = by_number.remove(&(number as u16)).unwrap_or_default();
            let [place] = candidates[..] else { break };
            let Some(entries) = entries(file, place)?.filter(|_| place.written >= written) else { break };
            let Some(end) = at.checked_add(entries) else { break };
            let bytes = Bytes::File(place.at..place.at + place.length);
            chain.push(BasketRef { number, entries: at..end, bytes });
            (at, written) = (end, place.written);
        }
        // The first one must begin with the entries that were saved with the tree.
        if let (Some(first), Some(partial)) = (chain.first(), partial)
            && !self.begins_with(first, &partial)?
        {
            chain.clear();
        }
        Ok(chain)
    }

    /// Returns whether a basket in the file begins with the entries of a basket that was incomplete when the
    /// tree was saved.
    fn begins_with(&self, basket: &BasketRef, partial: &BasketRef) -> Result<bool> {
        let Some(place) = basket.file_bytes() else { return Ok(false) };
        let saved = match &partial.bytes {
            Bytes::Record(range) => self.metadata.objects.payload().get(range.clone()).unwrap_or_default(),
            Bytes::File(range) => return Ok(*range == place),
            Bytes::Nowhere(..) => return Ok(false),
        };
        if basket.entries.start != partial.entries.start || basket.entries.end < partial.entries.end {
            return Ok(false);
        }
        let stored = self.source.read_one(place)?;
        let (mut scratch, mut own) = (Scratch::default(), Scratch::default());
        // Entries of an unreadable basket are taken to differ.
        Ok(match (payload(basket, &stored, &mut scratch), payload(partial, saved, &mut own)) {
            (Ok(whole), Ok(partial)) => whole.payload.starts_with(partial.payload),
            _ => false,
        })
    }
}

/// Returns the entries of a basket.
fn payload<'a>(basket: &BasketRef, stored: &'a [u8], scratch: &'a mut Scratch) -> Result<Block<'a>> {
    unframe(Asked::default(), &basket.entries, &basket.entries, stored, scratch)
}

/// Returns the number of entries in a basket's header, or `None` if the header is inconsistent with the
/// record.
fn entries(file: &RootFile, place: &BasketPlace) -> Result<Option<u64>> {
    let key = place.at..place.at + u64::from(place.key_length).min(place.length);
    let bytes = file.source().read_one(key)?;
    let Ok(header) = BasketHeader::parse(&mut Cursor::new(&bytes)) else { return Ok(None) };
    let is_whole = u64::try_from(header.nbytes).is_ok_and(|bytes| bytes == place.length)
        && header.seek == place.at
        && header.flag == 0;
    Ok(u64::try_from(header.nev_buf).ok().filter(|entries| is_whole && *entries > 0))
}
