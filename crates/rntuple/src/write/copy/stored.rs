//! Pages of the source: as stored, recompressed, or their elements.

use super::fields::{Column, Node};
use crate::Ntuple;
use crate::coding::{Kind, Stored};
use crate::numbers::too_few;
use crate::pages::Numbered;
use crate::pages::{ColumnPages, Page};
use crate::planner::{expected, unwritten};
use crate::write::sealed::{PageBytes, Sealed};
use forthwith_columns::kernels::{Planes, from_planes};
use forthwith_io::{Compressor, Decompressor, xxh3};
use forthwith_plan::{Error, Result};
use forthwith_root::write::{Compression, compress_into};
use forthwith_root::{check_record, decompress_record};
use std::cmp::Ordering;
use std::ops::Range;

/// Codecs with their contexts, and a buffer for a payload.
#[derive(Debug)]
pub(super) struct Codecs {
    decompressor: Decompressor,
    compressor: Compressor,
    payload: Vec<u8>,
}

/// A column in a cluster.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) pages: ColumnPages,
    /// Number of elements that were not written because the column was added later. They come first.
    pub(super) zeros: u64,
}

/// Columns of a field in a cluster, and their representation.
#[derive(Debug)]
pub(super) struct Active {
    pub(super) representation: usize,
    pub(super) columns: Vec<Found>,
}

impl Found {
    /// Returns the number of elements, written or not.
    pub(super) fn count(&self) -> u64 {
        self.zeros.saturating_add(self.pages.elements)
    }
}

impl Active {
    /// Returns the columns of a field in a cluster.
    ///
    /// # Errors
    /// Returns an error if elements are missing and the column was not added later.
    pub(super) fn of(ntuple: &Ntuple, at: Numbered<'_>, node: &Node) -> Result<Self> {
        let expected = node.times.map(|times| expected(at, times)).transpose()?;
        let zeros = |column: &Column, number: usize, found: u64| match expected {
            // The number of items of lists does not follow from the entries.
            Some(expected) if number == 0 => unwritten(ntuple, column.source, expected, found),
            _ => Ok(0),
        };
        for (representation, of) in node.representations.iter().enumerate() {
            let Some(first) = of.first() else { continue };
            let Some(pages) = at.list.column(at.cluster, first.source)? else { continue };
            let mut columns = vec![Found { zeros: zeros(first, 0, pages.elements)?, pages }];
            for column in of.iter().skip(1) {
                let pages = at.list.column(at.cluster, column.source)?;
                let pages = pages.ok_or_else(|| Error::fault("a field of which one column has no pages"))?;
                columns.push(Found { pages, zeros: 0 });
            }
            return Ok(Self { representation, columns });
        }
        let mut columns = Vec::new();
        for (number, column) in node.representations.first().into_iter().flatten().enumerate() {
            let pages = ColumnPages { pages: Vec::new(), first: 0, elements: 0, setting: 0 };
            if !ntuple.is_late(column.source) {
                return Err(Error::fault("a field without pages in a cluster, which was not added later"));
            }
            columns.push(Found { zeros: zeros(column, number, 0)?, pages });
        }
        Ok(Self { representation: 0, columns })
    }
}

impl Codecs {
    pub(super) fn new() -> Self {
        let (decompressor, compressor) = (Decompressor::default(), Compressor::new());
        Self { decompressor, compressor, payload: Vec::new() }
    }

    /// Returns a page with its checksum, as stored or recompressed.
    pub(super) fn copied(
        &mut self,
        ntuple: &Ntuple,
        page: &Page,
        bits: u16,
        anew: Option<Compression>,
    ) -> Result<Sealed> {
        let here = |error: Error| error.in_member("page").at_byte(page.locator.position);
        let data = ntuple.page_data(page, true).map_err(here)?;
        let Some(compression) = anew else { return Ok(sealed(page.elements, data.to_vec())) };
        let length = length(page.elements, bits);
        let mut payload = std::mem::take(&mut self.payload);
        let made = self
            .decompressed(&data, length, &mut payload)
            .and_then(|payload| self.compressed(compression, page.elements, payload));
        self.payload = payload;
        made.map_err(here)
    }

