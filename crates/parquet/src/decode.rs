//! A column chunk to columns: page by page, and some thousand levels at a time, so that they stay in the cache between being unpacked and
//! being used.

use crate::{
    codec::{self, decompress},
    format::Note,
    hybrid::{Hybrid, old_levels},
    leaf::{Kept, Leaf},
    page::PageHeader,
    thrift::Compact,
    values::{Dictionary, Loaded, Values},
};
use forthwith_io::{Decompressor, LARGEST_EXPANSION};
use forthwith_kernels::levels::{index_of_masks, levels_from, levels_to, lists_of_masks};
use forthwith_plan::{Columns, Error, ErrorKind, Result, Task};
use std::ops::Range;

/// Levels that are looked at together.
const BATCH: usize = 8192;
/// Values, where there are no levels.
const BATCH_FLAT: usize = 65536;
const MASKS: usize = BATCH / 64;
/// Values that a page may have without bytes for them: nulls in one run.
const MOST_WEIGHTLESS: u64 = 1 << 26;
/// What zstd and brotli may make of next to nothing.
const LARGEST_REPEATED: u64 = 256 << 20;
/// Memory for pages that is kept for the next chunk.
const KEPT: usize = 64 << 20;

/// What a worker keeps warm.
#[derive(Default)]
pub(crate) struct Warm {
    payload: Vec<u8>,
    work: Work,
}

#[derive(Default)]
struct Work {
    rep: Vec<u8>,
    def: Vec<u8>,
    /// For each repetition level whether levels are at most that, for each definition level whether they are at least that.
    rep_masks: Vec<[u64; MASKS]>,
    def_masks: Vec<[u64; MASKS]>,
    /// Of each node.
    slots: Vec<[u64; MASKS]>,
    items: Vec<[u64; MASKS]>,
    /// Which bits are of levels at all.
    valid: Vec<u64>,
    loaded: Loaded,
}

/// A page's parts, decompressed.
struct Page<'a> {
    header: PageHeader,
    rep: &'a [u8],
    def: &'a [u8],
    values: &'a [u8],
}

/// How far the chunk was read.
struct State {
    /// Rows that have begun.
    rows: u64,
    /// The rows there are, and the rows wanted.
    entries: u64,
    wanted: Range<u64>,
    /// Of each node whether a list is open.
    open: Vec<bool>,
    /// The definition level of the value before.
    before: u8,
    /// Of each column what goes on: items so far, the next row, bytes so far.
    ends: Vec<i64>,
}

/// Where columns go.
enum To<'a, 'c> {
    /// Nowhere: their items are counted.
    Count(&'a mut [usize]),
    /// To places that are taken as they are needed.
    Places(&'a mut (dyn Columns + 'c)),
    /// To places that are there.
    Slots(&'a mut [&'c mut [u8]]),
}

pub(crate) fn decode(
    leaf: &Leaf,
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
    let state = |ends: Vec<i64>| State {
        rows: 0,
        entries,
        wanted: wanted.clone(),
        open: vec![false; leaf.nodes.len()],
        before: 0,
        ends,
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
    } else {
        ahead(leaf, codec, &mut pages, payload, work, codecs, columns, &state)?;
    }
    payload.truncate(KEPT);
    payload.shrink_to(KEPT);
    Ok(())
}

/// Ahead of one's turn: finds out how much there is, takes places when the turn comes, and passes it on.
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
    // A dictionary is decompressed into memory of its own.
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
    let after: Vec<i64> = before.iter().zip(&counted.ends).map(|(before, more)| before + more).collect();
    columns.set_ends(&after);
    let mut slots = columns.take_last(&items)?;
    let mut out: Vec<&mut [u8]> = slots.iter_mut().map(|slot| &mut **slot).collect();
    run(&mut begin(before), &mut To::Slots(&mut out))
}

