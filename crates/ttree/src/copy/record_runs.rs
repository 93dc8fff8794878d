//! Runs of contiguous baskets, which are read and written together.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use forthwith_plan::{Bench, BlockMaker, Error, Result, StoredBlock};
use forthwith_root::write::StoredRecord;
use forthwith_root::{Cursor, check_record};

use super::origin::Origin;
use crate::format::Basket;

/// Contiguous records.
#[derive(Debug, Default)]
pub(super) struct Window {
    /// Index of the source.
    pub(super) source: usize,
    pub(super) bytes: Range<u64>,
    pub(super) records: Vec<Record>,
}

/// A record of a window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    pub(super) field: u32,
    pub(super) entries: u64,
    /// New index of its first entry.
    pub(super) first: u64,
    pub(super) length: u32,
}

impl Window {
    /// Returns whether a record continues the window, within the maximum length.
    pub(super) fn takes(&self, source: usize, range: &Range<u64>) -> bool {
        self.source == source && self.bytes.end == range.start && range.end - self.bytes.start <= LONGEST
    }
}

/// Windows that are read on any thread and written in order.
pub(super) struct Windows<'w> {
    pub(super) all: &'w [Window],
    pub(super) origins: &'w [Origin],
    /// Buffers for reuse.
    pub(super) spare: &'w Mutex<Vec<Vec<u8>>>,
}

impl Windows<'_> {
    /// Returns the buffer of a written window for reuse.
    pub(super) fn keep(&self, bytes: Vec<u8>) {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner).push(bytes);
    }
}

impl BlockMaker for Windows<'_> {
    fn blocks(&self) -> usize {
        self.all.len()
    }

    fn weight(&self, block: usize) -> u64 {
        self.all.get(block).map_or(0, |window| window.bytes.end - window.bytes.start)
    }

    fn make(&self, block: usize, _: &mut Bench) -> Result<StoredBlock> {
        let window = &self.all[block];
        let mut bytes = self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
        self.origins[window.source].read(&window.bytes, &mut bytes)?;
        Ok(StoredBlock { bytes, payload: 0, note: 0 })
    }
}

/// Verified copies of records: their keys, and short records as a whole. These bytes are written, so that no
/// other process can change them after the check.
#[derive(Debug, Default)]
pub(super) struct Copies {
    pub(super) bytes: Vec<u8>,
    pub(super) records: Vec<StoredRecord>,
}

impl Copies {
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.records.clear();
    }

    /// Verifies that a record is a basket of `entries` entries, and adds it. Returns its uncompressed length.
    pub(super) fn add(&mut self, record: &[u8], entries: u64) -> Result<u64> {
        let (begin, length) = (self.bytes.len(), record.len());
        let (usual, longest) = record.split_at(length.min(USUAL_KEY));
        self.bytes.extend(usual);
        let basket = match Basket::parse(&mut Cursor::new(&self.bytes[begin..])) {
            // The key may be longer.
            Err(_) if !longest.is_empty() => {
                self.bytes.extend(&longest[..longest.len().min(LONGEST_KEY)]);
                Basket::parse(&mut Cursor::new(&self.bytes[begin..]))?
            }
            parsed => parsed?,
        };
        // The parsed key lies within the copied bytes.
        let key = basket.keylen as usize;
        if length - key <= SHORT {
            self.bytes.truncate(begin + key);
            self.bytes.extend(&record[key..]);
        } else {
            self.bytes.truncate(begin + key);
        }
        let copied = self.bytes.len() - begin;
        let stored = if copied == length { &self.bytes[begin + key..] } else { &record[key..] };
        let total = measured(&basket, stored, length as u64, entries)?;
        let (Ok(copied), Ok(length)) = (u32::try_from(copied), u32::try_from(length)) else {
            return Err(Error::unsupported("a basket of more than 4 GB"));
        };
        self.records.push(StoredRecord { copied, length });
        Ok(total)
    }
}

/// Verifies that a record is a basket of `entries` entries. Returns its uncompressed length.
pub(super) fn check(record: &[u8], entries: u64) -> Result<u64> {
    let basket = Basket::parse(&mut Cursor::new(record))?;
    let stored = record.get(basket.keylen as usize..).unwrap_or_default();
    measured(&basket, stored, record.len() as u64, entries)
}

