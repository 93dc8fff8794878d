//! Copies ntuples to another file, and merges them: the pages of completely selected clusters are copied as
//! stored.

mod cut;
mod fields;
mod slot;
mod stored;

use super::cluster::{Clusters, Complete, Place};
use super::frame::{RawList, envelope};
use super::sealed::{PageBytes, Sealed};
use super::stored::{LONGEST, put, record};
use crate::Ntuple;
use crate::anchor::{Anchor, VERSION};
use crate::blob::{self, Envelope};
use crate::coding::{Kind, Stored};
use crate::frame::Link;
use crate::pages::Numbered;
use crate::schema::STREAMED;
use cut::{Cut, From};
use fields::{Column, Described, Fields, IsKept, Node};
use forthwith_plan::{Error, ErrorKind, Result};
use forthwith_root::write::{Compression, DirectoryId, FileWriter};
use std::ops::Range;
use stored::{Active, Codecs, Found, no_zeros};

/// Copy of an ntuple, or merge of several. The fields are those of the first one; pages get new positions,
/// page lists and indexes.
///
/// Partly selected clusters are divided: for each column, the elements of the selected entries become pages
/// of a new cluster, in the same encoding. Entries from before a column was added get elements of zero, since
/// those of another file may precede them. Clusters of another ntuple whose columns have other encodings of
/// the same elements are divided in the same way, and encoded as those of the first.
#[derive(Debug)]
pub struct NtupleCopy {
    directory: DirectoryId,
    name: String,
    header: Link,
    described: Described,
    version: [u16; 4],
    clusters: Clusters,
    entries: u64,
    /// Number of elements of each column so far. For several representations, the first counts those of all.
    elements: Vec<u64>,
    /// For each column, the column by which elements are counted.
    counted: Vec<usize>,
    cut: Cut,
    /// Encoding of each column, as far as it is known.
    stored: Vec<Option<Stored>>,
    anew: Option<Compression>,
    codecs: Codecs,
}

/// An added ntuple, with the fields that are copied.
struct Added<'a> {
    ntuple: &'a Ntuple,
    fields: &'a Fields,
}

impl NtupleCopy {
    /// Begins a copy of an ntuple into a directory of a new file. It has the top-level fields whose path, or
    /// the paths of all of whose members, `is_kept` accepts, and the fields that these project. With a
    /// `compression`, pages are recompressed, with the same elements.
    ///
    /// # Errors
    /// Returns an error if the ntuple is damaged or has attribute sets, if only some parts of a field are
    /// selected, or if writing fails.
    pub fn new(
        file: &mut FileWriter,
        directory: DirectoryId,
        name: &str,
        first: &Ntuple,
        is_kept: &IsKept<'_>,
        compression: Option<Compression>,
    ) -> Result<Self> {
        let (fields, described) = Fields::of(first, is_kept)?;
        let header = envelope(Envelope::Header, |frames| {
            frames.features();
            described.texts.iter().for_each(|text| frames.blob(text));
            described.header.iter().for_each(|list| frames.list_behind::<()>(list, &[], |_, ()| ()));
        });
        let place = put(file, file.compression(), &header, LONGEST)?;
        Ok(Self {
            directory,
            name: name.to_owned(),
            header: place,
            described,
            version: first.anchor().version.max(VERSION),
            clusters: Clusters::new(file.compression(), blob::checksum(&header), LONGEST),
            entries: 0,
            elements: vec![0; fields.columns],
            counted: fields.counted(),
            cut: Cut::new(&fields),
            stored: fields.stored(),
            anew: compression,
            codecs: Codecs::new(),
        })
    }

