//! Decoding of column chunks, page by page and in batches of some thousand levels, which stay in the cache
//! between unpacking and use.

use crate::{
    item_views::ItemViews,
    leaf::{Kept, Leaf},
    levels::{BATCH, Levels, Work, bounded, ones},
    pages::{DATA_2, Page, Pages, inflate, split, wrong_rows},
    values::{Dictionary, Values},
};
use forthwith_columns::Presence;
use forthwith_io::Decompressor;
use forthwith_kernels::levels::{index_of_masks, lists_of_masks};
use forthwith_plan::{Columns, Error, Result, Task};
use std::ops::Range;

/// Number of values in a batch of columns without levels.
const BATCH_FLAT: usize = 65536;
/// Capacity in bytes of the page buffer that is kept for the next chunk.
const KEPT: usize = 64 << 20;

/// Description of a column chunk in the note of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    /// Number of the codec.
    pub(crate) codec: u32,
    /// Number of values in the footer, including nulls and empty lists.
    pub(crate) values: u64,
}

impl Note {
    const CODEC_BITS: u32 = 16;

    /// Packs the note into an integer. Codecs beyond 16 bits become an unknown one. Returns an error for 2⁴⁸
    /// or more values.
    pub(crate) fn packed(codec: i64, values: i64) -> Result<u64> {
        let limit = i64::MAX >> (Self::CODEC_BITS - 1);
        let refused = || Error::out_of_range("the number of values of a column chunk", values, limit);
        let values = u64::try_from(values).ok().filter(|_| values <= limit).ok_or_else(refused)?;
        Ok(values << Self::CODEC_BITS | u64::from(u16::try_from(codec).unwrap_or(u16::MAX)))
    }

    pub(crate) const fn of(packed: u64) -> Self {
        Self { codec: packed as u32 & 0xffff, values: packed >> Self::CODEC_BITS }
    }
}

/// Buffers that a worker reuses between pages.
#[derive(Default)]
pub(crate) struct Warm {
    payload: Vec<u8>,
    work: Work,
}

/// Progress of decoding a chunk.
struct State {
    /// Number of rows that have begun.
    rows: u64,
    /// Entry of the first row.
    first: u64,
    /// Number of rows of the chunk, and the rows to read.
    entries: u64,
    wanted: Range<u64>,
    /// For each node, whether a list is open.
    open: Vec<bool>,
    /// Definition level of the previous value.
    before: u8,
    /// State that each column continues: number of items so far, next row, or number of bytes so far.
    ends: Vec<i64>,
    /// For each node, whether it is an option whose index is not written for the current rows.
    unwritten: Vec<bool>,
    /// For each node that is an option, its rows: all of them while counting, otherwise those of the batch.
    present: Vec<Presence>,
    /// Whether all texts so far are UTF-8; `None` if this is not checked, because the column does not have
    /// text.
    are_text: Option<bool>,
    /// Whether texts become views; the views of the dictionary; and the number of bytes of all texts so far.
    has_views: bool,
    items: ItemViews,
    text_bytes: u64,
}

/// Destination of the decoded columns.
enum To<'a, 'c> {
    /// Items are only counted.
    Count(&'a mut [usize]),
    /// Slices that are requested batch by batch.
    Places(&'a mut (dyn Columns + 'c)),
    /// Slices of known size for the whole chunk.
    Slots(&'a mut [&'c mut [u8]]),
}

