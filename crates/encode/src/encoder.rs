//! The walk: one row after the other, appended to bytes.

use crate::{
    EncodeError,
    bind::{self, Binder},
    node::{Around, Field, Node, Parts, Present},
    numbers,
    rows::Rows,
    tagged,
};
use forthwith_columns::Array;
use forthwith_program::{Count, Dialect, Layout, TextLength};

/// Columns bound to the layout they are written in. Everything that can be wrong with them has been found by
/// then.
#[derive(Debug)]
pub struct Encoder<'a> {
    node: Node<'a>,
    dialect: Dialect,
    rows: u64,
}

impl<'a> Encoder<'a> {
    /// Binds columns to a layout and a dialect.
    ///
    /// # Errors
    /// Columns that are not what their Form says, or do not fit the layout; values that do not fit their
    /// type, with the first such row.
    pub fn new(layout: &Layout, dialect: &Dialect, array: &'a Array) -> Result<Self, EncodeError> {
        array.validate()?;
        let node = Binder::new(array).bind(layout, &array.form, &Rows::all(array.length), "")?;
        Ok(Self { node, dialect: *dialect, rows: array.length })
    }

    /// Binds columns, an array each, to the fields of a record. A [`Layout::Constant`] needs no column.
    ///
    /// # Errors
    /// As [`new`](Self::new); columns of different lengths.
    pub fn of_fields(
        layout: &Layout,
        dialect: &Dialect,
        names: &[String],
        arrays: &'a [Array],
    ) -> Result<Self, EncodeError> {
        let rows = arrays.first().map_or(0, |array| array.length);
        for (array, name) in arrays.iter().zip(names) {
            array.validate()?;
            if array.length != rows {
                let (found, wanted) = (format!("{} rows", array.length), format!("{rows} rows"));
                return Err(EncodeError::Type { member: name.clone(), found, wanted });
            }
        }
        let node = match layout {
            Layout::Tagged(tagged) => tagged::columns(tagged, names, arrays)?,
            layout => bind::fields(layout, names, arrays)?,
        };
        Ok(Self { node, dialect: *dialect, rows })
    }

    /// The number of rows.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// Appends one row; nothing for a row that is not there.
    pub fn row(&self, row: u64, out: &mut Vec<u8>) {
        if row < self.rows {
            self.put(&self.node, row as usize, out);
        }
    }

    /// Rows are within their nodes: the array has been validated, and nodes are only reached through its own
    /// offsets and indexes.
    fn put(&self, node: &Node<'_>, row: usize, out: &mut Vec<u8>) {
        match node {
            Node::Nothing => {}
            Node::Constant(bytes) => out.extend_from_slice(bytes),
            Node::Packed { width, bytes } => out.extend_from_slice(&bytes[row * width..(row + 1) * width]),
            Node::Varint(numbers) => numbers::zigzag(numbers[row], out),
            Node::Leb128(numbers) => numbers::leb128(numbers[row] as u64, out),
            Node::Keyed(fields) => self.put_fields(fields, row, out),
            Node::Parts(parts) => put_parts(parts, row, out),
            Node::Text { offsets, bytes } => {
                let text = &bytes[offsets[row] as usize..offsets[row + 1] as usize];
                self.length(text.len(), out);
                out.extend_from_slice(text);
            }
            Node::List { offsets, item } => {
                self.items(item, offsets[row] as usize, offsets[row + 1] as usize, true, out);
            }
            Node::Regular { size, counted, item } => {
                let size = *size as usize;
                self.items(item, row * size, (row + 1) * size, *counted, out);
            }
            Node::Record(fields) => fields.iter().for_each(|field| self.put(field, row, out)),
            Node::Tagged { tag, value } => {
                numbers::zigzag(*tag, out);
                self.put(value, row, out);
            }
            Node::Option { index, null, some, value } => match usize::try_from(index[row]) {
                Ok(at) => {
                    if let Some(some) = some {
                        numbers::zigzag(*some, out);
                    }
                    self.put(value, at, out);
                }
                Err(_) => numbers::zigzag(*null, out),
            },
            Node::Picked { index, value } => self.put(value, index[row] as usize, out),
            Node::Union { tags, index, arms } => {
                let (tag, value) = &arms[tags[row] as usize];
                if let Some(tag) = tag {
                    numbers::zigzag(*tag, out);
                }
                self.put(value, index[row] as usize, out);
            }
        }
    }

