//! The file as a container: header, directories, keys, and decompressed payloads.

mod check;
mod compressed;
mod contents;
mod cut_off;
mod directory;
mod found_baskets;
mod header;
mod known;
mod listing;
mod records;
mod recover;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use forthwith_io::Source;
use forthwith_plan::{Error, ErrorKind, NameListing, Result};
use forthwith_platform::{ProcessLock, ProcessOnce};

pub use check::{Check, Checked, TableCheck};
pub(crate) use compressed::decompress_growing;
pub use compressed::{check_record, decompress_blocks, decompress_record, has_checksums, setting_name};
use contents::Contents;
pub use contents::DirectoryRecord;
pub use directory::{Directory, Found};
use found_baskets::FoundBaskets;
pub use found_baskets::{BasketPlace, BranchBaskets};
pub use header::Header;
pub use known::is_roots_own;
pub use records::{Record, Records};
pub use recover::{RecordGap, Recovered};

use crate::class::Layouts;
use crate::object::{Objects, Walker};
use crate::record::{Cursor, Key};
use crate::streamer::Streamers;

/// An open ROOT file, with its header and a cache of its metadata. Cheap to clone, and can be shared between
/// threads.
#[derive(Clone)]
pub struct RootFile {
    shared: Arc<Shared>,
}

struct Shared {
    source: Arc<dyn Source>,
    header: Header,
    top: Arc<Contents>,
    /// Directories that were known from the start, by the offset of their records.
    given: HashMap<u64, Arc<Contents>>,
    /// Baskets that were found by their records, in a file that was not closed.
    baskets: FoundBaskets,
    later: Later,
}

/// Metadata that are read when they are first needed.
#[derive(Default)]
struct Later {
    directories: ProcessLock<HashMap<u64, Arc<Contents>>>,
    streamers: ProcessOnce<Arc<Streamers>>,
    layouts: ProcessOnce<Arc<Layouts>>,
    walker: ProcessOnce<Arc<Walker>>,
}

impl RootFile {
    /// Opens a file with one read of its first kilobyte.
    ///
    /// # Errors
    /// Returns an error if the source cannot be read, or is not a ROOT file.
    pub fn open(source: Arc<dyn Source>) -> Result<Self> {
        Self::parse(&source)
            .map(|shared| Self { shared: Arc::new(shared) })
            .map_err(|e| e.in_file(source.uri()))
    }

    fn parse(source: &Arc<dyn Source>) -> Result<Shared> {
        let size = source.size()?;
        let head = source.read_one(0..size.min(HEAD))?;
        let header = Header::parse(&head)?;
        let at = header.begin.saturating_add(u64::from(header.nbytes_name));
        let end = at.saturating_add(DirectoryRecord::MAX_LENGTH).min(size);
        if at >= end {
            let error = Error::truncated("the top directory", at.saturating_add(1), size);
            return Err(cut_off::explained(error, header.end, size));
        }
        let record = if end <= head.len() as u64 {
            head.slice(at as usize..end as usize)
        } else {
            source.read_one(at..end)?
        };
        let top = DirectoryRecord::parse(&mut Cursor::new(&record)).map_err(|error| error.behind(at))?;
        let (top, given) = (Arc::new(Contents::new(top)), HashMap::new());
        let (baskets, later) = (FoundBaskets::default(), Later::default());
        Ok(Shared { source: source.clone(), header, top, given, baskets, later })
    }

    /// Returns the source of the file's bytes.
    #[must_use]
    pub fn source(&self) -> &Arc<dyn Source> {
        &self.shared.source
    }

    /// Returns the name of the file in errors.
    #[must_use]
    pub fn uri(&self) -> &str {
        self.shared.source.uri()
    }

