//! Rows of nodes to bytes.
//!
//! Columns have been validated, but their memory may be that of others, who may change it meanwhile: every position is
//! looked up within bounds.

use crate::{
    EncodeError,
    node::{Around, Field, Head, Node, Parts, Present, Version},
    numbers::{leb128, store_numbers, zigzag},
};
use forthwith_columns::{DType, Encoding};
use forthwith_program::TextLength;
use std::{collections::HashSet, ops::Range};

type Result<T> = std::result::Result<T, EncodeError>;

/// The bit of a count of bytes.
const BYTE_COUNT: u32 = 0x4000_0000;
/// The tag before the name of a class.
const NEW_CLASS: u32 = 0xFFFF_FFFF;
/// The status bit of an object that others refer to.
const IS_REFERENCED: u32 = 0x10;

impl Node<'_> {
    /// Appends a row.
    pub(crate) fn append(&self, row: usize, out: &mut Vec<u8>) -> Result<()> {
        match self {
            Self::Nothing => {}
            Self::Constant(bytes) => out.extend_from_slice(bytes),
            Self::Packed { .. } | Self::Numbers { .. } => self.append_all(row..row + 1, out)?,
            Self::StatusBits(bytes) => {
                let bits = bytes.as_chunks::<4>().0.get(row).ok_or(EncodeError::Changed)?;
                out.extend((u32::from_ne_bytes(*bits) & !IS_REFERENCED).to_be_bytes());
            }
            Self::Varint(numbers) => zigzag(at(numbers, row)?, out),
            Self::Leb128(numbers) => leb128(at(numbers, row)?.cast_unsigned(), out),
            Self::Keyed(fields) => fields.iter().try_for_each(|field| field.append(row, out))?,
            Self::Parts(parts) => parts.append(row, out)?,
            Self::Text { offsets, bytes, length, ends_at_nul } => {
                let text = text(offsets, bytes, row)?;
                if *ends_at_nul && text.contains(&0) {
                    return Err(EncodeError::value("text with a NUL character, which would end it"));
                }
                put_length(*length, text.len(), out)?;
                out.extend_from_slice(text);
            }
            Self::List { offsets, items, head, item } => {
                item.append_items(*head, span(offsets, row, *items)?, out)?;
            }
            Self::Lengths(offsets) => {
                out.extend(count(span(offsets, row, usize::MAX)?.len())?.to_be_bytes());
            }
            Self::Regular { size, head, item } => {
                let begin = row.checked_mul(*size).ok_or(EncodeError::Changed)?;
                let end = begin.checked_add(*size).ok_or(EncodeError::Changed)?;
                item.append_items(*head, begin..end, out)?;
            }
            Self::Triangle { offsets, sides, item } => {
                let all = span(offsets, row, usize::MAX)?;
                let side = usize::try_from(at(sides, row)?).map_err(|_| EncodeError::Changed)?;
                for at in 0..side {
                    let begin = all.start + at * side;
                    item.append_all(begin + at..begin + side, out)?;
                }
            }
            Self::Record(fields) => fields.iter().try_for_each(|field| field.append(row, out))?,
            Self::Tagged { tag, value } => {
                zigzag(*tag, out);
                value.append(row, out)?;
            }
            Self::Option { index, null, some, value } => match usize::try_from(at(index, row)?) {
                Ok(at) => {
                    if let Some(some) = some {
                        zigzag(*some, out);
                    }
                    value.append(at, out)?;
                }
                Err(_) => zigzag(*null, out),
            },
            Self::Picked { index, value } => value.append(row_of(index, row)?, out)?,
            Self::Union { tags, index, arms } => {
                let (tag, value) = arm(tags, arms, row)?;
                if let Some(tag) = tag {
                    zigzag(*tag, out);
                }
                value.append(row_of(index, row)?, out)?;
            }
            Self::Framed { version, of, .. } => frame(*version, out, |out| of.append(row, out))?,
            Self::Base(of) => of.append(row, out)?,
            Self::Together(of) => of.unframed().append_together(row..row + 1, out)?,
            Self::Pointer { index, tags, classes } => {
                let Ok(object) = usize::try_from(at(index, row)?) else {
                    out.extend([0; 4]);
                    return Ok(());
                };
                let ((name, node), row) = match tags {
                    None => (classes.first().ok_or(EncodeError::Changed)?, object),
                    Some((tags, index)) => (arm(tags, classes, object)?, row_of(index, object)?),
                };
                frame(Version::Nothing, out, |out| {
                    out.extend(NEW_CLASS.to_be_bytes());
                    out.extend_from_slice(name);
                    out.push(0);
                    node.append(row, out)
                })?;
            }
            Self::Flagged(of) => {
                out.push(1);
                of.append(row, out)?;
            }
        }
        Ok(())
    }

    /// Appends rows as the items of one list, with its head.
    fn append_items(&self, head: Head, rows: Range<usize>, out: &mut Vec<u8>) -> Result<()> {
        match head {
            Head::Nothing => {}
            Head::Big32 => out.extend(count(rows.len())?.to_be_bytes()),
            Head::Bound => {
                out.extend(count(rows.len())?.to_be_bytes());
                out.extend([0; 4]);
            }
            Head::Blocks if rows.is_empty() => {}
            Head::Blocks => zigzag(rows.len() as i64, out),
            Head::Flag => out.push(u8::from(!rows.is_empty())),
        }
        self.append_all(rows, out)?;
        if head == Head::Blocks {
            out.push(0);
        }
        Ok(())
    }

    /// Appends rows that are stored together.
    pub(crate) fn append_all(&self, rows: Range<usize>, out: &mut Vec<u8>) -> Result<()> {
        match self {
            Self::Numbers { bytes, wire } => {
                store_numbers(*wire, bytes_of(bytes, wire.dtype().size(), rows)?, out).ok_or_else(|| {
                    EncodeError::Unsupported { member: String::new(), what: format!("{wire:?}") }
                })?;
            }
            Self::Packed { width, bytes } => out.extend_from_slice(bytes_of(bytes, *width, rows)?),
            Self::Varint(numbers) => {
                let numbers = numbers.get(rows).ok_or(EncodeError::Changed)?;
                numbers.iter().for_each(|number| zigzag(*number, out));
            }
            Self::Leb128(numbers) => {
                let numbers = numbers.get(rows).ok_or(EncodeError::Changed)?;
                numbers.iter().for_each(|number| leb128(number.cast_unsigned(), out));
            }
            Self::Together(of) => of.unframed().append_together(rows, out)?,
            item => rows.into_iter().try_for_each(|row| item.append(row, out))?,
        }
        Ok(())
    }

    /// Appends rows as items of one list that are stored together; a shared frame is around all of them.
    pub(crate) fn append_list(&self, rows: Range<usize>, out: &mut Vec<u8>) -> Result<()> {
        match self {
            Self::Framed { version, shared: true, of } => {
                frame(*version, out, |out| of.append_all(rows, out))
            }
            node => node.append_all(rows, out),
        }
    }

    /// Appends rows member by member: the first of all rows, then the second.
    fn append_together(&self, rows: Range<usize>, out: &mut Vec<u8>) -> Result<()> {
        match self {
            Self::Record(fields) => {
                fields.iter().try_for_each(|field| field.append_together(rows.clone(), out))
            }
            Self::Base(of) => of.unframed().append_together(rows, out),
            Self::Framed { version, shared: true, of } => {
                frame(*version, out, |out| of.append_together(rows, out))
            }
            node => node.append_all(rows, out),
        }
    }

    /// The value in a frame.
    pub(crate) fn unframed(&self) -> &Self {
        if let Self::Framed { of, .. } = self { of } else { self }
    }

    /// Checks that no two rows are equal.
    pub(crate) fn distinct(&self, rows: Range<usize>) -> Result<()> {
        let (mut values, mut ends) = (Vec::new(), vec![0]);
        for row in rows {
            let begin = values.len();
            self.append(row, &mut values)?;
            if let Self::Numbers { wire: Encoding::Big(DType::Float32 | DType::Float64), .. } = self {
                unsigned_zero(&mut values[begin..])?;
            }
            ends.push(values.len());
        }
        let mut known = HashSet::new();
        match ends.windows(2).all(|pair| known.insert(&values[pair[0]..pair[1]])) {
            true => Ok(()),
            false => Err(EncodeError::value("duplicate value in a set, or duplicate key in a map")),
        }
    }

    /// Checks that a list has no duplicate items, or pairs with duplicate keys.
    pub(crate) fn distinct_items(&self, row: usize) -> Result<()> {
        let mut node = self;
        while let Self::Framed { of, .. } = node {
            node = of;
        }
        let Self::List { offsets, items, item, .. } = node else { return Ok(()) };
        let key = match &**item {
            Self::Record(pair) => pair.first().unwrap_or(item),
            item => item,
        };
        key.distinct(span(offsets, row, *items)?)
    }

    /// Returns whether a square matrix of numbers, whose rows begin with the item `first`, equals its transpose.
    /// Equal are numbers that compare equal, and all NaNs.
    pub(crate) fn is_symmetric(&self, first: usize, side: usize) -> bool {
        let place = |row: usize, column: usize| first + row * side + column;
        let Self::Numbers { bytes, wire } = self else {
            let stored = |at: usize| {
                let mut bytes = Vec::new();
                self.append(at, &mut bytes).map(|()| bytes)
            };
            let is_equal = |row, column| stored(place(row, column)) == stored(place(column, row));
            return (0..side).all(|row| (0..row).all(|column| is_equal(row, column)));
        };
        let dtype = wire.dtype();
        let item = |row, column| {
            let at = place(row, column);
            bytes_of(bytes, dtype.size(), at..at + 1).unwrap_or_default()
        };
        let number = |item: &[u8]| match (dtype, item) {
            (DType::Float32, &[a, b, c, d]) => Some(f32::from_ne_bytes([a, b, c, d]).into()),
            (DType::Float64, &[a, b, c, d, e, f, g, h]) => Some(f64::from_ne_bytes([a, b, c, d, e, f, g, h])),
            _ => None,
        };
        let is_equal = |one: &[u8], other: &[u8]| {
            one == other
                || number(one).zip(number(other)).is_some_and(|(a, b)| a == b || (a.is_nan() && b.is_nan()))
        };
        (0..side).all(|row| (0..row).all(|column| is_equal(item(row, column), item(column, row))))
    }

    /// Whether a value is zero in all its bits, or empty.
    fn is_zero(&self, row: usize) -> Result<bool> {
        Ok(match self {
            Self::Varint(numbers) | Self::Leb128(numbers) => at(numbers, row)? == 0,
            Self::Packed { width, bytes } => {
                bytes_of(bytes, *width, row..row + 1)?.iter().all(|byte| *byte == 0)
            }
            Self::Numbers { bytes, wire } => {
                bytes_of(bytes, wire.dtype().size(), row..row + 1)?.iter().all(|byte| *byte == 0)
            }
            Self::Text { offsets, .. } => span(offsets, row, usize::MAX)?.is_empty(),
            Self::Picked { index, value } => value.is_zero(row_of(index, row)?)?,
            _ => false,
        })
    }
}

