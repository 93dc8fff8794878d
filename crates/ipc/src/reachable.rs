//! Reachable rows of a child array: those referenced by a valid parent.
//!
//! Child rows under a null struct or list, and items that no list covers, may hold arbitrary values; writers
//! leave out-of-range dictionary keys there. Only reachable keys are validated.

use arrow_buffer::bit_iterator::BitSliceIterator;
use arrow_schema::DataType;
use std::ops::Range;

/// Ranges of rows in ascending order, or `None` if all rows are reachable.
pub(crate) type Reachable = Option<Vec<Range<usize>>>;

/// Returns whether a type contains dictionaries; reachability is not computed for others.
fn has_dictionary(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(..) => true,
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::FixedSizeList(item, _)
        | DataType::RunEndEncoded(_, item)
        | DataType::Map(item, _) => has_dictionary(item.data_type()),
        DataType::Struct(fields) => fields.iter().any(|field| has_dictionary(field.data_type())),
        DataType::Union(fields, _) => fields.iter().any(|(_, field)| has_dictionary(field.data_type())),
        _ => false,
    }
}

/// Returns the rows that are reachable and valid. `validity` has a bit for each row, if any is null.
fn shown(rows: usize, validity: Option<&[u8]>, parent: &Reachable) -> Reachable {
    let Some(bits) = validity else { return parent.clone() };
    let runs = BitSliceIterator::new(bits, 0, rows.min(8 * bits.len())).map(|(start, end)| start..end);
    Some(match parent {
        None => runs.collect(),
        Some(parent) => common(runs, parent),
    })
}

/// Returns the intersection of two lists of ranges.
fn common(first: impl Iterator<Item = Range<usize>>, second: &[Range<usize>]) -> Vec<Range<usize>> {
    let (mut both, mut at) = (Vec::new(), 0);
    for range in first {
        while second.get(at).is_some_and(|other| other.end <= range.start) {
            at += 1;
        }
        for other in second[at..].iter().take_while(|other| other.start < range.end) {
            both.push(range.start.max(other.start)..range.end.min(other.end));
        }
    }
    both
}

/// Appends a range that begins after the others, or extends the last one.
fn push(ranges: &mut Vec<Range<usize>>, range: Range<usize>) {
    match ranges.last_mut() {
        _ if range.is_empty() => {}
        Some(last) if last.end == range.start => last.end = range.end,
        // Offsets that do not grow are refused where the list is built.
        Some(last) if last.end > range.start => {}
        _ => ranges.push(range),
    }
}

/// Returns the reachable rows of the fields of structs.
pub(crate) fn in_records(
    rows: usize,
    validity: Option<&[u8]>,
    fields: &[&DataType],
    parent: &Reachable,
) -> Reachable {
    if fields.iter().any(|field| has_dictionary(field)) { shown(rows, validity, parent) } else { None }
}

/// Returns the reachable items of lists of `size` items.
pub(crate) fn in_lists_of(
    size: usize,
    rows: usize,
    validity: Option<&[u8]>,
    item: &DataType,
    parent: &Reachable,
) -> Reachable {
    let mut ranges = in_records(rows, validity, &[item], parent)?;
    for range in &mut ranges {
        *range = range.start.saturating_mul(size)..range.end.saturating_mul(size);
    }
    Some(ranges)
}

/// Returns the reachable items of list views, which have a range for each row.
pub(crate) fn in_views(
    views: impl Iterator<Item = Range<usize>>,
    item: &DataType,
    parent: &Reachable,
) -> Reachable {
    if !has_dictionary(item) {
        return None;
    }
    let mut shown = views.collect::<Vec<_>>();
    if let Some(rows) = parent {
        shown = rows.iter().flat_map(|rows| shown.get(rows.clone()).unwrap_or_default()).cloned().collect();
    }
    shown.retain(|range| !range.is_empty());
    shown.sort_unstable_by_key(|range| (range.start, range.end));
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for range in shown {
        match ranges.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => ranges.push(range),
        }
    }
    Some(ranges)
}