    /// Compresses a payload to a page.
    pub(super) fn compressed(
        &mut self,
        compression: Compression,
        elements: u32,
        payload: &[u8],
    ) -> Result<Sealed> {
        let mut made = Vec::new();
        if !compress_into(compression, payload, &mut self.compressor, &mut made)? {
            made.extend_from_slice(payload);
        }
        Ok(sealed(elements, made))
    }

    /// Returns the elements of a page, without planes; ends of lists as 64-bit numbers.
    fn elements(&mut self, ntuple: &Ntuple, page: &Page, stored: &Stored) -> Result<Vec<u8>> {
        let data = ntuple.page_data(page, true)?;
        let mut payload = std::mem::take(&mut self.payload);
        let made = self.decompressed(&data, length(page.elements, stored.bits), &mut payload);
        let made = made.and_then(|payload| match stored.kind {
            Kind::Split(_) | Kind::Zigzag(_) | Kind::SplitHalf => whole(stored, payload, page.elements),
            Kind::SplitIndex32 | Kind::SplitIndex64 => {
                let mut end = 0_u64;
                ends(stored, &whole(stored, payload, page.elements)?, |more| {
                    end = end.wrapping_add(more);
                    end
                })
            }
            Kind::Index32 | Kind::Index64 => ends(stored, &native(stored, payload), |end| end),
            _ => Ok(payload.to_vec()),
        });
        self.payload = payload;
        made
    }

    /// Returns the payload of a page, decompressed to `into` if it is compressed.
    fn decompressed<'p>(&mut self, stored: &'p [u8], length: u64, into: &'p mut Vec<u8>) -> Result<&'p [u8]> {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        match stored.len().cmp(&length) {
            Ordering::Equal => Ok(stored),
            Ordering::Less => {
                check_record(stored, length)?;
                into.resize(length, 0);
                decompress_record(stored, into, &mut self.decompressor)?;
                Ok(into)
            }
            Ordering::Greater => Err(Error::mismatch("the length of a page", length, stored.len())),
        }
    }
}

/// Reader of the elements of a column in a cluster, which caches the last page.
#[derive(Debug)]
pub(super) struct Elements<'c> {
    ntuple: &'c Ntuple,
    found: &'c Found,
    stored: &'c Stored,
    last: Option<(usize, Vec<u8>)>,
}

/// Contiguous elements.
pub(super) enum Chunk<'e> {
    /// Elements that were not written.
    Zeros(u64),
    /// Elements of a page: the requested range, and the whole page.
    Page(Range<usize>, &'e [u8]),
}

impl<'c> Elements<'c> {
    pub(super) const fn new(ntuple: &'c Ntuple, found: &'c Found, stored: &'c Stored) -> Self {
        Self { ntuple, found, stored, last: None }
    }

