//! Decodes pages to columns.
//!
//! The number of items of a page is known before it is read, so a task reserves its range of the columns and
//! passes its turn on before it decodes. Only values that depend on the page before, such as the end of its
//! last list, are looked up during the turn.

use crate::coding::{Coding, Kept, Kind, Stored};
use crate::numbers::{numbers, too_few};
use crate::offset_columns::Ends;
use crate::page_note::{Lists, Marks, Note, foreign};
use forthwith_columns::Slot;
use forthwith_columns::kernels::{DecodeError, copy};
use forthwith_io::{Decompressor, xxh3};
use forthwith_plan::{Columns, Error, Result, Scratch, Task};
use forthwith_root::{check_record, decompress_record};
use std::ops::Range;

pub(crate) fn page(
    coding: &Coding,
    task: &Task,
    stored: &[u8],
    scratch: &mut Scratch,
    columns: &mut dyn Columns,
) -> Result<()> {
    if coding.kept == Kept::Nothing {
        columns.wait()?;
        columns.take_last(&[])?;
        return Ok(());
    }
    let note = Note::of(task.note);
    let marks = Marks::of(task)?;
    let here = |error: Error| if note.zeros { error } else { marks.of_page(error, task) };
    let wanted =
        (task.wanted.start - task.entries.start) as usize..(task.wanted.end - task.entries.start) as usize;
    if note.zeros {
        return zeros(coding.kept, &marks, wanted.len(), columns);
    }
    let how = coding.stored.get(note.representation).ok_or_else(foreign)?;
    let (body, length) = stored_page(how, task, note, stored).map_err(here)?;
    let all = wanted.start == 0 && task.wanted.end == task.entries.end;
    if all && copies(how, coding.kept) {
        let mut slots = taken(columns, &[wanted.len()])?;
        let into = slots.first_mut().ok_or_else(foreign)?;
        let (_, codecs) = scratch.own::<()>();
        return inflate(body, into, codecs).map_err(here);
    }
    let page = inflated(body, length, scratch).map_err(here)?;
    decoded(coding.kept, how, &marks, page, wanted, columns).map_err(here)
}

/// Returns the decompressed bytes of a page, in the encoding of its column.
pub(crate) fn raw<'a>(
    coding: &Coding,
    task: &Task,
    stored: &'a [u8],
    scratch: &'a mut Scratch,
) -> Result<&'a [u8]> {
    let note = Note::of(task.note);
    if note.zeros {
        return Err(Error::unsupported("a raw page of entries from before a column was added"));
    }
    let how = coding.stored.get(note.representation).ok_or_else(foreign)?;
    let marks = Marks::of(task)?;
    let here = |error: Error| marks.of_page(error, task);
    let (body, length) = stored_page(how, task, note, stored).map_err(here)?;
    inflated(body, length, scratch).map_err(here)
}

/// Returns the stored bytes of a page without its checksum, which is verified if the page has one, and the
/// length of the decompressed page.
fn stored_page<'a>(how: &Stored, task: &Task, note: Note, stored: &'a [u8]) -> Result<(&'a [u8], usize)> {
    let elements = task.entries.end.checked_sub(task.entries.start).ok_or_else(foreign)?;
    let body = if note.verified { verified(stored)? } else { stored };
    let length = usize::try_from(how.page_bytes(elements)).map_err(|_| foreign())?;
    if body.len() > length {
        return Err(Error::mismatch("the length of a page", length, body.len()));
    }
    check_record(body, length)?;
    Ok((body, length))
}

fn inflated<'a>(body: &'a [u8], length: usize, scratch: &'a mut Scratch) -> Result<&'a [u8]> {
    if body.len() == length {
        return Ok(body);
    }
    let (payload, _, codecs) = scratch.rooms(length, 0)?;
    inflate(body, payload, codecs)?;
    Ok(payload)
}

/// Verifies the checksum of a page, and returns the page without it.
pub(crate) fn verified(stored: &[u8]) -> Result<&[u8]> {
    let Some((body, hash)) = stored.split_last_chunk::<8>() else {
        return Err(Error::truncated("the checksum of a page", 8, stored.len()));
    };
    let (expected, found) = (u64::from_le_bytes(*hash), xxh3(body));
    if expected != found {
        return Err(Error::mismatch("the checksum of a page", expected, found));
    }
    Ok(body)
}

