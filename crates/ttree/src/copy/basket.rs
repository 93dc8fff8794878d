//! Baskets that are built from entries of others, or compressed anew.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use forthwith_io::Decompressor;
use forthwith_plan::{Bench, BlockMaker, Error, Result, Scratch, StoredBlock};
use forthwith_root::write::{Compression, DirectoryId, FileWriter, KeyKind, KeyText, compress_into};
use forthwith_root::{Cursor, decompress_record, names_class};

use super::Placed;
use super::record_runs::Record;
use super::references::Renumber;
use super::relocate::Relocation;
use crate::format::{Asked, Basket, unframe};
use crate::write::append_numbers;

/// Entries of one branch that were collected for a new basket.
#[derive(Debug, Default)]
pub(super) struct Pending {
    data: Vec<u8>,
    /// Offset of each entry in the data.
    starts: Vec<u32>,
    /// Size of an entry in bytes, for baskets without offsets.
    width: u32,
}

/// Change to entries that are taken out of a basket.
#[derive(Clone, Copy, Debug)]
pub(super) enum Change<'c> {
    Nothing,
    /// Renumbers the branches and processes in tables of references.
    Tables(&'c Renumber),
    /// Adjusts pointers within an entry, which count from the start of the basket.
    Pointers(&'c Relocation),
}

/// A basket that is ready to be compressed.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) payload: Vec<u8>,
    pub(super) filling: Filling,
}

/// Counts and sizes in the header of a basket.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filling {
    pub(crate) entries: u32,
    /// Size of the entries in bytes.
    pub(crate) data: u32,
    /// Capacity for entries or, without offsets, the size of an entry.
    pub(crate) size: u32,
}

/// Returns the strings in the keys of a branch's baskets.
pub(crate) const fn basket_text<'a>(branch: &'a str, tree: &'a str) -> KeyText<'a> {
    KeyText { class: "TBasket", name: branch, title: tree }
}

