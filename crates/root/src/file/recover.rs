//! Recovers files that were not closed, by walking over their records.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use forthwith_io::{Patched, Source};
use forthwith_plan::{Error, Result};

use super::contents::Contents;
use super::{DirectoryRecord, FoundBaskets, Later, Record, RootFile, Shared};
use crate::record::{Cursor, Key};

/// Result of a recovery.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Recovered {
    /// Number of objects, including directories.
    pub objects: usize,
    /// Number of baskets, which have the data of trees.
    pub baskets: usize,
    /// Number of deleted records, which were skipped.
    pub deleted: usize,
    /// Objects that no list of keys in the file names, and that the recovery added.
    pub unlisted: Vec<String>,
    /// Whether there are streamer infos. Without them, only trees and other built-in classes can be read.
    pub streamers: bool,
    /// Record of streamer infos, if some of them cannot be read.
    pub damaged_streamers: Option<RecordGap>,
    /// End of the last complete record.
    pub end: u64,
    /// Size of the file in bytes.
    pub size: u64,
    /// Error at which the walk ended before the end of the file.
    pub stopped: Option<Error>,
    /// Parts of the file that are not records, but are followed by records.
    pub gaps: Vec<RecordGap>,
    /// Offsets of baskets.
    pub basket_places: Vec<u64>,
    /// Whether the file was closed, and has the length that it had then.
    pub is_closed: bool,
}

/// Part of a file in which no record begins.
#[derive(Debug)]
#[non_exhaustive]
pub struct RecordGap {
    /// Range of the part.
    pub bytes: Range<u64>,
    /// Error at its first byte.
    pub error: Error,
}

impl RootFile {
    /// Opens a file that was not closed, or is damaged. Walks over its records and rebuilds the directories
    /// from their keys, whatever the lists of keys contain. After damage, the walk continues with the next
    /// record. If the key of a record is damaged, but not its copy in the list of the directory, the copy is
    /// used.
    ///
    /// # Errors
    /// Returns an error if the source cannot be read, or lacks the header and first record of a ROOT file.
    pub fn recover(source: Arc<dyn Source>) -> Result<(Self, Recovered)> {
        Self::recover_with_records(source, 0)
    }

    /// Recovers a file as [`recover`](Self::recover) does, whose last `new_bytes` are records that were made
    /// anew.
    ///
    /// # Errors
    /// Returns the errors of [`recover`](Self::recover).
    pub fn recover_with_records(source: Arc<dyn Source>, new_bytes: u64) -> Result<(Self, Recovered)> {
        let listed = Self::open(source.clone()).map(|file| (file.header().end, file.readable_keys()));
        let (end, (listed, is_listed)) = listed.unwrap_or_default();
        let source = match listed.is_empty() {
            true => source,
            false => {
                let sound = Self::sound_records(&source, new_bytes)?;
                mended(source, &listed, &sound)?
            }
        };
        let uri = source.uri().to_owned();
        let mut shared = Self::parse(&source).map_err(|error| error.in_file(&uri))?;
        let size = source.size()?;
        shared.header.end = size;
        let top = shared.top.record.clone();
        let is_closed = is_listed && end.checked_add(new_bytes) == Some(size) && top.nbytes_keys > 0;
        let walked = Self { shared: Arc::new(shared) };
        let (mut kept, mut found) =
            walked.walk(Recovered { size, is_closed, ..Recovered::default() }, new_bytes)?;
        found.objects = kept.keys.len();
        let baskets = std::mem::take(&mut kept.baskets);
        let file = walked.with_keys(top.clone(), &kept, baskets);
        // Without streamer infos, more objects can be read than with damaged ones.
        let described = file.streamers().and_then(|streamers| streamers.infos());
        let is_described = kept.info.is_some() && described.is_ok();
        found.streamers = is_described;
        if let (Some((seek, length)), Err(error)) = (kept.info, described) {
            found.damaged_streamers = Some(RecordGap { bytes: seek..seek.saturating_add(length), error });
        }
        let file = match kept.info.take().filter(|_| !is_described) {
            Some(_) => {
                let (again, _) =
                    walked.walk(Recovered { size, is_closed, ..Recovered::default() }, new_bytes)?;
                walked.with_keys(top, &kept, again.baskets)
            }
            None => file,
        };
        found.unlisted = file.unlisted(&listed);
        Ok((file, found))
    }

