//! Streamed fields: objects as written by ROOT's streamers, each read by a program.
//!
//! The columns of such a field are the ends of the objects and their bytes. Both are read when a plan is
//! made, since pages of bytes may end within an object: a task has whole objects, with their bounds before
//! their bytes.

use crate::coding::Stored;
use crate::form::Part;
use crate::ntuple::Ntuple;
use crate::numbers::too_few;
use crate::objects::Objects;
use crate::offset_columns::Ends;
use crate::page_note::{Note, foreign};
use crate::pages::{ColumnPages, Numbered, Page};
use bytes::Bytes;
use forthwith_plan::{Error, ErrorKind, Result, Task};
use std::ops::Range;

/// Maximum size in bytes of the objects in a task, unless it has a single object.
const TASK: u64 = 4 << 20;

/// The objects `wanted` of a column in a cluster. `column` is the column of their ends, and `ends` are its
/// pages.
pub(crate) struct Wanted<'a> {
    pub(crate) part: &'a Part,
    pub(crate) objects: &'a Objects,
    pub(crate) at: Numbered<'a>,
    pub(crate) representation: usize,
    pub(crate) column: u32,
    pub(crate) ends: &'a ColumnPages,
    pub(crate) wanted: Range<u64>,
}

impl Wanted<'_> {
    /// Returns tasks with the objects, which are indexed within the cluster.
    pub(crate) fn tasks(&self, ntuple: &Ntuple) -> Result<Vec<Task>> {
        let Some((column, how)) = self.objects.bytes.get(self.representation) else { return Err(foreign()) };
        let pages = self.at.list.column(self.at.cluster, *column)?;
        let pages = pages.unwrap_or(ColumnPages { pages: Vec::new(), first: 0, elements: 0, setting: 0 });
        let ends = self.ends(ntuple, pages.elements)?;
        // Class tags and references count from the beginning of an object.
        let alone = self.objects.program.origin || self.objects.program.asks;
        let mut tasks = Vec::new();
        let mut first = 0;
        while first + 1 < ends.len() {
            let begin = ends[first];
            let most = if alone { first + 1 } else { ends.len() - 1 };
            let fits = |last: &usize| ends[*last] - begin <= TASK;
            let last = (first + 2..=most).take_while(fits).last().unwrap_or(first + 1);
            let size = ends[last] - begin;
            if u32::try_from(size).is_err() {
                return Err(Error::out_of_range("the length of an object", size, u32::MAX));
            }
            let mut inline = Vec::new();
            let bounds = 4 * (last - first + 1);
            if inline.try_reserve_exact(bounds + size as usize).is_err() {
                return Err(ErrorKind::OutOfMemory { what: "streamed objects", bytes: size }.into());
            }
            inline.extend(ends[first..=last].iter().flat_map(|end| ((end - begin) as u32).to_le_bytes()));
            gather(ntuple, how, *column, &pages.pages, begin..ends[last], &mut inline)?;
            let entries = self.wanted.start + first as u64..self.wanted.start + last as u64;
            let note = Note { verified: false, zeros: false, streamed: true, representation: 0 };
            let stored = forthwith_plan::Stored::Inline(inline.into());
            tasks.push(Task {
                payload_hint: size,
                note: note.word(),
                numbers: vec![self.column.into(), 0],
                ..Task::of(0, self.at.number, entries, stored)
            });
            first = last;
        }
        Ok(tasks)
    }

    /// Returns the beginning of the first object and the end of each, relative to the first byte of the
    /// cluster.
    fn ends(&self, ntuple: &Ntuple, most: u64) -> Result<Vec<u64>> {
        let how = self.part.coding.stored.get(self.representation).ok_or_else(foreign)?;
        let mut ends: Vec<u64> = Vec::new();
        for (number, page) in self.ends.pages.iter().enumerate() {
            let all = page.start..page.start + u64::from(page.elements);
            let of = all.start.max(self.wanted.start)..all.end.min(self.wanted.end);
            if of.is_empty() {
                continue;
            }
            let here = |error: Error| {
                let error = error.in_member(&format!("column {}, page {number}", self.column));
                error.at_byte(page.locator.position)
            };
            let bytes = ntuple.page(how, page).map_err(here)?;
            let found = Ends::of(how, &bytes).ok_or_else(foreign)?;
            let within = (of.start - all.start) as usize..(of.end - all.start) as usize;
            let bad = |_| here(too_few());
            if ends.is_empty() {
                let start = match found.before(within.start).map_err(bad)? {
                    Some(start) => start,
                    None => self.before(ntuple, how, number)?,
                };
                ends.push(start);
            }
            let start = ends.last().copied().unwrap_or(0);
            let mut into = vec![0; 8 * within.len()];
            let rises = start <= most && found.offsets(within, [start, most], 0, &mut into).map_err(bad)?;
            if !rises {
                let what = format!(
                    "an object that ends before it begins, or behind the {most} bytes of the cluster"
                );
                return Err(here(Error::fault(what)));
            }
            ends.extend(into.as_chunks::<8>().0.iter().map(|end| u64::from_ne_bytes(*end)));
        }
        let (expected, found) = (self.wanted.end - self.wanted.start + 1, ends.len() as u64);
        if expected != found {
            return Err(Error::mismatch("the number of elements of a column", expected, found));
        }
        Ok(ends)
    }

    /// Returns the end of the objects before page `number`.
    fn before(&self, ntuple: &Ntuple, how: &Stored, number: usize) -> Result<u64> {
        let pages = self.ends.pages.get(..number).unwrap_or_default();
        match pages.iter().rfind(|page| page.elements > 0) {
            Some(page) => ntuple.end_in_page(how, page, page.elements.into()),
            None => Ok(0),
        }
    }
}

/// Appends the bytes `wanted` of a column, by their indexes in the cluster.
fn gather(
    ntuple: &Ntuple,
    how: &Stored,
    column: u32,
    pages: &[Page],
    wanted: Range<u64>,
    into: &mut Vec<u8>,
) -> Result<()> {
    let first = pages.partition_point(|page| page.start + u64::from(page.elements) <= wanted.start);
    for (number, page) in pages.iter().enumerate().skip(first) {
        let of = page.start.max(wanted.start)..(page.start + u64::from(page.elements)).min(wanted.end);
        if page.start >= wanted.end {
            break;
        }
        if of.is_empty() {
            continue;
        }
        let here = |error: Error| {
            error.in_member(&format!("column {column}, page {number}")).at_byte(page.locator.position)
        };
        let bytes: Bytes = ntuple.page(how, page).map_err(here)?;
        let part = bytes.get((of.start - page.start) as usize..(of.end - page.start) as usize);
        into.extend_from_slice(part.ok_or_else(foreign)?);
    }
    Ok(())
}

/// Splits a task into the bounds and the bytes of its objects.
pub(crate) fn split(stored: &[u8], entries: u64) -> Result<(&[u8], &[u8])> {
    let length = usize::try_from(entries).ok().and_then(|entries| entries.checked_add(1)?.checked_mul(4));
    let (bounds, payload) = length.and_then(|length| stored.split_at_checked(length)).ok_or_else(foreign)?;
    let mut before = 0;
    for bound in bounds.as_chunks::<4>().0 {
        let bound = u32::from_le_bytes(*bound) as usize;
        if bound < before || bound > payload.len() {
            return Err(foreign());
        }
        before = bound;
    }
    Ok((bounds, payload))
}
