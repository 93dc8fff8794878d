//! Lists of an existing file that is changed.

use bytes::Bytes;
use forthwith_plan::{Error, Result};

use super::Uuid;
use super::described::Described;
use super::directory::{LENGTH, Listed, Place};
use super::header::BIG;
use crate::file::{DirectoryRecord, Header, RootFile};
use crate::record::{Cursor, Key};

/// Contents of an existing file that a writer changes.
pub(super) struct Found {
    pub(super) header: Header,
    pub(super) top: Place,
    pub(super) classes: Described,
    pub(super) free: Vec<(u64, u64)>,
}

impl Found {
    /// Reads the top directory, the class descriptions and the free ranges.
    ///
    /// # Errors
    /// Returns an error if the file is truncated or was not closed, is of a very old ROOT, or cannot be read.
    pub(super) fn of(file: &RootFile) -> Result<Self> {
        let there = file.header();
        let size = file.source().size()?;
        if there.end > size {
            let what = "the file, which was cut off or not closed and can only be changed when it is whole,";
            return Err(Error::truncated(what, there.end, size));
        }
        if there.begin < LEAST_BEGIN {
            return Err(Error::unsupported("changing a file whose first record begins before byte 75"));
        }
        let top = directory_of(file, there.begin)?;
        // Serialisation adds the million of large files.
        let header = Header { version: there.version % BIG, ..there.clone() };
        let streamers = file.streamers()?;
        let mut free = file.free_segments()?;
        // The last segment is the space after the file. Invalid segments are ignored.
        free.retain(|&(begin, end)| begin >= there.begin && begin <= end && end < there.end);
        let classes = Described::of(streamers.infos()?, streamers.rules().to_vec());
        Ok(Self { header, top, classes, free })
    }
}

/// Reads the directory whose record is at `position`, with the serialised keys of its list.
pub(super) fn directory_of(file: &RootFile, position: u64) -> Result<Place> {
    let key = key_at(file, position)?;
    let is_top = position == file.header().begin;
    let name_len = if is_top { file.header().nbytes_name } else { key.keylen.into() };
    let length = u64::try_from(key.nbytes).unwrap_or(0);
    if u64::from(name_len) + LENGTH as u64 > length {
        // A larger header would overwrite the next record.
        return Err(
            Error::unsupported("changing a directory of a file that a very old ROOT wrote").at_byte(position)
        );
    }
    let at = position + u64::from(name_len);
    let bytes = file.source().read_one(at..at + LENGTH as u64)?;
    let record = DirectoryRecord::parse(&mut Cursor::new(&bytes)).map_err(|error| error.behind(at))?;
    if record.seek_directory != position {
        let what = "where a directory says that it is";
        return Err(Error::mismatch(what, position, record.seek_directory).at_byte(at));
    }
    let list = (record.seek_keys, record.nbytes_keys);
    let keys = if list.0 == 0 || list.1 == 0 { Vec::new() } else { keys_of(file, list)? };
    Ok(Place {
        name: key.name.into(),
        title: key.title.into(),
        parent: None,
        position,
        name_len,
        created: record.created,
        uuid: record.uuid.map(Uuid),
        list,
        keys,
        changed: false,
        inner: Vec::new(),
    })
}

/// Reads the keys of a list, each with its bytes.
fn keys_of(file: &RootFile, (begin, length): (u64, u32)) -> Result<Vec<Listed>> {
    let (own, payload) = file.record(begin, length)?;
    let in_list = |error: Error| error.behind(begin + u64::from(own.keylen));
    let mut cursor = Cursor::new(&payload);
    let count = cursor.i32().map_err(in_list)?;
    let count = cursor.count("number of keys", count, LEAST_KEY).map_err(in_list)?;
    let mut keys = Vec::with_capacity(count);
    for _ in 0..count {
        let from = cursor.position();
        let key = Key::parse(&mut cursor).map_err(in_list)?;
        let record = (key.seek, key.nbytes.unsigned_abs());
        keys.push(Listed {
            class: key.class_name,
            name: key.name,
            cycle: key.cycle,
            record,
            image: Bytes::copy_from_slice(&payload[from..cursor.position()]),
        });
    }
    Ok(keys)
}

/// Whether the key at `position` confirms that a record of this length begins there. Other bytes must not be
/// marked as free.
pub(super) fn is_record(file: &RootFile, position: u64, length: u32) -> bool {
    let end = file.header().end;
    if position >= end {
        // The record is one of this writer.
        return true;
    }
    position.checked_add(length.into()).is_some_and(|last| last <= end)
        && key_at(file, position)
            .is_ok_and(|key| key.seek == position && u32::try_from(key.nbytes) == Ok(length))
}

fn key_at(file: &RootFile, position: u64) -> Result<Key> {
    let end = file.header().end.min(position.saturating_add(LONGEST_KEY));
    let bytes = file.source().read_one(position..end.max(position))?;
    Key::parse(&mut Cursor::new(&bytes)).map_err(|error| error.behind(position))
}

/// End of a large file's header.
const LEAST_BEGIN: u64 = 75;
/// Size of the shortest key in bytes.
const LEAST_KEY: usize = 29;
/// Upper bound on the length of a key, which has 16 bits.
const LONGEST_KEY: u64 = 1 << 16;
