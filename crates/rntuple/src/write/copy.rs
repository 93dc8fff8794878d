//! Ntuples copied to another file, and put one behind the other: their pages as they are stored.

use super::cluster::{Clusters, Complete};
use super::frame::{RawList, envelope};
use super::seal::{HASH, PageBytes, Sealed};
use super::{LONGEST, put};
use crate::Ntuple;
use crate::anchor::{Anchor, CLASS, VERSION};
use crate::blob::{self, Envelope};
use crate::frame::Link;
use crate::pages::Page;
use forthwith_io::{Compressor, Decompressor, xxh3};
use forthwith_plan::{Error, ErrorKind, Result};
use forthwith_root::write::{Compression, DirectoryId, FileWriter, KeyText, compress_into};
use forthwith_root::{check_record, decompress_record};
use std::cmp::Ordering;

/// An ntuple being copied, or several being merged. The header is that of the first one; pages get new
/// places, lists and numbers.
#[derive(Debug)]
pub struct NtupleCopy {
    directory: DirectoryId,
    name: String,
    header: Link,
    /// What the header and its extension say of fields and columns.
    fields: Vec<u8>,
    added: [RawList; 4],
    version: [u16; 4],
    clusters: Clusters,
    entries: u64,
    /// Elements of each column so far.
    elements: Vec<u64>,
    anew: Option<Anew>,
}

/// How pages are compressed that are not copied as they are stored.
#[derive(Debug)]
struct Anew {
    compression: Compression,
    decompressor: Decompressor,
    compressor: Compressor,
    payload: Vec<u8>,
}

impl NtupleCopy {
    /// Begins a copy of an ntuple into a directory of a new file. With a `compression`, pages are compressed in that way;
    /// what they hold, and their number, remain.
    ///
    /// # Errors
    /// The ntuple cannot be read, or has attribute sets; what the file's sink says.
    pub fn new(
        file: &mut FileWriter,
        directory: DirectoryId,
        name: &str,
        first: &Ntuple,
        compression: Option<Compression>,
    ) -> Result<Self> {
        let anew = compression.map(|compression| Anew {
            compression,
            decompressor: Decompressor::default(),
            compressor: Compressor::new(),
            payload: Vec::new(),
        });
        let header = first.header()?;
        let (added, attributes) = first.added()?;
        if attributes.items > 0 {
            return Err(Error::unsupported("copying an RNTuple with attribute sets"));
        }
        let compression = file.compression();
        let place = put(file, compression, &header, LONGEST)?;
        Ok(Self {
            directory,
            name: name.to_owned(),
            header: place,
            fields: described(&header)?,
            added,
            version: first.anchor().version.max(VERSION),
            clusters: Clusters::new(compression, blob::checksum(&header), LONGEST),
            entries: 0,
            elements: vec![0; first.schema().columns.len()],
            anew,
        })
    }

    /// Appends the entries of an ntuple. `progress` is called with the bytes of each cluster; an answer of
    /// `false` ends the copy.
    ///
    /// # Errors
    /// It has other fields or columns than the first one; columns that do not have pages in all clusters; a
    /// damaged page; what the file's sink says.
    pub fn add(
        &mut self,
        file: &mut FileWriter,
        ntuple: &Ntuple,
        progress: &mut dyn FnMut(u64) -> bool,
    ) -> Result<()> {
        let (added, attributes) = ntuple.added()?;
        let same = described(&ntuple.header()?)? == self.fields
            && added.iter().zip(&self.added).all(|(one, other)| one.bytes == other.bytes);
        if !same {
            let what = "RNTuples of unequal fields: this one has others than the first, or stores them in another way";
            return Err(Error::new(ErrorKind::Invalid { what: what.into() }));
        }
        if attributes.items > 0 {
            return Err(Error::unsupported("copying an RNTuple with attribute sets"));
        }
        let before = self.elements.clone();
        for group in ntuple.groups() {
            let list = ntuple.page_list(group)?;
            for cluster in &list.clusters {
                let (mut firsts, mut pages, mut bytes) = (Vec::new(), Vec::new(), 0);
                for (column, before) in (0..).zip(&before) {
                    let Some(found) = list.column(cluster, column)? else {
                        let what = "copying an RNTuple with columns that do not have pages in all clusters";
                        return Err(Error::unsupported(what));
                    };
                    let first = u64::try_from(found.first).unwrap_or(0).saturating_add(*before);
                    let setting = self.anew.as_ref().map(|anew| anew.compression.setting() as u32);
                    firsts.push((first, setting.unwrap_or(found.setting)));
                    let end = first.saturating_add(found.elements);
                    self.elements[column as usize] = self.elements[column as usize].max(end);
                    let bits = ntuple.schema().columns.get(column as usize).map_or(0, |column| column.bits);
                    let sealed =
                        found.pages.iter().map(|page| sealed(ntuple, page, bits, self.anew.as_mut()));
                    let sealed = sealed.collect::<Result<Vec<Sealed>>>()?;
                    bytes += sealed.iter().map(|page| page.bytes.size()).sum::<u64>();
                    pages.push(sealed);
                }
                let entries = cluster.entries.end - cluster.entries.start;
                let complete = Complete::stored(self.entries, entries, firsts, pages, self.clusters.longest);
                self.clusters.take(file, complete)?;
                self.clusters.write(file)?;
                self.entries += entries;
                if !progress(bytes) {
                    return Err(Error::new(ErrorKind::Cancelled));
                }
            }
        }
        Ok(())
    }