impl Field<'_> {
    fn append(&self, row: usize, out: &mut Vec<u8>) -> Result<()> {
        let Self { key, around, presence, value } = self;
        let at = match presence {
            Present::Never => return Ok(()),
            Present::NotZero if value.is_zero(row)? => return Ok(()),
            Present::Always | Present::NotZero => row,
            Present::Option(index) => match usize::try_from(at(index, row)?) {
                Ok(at) => at,
                Err(_) => return Ok(()),
            },
            Present::List(offsets) => {
                let mut rows = span(offsets, row, usize::MAX)?;
                return match around {
                    Around::Packed if rows.is_empty() => Ok(()),
                    Around::Packed => {
                        out.extend_from_slice(key);
                        with_length(out, |out| value.append_all(rows, out))
                    }
                    _ => rows.try_for_each(|at| self.append_value(at, out)),
                };
            }
        };
        self.append_value(at, out)
    }

    fn append_value(&self, row: usize, out: &mut Vec<u8>) -> Result<()> {
        out.extend_from_slice(&self.key);
        match &self.around {
            Around::Nothing | Around::Packed => self.value.append(row, out)?,
            Around::Length => with_length(out, |out| self.value.append(row, out))?,
            Around::End(end) => {
                self.value.append(row, out)?;
                out.extend_from_slice(end);
            }
        }
        Ok(())
    }
}

