//! Which rows of a nested array its parents show.
//!
//! Rows behind a null record or list, and items between lists, hold anything: writers leave keys of dictionaries there that have no
//! value. Only keys that can be reached have to have one.

use arrow_schema::DataType;

/// A flag for each row, or `None` if all rows can be reached. Rows without a flag cannot.
pub(crate) type Reachable = Option<Vec<bool>>;

/// Whether a type has dictionaries in it: reachability of others is not asked for.
fn has_dictionary(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(..) => true,
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::FixedSizeList(item, _)
        | DataType::Map(item, _) => has_dictionary(item.data_type()),
        DataType::Struct(fields) => fields.iter().any(|field| has_dictionary(field.data_type())),
        DataType::Union(fields, _) => fields.iter().any(|(_, field)| has_dictionary(field.data_type())),
        _ => false,
    }
}

/// Whether a row is reachable and not null. `validity`: a bit for each row, if any is null.
fn shows(row: usize, validity: Option<&[u8]>, parent: &Reachable) -> bool {
    let bit = |bits: &[u8]| bits.get(row / 8).is_some_and(|byte| byte >> (row % 8) & 1 == 1);
    validity.is_none_or(bit) && parent.as_ref().is_none_or(|flags| flags.get(row).copied().unwrap_or(false))
}

/// The rows of the fields of records.
pub(crate) fn in_records(
    rows: usize,
    validity: Option<&[u8]>,
    fields: &[&DataType],
    parent: &Reachable,
) -> Reachable {
    let matters =
        (validity.is_some() || parent.is_some()) && fields.iter().any(|field| has_dictionary(field));
    matters.then(|| (0..rows).map(|row| shows(row, validity, parent)).collect())
}

/// The items of lists of `size` items.
pub(crate) fn in_lists_of(
    size: usize,
    rows: usize,
    validity: Option<&[u8]>,
    item: &DataType,
    parent: &Reachable,
) -> Reachable {
    let flags = in_records(rows, validity, &[item], parent)?;
    Some(flags.into_iter().flat_map(|flag| std::iter::repeat_n(flag, size)).collect())
}

/// The items of lists between offsets of `width` bytes, of which at most `most` are looked at.
pub(crate) fn in_lists(
    offsets: &[u8],
    width: usize,
    most: usize,
    validity: Option<&[u8]>,
    item: &DataType,
    parent: &Reachable,
) -> Reachable {
    if !has_dictionary(item) {
        return None;
    }
    let number = |bytes: &[u8]| match *bytes {
        [a, b, c, d] => i64::from(i32::from_le_bytes([a, b, c, d])),
        [a, b, c, d, e, f, g, h] => i64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => 0,
    };
    let items =
        offsets.chunks_exact(width).map(|bytes| usize::try_from(number(bytes)).unwrap_or(0).min(most));
    let mut flags = Vec::new();
    let starts = items.clone();
    for (row, (start, stop)) in starts.zip(items.skip(1)).enumerate() {
        // Offsets that do not grow are refused where the list is built.
        if stop > flags.len() {
            flags.resize(stop, false);
        }
        if shows(row, validity, parent)
            && let Some(own) = flags.get_mut(start..stop)
        {
            own.fill(true);
        }
    }
    Some(flags)
}

/// The rows of the member of a union with the tag `id`: those with the tag or, if there are offsets, those at the offsets of such rows.
pub(crate) fn in_member(
    id: i8,
    tags: &[i8],
    offsets: Option<&[i32]>,
    most: u64,
    member: &DataType,
) -> Reachable {
    if !has_dictionary(member) {
        return None;
    }
    let Some(offsets) = offsets else { return Some(tags.iter().map(|tag| *tag == id).collect()) };
    let own = tags.iter().zip(offsets).filter(|(tag, _)| **tag == id);
    let mut flags = Vec::new();
    for at in own.filter_map(|(_, offset)| usize::try_from(*offset).ok()).filter(|at| (*at as u64) < most) {
        if at >= flags.len() {
            flags.resize(at + 1, false);
        }
        flags[at] = true;
    }
    Some(flags)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys() -> DataType {
        DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8))
    }

    #[test]
    fn rows_behind_nulls_are_not_reached() {
        let some = Some(&[0b101][..]);
        assert_eq!(in_records(3, some, &[&keys()], &None), Some(vec![true, false, true]));
        assert_eq!(in_records(3, some, &[&keys()], &Some(vec![false])), Some(vec![false; 3]));
        assert_eq!(in_records(3, some, &[&DataType::Int8], &None), None);
        assert_eq!(in_records(3, None, &[&keys()], &None), None);
        let pairs = in_lists_of(2, 2, Some(&[0b10]), &keys(), &None);
        assert_eq!(pairs, Some(vec![false, false, true, true]));
    }

    #[test]
    fn items_between_lists_are_not_reached() {
        let offsets: Vec<u8> = [1_i32, 3, 3, 5].iter().flat_map(|offset| offset.to_le_bytes()).collect();
        let found = in_lists(&offsets, 4, 100, Some(&[0b011]), &keys(), &None);
        assert_eq!(found, Some(vec![false, true, true, false, false]));
        let far: Vec<u8> = [0_i64, i64::MAX].iter().flat_map(|offset| offset.to_le_bytes()).collect();
        assert_eq!(in_lists(&far, 8, 2, None, &keys(), &None), Some(vec![true, true]));
    }
}
