//! Binds byte strings of a fixed size, and decimals.

use crate::{EncodeError, append::text, node::Node, rows::Rows};
use forthwith_columns::Form;
use forthwith_program::{Layout, TextLength};
use std::borrow::Cow;

/// Returns a node of values of `size` bytes. `put` appends the value of a row, given the size; it is not
/// called for hidden rows.
fn packed<'a>(
    size: u64,
    count: usize,
    rows: &Rows,
    mut put: impl FnMut(usize, usize, &mut Vec<u8>) -> Result<(), EncodeError>,
) -> Result<Node<'a>, EncodeError> {
    let width = usize::try_from(size).unwrap_or(usize::MAX);
    let mut bytes = Vec::with_capacity(count.saturating_mul(width.min(32)));
    let (mut index, mut items) = (rows.have_gaps().then(Vec::new), 0);
    for row in 0..count {
        let seen = rows.sees(row);
        if let Some(index) = &mut index {
            index.push(if seen { items } else { -1 });
        }
        if seen {
            put(row, width, &mut bytes)?;
            items += 1;
        }
    }
    let packed = Node::Packed { width, bytes: bytes.into() };
    Ok(match index {
        Some(index) => Node::Picked { index: index.into(), value: Box::new(packed) },
        None => packed,
    })
}

/// Binds byte strings, each of which must have `size` bytes.
pub(crate) fn opaque<'a>(
    size: u64,
    offsets: &[i64],
    bytes: &'a [u8],
    rows: &Rows,
    form: &Form,
    member: &str,
) -> Result<Node<'a>, EncodeError> {
    let item = |row: usize| {
        let item = text(offsets, bytes, row)?;
        if item.len() as u64 != size {
            let found = format!("{} of {} bytes", form.type_string(), item.len());
            return Err(EncodeError::range(member, row, found, format!("{size} bytes")));
        }
        Ok(item)
    };
    let count = offsets.len().saturating_sub(1);
    if rows.have_gaps() {
        return packed(size, count, rows, |row, _, out| {
            out.extend(item(row)?);
            Ok(())
        });
    }
    (0..count).try_for_each(|row| item(row).map(drop))?;
    let start = offsets.first().copied().unwrap_or(0) as usize;
    let end = offsets.last().copied().unwrap_or(0) as usize;
    let width = usize::try_from(size).unwrap_or(usize::MAX);
    let bytes = bytes.get(start..end).ok_or(EncodeError::Changed)?;
    Ok(Node::Packed { width, bytes: Cow::Borrowed(bytes) })
}

/// Encodes decimals in two's complement, big-endian: in as few bytes as each needs, or in a fixed size.
/// Returns `None` if `layout` is of another type.
pub(crate) fn decimals<'a>(
    layout: &Layout,
    length: TextLength,
    values: &[i64],
    rows: &Rows,
    member: &str,
) -> Result<Option<Node<'a>>, EncodeError> {
    // Number of leading bytes that only repeat the sign.
    let spare = |value: i64| ((value ^ (value >> 63)).leading_zeros() as usize - 1) / 8;
    Ok(Some(match layout {
        Layout::Bytes => {
            let mut offsets = Vec::with_capacity(values.len() + 1);
            let mut bytes = Vec::with_capacity(values.len() * 8);
            offsets.push(0);
            for value in values {
                bytes.extend(&value.to_be_bytes()[spare(*value)..]);
                offsets.push(bytes.len() as i64);
            }
            Node::Text { offsets: offsets.into(), bytes: bytes.into(), length, ends_at_nul: false }
        }
        Layout::Opaque(size) => packed(*size, values.len(), rows, |row, width, out| {
            let value = values[row];
            let (all, sign) = (value.to_be_bytes(), if value < 0 { 0xff } else { 0 });
            if 8 - spare(value) > width {
                let found = format!("a decimal of the digits {value}");
                return Err(EncodeError::range(member, row, found, format!("{size} bytes")));
            }
            out.extend(std::iter::repeat_n(sign, width.saturating_sub(8)));
            out.extend(&all[8 - width.min(8)..]);
            Ok(())
        })?,
        _ => return Ok(None),
    }))
}

/// Resizes big-endian two's complement integers to `size` bytes each.
pub(crate) fn resized<'a>(
    size: u64,
    offsets: &[i64],
    bytes: &[u8],
    rows: &Rows,
    member: &str,
) -> Result<Node<'a>, EncodeError> {
    packed(size, offsets.len().saturating_sub(1), rows, |row, width, out| {
        let item = text(offsets, bytes, row)?;
        let sign = if item.first().is_some_and(|first| *first >= 0x80) { 0xff } else { 0 };
        let (over, kept) = item.split_at(item.len().saturating_sub(width));
        // Only sign bytes may be dropped.
        let same = over.is_empty() || kept.first().is_some_and(|first| (*first >= 0x80) == (sign == 0xff));
        if !same || over.iter().any(|byte| *byte != sign) {
            let found = format!("a decimal of {} bytes", item.len());
            return Err(EncodeError::range(member, row, found, format!("{size} bytes")));
        }
        out.extend(std::iter::repeat_n(sign, width - kept.len()));
        out.extend(kept);
        Ok(())
    })
}
