//! Rows of bound columns, as bytes.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use forthwith_columns::{DType, Encoding};
use forthwith_plan::{Error, Result};

use crate::cpp::Packing;
use crate::record::{BYTE_COUNT, IS_REFERENCED, NEW_CLASS};
use crate::write::STL_VERSION;

/// A part of a layout, with the columns that its values come from.
#[derive(Debug)]
pub(super) enum Node<'a> {
    Nothing,
    Constant(Arc<[u8]>),
    /// This number of bytes of the column for each row.
    Numbers {
        bytes: &'a [u8],
        width: usize,
        wire: Encoding,
    },
    /// Status bits, of an object that is not referenced.
    Bits(&'a [u8]),
    Text {
        offsets: Cow<'a, [i64]>,
        bytes: &'a [u8],
        length: Length,
    },
    List {
        offsets: Cow<'a, [i64]>,
        /// The number of items that there are.
        items: usize,
        head: Head,
        item: Box<Self>,
    },
    Fixed {
        size: usize,
        item: Box<Self>,
    },
    /// Of a square of numbers, those that are not left of the diagonal.
    Triangle {
        offsets: Cow<'a, [i64]>,
        sides: Vec<i64>,
        item: Box<Self>,
    },
    Record(Vec<Self>),
    /// Where values of many items stand together, a `shared` frame stands around all of them.
    Framed {
        version: Version,
        shared: bool,
        of: Box<Self>,
    },
    /// A base class. Where members of many items stand together, its members do so too, without its frame.
    Base(Box<Self>),
    /// Objects whose members stand together, without the frames of the objects.
    Together(Box<Self>),
    /// Nothing, or an object behind the name of its class: the rows of objects, below zero for none; for each of
    /// these its class, and its row among those of that class.
    Pointer {
        index: Cow<'a, [i64]>,
        tags: Option<(&'a [i8], Cow<'a, [i64]>)>,
        classes: Vec<(String, Self)>,
    },
    /// A byte 1, and the value.
    Flagged(Box<Self>),
}

/// What stands before a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Length {
    /// One byte, or 255 and four.
    Short,
    /// The same of a text that C++ takes to end at a NUL.
    EndsAtNul,
    /// Four bytes, of a text that C++ takes to end at a NUL, too.
    Long,
}

/// What stands before the items of a list.
#[derive(Clone, Copy, Debug)]
pub(super) enum Head {
    Nothing,
    Count,
    /// Their number, and the index of the first, which is zero.
    Bound,
    /// One byte: whether there are any.
    Flag,
}

/// What stands behind a byte count.
#[derive(Clone, Copy, Debug)]
pub(super) enum Version {
    None,
    Number(u16),
    /// Zero, and the checksum.
    Checksum(u32),
}

