//! Written clusters, and their page lists.

use super::frame::{Frames, RawList, envelope};
use super::open_cluster::Filling;
use super::seal::HASH;
use super::sealed::{PageBytes, Sealed};
use super::stored::{LONGEST, put, record, within};
use crate::anchor::{Anchor, CLASS};
use crate::blob::Envelope;
use crate::frame::{Link, Locator};
use forthwith_plan::Result;
use forthwith_root::write::{Compression, DirectoryId, FileWriter, KeyText};
use std::collections::HashMap;

/// Clusters of an ntuple: those in the file, and a complete one that is written while the pages of the next
/// are sealed.
#[derive(Debug)]
pub(crate) struct Clusters {
    compression: Compression,
    /// Checksum of the header.
    hash: u64,
    /// Maximum size of a record of pages, in bytes.
    pub(crate) longest: u64,
    waiting: Option<Complete>,
    /// Clusters that are not in a page list yet.
    listed: Vec<Cluster>,
    pub(crate) groups: Vec<Group>,
    /// Buffers of written pages, for reuse.
    pub(crate) spare: Vec<Vec<u8>>,
}

/// Clusters that have a page list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group {
    pub(crate) first: u64,
    pub(crate) entries: u64,
    pub(crate) clusters: u32,
    pub(crate) pages: Link,
}

/// Maximum number of clusters that share a page list.
const CLUSTERS_IN_GROUP: usize = 4096;

impl Clusters {
    pub(crate) fn new(compression: Compression, hash: u64, longest: u64) -> Self {
        // A new ntuple only has the limit of this writer.
        let longest = if longest == 0 { LONGEST } else { longest.min(LONGEST) };
        Self {
            compression,
            hash,
            longest,
            waiting: None,
            listed: Vec::new(),
            groups: Vec::new(),
            spare: Vec::new(),
        }
    }

    /// Takes a complete cluster, after writing the previous one.
    pub(crate) fn take(&mut self, file: &mut FileWriter, complete: Complete) -> Result<()> {
        self.write(file)?;
        self.waiting = Some(complete);
        Ok(())
    }

    /// Writes the pending cluster, if there is one.
    pub(crate) fn write(&mut self, file: &mut FileWriter) -> Result<()> {
        let Some(mut complete) = self.waiting.take() else { return Ok(()) };
        complete.blobs.iter().try_for_each(|blob| within(blob.length, self.longest))?;
        let cluster = complete.write(file)?;
        self.listed.push(cluster);
        let kept = |page: Sealed| match page.bytes {
            PageBytes::Kept(bytes) => Some(bytes),
            PageBytes::Written { .. } => None,
        };
        self.spare.extend(complete.pages.drain(..).flatten().filter_map(kept));
        if self.listed.len() >= CLUSTERS_IN_GROUP { self.list(file) } else { Ok(()) }
    }

    /// Writes the page list of all clusters so far, including the pending one.
    fn list_all(&mut self, file: &mut FileWriter) -> Result<()> {
        self.write(file)?;
        self.list(file)
    }

    /// Ends the ntuple: writes the remaining page lists, the footer and the anchor. `extension` writes the
    /// schema extension of the footer.
    pub(crate) fn end(
        &mut self,
        file: &mut FileWriter,
        (directory, name): (DirectoryId, &str),
        anchor: Anchor,
        attributes: &RawList,
        extension: impl FnOnce(&mut Frames),
    ) -> Result<()> {
        self.list_all(file)?;
        let footer = envelope(Envelope::Footer, |frames| {
            frames.features();
            frames.u64(self.hash);
            frames.record(extension);
            frames.list(&self.groups, |frames, group| {
                frames.record(|frames| {
                    frames.u64(group.first);
                    frames.u64(group.entries);
                    frames.u32(group.clusters);
                    frames.link(group.pages);
                });
            });
            frames.list_behind::<()>(attributes, &[], |_, ()| ());
        });
        let footer = put(file, self.compression, &footer, self.longest)?;
        let payload = Anchor { footer, ..anchor }.write();
        file.describe_class(CLASS)?;
        let key = KeyText { class: CLASS, name, title: "" };
        file.listed(directory, key, payload.len(), &[&payload])?;
        Ok(())
    }

    fn list(&mut self, file: &mut FileWriter) -> Result<()> {
        let clusters = std::mem::take(&mut self.listed);
        let (Some(first), Some(last)) = (clusters.first(), clusters.last()) else { return Ok(()) };
        let (first, end) = (first.first, last.first + last.entries);
        let list = page_list(self.hash, &clusters);
        let pages = put(file, self.compression, &list, self.longest)?;
        let count = clusters.len() as u32;
        self.groups.push(Group { first, entries: end - first, clusters: count, pages });
        Ok(())
    }
}

/// A cluster in the file.
#[derive(Debug)]
struct Cluster {
    first: u64,
    entries: u64,
    columns: Vec<Listed>,
}

/// Index of a column's first element in a cluster, and ROOT's compression setting; `None` if the cluster has
/// another representation of the column.
pub(crate) type Place = Option<(u64, u32)>;

/// First element of a suppressed column, of which the cluster has another representation.
const SUPPRESSED: u64 = 1 << 63;

/// Pages of a column in a cluster.
#[derive(Debug)]
struct Listed {
    place: Place,
    pages: Vec<(u32, Locator)>,
}

/// A cluster whose pages are all sealed.
///
/// New pages are divided into records, column by column. Pages with equal bytes, in the same column or
/// another one, are written once and listed several times.
#[derive(Debug)]
pub(crate) struct Complete {
    first: u64,
    entries: u64,
    /// Place and pages of each column.
    places: Vec<Place>,
    pages: Vec<Vec<Sealed>>,
    blobs: Vec<Blob>,
    /// Pages that are equal to an earlier one, with that.
    same: Vec<[PageId; 2]>,
}

