//! The record of a directory, and the keys in its list.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use forthwith_plan::{Error, Result};
use forthwith_platform::ProcessOnce;

use crate::record::{Cursor, Datime, Key};

/// The contents of a directory's record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectoryRecord {
    /// Version; above 1000 its pointers have 64 bits.
    pub version: i16,
    /// When it was made.
    pub created: Datime,
    /// When it was last changed.
    pub modified: Datime,
    /// Length of the record that lists the keys, 0 if there are none.
    pub nbytes_keys: u32,
    /// Length of the directory's own key, name and title.
    pub nbytes_name: u32,
    /// Offset of the directory's record.
    pub seek_directory: u64,
    /// Offset of the mother's record, 0 at the top.
    pub seek_parent: u64,
    /// Offset of the record that lists the keys.
    pub seek_keys: u64,
    /// The directory's UUID, in newer versions.
    pub uuid: Option<[u8; 16]>,
}

impl DirectoryRecord {
    /// Parses a directory's record, as it follows the key (and at the top of the file, the name and title).
    ///
    /// # Errors
    /// The bytes end before.
    pub fn parse(cursor: &mut Cursor<'_>) -> Result<Self> {
        let version = cursor.i16()?;
        let wide = version > 1000;
        Ok(Self {
            version,
            created: Datime(cursor.u32()?),
            modified: Datime(cursor.u32()?),
            nbytes_keys: cursor.u32()?,
            nbytes_name: cursor.u32()?,
            seek_directory: cursor.pointer(wide)?,
            seek_parent: cursor.pointer(wide)?,
            seek_keys: cursor.pointer(wide)?,
            uuid: match version % 1000 > 1 {
                // ROOT 3 left it out in places where the version promises it; nothing depends on it.
                true => {
                    cursor.u16().and_then(|_| cursor.take(16)).ok().and_then(|bytes| bytes.try_into().ok())
                }
                false => None,
            },
        })
    }

    /// The bytes of the file that the record of a directory is in.
    pub(super) fn place(key: &Key) -> Result<Range<u64>> {
        let stored = key.stored()?;
        Ok(stored.start..stored.end.min(stored.start + Self::MAX_LENGTH))
    }

    /// Longest form of the record.
    pub(super) const MAX_LENGTH: u64 = 60;
}

/// A directory's record and, once read, its keys. Shared by all handles to the directory.
#[derive(Debug)]
pub(super) struct Contents {
    pub(super) record: DirectoryRecord,
    pub(super) keys: ProcessOnce<Arc<[Key]>>,
}

impl Contents {
    pub(super) fn new(record: DirectoryRecord) -> Self {
        match record.nbytes_keys == 0 || record.seek_keys == 0 {
            true => Self::with_keys(record, Arc::default()),
            false => Self { record, keys: ProcessOnce::new() },
        }
    }

    /// A directory with these keys, whatever its record says.
    pub(super) fn with_keys(record: DirectoryRecord, keys: Arc<[Key]>) -> Self {
        let known = ProcessOnce::new();
        known.keep(keys);
        Self { record, keys: known }
    }

    /// The bytes of the file that list the keys, unless they have been read.
    pub(super) fn wanted(&self) -> Option<Range<u64>> {
        let begin = self.record.seek_keys;
        self.keys.get().is_none().then(|| begin..begin.saturating_add(u64::from(self.record.nbytes_keys)))
    }

    /// Parses and keeps the keys.
    pub(super) fn learn(&self, bytes: &Bytes) -> Result<&Arc<[Key]>> {
        let parse = || parse_keys(bytes).map_err(|error| error.behind(self.record.seek_keys));
        self.keys.get_or_try(parse)
    }
}

/// Parses the record that lists a directory's keys. Objects would be lost without a word if it were not all
/// of it.
fn parse_keys(bytes: &[u8]) -> Result<Arc<[Key]>> {
    let mut cursor = Cursor::new(bytes);
    let own = Key::parse(&mut cursor)?;
    let (found, expected) = (u64::from(own.keylen), cursor.position() as u64);
    if found != expected {
        return Err(Error::mismatch("length of the key of a list of keys", expected, found).at_byte(0));
    }
    let count = cursor.i32()?;
    let count = cursor.count("number of keys", count, MIN_KEY)?;
    let keys = (0..count).map(|_| Key::parse(&mut cursor)).collect::<Result<_>>()?;
    let rest = cursor.rest();
    // uproot leaves room for more keys, which it clears.
    if rest.len() != SPARE && rest.iter().any(|&byte| byte != 0) {
        let (found, end) = ((bytes.len() - rest.len()) as u64, bytes.len() as u64);
        return Err(Error::mismatch("end of a list of keys", end, found).at_byte(found));
    }
    Ok(keys)
}

/// Bytes that ROOT leaves behind the keys in a file of more than 2 GB.
const SPARE: usize = 8;
/// Bytes of the shortest key.
const MIN_KEY: usize = 29;
