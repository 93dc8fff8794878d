//! Runs and list views, whose values and items become rows and items of their own.

use crate::{
    array_data::{Expansion, built},
    value_bytes::bytes_of,
};
use arrow_array::types::{Int16Type, Int32Type, Int64Type};
use arrow_array::{Array as _, cast::AsArray as _, make_array};
use arrow_buffer::Buffer;
use arrow_data::{ArrayData, transform::MutableArrayData};
use arrow_schema::{DataType, FieldRef};
use forthwith_plan::{Error, Result};
use std::ops::Range;

/// The rows of runs, each of one value, which ends before the row of its number. `limit`: bytes that the rows may take.
pub(crate) fn runs(
    rows: usize,
    ends: ArrayData,
    values: &ArrayData,
    limit: Option<usize>,
) -> Result<ArrayData> {
    let ends = numbers(ends)?;
    if ends.len() > values.len() {
        let (ends, values) = (ends.len() as u64, values.len() as u64);
        return Err(Error::mismatch("the number of values of runs", ends, values));
    }
    let (mut ranges, mut row) = (Vec::new(), 0);
    for (run, end) in ends.into_iter().enumerate() {
        if end <= row && rows > 0 {
            return Err(Error::fault(format!(
                "run ends must be strictly increasing: run {run} ends at {end}, expected more than {row}"
            )));
        }
        let end = end.min(rows);
        ranges.push((run..run + 1, end - row));
        row = end;
        if row == rows {
            break;
        }
    }
    if row < rows {
        return Err(Error::truncated("the runs of a column", rows as u64, row as u64));
    }
    gathered(values, &ranges, limit)
}

/// A list view: validity, offsets and sizes.
pub(crate) struct View {
    pub rows: usize,
    pub validity: Option<Buffer>,
    pub offsets: Vec<usize>,
    pub sizes: Vec<usize>,
}

impl View {
    /// The range of the items of each row: none for null ones.
    pub(crate) fn ranges(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        let is_there = |row: usize| {
            let byte = |bits: &Buffer| bits.get(row / 8).is_some_and(|byte| byte >> (row % 8) & 1 == 1);
            self.validity.as_ref().is_none_or(byte)
        };
        let each = self.offsets.iter().zip(&self.sizes).take(self.rows).enumerate();
        each.map(
            move |(row, (offset, size))| {
                if is_there(row) { *offset..offset.saturating_add(*size) } else { 0..0 }
            },
        )
    }

    /// The rows as lists. `limit`: bytes that their items may take, of which lists may share some.
    pub(crate) fn lists(self, item: FieldRef, items: &ArrayData, limit: Option<usize>) -> Result<ArrayData> {
        if let Some((row, range)) =
            self.ranges().enumerate().find(|(_, range)| !range.is_empty() && range.end > items.len())
        {
            let end = range.end as u64;
            return Err(
                Error::out_of_range("the end of a list", end, items.len() as u64).at_entry(row as u64)
            );
        }
        let ranges: Vec<_> =
            self.ranges().filter(|range| !range.is_empty()).map(|range| (range, 1)).collect();
        let is_plain = ranges.windows(2).all(|pair| pair[0].0.end == pair[1].0.start);
        let (items, mut end) = match (is_plain, ranges.first()) {
            // One behind the other, as most writers have them.
            (true, Some((first, _))) => (items.clone(), first.start),
            _ => (gathered(items, &ranges, limit)?, 0),
        };
        let mut offsets = vec![end as i64];
        offsets.extend(self.ranges().map(|range| {
            end += range.len();
            end as i64
        }));
        built(
            &DataType::LargeList(item),
            (self.rows, self.validity),
            vec![Buffer::from_vec(offsets)],
            vec![items],
        )
    }
}

/// The ends of runs, which are never missing.
fn numbers(data: ArrayData) -> Result<Vec<usize>> {
    let array = make_array(data);
    // A run cannot end below zero.
    let number = |number: i64| usize::try_from(number).unwrap_or(0);
    Ok(match array.data_type() {
        DataType::Int16 => {
            array.as_primitive::<Int16Type>().values().iter().map(|end| number((*end).into())).collect()
        }
        DataType::Int32 => {
            array.as_primitive::<Int32Type>().values().iter().map(|end| number((*end).into())).collect()
        }
        DataType::Int64 => {
            array.as_primitive::<Int64Type>().values().iter().map(|end| number(*end)).collect()
        }
        other => return Err(Error::unsupported(format!("ends of runs of type {other}"))),
    })
}

/// Copies ranges of rows, each some times.
fn gathered(data: &ArrayData, ranges: &[(Range<usize>, usize)], limit: Option<usize>) -> Result<ArrayData> {
    let (mut memory, mut rows) = (Expansion::new("run", "the rows of runs and list views", limit), 0_usize);
    for (range, times) in ranges {
        rows = rows.saturating_add(range.len().saturating_mul(*times));
        let each = bytes_of(data, range.clone()).saturating_add(range.len().saturating_mul(size_of::<i64>()));
        memory.add(each.saturating_mul(*times))?;
    }
    memory.check()?;
    let mut out = MutableArrayData::new(vec![data], false, rows);
    for (range, times) in ranges {
        for _ in 0..*times {
            out.try_extend(0, range.start, range.end).map_err(|error| Error::fault(error.to_string()))?;
        }
    }
    Ok(out.freeze())
}
