//! Memory that rows of an array need after reading.

use arrow_data::ArrayData;
use arrow_schema::{DataType, UnionMode};
use std::ops::Range;

/// Returns the number of bytes that rows need in columns, without the index of rows that may be null
/// themselves. The array has to start at the beginning of its buffers, as arrays of this crate do.
pub(crate) fn bytes_of(data: &ArrayData, rows: Range<usize>) -> usize {
    let count = rows.len();
    let children = |rows: &Range<usize>| {
        let each = data.child_data().iter().zip(nullable(data.data_type()));
        let bytes = |(child, is_nullable)| {
            bytes_of(child, rows.clone()).saturating_add(places(rows.len(), is_nullable))
        };
        each.map(bytes).fold(0, usize::saturating_add)
    };
    let behind = |width: usize, bytes: usize| count.saturating_mul(width).saturating_add(bytes);
    match data.data_type() {
        // Rows without stored bytes take an index item after reading.
        DataType::Null | DataType::FixedSizeBinary(0) | DataType::FixedSizeList(_, 0) => behind(8, 0),
        DataType::Struct(fields) if fields.is_empty() => behind(8, 0),
        // Columns have one byte per boolean.
        DataType::Boolean => count,
        DataType::FixedSizeBinary(size) => count.saturating_mul(usize::try_from(*size).unwrap_or(0)),
        DataType::Utf8 | DataType::Binary => behind(4, items::<i32>(data, &rows).len()),
        DataType::LargeUtf8 | DataType::LargeBinary => behind(8, items::<i64>(data, &rows).len()),
        DataType::Utf8View | DataType::BinaryView => {
            // The low 32 bits of a view are its length.
            let views = data.buffer::<u128>(0).get(rows).unwrap_or_default();
            behind(16, views.iter().fold(0, |sum: usize, view| sum.saturating_add(*view as u32 as usize)))
        }
        DataType::List(_) | DataType::Map(..) => behind(4, children(&items::<i32>(data, &rows))),
        DataType::LargeList(_) => behind(8, children(&items::<i64>(data, &rows))),
        DataType::FixedSizeList(_, size) => {
            let size = usize::try_from(*size).unwrap_or(0);
            children(&(rows.start.saturating_mul(size)..rows.end.saturating_mul(size)))
        }
        DataType::Struct(_) => children(&rows),
        DataType::Union(_, UnionMode::Sparse) => behind(1, children(&rows)),
        DataType::Union(fields, UnionMode::Dense) => {
            let tags = data.buffer::<i8>(0).get(rows.clone()).unwrap_or_default();
            let offsets = data.buffer::<i32>(1).get(rows).unwrap_or_default();
            let each = tags.iter().zip(offsets).filter_map(|(tag, offset)| {
                let child = fields.iter().position(|(id, _)| id == *tag)?;
                let row = usize::try_from(*offset).ok()?;
                Some(bytes_of(data.child_data().get(child)?, row..row + 1).saturating_add(places(1, true)))
            });
            behind(5, each.fold(0, usize::saturating_add))
        }
        other => count.saturating_mul(other.primitive_width().unwrap_or(0)),
    }
}

/// Returns whether the rows of each child may be null.
fn nullable(data_type: &DataType) -> Vec<bool> {
    match data_type {
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::FixedSizeList(item, _)
        | DataType::Map(item, _) => vec![item.is_nullable()],
        DataType::Struct(fields) => fields.iter().map(|field| field.is_nullable()).collect(),
        // Alternatives are read as option types, independently of their fields.
        DataType::Union(fields, _) => vec![true; fields.len()],
        _ => Vec::new(),
    }
}

/// Returns the number of bytes of the index of rows that may be null.
fn places(rows: usize, is_nullable: bool) -> usize {
    if is_nullable { rows.saturating_mul(size_of::<i64>()) } else { 0 }
}

/// Returns the range of list items or text bytes of some rows.
fn items<O: arrow_buffer::ArrowNativeType>(data: &ArrayData, rows: &Range<usize>) -> Range<usize> {
    let offsets = data.buffer::<O>(0);
    let at = |row: usize| offsets.get(row).map_or(0, |offset| offset.as_usize());
    let start = at(rows.start);
    start..at(rows.end).max(start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{
        Array as _, FixedSizeListArray, Int32Array, Int64Array, LargeStringArray, ListArray, StringViewArray,
        UnionArray, types::Int64Type,
    };
    use arrow_buffer::ScalarBuffer;
    use arrow_schema::Field;
    use std::sync::Arc;

    #[test]
    fn rows_take_a_copy_and_an_index() {
        let texts = LargeStringArray::from(vec!["a", "", "four"]).into_data();
        assert_eq!([bytes_of(&texts, 0..1), bytes_of(&texts, 1..3), bytes_of(&texts, 3..3)], [9, 20, 0]);
        let views = StringViewArray::from(vec!["a", "longer than twelve bytes"]).into_data();
        assert_eq!(bytes_of(&views, 0..2), 32 + 1 + 24);
        let lists = [Some(vec![Some(1), Some(2)]), None, Some(vec![])];
        let lists = ListArray::from_iter_primitive::<Int64Type, _, _>(lists).into_data();
        assert_eq!([bytes_of(&lists, 0..1), bytes_of(&lists, 1..3)], [20 + 16, 8]);
        let item = Arc::new(Field::new("item", DataType::Int64, false));
        let fixed = FixedSizeListArray::new(item, 2, Arc::new(Int64Array::from(vec![1, 2, 3, 4])), None);
        assert_eq!(bytes_of(&fixed.into_data(), 1..2), 16);
    }

    #[test]
    fn rows_of_unions_take_what_their_members_take() {
        let fields = [(0, "x", DataType::Int32), (3, "s", DataType::LargeUtf8)]
            .map(|(id, name, of)| (id, Arc::new(Field::new(name, of, true))));
        let children = || -> Vec<arrow_array::ArrayRef> {
            vec![Arc::new(Int32Array::from(vec![1, 2])), Arc::new(LargeStringArray::from(vec!["abc", "d"]))]
        };
        let tags = ScalarBuffer::<i8>::from(vec![3, 0]);
        let fields = fields.into_iter().collect::<arrow_schema::UnionFields>();
        let dense = UnionArray::try_new(fields.clone(), tags.clone(), Some(vec![1, 0].into()), children());
        let dense = dense.expect("a union").into_data();
        assert_eq!([bytes_of(&dense, 0..1), bytes_of(&dense, 1..2)], [5 + 9 + 8, 5 + 4 + 8]);
        let sparse = UnionArray::try_new(fields, tags, None, children()).expect("a union").into_data();
        assert_eq!(bytes_of(&sparse, 0..1), 1 + (4 + 8) + (11 + 8));
    }
}
