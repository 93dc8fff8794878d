//! The record of a directory, and the keys in its list.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use forthwith_plan::{Error, Result};
use forthwith_platform::ProcessOnce;

use crate::record::{Cursor, Datime, Key};

/// Contents of a directory's record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectoryRecord {
    /// Version; above 1000, pointers have 64 bits.
    pub version: i16,
    /// Time of creation.
    pub created: Datime,
    /// Time of the last change.
    pub modified: Datime,
    /// Length of the record with the list of keys, 0 if there is none.
    pub nbytes_keys: u32,
    /// Length of the directory's own key, name and title.
    pub nbytes_name: u32,
    /// Offset of the directory's record.
    pub seek_directory: u64,
    /// Offset of the parent's record, 0 at the top.
    pub seek_parent: u64,
    /// Offset of the record with the list of keys.
    pub seek_keys: u64,
    /// UUID of the directory, in newer versions.
    pub uuid: Option<[u8; 16]>,
}

impl DirectoryRecord {
    /// Parses a directory's record, which follows the key and, for the top directory, the name and title.
    ///
    /// # Errors
    /// Returns an error if the bytes end early.
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
                // ROOT 3 omitted it in places where the version requires it; nothing depends on it.
                true => {
                    cursor.u16().and_then(|_| cursor.take(16)).ok().and_then(|bytes| bytes.try_into().ok())
                }
                false => None,
            },
        })
    }

    /// Returns the range of the file with the record of a directory.
    pub(super) fn place(key: &Key) -> Result<Range<u64>> {
        let stored = key.stored()?;
        Ok(stored.start..stored.end.min(stored.start + Self::MAX_LENGTH))
    }

    /// Maximum length of the record.
    pub(super) const MAX_LENGTH: u64 = 60;
}

/// A directory's record and, once read, its keys. All handles to the directory share it.
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

    /// Returns a directory with these keys, whatever its record says.
    pub(super) fn with_keys(record: DirectoryRecord, keys: Arc<[Key]>) -> Self {
        let known = ProcessOnce::new();
        known.keep(keys);
        Self { record, keys: known }
    }

    /// Returns the range of the list of keys, or `None` if it has been read.
    pub(super) fn wanted(&self) -> Option<Range<u64>> {
        let begin = self.record.seek_keys;
        self.keys.get().is_none().then(|| begin..begin.saturating_add(u64::from(self.record.nbytes_keys)))
    }

    /// Parses the list of keys, and caches it.
    pub(super) fn learn(&self, bytes: &Bytes) -> Result<&Arc<[Key]>> {
        let parse = || parse_keys(bytes).map_err(|error| error.behind(self.record.seek_keys));
        self.keys.get_or_try(parse)
    }
}

/// Parses the list of a directory's keys. An incomplete list is an error, as objects would be lost silently.
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
    // uproot reserves space for more keys, which it clears.
    if rest.len() != SPARE && rest.iter().any(|&byte| byte != 0) {
        let (found, end) = ((bytes.len() - rest.len()) as u64, bytes.len() as u64);
        return Err(Error::mismatch("end of a list of keys", end, found).at_byte(found));
    }
    Ok(keys)
}

/// Number of bytes after the keys in a file of more than 2 GB.
const SPARE: usize = 8;
/// Minimum length of a key in bytes.
const MIN_KEY: usize = 29;
