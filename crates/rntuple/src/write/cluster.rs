//! Clusters that have been written, and the lists of their pages.

use super::frame::{Frames, envelope};
use super::page::Filling;
use super::seal::{HASH, Sealed, Sealer};
use crate::blob::Envelope;
use crate::frame::Locator;
use std::collections::HashMap;

/// A cluster that is in the file.
#[derive(Debug)]
pub(crate) struct Cluster {
    pub(crate) first: u64,
    pub(crate) entries: u64,
    columns: Vec<Listed>,
}

/// The pages of a column in a cluster.
#[derive(Debug)]
struct Listed {
    /// The first element, of all there are in the file.
    first: u64,
    pages: Vec<(u32, Locator)>,
}

/// Bytes that a record of pages has at most: ROOT continues what is longer in further ones, which other readers do not follow.
const LONGEST: usize = 1 << 30;

/// Pages that go to a record of the file, one after the other.
pub(crate) struct Blob {
    /// Each with its column and the number that it has there.
    pages: Vec<(usize, usize)>,
    pub(crate) length: usize,
}

/// The pages of a cluster, divided into records, column by column. A page that is there already, in this column or another one, is not
/// written again, but listed twice.
pub(crate) struct Packing {
    pub(crate) blobs: Vec<Blob>,
    /// Pages that are another one's.
    same: Vec<[(usize, usize); 2]>,
}

impl Packing {
    pub(crate) fn of(columns: &[Filling]) -> Self {
        let mut blobs: Vec<Blob> = Vec::new();
        let mut same = Vec::new();
        let mut known: HashMap<&[u8], (usize, usize)> = HashMap::new();
        for (column, filling) in columns.iter().enumerate() {
            for (number, page) in filling.pages.iter().enumerate() {
                let here = (column, number);
                // By their checksums first: those of different pages differ.
                let hash = page.stored.last_chunk::<HASH>().map_or(&[][..], |hash| hash);
                if let Some(&there) = known.get(hash)
                    && columns
                        .get(there.0)
                        .and_then(|of| of.pages.get(there.1))
                        .is_some_and(|of| of.stored == page.stored)
                {
                    same.push([here, there]);
                    continue;
                }
                known.insert(hash, here);
                let length = page.stored.len();
                match blobs.last_mut() {
                    Some(blob) if blob.length + length <= LONGEST => {
                        blob.pages.push(here);
                        blob.length += length;
                    }
                    _ => blobs.push(Blob { pages: vec![here], length }),
                }
            }
        }
        Self { blobs, same }
    }

    /// The cluster, whose records are at these positions. The columns are ready for the next one.
    pub(crate) fn cluster(
        self,
        first: u64,
        entries: u64,
        positions: &[u64],
        columns: &mut [Filling],
        sealer: &mut Sealer,
    ) -> Cluster {
        let mut listed: Vec<Listed> = columns
            .iter_mut()
            .map(|filling| {
                let first = filling.before;
                filling.next_cluster();
                let locator =
                    |page: &Sealed| Locator { size: (page.stored.len() - HASH) as u64, position: 0 };
                let pages = filling.pages.iter().map(|page| (page.elements, locator(page))).collect();
                Listed { first, pages }
            })
            .collect();
        for (blob, position) in self.blobs.iter().zip(positions) {
            let mut position = *position;
            for (column, number) in &blob.pages {
                let page = listed.get_mut(*column).and_then(|of| of.pages.get_mut(*number));
                if let Some((_, locator)) = page {
                    locator.position = position;
                    position += locator.size + HASH as u64;
                }
            }
        }
        for [here, there] in self.same {
            let found = listed.get(there.0).and_then(|of| of.pages.get(there.1)).map(|(_, locator)| *locator);
            let page = listed.get_mut(here.0).and_then(|of| of.pages.get_mut(here.1));
            if let (Some((_, locator)), Some(found)) = (page, found) {
                *locator = found;
            }
        }
        for filling in columns {
            filling.pages.drain(..).for_each(|page| sealer.reuse(page.stored));
        }
        Cluster { first, entries, columns: listed }
    }
}

impl Blob {
    /// The bytes of its pages.
    pub(crate) fn parts<'c>(&self, columns: &'c [Filling]) -> Vec<&'c [u8]> {
        let page = |(column, number): &(usize, usize)| columns.get(*column)?.pages.get(*number);
        self.pages.iter().filter_map(page).map(|page| &page.stored[..]).collect()
    }
}

/// The list of the pages of clusters. `setting` is the number of what they are compressed by.
pub(crate) fn page_list(header: u64, clusters: &[Cluster], setting: u32) -> Vec<u8> {
    envelope(Envelope::PageList, |frames| {
        frames.u64(header);
        frames.list(clusters, |frames, cluster| {
            frames.record(|frames| {
                frames.u64(cluster.first);
                // Flags would be in the upper eight bits.
                frames.u64(cluster.entries);
            });
        });
        frames.list(clusters, |frames, cluster| {
            frames.list(&cluster.columns, |frames, column| {
                let behind = |frames: &mut Frames| {
                    frames.u64(column.first);
                    frames.u32(setting);
                };
                frames.list_and(&column.pages, page, behind);
            });
        });
    })
}

fn page(frames: &mut Frames, (elements, locator): &(u32, Locator)) {
    // Negative: a checksum follows the page.
    frames.i32(-(*elements as i32));
    frames.locator(*locator);
}