/// Writes basket `number`, which begins with entry `first`. `length` is the size of its payload before
/// compression, and the process ids of its references count from `processes`. Returns its position and the
/// uncompressed size of the record.
pub(crate) fn write_basket(
    file: &mut FileWriter,
    (directory, text): (DirectoryId, KeyText<'_>),
    (number, first, processes): (u32, u64, u16),
    filling: Filling,
    (length, stored): (usize, &[u8]),
) -> Result<(Placed, u64)> {
    let key_len = file.key_length(text, KeyKind::BASKET)?;
    let header = basket_header(filling, u32::from(key_len).saturating_add(filling.data));
    let kind = KeyKind::Basket { number, header, processes };
    let place = file.record(text, directory, kind, length, &[stored])?;
    // The length fits 32 bits, as was checked before.
    let placed = Placed { entry: first, bytes: place.length() as u32, position: place.position };
    Ok((placed, u64::from(place.key_len) + length as u64))
}

impl Pending {
    /// Returns the number of entries.
    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }

    /// Returns the size of the entries in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.data.len()
    }

    /// Adds entries of a stored basket, numbered from its first, with `change` applied to each. `key_len` is
    /// the length of the new basket's key.
    ///
    /// # Errors
    /// Returns an error if the basket is damaged or lacks entry offsets, or if an entry cannot be changed.
    pub(super) fn add(
        &mut self,
        stored: &[u8],
        entries: &Range<u64>,
        kept: &[Range<u64>],
        (change, key_len): (Change<'_>, u32),
        scratch: &mut Scratch,
    ) -> Result<()> {
        let basket = Basket::parse(&mut Cursor::new(stored))?;
        let moved_before = matches!(change, Change::Pointers(_)) && basket.has_displacements();
        let asked = Asked { bounds: true, ..Asked::default() };
        let block = unframe(asked, entries, entries, stored, scratch)?;
        let bounds: Vec<u32> =
            block.bounds.as_chunks::<4>().0.iter().map(|b| u32::from_le_bytes(*b)).collect();
        for range in kept {
            let begin = range.start.saturating_sub(entries.start) as usize;
            let end = range.end.saturating_sub(entries.start) as usize;
            let (Some(part), Some(&last)) = (bounds.get(begin..end), bounds.get(end)) else {
                return Err(Error::mismatch("bounds of entries", end as u64 + 1, bounds.len()));
            };
            let Some(&first) = part.first() else { continue };
            let bytes = block.payload.get(first as usize..last as usize).unwrap_or_default();
            self.compare_length(bytes.len())?;
            self.width = basket.header.nev_buf_size;
            let stays = match change {
                Change::Nothing => true,
                Change::Pointers(_) => !names_class(bytes),
                Change::Tables(_) => false,
            };
            if stays {
                let shift = self.data.len() as u32;
                self.starts.extend(part.iter().map(|start| start - first + shift));
                self.data.extend(bytes);
                continue;
            }
            if moved_before {
                let what = "taking entries with pointers out of a basket whose entries were moved before";
                return Err(Error::unsupported(what));
            }
            for (at, start) in part.iter().enumerate() {
                let end = part.get(at + 1).unwrap_or(&last);
                let entry = block.payload.get(*start as usize..*end as usize).unwrap_or_default();
                let from = block.origin as u32 + start;
                self.starts.push(self.data.len() as u32);
                let changed = self.add_entry(entry, from, change, key_len);
                changed.map_err(|error| error.at_entry(range.start + at as u64))?;
                self.compare_length(0)?;
            }
        }
        Ok(())
    }

    /// Adds an entry, whose offset from the key of its basket was `from`.
    fn add_entry(&mut self, entry: &[u8], from: u32, change: Change<'_>, key_len: u32) -> Result<()> {
        let to = key_len + self.data.len() as u32;
        match change {
            Change::Tables(renumber) => return renumber.entry(entry, &mut self.data),
            Change::Pointers(relocation) if from != to && names_class(entry) => {
                return relocation.entry(entry, from, to, &mut self.data);
            }
            _ => self.data.extend(entry),
        }
        Ok(())
    }

    /// Checks that `more` bytes keep the data below 1 GiB, beyond which a basket cannot be written.
    fn compare_length(&self, more: usize) -> Result<()> {
        match self.data.len() + more < LONGEST as usize {
            true => Ok(()),
            false => Err(Error::unsupported(TOO_LONG)),
        }
    }

    /// Returns a basket of the collected entries. `key_len` is the length of its key.
    pub(super) fn take(&mut self, offsets: bool, key_len: u32) -> Made {
        let Self { data, starts, width } = std::mem::take(self);
        let (length, entries) = (data.len() as u32, starts.len() as u32);
        let mut payload = data;
        if offsets {
            array(&mut payload, starts.iter().map(|start| start + key_len));
        }
        let size = if offsets { (entries + 1).max(1000) } else { width };
        Made { payload, filling: Filling { entries, data: length, size } }
    }
}

impl Made {
    /// Returns a basket of identical entries, with offsets. `key_len` is the length of its key.
    pub(super) fn of_equal(entry: &[u8], entries: u32, key_len: u32) -> Self {
        let mut payload = entry.repeat(entries as usize);
        let data = payload.len() as u32;
        array(&mut payload, (0..entries).map(|at| key_len + at * entry.len() as u32));
        Self { payload, filling: Filling { entries, data, size: (entries + 1).max(1000) } }
    }
}

/// Appends an array of one number for each entry and a zero, after its length.
pub(crate) fn array(payload: &mut Vec<u8>, numbers: impl ExactSizeIterator<Item = u32>) {
    payload.reserve(4 * numbers.len() + 8);
    payload.extend((numbers.len() as u32 + 1).to_be_bytes());
    append_numbers(numbers, payload);
    payload.extend([0; 4]);
}