impl Parts<'_> {
    fn append(&self, row: usize, out: &mut Vec<u8>) -> Result<()> {
        let number = at(&self.numbers, row)?;
        let (whole, rest) = match self.floor {
            true => (number.div_euclid(self.by), number.rem_euclid(self.by)),
            false => (number / self.by, number % self.by),
        };
        for (key, part) in self.keys.iter().zip([whole, rest * self.scale]) {
            if part != 0 {
                out.extend_from_slice(key);
                leb128(part.cast_unsigned(), out);
            }
        }
        Ok(())
    }
}

/// Appends a value behind the count of its bytes and its version.
fn frame(version: Version, out: &mut Vec<u8>, put: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Result<()> {
    let begin = out.len();
    out.extend([0; 4]);
    match version {
        Version::Nothing => {}
        Version::Number(version) => out.extend(version.to_be_bytes()),
        Version::Checksum(sum) => {
            out.extend([0; 2]);
            out.extend(sum.to_be_bytes());
        }
    }
    put(out)?;
    let length = out.len() - begin - 4;
    let counted = u32::try_from(length).ok().filter(|length| *length < BYTE_COUNT);
    let counted = counted.ok_or_else(|| {
        EncodeError::large(format!("an object of {length} bytes (up to {} can be counted)", BYTE_COUNT - 1))
    })?;
    out[begin..begin + 4].copy_from_slice(&(BYTE_COUNT | counted).to_be_bytes());
    Ok(())
}

/// Appends bytes behind their number as a varint.
fn with_length(out: &mut Vec<u8>, put: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Result<()> {
    let start = out.len();
    out.push(0);
    put(out)?;
    let length = out.len() - start - 1;
    match u8::try_from(length) {
        Ok(short @ 0..0x80) => out[start] = short,
        _ => {
            let mut bytes = Vec::with_capacity(5);
            leb128(length as u64, &mut bytes);
            out.splice(start..=start, bytes);
        }
    }
    Ok(())
}

fn put_length(written: TextLength, length: usize, out: &mut Vec<u8>) -> Result<()> {
    match (written, u8::try_from(length)) {
        (TextLength::ByteThenWord, Ok(short)) if short < 255 => out.push(short),
        (TextLength::ByteThenWord, _) => {
            out.push(255);
            out.extend(count(length)?.to_be_bytes());
        }
        (TextLength::Big32, _) => out.extend(count(length)?.to_be_bytes()),
        (TextLength::Leb128, _) => leb128(length as u64, out),
        (_, _) => zigzag(length as i64, out),
    }
    Ok(())
}

/// A number of items in 31 bits.
fn count(items: usize) -> Result<i32> {
    i32::try_from(items).map_err(|_| {
        EncodeError::large(format!("a list of {items} items (up to {} can be counted)", i32::MAX))
    })
}

fn at(numbers: &[i64], row: usize) -> Result<i64> {
    numbers.get(row).copied().ok_or(EncodeError::Changed)
}

/// The row that an index has for another.
fn row_of(index: &[i64], row: usize) -> Result<usize> {
    usize::try_from(at(index, row)?).map_err(|_| EncodeError::Changed)
}

/// The alternative of a row.
fn arm<'n, T>(tags: &[i8], arms: &'n [T], row: usize) -> Result<&'n T> {
    let tag = tags.get(row).and_then(|tag| usize::try_from(*tag).ok());
    tag.and_then(|tag| arms.get(tag)).ok_or(EncodeError::Changed)
}

