//! Which baskets a branch has, and where.

use std::ops::Range;

use forthwith_plan::{Error, ErrorKind, Result};

use forthwith_root::Cursor;

use crate::format::Basket;
use crate::metadata::Branch;

/// A basket by the branch's word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BasketRef {
    /// Its number within the branch.
    pub(crate) number: u64,
    /// The entries it holds.
    pub(crate) entries: Range<u64>,
    /// Its bytes.
    pub(crate) bytes: Bytes,
}

/// The place of a basket's bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Bytes {
    /// In the file.
    File(Range<u64>),
    /// In the tree's own record: the basket was never flushed.
    Record(Range<usize>),
    /// A place that cannot be: offset and length as the branch has them.
    Nowhere(i64, i64),
}

impl BasketRef {
    /// Its bytes in the file, if they are there.
    pub(super) fn file_bytes(&self) -> Option<Range<u64>> {
        match &self.bytes {
            Bytes::File(range) => Some(range.clone()),
            Bytes::Record(_) | Bytes::Nowhere(..) => None,
        }
    }

    pub(super) fn len(&self) -> u64 {
        match &self.bytes {
            Bytes::File(range) => range.end - range.start,
            Bytes::Record(range) => range.len() as u64,
            Bytes::Nowhere(..) => 0,
        }
    }
}

/// The baskets that a branch lists and that hold entries, in order and without gaps. `data` is the tree's record,
/// `file_size` the size of the file.
pub(super) fn of(branch: &Branch<'_>, data: &[u8], file_size: u64) -> Result<Vec<BasketRef>> {
    if !branch.field.has_data {
        return Ok(Vec::new());
    }
    let last = branch.write_basket;
    let count = usize::try_from(last).unwrap_or(usize::MAX).saturating_add(1);
    let begins: Vec<u64> =
        branch.integers("fBasketEntry").take(count).map(first_entry).collect::<Result<_>>()?;
    let seeks: Vec<i64> = branch.integers("fBasketSeek").take(count).collect();
    let lengths: Vec<i64> = branch.integers("fBasketBytes").take(count).collect();
    let embedded = branch.embedded_baskets();
    let end = branch.saved_end();

    let mut baskets = Vec::with_capacity(begins.len());
    let mut next = branch.first_entry;
    for number in 0..=last {
        let index = number as usize;
        // One more basket than were flushed: the last may still be in the tree's record. Old files lack its
        // first entry, if there is no such basket.
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
        let file = file_range(&seeks, &lengths, index, file_size);
        let bytes = match slot {
            Some(range) => {
                let copied = data.get(range.clone()).unwrap_or_default();
                match (file, Basket::parse(&mut Cursor::new(copied))) {
                    // A basket that was written, and read back before the tree was: the copy needs no
                    // decompression, but the record is what everything else here is about.
                    (Ok(file), Ok(basket)) if basket.header.seek == file.start && basket.nbytes > 0 => {
                        Bytes::File(file)
                    }
                    // If it is damaged, that is found where it is read.
                    _ => Bytes::Record(range),
                }
            }
            // Found where it is read, so that other baskets can be.
            None => file.map_or_else(|(seek, length)| Bytes::Nowhere(seek, length), Bytes::File),
        };
        baskets.push(BasketRef { number, entries, bytes });
    }
    if next != end {
        let error =
            ErrorKind::Mismatch { what: "number of entries in the baskets", expected: end, found: next };
        return Err(error.into());
    }
    Ok(baskets)
}

/// The place of a basket, or what stands there instead of one.
fn file_range(
    seeks: &[i64],
    lengths: &[i64],
    index: usize,
    file_size: u64,
) -> std::result::Result<Range<u64>, (i64, i64)> {
    let seek = seeks.get(index).copied().unwrap_or(0);
    let length = lengths.get(index).copied().unwrap_or(0);
    let positive = |number: i64| u64::try_from(number).ok().filter(|&number| number > 0);
    let begin = positive(seek);
    let stop = begin.zip(positive(length)).and_then(|(begin, length)| begin.checked_add(length));
    match (begin, stop) {
        (Some(begin), Some(stop)) if stop <= file_size => Ok(begin..stop),
        _ => Err((seek, length)),
    }
}

fn first_entry(found: i64) -> Result<u64> {
    u64::try_from(found).map_err(|_| Error::out_of_range("first entry of a basket", found, i64::MAX))
}
