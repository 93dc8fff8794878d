//! The baskets of a branch, and their positions.

use std::ops::Range;

use forthwith_plan::{Error, ErrorKind, Result};

use forthwith_root::Cursor;

use crate::format::Basket;
use crate::metadata::Branch;

/// A basket, as its branch records it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BasketRef {
    /// Index within the branch.
    pub(crate) number: u64,
    /// Entries of the basket.
    pub(crate) entries: Range<u64>,
    /// Position of its bytes.
    pub(crate) bytes: Bytes,
}

/// Position of a basket's bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Bytes {
    /// Range of the file.
    File(Range<u64>),
    /// Range of the tree's own record: the basket was never flushed.
    Record(Range<usize>),
    /// Invalid offset and length, as the branch has them.
    Nowhere(i64, i64),
}

impl BasketRef {
    /// Returns the range in the file, or `None` if the basket is not there.
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

/// Returns the baskets of a branch that have entries, in order. `data` is the tree's record, and `file_size`
/// the size of the file.
///
/// Returns an error if the baskets are not contiguous, or end before or after the entries of the branch.
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
        // There is one more basket than were flushed: the last may still be in the tree's record. Old files
        // lack its first entry if there is no such basket.
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
                    // The basket was written, and read again before the tree was written. Its record is used,
                    // as for other baskets, although the copy in the tree would need no decompression.
                    (Ok(file), Ok(basket)) if basket.header.seek == file.start && basket.nbytes > 0 => {
                        Bytes::File(file)
                    }
                    // A damaged record is reported when it is read.
                    _ => Bytes::Record(range),
                }
            }
            // An invalid position is reported when the basket is read, so that others can be read.
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

/// Returns the range of a basket in the file, or its offset and length if they are invalid.
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
