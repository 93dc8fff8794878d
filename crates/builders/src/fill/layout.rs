//! Columns and Form of what was filled.

use super::TypedColumns;
use super::node::{Columns, Nodes, alternatives, end, valid};
use crate::Snapshot;
use crate::form::Form;
use forthwith_columns::{Column, DType, Native};

impl TypedColumns {
    /// The Form, with the keys of the buffers.
    #[must_use]
    pub fn form(&self) -> &Form {
        &self.form
    }

    /// The complete items, moved out.
    #[must_use]
    pub fn finish(self) -> Snapshot {
        let Self { form, mut nodes, .. } = self;
        let length = nodes.len(Self::ROOT.0);
        let mut out = Vec::new();
        nodes.give(&form, Self::ROOT.0, length, &mut out);
        Snapshot { form: form.to_json(), length: length as u64, columns: out }
    }
}

impl Nodes {
    /// Moves the columns of the first `length` values out.
    fn give(&mut self, form: &Form, node: u32, length: usize, out: &mut Vec<(String, Column)>) {
        let key = form.key.as_deref().unwrap_or_default();
        let inner = form.contents();
        let mut give = |key: &str, part: &str, column: Column| out.push((format!("{key}-{part}"), column));
        // The bytes of texts are a node of their own in the Form.
        let bytes_key = inner.first().and_then(|form| form.key.as_deref()).unwrap_or_default();
        let below: Vec<(u32, usize)> = match std::mem::replace(self.columns_at(node), Columns::Nothing) {
            Columns::Nothing => Vec::new(),
            Columns::Boolean(items) => {
                let bytes = column(items, length);
                give(key, "data", bytes.view(DType::Bool).unwrap_or(bytes)); // both are of one byte
                Vec::new()
            }
            Columns::Int8(items) => numbers(give, key, column(items, length)),
            Columns::Int16(items) => numbers(give, key, column(items, length)),
            Columns::Int32(items) => numbers(give, key, column(items, length)),
            Columns::Int64(items) | Columns::Time { items, .. } => numbers(give, key, column(items, length)),
            Columns::UInt8(items) => numbers(give, key, column(items, length)),
            Columns::UInt16(items) | Columns::Float16(items) => numbers(give, key, column(items, length)),
            Columns::UInt32(items) => numbers(give, key, column(items, length)),
            Columns::UInt64(items) => numbers(give, key, column(items, length)),
            Columns::Float32(items) => numbers(give, key, column(items, length)),
            Columns::Float64(items) => numbers(give, key, column(items, length)),
            Columns::Complex64(items) => numbers(give, key, column(items.into_flattened(), 2 * length)),
            Columns::Complex128(items) => numbers(give, key, column(items.into_flattened(), 2 * length)),
            Columns::Text { mut offsets, bytes, .. } => {
                offsets.truncate(length + 1);
                let end = end(&offsets);
                give(key, "offsets", Column::from_vec(offsets));
                give(bytes_key, "data", column(bytes, end));
                Vec::new()
            }
            Columns::Fixed { size, bytes, .. } => {
                give(bytes_key, "data", column(bytes, size * length));
                Vec::new()
            }
            Columns::List { mut offsets, content } => {
                offsets.truncate(length + 1);
                let end = end(&offsets);
                give(key, "offsets", Column::from_vec(offsets));
                vec![(content, end)]
            }
            Columns::Regular { size, content, .. } => vec![(content, size * length)],
            Columns::Tuple { contents, .. } => contents.iter().map(|content| (*content, length)).collect(),
            Columns::Record(record) => record.fields.iter().map(|field| (field.content, length)).collect(),
            Columns::Option { mut index, content } => {
                index.truncate(length);
                let rows = valid(&index);
                give(key, "index", Column::from_vec(index));
                vec![(content, rows)]
            }
            Columns::Union { mut tags, mut index, contents } => {
                tags.truncate(length);
                index.truncate(length);
                let rows = alternatives(&tags, &index, contents.len());
                give(key, "tags", Column::from_vec(tags));
                give(key, "index", Column::from_vec(index));
                contents.iter().copied().zip(rows).collect()
            }
        };
        for (form, (content, rows)) in inner.iter().zip(below) {
            self.give(form, content, rows, out);
        }
    }
}

fn numbers(mut give: impl FnMut(&str, &str, Column), key: &str, column: Column) -> Vec<(u32, usize)> {
    give(key, "data", column);
    Vec::new()
}

fn column<T: Native>(mut items: Vec<T>, length: usize) -> Column {
    items.truncate(length);
    Column::from_vec(items)
}