/// Returns the reachable items of lists with offsets of `width` bytes.
pub(crate) fn in_lists(
    offsets: &[u8],
    width: usize,
    validity: Option<&[u8]>,
    item: &DataType,
    parent: &Reachable,
) -> Reachable {
    if !has_dictionary(item) {
        return None;
    }
    let offset = |row: usize| {
        let bytes = offsets.get(row.checked_mul(width)?..)?;
        let number = match width {
            4 => i64::from(i32::from_le_bytes(*bytes.first_chunk()?)),
            _ => i64::from_le_bytes(*bytes.first_chunk()?),
        };
        usize::try_from(number).ok()
    };
    let rows = (offsets.len() / width).saturating_sub(1);
    let whole = || std::iter::once(0..rows).collect();
    let mut ranges = Vec::new();
    // Lists that follow each other have items that do.
    for run in shown(rows, validity, parent).unwrap_or_else(whole) {
        if let (Some(start), Some(end)) = (offset(run.start), offset(run.end.min(rows))) {
            push(&mut ranges, start..end);
        }
    }
    Some(ranges)
}

/// The rows of the member of a union with the tag `id`: those with the tag or, if there are offsets, those at the offsets of such rows.
pub(crate) fn in_member(id: i8, tags: &[i8], offsets: Option<&[i32]>, member: &DataType) -> Reachable {
    if !has_dictionary(member) {
        return None;
    }
    let with_tag = (0..).zip(tags).filter(|(_, tag)| **tag == id).map(|(row, _): (usize, _)| row);
    let rows: Vec<usize> = match offsets {
        None => with_tag.collect(),
        Some(offsets) => {
            let at = |row: usize| offsets.get(row).and_then(|offset| usize::try_from(*offset).ok());
            let mut rows: Vec<usize> = with_tag.filter_map(at).collect();
            rows.sort_unstable();
            rows
        }
    };
    let mut ranges = Vec::new();
    rows.into_iter().for_each(|row| push(&mut ranges, row..row + 1));
    Some(ranges)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys() -> DataType {
        DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8))
    }

    fn only(range: Range<usize>) -> Reachable {
        Some(std::iter::once(range).collect())
    }

    #[test]
    fn rows_behind_nulls_are_not_reached() {
        let some = Some(&[0b101][..]);
        assert_eq!(in_records(3, some, &[&keys()], &None), Some(vec![0..1, 2..3]));
        assert_eq!(in_records(3, some, &[&keys()], &only(1..3)), only(2..3));
        assert_eq!(in_records(3, some, &[&DataType::Int8], &None), None);
        assert_eq!(in_records(3, None, &[&keys()], &None), None);
        let pairs = in_lists_of(2, 2, Some(&[0b10]), &keys(), &None);
        assert_eq!(pairs, only(2..4));
    }

    #[test]
    fn items_between_lists_are_not_reached() {
        let bytes = |offsets: &[i32]| -> Vec<u8> { offsets.iter().flat_map(|at| at.to_le_bytes()).collect() };
        let found = in_lists(&bytes(&[1, 3, 3, 5]), 4, Some(&[0b011]), &keys(), &None);
        assert_eq!(found, only(1..3));
        let hidden = in_lists(&bytes(&[0, 1, 2, 3, 4]), 4, Some(&[0b1101]), &keys(), &Some(vec![0..1, 3..9]));
        assert_eq!(hidden, Some(vec![0..1, 3..4]));
        assert_eq!(in_lists(&bytes(&[4, 2, -1]), 4, Some(&[0b11]), &keys(), &None), Some(vec![]));
        let far: Vec<u8> = [0_i64, i64::MAX].iter().flat_map(|offset| offset.to_le_bytes()).collect();
        assert_eq!(in_lists(&far, 8, None, &keys(), &None), only(0..i64::MAX as usize));
        assert_eq!(in_lists(&[], 8, None, &keys(), &None), Some(vec![]));
    }

    #[test]
    fn members_of_unions_are_reached_by_their_tags() {
        assert_eq!(in_member(1, &[1, 1, 0, 1], None, &keys()), Some(vec![0..2, 3..4]));
        assert_eq!(in_member(1, &[1, 0, 1, 1], Some(&[5, 0, 0, -1]), &keys()), Some(vec![0..1, 5..6]));
    }
}
