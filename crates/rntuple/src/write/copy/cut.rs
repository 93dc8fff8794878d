//! Selected entries of partly copied clusters: their elements become clusters of their own.

use super::fields::{Column, Fields, Node};
use super::slot::Slot;
use super::stored::{Active, Chunk, Codecs, Elements, Found, no_zeros};
use crate::Ntuple;
use crate::coding::{Kind, Stored};
use crate::schema::STREAMED;
use crate::write::fill::add;
use forthwith_plan::{Error, Result};
use forthwith_root::write::Compression;
use std::collections::HashMap;
use std::ops::Range;

/// Elements, in adjacent ranges.
type Rows = Vec<Range<u64>>;

/// Entries that are collected for a cluster.
#[derive(Debug)]
pub(super) struct Cut {
    pub(super) entries: u64,
    /// Elements of each column of the copy.
    pub(super) slots: Vec<Slot>,
    /// Encoding and compression of each column of the copy for these entries.
    pub(super) columns: Vec<Option<(Stored, Compression)>>,
    /// Representation of each field.
    representations: Vec<usize>,
    /// Number of values so far of each alternative of a variant, by the field and the alternative.
    values: HashMap<(usize, u32), u64>,
}

/// Cluster from which entries are taken.
pub(super) struct From<'f> {
    pub(super) ntuple: &'f Ntuple,
    pub(super) fields: &'f Fields,
    /// Columns of each field.
    pub(super) active: &'f [Active],
    /// Encoding of each column of the copy, as far as it is known.
    pub(super) stored: &'f [Option<Stored>],
    /// Compression of new pages, if requested or if the column's own is unknown.
    pub(super) anew: Option<Compression>,
    pub(super) otherwise: Compression,
}

/// Size of the elements that end a cluster, in bytes: half of ROOT's target for compressed clusters.
const FULL: u64 = 64 << 20;

