//! Plans the tasks for fields and entries: determines the elements of each column, and their pages.
//!
//! The elements of columns in lists follow from the ends of these lists. For a complete cluster, these are
//! all elements, so that nothing is read. If a range of entries ends within a cluster, the pages with the
//! ends of its first and last lists are read.

use crate::coding::{Coding, Kept};
use crate::form::Part;
use crate::format::NtupleFormat;
use crate::ntuple::Ntuple;
use crate::objects::Objects;
use crate::page_note::{Lists, Note};
use crate::pages::{ColumnPages, Numbered};
use crate::streamed;
use bytes::Bytes;
use forthwith_columns::Form;
use forthwith_plan::{Decoder, Error, Group, Plan, Reading, Result, Stored, Task};
use std::{ops::Range, sync::Arc};

/// Builder of a plan, field by field.
pub(crate) struct Planner<'n> {
    ntuple: &'n Ntuple,
    entries: Range<u64>,
    groups: Vec<Group>,
    tasks: Vec<Task>,
}

/// A column in a cluster.
struct Active {
    /// Representation in this cluster, and its column.
    representation: usize,
    column: u32,
    pages: ColumnPages,
    /// Number of elements that were not written because the column was added later. They come first.
    zeros: u64,
}

impl Active {
    /// Returns the number of elements, written or not.
    const fn count(&self) -> u64 {
        self.zeros + self.pages.elements
    }
}

/// Progress of planning a part.
#[derive(Clone, Default)]
struct Progress {
    tasks: Vec<Task>,
    /// Elements planned so far, by their indexes in the plan; `None` before the first.
    elements: Option<Range<u64>>,
    /// Number of items in the lists planned so far; for variants, of each alternative.
    items: Vec<u64>,
}

/// Number of zeros without pages that is always allowed; more are bounded by the size of the file.
const MOST_ZEROS: u64 = 1 << 26;
/// Upper bound on the items of lists, if there is no column of items that tells their number.
const MOST_ITEMS: u64 = 1 << 62;

impl<'n> Planner<'n> {
    pub(crate) const fn new(ntuple: &'n Ntuple, entries: Range<u64>) -> Self {
        Self { ntuple, entries, groups: Vec::new(), tasks: Vec::new() }
    }

    /// Adds a field.
    pub(crate) fn add(&mut self, field: u32) -> Result<()> {
        let shape = self.ntuple.shape(field)?;
        let shape = shape.as_ref().map_err(|why| Error::unsupported(why.clone()))?;
        if shape.parts.is_empty() {
            return self.nothing(field);
        }
        let mut progress = vec![Progress::default(); shape.parts.len()];
        for cluster in self.ntuple.clusters(&self.entries)? {
            let here = |error: Error| error.in_block(cluster.number).in_unit("cluster");
            self.cluster(&shape.parts, cluster, &mut progress).map_err(here)?;
        }
        let path = self.ntuple.path(field);
        for (at, (part, progress)) in shape.parts.iter().zip(progress).enumerate() {
            let group = self.groups.len() as u32;
            let is_per_entry = part.parent.is_none() && part.times == 1;
            let form = if at == 0 { shape.form.clone() } else { Form::Empty };
            self.groups.push(Group {
                joins: at > 0,
                items: if is_per_entry { None } else { Some(progress.elements.unwrap_or(0..0)) },
                ..Group::of(&path, reading(form, Some(part))?, part.specs())
            });
            self.tasks.extend(progress.tasks.into_iter().map(|task| Task { group, ..task }));
        }
        Ok(())
    }

    /// Adds a field without columns.
    fn nothing(&mut self, field: u32) -> Result<()> {
        let shape = self.ntuple.shape(field)?;
        let form = shape.as_ref().map_or(Form::Empty, |shape| shape.form.clone());
        let group = self.groups.len() as u32;
        self.groups.push(Group::of(self.ntuple.path(field), reading(form, None)?, Vec::new()));
        if !self.entries.is_empty() {
            self.tasks.push(Task::of(group, 0, self.entries.clone(), Stored::Inline(Bytes::new())));
        }
        Ok(())
    }

    pub(crate) fn finish(self) -> Plan {
        Plan {
            format: NtupleFormat::ID.into(),
            uri: self.ntuple.uri().to_owned(),
            object: self.ntuple.object_path().to_owned(),
            delivered: self.groups.len() as u32,
            groups: self.groups,
            tasks: self.tasks,
            entries: self.entries,
            ..Plan::default()
        }
    }