pub(crate) fn decode(
    (leaf, has_text): (&Leaf, bool),
    note: Note,
    task: &Task,
    stored: &[u8],
    warm: &mut Warm,
    codecs: &mut Decompressor,
    columns: &mut dyn Columns,
) -> Result<()> {
    let Warm { payload, work } = warm;
    let Note { codec, values } = note;
    let wanted = task.wanted.start - task.entries.start..task.wanted.end - task.entries.start;
    let entries = task.entries.end - task.entries.start;
    let has_views = leaf.kept == Kept::Bytes && columns.views() == Some(leaf.nodes.len());
    let state = |ends: Vec<i64>| State {
        rows: 0,
        first: task.entries.start,
        entries,
        wanted: wanted.clone(),
        open: vec![false; leaf.nodes.len()],
        before: 0,
        ends,
        unwritten: vec![false; leaf.nodes.len()],
        present: vec![Presence::default(); leaf.nodes.len()],
        are_text: has_text.then_some(true),
        has_views,
        items: ItemViews::new(wanted == (0..entries)),
        text_bytes: 0,
    };
    let dictionary = None;
    let mut pages = Pages {
        leaf,
        codec,
        stored,
        at: 0,
        page: 0,
        rows: 0,
        skipped: 0,
        values,
        left: values,
        entries,
        wanted: wanted.clone(),
        dictionary,
    };
    if columns.is_turn() {
        let mut state = state(columns.ends());
        while let Some((header, body)) = pages.next(payload, codecs)? {
            state.rows += pages.take_skipped();
            payload.clear();
            let start = pages.page;
            let here = |error: Error| error.at_byte(start);
            let page = match inflate(leaf, &header, codec, body, payload, codecs).map_err(here)? {
                None => split(leaf, header, body).map_err(here)?,
                Some(range) => split(leaf, header, &payload[range]).map_err(here)?,
            };
            let dictionary = pages.dictionary.as_ref();
            if !state.page(leaf, &page, dictionary, work, &mut To::Places(columns)).map_err(here)? {
                break;
            }
        }
        state.end(leaf, &mut To::Places(columns))?;
        columns.set_ends(&state.ends);
        columns.count_text(state.text_bytes);
        if state.are_text != Some(false) {
            columns.text_is_valid();
        }
    } else {
        ahead(leaf, codec, &mut pages, payload, work, codecs, columns, &state)?;
    }
    payload.truncate(KEPT);
    payload.shrink_to(KEPT);
    Ok(())
}

/// Decodes a chunk before its turn: counts its items, waits for the turn, takes the slices for them, lets the
/// next chunk proceed, and fills the slices.
#[expect(clippy::too_many_arguments, reason = "one call, all of them different things")]
fn ahead(
    leaf: &Leaf,
    codec: u32,
    pages: &mut Pages<'_>,
    payload: &mut Vec<u8>,
    work: &mut Work,
    codecs: &mut Decompressor,
    columns: &mut dyn Columns,
    begin: &dyn Fn(Vec<i64>) -> State,
) -> Result<()> {
    // The dictionary is decompressed to a buffer of its own.
    let mut spare = Vec::new();
    let mut all = Vec::new();
    payload.clear();
    while let Some((header, body)) = pages.next(&mut spare, codecs)? {
        let start = pages.page;
        let range = inflate(leaf, &header, codec, body, payload, codecs).map_err(|e| e.at_byte(start))?;
        all.push((header, range, body, pages.take_skipped(), start));
    }
    let dictionary = pages.dictionary.as_ref();
    let mut run = |state: &mut State, to: &mut To<'_, '_>| {
        for (header, range, body, skipped, start) in &all {
            state.rows += skipped;
            let here = |error: Error| error.at_byte(*start);
            let bytes = range.as_ref().map_or(*body, |range| &payload[range.clone()]);
            let page = split(leaf, *header, bytes).map_err(here)?;
            if !state.page(leaf, &page, dictionary, work, to).map_err(here)? {
                break;
            }
        }
        state.end(leaf, to)
    };
    let mut items = vec![0; leaf.columns()];
    let mut counted = begin(vec![0; leaf.columns()]);
    run(&mut counted, &mut To::Count(&mut items))?;
    columns.wait()?;
    let before = columns.ends();
    let mut state = begin(before.clone());
    for (at, node) in leaf.nodes.iter().enumerate() {
        if !node.is_list && columns.append_rows(at, before[at], &counted.present[at]) {
            state.unwritten[at] = true;
            items[at] = 0;
        }
    }
    let after: Vec<i64> = before.iter().zip(&counted.ends).map(|(before, more)| before + more).collect();
    columns.set_ends(&after);
    let mut slots = columns.take_last(&items)?;
    let mut out: Vec<&mut [u8]> = slots.iter_mut().map(|slot| &mut **slot).collect();
    run(&mut state, &mut To::Slots(&mut out))?;
    if out.iter().any(|left| !left.is_empty()) {
        return Err(changed());
    }
    drop(slots);
    columns.count_text(state.text_bytes);
    if state.are_text != Some(false) {
        columns.text_is_valid();
    }
    Ok(())
}