impl Cut {
    pub(super) fn new(fields: &Fields) -> Self {
        Self {
            entries: 0,
            slots: (0..fields.columns).map(|_| Slot::default()).collect(),
            columns: vec![None; fields.columns],
            representations: Vec::new(),
            values: HashMap::new(),
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.size() >= FULL
    }

    /// Returns the size of the collected elements in bytes.
    pub(super) fn size(&self) -> u64 {
        self.slots.iter().map(Slot::size).sum()
    }

    /// Returns whether a cluster's columns have the representations of the pending cluster, so that both can
    /// be one.
    pub(super) fn takes(&self, active: &[Active]) -> bool {
        let other = active.iter().map(|active| active.representation);
        self.entries == 0 || self.representations.iter().copied().eq(other)
    }

    /// Takes the entries `rows` of a cluster, which count from its first.
    pub(super) fn take(&mut self, from: &From<'_>, rows: &[Range<u64>], codecs: &mut Codecs) -> Result<()> {
        self.representations = from.active.iter().map(|active| active.representation).collect();
        for (number, node) in from.fields.nodes.iter().enumerate() {
            if node.is_top {
                self.field(from, number, rows, codecs)?;
            }
        }
        self.entries += rows.iter().map(|rows| rows.end - rows.start).sum::<u64>();
        Ok(())
    }

    /// Removes all elements after they became a cluster.
    pub(super) fn clear(&mut self) {
        self.entries = 0;
        self.values.clear();
        self.columns.fill(None);
    }

    /// Takes the values of a field in `rows` of its parent.
    fn field(
        &mut self,
        from: &From<'_>,
        number: usize,
        rows: &[Range<u64>],
        codecs: &mut Codecs,
    ) -> Result<()> {
        let node = from.fields.nodes.get(number).zip(from.active.get(number));
        let (node, active) = node.ok_or_else(|| Error::fault("a field of no ntuple"))?;
        let here = |error: Error| error.in_member(&node.path);
        let rows = repeated(rows, node.repeats).map_err(here)?;
        let none = Vec::new();
        let columns = node.representations.get(active.representation).unwrap_or(&none);
        let first = columns.first().zip(active.columns.first());
        let Some((column, found)) = first else { return self.below(from, node, &rows, codecs) };
        let stored = self.begin(from, column, found).map_err(here)?;
        match stored.kind {
            Kind::Index32 | Kind::Index64 | Kind::SplitIndex32 | Kind::SplitIndex64 => {
                if node.role == STREAMED && rows.first().is_some_and(|rows| rows.start < found.zeros) {
                    return Err(here(no_zeros()));
                }
                let items = self.ends(from, column, &stored, found, &rows, codecs).map_err(here)?;
                for (column, found) in columns.iter().zip(&active.columns).skip(1) {
                    let stored = self.begin(from, column, found).map_err(here)?;
                    self.numbers(from, column, &stored, found, &items, codecs).map_err(here)?;
                }
                self.below(from, node, &items, codecs)
            }
            Kind::Switch => {
                let of = self.values_of(from, (number, column), &stored, found, &rows, codecs);
                let values = of.map_err(here)?;
                let pairs = node.children.iter().zip(&values);
                pairs.into_iter().try_for_each(|(&child, rows)| self.field(from, child, rows, codecs))
            }
            _ if columns.len() == 1 => {
                self.numbers(from, column, &stored, found, &rows, codecs).map_err(here)?;
                self.below(from, node, &rows, codecs)
            }
            kind => {
                let what = format!("choosing entries of a field of several columns of type {}", kind.name());
                Err(here(Error::unsupported(what)))
            }
        }
    }

    /// Takes the values of the children of a field.
    fn below(
        &mut self,
        from: &From<'_>,
        node: &Node,
        rows: &[Range<u64>],
        codecs: &mut Codecs,
    ) -> Result<()> {
        node.children.iter().try_for_each(|&child| self.field(from, child, rows, codecs))
    }

    /// Sets the encoding of a column in the copy. Returns the encoding in this cluster.
    fn begin(&mut self, from: &From<'_>, column: &Column, found: &Found) -> Result<Stored> {
        let stored = column.stored.clone();
        let stored = stored.map_err(|what| Error::unsupported(format!("choosing entries of {what}")))?;
        let own = match found.pages.pages.is_empty() {
            true => None,
            false => Compression::from_setting(found.pages.setting.try_into().unwrap_or(-1)).ok(),
        };
        let compression = from.anew.or(own).unwrap_or(from.otherwise);
        let to = from.stored.get(column.target).copied().flatten().unwrap_or(stored);
        if let Some(column) = self.columns.get_mut(column.target) {
            *column = Some((to, compression));
        }
        Ok(stored)
    }

    fn slot(&mut self, column: &Column) -> Result<&mut Slot> {
        self.slots.get_mut(column.target).ok_or_else(|| Error::fault("a column of no ntuple"))
    }

    /// Takes elements of a fixed size.
    fn numbers(
        &mut self,
        from: &From<'_>,
        column: &Column,
        stored: &Stored,
        found: &Found,
        rows: &[Range<u64>],
        codecs: &mut Codecs,
    ) -> Result<()> {
        let to = from.stored.get(column.target).and_then(Option::as_ref).map_or(stored.kind, |to| to.kind);
        let slot = self.slot(column)?;
        let mut elements = Elements::new(from.ntuple, found, stored);
        let mut take = |rows| {
            elements.visit(codecs, rows, |chunk| match chunk {
                Chunk::Page(wanted, page) if to.is_zigzag() != stored.kind.is_zigzag() => {
                    let turned = zigzag(page, usize::from(stored.bits) / 8, to.is_zigzag());
                    slot.append(&Chunk::Page(wanted, &turned), stored.bits)
                }
                chunk => slot.append(&chunk, stored.bits),
            })
        };
        rows.iter().try_for_each(&mut take)
    }

    /// Takes ends of lists. Returns the items in these.
    fn ends(
        &mut self,
        from: &From<'_>,
        column: &Column,
        stored: &Stored,
        found: &Found,
        rows: &[Range<u64>],
        codecs: &mut Codecs,
    ) -> Result<Rows> {
        let slot = self.slot(column)?;
        let mut elements = Elements::new(from.ntuple, found, stored);
        let mut items = Rows::new();
        let mut end = slot.ends.last().map_or(0, |end| u64::from_ne_bytes(*end));
        for rows in rows.iter().filter(|rows| !rows.is_empty()) {
            // The end of the list before them, unless that is the first of the cluster.
            let mut before = (rows.start == 0).then_some(0);
            let wanted = rows.start.saturating_sub(1)..rows.end;
            let mut one = |found: u64| {
                let Some(start) = before.replace(found) else { return Ok(()) };
                let falls = || Error::out_of_range("the beginning of a list", start, found);
                let length = found.checked_sub(start).ok_or_else(falls)?;
                end = end.checked_add(length).ok_or_else(falls)?;
                slot.end(end);
                add(&mut items, start..found);
                Ok::<_, Error>(())
            };
            elements.each(codecs, &wanted, |end: &[u8; 8]| one(u64::from_ne_bytes(*end)))?;
        }
        Ok(items)
    }

    /// Takes the elements of a variant. Returns the values of each alternative.
    fn values_of(
        &mut self,
        from: &From<'_>,
        (number, column): (usize, &Column),
        stored: &Stored,
        found: &Found,
        rows: &[Range<u64>],
        codecs: &mut Codecs,
    ) -> Result<Vec<Rows>> {
        let alternatives = from.fields.nodes.get(number).map_or(0, |node| node.children.len());
        let mut values: Vec<Rows> = vec![Rows::new(); alternatives];
        let known = &mut self.values;
        let slot = self.slots.get_mut(column.target).ok_or_else(|| Error::fault("a column of no ntuple"))?;
        let mut elements = Elements::new(from.ntuple, found, stored);
        let mut one = |element: &[u8; 12]| {
            let [a, b, c, d, e, f, g, h, tag @ ..] = *element;
            let (at, tag) = (u64::from_le_bytes([a, b, c, d, e, f, g, h]), u32::from_le_bytes(tag));
            let Some(alternative) = (tag as usize).checked_sub(1) else {
                slot.switch(0, 0);
                return Ok(());
            };
            let (found, limit) = (i64::from(tag), alternatives as i64);
            let Some(rows) = values.get_mut(alternative) else {
                return Err(Error::out_of_range("the alternative of a variant", found, limit));
            };
            if rows.last().is_some_and(|last| at < last.end) {
                return Err(Error::unsupported(
                    "choosing entries of a variant whose values are not in their order",
                ));
            }
            add(rows, at..at.saturating_add(1));
            let so_far = known.entry((number, tag)).or_default();
            slot.switch(*so_far, tag);
            *so_far += 1;
            Ok(())
        };
        rows.iter().try_for_each(|rows| elements.each(codecs, rows, &mut one))?;
        Ok(values)
    }
}

/// Encodes (`to`) or decodes zigzag numbers of a width, which are little-endian.
fn zigzag(numbers: &[u8], width: usize, to: bool) -> Vec<u8> {
    let mut turned = Vec::with_capacity(numbers.len());
    let shift = 64 - 8 * width as u32;
    for number in numbers.chunks_exact(width.clamp(1, 8)) {
        let mut bytes = [0; 8];
        bytes[..number.len()].copy_from_slice(number);
        let number = u64::from_le_bytes(bytes);
        let made = match to {
            true => {
                let signed = (number << shift).cast_signed() >> shift;
                (signed << 1) ^ (signed >> 63)
            }
            false => (number >> 1).cast_signed() ^ -((number & 1).cast_signed()),
        };
        turned.extend(&made.to_le_bytes()[..width.clamp(1, 8)]);
    }
    turned
}

/// Returns the rows of a field with `times` values in each value of the parent.
fn repeated(rows: &[Range<u64>], times: u64) -> Result<Rows> {
    let too_many = || Error::fault("more values of a field than can be counted");
    let mut all = Rows::with_capacity(rows.len());
    for rows in rows {
        let ends = rows.start.checked_mul(times).zip(rows.end.checked_mul(times));
        let (start, end) = ends.ok_or_else(too_many)?;
        add(&mut all, start..end);
    }
    Ok(all)
}
