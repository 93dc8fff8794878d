//! The file as a sequence of records, and the list of its free segments.

use bytes::Bytes;
use forthwith_plan::{Error, Result};

use super::RootFile;
use crate::record::{Cursor, Key, RawKey};

/// Record of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Offset of its first byte.
    pub at: u64,
    /// Length of the record.
    pub length: u64,
    /// Key of the record; `None` if it was deleted.
    pub key: Option<Key>,
}

/// Iterator over the records of a file, from [`RootFile::records`]. It ends at the end in the header, or
/// after an error.
#[derive(Debug)]
pub struct Records {
    file: RootFile,
    at: u64,
    end: u64,
    window: Bytes,
    window_at: u64,
}

impl Records {
    pub(super) fn new(file: RootFile) -> Result<Self> {
        let end = file.header().end.min(file.source().size()?);
        Ok(Self { at: file.header().begin, end, window: Bytes::new(), window_at: 0, file })
    }

    fn record(&mut self) -> Result<Record> {
        let at = self.at;
        let mut bytes = self.bytes(WINDOW)?;
        let parsed = match parse(&bytes) {
            // The key has a very long title: retry with all of it.
            Err(_) if bytes.len() as u64 == WINDOW => {
                bytes = self.bytes(LONGEST_KEY)?;
                parse(&bytes)
            }
            parsed => parsed,
        };
        let (nbytes, key) = parsed.map_err(|error| error.behind(at))?;
        let length = u64::from(nbytes.unsigned_abs());
        let limit = self.end - at;
        if length < 4 || length > limit {
            return Err(Error::out_of_range("record length", length, limit));
        }
        self.at += length;
        Ok(Record { at, length, key })
    }

    /// Continues after a part that is not a record, at the first key after `from` that has its own offset.
    /// Returns that offset, or `None` if there is no such key.
    pub(super) fn resume(&mut self, from: u64) -> Result<Option<u64>> {
        self.at = from;
        while self.end.saturating_sub(self.at) >= Key::FIXED + SEEKS {
            let window = self.bytes((Key::FIXED + SEEKS).max(self.held()))?;
            for (skipped, bytes) in (0..).zip(window.windows((Key::FIXED + SEEKS) as usize)) {
                let at = self.at + skipped;
                if stands_at(bytes, at) && self.is_key(at)? {
                    self.at = at;
                    return Ok(Some(at));
                }
            }
            self.at += window.len() as u64 - (Key::FIXED + SEEKS) + 1;
        }
        self.at = self.end;
        Ok(None)
    }

    /// Returns the number of bytes of the last window after the current position.
    fn held(&self) -> u64 {
        let end = self.window_at + self.window.len() as u64;
        if self.at < self.window_at { 0 } else { end.saturating_sub(self.at) }
    }

    /// Returns whether a plausible key begins at a byte.
    fn is_key(&mut self, at: u64) -> Result<bool> {
        let before = std::mem::replace(&mut self.at, at);
        let bytes = self.bytes(LONGEST_KEY);
        self.at = before;
        let bytes = bytes?;
        let mut cursor = Cursor::new(&bytes);
        let Ok(key) = RawKey::parse(&mut cursor) else { return Ok(false) };
        Ok(key.is_plausible(at, self.end, cursor.position() as u64))
    }

    /// Returns up to `length` bytes from the current position, from the last window if that has them.
    fn bytes(&mut self, length: u64) -> Result<Bytes> {
        let wanted = self.at..self.end.min(self.at + length);
        let window_end = self.window_at + self.window.len() as u64;
        if wanted.start < self.window_at || wanted.end > window_end {
            // More than requested, as the next request is close.
            let until = self.end.min(self.at + READ + length);
            self.window = self.file.source().read_one(self.at..until)?;
            self.window_at = self.at;
        }
        let start = (wanted.start - self.window_at) as usize;
        let end = (wanted.end - self.window_at) as usize;
        if end > self.window.len() {
            return Err(Error::truncated("a key", wanted.end - wanted.start, self.window.len() as u64));
        }
        Ok(self.window.slice(start..end))
    }
}

impl Iterator for Records {
    type Item = Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.end {
            return None;
        }
        let at = self.at;
        let record = self.record();
        if record.is_err() {
            self.at = self.end;
        }
        Some(record.map_err(|error| error.at_byte(at).in_file(self.file.uri())))
    }
}

/// Returns whether bytes have a version of keys and `at` as their own offset, which is unlikely by chance.
fn stands_at(bytes: &[u8], at: u64) -> bool {
    let number = |from: usize, length: usize| {
        let bytes = bytes.get(from..from + length).unwrap_or_default();
        bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
    };
    let length = if number(4, 2) > 1000 { 8 } else { 4 };
    (1..=LAST_VERSION).contains(&(number(4, 2) % 1000)) && number(Key::FIXED as usize, length) == at
}

fn parse(bytes: &[u8]) -> Result<(i32, Option<Key>)> {
    let mut cursor = Cursor::new(bytes);
    let nbytes = cursor.i32()?;
    if nbytes < 0 {
        return Ok((nbytes, None));
    }
    let key = Key::parse(&mut Cursor::new(bytes))?;
    Ok((nbytes, Some(key)))
}

/// Parses the list of free segments: first and last byte of each.
pub(super) fn parse_free(payload: &[u8]) -> Result<Vec<(u64, u64)>> {
    let mut cursor = Cursor::new(payload);
    let mut segments = Vec::new();
    while cursor.remaining() > 0 {
        let version = cursor.i16()?;
        let wide = version > 1000;
        segments.push((cursor.pointer(wide)?, cursor.pointer(wide)?));
    }
    Ok(segments)
}

/// Number of bytes after the fixed part of a key, with its own offset.
const SEEKS: u64 = 8;
/// Maximum version of keys, without the 1000 of those with 64-bit pointers.
const LAST_VERSION: u64 = 9;
/// Number of bytes that contain nearly every key.
const WINDOW: u64 = 512;
/// Maximum length of a key, which has 16 bits.
const LONGEST_KEY: u64 = 1 << 16;
/// Number of bytes read at once.
const READ: u64 = 1 << 16;