    /// Returns the header of the file.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.shared.header
    }

    /// Returns the decompressed payload of a record. Positions in it count from its first byte; ROOT's
    /// references count from that of the key, for which [`Cursor::with_origin`] accounts.
    ///
    /// # Errors
    /// Returns an error if the record cannot be read or decompressed, or if the lengths in its key are
    /// inconsistent.
    pub fn payload(&self, key: &Key) -> Result<Bytes> {
        let record = key.stored().and_then(|stored| self.record_in(key.seek..stored.end, Some(key)));
        let (_, payload) = record.map_err(|error| error.in_file(self.uri()).in_object(&key.name))?;
        Ok(payload)
    }

    /// Returns whether a record can be decompressed and its blocks have checksums, which verify the payload.
    #[must_use]
    pub fn is_verified(&self, key: &Key) -> bool {
        let stored = key.stored().ok().and_then(|range| self.source().read_one(range).ok());
        let is_compressed = stored
            .is_some_and(|stored| (stored.len() as u64) < u64::from(key.objlen) && has_checksums(&stored));
        is_compressed && self.payload(key).is_ok()
    }

    /// Returns the key and the payload of the record at a byte of the file.
    ///
    /// # Errors
    /// Returns an error if there is no record, or if it cannot be read or decompressed.
    pub fn record(&self, at: u64, nbytes: u32) -> Result<(Key, Bytes)> {
        let record = self.record_in(at..at.saturating_add(u64::from(nbytes)), None);
        record.map_err(|error| error.in_file(self.uri()))
    }

    /// Returns the key and payload of the record in a range. With `listed`, its key must be that of the
    /// directory.
    fn record_in(&self, range: Range<u64>, listed: Option<&Key>) -> Result<(Key, Bytes)> {
        let at = range.start;
        let bytes = self.source().read_one(range)?;
        let key = Key::parse(&mut Cursor::new(&bytes)).map_err(|error| error.behind(at))?;
        // Bytes at another position of a changed file may look like an object, too.
        listed.map_or(Ok(()), |listed| listed.compare(&key))?;
        let begin = usize::from(key.keylen);
        if begin > bytes.len() {
            return Err(Error::out_of_range("key length", begin, bytes.len()));
        }
        let stored = bytes.slice(begin..);
        let length = key.objlen as usize;
        if length <= stored.len() {
            return Ok((key, stored.slice(..length)));
        }
        let payload = decompress_growing(&stored, length).map_err(|error| error.behind(at + begin as u64))?;
        Ok((key, payload.into()))
    }

    /// Returns the baskets of a tree in a directory that were found by their records, in a file that was
    /// [recovered](Self::recover) and not closed. There may be more than in the tree.
    #[must_use]
    pub fn found_baskets(&self, directory: u64, tree: &str) -> Option<&BranchBaskets> {
        self.shared.baskets.of(directory, tree)
    }

    /// Returns the streamer infos of the file, which are read when they are first needed. A file without a
    /// record of them has none.
    ///
    /// # Errors
    /// Returns an error if the record cannot be read, or is not a list of streamer infos.
    pub fn streamers(&self) -> Result<Arc<Streamers>> {
        let parse = || {
            let Some((at, nbytes)) = self.header().info() else { return Ok(Arc::default()) };
            let (key, payload) = self.record(at, nbytes)?;
            let streamers = Streamers::parse(payload, u32::from(key.keylen));
            streamers.map(Arc::new).map_err(|error| error.in_file(self.uri()).in_object("StreamerInfo"))
        };
        self.shared.later.streamers.get_or_try(parse).cloned()
    }

    /// Returns the layouts of the file's classes.
    ///
    /// # Errors
    /// Returns an error if the streamer infos cannot be read.
    pub fn layouts(&self) -> Result<Arc<Layouts>> {
        let make = || Ok(Arc::new(Layouts::new(self.streamers()?, self.header().version % 1_000_000)));
        self.shared.later.layouts.get_or_try(make).cloned()
    }

    /// Returns the reader of this file's objects.
    ///
    /// # Errors
    /// Returns an error if the streamer infos cannot be read.
    pub fn walker(&self) -> Result<Arc<Walker>> {
        self.shared.later.walker.get_or_try(|| Ok(Arc::new(Walker::with(self.layouts()?)))).cloned()
    }

    /// Reads the object in a record, with all objects to which it points.
    ///
    /// # Errors
    /// Returns an error if the record cannot be read, or does not match its key or the streamer infos.
    pub fn object(&self, key: &Key) -> Result<Objects> {
        self.object_by(Walker::read, key)
    }

    /// Reads an object as [`object`](Self::object) does, so that it can be [edited](crate::write::Edits).
    ///
    /// # Errors
    /// Returns the errors of [`object`](Self::object).
    pub fn object_to_edit(&self, key: &Key) -> Result<Objects> {
        self.object_by(Walker::read_to_edit, key)
    }

    fn object_by(
        &self,
        read: impl FnOnce(&Walker, Bytes, u32, &str) -> Result<Objects>,
        key: &Key,
    ) -> Result<Objects> {
        let payload = self.payload(key)?;
        let objects = read(&*self.walker()?, payload, u32::from(key.keylen), &key.class_name);
        objects.map_err(|error| error.in_file(self.uri()).in_object(&key.name))
    }

    /// Returns an iterator over the records of the file from its beginning, which also works for a file that
    /// was not closed properly.
    ///
    /// # Errors
    /// Returns an error if the size of the source is unknown.
    pub fn records(&self) -> Result<Records> {
        Records::new(self.clone())
    }

    /// Returns the free segments of the file, by first and last byte. The last one begins at the end of the
    /// file.
    ///
    /// # Errors
    /// Returns an error if the list cannot be read.
    pub fn free_segments(&self) -> Result<Vec<(u64, u64)>> {
        let Some((at, nbytes)) = self.header().free() else { return Ok(Vec::new()) };
        let (_, payload) = self.record(at, nbytes)?;
        records::parse_free(&payload).map_err(|error| error.in_file(self.uri()))
    }

    /// Returns the directories of these keys. Those that are not cached are read at once.
    fn load_directories(&self, keys: &[&Key]) -> Result<Vec<Arc<Contents>>> {
        let Shared { given, later: Later { directories, .. }, .. } = &*self.shared;
        let known = |seek: u64| given.get(&seek).cloned().or_else(|| directories.lock().get(&seek).cloned());
        let mut found: HashMap<u64, Arc<Contents>> =
            keys.iter().filter_map(|key| Some((key.seek, known(key.seek)?))).collect();
        let fresh: Vec<&Key> = keys.iter().copied().filter(|key| !found.contains_key(&key.seek)).collect();
        let ranges: Vec<_> = fresh.iter().map(|key| DirectoryRecord::place(key)).collect::<Result<_>>()?;
        if !ranges.is_empty() {
            let answers = self.source().read(&ranges)?;
            for ((key, range), bytes) in fresh.iter().zip(&ranges).zip(answers) {
                let record = DirectoryRecord::parse(&mut Cursor::new(&bytes))
                    .map_err(|error| error.behind(range.start).in_object(&key.name))?;
                let mut kept = directories.lock();
                let contents = kept.entry(key.seek).or_insert_with(|| Arc::new(Contents::new(record)));
                found.insert(key.seek, Arc::clone(contents));
            }
        }
        // All directories are cached now.
        Ok(keys.iter().filter_map(|key| found.get(&key.seek).cloned()).collect())
    }

    /// Returns the directory of a key.
    fn load_directory(&self, key: &Key) -> Result<Arc<Contents>> {
        // One key yields one directory.
        let missing = || ErrorKind::NotFound {
            what: "directory",
            name: key.label(),
            near: vec![],
            known: NameListing::default(),
        };
        self.load_directories(&[key])?.pop().ok_or_else(|| missing().into())
    }

    /// Explains the error of a range beyond the end of the file, if the file was truncated.
    fn explain_cut(&self, error: Error) -> Error {
        match self.source().size() {
            Ok(size) => cut_off::explained(error, self.shared.header.end, size),
            Err(_) => error,
        }
    }

    /// Returns the keys of a directory, which are read if they are not cached.
    fn keys_of(&self, directory: &Contents) -> Result<Arc<[Key]>> {
        self.load_keys(&[directory])?;
        Ok(directory.keys.get().cloned().unwrap_or_default())
    }

    /// Reads the lists of keys of directories that are not cached, at once.
    fn load_keys(&self, directories: &[&Contents]) -> Result<()> {
        let wanted = directories.iter().filter_map(|contents| Some((*contents, contents.wanted()?)));
        let (contents, ranges): (Vec<_>, Vec<_>) = wanted.unzip();
        if !ranges.is_empty() {
            let read = self.source().read(&ranges).map_err(|error| self.explain_cut(error.into()))?;
            for (contents, bytes) in contents.iter().zip(read) {
                contents.learn(&bytes)?;
            }
        }
        Ok(())
    }
}

forthwith_io::impl_debug!(RootFile, |it| "uri": it.uri(), "header": it.header());

/// Number of bytes read when a file is opened: the header and, in nearly every file, the top directory.
const HEAD: u64 = 1024;