    /// Adds the requested entries of one cluster.
    fn cluster(&self, parts: &[Part], at: Numbered<'_>, progress: &mut [Progress]) -> Result<()> {
        let active = parts.iter().map(|part| self.active(part, at)).collect::<Result<Vec<_>>>()?;
        let totals = totals(parts, &active)?;
        let entries = &at.cluster.entries;
        let from = self.entries.start.max(entries.start) - entries.start;
        let to = self.entries.end.min(entries.end) - entries.start;
        // Requested items of lists, for each part that has lists.
        let mut items: Vec<Range<u64>> = Vec::with_capacity(parts.len());
        for (number, (part, active)) in parts.iter().zip(&active).enumerate() {
            let wanted = match part.parent {
                None => from * part.times..to * part.times,
                Some(parent) => match parts.get(parent).map(|parent| parent.coding.kept) {
                    // Only the values of the parent tell which elements belong to which entries.
                    Some(Kept::Tags(_)) => 0..active.count(),
                    _ => {
                        let of = items.get(parent).cloned().unwrap_or(0..0);
                        of.start * part.times..of.end * part.times
                    }
                },
            };
            let all = totals.get(number).and_then(|totals| totals.first()).copied().unwrap_or(0);
            if let Some(objects) = &part.objects {
                self.objects(part, objects, at, active, &wanted, progress.get_mut(number))?;
                items.push(0..0);
                continue;
            }
            let of = match part.coding.kept {
                Kept::Offsets | Kept::Option if !wanted.is_empty() => {
                    let start = self.end_before(part, active, wanted.start, all)?;
                    let end = self.end_before(part, active, wanted.end, all)?;
                    if start > end {
                        return Err(Error::out_of_range("the beginning of a list", start, end));
                    }
                    start..end
                }
                Kept::Counts if !wanted.is_empty() => {
                    let start = self.end_before(part, active, wanted.start, MOST_ITEMS)?;
                    start..start
                }
                _ => 0..0,
            };
            self.pages(part, at, active, &wanted, &of, totals.get(number), progress.get_mut(number))?;
            items.push(of);
        }
        Ok(())
    }

    /// Returns the column of a part in a cluster.
    fn active(&self, part: &Part, at: Numbered<'_>) -> Result<Active> {
        let expected = match part.parent {
            None => Some(expected(at, part.times)?),
            Some(_) => None,
        };
        for (representation, &column) in part.columns.iter().enumerate() {
            let Some(pages) = at.list.column(at.cluster, column)? else { continue };
            let zeros = match expected {
                Some(expected) => unwritten(self.ntuple, column, expected, pages.elements)?,
                None => 0,
            };
            if let (Some(_), Some(before)) = (expected, at.cluster.entries.start.checked_mul(part.times)) {
                let (what, expected) =
                    ("the first element of a column in a cluster", before.saturating_add(zeros));
                let found = pages.first as u64;
                // Without pages, there is no first element.
                if found != expected && !pages.pages.is_empty() {
                    let error = Error::mismatch(what, expected, found);
                    return Err(error.in_member(&format!("column {column}")));
                }
            }
            return Ok(Active { representation, column, pages, zeros });
        }
        let column = part.columns.first().copied().unwrap_or(0);
        let zeros = match expected {
            Some(expected) => unwritten(self.ntuple, column, expected, 0)?,
            None => 0,
        };
        let pages = ColumnPages { pages: Vec::new(), first: 0, elements: 0, setting: 0 };
        Ok(Active { representation: 0, column, pages, zeros })
    }

    /// Returns the end of the list before element `element` of a cluster. `all` is the number of items of all
    /// lists, or [`MOST_ITEMS`] if that is not known.
    fn end_before(&self, part: &Part, active: &Active, element: u64, all: u64) -> Result<u64> {
        if element <= active.zeros {
            return Ok(0);
        }
        if element >= active.count() && all != MOST_ITEMS {
            return Ok(all);
        }
        let within = element.min(active.count()) - active.zeros;
        let pages = &active.pages.pages;
        let number = pages.partition_point(|page| page.start + u64::from(page.elements) < within);
        let page = pages.get(number).ok_or_else(|| Error::fault("a list in no page"))?;
        let how = part.coding.stored.get(active.representation);
        let how = how.ok_or_else(crate::page_note::foreign)?;
        let here = |error: Error| {
            error
                .in_member(&format!("column {}, page {number}", active.column))
                .at_byte(page.locator.position)
        };
        let end = self.ntuple.end_in_page(how, page, within - page.start).map_err(here)?;
        if end > all {
            return Err(here(Error::out_of_range("the end of a list", end, all)));
        }
        Ok(end)
    }

