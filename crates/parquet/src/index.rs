//! Page indexes: positions of the pages of a column chunk, their rows, and the bounds of their values.
//!
//! They are hints of the file, like its statistics. An index that is inconsistent, or contradicts its chunk
//! or row group, is ignored: it only saves work.

use crate::{
    footer::{self, Statistics},
    thrift::Compact,
};
use forthwith_plan::{Limit, Result};
use std::ops::Range;

/// Upper bound on the length of an index in bytes; longer ones are ignored.
const LONGEST: u64 = 16 << 20;

/// Returns the byte range of an index in a file of `size` bytes; `None` if it is absent or invalid.
pub(crate) fn place((at, length): (i64, i64), size: u64) -> Option<Range<u64>> {
    let (start, length) = (u64::try_from(at).ok()?, u64::try_from(length).ok()?);
    let end = start.checked_add(length)?;
    (start > 0 && (1..=LONGEST).contains(&length) && end <= size).then_some(start..end)
}

/// Positions and rows of the data pages of a column chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PagePlaces {
    /// Byte range of each page in the file.
    bytes: Vec<Range<u64>>,
    /// First row of each page, counted in the row group, followed by the number of rows of the row group.
    rows: Vec<u64>,
}

impl PagePlaces {
    /// Reads the offset index of a chunk with the byte range `chunk`, in a row group of `rows` rows. Returns
    /// `None` if the index is invalid.
    pub(crate) fn read(bytes: &[u8], chunk: &Range<u64>, rows: u64) -> Option<Self> {
        let mut found = Vec::new();
        let mut compact = Compact::new(bytes);
        let read = compact.fields(&mut |compact, number, kind| match (number, kind) {
            (1, 9) => compact.items(12, "places of pages that are no structures", |compact| {
                found.push(location(compact)?);
                Ok(())
            }),
            _ => compact.skip(kind, 0),
        });
        read.ok()?;
        let mut this =
            Self { bytes: Vec::with_capacity(found.len()), rows: Vec::with_capacity(found.len() + 1) };
        let mut end = chunk.start;
        for [at, length, row] in found {
            let start = u64::try_from(at).ok().filter(|at| *at >= end)?;
            end = start.checked_add(u64::try_from(length).ok().filter(|length| *length > 0)?)?;
            let row = u64::try_from(row).ok()?;
            let follows = this.rows.last().map_or(row == 0, |before| *before < row);
            if end > chunk.end || row >= rows || !follows {
                return None;
            }
            this.bytes.push(start..end);
            this.rows.push(row);
        }
        this.rows.push(rows);
        (!this.bytes.is_empty()).then_some(this)
    }

    /// Returns the number of pages.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Iterates over the rows of each page, counted in the row group.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Range<u64>> {
        self.rows.windows(2).map(|pair| pair[0]..pair[1])
    }

    /// Describes the first difference from the actual pages: their number, their positions and, if
    /// `has_rows`, their numbers of rows.
    pub(crate) fn differs(&self, pages: &[(Range<u64>, u64)], has_rows: bool) -> Option<String> {
        if self.len() != pages.len() {
            return Some(format!("{} pages, and there are {}", self.len(), pages.len()));
        }
        let mut said = self.bytes.iter().zip(self.rows()).zip(pages).enumerate();
        said.find_map(|(at, ((bytes, rows), (place, count)))| {
            let rows = rows.end - rows.start;
            if bytes.start != place.start {
                Some(format!("page {at} at byte {}, and it is at {}", bytes.start, place.start))
            } else if has_rows && rows != *count {
                Some(format!("{rows} rows in page {at}, and it has {count}"))
            } else {
                None
            }
        })
    }

    /// Returns the byte range of a chunk that is needed for a non-empty range of rows, and the rows in it. If
    /// bytes precede the first page, such as a dictionary, the range begins with them.
    pub(crate) fn around(&self, chunk: &Range<u64>, wanted: &Range<u64>) -> Option<(Range<u64>, Range<u64>)> {
        let first = self.rows.partition_point(|row| *row <= wanted.start).checked_sub(1)?;
        let behind = self.rows.partition_point(|row| *row < wanted.end);
        let has_more_before = self.bytes.first()?.start > chunk.start;
        let (start, row) = match has_more_before {
            true => (chunk.start, 0),
            false => (self.bytes.get(first)?.start, *self.rows.get(first)?),
        };
        // Some writers store lengths without page headers, so the range ends where the next page begins.
        let end = self.bytes.get(behind).map_or(chunk.end, |next| next.start);
        Some((start..end, row..*self.rows.get(behind)?))
    }
}

