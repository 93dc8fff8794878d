//! Rows of which some are missing, from those that are there and an index.
//!
//! Files store the rows that are there, Arrow has a place for each that is not. Numbers are copied to their
//! places; texts and lists get other offsets, and what the offsets point into is shared.

use super::ExportError;
use arrow_array::{
    Array as _, ArrayRef, BooleanArray, LargeBinaryArray, LargeListArray, LargeStringArray, NullArray,
    StructArray, cast::AsArray as _, make_array,
};
use arrow_buffer::{ArrowNativeType, BooleanBuffer, Buffer, NullBuffer, OffsetBuffer};
use arrow_data::{ArrayData, transform::MutableArrayData};
use arrow_schema::DataType;
use std::sync::Arc;

/// The rows of `values` that `index` names, and nulls where it is negative.
pub(super) fn spread(values: &ArrayRef, index: &[i64]) -> Result<ArrayRef, ExportError> {
    let data = values.to_data();
    if data.nulls().is_some() {
        return in_runs(&data, index);
    }
    let nulls = || Some(NullBuffer::new(BooleanBuffer::collect_bool(index.len(), |row| index[row] >= 0)));
    Ok(match values.data_type() {
        DataType::Null => Arc::new(NullArray::new(index.len())),
        DataType::Boolean => {
            let values = values.as_boolean().values();
            let value = |row: usize| usize::try_from(index[row]).is_ok_and(|at| values.value(at));
            Arc::new(BooleanArray::new(BooleanBuffer::collect_bool(index.len(), value), nulls()))
        }
        DataType::Struct(fields) => {
            let columns = values.as_struct().columns().iter();
            let columns = columns.map(|column| spread(column, index)).collect::<Result<_, _>>()?;
            let rows = index.len();
            Arc::new(StructArray::try_new_with_length(fields.clone(), columns, nulls(), rows)?)
        }
        DataType::LargeUtf8 if in_order(index, values.len()) => {
            let (offsets, bytes, _) = values.as_string::<i64>().clone().into_parts();
            Arc::new(LargeStringArray::try_new(with_empty(&offsets, index)?, bytes, nulls())?)
        }
        DataType::LargeBinary if in_order(index, values.len()) => {
            let (offsets, bytes, _) = values.as_binary::<i64>().clone().into_parts();
            Arc::new(LargeBinaryArray::try_new(with_empty(&offsets, index)?, bytes, nulls())?)
        }
        DataType::LargeList(_) if in_order(index, values.len()) => {
            let (field, offsets, items, _) = values.as_list::<i64>().clone().into_parts();
            Arc::new(LargeListArray::try_new(field, with_empty(&offsets, index)?, items, nulls())?)
        }
        kind => {
            let buffer = match kind.primitive_width() {
                Some(1) => numbers::<u8>(&data, index),
                Some(2) => numbers::<u16>(&data, index),
                Some(4) => numbers::<u32>(&data, index),
                Some(8) => numbers::<u64>(&data, index),
                Some(16) => numbers::<i128>(&data, index),
                _ => return in_runs(&data, index),
            };
            let spread = ArrayData::builder(kind.clone()).len(index.len()).add_buffer(buffer);
            make_array(spread.nulls(nulls()).build()?)
        }
    })
}

/// Numbers at their places, and zeros where there are none.
fn numbers<T: ArrowNativeType + Default>(data: &ArrayData, index: &[i64]) -> Buffer {
    let values = data.buffer::<T>(0);
    // The first number stands for those that are missing until it is replaced: no branch that cannot be foreseen.
    let number = |at: i64| {
        let number = values.get(at.max(0) as usize).copied().unwrap_or_default();
        if at < 0 { T::default() } else { number }
    };
    Buffer::from_vec(index.iter().map(|at| number(*at)).collect::<Vec<T>>())
}

/// Whether each of `rows` rows is named once, in their order.
fn in_order(index: &[i64], rows: usize) -> bool {
    let mut next = 0;
    for &row in index {
        if row >= 0 && row != next {
            return false;
        }
        next += i64::from(row >= 0);
    }
    usize::try_from(next) == Ok(rows)
}

/// Offsets with an empty text or list where the index, which is in order, has none.
fn with_empty(offsets: &OffsetBuffer<i64>, index: &[i64]) -> Result<OffsetBuffer<i64>, ExportError> {
    let ends = offsets.get(1..).unwrap_or_default();
    let mut end = offsets.first();
    let mut spread = Vec::with_capacity(index.len() + 1);
    spread.push(end);
    for row in index {
        end = usize::try_from(*row).ok().and_then(|row| ends.get(row)).copied().unwrap_or(end);
        spread.push(end);
    }
    Ok(OffsetBuffer::new(spread.into()))
}

/// What has no shape of its own above, in runs: of nulls, or of rows that follow each other.
fn in_runs(data: &ArrayData, index: &[i64]) -> Result<ArrayRef, ExportError> {
    let mut out = MutableArrayData::new(vec![data], true, index.len());
    let mut at = 0;
    while let Some(first) = index.get(at) {
        let follows = |(next, row): (i64, &i64)| if *first < 0 { *row < 0 } else { *row == next };
        let count = (*first..).zip(&index[at..]).take_while(|pair| follows(*pair)).count();
        match usize::try_from(*first) {
            Ok(start) => out.try_extend(0, start, start + count)?,
            Err(_) => out.try_extend_nulls(count)?,
        }
        at += count;
    }
    Ok(make_array(out.freeze()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{Int16Array, Int64Array, LargeListArray, types::Int64Type};
    use arrow_schema::Field;

    /// As the runs, which work for all types, whatever the index.
    #[test]
    fn every_shape_gives_what_runs_give() {
        let list = LargeListArray::from_iter_primitive::<Int64Type, _, _>(
            (0..5).map(|row| Some((0..row).map(Some).collect::<Vec<_>>())),
        );
        let fields = vec![Field::new("n", DataType::Int16, true), Field::new("s", DataType::LargeUtf8, true)];
        let texts: ArrayRef = Arc::new(LargeStringArray::from(vec!["a", "", "ccc", "é", "e"]));
        let shorts: ArrayRef = Arc::new(Int16Array::from(vec![1, 2, 3, 4, 5]));
        let record = StructArray::new(fields.into(), vec![shorts.clone(), texts.clone()], None);
        let bytes: [&[u8]; 5] = [b"a", b"", b"ccc", b"\xff", b"e"];
        let arrays: [ArrayRef; 9] = [
            Arc::new(Int64Array::from(vec![1, 2, 3, 4, 5])),
            shorts,
            Arc::new(arrow_array::Decimal128Array::from(vec![1, 2, 3, 4, 5])),
            Arc::new(BooleanArray::from(vec![true, false, true, true, false])),
            texts,
            Arc::new(LargeBinaryArray::from(bytes.to_vec())),
            Arc::new(list),
            Arc::new(record),
            Arc::new(Int64Array::from(vec![Some(1), None, Some(3), None, Some(5)])),
        ];
        let indexes: [&[i64]; 5] =
            [&[0, -1, 1, 2, -1, -1, 3, 4], &[-1, 4, 4, 0, 2], &[-1, -1], &[], &[0, 1, 2, 3, -1]];
        for values in &arrays {
            for index in indexes {
                let expected = in_runs(&values.to_data(), index).unwrap();
                let found = spread(values, index).unwrap();
                assert_eq!(&found, &expected, "{:?} {index:?}", values.data_type());
                found.to_data().validate_full().unwrap();
            }
        }
    }
}
