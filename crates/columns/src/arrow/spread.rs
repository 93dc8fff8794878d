//! Expansion of stored rows to arrays with nulls.
//!
//! Files store present rows only; Arrow arrays have an item for each null. Numbers are copied to their rows;
//! text and lists get new offsets, and share the data that the offsets point into.

use super::ExportError;
use crate::{Form, Presence};
use arrow_array::{
    Array as _, ArrayRef, BooleanArray, LargeBinaryArray, LargeListArray, LargeStringArray, NullArray,
    StructArray, cast::AsArray as _, make_array,
};
use arrow_buffer::{ArrowNativeType, BooleanBuffer, Buffer, NullBuffer, OffsetBuffer};
use arrow_data::{ArrayData, transform::MutableArrayData};
use arrow_schema::DataType;
use forthwith_kernels::Expand;
use std::sync::Arc;

/// Gathers the rows of `values` at `index`; negative items become nulls.
pub(super) fn spread(values: &ArrayRef, index: &[i64]) -> Result<ArrayRef, ExportError> {
    match Presence::of(index, values.len()) {
        Some(rows) => of_rows(values, &rows),
        None => in_runs(&values.to_data(), index),
    }
}

/// Whether the Arrow import of a Form keeps an item for each missing row.
pub(super) fn keeps_places(form: &Form) -> bool {
    match form {
        Form::Numpy { shape, .. } => shape.is_empty(),
        Form::String { .. } => true,
        Form::Logical { content, .. } => matches!(&**content, Form::Numpy { shape, .. } if shape.is_empty()),
        _ => false,
    }
}

/// Returns the nulls of an index whose other items equal their own row numbers; `None` if any differs.
pub(super) fn nulls_in_place(index: &[i64]) -> Option<NullBuffer> {
    let is_in_place = (0_i64..).zip(index).all(|(row, at)| *at == row || *at < 0);
    is_in_place.then(|| NullBuffer::new(BooleanBuffer::collect_bool(index.len(), |row| index[row] >= 0)))
}

/// Applies nulls to values that are in place, and appends nulls for further rows.
pub(super) fn in_place(values: &ArrayRef, nulls: NullBuffer) -> Result<ArrayRef, ExportError> {
    let mut data = values.to_data();
    if data.len() < nulls.len() {
        let mut padded = MutableArrayData::new(vec![&data], true, nulls.len());
        padded.try_extend(0, 0, data.len())?;
        padded.try_extend_nulls(nulls.len() - data.len())?;
        data = padded.freeze();
    }
    Ok(make_array(data.into_builder().nulls(Some(nulls)).build()?))
}

/// Expands the present values to all `rows`, with nulls at the missing ones.
pub(super) fn of_rows(values: &ArrayRef, rows: &Presence) -> Result<ArrayRef, ExportError> {
    let data = values.to_data();
    let valid = || Some(nulls(rows));
    if data.len() != rows.there() || data.nulls().is_some() {
        return in_runs(&data, rows.index());
    }
    let count = rows.rows();
    Ok(match values.data_type() {
        DataType::Null => Arc::new(NullArray::new(count)),
        DataType::Boolean => {
            Arc::new(BooleanArray::new(booleans(values.as_boolean().values(), rows), valid()))
        }
        DataType::Struct(fields) => {
            let columns = values.as_struct().columns().iter();
            let columns = columns.map(|column| of_rows(column, rows)).collect::<Result<_, _>>()?;
            Arc::new(StructArray::try_new_with_length(fields.clone(), columns, valid(), count)?)
        }
        DataType::LargeUtf8 => {
            let (ends, bytes, _) = values.as_string::<i64>().clone().into_parts();
            Arc::new(LargeStringArray::try_new(offsets(&ends, rows), bytes, valid())?)
        }
        DataType::LargeBinary => {
            let (ends, bytes, _) = values.as_binary::<i64>().clone().into_parts();
            Arc::new(LargeBinaryArray::try_new(offsets(&ends, rows), bytes, valid())?)
        }
        DataType::LargeList(_) => {
            let (field, ends, items, _) = values.as_list::<i64>().clone().into_parts();
            Arc::new(LargeListArray::try_new(field, offsets(&ends, rows), items, valid())?)
        }
        kind => {
            let buffer = match kind.primitive_width() {
                Some(1) => numbers(data.buffer::<u8>(0), rows),
                Some(2) => numbers(data.buffer::<u16>(0), rows),
                Some(4) => numbers(data.buffer::<u32>(0), rows),
                Some(8) => numbers(data.buffer::<u64>(0), rows),
                Some(16) => numbers(data.buffer::<u128>(0), rows),
                _ => return in_runs(&data, rows.index()),
            };
            let spread = ArrayData::builder(kind.clone()).len(count).add_buffer(buffer);
            make_array(spread.nulls(valid()).build()?)
        }
    })
}