    /// Adds the objects `wanted` of a part.
    fn objects(
        &self,
        part: &Part,
        objects: &Objects,
        at: Numbered<'_>,
        active: &Active,
        wanted: &Range<u64>,
        progress: Option<&mut Progress>,
    ) -> Result<()> {
        let Some(progress) = progress.filter(|_| !wanted.is_empty()) else { return Ok(()) };
        if wanted.start < active.zeros {
            return Err(Error::unsupported("streamed objects of entries from before their field was added"));
        }
        // Indexes in the cluster of elements that were written.
        let written = wanted.start - active.zeros..wanted.end - active.zeros;
        let shift = match &progress.elements {
            _ if part.parent.is_none() && part.times == 1 => {
                at.cluster.entries.start.wrapping_add(active.zeros)
            }
            Some(so_far) => so_far.end.wrapping_sub(written.start),
            None => 0,
        };
        let Active { representation, column, pages: ends, .. } = active;
        let found = streamed::Wanted {
            part,
            objects,
            at,
            representation: *representation,
            column: *column,
            ends,
            wanted: written.clone(),
        };
        for mut task in found.tasks(self.ntuple)? {
            let numbered = |range: Range<u64>| range.start.wrapping_add(shift)..range.end.wrapping_add(shift);
            (task.entries, task.wanted) = (numbered(task.entries), numbered(task.wanted));
            progress.tasks.push(task);
        }
        let (start, end) = (written.start.wrapping_add(shift), written.end.wrapping_add(shift));
        progress.elements = Some(progress.elements.as_ref().map_or(start, |so_far| so_far.start)..end);
        Ok(())
    }

    /// Adds the pages of the elements `wanted` of a part.
    #[expect(clippy::too_many_arguments, reason = "one call, all of them different things")]
    fn pages(
        &self,
        part: &Part,
        at: Numbered<'_>,
        active: &Active,
        wanted: &Range<u64>,
        items: &Range<u64>,
        totals: Option<&Vec<u64>>,
        progress: Option<&mut Progress>,
    ) -> Result<()> {
        let Some(progress) = progress else { return Ok(()) };
        let totals = totals.map_or(&[][..], Vec::as_slice);
        progress.items.resize(totals.len(), 0);
        // Added to an end, the base accounts for the items before the cluster, less those before its first
        // requested list.
        let lists = |before, after| Lists {
            base: (progress.items.first().copied().unwrap_or(0) as i64).wrapping_sub(items.start as i64),
            most: totals.first().copied().unwrap_or(0),
            before,
            after,
        };
        let is_per_entry = part.parent.is_none() && part.times == 1;
        // Difference between the indexes of elements in the plan and in the cluster.
        let shift = match &progress.elements {
            _ if is_per_entry => at.cluster.entries.start,
            Some(so_far) => so_far.end.wrapping_sub(wanted.start),
            None => 0,
        };
        let zeros = (active.zeros > 0).then_some((0..active.zeros, None));
        let pages = active.pages.pages.iter().enumerate().map(|(number, page)| {
            let start = active.zeros + page.start;
            (start..start + u64::from(page.elements), Some((number, page)))
        });
        let first = active
            .pages
            .pages
            .partition_point(|page| active.zeros + page.start + u64::from(page.elements) <= wanted.start);
        let mut tasks = Vec::new();
        for (elements, page) in zeros.into_iter().chain(pages.skip(first)) {
            let of = elements.start.max(wanted.start)..elements.end.min(wanted.end);
            if of.is_empty() {
                if elements.start >= wanted.end {
                    break;
                }
                continue;
            }
            let mut numbers = vec![active.column.into(), page.map_or(-1, |(number, _)| number as i64)];
            match part.coding.kept {
                Kept::Offsets | Kept::Option => {
                    let before = (of.start == wanted.start).then_some(items.start);
                    let after = (of.end == wanted.end).then_some(items.end);
                    numbers.extend(lists(before, after).numbers());
                }
                Kept::Counts => {
                    let before = (of.start == wanted.start).then_some(items.start);
                    let lists = Lists { base: 0, most: MOST_ITEMS, before, after: None };
                    numbers.extend(lists.numbers());
                }
                Kept::Tags(_) => {
                    let both = progress.items.iter().zip(totals);
                    numbers.extend(both.flat_map(|(base, count)| [*base as i64, *count as i64]));
                }
                _ => {}
            }
            let (stored, payload_hint, note) = match page {
                None => {
                    let note = Note { verified: false, zeros: true, streamed: false, representation: 0 };
                    (Stored::Inline(Bytes::new()), 0, note)
                }
                Some((_, page)) => {
                    let verified = page.checksum && self.ntuple.verifies();
                    let representation = active.representation;
                    let note = Note { verified, zeros: false, streamed: false, representation };
                    let how = part.coding.stored.get(active.representation);
                    let length = how.map_or(0, |how| how.page_bytes(page.elements));
                    (self.ntuple.stored(page, verified)?, length, note)
                }
            };
            let numbered = |range: Range<u64>| range.start.wrapping_add(shift)..range.end.wrapping_add(shift);
            tasks.push(Task {
                wanted: numbered(of),
                payload_hint,
                note: note.word(),
                numbers,
                ..Task::of(0, at.number, numbered(elements), stored)
            });
        }
        progress.tasks.extend(tasks);
        if !wanted.is_empty() {
            let start = wanted.start.wrapping_add(shift);
            let end = wanted.end.wrapping_add(shift);
            progress.elements = Some(progress.elements.as_ref().map_or(start, |so_far| so_far.start)..end);
        }
        match part.coding.kept {
            Kept::Tags(_) => progress.items.iter_mut().zip(totals).for_each(|(so_far, more)| *so_far += more),
            _ => {
                if let Some(so_far) = progress.items.first_mut() {
                    *so_far = so_far.saturating_add(items.end - items.start);
                    if *so_far > MOST_ITEMS {
                        let (found, limit) =
                            (i64::try_from(*so_far).unwrap_or(i64::MAX), MOST_ITEMS.cast_signed());
                        return Err(Error::out_of_range("the number of items of lists", found, limit));
                    }
                }
            }
        }
        Ok(())
    }
}

