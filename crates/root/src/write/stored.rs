//! Copies of stored records from another file, with changed keys.

use std::io::IoSlice;

use forthwith_plan::{Error, Result};

use super::key::LAST_SMALL;
use super::{DirectoryId, FileWriter};

/// Lengths of a record that is copied from another file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredRecord {
    /// Number of its bytes in the `copies` of [`FileWriter::stored`]; at least the key.
    pub copied: u32,
    /// Length of the whole record, with the copied bytes.
    pub length: u32,
}

impl FileWriter {
    /// Appends stored records of another file, which are adjacent in `bytes`. The beginning of each is taken
    /// from `copies` instead, where these are adjacent: verified bytes are written even if `bytes` is a view
    /// of a file that changes. Their keys get the new positions and the given directory, and `processes` is
    /// added to the process ids of their references. Returns the position of each record, or `None`, without
    /// writing, if a key cannot hold its new position or process id.
    ///
    /// # Errors
    /// Returns an error if the sink fails, or the lengths do not match the records.
    pub fn stored(
        &mut self,
        directory: DirectoryId,
        copies: &mut [u8],
        bytes: &[u8],
        records: &[StoredRecord],
        processes: u16,
    ) -> Result<Option<Vec<u64>>> {
        let owner = self.directories[directory.0].position;
        let mut places = Vec::with_capacity(records.len());
        let (mut position, mut at) = (self.out.position, 0_usize);
        for record in records {
            let end = at.saturating_add(record.copied as usize);
            let copy = copies.get_mut(at..end).filter(|_| record.copied <= record.length);
            match copy.map(|copy| moved(copy, position, owner, processes)) {
                Some(Moved::Done) => places.push(position),
                Some(Moved::NoRoom) => return Ok(None),
                Some(Moved::NoKey) | None => return Err(self.too_short(record)),
            }
            (position, at) = (position + u64::from(record.length), end);
        }
        let pieces = pieces(copies, bytes, records);
        let pieces = pieces.map_err(|record| self.too_short(&record))?;
        self.out.append_pieces(&pieces).map_err(|error| error.in_file(self.uri()))?;
        Ok(Some(places))
    }

    fn too_short(&self, record: &StoredRecord) -> Error {
        let what = format!("a record of {} bytes that is too short for its key", record.length);
        Error::invalid(what).in_file(self.uri())
    }
}

/// Returns the copied beginning and the remaining bytes of each record. Adjacent copies are one piece.
///
/// # Errors
/// Returns the first record that exceeds the bytes.
fn pieces<'b>(
    copies: &'b [u8],
    bytes: &'b [u8],
    records: &[StoredRecord],
) -> std::result::Result<Vec<IoSlice<'b>>, StoredRecord> {
    let mut pieces = Vec::with_capacity(2 * records.len());
    // Copies up to `begin` and records up to `at` are in pieces.
    let (mut begin, mut end, mut at) = (0, 0, 0_usize);
    for record in records {
        let behind = at.saturating_add(record.length as usize);
        let rest = bytes.get(at + record.copied as usize..behind).ok_or(*record)?;
        end += record.copied as usize;
        if !rest.is_empty() {
            pieces.push(IoSlice::new(&copies[begin..end]));
            pieces.push(IoSlice::new(rest));
            begin = end;
        }
        at = behind;
    }
    if begin < end {
        pieces.push(IoSlice::new(&copies[begin..end]));
    }
    Ok(pieces)
}

/// Result of changing a key.
enum Moved {
    Done,
    NoRoom,
    NoKey,
}

/// Sets the position, directory and process id in the key of a record.
fn moved(record: &mut [u8], position: u64, directory: u64, processes: u16) -> Moved {
    let Some(version) = record.get(4..6).map(|bytes| i16::from_be_bytes([bytes[0], bytes[1]])) else {
        return Moved::NoKey;
    };
    if version > 1000 {
        let Some(seeks) = record.get_mut(18..34) else { return Moved::NoKey };
        // The upper 16 bits of the directory's position are the process id.
        let before = u16::from_be_bytes([seeks[8], seeks[9]]);
        let Some(processes) = before.checked_add(processes) else { return Moved::NoRoom };
        seeks[..8].copy_from_slice(&position.to_be_bytes());
        seeks[8..].copy_from_slice(&(directory | u64::from(processes) << 48).to_be_bytes());
        return Moved::Done;
    }
    let Some(seeks) = record.get_mut(18..26) else { return Moved::NoKey };
    if position.max(directory) > LAST_SMALL || processes > 0 {
        return Moved::NoRoom;
    }
    seeks[..4].copy_from_slice(&(position as u32).to_be_bytes());
    seeks[4..].copy_from_slice(&(directory as u32).to_be_bytes());
    Moved::Done
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(records: &[(u32, u32)], bytes: &[u8]) -> Option<(usize, Vec<u8>)> {
        let records: Vec<_> =
            records.iter().map(|&(copied, length)| StoredRecord { copied, length }).collect();
        let copies = vec![b'-'; records.iter().map(|record| record.copied as usize).sum()];
        let pieces = pieces(&copies, bytes, &records).ok()?;
        Some((pieces.len(), pieces.iter().flat_map(|piece| piece.to_vec()).collect()))
    }

    #[test]
    fn copies_stand_in_for_the_beginnings_of_records() {
        assert_eq!(joined(&[], b""), Some((0, Vec::new())));
        assert_eq!(joined(&[(2, 4), (1, 3)], b"abcdefg"), Some((4, b"--cd-fg".to_vec())));
        // Completely copied records are one piece with the next key.
        assert_eq!(joined(&[(2, 2), (3, 3), (1, 3)], b"abcdefgh"), Some((2, b"------gh".to_vec())));
        assert_eq!(joined(&[(1, 3), (2, 2), (3, 3)], b"abcdefgh"), Some((3, b"-bc-----".to_vec())));
        assert_eq!(joined(&[(2, 4), (1, 4)], b"abcdefg"), None);
        assert_eq!(joined(&[(5, 4)], b"abcdefg"), None);
    }
}