/// Returns the header of a basket, which ends its key: version, buffer size, capacity or size of the entries,
/// their number, the end of the last, and a flag that no data follow.
fn basket_header(filling: Filling, last: u32) -> [u8; 19] {
    let mut header = [0; 19];
    header[..2].copy_from_slice(&3_i16.to_be_bytes());
    let numbers = [last.max(BUFFER), filling.size, filling.entries, last];
    for (place, number) in header[2..18].as_chunks_mut::<4>().0.iter_mut().zip(numbers) {
        *place = number.to_be_bytes();
    }
    header
}

/// Basket to compress, perhaps anew.
#[derive(Debug)]
pub(super) struct Job {
    /// The resulting record, whose length is not known yet.
    pub(super) record: Record,
    pub(super) compression: Compression,
    pub(super) work: Mutex<Work>,
}

#[derive(Debug)]
pub(super) enum Work {
    /// A whole record, whose payload is compressed anew.
    Record(Vec<u8>),
    /// A new basket.
    Made(Made),
    /// The work was taken.
    Taken,
}

impl Work {
    /// Returns the size of the data to compress.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Record(record) => record.len(),
            Self::Made(made) => made.payload.len(),
            Self::Taken => 0,
        }
    }
}

/// Baskets that are compressed in parallel.
pub(super) struct Batch<'j>(pub(super) &'j [Job]);

impl BlockMaker for Batch<'_> {
    fn blocks(&self) -> usize {
        self.0.len()
    }

    fn weight(&self, block: usize) -> u64 {
        self.0
            .get(block)
            .map_or(0, |job| 4 * job.work.lock().unwrap_or_else(PoisonError::into_inner).bytes() as u64)
    }

    fn make(&self, block: usize, bench: &mut Bench) -> Result<StoredBlock> {
        let job = &self.0[block];
        let mut work = job.work.lock().unwrap_or_else(PoisonError::into_inner);
        match &*work {
            Work::Made(made) => {
                let mut bytes = bench.spare();
                if !compress_into(job.compression, &made.payload, &mut bench.compressor, &mut bytes)? {
                    bytes.clear();
                    bytes.extend(&made.payload);
                }
                Ok(StoredBlock { bytes, payload: made.payload.len() as u64, note: 0 })
            }
            Work::Record(record) => {
                let made = recompressed(record, job.compression, bench)?;
                *work = Work::Taken;
                Ok(made)
            }
            Work::Taken => Ok(StoredBlock::default()),
        }
    }
}

/// Compresses the payload of a record anew. Only the record's length changes in its key.
fn recompressed(record: &[u8], compression: Compression, bench: &mut Bench) -> Result<StoredBlock> {
    let basket = Basket::parse(&mut Cursor::new(record))?;
    let (key_len, object_len) = (basket.keylen as usize, basket.header.objlen as usize);
    let (key, stored) = record.split_at_checked(key_len).unwrap_or((record, &[]));
    let mut payload = std::mem::take(&mut bench.payload);
    payload.clear();
    if object_len > stored.len() {
        forthwith_root::check_record(stored, object_len)?;
        payload.resize(object_len, 0);
        decompress_record(stored, &mut payload, &mut Decompressor::new())?;
    } else {
        payload.extend(&stored[..object_len]);
    }
    let mut bytes = bench.spare();
    bytes.extend(key);
    if !compress_into(compression, &payload, &mut bench.compressor, &mut bytes)? {
        bytes.truncate(key_len);
        bytes.extend(&payload);
    }
    let length = u32::try_from(bytes.len()).map_err(|_| Error::unsupported("a basket of more than 4 GB"))?;
    bytes[..4].copy_from_slice(&length.to_be_bytes());
    bench.payload = payload;
    Ok(StoredBlock { bytes, payload: object_len as u64, note: 0 })
}

/// Minimum `fBufferSize`: ROOT's default.
const BUFFER: u32 = 32_000;
/// Exclusive upper bound on byte counts.
const LONGEST: u32 = 1 << 30;
const TOO_LONG: &str = "entries of more than 1 GB in one basket";