impl State {
    /// Decodes a page. Returns whether rows of later pages may be needed.
    fn page(
        &mut self,
        leaf: &Leaf,
        page: &Page<'_>,
        dictionary: Option<&Dictionary>,
        work: &mut Work,
        to: &mut To<'_, '_>,
    ) -> Result<bool> {
        let header = &page.header;
        let mut rep = Levels::new(header, leaf.max_rep, header.rep_encoding, page.rep)?;
        let mut def = Levels::new(header, leaf.max_def, header.def_encoding, page.def)?;
        let mut values = Values::new(header.encoding, page.values, leaf)?;
        let batch = if leaf.max_def == 0 { BATCH_FLAT } else { BATCH };
        let mut left = header.values as usize;
        let (rows, mut present) = (self.rows, 0);
        while left > 0 {
            let count = left.min(batch);
            left -= count;
            bounded(rep.read(&mut work.rep, count)?, &work.rep, leaf.max_rep, "a repetition level")?;
            let level = def.read(&mut work.def, count)?;
            bounded(level, &work.def, leaf.max_def, "a definition level")?;
            let same = level == Some(leaf.max_def);
            work.loaded.has_views = self.has_views;
            let wanted = self.wanted(leaf, &work.rep, count)?;
            let there = |work: &Work, range: Range<usize>| match same {
                true => range.len(),
                false => work.def[range].iter().filter(|level| **level >= leaf.max_def).count(),
            };
            let (before, inside, behind) = match wanted.len() == count {
                true => (0, if same { count } else { usize::MAX }, 0),
                false => (
                    there(work, 0..wanted.start),
                    there(work, wanted.clone()),
                    there(work, wanted.end..count),
                ),
            };
            let is_counted = self.is_counted(leaf, &values, to);
            if before > 0 && !is_counted {
                values.load(before, leaf, dictionary, &mut work.loaded)?;
            }
            if !wanted.is_empty() {
                present +=
                    self.batch(leaf, wanted.clone(), count, same, inside, &mut values, dictionary, work, to)?;
            }
            if wanted.end < count {
                return Ok(false);
            }
            self.before = if same { leaf.max_def } else { work.def.last().copied().unwrap_or(0) };
            if behind > 0 && !is_counted {
                values.load(behind, leaf, dictionary, &mut work.loaded)?;
            }
            present += before + behind;
        }
        rep.end()?;
        def.end()?;
        if header.kind == DATA_2 {
            // A page without values may still have bytes of the values section.
            if present > 0 && !self.is_counted(leaf, &values, to) {
                values.end()?;
            }
            let nulls =
                u64::try_from(header.nulls).ok().zip((header.values as u64).checked_sub(present as u64));
            let counts = [
                ("the number of nulls of a page", nulls),
                ("the number of rows of a page", Some((header.rows as u64, self.rows - rows))),
            ];
            for (what, counts) in counts {
                if let Some((expected, found)) = counts.filter(|(expected, found)| expected != found) {
                    return Err(Error::mismatch(what, expected, found));
                }
            }
        }
        Ok(self.rows <= self.wanted.end)
    }

    /// Whether the destination only counts, and the values need not be decoded for their sizes.
    fn is_counted(&self, leaf: &Leaf, values: &Values<'_>, to: &To<'_, '_>) -> bool {
        let is_even =
            leaf.kept != Kept::Bytes || self.has_views && values.are_items() && self.items.is_whole();
        is_even && matches!(to, To::Count(_))
    }

    /// Creates the error for an INT96 time out of range at a level of the batch, with its entry.
    #[cold]
    fn out_of_range(&self, leaf: &Leaf, rep: &[u8], count: usize, level: usize) -> Error {
        let begun = |levels: &[u8]| levels.iter().filter(|level| **level == 0).count();
        let (all, before) = match leaf.max_rep {
            0 => (count, level + 1),
            _ => (begun(&rep[..count.min(rep.len())]), begun(&rep[..(level + 1).min(rep.len())])),
        };
        let row = (self.rows + before as u64).saturating_sub(all as u64 + 1);
        Error::fault(match leaf.kept {
            Kept::Microseconds => "a time of type INT96 that 64 bits of microseconds do not hold",
            _ => "a time of type INT96 before 1677 or after 2262, which nanoseconds do not hold: open the file with int96=\"us\"",
        })
        .at_entry(self.first + row)
    }

    /// Counts rows that begin. Returns an error if they exceed those of the row group.
    fn begin(&mut self, rows: u64) -> Result<()> {
        self.rows += rows;
        if self.rows > self.entries { Err(wrong_rows(self.entries, self.rows)) } else { Ok(()) }
    }