/// Validity bitmap of the rows.
pub(super) fn nulls(rows: &Presence) -> NullBuffer {
    NullBuffer::new(bits(rows.words().map(|(word, _)| word), rows))
}

/// Collects words of 64 bits to a bitmap of as many bits as there are rows.
fn bits(words: impl Iterator<Item = u64>, rows: &Presence) -> BooleanBuffer {
    BooleanBuffer::new(Buffer::from_vec(words.map(u64::to_le).collect::<Vec<_>>()), 0, rows.rows())
}

/// Expands numbers to all rows, with zeros at the missing ones.
pub(super) fn numbers<T: Expand + ArrowNativeType>(values: &[T], rows: &Presence) -> Buffer {
    let masks: Vec<u64> = rows.words().map(|(word, _)| word).collect();
    let mut all = T::expand(values.get(..rows.there()).unwrap_or_default(), &masks);
    all.truncate(rows.rows());
    Buffer::from_vec(all)
}

/// Maximum number of missing rows among 64 for which a zero bit is inserted for each; beyond, present bits
/// are placed one by one.
const FEW: usize = 8;

/// Mask of the lowest `bits` bits.
const fn low(bits: usize) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// Expands booleans to all rows, with zeros at the missing ones.
fn booleans(values: &BooleanBuffer, rows: &Presence) -> BooleanBuffer {
    let bytes = values.values();
    let mut next = values.offset();
    let word = |(word, count): (u64, usize)| {
        // Loads 64 bits that may start within a byte; bits after the end are zero.
        let some = bytes.get(next / 8..).unwrap_or_default();
        let mut nine = [0; 9];
        let there = some.len().min(9);
        nine[..there].copy_from_slice(&some[..there]);
        let [low_bytes @ .., above] = nine;
        let mut bits = u64::from_le_bytes(low_bytes) >> (next % 8);
        bits |= u64::from(above).checked_shl((64 - next % 8) as u32).unwrap_or(0);
        next += word.count_ones() as usize;
        let mut missing = !word & low(count);
        if missing.count_ones() as usize <= FEW {
            // Inserts a zero for each missing row.
            while missing != 0 {
                let below = (1 << missing.trailing_zeros()) - 1;
                bits = bits & below | (bits & !below) << 1;
                missing &= missing - 1;
            }
            return bits & word;
        }
        let mut out = 0;
        let mut left = word;
        while left != 0 {
            out |= (bits & 1) << left.trailing_zeros();
            bits >>= 1;
            left &= left - 1;
        }
        out
    };
    bits(rows.words().map(word), rows)
}

/// Expands offsets to all rows, with an empty text or list for each missing one.
pub(super) fn offsets(offsets: &OffsetBuffer<i64>, rows: &Presence) -> OffsetBuffer<i64> {
    let mut end = offsets.first();
    let mut rest = offsets.get(1..).unwrap_or_default();
    let mut spread = Vec::with_capacity(rows.rows() + 1);
    spread.push(end);
    for (word, count) in rows.words() {
        let (ends, more) = rest.split_at_checked(word.count_ones() as usize).unwrap_or_default();
        rest = more;
        if ends.len() == count {
            spread.extend_from_slice(ends);
        } else {
            let mut ends = ends.iter();
            spread.extend((0..count).map(|row| {
                if word >> row & 1 == 1 {
                    end = ends.next().copied().unwrap_or(end);
                }
                end
            }));
        }
        end = spread.last().copied().unwrap_or(end);
    }
    OffsetBuffer::new(spread.into())
}

/// Gathers rows of any type in runs of nulls or of consecutive rows.
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

    /// Booleans are expanded like runs, for words in which no, few, many and all rows are missing, from any
    /// bit offset.
    #[test]
    fn booleans_give_what_runs_give() {
        for (round, start) in (0..).zip([0, 3, 8, 61]) {
            let all: BooleanArray = (0..400).map(|at| Some(at * at % 7 < 3)).collect();
            let values: ArrayRef = Arc::new(all.slice(start, 300));
            let mut next = -1;
            let index: Vec<i64> = (0..900_u64)
                .map(|row| {
                    let there = match row / 150 {
                        0 => true,
                        1 => row % 37 != round,
                        2 => row % 5 == 0,
                        3 => false,
                        _ => row % 2 == 0,
                    };
                    next += i64::from(there && next < 299);
                    if there && next < 300 { next } else { -1 }
                })
                .scan(-1, |last, at| {
                    let at = if at == *last { -1 } else { at };
                    *last = at.max(*last);
                    Some(at)
                })
                .collect();
            let values = values.slice(0, index.iter().filter(|at| **at >= 0).count());
            assert_eq!(&spread(&values, &index).unwrap(), &in_runs(&values.to_data(), &index).unwrap());
        }
    }

    /// All types are expanded like runs, which support every type and index.
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
