//! Makes new anchors for ntuples whose anchor is missing or damaged, from the records of their envelopes.
//!
//! An ntuple has a header, a footer and page lists, which have the header's checksum in common. The anchor
//! has the positions of header and footer. If the footer is missing, too, a new one is made from the page
//! lists.

use crate::anchor::{Anchor, CLASS, VERSION};
use crate::blob::{self, Envelope};
use crate::footer::{ClusterGroup, Footer};
use crate::frame::{Link, Locator};
use crate::ntuple::{Ntuple, Options};
use crate::schema::Schema;
use crate::write::{Frames, LONGEST, envelope};
use bytes::Bytes;
use forthwith_io::{Source, xxh3};
use forthwith_plan::{Dataset, Error, ErrorKind, Result};
use forthwith_root::{Found, Key, RootFile};
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    ops::Range,
    sync::Arc,
};

/// A new anchor.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LostAnchor {
    /// Name of its ntuple, which is in the top directory of the file.
    pub name: String,
    /// Cycle of its key.
    pub cycle: u16,
    /// Whether the footer is new as well, made from page lists.
    pub has_new_footer: bool,
}

/// An envelope to which no anchor leads.
struct FoundEnvelope {
    link: Link,
    bytes: Bytes,
}

/// Envelopes of a file, by kind.
#[derive(Default)]
struct Envelopes {
    headers: Vec<FoundEnvelope>,
    footers: Vec<FoundEnvelope>,
    lists: Vec<FoundEnvelope>,
    /// Total size of all envelopes, in bytes.
    bytes: u64,
}

/// Maximum size of an envelope in bytes: larger records are pages.
const LARGEST: u64 = 64 << 20;
/// Maximum size of all envelopes in bytes, as few stored bytes may decompress to many.
const MOST_BYTES: u64 = 512 << 20;
/// Maximum length of a name in bytes.
const LONGEST_NAME: usize = 1 << 12;
/// Class of the records of ntuples.
const BLOB: &str = "RBlob";

/// Makes anchors for the ntuples of a file without a readable one. Returns records to append to the file, and
/// the anchors in them. With `damaged_only`, only ntuples with a damaged anchor get one, as deleted ntuples
/// may leave their records in a file.
///
/// # Errors
/// Returns an error if the source cannot be read.
pub fn lost_anchors(file: &RootFile, damaged_only: bool) -> Result<(Vec<u8>, Vec<LostAnchor>)> {
    let keys = file.keys_recursive()?;
    let (mut known, mut damaged) = (HashSet::new(), HashSet::new());
    for found in keys.iter().filter(|found| &*found.key.class_name == CLASS) {
        match Ntuple::open(file, found, Options::default()) {
            Ok(ntuple) => note_headers(&ntuple, &mut known),
            Err(error) if ends(&error) => return Err(error),
            Err(_) => drop(damaged.insert(found.key.name.to_string())),
        }
    }
    let mut envelopes = Envelopes::default();
    if !damaged_only || !damaged.is_empty() {
        for found in keys.iter().filter(|found| &*found.key.class_name == BLOB) {
            envelopes.take(file.source().as_ref(), &found.key)?;
        }
    }
    // Footers and page lists refer to their header by its checksum. Two ntuples with the same name and schema
    // have the same checksum, so that these cannot be assigned.
    let mut hashes: HashMap<u64, usize> = HashMap::new();
    for header in &envelopes.headers {
        *hashes.entry(blob::checksum(&header.bytes)).or_default() += 1;
    }
    let mut tail = Tail { at: file.source().size()?, bytes: Vec::new() };
    let mut made = Vec::new();
    for header in &envelopes.headers {
        let Some((name, datime)) = name(header, &keys) else { continue };
        let is_known = known.contains(&header.link.locator.position);
        let is_single = hashes.get(&blob::checksum(&header.bytes)) == Some(&1);
        if is_known || !is_single || (damaged_only && !damaged.contains(&name)) {
            continue;
        }
        let Some((anchor, has_new_footer)) = envelopes.anchor(file, header, &name, &mut tail, &mut known)?
        else {
            continue;
        };
        let cycles = keys.iter().filter(|found| found.path == name).map(|found| found.key.cycle);
        let others = made.iter().filter(|other: &&LostAnchor| other.name == name).map(|other| other.cycle);
        let cycle = cycles.chain(others).max().unwrap_or(0).saturating_add(1);
        let directory = file.header().begin;
        let key = Key { datime, cycle, ..Key::of_stored(CLASS, &name, tail.at, directory) };
        tail.record(key, &anchor.write());
        made.push(LostAnchor { name, cycle, has_new_footer });
    }
    Ok((tail.bytes, made))
}