/// Whether the decompressed bytes of a page equal those of the output column, so that they are only copied.
fn copies(how: &Stored, kept: Kept) -> bool {
    match (kept, how.kind) {
        (Kept::Bytes, _) => true,
        (Kept::Numbers(dtype), Kind::Plain(own)) => own == dtype && cfg!(target_endian = "little"),
        _ => false,
    }
}

fn inflate(body: &[u8], into: &mut [u8], codecs: &mut Decompressor) -> Result<()> {
    if body.len() == into.len() {
        copy(body, into);
        return Ok(());
    }
    decompress_record(body, into, codecs)
}

/// Waits for the task's turn, reserves the given number of items of each column, and passes the turn on.
fn taken<'c>(columns: &'c mut dyn Columns, items: &[usize]) -> Result<Vec<Slot<'c>>> {
    columns.wait()?;
    columns.take_last(items)
}

fn decoded(
    kept: Kept,
    how: &Stored,
    marks: &Marks<'_>,
    page: &[u8],
    wanted: Range<usize>,
    columns: &mut dyn Columns,
) -> Result<()> {
    match kept {
        Kept::Nothing => Ok(()),
        Kept::Objects => Err(foreign()),
        Kept::Bytes => {
            let mut slots = taken(columns, &[wanted.len()])?;
            let into = slots.first_mut().ok_or_else(foreign)?;
            let bytes = page.get(wanted).ok_or_else(foreign)?;
            copy(bytes, into);
            Ok(())
        }
        Kept::Numbers(dtype) => {
            let mut slots = taken(columns, &[wanted.len()])?;
            numbers(how, dtype, page, wanted, slots.first_mut().ok_or_else(foreign)?)
        }
        Kept::Offsets | Kept::Option | Kept::Counts => lists(kept, how, marks, page, wanted, columns),
        Kept::Tags(alternatives) => tags(alternatives, marks, page, wanted, columns),
    }
}

/// Returns the error for list ends that decrease or exceed the number of items.
#[cold]
fn falling(lists: &Lists) -> Error {
    Error::fault(format!(
        "a list that ends before it begins, or behind the {} items of the cluster",
        lists.most
    ))
}

fn lists(
    kept: Kept,
    how: &Stored,
    marks: &Marks<'_>,
    page: &[u8],
    wanted: Range<usize>,
    columns: &mut dyn Columns,
) -> Result<()> {
    let lists = marks.lists()?;
    let bad = |_: DecodeError| too_few();
    let ends = Ends::of(how, page).ok_or_else(foreign)?;
    let last = ends.before(wanted.end).map_err(bad)?.filter(|last| *last <= lists.most);
    let last = last.ok_or_else(|| falling(&lists))?;
    let in_page = ends.before(wanted.start).map_err(bad)?;
    columns.wait()?;
    let lists = Lists { base: base(&lists, columns), ..lists };
    let Lists { base, most, .. } = lists;
    let start = first(&lists, in_page, columns)?;
    columns.set_ends(&[last as i64 + base]);
    agrees("the end of the last list", lists.after, last)?;
    let mut slots = columns.take_last(&[wanted.len()])?;
    let into = slots.first_mut().ok_or_else(foreign)?;
    if !ends.offsets(wanted, [start, most], base, into).map_err(bad)? {
        return Err(falling(&lists));
    }
    let mut before = start as i64 + base;
    match kept {
        Kept::Option => {
            let mut good = true;
            for item in into.as_chunks_mut::<8>().0 {
                let end = i64::from_ne_bytes(*item);
                let there = end - before;
                good &= there <= 1;
                *item = (if there == 0 { -1 } else { before }).to_ne_bytes();
                before = end;
            }
            if !good {
                return Err(Error::fault("an optional value that has several values"));
            }
        }
        Kept::Counts => {
            for item in into.as_chunks_mut::<8>().0 {
                let end = i64::from_ne_bytes(*item);
                *item = (end - before).to_ne_bytes();
                before = end;
            }
        }
        _ => {}
    }
    Ok(())
}

/// Returns the number that converts the ends of lists, which count from the cluster's first item, to offsets
/// of the column, with the items of earlier plans. Must be called during the turn.
fn base(lists: &Lists, columns: &dyn Columns) -> i64 {
    lists.base.wrapping_add(columns.origin().first().copied().unwrap_or(0))
}

/// Returns the beginning of the page's first list, relative to the cluster's first item. Must be called
/// during the turn.
fn first(lists: &Lists, in_page: Option<u64>, columns: &dyn Columns) -> Result<u64> {
    // The end of the last list of earlier pages is the beginning of the first list.
    let before = columns.ends().first().copied().unwrap_or(0).wrapping_sub(lists.base);
    let found = in_page.or(lists.before).or(u64::try_from(before).ok()).ok_or_else(|| falling(lists))?;
    agrees("the beginning of the first list", lists.before, found)?;
    if found > lists.most {
        return Err(falling(lists));
    }
    Ok(found)
}