/// The data pages of a chunk.
struct Pages<'a> {
    leaf: &'a Leaf,
    codec: u32,
    stored: &'a [u8],
    at: usize,
    /// Where the last one began.
    page: u64,
    /// Rows of the pages so far, as far as they can be told without looking into them.
    rows: u64,
    /// Of those, rows of pages that were left out and not yet told of.
    skipped: u64,
    /// Values that there are by the footer's account, and those of them that the pages so far have not.
    values: u64,
    left: u64,
    entries: u64,
    wanted: Range<u64>,
    dictionary: Option<Dictionary>,
}

pub(crate) const DATA: i64 = 0;
pub(crate) const DICTIONARY: i64 = 2;
pub(crate) const DATA_2: i64 = 3;

impl<'a> Pages<'a> {
    fn take_skipped(&mut self) -> u64 {
        std::mem::take(&mut self.skipped)
    }

    /// Refuses a page of more rows or values than there are. Bytes that are no page may stand behind the last one.
    fn no_more(&self) -> Result<()> {
        let Ok(PageHeader { kind: DATA | DATA_2, values: more @ 1.., .. }) =
            Compact::new(&self.stored[self.at..]).page_header()
        else {
            return Ok(());
        };
        let more = more.unsigned_abs();
        if self.leaf.max_rep == 0 && self.rows >= self.entries {
            return Err(wrong_rows(self.entries, self.rows.saturating_add(more)));
        }
        if self.left == 0 { Err(self.wrong_values(self.values.saturating_add(more))) } else { Ok(()) }
    }

    #[cold]
    fn wrong_values(&self, found: u64) -> Error {
        let what = "the number of values in the pages of a column chunk";
        ErrorKind::Mismatch { what, expected: self.values, found }.into()
    }

    /// The next page of which something is wanted, as it is stored.
    fn next(
        &mut self,
        spare: &mut Vec<u8>,
        codecs: &mut Decompressor,
    ) -> Result<Option<(PageHeader, &'a [u8])>> {
        while self.at < self.stored.len() {
            if self.left == 0 || self.leaf.max_rep == 0 && self.rows >= self.wanted.end {
                return self.no_more().map(|()| None);
            }
            let start = self.at as u64;
            self.page = start;
            let here = |error: Error| error.at_byte(start);
            let mut compact = Compact::new(&self.stored[self.at..]);
            let header = compact.page_header().map_err(here)?;
            let rest = &self.stored[self.at + compact.at..];
            let needed = sized(header.compressed).map_err(here)?;
            sized(header.uncompressed).map_err(here)?;
            let Some((length, body)) =
                usize::try_from(needed).ok().and_then(|length| rest.get(..length).map(|body| (length, body)))
            else {
                let available = rest.len() as u64;
                return Err(here(Error::new(ErrorKind::Truncated { what: "a page", needed, available })));
            };
            self.at += compact.at + length;
            match header.kind {
                DATA | DATA_2 => {
                    check(&header, self.codec, body.len() as u64).map_err(here)?;
                    // A count that is not that of the footer is wrong, or the footer's is. No page says what its levels hold but by this.
                    let values = header.values as u64;
                    let left = self.left.checked_sub(values);
                    self.left =
                        left.ok_or_else(|| here(self.wrong_values(self.values - self.left + values)))?;
                    if self.leaf.max_rep == 0 {
                        self.rows += header.values as u64;
                        if self.rows <= self.wanted.start {
                            self.skipped += header.values as u64;
                            continue;
                        }
                    }
                    verify(&header, body).map_err(here)?;
                    return Ok(Some((header, body)));
                }
                DICTIONARY => {
                    if self.dictionary.is_some() {
                        return Err(here(fault("a second dictionary")));
                    }
                    if !matches!(header.encoding, 0 | 2) {
                        let what = format!("a dictionary encoded as number {}", header.encoding);
                        return Err(here(Error::unsupported(what)));
                    }
                    verify(&header, body).map_err(here)?;
                    check(&header, self.codec, body.len() as u64).map_err(here)?;
                    spare.clear();
                    let bytes =
                        match inflate(self.leaf, &header, self.codec, body, spare, codecs).map_err(here)? {
                            None => body,
                            Some(range) => &spare[range],
                        };
                    self.dictionary = Some(Dictionary::new(header.values, bytes, self.leaf).map_err(here)?);
                }
                _ => {}
            }
        }
        // All pages have gone by.
        if self.left > 0 { Err(self.wrong_values(self.values - self.left)) } else { Ok(None) }
    }
}

