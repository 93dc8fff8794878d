//! Baskets that stand one behind the other in a file, and are read and written together.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use forthwith_io::Source;
use forthwith_plan::{Bench, BlockMaker, Error, ErrorKind, Result, StoredBlock};
use forthwith_root::{Cursor, check_record};

use crate::format::Basket;

/// Records beside each other.
#[derive(Debug, Default)]
pub(super) struct Window {
    /// Which of the sources they are in.
    pub(super) source: usize,
    pub(super) bytes: Range<u64>,
    pub(super) records: Vec<Record>,
}

/// One of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    pub(super) field: u32,
    pub(super) entries: u64,
    /// The number that its first entry gets.
    pub(super) first: u64,
    pub(super) length: u32,
}

impl Window {
    /// Whether a record can be read together with those that there are.
    pub(super) fn takes(&self, source: usize, range: &Range<u64>) -> bool {
        self.source == source && self.bytes.end == range.start && range.end - self.bytes.start <= LONGEST
    }
}

/// Windows that are read on any thread, and taken in their order.
pub(super) struct Windows<'w> {
    pub(super) all: &'w [Window],
    pub(super) sources: &'w [Arc<dyn Source>],
    /// Memory that is used again.
    pub(super) spare: &'w Mutex<Vec<Vec<u8>>>,
}

impl Windows<'_> {
    /// Keeps the memory of a window that was written.
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
        bytes.resize(within_file(&window.bytes), 0);
        self.sources[window.source].read_into(window.bytes.start, &mut bytes)?;
        Ok(StoredBlock { bytes, payload: 0, note: 0 })
    }
}

/// The length of a range of a file. It is that of memory as well: branches were compared with the file's size.
pub(super) fn within_file(range: &Range<u64>) -> usize {
    (range.end - range.start) as usize
}

/// Whether a record is a basket of so many entries, and how long it is when it is not compressed.
pub(super) fn check(record: &[u8], entries: u64) -> Result<u64> {
    let basket = Basket::parse(&mut Cursor::new(record))?;
    let mismatch = |what, expected, found| Error::new(ErrorKind::Mismatch { what, expected, found });
    if u64::from(basket.entries()) != entries {
        return Err(mismatch("number of entries in the basket", entries, basket.entries().into()));
    }
    let length = record.len() as u64;
    if u64::from(basket.nbytes) != length || u64::from(basket.key_len()) > length {
        return Err(mismatch("length of the basket", length, basket.nbytes.into()));
    }
    let (stored, object_len) = (&record[basket.key_len() as usize..], basket.object_len() as usize);
    if object_len > stored.len() {
        check_record(stored, object_len)?;
    }
    Ok(u64::from(basket.key_len()) + object_len as u64)
}

/// Records that stand beside each other are read and written in pieces of this length, which caches hold.
const LONGEST: u64 = 512 << 10;