/// Returns the uncompressed length of a record. `basket` is its parsed key, which must have this length and
/// number of entries, and `stored` are the bytes after the key.
fn measured(basket: &Basket, stored: &[u8], length: u64, entries: u64) -> Result<u64> {
    if u64::from(basket.entries) != entries {
        return Err(Error::mismatch("number of entries in the basket", entries, basket.entries));
    }
    if u64::from(basket.nbytes) != length || u64::from(basket.keylen) > length {
        return Err(Error::mismatch("length of the basket", length, basket.nbytes));
    }
    let object_len = basket.header.objlen as usize;
    if object_len > stored.len() {
        check_record(stored, object_len)?;
    }
    Ok(u64::from(basket.keylen) + object_len as u64)
}

/// Length in bytes of most keys, and of the longest.
const USUAL_KEY: usize = 256;
const LONGEST_KEY: usize = u16::MAX as usize;
/// Maximum length of a payload that is copied with its key, as a separate slice would cost as much.
const SHORT: usize = 1024;
/// Maximum length of a window, which fits caches.
const LONGEST: u64 = 512 << 10;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a test fails by panicking

    use super::*;

    /// Returns an uncompressed basket whose name and payload have these lengths.
    fn basket(name: usize, payload: usize, entries: u32) -> Vec<u8> {
        let texts = 8 + if name < 255 { 1 } else { 5 } + name + 2;
        let (key, length) = (34 + texts + 19, 34 + texts + 19 + payload);
        let mut record = (length as u32).to_be_bytes().to_vec();
        record.extend(1004_u16.to_be_bytes());
        record.extend((payload as u32).to_be_bytes());
        record.extend([0; 4]);
        record.extend((key as u16).to_be_bytes());
        record.extend(0_u16.to_be_bytes());
        record.extend([0; 16]);
        record.extend(b"\x07TBasket");
        match name {
            0..255 => record.push(name as u8),
            _ => record.extend([&[255][..], &(name as u32).to_be_bytes()].concat()),
        }
        record.resize(record.len() + name, b'n');
        record.extend(b"\x01t");
        record.extend(3_u16.to_be_bytes());
        for number in [32_000, 4, entries, (key + payload) as u32] {
            record.extend(number.to_be_bytes());
        }
        record.push(0);
        assert_eq!(record.len(), key);
        record.resize(length, b'x');
        record
    }

    #[test]
    fn keys_are_copied_and_short_records_whole() {
        let mut copies = Copies::default();
        for name in [0, 1, 150, 180, 190, 200, 210, 254, 255, 300, 30_000] {
            for payload in [0, 1, SHORT, SHORT + 1, 100_000] {
                copies.clear();
                let record = basket(name, payload, 7);
                let before = basket(1, 5000, 3);
                copies.add(&before, 3).unwrap();
                let total = copies.add(&record, 7).unwrap();
                assert_eq!(total, record.len() as u64);
                let [first, second] = copies.records[..] else { panic!("two records") };
                let (first, copied) = (first.copied as usize, second.copied as usize);
                assert_eq!(copies.bytes.len(), first + copied);
                assert!(copies.bytes[first..] == record[..copied], "{name} {payload}");
                let key = record.len() - payload;
                assert_eq!(copied, if payload <= SHORT { record.len() } else { key });
                assert_eq!(second.length as usize, record.len());
            }
        }
    }

    #[test]
    fn records_that_are_not_as_they_are_taken_for_are_refused() {
        let record = basket(5, 3000, 7);
        let refused = |record: &[u8], entries| {
            let error = Copies::default().add(record, entries).unwrap_err().to_string();
            let same = check(record, entries).unwrap_err().to_string();
            assert_eq!(error, same);
            error
        };
        assert!(refused(&record, 8).contains("number of entries in the basket is 7, expected 8"));
        assert!(refused(&record[..record.len() - 1], 7).contains("length of the basket is"));
        assert!(refused(&record[..40], 7).contains("needs"));
        assert!(refused(&[], 7).contains("needs"));
        let mut other = record.clone();
        other[35] = b'X';
        assert!(refused(&other, 7).contains("a basket"));
        // A payload that is shorter than the key's uncompressed length, but not compressed.
        let mut short = record.clone();
        short[6..10].copy_from_slice(&9000_u32.to_be_bytes());
        refused(&short, 7);
    }
}