fn location(compact: &mut Compact<'_>) -> Result<[i64; 3]> {
    let mut location = [-1; 3];
    compact.fields(&mut |compact, number, kind| match number {
        1..=3 => compact.number(kind, &mut location[number as usize - 1]),
        _ => compact.skip(kind, 0),
    })?;
    Ok(location)
}

/// Reads the bounds of each page from a column index; `None` for pages without bounds. Returns `None` if the
/// index is invalid.
pub(crate) fn limits(
    bytes: &[u8],
    column: &footer::Column,
    pages: usize,
    of: impl Fn(&Statistics, &footer::Column) -> Option<(Limit, Limit)>,
) -> Option<Vec<Option<(Limit, Limit)>>> {
    let (mut nothing, mut bounds) = (Vec::new(), [Vec::new(), Vec::new()]);
    let mut compact = Compact::new(bytes);
    let read = compact.fields(&mut |compact, number, kind| match (number, kind) {
        (1, 9) => {
            let (_, size) = compact.list()?;
            for _ in 0..size {
                // A boolean that is an item of a list has one byte.
                nothing.push(compact.byte()? == 1);
            }
            Ok(())
        }
        (2 | 3, 9) => compact.items(8, "limits of pages that are no bytes", |compact| {
            bounds[number as usize - 2].push(compact.bytes()?.to_vec());
            Ok(())
        }),
        _ => compact.skip(kind, 0),
    });
    read.ok()?;
    let [least, greatest] = bounds;
    if [nothing.len(), least.len(), greatest.len()] != [pages; 3] {
        return None;
    }
    let limits = nothing.into_iter().zip(least).zip(greatest).map(|((nothing, min), max)| {
        let statistics = Statistics { min: Some(min), max: Some(max), ..Statistics::default() };
        if nothing { None } else { of(&statistics, column) }
    });
    Some(limits.collect())
}

#[cfg(test)]
mod tests {
    use super::PagePlaces;

    /// Returns an offset index of these pages: offset, length and first row, each less than 64.
    fn index(pages: &[[u8; 3]]) -> Vec<u8> {
        let mut bytes = vec![0x19, (pages.len() as u8) << 4 | 12];
        for [at, length, row] in pages {
            bytes.extend([0x16, at * 2, 0x15, length * 2, 0x16, row * 2, 0]);
        }
        bytes.push(0);
        bytes
    }

    #[test]
    fn pages_around_rows_are_found() {
        let bytes = index(&[[10, 5, 0], [15, 5, 4], [22, 8, 9]]);
        let places = |chunk| PagePlaces::read(&bytes, chunk, 12);
        let plain = places(&(10..30)).unwrap();
        assert_eq!(plain.around(&(10..30), &(0..1)), Some((10..15, 0..4)));
        assert_eq!(plain.around(&(10..30), &(4..9)), Some((15..22, 4..9)));
        assert_eq!(plain.around(&(10..30), &(8..10)), Some((15..30, 4..12)));
        let with_dictionary = places(&(3..30)).unwrap();
        assert_eq!(with_dictionary.around(&(3..30), &(4..9)), Some((3..22, 0..9)));
        assert_eq!(plain.rows().collect::<Vec<_>>(), [0..4, 4..9, 9..12]);
    }

    #[test]
    fn indexes_that_contradict_themselves_are_none() {
        let read = |pages: &[[u8; 3]]| PagePlaces::read(&index(pages), &(10..30), 12);
        assert!(read(&[[10, 20, 0]]).is_some());
        for wrong in [
            &[][..],
            &[[9, 5, 0]],
            &[[10, 21, 0]],
            &[[10, 0, 0]],
            &[[10, 5, 1]],
            &[[10, 5, 0], [14, 5, 4]],
            &[[10, 5, 0], [15, 5, 0]],
            &[[10, 5, 0], [15, 5, 12]],
        ] {
            assert_eq!(read(wrong), None, "{wrong:?}");
        }
        let whole = index(&[[10, 5, 0], [15, 5, 4]]);
        for length in 0..whole.len() - 1 {
            assert_eq!(PagePlaces::read(&whole[..length], &(10..30), 12), None);
        }
    }
}