    /// Returns the ranges of the valid records, in order.
    fn sound_records(source: &Arc<dyn Source>, new_bytes: u64) -> Result<Vec<Range<u64>>> {
        let mut shared = Self::parse(source).map_err(|error| error.in_file(source.uri()))?;
        let size = source.size()?;
        shared.header.end = size;
        let walked = Self { shared: Arc::new(shared) };
        let (kept, _) = walked.walk(Recovered { size, ..Recovered::default() }, new_bytes)?;
        Ok(kept.records)
    }

    /// Walks over all records. The last `new_bytes` are new records, so that a record that was truncated
    /// before them does not extend into these.
    fn walk(&self, mut found: Recovered, new_bytes: u64) -> Result<(Walked, Recovered)> {
        let inner = found.size.saturating_sub(new_bytes);
        let begin = self.header().begin;
        found.end = begin;
        let mut kept = Walked::default();
        let mut records = self.records()?;
        let (mut at, mut body) = (begin, begin);
        while at < found.size {
            let looked = match records.next() {
                Some(Ok(record)) if at < inner && record.length > inner - at => {
                    Err(Error::truncated("a record", record.length, inner - at).at_byte(at))
                }
                Some(Ok(record)) => is_sound(&record).map(|()| record),
                Some(Err(error)) => Err(error),
                None => break,
            };
            let error = match looked {
                Ok(record) => {
                    // Deleted records may contain old keys.
                    body = at + record.key.as_ref().map_or(record.length, |key| key.keylen.into());
                    kept.records.push(at..at + record.length);
                    at += record.length;
                    found.end = at;
                    // The first record is the file itself.
                    if record.at > begin {
                        self.take(record, &mut kept, &mut found)?;
                    }
                    continue;
                }
                Err(error) => error,
            };
            // The length of the previous record may be damaged instead.
            match records.resume(body)? {
                Some(next) => {
                    if at < next {
                        found.gaps.push(RecordGap { bytes: at..next, error });
                    }
                    (at, body) = (next, next + 4);
                }
                None => {
                    found.stopped = Some(error);
                    break;
                }
            }
        }
        Ok((kept, found))
    }

    /// Adds a record.
    fn take(&self, record: Record, kept: &mut Walked, found: &mut Recovered) -> Result<()> {
        let Some(key) = record.key else {
            found.deleted += 1;
            return Ok(());
        };
        match &*key.class_name {
            "TBasket" => {
                found.baskets += 1;
                found.basket_places.push(record.at);
                // In files that were closed, deleted trees leave their baskets.
                if !found.is_closed {
                    kept.baskets.push(&key, record.length);
                }
            }
            // The list of keys of the top directory, and the free segments, for which the writer of RNTuples
            // sets no class.
            "TFile" | "" => {}
            "TList" if &*key.name == "StreamerInfo" => kept.info = Some((key.seek, record.length)),
            _ if key.is_directory() => {
                let bytes = self.source().read_one(DirectoryRecord::place(&key)?)?;
                let parsed = DirectoryRecord::parse(&mut Cursor::new(&bytes)).ok();
                // A list of keys has the class of its directory, too.
                if let Some(parsed) = parsed.filter(|parsed| parsed.seek_directory == key.seek) {
                    kept.directories.insert(key.seek, parsed);
                    kept.keys.push(key);
                }
            }
            _ => kept.keys.push(key),
        }
        Ok(())
    }

    /// Returns the keys of all directories whose lists can be read, and whether all could be read.
    fn readable_keys(&self) -> (Vec<Key>, bool) {
        let (mut found, mut all) = (Vec::new(), true);
        let mut seen = HashSet::new();
        let mut open = vec![self.top()];
        while let Some(directory) = open.pop() {
            let Ok(keys) = directory.keys() else {
                all = false;
                continue;
            };
            for key in keys.iter() {
                if key.is_directory() && seen.insert(key.seek) {
                    match directory.open(key) {
                        Ok(inner) => open.push(inner),
                        Err(_) => all = false,
                    }
                }
            }
            found.extend(keys.iter().cloned());
        }
        (found, all)
    }