/// Returns the number of elements in a cluster of a column with `times` elements in each entry.
pub(crate) fn expected(at: Numbered<'_>, times: u64) -> Result<u64> {
    let span = at.cluster.entries.end - at.cluster.entries.start;
    let count = span.checked_mul(times).filter(|count| *count < 1 << 62);
    let limit = i64::MAX / times.max(1) as i64;
    count.ok_or_else(|| Error::out_of_range("the entries of a cluster", span, limit))
}

/// Returns the number of elements that were not written. It is an error if there are any and the column was
/// not added later.
pub(crate) fn unwritten(ntuple: &Ntuple, column: u32, expected: u64, found: u64) -> Result<u64> {
    let mismatch = || Error::mismatch("the number of elements of a column", expected, found);
    let zeros = expected.checked_sub(found).ok_or_else(mismatch)?;
    if zeros == 0 {
        return Ok(0);
    }
    if !ntuple.is_late(column) {
        return Err(mismatch().in_member(&format!("column {column}")));
    }
    let explained = ntuple.size().saturating_mul(8 * forthwith_io::LARGEST_EXPANSION);
    let limit = explained.max(MOST_ZEROS);
    if zeros > limit {
        return Err(Error::out_of_range("the number of elements that a column lacks", zeros, limit));
    }
    Ok(zeros)
}

/// Returns for each part with lists the number of their items in a cluster, for variants that of each
/// alternative. It is an error if the columns of the items disagree.
fn totals(parts: &[Part], active: &[Active]) -> Result<Vec<Vec<u64>>> {
    let mut totals: Vec<Vec<Option<u64>>> = parts
        .iter()
        .map(|part| match part.coding.kept {
            Kept::Offsets | Kept::Option => vec![None],
            Kept::Tags(alternatives) => vec![None; alternatives.into()],
            _ => Vec::new(),
        })
        .collect();
    for (part, active) in parts.iter().zip(active) {
        let Some(parent) = part.parent else { continue };
        let slot = totals.get_mut(parent).and_then(|slots| slots.get_mut(usize::from(part.alternative)));
        let (Some(slot), 1..) = (slot, part.times) else { continue };
        let found = active.count();
        let items = found / part.times;
        let expected = slot.get_or_insert(items).saturating_mul(part.times);
        if expected != found {
            let error = Error::mismatch("the number of elements of a column", expected, found);
            return Err(error.in_member(&format!("column {}", active.column)));
        }
    }
    // For items without columns, such as records without members, only the lists tell their number.
    let known = |(part, slots): (&Part, Vec<Option<u64>>)| {
        let unknown = if matches!(part.coding.kept, Kept::Tags(_)) { 0 } else { MOST_ITEMS };
        slots.into_iter().map(|slot| slot.unwrap_or(unknown)).collect()
    };
    Ok(parts.iter().zip(totals).map(known).collect())
}

/// Returns the reading of a field through one of its parts, if it has any.
pub(crate) fn reading(form: Form, part: Option<&Part>) -> Result<Reading> {
    let of = |coding: &Coding| {
        let text = serde_json::to_string(coding).map_err(|error| Error::invalid(error.to_string()))?;
        Ok::<_, Error>(Decoder::Format(text.into()))
    };
    let Some(part) = part else {
        let decoder = of(&Coding { kept: Kept::Nothing, stored: Vec::new() })?;
        return Ok(Reading { form, decoder, reason: "a record without members".into() });
    };
    let kinds: Vec<&str> = part.coding.stored.iter().map(|stored| stored.kind.name()).collect();
    let (what, decoder) = match &part.objects {
        Some(objects) => ("streamed objects in pages", Decoder::Program(Arc::clone(&objects.program))),
        None => ("pages", of(&part.coding)?),
    };
    Ok(Reading { form, decoder, reason: format!("{what} of {}", kinds.join(" or ")) })
}