    /// Appends entries of an ntuple: all, or those in ascending ranges. `progress` is called with the bytes
    /// of each cluster. Returning `false` cancels the copy.
    ///
    /// # Errors
    /// Returns an error if the selected fields or columns differ from those of the first ntuple, if a page is
    /// damaged, if entries of its columns cannot be selected, or if writing fails.
    pub fn add(
        &mut self,
        file: &mut FileWriter,
        ntuple: &Ntuple,
        is_kept: &IsKept<'_>,
        entries: Option<&[Range<u64>]>,
        progress: &mut dyn FnMut(u64) -> bool,
    ) -> Result<()> {
        let (fields, described) = Fields::of(ntuple, is_kept)?;
        let stored = fields.stored();
        let is_like = described.is_like(&self.described)?
            && self.stored.iter().zip(&stored).all(|pair| match pair {
                (Some(to), Some(from)) => to.has_elements_of(from),
                (to, from) => to == from,
            });
        if !is_like {
            let what = "RNTuples of unequal fields: this one has others than the first, or stores them as other numbers";
            return Err(Error::invalid(what));
        }
        let as_stored = self.stored == stored;
        let added = Added { ntuple, fields: &fields };
        let mut number = 0;
        for group in ntuple.groups() {
            let first = number;
            number += u64::from(group.clusters);
            if entries.is_some_and(|ranges| within(ranges, &group.entries).is_empty()) {
                continue;
            }
            let list = ntuple.page_list(group)?;
            for (number, cluster) in (first..).zip(&list.clusters) {
                let at = Numbered { number, cluster, list: &list };
                let rows = entries.map(|ranges| within(ranges, &cluster.entries));
                let copied = self.cluster(file, &added, at, rows, as_stored);
                let bytes = copied.map_err(|error| error.in_block(number).in_unit("cluster"))?;
                if !progress(bytes) {
                    return Err(Error::new(ErrorKind::Cancelled));
                }
            }
        }
        Ok(())
    }