fn agrees(what: &'static str, expected: Option<u64>, found: u64) -> Result<()> {
    match expected {
        Some(expected) if expected != found => Err(Error::mismatch(what, expected, found)),
        _ => Ok(()),
    }
}

fn tags(
    alternatives: u8,
    marks: &Marks<'_>,
    page: &[u8],
    wanted: Range<usize>,
    columns: &mut dyn Columns,
) -> Result<()> {
    let elements = page.as_chunks::<12>().0.get(wanted.clone()).ok_or_else(foreign)?;
    let element = |bytes: &[u8; 12]| {
        let (index, tag) = bytes.split_at(8);
        let index = index.first_chunk().map_or(0, |index| u64::from_le_bytes(*index));
        (index, tag.first_chunk().map_or(0, |tag| u32::from_le_bytes(*tag)))
    };
    let values = elements.iter().filter(|bytes| element(bytes).1 != 0).count();
    let rows = marks.rest.as_chunks::<2>().0;
    if rows.len() != usize::from(alternatives) {
        return Err(foreign());
    }
    columns.wait()?;
    let mut next = columns.ends().first().copied().unwrap_or(0);
    columns.set_ends(&[next + values as i64]);
    let places: &[usize] = if alternatives == 1 { &[wanted.len()] } else { &[wanted.len(), values, values] };
    let mut slots = columns.take_last(places)?;
    let mut slots = slots.iter_mut();
    let outer = slots.next().ok_or_else(foreign)?;
    let mut inner = slots.next().zip(slots.next()).map(|(tags, rows)| (&mut **tags, &mut **rows));
    let mut at = 0;
    for (bytes, outer) in elements.iter().zip(outer.as_chunks_mut::<8>().0) {
        let (index, tag) = element(bytes);
        let Some(number) = (tag as usize).checked_sub(1) else {
            *outer = (-1i64).to_ne_bytes();
            continue;
        };
        let Some([base, count]) = rows.get(number) else {
            return Err(Error::fault(format!("alternative {tag} of a variant that has {alternatives}")));
        };
        let row = i64::try_from(index).ok().filter(|index| index < count);
        let row = row.and_then(|index| index.checked_add(*base)).ok_or_else(|| {
            Error::fault(format!("value {index} of an alternative that has {count} values in the cluster"))
        })?;
        match &mut inner {
            None => *outer = row.to_ne_bytes(),
            Some((tags, rows)) => {
                *outer = next.to_ne_bytes();
                let into = rows.as_chunks_mut::<8>().0.get_mut(at);
                if let (Some(tag), Some(into)) = (tags.get_mut(at), into) {
                    *tag = number as u8;
                    *into = row.to_ne_bytes();
                }
            }
        }
        (next, at) = (next + 1, at + 1);
    }
    Ok(())
}

/// Appends elements of a deferred column for earlier entries: zeros, nulls or empty lists.
fn zeros(kept: Kept, marks: &Marks<'_>, count: usize, columns: &mut dyn Columns) -> Result<()> {
    let fill = |slot: &mut Slot<'_>, item: i64| {
        slot.as_chunks_mut::<8>().0.iter_mut().for_each(|to| *to = item.to_ne_bytes());
    };
    match kept {
        Kept::Offsets | Kept::Option | Kept::Counts => {
            let lists = marks.lists()?;
            columns.wait()?;
            let base = base(&lists, columns);
            columns.set_ends(&[base]);
            let mut slots = columns.take_last(&[count])?;
            let item = match kept {
                Kept::Option => -1,
                Kept::Counts => 0,
                _ => base,
            };
            slots.iter_mut().for_each(|slot| fill(slot, item));
        }
        Kept::Tags(alternatives) => {
            let places: &[usize] = if alternatives == 1 { &[count] } else { &[count, 0, 0] };
            let mut slots = taken(columns, places)?;
            if let Some(slot) = slots.first_mut() {
                fill(slot, -1);
            }
        }
        Kept::Numbers(_) | Kept::Bytes => {
            taken(columns, &[count])?.iter_mut().for_each(|slot| slot.fill(0));
        }
        Kept::Nothing => {}
        Kept::Objects => return Err(foreign()),
    }
    Ok(())
}
