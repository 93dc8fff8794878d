//! Columns of a table, with the names of their buffers.

use super::stored::{Lists, end};
use super::{Columns, Nodes};
use crate::form::Index;
use forthwith_columns::{Column, DType, Native};

impl Nodes {
    /// Moves the buffers of the first `length` values out of the table.
    pub(crate) fn give(&mut self, length: usize) -> Vec<(String, Column)> {
        let (keys, mut out) = (self.keys(), Vec::new());
        // An explicit stack replaces recursion, which takes kilobytes of stack for each level without
        // optimisation.
        let mut left = vec![(0, length)];
        while let Some((node, length)) = left.pop() {
            let below = self.below(node, length);
            self.give_node(node, length, keys[node as usize], &mut out);
            left.extend(below.into_iter().rev());
        }
        out
    }

    /// Returns the number of each node in the Form. The bytes of strings and the unknown content of nulls
    /// have the number after that of their node.
    pub(crate) fn keys(&self) -> Vec<usize> {
        let mut keys = vec![0; self.columns.len()];
        self.number(0, &mut 0, &mut keys);
        keys
    }

    fn number(&self, node: u32, next: &mut usize, keys: &mut [usize]) {
        keys[node as usize] = *next;
        *next += match self.at(node) {
            Columns::Regular { inner: true, .. } => 0,
            Columns::Nothing { nulls: 1.. } | Columns::Text { .. } | Columns::Fixed { .. } => 2,
            _ => 1,
        };
        self.below(node, 0).into_iter().for_each(|(content, _)| self.number(content, next, keys));
    }

    fn give_node(&mut self, node: u32, length: usize, key: usize, out: &mut Vec<(String, Column)>) {
        let columns = std::mem::replace(self.at_mut(node), Columns::UNKNOWN);
        let mut give = |part: &str, column| out.push((format!("node{key}-{part}"), column));
        match columns {
            Columns::Boolean(items) => {
                let bytes = column(items, length);
                give("data", bytes.view(DType::Bool).unwrap_or(bytes)); // both are of one byte
            }
            Columns::Int8(items) => give("data", column(items, length)),
            Columns::Int16(items) => give("data", column(items, length)),
            Columns::Int32(items) => give("data", column(items, length)),
            Columns::Int64(items) | Columns::Time { items, .. } => give("data", column(items, length)),
            Columns::UInt8(items) => give("data", column(items, length)),
            Columns::UInt16(items) | Columns::Float16(items) => give("data", column(items, length)),
            Columns::UInt32(items) => give("data", column(items, length)),
            Columns::UInt64(items) => give("data", column(items, length)),
            Columns::Float32(items) => give("data", column(items, length)),
            Columns::Float64(items) => give("data", column(items, length)),
            Columns::Complex64(items) => give("data", column(items.into_flattened(), 2 * length)),
            Columns::Complex128(items) => give("data", column(items.into_flattened(), 2 * length)),
            Columns::Text { layout, mut offsets, bytes, .. } => {
                offsets.truncate(length + 1);
                let end = end(&offsets);
                lists(layout, offsets, give);
                out.push((format!("node{}-data", key + 1), column(bytes, end)));
            }
            Columns::Fixed { size, bytes, .. } => {
                out.push((format!("node{}-data", key + 1), column(bytes, size * length)));
            }
            Columns::List { layout, mut offsets, .. } => {
                offsets.truncate(length + 1);
                lists(layout, offsets, give);
            }
            Columns::Indexed { width, mut index, .. } => {
                index.truncate(length);
                give("index", narrow(index, width));
            }
            Columns::Masked { bits, mask, .. } => give("mask", masked(mask, bits, length)),
            Columns::Union { width, tags, mut index, .. } => {
                index.truncate(length);
                give("tags", column(tags, length));
                give("index", narrow(index, width));
            }
            Columns::Nothing { nulls: 0 }
            | Columns::Regular { .. }
            | Columns::Record(_)
            | Columns::Unmasked { .. } => {}
            Columns::Nothing { .. } => give("index", Column::from_vec(vec![-1i64; length])),
        }
    }
}

/// Outputs lists as offsets, or as starts and stops.
fn lists(layout: Lists, offsets: Vec<i64>, mut give: impl FnMut(&str, Column)) {
    let rows = offsets.len() - 1;
    let column = narrow(offsets, layout.width);
    if layout.separate {
        give("starts", column.slice(0..rows));
        give("stops", column.slice(1..rows + 1));
    } else {
        give("offsets", column);
    }
}

/// Narrows integers, which must be in range.
fn narrow(items: Vec<i64>, width: Index) -> Column {
    match width {
        Index::I64 => Column::from_vec(items),
        Index::I32 => Column::from_vec(items.into_iter().map(|item| item as i32).collect()),
        Index::U32 => Column::from_vec(items.into_iter().map(|item| item as u32).collect()),
    }
}

/// Returns a mask of bytes, or of bits with the first row at the least (`Some(true)`) or most significant
/// bit.
fn masked(mask: Vec<i8>, bits: Option<bool>, length: usize) -> Column {
    let Some(least_first) = bits else { return column(mask, length) };
    let packed = mask[..length].chunks(8).map(|items| {
        items.iter().enumerate().fold(0u8, |packed, (at, item)| {
            packed | (*item as u8 & 1) << if least_first { at } else { 7 - at }
        })
    });
    Column::from_vec(packed.collect())
}

fn column<T: Native>(mut items: Vec<T>, length: usize) -> Column {
    items.truncate(length);
    Column::from_vec(items)
}