impl Node<'_> {
    pub(super) fn distinct(&self, rows: Range<usize>) -> Result<()> {
        let (mut values, mut ends) = (Vec::new(), vec![0]);
        for row in rows {
            let begin = values.len();
            self.append(row, &mut values)?;
            if let Self::Numbers { wire: Encoding::Big(DType::Float32 | DType::Float64), .. } = self {
                whole_zero(&mut values[begin..])?;
            }
            ends.push(values.len());
        }
        let mut known = HashSet::new();
        match ends.windows(2).all(|pair| known.insert(&values[pair[0]..pair[1]])) {
            true => Ok(()),
            false => Err(Error::invalid("two equal values in a set, or keys in a map")),
        }
    }

    pub(super) fn append(&self, row: usize, out: &mut Vec<u8>) -> Result<()> {
        match self {
            Self::Nothing => {}
            Self::Constant(bytes) => out.extend_from_slice(bytes),
            Self::Numbers { width, .. } => self.numbers(row..row + 1, *width, out)?,
            Self::Bits(bytes) => {
                let bits = bytes.as_chunks::<4>().0.get(row).ok_or_else(changed)?;
                out.extend((u32::from_ne_bytes(*bits) & !IS_REFERENCED).to_be_bytes());
            }
            Self::Text { offsets, bytes, length } => {
                let text =
                    span(offsets, row, bytes.len()).and_then(|span| bytes.get(span)).ok_or_else(changed)?;
                if *length != Length::Short && text.contains(&0) {
                    return Err(Error::invalid("text with a NUL character, which would end it"));
                }
                match u8::try_from(text.len()) {
                    Ok(short) if short < 255 && *length != Length::Long => out.push(short),
                    _ => {
                        if *length != Length::Long {
                            out.push(255);
                        }
                        out.extend(count(text.len())?.to_be_bytes());
                    }
                }
                out.extend_from_slice(text);
            }
            Self::List { offsets, items, head, item } => {
                let items = span(offsets, row, *items).ok_or_else(changed)?;
                match head {
                    Head::Nothing => {}
                    Head::Count => out.extend(count(items.len())?.to_be_bytes()),
                    Head::Bound => {
                        out.extend(count(items.len())?.to_be_bytes());
                        out.extend([0; 4]);
                    }
                    Head::Flag => out.push(u8::from(!items.is_empty())),
                }
                item.append_all(items, out)?;
            }
            Self::Fixed { size, item } => {
                let begin = row.checked_mul(*size).ok_or_else(changed)?;
                item.append_all(begin..begin.checked_add(*size).ok_or_else(changed)?, out)?;
            }
            Self::Triangle { offsets, sides, item } => {
                let all = span(offsets, row, usize::MAX).ok_or_else(changed)?;
                let side = sides.get(row).and_then(|side| usize::try_from(*side).ok()).ok_or_else(changed)?;
                for at in 0..side {
                    let begin = all.start + at * side;
                    item.append_all(begin + at..begin + side, out)?;
                }
            }
            Self::Record(fields) => fields.iter().try_for_each(|field| field.append(row, out))?,
            Self::Framed { version, of, .. } => frame(*version, out, |out| of.append(row, out))?,
            Self::Base(of) => of.append(row, out)?,
            Self::Together(of) => of.bare().together(row..row + 1, out)?,
            Self::Pointer { index, tags, classes } => {
                let Ok(object) = usize::try_from(*index.get(row).ok_or_else(changed)?) else {
                    out.extend([0; 4]);
                    return Ok(());
                };
                let (class, row) = match tags {
                    None => (0, object),
                    Some((tags, index)) => {
                        let tag = tags.get(object).and_then(|tag| usize::try_from(*tag).ok());
                        let row = index.get(object).and_then(|row| usize::try_from(*row).ok());
                        tag.zip(row).ok_or_else(changed)?
                    }
                };
                let (name, node) = classes.get(class).ok_or_else(changed)?;
                frame(Version::None, out, |out| {
                    out.extend(NEW_CLASS.to_be_bytes());
                    out.extend_from_slice(name.as_bytes());
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

    /// Appends rows that stand together.
    pub(super) fn append_all(&self, rows: Range<usize>, out: &mut Vec<u8>) -> Result<()> {
        match self {
            Self::Numbers { width, .. } => self.numbers(rows, *width, out),
            Self::Together(of) => of.bare().together(rows, out),
            item => rows.into_iter().try_for_each(|row| item.append(row, out)),
        }
    }

    /// Appends rows member by member: the first of all rows, then the second.
    fn together(&self, rows: Range<usize>, out: &mut Vec<u8>) -> Result<()> {
        match self {
            Self::Record(fields) => fields.iter().try_for_each(|field| field.together(rows.clone(), out)),
            Self::Base(of) => of.bare().together(rows, out),
            Self::Framed { version, shared: true, of } => frame(*version, out, |out| of.together(rows, out)),
            node => node.append_all(rows, out),
        }
    }

    /// A value without its frame.
    fn bare(&self) -> &Self {
        if let Self::Framed { of, .. } = self { of } else { self }
    }

    fn numbers(&self, rows: Range<usize>, width: usize, out: &mut Vec<u8>) -> Result<()> {
        let Self::Numbers { bytes, wire, .. } = self else { return Ok(()) };
        let bytes = bytes
            .get(rows.start.saturating_mul(width)..rows.end.saturating_mul(width))
            .ok_or_else(changed)?;
        store_numbers(*wire, bytes, out).ok_or_else(changed)
    }
}

/// Appends numbers of a column as ROOT stores them; `None` of an encoding that is only read.
pub fn store_numbers(wire: Encoding, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let width = wire.dtype().size();
    match wire {
        Encoding::Bool | Encoding::StrictBool => out.extend(bytes.iter().map(|byte| u8::from(*byte != 0))),
        Encoding::Big(_) => match width {
            1 => out.extend_from_slice(bytes),
            2 => bytes.as_chunks().0.iter().for_each(|x| out.extend(u16::from_ne_bytes(*x).to_be_bytes())),
            4 => bytes.as_chunks().0.iter().for_each(|x| out.extend(u32::from_ne_bytes(*x).to_be_bytes())),
            _ => bytes.as_chunks().0.iter().for_each(|x| out.extend(u64::from_ne_bytes(*x).to_be_bytes())),
        },
        Encoding::Widened => reals(bytes, width, |value| out.extend((value as f32).to_be_bytes())),
        wire => {
            let packing = packing(wire)?;
            reals(bytes, width, |value| packing.append(value, |bytes| out.extend_from_slice(bytes)));
        }
    }
    Some(())
}

/// Calls `put` with each number in `bytes`: floats of `width` bytes, in native order.
fn reals(bytes: &[u8], width: usize, mut put: impl FnMut(f64)) {
    match width {
        4 => bytes.as_chunks().0.iter().for_each(|x| put(f32::from_ne_bytes(*x).into())),
        _ => bytes.as_chunks().0.iter().for_each(|x| put(f64::from_ne_bytes(*x))),
    }
}

/// How numbers are packed that are stored in this way, if they are.
fn packing(wire: Encoding) -> Option<Packing> {
    match wire {
        Encoding::Scaled { factor, min, max, .. } => Some(Packing::Range { min, max, factor }),
        Encoding::Truncated { bits, .. } => Some(Packing::Mantissa { bits: bits.into() }),
        _ => None,
    }
}

/// Makes one zero of both, in the bytes of a number, and refuses NaN, which is equal to nothing.
fn whole_zero(bytes: &mut [u8]) -> Result<()> {
    let value = match *bytes {
        [a, b, c, d] => f64::from(f32::from_be_bytes([a, b, c, d])),
        [a, b, c, d, e, f, g, h] => f64::from_be_bytes([a, b, c, d, e, f, g, h]),
        _ => return Ok(()),
    };
    if value.is_nan() {
        return Err(Error::invalid("NaN in a set, or as a key of a map"));
    }
    if value == 0.0 {
        bytes.fill(0);
    }
    Ok(())
}

/// Writes what stands in a frame.
pub(super) fn frame(
    version: Version,
    out: &mut Vec<u8>,
    body: impl FnOnce(&mut Vec<u8>) -> Result<()>,
) -> Result<()> {
    let begin = out.len();
    out.extend([0; 4]);
    match version {
        Version::None => {}
        Version::Number(version) => out.extend(version.to_be_bytes()),
        Version::Checksum(sum) => {
            out.extend([0; 2]);
            out.extend(sum.to_be_bytes());
        }
    }
    body(out)?;
    let length = out.len() - begin - 4;
    let counted = u32::try_from(length).ok().filter(|length| *length < BYTE_COUNT);
    let counted = counted
        .ok_or_else(|| Error::unsupported(format!("an object of {length} bytes: byte counts end at 1 GB")))?;
    out[begin..begin + 4].copy_from_slice(&(BYTE_COUNT | counted).to_be_bytes());
    Ok(())
}

/// The items of a row, if they are among those that there are.
pub(super) fn span(offsets: &[i64], row: usize, items: usize) -> Option<Range<usize>> {
    let [from, end] = *offsets.get(row..row.checked_add(2)?)? else { return None };
    let (from, end) = (usize::try_from(from).ok()?, usize::try_from(end).ok()?);
    (from <= end && end <= items).then_some(from..end)
}

fn count(items: usize) -> Result<u32> {
    let counted = i32::try_from(items).map(i32::cast_unsigned);
    counted.map_err(|_| Error::unsupported(format!("a list of {items} items, which ROOT counts in 31 bits")))
}

/// The version that stands before the items of a container.
pub(super) const CONTAINER: Version = Version::Number(STL_VERSION.unsigned_abs());

/// Memory that others changed, or a Form that is not the array's.
pub(super) fn changed() -> Error {
    Error::invalid("columns that are not what their Form says")
}