#[cold]
fn wrong_rows(expected: u64, found: u64) -> Error {
    ErrorKind::Mismatch { what: "the number of rows of a column chunk", expected, found }.into()
}

/// A length that a header gives.
fn sized(length: i64) -> Result<u64> {
    let found = length;
    u64::try_from(length).map_err(|_| {
        ErrorKind::OutOfRange { what: "the length of a page", found, limit: i32::MAX.into() }.into()
    })
}

/// Refuses lengths and counts that no page has.
pub(crate) fn check(header: &PageHeader, codec: u32, stored: u64) -> Result<()> {
    let impossible = |what, found, limit: u64| {
        Err(Error::new(ErrorKind::OutOfRange {
            what,
            found,
            limit: i64::try_from(limit).unwrap_or(i64::MAX),
        }))
    };
    let least = if matches!(codec, 4 | 6) { LARGEST_REPEATED } else { 4096 };
    let most = stored.saturating_mul(LARGEST_EXPANSION).saturating_add(least);
    // Where nothing is decompressed nothing is made of it.
    let uncompressed = header.uncompressed;
    if codec != 0 && u64::try_from(uncompressed).map_or(true, |bytes| bytes > most) {
        return impossible("the length of a page", uncompressed, most);
    }
    for (what, length) in [
        ("the number of rows of a page", header.rows),
        ("the length of a page's definition levels", header.def_bytes),
        ("the length of a page's repetition levels", header.rep_bytes),
    ] {
        if length < 0 {
            return impossible(what, length, most);
        }
    }
    let most = most.saturating_mul(8).saturating_add(MOST_WEIGHTLESS);
    if u64::try_from(header.values).map_or(true, |values| values > most) {
        return impossible("the number of values of a page", header.values, most);
    }
    Ok(())
}

/// Compares a page's bytes with their checksum, if there is one: CRC-32, of which the header has the bits as a signed number.
pub(crate) fn verify(header: &PageHeader, body: &[u8]) -> Result<()> {
    let Some(crc) = header.crc else { return Ok(()) };
    let (expected, found) = (crc as u32, crc32fast::hash(body));
    if expected != found {
        let what = "the checksum of a page";
        return Err(ErrorKind::Mismatch { what, expected: expected.into(), found: found.into() }.into());
    }
    Ok(())
}

/// Decompresses a page behind what is in memory; the levels of the second version are as they are. Answers
/// where, or nothing if the page is to be taken as it is stored.
fn inflate(
    leaf: &Leaf,
    header: &PageHeader,
    codec: u32,
    body: &[u8],
    memory: &mut Vec<u8>,
    codecs: &mut Decompressor,
) -> Result<Option<Range<usize>>> {
    if codec == 0 {
        return Ok(None);
    }
    let of_levels = header.kind == DATA_2;
    if of_levels && !header.is_compressed && !leaf.always_compressed {
        // What the sizes say of that is usually right, and not of importance. But there are pages that are
        // compressed in spite of it, which would be read as numbers of some kind.
        let levels = header.def_bytes.saturating_add(header.rep_bytes);
        if header.uncompressed != body.len() as i64 && header.uncompressed > levels {
            let start = memory.len();
            let is_wrong = unpack(header, codec, body, memory, codecs).is_ok();
            memory.truncate(start);
            if is_wrong {
                let sizes = format!("{} bytes are {} when decompressed", body.len(), header.uncompressed);
                return Err(fault(format!("a page that is said not to be compressed: its {sizes}")));
            }
        }
        return Ok(None);
    }
    unpack(header, codec, body, memory, codecs).map(Some)
}

