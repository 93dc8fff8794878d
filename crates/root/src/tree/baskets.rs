//! Which baskets a branch has, and where.

use std::ops::Range;

use forthwith_plan::{Error, ErrorKind, Result};

use super::metadata::Branch;
use crate::{Cursor, format::Basket};

/// A basket by the branch's word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Its number within the branch.
    pub(super) number: u64,
    /// The entries it holds.
    pub(super) entries: Range<u64>,
    /// Its bytes.
    pub(super) bytes: Bytes,
}

/// Where a basket's bytes are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Bytes {
    /// In the file.
    File(Range<u64>),
    /// In the tree's own record: the basket was never flushed.
    Record(Range<usize>),
}

impl Place {
    pub(super) fn len(&self) -> u64 {
        match &self.bytes {
            Bytes::File(range) => range.end - range.start,
            Bytes::Record(range) => range.len() as u64,
        }
    }
}

/// The baskets of a branch that hold entries, in order and without gaps. `data` is the tree's record, `file_size` the size of
/// the file.
pub(super) fn places(branch: &Branch<'_>, data: &[u8], file_size: u64) -> Result<Vec<Place>> {
    if !branch.field.has_data {
        return Ok(Vec::new());
    }
    let last = branch.write_basket;
    let count = usize::try_from(last).unwrap_or(usize::MAX).saturating_add(1);
    let begins: Vec<u64> = branch.basket_entries().take(count).map(first_entry).collect::<Result<_>>()?;
    let seeks: Vec<i64> = branch.basket_seeks().take(count).collect();
    let lengths: Vec<i64> = branch.basket_bytes().take(count).collect();
    let embedded = branch.embedded_baskets();
    let end = branch.end();

    let mut places = Vec::with_capacity(begins.len());
    let mut next = branch.first_entry;
    for number in 0..=last {
        let index = number as usize;
        // One more basket than were flushed: the last may still be in the tree's record. Old files lack its first entry,
        // if there is no such basket.
        let Some(&begin) = begins.get(index) else { break };
        let stop = match begins.get(index + 1) {
            Some(&stop) if number < last => stop,
            _ => end,
        };
        if begin == stop || (number == last && begin > stop) {
            continue;
        }
        if begin != next || stop < begin {
            let error = ErrorKind::Mismatch { what: "first entry of a basket", expected: next, found: begin };
            return Err(Error::new(error).in_block(number));
        }
        next = stop;
        let entries = begin..stop;
        let slot = embedded.get(index).cloned().flatten();
        let bytes = match slot {
            Some(range) => {
                let basket = Basket::parse(&mut Cursor::new(data.get(range.clone()).unwrap_or_default()))?;
                match file_range(&seeks, &lengths, index, file_size) {
                    // A basket that was written, and read back before the tree was: the copy needs no decompression,
                    // but the record is what everything else here is about.
                    Ok(file) if basket.seek() == file.start && basket.nbytes > 0 => Bytes::File(file),
                    _ => Bytes::Record(range),
                }
            }
            None => {
                Bytes::File(file_range(&seeks, &lengths, index, file_size).map_err(|e| e.in_block(number))?)
            }
        };
        places.push(Place { number, entries, bytes });
    }
    if next != end {
        let error =
            ErrorKind::Mismatch { what: "number of entries in the baskets", expected: end, found: next };
        return Err(error.into());
    }
    Ok(places)
}

fn file_range(seeks: &[i64], lengths: &[i64], index: usize, file_size: u64) -> Result<Range<u64>> {
    let seek = seeks.get(index).copied().unwrap_or(0);
    let length = lengths.get(index).copied().unwrap_or(0);
    let begin = u64::try_from(seek).ok().filter(|&seek| seek > 0);
    let Some(begin) = begin else {
        let error = ErrorKind::OutOfRange { what: "place of a basket", found: seek, limit: file_size as i64 };
        return Err(error.into());
    };
    let stop =
        u64::try_from(length).ok().filter(|&length| length > 0).and_then(|length| begin.checked_add(length));
    match stop {
        Some(stop) if stop <= file_size => Ok(begin..stop),
        _ => {
            let limit = file_size.saturating_sub(begin) as i64;
            Err(Error::new(ErrorKind::OutOfRange { what: "length of a basket", found: length, limit })
                .at_byte(begin))
        }
    }
}

fn first_entry(found: i64) -> Result<u64> {
    let (what, limit) = ("first entry of a basket", i64::MAX);
    u64::try_from(found).map_err(|_| ErrorKind::OutOfRange { what, found, limit }.into())
}