    /// Writes what says where the clusters are, and lists the ntuple. Answers the number of entries.
    ///
    /// # Errors
    /// What the file's sink says.
    pub fn finish(mut self, file: &mut FileWriter) -> Result<u64> {
        self.clusters.list_all(file)?;
        let [fields, columns, aliases, classes] = &self.added;
        let footer = envelope(Envelope::Footer, |frames| {
            frames.features();
            frames.u64(self.clusters.hash());
            frames.record(|frames| {
                // Also of empty ones: not all readers take an extension without lists.
                for list in [fields, columns, aliases, classes] {
                    frames.list_behind::<()>(list, &[], |_, ()| ());
                }
            });
            frames.list(&self.clusters.groups, |frames, group| {
                frames.record(|frames| {
                    frames.u64(group.first);
                    frames.u64(group.entries);
                    frames.u32(group.clusters);
                    frames.link(group.pages);
                });
            });
            // Attribute sets: there are none.
            frames.list::<()>(&[], |_, ()| ());
        });
        let footer = put(file, file.compression(), &footer, LONGEST)?;
        let anchor = Anchor { version: self.version, header: self.header, footer, longest: LONGEST };
        let payload = anchor.write();
        file.describe_class(CLASS)?;
        let key = KeyText { class: CLASS, name: &self.name, title: "" };
        file.listed(self.directory, key, payload.len(), &[&payload])?;
        Ok(self.entries)
    }
}

/// What a header says of fields and columns, without the names of the ntuple and of what wrote it.
fn described(header: &[u8]) -> Result<Vec<u8>> {
    let mut body = blob::body(header);
    body.features()?;
    for what in ["the name", "the description", "the writer"] {
        body.text(what)?;
    }
    Ok(body.bytes("the fields", body.left())?.to_vec())
}

/// A page with its checksum: the one that it has, which is compared, or a new one.
fn sealed(ntuple: &Ntuple, page: &Page, bits: u16, anew: Option<&mut Anew>) -> Result<Sealed> {
    let here = |error: Error| error.in_member("page").at_byte(page.locator.position);
    let more = if page.checksum { HASH as u64 } else { 0 };
    let bytes = ntuple.blob(page.locator, more).map_err(here)?;
    let (data, hash) = bytes.split_at(bytes.len().saturating_sub(more as usize));
    let expected = xxh3(data);
    if let Some(found) =
        hash.first_chunk().map(|hash| u64::from_le_bytes(*hash)).filter(|found| *found != expected)
    {
        let error = ErrorKind::Mismatch { what: "the checksum of a page", expected, found };
        return Err(here(Error::new(error)));
    }
    let mut stored = match anew {
        Some(anew) => {
            let length = (u64::from(page.elements) * u64::from(bits)).div_ceil(8);
            anew.page(data, length).map_err(here)?
        }
        None => data.to_vec(),
    };
    let hash = xxh3(&stored);
    stored.extend(hash.to_le_bytes());
    Ok(Sealed { elements: page.elements, bytes: PageBytes::Kept(stored) })
}

impl Anew {
    /// The bytes of a page that are `length` when decompressed, compressed again.
    fn page(&mut self, stored: &[u8], length: u64) -> Result<Vec<u8>> {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let payload = match stored.len().cmp(&length) {
            Ordering::Equal => stored,
            Ordering::Less => {
                check_record(stored, length)?;
                self.payload.resize(length, 0);
                decompress_record(stored, &mut self.payload, &mut self.decompressor)?;
                &self.payload
            }
            Ordering::Greater => {
                let (expected, found) = (length as u64, stored.len() as u64);
                let what = "the length of a page";
                return Err(ErrorKind::Mismatch { what, expected, found }.into());
            }
        };
        let mut made = Vec::new();
        if !compress_into(self.compression, payload, &mut self.compressor, &mut made)? {
            made.extend_from_slice(payload);
        }
        Ok(made)
    }
}