/// Returns whether an error is not caused by damage, so that the search ends.
fn ends(error: &Error) -> bool {
    matches!(error.kind, ErrorKind::Cancelled | ErrorKind::OutOfMemory { .. })
        || (matches!(error.kind, ErrorKind::Source(_)) && !error.is_damage())
}

/// Adds the positions of the headers of an ntuple and its attribute sets.
fn note_headers(ntuple: &Ntuple, known: &mut HashSet<u64>) {
    known.insert(ntuple.anchor().header.locator.position);
    for name in ntuple.attribute_names() {
        if let Ok(set) = ntuple.attribute_set(&name) {
            known.insert(set.anchor().header.locator.position);
        }
    }
}

/// Returns the name of an ntuple from its header, and the time when that was written.
fn name(header: &FoundEnvelope, keys: &[Found]) -> Option<(String, forthwith_root::Datime)> {
    let mut body = blob::body(&header.bytes);
    body.features().ok()?;
    let name = body.text("the name").ok().filter(|name| (1..=LONGEST_NAME).contains(&name.len()))?;
    let position = header.link.locator.position;
    let key = keys.iter().find(|found| found.key.seek + u64::from(found.key.keylen) == position)?;
    Some((name, key.key.datime))
}

/// Records to append to a file.
struct Tail {
    at: u64,
    bytes: Vec<u8>,
}

impl Tail {
    /// Appends a record. Returns the position of its payload.
    fn record(&mut self, key: Key, payload: &[u8]) -> Locator {
        let record = key.with_payload(payload);
        let position = self.at + (record.len() - payload.len()) as u64;
        self.at += record.len() as u64;
        self.bytes.extend(record);
        Locator { size: payload.len() as u64, position }
    }
}

impl Envelopes {
    /// Adds the envelope in a record, if it is valid.
    fn take(&mut self, source: &dyn Source, key: &Key) -> Result<()> {
        let keylen = u64::from(key.keylen);
        let Some(size) = u64::try_from(key.nbytes).ok().and_then(|bytes| bytes.checked_sub(keylen)) else {
            return Ok(());
        };
        let length = u64::from(key.objlen);
        if length < 16 || length > LARGEST.min(MOST_BYTES - self.bytes) || size > length {
            return Ok(());
        }
        let link = Link { length, locator: Locator { size, position: key.seek + keylen } };
        if size == length {
            // The first word tells whether it is an envelope.
            let word = source.read_one(link.locator.position..link.locator.position + 8)?;
            let word = word.first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
            if word >> 16 != length || !(1..=3).contains(&(word & 0xffff)) {
                return Ok(());
            }
        }
        let what = ["the stored length", "an envelope"];
        let stored = source.read_one(link.locator.range()?)?;
        let bytes = match blob::decompressed(&stored, length, what) {
            Ok(bytes) => bytes,
            Err(error) if ends(&error) => return Err(error),
            Err(_) => return Ok(()),
        };
        let word = bytes.first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
        let is_whole = bytes
            .split_last_chunk()
            .is_some_and(|(all, hash)| word >> 16 == length && xxh3(all) == u64::from_le_bytes(*hash));
        let list = match word & 0xffff {
            1 => &mut self.headers,
            2 => &mut self.footers,
            3 => &mut self.lists,
            _ => return Ok(()),
        };
        if is_whole {
            self.bytes += length;
            list.push(FoundEnvelope { link, bytes });
        }
        Ok(())
    }