fn unpack(
    header: &PageHeader,
    codec: u32,
    body: &[u8],
    memory: &mut Vec<u8>,
    codecs: &mut Decompressor,
) -> Result<Range<usize>> {
    let levels = if header.kind == DATA_2 { header.def_bytes.saturating_add(header.rep_bytes) } else { 0 };
    let whole = usize::try_from(header.uncompressed).unwrap_or(usize::MAX);
    let levels = usize::try_from(levels).ok().filter(|levels| *levels <= body.len() && *levels <= whole);
    let levels = levels.ok_or_else(|| fault("levels longer than their page"))?;
    let start = memory.len();
    codecs.allow(codec::known_name(codec.into()).unwrap_or("unknown"), start.saturating_add(whole))?;
    let refused = |_| Error::new(ErrorKind::OutOfMemory { what: "a page", bytes: whole as u64 });
    memory.try_reserve(whole).map_err(refused)?;
    memory.extend_from_slice(&body[..levels]);
    memory.resize(start + whole, 0);
    // Nothing was compressed to something by some writers, to nothing by others.
    if whole > levels {
        decompress(codec, &body[levels..], &mut memory[start + levels..], codecs)?;
    }
    Ok(start..start + whole)
}

#[cold]
fn fault(what: impl Into<String>) -> Error {
    Error::new(ErrorKind::Fault { what: what.into() })
}

/// A decompressed page's parts.
fn split<'p>(leaf: &Leaf, header: PageHeader, bytes: &'p [u8]) -> Result<Page<'p>> {
    let mut rest = bytes;
    let mut take = |length: usize| {
        let (levels, more) =
            rest.split_at_checked(length).ok_or_else(|| fault("levels longer than their page"))?;
        rest = more;
        Ok::<_, Error>(levels)
    };
    let mut levels = |max: u8, encoding: i64, length: i64| -> Result<&'p [u8]> {
        match (header.kind, encoding) {
            (DATA_2, _) => take(usize::try_from(length).unwrap_or(usize::MAX)),
            (_, _) if max == 0 => Ok(&[][..]),
            (_, 4) => take((header.values as usize).saturating_mul(width(max) as usize).div_ceil(8)),
            (_, 3) => {
                let length = take(4)?.first_chunk::<4>().map_or(0, |bytes| u32::from_le_bytes(*bytes));
                take(length as usize)
            }
            (_, other) => Err(Error::unsupported(format!("levels encoded as number {other}"))),
        }
    };
    let rep = levels(leaf.max_rep, header.rep_encoding, header.rep_bytes)?;
    let def = levels(leaf.max_def, header.def_encoding, header.def_bytes)?;
    Ok(Page { header, rep, def, values: rest })
}

/// Bits of a level.
const fn width(max: u8) -> u32 {
    8 - max.leading_zeros()
}

/// Levels of one kind.
enum Levels<'a> {
    /// All of them 0.
    None,
    Runs(Hybrid<'a>),
    Old(Vec<u8>, usize),
}

impl<'a> Levels<'a> {
    fn new(header: &PageHeader, max: u8, encoding: i64, bytes: &'a [u8]) -> Result<Self> {
        Ok(match (max, encoding) {
            (0, _) => Self::None,
            (_, 4) if header.kind == DATA => {
                Self::Old(old_levels(bytes, width(max), header.values as usize)?, 0)
            }
            _ => Self::Runs(Hybrid::new(bytes, width(max))?),
        })
    }