    /// Returns the levels of the batch that belong to requested rows, and counts the rows.
    fn wanted(&mut self, leaf: &Leaf, rep: &[u8], count: usize) -> Result<Range<usize>> {
        let Range { start, end } = self.wanted;
        if leaf.max_rep == 0 {
            let before = self.rows;
            self.begin(count as u64)?;
            let at = |row: u64| row.saturating_sub(before).min(count as u64) as usize;
            return Ok(at(start)..at(end));
        }
        if self.rows == 0 && rep.first().is_some_and(|level| *level != 0) {
            return Err(Error::fault("a column begins within a list"));
        }
        let begun = rep.iter().map(|level| u64::from(*level == 0)).sum::<u64>();
        let before = self.rows;
        self.begin(begun)?;
        // The row that continues has begun before.
        if before > start && self.rows <= end {
            return Ok(0..count);
        }
        // Position of the level that begins a row.
        let at = |row: u64| {
            if before > row {
                return 0;
            }
            let mut begins = rep.iter().enumerate().filter(|(_, level)| **level == 0).map(|(at, _)| at);
            begins.nth((row - before) as usize).unwrap_or(count)
        };
        Ok(at(start)..at(end))
    }

    /// Decodes levels with their values, and returns the number of values.
    #[expect(clippy::too_many_arguments, reason = "one call, all of them different things")]
    fn batch(
        &mut self,
        leaf: &Leaf,
        wanted: Range<usize>,
        count: usize,
        same: bool,
        inside: usize,
        values: &mut Values<'_>,
        dictionary: Option<&Dictionary>,
        work: &mut Work,
        to: &mut To<'_, '_>,
    ) -> Result<usize> {
        let levels = wanted.len();
        let masks = levels.div_ceil(64);
        if leaf.max_def > 0 {
            let before = wanted.start.checked_sub(1).map(|at| if same { leaf.max_def } else { work.def[at] });
            let before = before.unwrap_or(self.before);
            work.masks(leaf, wanted.clone(), same);
            if work.is_torn(leaf, masks, before) {
                return Err(Error::fault("repetition level continues an empty or null list"));
            }
        }
        let Work { slots, items, loaded, def_masks, .. } = work;
        let inside = match (leaf.max_def, inside) {
            (0, _) => levels,
            (max, usize::MAX) => ones(&def_masks[usize::from(max) - 1][..masks]),
            (_, known) => known,
        };
        let is_counted = self.is_counted(leaf, values, to);
        let mut text = if is_counted { 0 } else { values.load(inside, leaf, dictionary, loaded)? };
        if self.has_views && inside > 0 {
            text += values.items_room(dictionary, loaded, &mut self.items);
        }
        if leaf.may_overflow()
            && !is_counted
            && let Some(at) = values.overflow(leaf, dictionary, loaded)
        {
            let present = match (leaf.max_def, same) {
                (0, _) | (_, true) => wanted.start + at,
                (max, false) => {
                    let mut levels = work.def[wanted.clone()].iter().enumerate();
                    let is_present = |(_, level): &(usize, &u8)| **level >= max;
                    let found = levels.by_ref().filter(is_present).nth(at);
                    wanted.start + found.map_or(0, |(level, _)| level)
                }
            };
            return Err(self.out_of_range(leaf, &work.rep, count, present));
        }
        // Number of items that each column gets.
        let mut sizes = Vec::with_capacity(leaf.columns());
        for (at, node) in leaf.nodes.iter().enumerate() {
            let begun = ones(&slots[at][..masks]);
            let first = node.is_list && !self.open[at] && begun > 0;
            if let To::Places(columns) = to {
                self.unwritten[at] = !node.is_list && {
                    let rows = &mut self.present[at];
                    rows.clear();
                    rows.extend(&slots[at][..masks], &items[at]);
                    columns.append_rows(at, self.ends[at], rows)
                };
            }
            sizes.push(if self.unwritten[at] { 0 } else { begun - usize::from(first) });
        }
        match leaf.kept {
            Kept::Numbers(_) | Kept::Nanoseconds | Kept::Microseconds => sizes.push(inside),
            Kept::Bytes if self.has_views => sizes.extend([2 * inside, text]),
            Kept::Bytes => sizes.extend([inside, text]),
            Kept::Nothing if inside > 0 => return Err(Error::fault("values of a column that has none")),
            Kept::Nothing => {}
        }
        let write = |this: &mut Self, out: &mut [&mut [u8]]| {
            let count = leaf.nodes.len();
            let (nodes, leaves) = out.split_at_mut(count);
            for (at, (node, out)) in leaf.nodes.iter().zip(nodes).enumerate() {
                let (slots, items) = (&slots[at][..masks], &items[at][..masks]);
                if this.unwritten[at] {
                    this.ends[at] += ones(items) as i64;
                } else if node.is_list {
                    lists_of_masks(slots, items, &mut this.open[at], &mut this.ends[at], out);
                } else {
                    index_of_masks(slots, items, &mut this.ends[at], out);
                }
            }
            let base = this.ends.get(count).copied().unwrap_or(0);
            let is_looked_at = this.are_text == Some(true) && inside > 0;
            if this.has_views {
                let base = base as u64;
                let from = (&*loaded, &mut this.items);
                this.text_bytes += values.store_views(leaf, dictionary, from, base, leaves)?;
                if is_looked_at {
                    let from = (&*loaded, &mut this.items);
                    this.are_text = Some(values.are_viewed_texts(dictionary, from, base, leaves));
                }
            } else {
                values.store(leaf, dictionary, loaded, base, leaves)?;
                if leaf.kept == Kept::Bytes && is_looked_at {
                    this.are_text = Some(values.are_text(dictionary, base, leaves));
                }
            }
            if leaf.kept == Kept::Bytes {
                this.ends[count] += text as i64;
            }
            Ok::<(), Error>(())
        };
        match to {
            To::Places(columns) => {
                let mut places = columns.take(&sizes)?;
                let mut out: Vec<&mut [u8]> = places.iter_mut().map(|place| &mut **place).collect();
                write(self, &mut out)?;
            }
            To::Slots(out) => {
                let mut here = advance(leaf, out, &sizes)?;
                write(self, &mut here)?;
            }
            To::Count(counts) => {
                for (count, size) in counts.iter_mut().zip(&sizes) {
                    *count += size;
                }
                for (at, node) in leaf.nodes.iter().enumerate() {
                    if !node.is_list {
                        self.present[at].extend(&slots[at][..masks], &items[at]);
                    }
                    self.open[at] |= slots[at][..masks].iter().any(|mask| *mask != 0);
                    self.ends[at] += ones(&items[at][..masks]) as i64;
                }
                if leaf.kept == Kept::Bytes {
                    self.ends[leaf.nodes.len()] += text as i64;
                }
            }
        }
        Ok(inside)
    }

