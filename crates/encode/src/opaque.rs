//! Byte strings of one length, and the digits of decimals.

use crate::{EncodeError, node::Node, rows::Rows};
use forthwith_columns::Form;
use forthwith_program::Layout;
use std::borrow::Cow;

/// Values of one size, one after the other, but for hidden rows.
struct Packing {
    width: usize,
    bytes: Vec<u8>,
    index: Option<Vec<i64>>,
    items: i64,
}

impl Packing {
    fn new(size: u64, rows: &Rows) -> Self {
        let width = usize::try_from(size).unwrap_or(usize::MAX);
        Self { width, bytes: Vec::new(), index: rows.have_gaps().then(Vec::new), items: 0 }
    }

    /// The next row is one that is there, and its bytes follow.
    fn next(&mut self) {
        if let Some(index) = &mut self.index {
            index.push(self.items);
        }
        self.items += 1;
    }

    /// The next row is none.
    fn skip(&mut self) {
        if let Some(index) = &mut self.index {
            index.push(-1);
        }
    }

    fn done<'a>(self) -> Node<'a> {
        let packed = Node::Packed { width: self.width, bytes: self.bytes.into() };
        match self.index {
            Some(index) => Node::Picked { index: index.into(), value: Box::new(packed) },
            None => packed,
        }
    }
}

/// Byte strings that all have to be of one length.
pub(crate) fn opaque<'a>(
    size: u64,
    offsets: &[i64],
    bytes: &'a [u8],
    rows: &Rows,
    form: &Form,
    member: &str,
) -> Result<Node<'a>, EncodeError> {
    let mut packing = Packing::new(size, rows);
    for (row, pair) in offsets.windows(2).enumerate() {
        let found = pair[1] - pair[0];
        if !rows.sees(row) {
            packing.skip();
            continue;
        }
        if found != size as i64 {
            return Err(EncodeError::Range {
                member: member.into(),
                row: row as u64,
                found: format!("{} of {found} bytes", form.type_string()),
                wanted: format!("{size} bytes"),
            });
        }
        if rows.have_gaps() {
            packing.next();
            packing.bytes.extend(&bytes[pair[0] as usize..pair[1] as usize]);
        }
    }
    if rows.have_gaps() {
        return Ok(packing.done());
    }
    let start = offsets.first().copied().unwrap_or(0) as usize;
    let end = offsets.last().copied().unwrap_or(0) as usize;
    Ok(Node::Packed { width: packing.width, bytes: Cow::Borrowed(&bytes[start..end]) })
}

/// Whole numbers as the bytes of decimals, as few as they need or as many as there are to be. Nothing if that
/// is not what they are written as.
pub(crate) fn decimals<'a>(
    layout: &Layout,
    values: &[i64],
    rows: &Rows,
    member: &str,
) -> Result<Option<Node<'a>>, EncodeError> {
    // The bytes in front that only repeat the sign.
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
            Node::Text { offsets: offsets.into(), bytes: bytes.into() }
        }
        Layout::Opaque(size) => {
            let mut packing = Packing::new(*size, rows);
            let width = packing.width;
            packing.bytes.reserve(values.len().saturating_mul(width.min(64)));
            for (row, value) in values.iter().enumerate() {
                if !rows.sees(row) {
                    packing.skip();
                    continue;
                }
                let (all, sign) = (value.to_be_bytes(), if *value < 0 { 0xff } else { 0 });
                if 8 - spare(*value) > width {
                    return Err(EncodeError::Range {
                        member: member.into(),
                        row: row as u64,
                        found: format!("a decimal of the digits {value}"),
                        wanted: format!("{size} bytes"),
                    });
                }
                packing.next();
                packing.bytes.extend(std::iter::repeat_n(sign, width.saturating_sub(8)));
                packing.bytes.extend(&all[8 - width.min(8)..]);
            }
            packing.done()
        }
        _ => return Ok(None),
    }))
}

/// Numbers in two's complement, most significant byte first, each in the same number of bytes.
pub(crate) fn resized<'a>(
    size: u64,
    offsets: &[i64],
    bytes: &[u8],
    rows: &Rows,
    member: &str,
) -> Result<Node<'a>, EncodeError> {
    let mut packing = Packing::new(size, rows);
    let width = packing.width;
    packing.bytes.reserve(offsets.len().saturating_mul(width.min(32)));
    for (row, pair) in offsets.windows(2).enumerate() {
        if !rows.sees(row) {
            packing.skip();
            continue;
        }
        let item = &bytes[pair[0] as usize..pair[1] as usize];
        let sign = if item.first().is_some_and(|first| *first >= 0x80) { 0xff } else { 0 };
        let (over, kept) = item.split_at(item.len().saturating_sub(width));
        // The bytes that are cut off must only repeat the sign.
        let same = over.is_empty() || kept.first().is_some_and(|first| (*first >= 0x80) == (sign == 0xff));
        if !same || over.iter().any(|byte| *byte != sign) {
            return Err(EncodeError::Range {
                member: member.into(),
                row: row as u64,
                found: format!("a decimal of {} bytes", item.len()),
                wanted: format!("{size} bytes"),
            });
        }
        packing.next();
        packing.bytes.extend(std::iter::repeat_n(sign, width - kept.len()));
        packing.bytes.extend(kept);
    }
    Ok(packing.done())
}
