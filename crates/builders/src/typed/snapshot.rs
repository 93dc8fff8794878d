//! The complete entries of a builder as columns.

use super::engine::Runner;
use super::plan::{Node, Out};
use crate::form::{Index, Primitive};
use crate::layout::{column, half};
use forthwith_columns::{Column, DType, Memory, OutOfMemory};

pub(crate) struct Snapshot<'a> {
    pub(crate) runner: &'a Runner,
    pub(crate) memory: Memory,
    pub(crate) columns: Vec<(String, Column)>,
}

type Done<T = ()> = Result<T, OutOfMemory>;

impl Snapshot<'_> {
    /// Copies what `rows` rows of a node have. Whatever follows belongs to entries that are not complete.
    pub(crate) fn node(&mut self, node: &Node, rows: usize) -> Done {
        match node {
            Node::Empty => Ok(()),
            Node::Number { key, primitive, output } => {
                let (dtype, each) = primitive.stored();
                let column = if *primitive == Primitive::Float16 {
                    let (items, _) = self.bytes(*output, rows * 8).as_chunks::<8>();
                    let halves = items.iter().flat_map(|item| half(f64::from_ne_bytes(*item)).to_ne_bytes());
                    column(&self.memory, dtype, &halves.collect::<Vec<_>>())?
                } else {
                    self.copy(*output, dtype, rows * each)?
                };
                self.give(key, "data", column);
                Ok(())
            }
            Node::Text { key, bytes_key, offsets, index, separate, output } => {
                let bytes = self.offsets(key, *offsets, *index, *separate, rows)?;
                let column = self.copy(*output, DType::UInt8, bytes)?;
                self.give(bytes_key, "data", column);
                Ok(())
            }
            Node::Fixed { bytes_key, size, output } => {
                let column = self.copy(*output, DType::UInt8, product(rows, *size))?;
                self.give(bytes_key, "data", column);
                Ok(())
            }
            Node::List { key, offsets, index, separate, content, .. } => {
                let rows = self.offsets(key, *offsets, *index, *separate, rows)?;
                self.node(content, rows)
            }
            Node::Regular { size, content } => self.node(content, product(rows, *size)),
            Node::Record { contents } => contents.iter().try_for_each(|content| self.node(content, rows)),
            Node::Indexed { key, index, output, content, .. }
            | Node::Option { key, index, output, content } => {
                let column = self.copy(*output, dtype(*index), rows)?;
                let rows = (0..rows).map(|row| item(&column, row)).fold(-1, i64::max) + 1;
                self.give(key, "index", column);
                self.node(content, rows as usize)
            }
            Node::Masked { key, bits: None, output, content, .. } => {
                let column = self.copy(*output, DType::Int8, rows)?;
                self.give(key, "mask", column);
                self.node(content, rows)
            }
            Node::Masked { key, bits: Some(least_first), output, content, .. } => {
                let packed = self.bytes(*output, rows).chunks(8).map(|bytes| {
                    bytes.iter().enumerate().fold(0, |packed: u8, (at, byte)| {
                        packed | (byte & 1) << if *least_first { at } else { 7 - at }
                    })
                });
                let packed: Vec<u8> = packed.collect();
                let column = column(&self.memory, DType::UInt8, &packed)?;
                self.give(key, "mask", column);
                self.node(content, rows)
            }
            Node::Unmasked { content } => self.node(content, rows),
            Node::Union { key, index, tags, output, contents, .. } => {
                let tags = self.copy(*tags, DType::Int8, rows)?;
                let index = self.copy(*output, dtype(*index), rows)?;
                let mut lengths = vec![0; contents.len()];
                for row in 0..rows {
                    if let Some(length) = tags.item::<i8>(row).and_then(|tag| lengths.get_mut(tag as usize)) {
                        *length = item(&index, row) as usize + 1;
                    }
                }
                self.give(key, "tags", tags);
                self.give(key, "index", index);
                contents.iter().zip(lengths).try_for_each(|(content, rows)| self.node(content, rows))
            }
        }
    }

    /// Offsets, or starts and stops, of `rows` lists; answers where the last one ends.
    fn offsets(&mut self, key: &str, output: Out, index: Index, separate: bool, rows: usize) -> Done<usize> {
        let column = self.copy(output, dtype(index), rows + 1)?;
        let end = item(&column, rows) as usize;
        if separate {
            self.give(key, "starts", column.slice(0..rows));
            self.give(key, "stops", column.slice(1..rows + 1));
        } else {
            self.give(key, "offsets", column);
        }
        Ok(end)
    }

    fn bytes(&self, output: Out, bytes: usize) -> &[u8] {
        let all = self.runner.output(output);
        &all[..bytes.min(all.len())]
    }

    fn copy(&self, output: Out, dtype: DType, items: usize) -> Done<Column> {
        column(&self.memory, dtype, self.bytes(output, items * dtype.size()))
    }

    fn give(&mut self, key: &str, part: &str, column: Column) {
        self.columns.push((format!("{key}-{part}"), column));
    }
}

const fn dtype(index: Index) -> DType {
    match index {
        Index::I32 => DType::Int32,
        Index::U32 => DType::UInt32,
        Index::I64 => DType::Int64,
    }
}

fn item(column: &Column, at: usize) -> i64 {
    let found = match column.dtype() {
        DType::Int32 => column.item::<i32>(at).map(i64::from),
        DType::UInt32 => column.item::<u32>(at).map(i64::from),
        _ => column.item(at),
    };
    found.unwrap_or(0)
}

/// Rows of items without memory can be more than any number.
fn product(rows: usize, size: u64) -> usize {
    rows.saturating_mul(usize::try_from(size).unwrap_or(usize::MAX))
}
