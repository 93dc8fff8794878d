//! Page indexes: where the pages of a column chunk are, which rows they have, and limits of their values.
//!
//! They are the file's word, as the footer is. An index that contradicts itself, its chunk or its row group is taken for none: it
//! only saves work.

use crate::{
    footer::{self, Statistics},
    thrift::Compact,
};
use forthwith_plan::{Limit, Result};
use std::ops::Range;

/// The longest index that is read.
const LONGEST: u64 = 16 << 20;

/// The place of an index, in a file of `size` bytes, if there is one.
pub(crate) fn place((at, length): (i64, i64), size: u64) -> Option<Range<u64>> {
    let (start, length) = (u64::try_from(at).ok()?, u64::try_from(length).ok()?);
    let end = start.checked_add(length)?;
    (start > 0 && (1..=LONGEST).contains(&length) && end <= size).then_some(start..end)
}

/// The data pages of a column chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PagePlaces {
    /// The bytes of each in the file.
    bytes: Vec<Range<u64>>,
    /// The first row of each, counted in the row group, and behind the last one the rows there are.
    rows: Vec<u64>,
}

impl PagePlaces {
    /// Reads an offset index of a chunk that has these bytes, in a row group of some rows.
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

    /// The number of pages.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The rows of each page, counted in the row group.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Range<u64>> {
        self.rows.windows(2).map(|pair| pair[0]..pair[1])
    }

    /// What differs from the pages that there are: where they begin, and of columns without lists their rows.
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

    /// The bytes of a chunk that are needed for some of its rows, not none, and the rows that they have. What stands before the
    /// first page, which is a dictionary, is needed for all.
    pub(crate) fn around(&self, chunk: &Range<u64>, wanted: &Range<u64>) -> Option<(Range<u64>, Range<u64>)> {
        let first = self.rows.partition_point(|row| *row <= wanted.start).checked_sub(1)?;
        let behind = self.rows.partition_point(|row| *row < wanted.end);
        let has_more_before = self.bytes.first()?.start > chunk.start;
        let (start, row) = match has_more_before {
            true => (chunk.start, 0),
            false => (self.bytes.get(first)?.start, *self.rows.get(first)?),
        };
        // Some writers count a page without its header: what tells is where the next one begins.
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

/// The limits of each of some pages, by a column index: none of pages of which it says nothing.
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
                // As an element of a list, a truth value is a byte.
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

    /// A list of structures of three numbers, each less than 64.
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