/// The bytes of rows of `width` bytes each.
fn bytes_of(bytes: &[u8], width: usize, rows: Range<usize>) -> Result<&[u8]> {
    let span = rows.start.saturating_mul(width)..rows.end.saturating_mul(width);
    bytes.get(span).ok_or(EncodeError::Changed)
}

/// The items of a row. All rows have `items` items.
pub(crate) fn span(offsets: &[i64], row: usize, items: usize) -> Result<Range<usize>> {
    let pair = row.checked_add(2).and_then(|end| offsets.get(row..end));
    let Some(&[from, end]) = pair else { return Err(EncodeError::Changed) };
    match (usize::try_from(from), usize::try_from(end)) {
        (Ok(from), Ok(end)) if from <= end && end <= items => Ok(from..end),
        _ => Err(EncodeError::Changed),
    }
}

/// The byte string of a row.
pub(crate) fn text<'n>(offsets: &[i64], bytes: &'n [u8], row: usize) -> Result<&'n [u8]> {
    bytes.get(span(offsets, row, bytes.len())?).ok_or(EncodeError::Changed)
}

/// Makes zero of minus zero, in the bytes of a number, and refuses NaN, which is equal to nothing.
fn unsigned_zero(bytes: &mut [u8]) -> Result<()> {
    let value = match *bytes {
        [a, b, c, d] => f64::from(f32::from_be_bytes([a, b, c, d])),
        [a, b, c, d, e, f, g, h] => f64::from_be_bytes([a, b, c, d, e, f, g, h]),
        _ => return Ok(()),
    };
    if value.is_nan() {
        return Err(EncodeError::value("NaN in a set, or as a key of a map"));
    }
    if value == 0.0 {
        bytes.fill(0);
    }
    Ok(())
}