    fn items(&self, item: &Node<'_>, from: usize, to: usize, counted: bool, out: &mut Vec<u8>) {
        let count = to - from;
        match self.dialect.counts {
            Count::Blocks if counted && count == 0 => return out.push(0),
            _ if counted => self.count(count, out),
            _ => {}
        }
        match item {
            Node::Packed { width, bytes } => out.extend_from_slice(&bytes[from * width..to * width]),
            Node::Varint(numbers) => {
                numbers[from..to].iter().for_each(|number| numbers::zigzag(*number, out))
            }
            item => (from..to).for_each(|at| self.put(item, at, out)),
        }
        if counted && self.dialect.counts == Count::Blocks {
            out.push(0);
        }
    }

    fn count(&self, count: usize, out: &mut Vec<u8>) {
        match self.dialect.counts {
            // Longer lists have been refused.
            Count::Big32 => out.extend((count as u32).to_be_bytes()),
            _ => numbers::zigzag(count as i64, out),
        }
    }

    fn length(&self, length: usize, out: &mut Vec<u8>) {
        match (self.dialect.text, u8::try_from(length)) {
            (TextLength::ByteThenWord, Ok(short)) if short < 255 => out.push(short),
            (TextLength::ByteThenWord, _) => {
                out.push(255);
                out.extend((length as u32).to_be_bytes());
            }
            (TextLength::Big32, _) => out.extend((length as u32).to_be_bytes()),
            (TextLength::Leb128, _) => numbers::leb128(length as u64, out),
            (_, _) => numbers::zigzag(length as i64, out),
        }
    }

    fn put_fields(&self, fields: &[Field<'_>], row: usize, out: &mut Vec<u8>) {
        for Field { key, around, presence, value } in fields {
            let at = match presence {
                Present::Never => continue,
                Present::NotZero if value.is_zero(row) => continue,
                Present::Always | Present::NotZero => row,
                Present::Option(index) => match usize::try_from(index[row]) {
                    Ok(at) => at,
                    Err(_) => continue,
                },
                Present::List(offsets) => {
                    let (from, to) = (offsets[row] as usize, offsets[row + 1] as usize);
                    match around {
                        Around::Packed if from == to => {}
                        Around::Packed => {
                            out.extend_from_slice(key);
                            with_length(out, |out| self.put_items(value, from, to, out));
                        }
                        around => (from..to).for_each(|at| self.put_value(key, around, value, at, out)),
                    }
                    continue;
                }
            };
            self.put_value(key, around, value, at, out);
        }
    }

    fn put_value(&self, key: &[u8], around: &Around, value: &Node<'_>, at: usize, out: &mut Vec<u8>) {
        out.extend_from_slice(key);
        match around {
            Around::Nothing | Around::Packed => self.put(value, at, out),
            Around::Length => with_length(out, |out| self.put(value, at, out)),
            Around::End(end) => {
                self.put(value, at, out);
                out.extend_from_slice(end);
            }
        }
    }

    fn put_items(&self, value: &Node<'_>, from: usize, to: usize, out: &mut Vec<u8>) {
        match value {
            Node::Packed { width, bytes } => out.extend_from_slice(&bytes[from * width..to * width]),
            Node::Leb128(numbers) => {
                numbers[from..to].iter().for_each(|number| numbers::leb128(*number as u64, out))
            }
            value => (from..to).for_each(|at| self.put(value, at, out)),
        }
    }
}

/// Appends a number in two parts.
fn put_parts(parts: &Parts<'_>, row: usize, out: &mut Vec<u8>) {
    let number = parts.numbers[row];
    let (whole, rest) = match parts.floor {
        true => (number.div_euclid(parts.by), number.rem_euclid(parts.by)),
        false => (number / parts.by, number % parts.by),
    };
    for (key, part) in parts.keys.iter().zip([whole, rest * parts.scale]) {
        if part != 0 {
            out.extend_from_slice(key);
            numbers::leb128(part as u64, out);
        }
    }
}

/// Appends bytes with their number before them.
fn with_length(out: &mut Vec<u8>, put: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.push(0);
    put(out);
    let length = out.len() - start - 1;
    match u8::try_from(length) {
        Ok(short @ 0..0x80) => out[start] = short,
        _ => {
            let mut bytes = Vec::with_capacity(5);
            numbers::leb128(length as u64, &mut bytes);
            out.splice(start..=start, bytes);
        }
    }
}