    /// Closes open lists. Returns an error if rows are missing.
    fn end(&mut self, leaf: &Leaf, to: &mut To<'_, '_>) -> Result<()> {
        if self.rows < self.wanted.end {
            return Err(wrong_rows(self.entries, self.rows));
        }
        let mut sizes = vec![0; leaf.columns()];
        for (size, (node, open)) in sizes.iter_mut().zip(leaf.nodes.iter().zip(&mut self.open)) {
            *size = usize::from(node.is_list && std::mem::take(open));
        }
        let write = |out: &mut [&mut [u8]]| {
            for ((out, size), end) in out.iter_mut().zip(&sizes).zip(&self.ends) {
                if *size == 1 {
                    out.copy_from_slice(&end.to_ne_bytes());
                }
            }
        };
        match to {
            To::Count(counts) => counts.iter_mut().zip(&sizes).for_each(|(count, size)| *count += size),
            To::Places(columns) => {
                let mut places = columns.take(&sizes)?;
                write(&mut places.iter_mut().map(|place| &mut **place).collect::<Vec<_>>());
            }
            To::Slots(out) => write(&mut advance(leaf, out, &sizes)?),
        }
        Ok(())
    }
}

#[cold]
fn changed() -> Error {
    Error::fault("pages that change while they are read")
}

/// Returns the size in bytes of an item of a column.
fn item_size(leaf: &Leaf, column: usize) -> usize {
    match column.checked_sub(leaf.nodes.len()) {
        None => 8,
        Some(0) if leaf.kept == Kept::Bytes => 8,
        Some(1) => 1,
        Some(_) => leaf.kept.width(),
    }
}

/// Splits off the slices for the next items of each column.
fn advance<'c>(leaf: &Leaf, out: &mut [&'c mut [u8]], sizes: &[usize]) -> Result<Vec<&'c mut [u8]>> {
    let mut here = Vec::with_capacity(out.len());
    for (column, (out, size)) in out.iter_mut().zip(sizes).enumerate() {
        let (now, rest) =
            std::mem::take(out).split_at_mut_checked(size * item_size(leaf, column)).ok_or_else(changed)?;
        *out = rest;
        here.push(now);
    }
    Ok(here)
}
