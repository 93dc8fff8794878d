//! Files that were not closed: their objects, by walking from record to record.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use forthwith_io::Source;
use forthwith_plan::{Error, Result};

use super::contents::Contents;
use super::{DirectoryRecord, Later, RootFile, Shared};
use crate::record::{Cursor, Key};

/// The directories and records that a recovery found.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Recovered {
    /// Objects, directories included.
    pub objects: usize,
    /// Baskets: the data of trees.
    pub baskets: usize,
    /// Deleted records, passed over.
    pub deleted: usize,
    /// Objects that a list of keys in the file does not name: what the recovery added.
    pub unlisted: Vec<String>,
    /// Whether there are streamer infos; without them only trees and what else is built in can be read.
    pub streamers: bool,
    /// The end of the last whole record.
    pub end: u64,
    /// Bytes of the file.
    pub size: u64,
    /// Why the walk ended before the end of the file.
    pub stopped: Option<Error>,
}

impl RootFile {
    /// Opens a file that was not closed: walks from record to record and makes the directories of the keys
    /// that are there, whatever the lists of keys say.
    ///
    /// # Errors
    /// The source cannot be read, or not even the header and the first record of a ROOT file are there.
    pub fn recover(source: Arc<dyn Source>) -> Result<(Self, Recovered)> {
        let uri = source.uri().to_owned();
        let mut shared = Self::parse(&source).map_err(|error| error.in_file(&uri))?;
        let size = source.size()?;
        shared.header.end = size;
        let top = shared.top.record.clone();
        let walked = Self { shared: Arc::new(shared) };

        let mut found = Recovered { size, end: walked.header().begin, ..Recovered::default() };
        let mut keys: Vec<Key> = Vec::new();
        let mut directories: HashMap<u64, DirectoryRecord> = HashMap::new();
        let (mut info, mut first) = (None, true);
        for record in walked.records()? {
            let record = match record {
                Ok(record) => record,
                Err(error) => {
                    found.stopped = Some(error);
                    break;
                }
            };
            let Some(key) = record.key else {
                found.deleted += 1;
                found.end = record.at + record.length;
                continue;
            };
            if key.seek != record.at || u64::from(key.keylen) > record.length {
                found.stopped = Some(Error::not_a(
                    "a record",
                    format!("something at byte {} that says it is at byte {}", record.at, key.seek),
                ));
                break;
            }
            found.end = record.at + record.length;
            if std::mem::take(&mut first) {
                // The file itself.
                continue;
            }
            match &*key.class_name {
                "TBasket" => found.baskets += 1,
                // The list of keys at the top, and the free segments; an RNTuple's writer gives them no
                // class.
                "TFile" | "" => {}
                "TList" if &*key.name == "StreamerInfo" => info = Some((key.seek, record.length)),
                _ if key.is_directory() => {
                    let bytes = walked.source().read_one(DirectoryRecord::place(&key)?)?;
                    let parsed = DirectoryRecord::parse(&mut Cursor::new(&bytes)).ok();
                    // A list of keys has the class of its directory, too.
                    if let Some(parsed) = parsed.filter(|parsed| parsed.seek_directory == key.seek) {
                        directories.insert(key.seek, parsed);
                        keys.push(key);
                    }
                }
                _ => keys.push(key),
            }
        }
        found.streamers = info.is_some();
        found.objects = keys.len();
        let file = walked.with_keys(top, keys, directories, info);
        found.unlisted = file.unlisted(&source);
        Ok((file, found))
    }

    /// The same file with these keys in its directories.
    fn with_keys(
        &self,
        top: DirectoryRecord,
        keys: Vec<Key>,
        directories: HashMap<u64, DirectoryRecord>,
        info: Option<(u64, u64)>,
    ) -> Self {
        let mut header = self.header().clone();
        (header.seek_info, header.nbytes_info) = match info {
            Some((seek, length)) => (seek, u32::try_from(length).unwrap_or(0)),
            None => (0, 0),
        };
        let top_seek = header.begin;
        let mut listed: HashMap<u64, Vec<Key>> = HashMap::new();
        for key in keys {
            // Objects of a directory that is missing are at the top.
            let known = directories.contains_key(&key.seek_directory);
            listed.entry(if known { key.seek_directory } else { top_seek }).or_default().push(key);
        }
        let mut contents = |seek: u64, record| {
            let keys = listed.remove(&seek).unwrap_or_default();
            Arc::new(Contents::with_keys(record, keys.into()))
        };
        let top = contents(top_seek, top);
        let below = directories.into_iter().map(|(seek, record)| (seek, contents(seek, record))).collect();
        let shared =
            Shared { source: self.source().clone(), header, top, given: below, later: Later::default() };
        Self { shared: Arc::new(shared) }
    }

    /// The objects here that the file's own lists of keys do not name.
    fn unlisted(&self, source: &Arc<dyn Source>) -> Vec<String> {
        let listed = Self::open(source.clone()).and_then(|file| file.keys_recursive()).unwrap_or_default();
        let listed: HashSet<u64> = listed.iter().map(|found| found.key.seek).collect();
        let all = self.keys_recursive().unwrap_or_default();
        // Records of an RNTuple are found by its anchor, and by no directory.
        let blobs = all.iter().any(|found| is_anchor(&found.key) && listed.contains(&found.key.seek));
        let known = |key: &Key| listed.contains(&key.seek) || (blobs && &*key.class_name == "RBlob");
        let new = all.iter().filter(|found| !known(&found.key));
        new.map(|found| format!("{};{}", found.path, found.key.cycle)).collect()
    }
}

/// Tests for the first bytes of an RNTuple.
fn is_anchor(key: &Key) -> bool {
    matches!(&*key.class_name, "ROOT::RNTuple" | "ROOT::Experimental::RNTuple")
}