    /// Writes the footer and the anchor, and adds the ntuple to its directory. Returns the number of entries.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    pub fn finish(mut self, file: &mut FileWriter) -> Result<u64> {
        self.end_cut(file)?;
        let anchor =
            Anchor { version: self.version, header: self.header, footer: self.header, longest: LONGEST };
        let (place, added) = ((self.directory, &*self.name), &self.described.added);
        // Attribute sets are not copied.
        self.clusters.end(file, place, anchor, &RawList::default(), |frames| {
            // Written also if it is empty, as not all readers accept an extension without lists.
            for list in added {
                frames.list_behind::<()>(list, &[], |_, ()| ());
            }
        })?;
        Ok(self.entries)
    }

    /// Copies a cluster, or the entries `rows` of it, which count from its first. `as_stored` is set unless
    /// its columns have another encoding. Returns the number of bytes.
    fn cluster(
        &mut self,
        file: &mut FileWriter,
        added: &Added<'_>,
        at: Numbered<'_>,
        rows: Option<Vec<Range<u64>>>,
        as_stored: bool,
    ) -> Result<u64> {
        let span = at.cluster.entries.end - at.cluster.entries.start;
        let all = 0..span;
        let rows = match as_stored {
            true => rows.filter(|rows| rows.first() != Some(&all)),
            false => Some(rows.unwrap_or_else(|| vec![all])),
        };
        if rows.as_ref().is_some_and(Vec::is_empty) {
            return Ok(0);
        }
        let Added { ntuple, fields } = *added;
        let active = |node: &Node| Active::of(ntuple, at, node).map_err(|error| error.in_member(&node.path));
        let active = fields.nodes.iter().map(active).collect::<Result<Vec<Active>>>()?;
        let Some(rows) = rows else { return self.whole(file, added, &active, span) };
        if self.cut.is_full() || !self.cut.takes(&active) {
            self.end_cut(file)?;
        }
        let (anew, otherwise) = (self.anew, file.compression());
        let from = From { ntuple, fields, active: &active, stored: &self.stored, anew, otherwise };
        let before = self.cut.size();
        self.cut.take(&from, &rows, &mut self.codecs)?;
        Ok(self.cut.size() - before)
    }

    /// Copies the pages of a cluster.
    fn whole(
        &mut self,
        file: &mut FileWriter,
        added: &Added<'_>,
        active: &[Active],
        entries: u64,
    ) -> Result<u64> {
        self.end_cut(file)?;
        let mut places: Vec<Place> = vec![None; self.elements.len()];
        let mut pages: Vec<Vec<Sealed>> = self.elements.iter().map(|_| Vec::new()).collect();
        for (node, active) in added.fields.nodes.iter().zip(active) {
            let Some(columns) = node.representations.get(active.representation) else { continue };
            for (column, found) in columns.iter().zip(&active.columns) {
                let here = |error: Error| error.in_member(&node.path);
                let made = self.column(file, added.ntuple, node, column, found).map_err(here)?;
                let setting = match (self.anew, found.pages.pages.is_empty()) {
                    (Some(anew), _) => anew.setting() as u32,
                    (None, true) => file.compression().setting() as u32,
                    (None, false) => found.pages.setting,
                };
                let counted = self.counted.get(column.target).copied().unwrap_or(column.target);
                let first = self.advance(counted, found.count());
                if let (Some(place), Some(pages)) =
                    (places.get_mut(column.target), pages.get_mut(column.target))
                {
                    (*place, *pages) = (Some((first, setting)), made);
                }
            }
        }
        let bytes = pages.iter().flatten().map(|page| page.bytes.size()).sum();
        self.write(file, entries, places, pages)?;
        Ok(bytes)
    }

    /// Returns the copied pages of a column in a cluster, after pages of its unwritten elements.
    fn column(
        &mut self,
        file: &mut FileWriter,
        ntuple: &Ntuple,
        node: &Node,
        column: &Column,
        found: &Found,
    ) -> Result<Vec<Sealed>> {
        let mut pages = Vec::new();
        if found.zeros > 0 {
            let is_unknown = match &column.stored {
                Ok(stored) => stored.kind == Kind::Quantised,
                Err(_) => true,
            };
            if is_unknown || node.role == STREAMED {
                return Err(no_zeros());
            }
            let compression = self.anew.unwrap_or(file.compression());
            self.zeros(file, found.zeros, column.bits, compression, &mut pages)?;
        }
        for page in &found.pages.pages {
            pages.push(self.codecs.copied(ntuple, page, column.bits, self.anew)?);
        }
        Ok(pages)
    }

    /// Adds pages of zeros, of which all but the last are one page in the file.
    fn zeros(
        &mut self,
        file: &mut FileWriter,
        count: u64,
        bits: u16,
        compression: Compression,
        pages: &mut Vec<Sealed>,
    ) -> Result<()> {
        let most = slot::most(bits);
        let mut page = |elements: u64| {
            let payload = vec![0; (elements * u64::from(bits)).div_ceil(8) as usize];
            self.codecs.compressed(compression, elements as u32, &payload)
        };
        if count > most {
            let sealed = page(most)?;
            let Some(bytes) = sealed.bytes.kept() else { return Ok(()) };
            let size = bytes.len() as u64;
            let position = record(file, bytes.len(), &[bytes])?;
            let same = || Sealed { elements: most as u32, bytes: PageBytes::Written { position, size } };
            pages.extend((0..count / most).map(|_| same()));
        }
        let rest = if count > most { count % most } else { count };
        if rest > 0 {
            pages.push(page(rest)?);
        }
        Ok(())
    }

    /// Writes the collected entries as a cluster.
    fn end_cut(&mut self, file: &mut FileWriter) -> Result<()> {
        if self.cut.entries == 0 {
            return Ok(());
        }
        let mut places: Vec<Place> = Vec::with_capacity(self.elements.len());
        let mut pages = Vec::with_capacity(self.elements.len());
        let mut made = Vec::new();
        for (slot, column) in self.cut.slots.iter_mut().zip(&self.cut.columns) {
            let Some((stored, compression)) = column else {
                made.push((None, Vec::new()));
                continue;
            };
            let count = slot.count;
            let of = slot.pages(stored, *compression, &mut self.codecs)?;
            made.push((Some((count, compression.setting() as u32)), of));
        }
        for (column, (amount, of)) in made.into_iter().enumerate() {
            let counted = self.counted.get(column).copied().unwrap_or(column);
            places.push(amount.map(|(count, setting)| (self.advance(counted, count), setting)));
            pages.push(of);
        }
        let entries = self.cut.entries;
        self.cut.clear();
        self.write(file, entries, places, pages)
    }

    /// Returns the index of a column's next element, and advances it by `count`.
    fn advance(&mut self, column: usize, count: u64) -> u64 {
        let Some(elements) = self.elements.get_mut(column) else { return 0 };
        let first = *elements;
        *elements = first.saturating_add(count);
        first
    }

    fn write(
        &mut self,
        file: &mut FileWriter,
        entries: u64,
        places: Vec<Place>,
        pages: Vec<Vec<Sealed>>,
    ) -> Result<()> {
        let complete = Complete::stored(self.entries, entries, places, pages, self.clusters.longest);
        self.clusters.take(file, complete)?;
        self.clusters.write(file)?;
        self.entries += entries;
        Ok(())
    }
}

/// Returns the parts of ranges that are within `part`, relative to its start.
fn within(ranges: &[Range<u64>], part: &Range<u64>) -> Vec<Range<u64>> {
    let from = ranges.partition_point(|range| range.end <= part.start);
    let inside = ranges.iter().skip(from).take_while(|range| range.start < part.end);
    let cut = |range: &Range<u64>| {
        let (start, end) = (range.start.max(part.start), range.end.min(part.end));
        start - part.start..end.max(start) - part.start
    };
    inside.map(cut).filter(|range| !range.is_empty()).collect()
}