    /// Returns this file with other keys in its directories.
    fn with_keys(&self, top: DirectoryRecord, kept: &Walked, baskets: FoundBaskets) -> Self {
        let Walked { keys, directories, info, .. } = kept;
        let mut header = self.header().clone();
        (header.seek_info, header.nbytes_info) = match info {
            Some((seek, length)) => (*seek, u32::try_from(*length).unwrap_or(0)),
            None => (0, 0),
        };
        let top_seek = header.begin;
        let mut listed: HashMap<u64, Vec<Key>> = HashMap::new();
        for key in keys {
            // Objects of a missing directory are moved to the top directory.
            let known = directories.contains_key(&key.seek_directory);
            listed.entry(if known { key.seek_directory } else { top_seek }).or_default().push(key.clone());
        }
        let mut contents = |seek: u64, record| {
            let keys = listed.remove(&seek).unwrap_or_default();
            Arc::new(Contents::with_keys(record, keys.into()))
        };
        let top = contents(top_seek, top);
        let below =
            directories.iter().map(|(seek, record)| (*seek, contents(*seek, record.clone()))).collect();
        let (source, later) = (self.source().clone(), Later::default());
        let shared = Shared { source, header, top, given: below, baskets, later };
        Self { shared: Arc::new(shared) }
    }

    /// Returns the objects that the file's own lists of keys do not name.
    fn unlisted(&self, listed: &[Key]) -> Vec<String> {
        let listed: HashSet<u64> = listed.iter().map(|key| key.seek).collect();
        let all = self.keys_recursive().unwrap_or_default();
        // Records of an RNTuple are found by its anchor, and not listed in a directory.
        let blobs = all.iter().any(|found| is_anchor(&found.key) && listed.contains(&found.key.seek));
        let known = |key: &Key| listed.contains(&key.seek) || (blobs && &*key.class_name == "RBlob");
        let new = all.iter().filter(|found| !known(&found.key));
        new.map(|found| format!("{};{}", found.path, found.key.cycle)).collect()
    }
}

/// Records that a walk found.
#[derive(Default)]
struct Walked {
    keys: Vec<Key>,
    directories: HashMap<u64, DirectoryRecord>,
    /// Position and length of the record of streamer infos.
    info: Option<(u64, u64)>,
    /// Ranges of all records.
    records: Vec<Range<u64>>,
    baskets: FoundBaskets,
}

/// Checks that a record has its own offset.
fn is_sound(record: &Record) -> Result<()> {
    let Some(key) = &record.key else { return Ok(()) };
    if key.seek == record.at && u64::from(key.keylen) <= record.length {
        return Ok(());
    }
    let what = format!("something at byte {} that says it is at byte {}", record.at, key.seek);
    Err(Error::not_a("a record", what).at_byte(record.at))
}

/// Returns the source with damaged keys of records replaced by the copies in directories. A list may be
/// damaged as well, so nothing within a `sound` record is changed.
fn mended(source: Arc<dyn Source>, listed: &[Key], sound: &[Range<u64>]) -> Result<Arc<dyn Source>> {
    let size = source.size()?;
    let mut patches = Vec::new();
    let is_within = |at: u64| {
        let before = sound.partition_point(|record| record.start < at);
        before.checked_sub(1).and_then(|last| sound.get(last)).is_some_and(|record| at < record.end)
    };
    let begin = sound.first().map_or(0, |first| first.start);
    let mut places: Vec<u64> = listed.iter().map(|key| key.seek).collect();
    places.sort_unstable();
    for key in listed {
        // Only one of two keys with the same offset can be valid.
        let at = places.partition_point(|place| *place < key.seek);
        if key.seek < begin || is_within(key.seek) || places.get(at + 1) == Some(&key.seek) {
            continue;
        }
        let bytes = key.to_bytes();
        let end = key.seek.saturating_add(bytes.len() as u64);
        // An outdated list may name records that were replaced.
        let is_whole = key.is_plausible(key.seek, size.max(key.seek), bytes.len() as u64);
        if !is_whole || bytes.len() != usize::from(key.keylen) || end > size {
            continue;
        }
        let stored = source.read_one(key.seek..end)?;
        let is_damaged = match Key::parse(&mut Cursor::new(&stored)) {
            Ok(own) if key.is_renamed(&own) => false,
            Ok(own) => match key.differences(&own) {
                0 => false,
                few => few <= FEW || !own.is_plausible(key.seek, size, own.to_bytes().len() as u64),
            },
            Err(_) => true,
        };
        if is_damaged {
            patches.push((key.seek, bytes.into()));
        }
    }
    if patches.is_empty() {
        return Ok(source);
    }
    Ok(Arc::new(Patched::new(source, patches)))
}

/// Maximum number of bytes in which a damaged key differs from its copy; a later record in its place differs
/// in more.
const FEW: usize = 2;

/// Returns whether a key is that of an RNTuple's anchor.
fn is_anchor(key: &Key) -> bool {
    matches!(&*key.class_name, "ROOT::RNTuple" | "ROOT::Experimental::RNTuple")
}