    /// The next ones; answers the level if all are the same for sure.
    fn read(&mut self, out: &mut Vec<u8>, count: usize) -> Result<Option<u8>> {
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

/// Refuses levels that there are not. Bits have room for more, and repeated levels have whole bytes.
fn bounded(same: Option<u8>, levels: &[u8], max: u8, what: &'static str) -> Result<()> {
    let most = same.unwrap_or_else(|| levels.iter().fold(0, |most, level| most.max(*level)));
    if most > max {
        return Err(ErrorKind::OutOfRange { what, found: most.into(), limit: max.into() }.into());
    }
    Ok(())
}

impl State {
    /// Decodes a page. Answers whether more are wanted.
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
        while left > 0 {
            let count = left.min(batch);
            left -= count;
            bounded(rep.read(&mut work.rep, count)?, &work.rep, leaf.max_rep, "a repetition level")?;
            let level = def.read(&mut work.def, count)?;
            bounded(level, &work.def, leaf.max_def, "a definition level")?;
            let same = level == Some(leaf.max_def);
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
            if before > 0 {
                values.load(before, leaf, dictionary, &mut work.loaded)?;
            }
            if !wanted.is_empty() {
                self.batch(leaf, wanted.clone(), same, inside, &mut values, dictionary, work, to)?;
            }
            if wanted.end < count {
                return Ok(false);
            }
            self.before = if same { leaf.max_def } else { work.def.last().copied().unwrap_or(0) };
            if behind > 0 {
                values.load(behind, leaf, dictionary, &mut work.loaded)?;
            }
        }
        Ok(self.rows <= self.wanted.end)
    }

    /// Counts rows, of which there are as many as the row group has.
    fn begin(&mut self, rows: u64) -> Result<()> {
        self.rows += rows;
        if self.rows > self.entries { Err(wrong_rows(self.entries, self.rows)) } else { Ok(()) }
    }

    /// Which of the next levels are of rows that are wanted; counts rows.
    fn wanted(&mut self, leaf: &Leaf, rep: &[u8], count: usize) -> Result<Range<usize>> {
        let Range { start, end } = self.wanted;
        if leaf.max_rep == 0 {
            let before = self.rows;
            self.begin(count as u64)?;
            let at = |row: u64| row.saturating_sub(before).min(count as u64) as usize;
            return Ok(at(start)..at(end));
        }
        if self.rows == 0 && rep.first().is_some_and(|level| *level != 0) {
            return Err(fault("a column begins within a list"));
        }
        let begun = rep.iter().map(|level| u64::from(*level == 0)).sum::<u64>();
        let before = self.rows;
        self.begin(begun)?;
        // The row that goes on has begun already.
        if before > start && self.rows <= end {
            return Ok(0..count);
        }
        // Where the row of that number begins.
        let at = |row: u64| {
            if before > row {
                return 0;
            }
            let mut begins = rep.iter().enumerate().filter(|(_, level)| **level == 0).map(|(at, _)| at);
            begins.nth((row - before) as usize).unwrap_or(count)
        };
        Ok(at(start)..at(end))
    }

    #[expect(clippy::too_many_arguments, reason = "one call, all of them different things")]
    fn batch(
        &mut self,
        leaf: &Leaf,
        wanted: Range<usize>,
        same: bool,
        inside: usize,
        values: &mut Values<'_>,
        dictionary: Option<&Dictionary>,
        work: &mut Work,
        to: &mut To<'_, '_>,
    ) -> Result<()> {
        let levels = wanted.len();
        let masks = levels.div_ceil(64);
        if leaf.max_def > 0 {
            let before = wanted.start.checked_sub(1).map(|at| if same { leaf.max_def } else { work.def[at] });
            let before = before.unwrap_or(self.before);
            work.masks(leaf, wanted.clone(), same);
            if work.is_torn(leaf, masks, before) {
                return Err(fault("repetition levels with which a list goes on that has no items"));
            }
        }
        let Work { slots, items, loaded, def_masks, .. } = work;
        let inside = match (leaf.max_def, inside) {
            (0, _) => levels,
            (max, usize::MAX) => ones(&def_masks[usize::from(max) - 1][..masks]),
            (_, known) => known,
        };
        let text = values.load(inside, leaf, dictionary, loaded)?;
        // How many items each column gets.
        let mut sizes = Vec::with_capacity(leaf.columns());
        for (at, node) in leaf.nodes.iter().enumerate() {
            let begun = ones(&slots[at][..masks]);
            let first = node.is_list && !self.open[at] && begun > 0;
            sizes.push(begun - usize::from(first));
        }
        match leaf.kept {
            Kept::Numbers(_) | Kept::Nanoseconds => sizes.push(inside),
            Kept::Bytes => sizes.extend([inside, text]),
            Kept::Nothing if inside > 0 => return Err(fault("values of a column that has none")),
            Kept::Nothing => {}
        }
        let write = |this: &mut Self, out: &mut [&mut [u8]]| {
            let count = leaf.nodes.len();
            let (nodes, leaves) = out.split_at_mut(count);
            for (at, (node, out)) in leaf.nodes.iter().zip(nodes).enumerate() {
                let (slots, items) = (&slots[at][..masks], &items[at][..masks]);
                if node.is_list {
                    lists_of_masks(slots, items, &mut this.open[at], &mut this.ends[at], out);
                } else {
                    index_of_masks(slots, items, &mut this.ends[at], out);
                }
            }
            let base = this.ends.get(count).copied().unwrap_or(0);
            values.store(leaf, dictionary, loaded, base, leaves)?;
            if leaf.kept == Kept::Bytes {
                this.ends[count] += text as i64;
            }
            Ok(())
        };
        match to {
            To::Places(columns) => {
                let mut places = columns.take(&sizes)?;
                let mut out: Vec<&mut [u8]> = places.iter_mut().map(|place| &mut **place).collect();
                write(self, &mut out)
            }
            To::Slots(out) => {
                let mut here = advance(leaf, out, &sizes)?;
                write(self, &mut here)
            }
            To::Count(counts) => {
                for (count, size) in counts.iter_mut().zip(&sizes) {
                    *count += size;
                }
                for at in 0..leaf.nodes.len() {
                    self.open[at] |= slots[at][..masks].iter().any(|mask| *mask != 0);
                    self.ends[at] += ones(&items[at][..masks]) as i64;
                }
                if leaf.kept == Kept::Bytes {
                    self.ends[leaf.nodes.len()] += text as i64;
                }
                Ok(())
            }
        }
    }

    /// Ends the lists that are open. All rows have to be there.
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

/// Bytes of an item of each column.
fn item_size(leaf: &Leaf, column: usize) -> usize {
    match column.checked_sub(leaf.nodes.len()) {
        None => 8,
        Some(0) if leaf.kept == Kept::Bytes => 8,
        Some(1) => 1,
        Some(_) => leaf.kept.width(),
    }
}

/// The next places of each column.
fn advance<'c>(leaf: &Leaf, out: &mut [&'c mut [u8]], sizes: &[usize]) -> Result<Vec<&'c mut [u8]>> {
    let mut here = Vec::with_capacity(out.len());
    for (column, (out, size)) in out.iter_mut().zip(sizes).enumerate() {
        let (now, rest) = std::mem::take(out)
            .split_at_mut_checked(size * item_size(leaf, column))
            .ok_or_else(|| fault("pages that change while they are read"))?;
        *out = rest;
        here.push(now);
    }
    Ok(here)
}

fn ones(masks: &[u64]) -> usize {
    masks.iter().map(|mask| mask.count_ones() as usize).sum()
}

impl Work {
    /// Slots and items of every node for these levels.
    fn masks(&mut self, leaf: &Leaf, wanted: Range<usize>, same: bool) {
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

    /// Whether a list goes on that has no items, or with no item. `before` is the definition level before these.
    fn is_torn(&self, leaf: &Leaf, masks: usize, before: u8) -> bool {
        leaf.nodes.iter().filter(|node| node.is_list).any(|node| {
            // Where levels are those of the list's second item and of all behind that.
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