    /// Returns an anchor for the ntuple of a header, with the footer that has the most entries or with a new
    /// one from page lists, and whether the footer is new.
    fn anchor(
        &self,
        file: &RootFile,
        header: &FoundEnvelope,
        name: &str,
        tail: &mut Tail,
        known: &mut HashSet<u64>,
    ) -> Result<Option<(Anchor, bool)>> {
        let hash = blob::checksum(&header.bytes);
        let of_footer =
            |footer: Link| Anchor { version: VERSION, header: header.link, footer, longest: LONGEST };
        let mut footers: Vec<(u64, u64, Link)> = Vec::new();
        for footer in self.footers.iter().filter(|footer| names_header(&footer.bytes, hash)) {
            let Ok(mut schema) = Schema::parse(&mut blob::body(&header.bytes)) else { return Ok(None) };
            if let Ok(parsed) = Footer::parse(&mut blob::body(&footer.bytes), Some(hash), &mut schema) {
                footers.push((parsed.entries(), footer.link.locator.position, footer.link));
            }
        }
        footers.sort_unstable_by_key(|(entries, position, _)| std::cmp::Reverse((*entries, *position)));
        for (_, _, footer) in footers {
            if let Some(ntuple) = readable(file, name, of_footer(footer))? {
                note_headers(&ntuple, known);
                return Ok(Some((of_footer(footer), false)));
            }
        }
        let groups = self.groups(hash);
        if groups.is_empty() {
            return Ok(None);
        }
        let bytes = footer(hash, &groups);
        let key = Key::of_stored(BLOB, "", tail.at, file.header().begin);
        let before = (tail.at, tail.bytes.len());
        let link = Link { length: bytes.len() as u64, locator: tail.record(key, &bytes) };
        let appended = Appended::source(file, tail)?;
        if readable(&appended, name, of_footer(link))?.is_none() {
            tail.at = before.0;
            tail.bytes.truncate(before.1);
            return Ok(None);
        }
        Ok(Some((of_footer(link), true)))
    }

    /// Returns the page lists of an ntuple from its first entry on, up to a gap.
    fn groups(&self, hash: u64) -> Vec<ClusterGroup> {
        let mut by_start: BTreeMap<u64, ClusterGroup> = BTreeMap::new();
        for list in &self.lists {
            if let Some((entries, clusters)) = summary(&list.bytes, hash)
                && !entries.is_empty()
            {
                by_start.insert(entries.start, ClusterGroup { entries, clusters, pages: list.link });
            }
        }
        let mut groups = Vec::new();
        let mut end = 0;
        while let Some(group) = by_start.remove(&end) {
            end = group.entries.end;
            groups.push(group);
        }
        groups
    }
}

/// Returns whether a footer belongs to the ntuple with this header.
fn names_header(footer: &[u8], hash: u64) -> bool {
    let mut body = blob::body(footer);
    body.features().is_ok() && body.u64("the header's checksum").is_ok_and(|found| found == hash)
}

/// Returns the entries and the number of clusters of a page list, or `None` if it belongs to another ntuple
/// or is damaged.
fn summary(bytes: &[u8], hash: u64) -> Option<(Range<u64>, u32)> {
    let mut body = blob::body(bytes);
    if body.u64("the header's checksum").ok()? != hash {
        return None;
    }
    let mut clusters = body.list("the clusters", 8).ok()?;
    let mut entries: Option<Range<u64>> = None;
    for _ in 0..clusters.items {
        let mut record = clusters.rest.record("a cluster").ok()?;
        let (first, word) = (record.u64("a cluster").ok()?, record.u64("a cluster").ok()?);
        let end = first.checked_add(word & ((1 << 56) - 1))?;
        entries = Some(entries.map_or(first, |entries| entries.start)..end);
    }
    Some((entries?, clusters.items))
}

/// Returns a footer that only has page lists.
fn footer(hash: u64, groups: &[ClusterGroup]) -> Vec<u8> {
    envelope(Envelope::Footer, |frames| {
        frames.features();
        frames.u64(hash);
        frames.record(|_| ());
        frames.list(groups, |frames: &mut Frames, group| {
            frames.record(|frames| {
                frames.u64(group.entries.start);
                frames.u64(group.entries.end - group.entries.start);
                frames.u32(group.clusters);
                frames.link(group.pages);
            });
        });
    })
}

/// Returns the ntuple of an anchor, or `None` if its page lists cannot be read.
fn readable(file: &RootFile, name: &str, anchor: Anchor) -> Result<Option<Ntuple>> {
    let opened = Ntuple::of(file, name.to_owned(), anchor, Options::default());
    let opened = opened.and_then(|ntuple| {
        ntuple.clusters(&(0..ntuple.entries()?))?;
        Ok(ntuple)
    });
    match opened {
        Ok(ntuple) => Ok(Some(ntuple)),
        Err(error) if ends(&error) => Err(error),
        Err(_) => Ok(None),
    }
}

/// Source of the file with the records appended.
struct Appended;

impl Appended {
    fn source(file: &RootFile, tail: &Tail) -> Result<RootFile> {
        let source: Arc<dyn Source> = Arc::clone(file.source());
        RootFile::open(Arc::new(forthwith_io::Appended::new(source, tail.bytes.clone())?))
    }
}
