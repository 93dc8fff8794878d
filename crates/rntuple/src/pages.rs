//! Page lists: the pages of each column, by cluster.

use crate::frame::{Locator, Reader};
use bytes::Bytes;
use forthwith_plan::{Error, Result};
use std::{ops::Range, sync::OnceLock};

/// A page list. The pages of a column are parsed when they are needed.
#[derive(Debug)]
pub(crate) struct PageList {
    /// Bytes of the envelope.
    bytes: Bytes,
    pub(crate) clusters: Vec<Cluster>,
}

/// A cluster: its entries, and the position of its columns in the page list.
#[derive(Debug)]
pub(crate) struct Cluster {
    pub(crate) entries: Range<u64>,
    /// Range of the frame of columns in the envelope.
    columns: Range<usize>,
    pub(crate) count: u32,
    /// Offset of each column's frame.
    frames: OnceLock<Vec<u32>>,
}

/// A cluster with its index in the ntuple, and its page list.
#[derive(Clone, Copy)]
pub(crate) struct Numbered<'n> {
    pub(crate) number: u64,
    pub(crate) cluster: &'n Cluster,
    pub(crate) list: &'n PageList,
}

/// Pages of a column in a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ColumnPages {
    pub(crate) pages: Vec<Page>,
    /// Index of the first element in the column.
    pub(crate) first: i64,
    /// Number of elements in all pages.
    pub(crate) elements: u64,
    /// Compression setting of ROOT.
    pub(crate) setting: u32,
}

/// A page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Page {
    /// Number of elements in earlier pages of the cluster.
    pub(crate) start: u64,
    pub(crate) elements: u32,
    /// Whether a checksum follows the page.
    pub(crate) checksum: bool,
    pub(crate) locator: Locator,
}

/// Flag of a sharded cluster, whose pages are elsewhere.
const SHARDED: u64 = 1;

impl PageList {
    /// Parses the summaries of clusters. `header` is the header's checksum, if it is to be verified;
    /// `entries` and `count` are those of the footer.
    pub(crate) fn parse(bytes: Bytes, header: Option<u64>, entries: &Range<u64>, count: u32) -> Result<Self> {
        let mut body = crate::blob::body(&bytes);
        let begin = body;
        let found = body.u64("the header's checksum")?;
        if let Some(expected) = header.filter(|header| *header != found) {
            return Err(begin.error(Error::mismatch(
                "the header's checksum in a page list",
                expected,
                found,
            )));
        }
        let begin = body;
        let mut summaries = body.list("the clusters", 8)?;
        let mut lists = body.list("the pages of clusters", 12)?;
        for found in [summaries.items, lists.items] {
            if found != count {
                return Err(begin.error(Error::mismatch(
                    "the number of clusters of a page list",
                    count,
                    found,
                )));
            }
        }
        let mut clusters = Vec::with_capacity(count as usize);
        let mut end = entries.start;
        for _ in 0..count {
            let begin = summaries.rest;
            let mut summary = summaries.rest.record("a cluster")?;
            let (first, word) = (summary.u64("a cluster")?, summary.u64("a cluster")?);
            if (word >> 56) & SHARDED != 0 {
                return Err(begin.error(Error::unsupported("a sharded cluster")));
            }
            if first != end {
                return Err(begin.error(Error::mismatch("the first entry of a cluster", end, first)));
            }
            // The sum is below 2^64, as both are below 2^63.
            end += word & ((1 << 56) - 1);
            if end > entries.end {
                return Err(begin.error(Error::out_of_range(
                    "the last entry of a cluster",
                    end,
                    entries.end,
                )));
            }
            let columns = lists.rest.list("the columns of a cluster", 12)?;
            let start = columns.rest.position() as usize;
            clusters.push(Cluster {
                entries: first..end,
                columns: start..start + columns.rest.left(),
                count: columns.items,
                frames: OnceLock::new(),
            });
        }
        if end != entries.end {
            let what = "the last entry of the clusters of a group";
            return Err(begin.error(Error::mismatch(what, entries.end, end)));
        }
        Ok(Self { bytes, clusters })
    }

    /// Returns the pages of a column in a cluster, or `None` if the column was added later or is suppressed.
    pub(crate) fn column(&self, cluster: &Cluster, column: u32) -> Result<Option<ColumnPages>> {
        let frames = match cluster.frames.get() {
            Some(frames) => frames,
            None => {
                let found = self.frames(cluster)?;
                cluster.frames.get_or_init(|| found)
            }
        };
        let Some(at) = frames.get(column as usize) else { return Ok(None) };
        let mut reader = self.reader(*at as usize..cluster.columns.end);
        let begin = reader;
        let list = reader.list("the pages of a column", 16)?;
        let mut rest = list.rest;
        let mut pages = Vec::with_capacity(list.items as usize);
        let mut elements = 0;
        for _ in 0..list.items {
            let count = rest.i32("a page")?;
            let locator = rest.locator("a page")?;
            pages.push(Page {
                start: elements,
                elements: count.unsigned_abs(),
                checksum: count < 0,
                locator,
            });
            elements += u64::from(count.unsigned_abs());
        }
        let first = rest.i64("the first element of a column")?;
        if first < 0 {
            if !pages.is_empty() {
                return Err(begin.error(Error::invalid("a suppressed column with pages")));
            }
            return Ok(None);
        }
        let setting = if rest.left() < 4 { 0 } else { rest.u32("the compression of a column")? };
        Ok(Some(ColumnPages { pages, first, elements, setting }))
    }

    fn frames(&self, cluster: &Cluster) -> Result<Vec<u32>> {
        let mut reader = self.reader(cluster.columns.clone());
        let mut frames = Vec::with_capacity(cluster.count as usize);
        for _ in 0..cluster.count {
            frames.push(u32::try_from(reader.position()).unwrap_or(u32::MAX));
            reader.list("the pages of a column", 0)?;
        }
        Ok(frames)
    }

    fn reader(&self, range: Range<usize>) -> Reader<'_> {
        Reader::new(self.bytes.get(range.clone()).unwrap_or_default(), range.start)
    }
}