/// A column, and the index of a page in it.
type PageId = (usize, usize);

/// Pages of one record, contiguous.
#[derive(Debug)]
struct Blob {
    pages: Vec<PageId>,
    length: usize,
}

impl Complete {
    /// Takes the pages of columns, which then begin the next cluster.
    pub(crate) fn of(first: u64, entries: u64, columns: &mut [Filling], longest: u64) -> Self {
        let place = |filling: &Filling| Some((filling.before, filling.elements.compression.setting() as u32));
        let places = columns.iter().map(place).collect();
        let pages: Vec<Vec<Sealed>> = columns.iter_mut().map(Filling::next_cluster).collect();
        let (blobs, same) = packed(&pages, longest);
        Self { first, entries, places, pages, blobs, same }
    }

    /// Takes pages that were copied from another file, or made from such pages.
    pub(crate) fn stored(
        first: u64,
        entries: u64,
        places: Vec<Place>,
        pages: Vec<Vec<Sealed>>,
        longest: u64,
    ) -> Self {
        let (blobs, same) = packed(&pages, longest);
        Self { first, entries, places, pages, blobs, same }
    }

    /// Returns the size of its pages in the file, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        let written = self.pages.iter().flatten().filter(|page| page.bytes.kept().is_none());
        let written: u64 = written.map(|page| page.bytes.size()).sum();
        written + self.blobs.iter().map(|blob| blob.length as u64).sum::<u64>()
    }

    fn write(&self, file: &mut FileWriter) -> Result<Cluster> {
        let locator = |page: &Sealed| {
            let size = page.bytes.size() - HASH as u64;
            let position = if let PageBytes::Written { position, .. } = page.bytes { position } else { 0 };
            Locator { size, position }
        };
        let listed = |(&place, pages): (&Place, &Vec<Sealed>)| {
            let pages = pages.iter().map(|page| (page.elements, locator(page))).collect();
            Listed { place, pages }
        };
        let mut columns: Vec<Listed> = self.places.iter().zip(&self.pages).map(listed).collect();
        for blob in &self.blobs {
            let page = |id: &PageId| self.pages.get(id.0)?.get(id.1);
            let parts = blob.pages.iter().filter_map(page).filter_map(|page| page.bytes.kept());
            let parts: Vec<&[u8]> = parts.collect();
            let mut position = record(file, blob.length, &parts)?;
            for id in &blob.pages {
                if let Some((_, locator)) = columns.get_mut(id.0).and_then(|of| of.pages.get_mut(id.1)) {
                    locator.position = position;
                    position += locator.size + HASH as u64;
                }
            }
        }
        for [here, there] in &self.same {
            let found =
                columns.get(there.0).and_then(|of| of.pages.get(there.1)).map(|(_, locator)| *locator);
            let page = columns.get_mut(here.0).and_then(|of| of.pages.get_mut(here.1));
            if let (Some((_, locator)), Some(found)) = (page, found) {
                *locator = found;
            }
        }
        Ok(Cluster { first: self.first, entries: self.entries, columns })
    }
}

/// Divides new pages into records, and finds equal pages.
fn packed(columns: &[Vec<Sealed>], longest: u64) -> (Vec<Blob>, Vec<[PageId; 2]>) {
    let mut blobs: Vec<Blob> = Vec::new();
    let mut same = Vec::new();
    let mut known: HashMap<&[u8], PageId> = HashMap::new();
    for (column, pages) in columns.iter().enumerate() {
        for (number, page) in pages.iter().enumerate() {
            let here = (column, number);
            let Some(stored) = page.bytes.kept() else { continue };
            // Pages with different checksums differ.
            let hash = stored.last_chunk::<HASH>().map_or(&[][..], |hash| hash);
            let equal = |id: &PageId| {
                let there = columns.get(id.0).and_then(|pages| pages.get(id.1));
                there.and_then(|of| of.bytes.kept()) == Some(stored)
            };
            if let Some(there) = known.get(hash).filter(|id| equal(id)) {
                same.push([here, *there]);
                continue;
            }
            known.insert(hash, here);
            let length = stored.len();
            match blobs.last_mut() {
                Some(blob) if (blob.length + length) as u64 <= longest => {
                    blob.pages.push(here);
                    blob.length += length;
                }
                _ => blobs.push(Blob { pages: vec![here], length }),
            }
        }
    }
    (blobs, same)
}

/// Returns the page list of clusters.
fn page_list(header: u64, clusters: &[Cluster]) -> Vec<u8> {
    envelope(Envelope::PageList, |frames| {
        frames.u64(header);
        frames.list(clusters, |frames, cluster| {
            frames.record(|frames| {
                frames.u64(cluster.first);
                // The upper eight bits are flags.
                frames.u64(cluster.entries);
            });
        });
        frames.list(clusters, |frames, cluster| {
            frames.list(&cluster.columns, |frames, column| {
                let behind = |frames: &mut Frames| match column.place {
                    Some((first, setting)) => {
                        frames.u64(first);
                        frames.u32(setting);
                    }
                    None => frames.u64(SUPPRESSED),
                };
                frames.list_and(&column.pages, page, behind);
            });
        });
    })
}

fn page(frames: &mut Frames, (elements, locator): &(u32, Locator)) {
    // A negative number tells that a checksum follows the page.
    frames.i32(-(*elements as i32));
    frames.locator(*locator);
}