    /// Calls `take` with the elements of a range, chunk by chunk.
    ///
    /// # Errors
    /// Returns an error if the column has fewer elements or a page is damaged, and errors of `take`.
    pub(super) fn visit(
        &mut self,
        codecs: &mut Codecs,
        wanted: &Range<u64>,
        mut take: impl FnMut(Chunk<'_>) -> Result<()>,
    ) -> Result<()> {
        let Found { pages, zeros } = self.found;
        if wanted.end > self.found.count() {
            return Err(Error::out_of_range(
                "the last element of a column that entries need",
                wanted.end,
                self.found.count(),
            ));
        }
        if wanted.start < *zeros && !wanted.is_empty() {
            if self.stored.kind == Kind::Quantised {
                return Err(no_zeros());
            }
            take(Chunk::Zeros((*zeros).min(wanted.end) - wanted.start))?;
        }
        let (mut at, end) = (wanted.start.max(*zeros) - zeros, wanted.end.max(*zeros) - zeros);
        while at < end {
            let behind = |page: &Page| page.start + u64::from(page.elements);
            let number = pages.pages.partition_point(|page| behind(page) <= at);
            let page = pages.pages.get(number).ok_or_else(|| Error::fault("an element in no page"))?;
            if self.last.as_ref().is_none_or(|(last, _)| *last != number) {
                let here = |error: Error| error.in_member("page").at_byte(page.locator.position);
                let elements = codecs.elements(self.ntuple, page, self.stored).map_err(here)?;
                self.last = Some((number, elements));
            }
            let Some((_, elements)) = &self.last else {
                return Err(Error::fault("a page that was not read"));
            };
            let next = end.min(behind(page));
            take(Chunk::Page((at - page.start) as usize..(next - page.start) as usize, elements))?;
            at = next;
        }
        Ok(())
    }
}

impl Elements<'_> {
    /// Calls `take` with each element of a range, each of `SIZE` bytes.
    ///
    /// # Errors
    /// Returns the errors of [`visit`](Self::visit).
    pub(super) fn each<const SIZE: usize>(
        &mut self,
        codecs: &mut Codecs,
        wanted: &Range<u64>,
        mut take: impl FnMut(&[u8; SIZE]) -> Result<()>,
    ) -> Result<()> {
        self.visit(codecs, wanted, |chunk| match chunk {
            Chunk::Zeros(count) => (0..count).try_for_each(|_| take(&[0; SIZE])),
            Chunk::Page(wanted, page) => {
                let all = page.as_chunks::<SIZE>().0.get(wanted).ok_or_else(too_few)?;
                all.iter().try_for_each(&mut take)
            }
        })
    }
}

/// Returns the error for a field without a value for entries from before it was added.
pub(super) fn no_zeros() -> Error {
    let what = "copying a field of quantised numbers, or of objects in a stream, with entries from before it was added";
    Error::unsupported(what)
}

fn sealed(elements: u32, mut stored: Vec<u8>) -> Sealed {
    let hash = xxh3(&stored);
    stored.extend(hash.to_le_bytes());
    Sealed { elements, bytes: PageBytes::Kept(stored) }
}

/// Returns the numbers in planes of bytes.
fn whole(stored: &Stored, planes: &[u8], elements: u32) -> Result<Vec<u8>> {
    let mut numbers = vec![0; planes.len()];
    let (width, all) = (usize::from(stored.bits) / 8, 0..elements as usize);
    from_planes(Planes::Plain, width, planes, all, &mut numbers)
        .map_err(|_| Error::fault("a page of other elements than its column has"))?;
    Ok(numbers)
}

/// Converts little-endian numbers to native byte order.
fn native(stored: &Stored, numbers: &[u8]) -> Vec<u8> {
    let mut made = numbers.to_vec();
    if cfg!(target_endian = "big") {
        made.chunks_exact_mut(usize::from(stored.bits / 8).max(1)).for_each(<[u8]>::reverse);
    }
    made
}

/// Converts ends of lists with `meaning`, in native byte order.
fn ends(stored: &Stored, numbers: &[u8], mut meaning: impl FnMut(u64) -> u64) -> Result<Vec<u8>> {
    let mut made = Vec::with_capacity(numbers.len() / usize::from(stored.bits / 8).max(1) * 8);
    match stored.bits {
        32 => {
            let numbers = numbers.as_chunks().0.iter().map(|number| u32::from_ne_bytes(*number).into());
            made.extend(numbers.flat_map(|number| meaning(number).to_ne_bytes()));
        }
        _ => {
            let numbers = numbers.as_chunks().0.iter().map(|number| u64::from_ne_bytes(*number));
            made.extend(numbers.flat_map(|number| meaning(number).to_ne_bytes()));
        }
    }
    Ok(made)
}

/// Returns the size of a page's payload in bytes.
fn length(elements: u32, bits: u16) -> u64 {
    (u64::from(elements) * u64::from(bits)).div_ceil(8)
}
