//! Which baskets a branch has, and where.

use std::ops::Range;

use forthwith_plan::{Error, ErrorKind, Result};

use super::{
    layout::{ObjArray, Value},
    metadata::{Branch, integers},
};
use crate::{Cursor, Tag, format::Basket};

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
pub(super) fn places(branch: &Branch, data: &[u8], origin: u32, file_size: u64) -> Result<Vec<Place>> {
    if !branch.has_data() {
        return Ok(Vec::new());
    }
    let last = branch.write_basket;
    let begins = numbers(data, branch.basket_entry, last + 1, "first entry of a basket")?;
    let seeks: Vec<i64> = integers(data, branch.basket_seek).take(last as usize + 1).collect();
    let lengths: Vec<i64> = integers(data, branch.basket_bytes).take(last as usize + 1).collect();
    let embedded = embedded(branch, data, origin)?;
    let end = end(branch);

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
                let basket = Basket::parse(&mut Cursor::new(&data[range.clone()]))?;
                match file_range(&seeks, &lengths, index, file_size) {
                    // A basket that was written, and read back before the tree was: the copy needs no decompression,
                    // but the record is what everything else here is about.
                    Ok(file) if basket.seek == file.start && basket.nbytes > 0 => Bytes::File(file),
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

/// One past the branch's last entry.
pub(super) fn end(branch: &Branch) -> u64 {
    match branch.entry_number {
        // A branch that only groups others does not count in this way.
        0 => branch.first_entry.saturating_add(branch.entries),
        end => end,
    }
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

/// Up to `count` elements of an array of positive numbers.
fn numbers(data: &[u8], array: Value, count: u64, what: &'static str) -> Result<Vec<u64>> {
    let limit = i64::MAX;
    let checked = integers(data, array).take(usize::try_from(count).unwrap_or(usize::MAX)).map(|number| {
        u64::try_from(number).map_err(|_| Error::new(ErrorKind::OutOfRange { what, found: number, limit }))
    });
    checked.collect()
}

/// The baskets in the tree's own record, by their number.
fn embedded(branch: &Branch, data: &[u8], origin: u32) -> Result<Vec<Option<Range<usize>>>> {
    let Value::Object { begin } = branch.baskets else { return Ok(Vec::new()) };
    let mut cursor = Cursor::with_origin(data, origin);
    cursor.seek(begin as usize)?;
    let mut array = ObjArray::enter(&mut cursor)?;
    let mut found = Vec::new();
    while let Some(tag) = array.next(&mut cursor)? {
        let range = match tag {
            Tag::Object { class: b"TBasket", end: Some(end), .. } => {
                let range = cursor.position()..end;
                cursor.seek(end)?;
                Some(range)
            }
            Tag::Object { end: Some(end), .. } => {
                cursor.seek(end)?;
                None
            }
            Tag::Object { begin, end: None, .. } => {
                return Err(Error::unsupported("a basket without a length").at_byte(begin as u64));
            }
            _ => None,
        };
        found.push(range);
    }
    Ok(found)
}
