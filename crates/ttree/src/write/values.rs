//! Encodes columns to the entries of a branch.

use super::{
    branch::{Source, Step, Stored},
    encoded_entries::Laid,
    entries::Entries,
    offsets::{Place, at, offsets},
    without_nulls::changed,
};
use forthwith_columns::{Array, Column, DType, Encoding, Form};
use forthwith_encode::store_numbers;
use forthwith_kernels::{
    append_big,
    nested::{self, Fault, Head, Lists, append_lists},
};
use forthwith_plan::{Error, Result};
use std::{borrow::Cow, ops::Range};

/// Checked columns of a branch, from which any range of entries can be encoded.
#[derive(Debug)]
pub(super) struct Values<'a> {
    stored: Stored,
    /// The entries, if they are encoded already.
    laid: Option<Laid>,
    /// Offsets of the entries' lists, if the branch counts or frames them.
    lists: Option<Cow<'a, [i64]>>,
    node: Node<'a>,
}

/// Offsets of nested lists, from the outermost inwards.
type Levels<'v> = [&'v [i64]; nested::DEEPEST];

/// Values of entries, bound to columns.
#[derive(Debug)]
enum Node<'a> {
    /// No values, if only the lists are written.
    Nothing,
    /// Numbers, `width` bytes of the column for each row.
    Numbers { bytes: &'a [u8], width: usize, wire: Encoding },
    /// Byte strings, each after its length.
    Text { offsets: Cow<'a, [i64]>, bytes: &'a [u8], nul: bool },
    /// Lists, each after its number of items.
    List { offsets: Cow<'a, [i64]>, item: Box<Self> },
    /// Lists of fixed size, each after that size.
    Regular { size: usize, item: Box<Self> },
}

/// Appends numbers of an array in their encoding.
fn store(wire: Encoding, from: &[u8], out: &mut Vec<u8>) -> Result<()> {
    match wire {
        Encoding::Big(dtype) if from.len() > SHORT => append_big(dtype.size(), from, out),
        wire => store_numbers(wire, from, out).ok_or_else(changed)?,
    }
    Ok(())
}

/// Length in bytes up to which swapping bytes is faster than choosing a kernel.
const SHORT: usize = 64;

/// Appends big-endian 32-bit numbers.
pub(crate) fn append_numbers(mut numbers: impl ExactSizeIterator<Item = u32>, out: &mut Vec<u8>) {
    out.reserve(4 * numbers.len());
    // Bytes are swapped in pieces that stay in the nearest cache.
    let mut turned = [[0; 4]; 512];
    while numbers.len() > 0 {
        let count = numbers.len().min(turned.len());
        for (to, number) in turned[..count].iter_mut().zip(&mut numbers) {
            *to = number.to_be_bytes();
        }
        out.extend_from_slice(turned[..count].as_flattened());
    }
}

/// Frame of a class without its own version: a byte count, and the version of `TStreamerInfo`.
const FRAME: usize = 6;
const FRAMED: u32 = 0x4000_0000;
const FRAME_HEAD: [u8; FRAME] = [0, 0, 0, 0, 0, FRAME_VERSION as u8];
const FRAME_VERSION: u16 = 10;

/// Sets the byte count of a frame that began at `begin`.
fn close(begin: usize, data: &mut [u8]) -> Result<()> {
    let length = (data.len() - begin - 4) as u64;
    if length >= LONGEST {
        return Err(Error::unsupported(format!("an entry of {length} bytes in a tree")));
    }
    if let Some(head) = data[begin..].first_chunk_mut::<4>() {
        *head = (FRAMED | length as u32).to_be_bytes();
    }
    Ok(())
}

/// Maximum size of entries: byte counts and offsets in a basket have 30 bits.
const LONGEST: u64 = 1 << 30;

impl<'a> Values<'a> {
    /// Binds the source of a branch to its columns. The array has been validated.
    pub(super) fn bind(source: &Source, array: &'a Array) -> Result<Self> {
        if let Some(laid) = Laid::of(source, array)? {
            let stored = source.stored.clone();
            return Ok(Self { stored, laid: Some(laid), lists: None, node: Node::Nothing });
        }
        let nul = source.stored != Stored::Text { ends_at_nul: true };
        let framed = source.stored.is_framed();
        let binder = Binder { array, wire: source.wire, framed, nul };
        // The first lists are those of the entries.
        let items = source.path.iter().position(|step| *step == Step::Items).map(|at| at + 1);
        let (outer, inner) = source.path.split_at(items.unwrap_or(source.path.len()));
        let Place { lists, form, rows } = at(array, outer)?;
        let node = match source.stored {
            Stored::Counts | Stored::Counted => Node::Nothing,
            _ => binder.node(form, inner, rows)?,
        };
        Ok(Self { stored: source.stored.clone(), laid: None, lists, node })
    }

    /// Returns an upper bound on the size of entries in bytes, with their offsets.
    pub(super) fn bytes(&self, rows: Range<usize>) -> u64 {
        let entries = rows.len() as u64;
        if let Some(laid) = &self.laid {
            return laid.bytes(rows);
        }
        let rows = self.lists.as_ref().map_or(rows.clone(), |lists| span(lists, &rows));
        let offset = if self.stored.has_offsets() { 4 } else { 0 };
        let frame = if self.stored.is_framed() { FRAME as u64 } else { 0 };
        let count = if self.stored.is_counted() { 4 } else { 0 };
        self.node.bytes(rows) + (offset + frame + count) * entries
    }

    /// Appends entries. Offsets are checked again, as memory of other owners may have changed since.
    pub(super) fn append(&self, rows: Range<usize>, to: &mut Entries) -> Result<()> {
        let first = to.count;
        let result = self.append_rows(rows.clone(), to);
        if to.data.len() as u64 > LONGEST {
            let what = format!("{} bytes of {} entries in one basket", to.data.len(), rows.len());
            return Err(Error::unsupported(what));
        }
        to.count = first + rows.len() as u64;
        result
    }

    fn append_rows(&self, rows: Range<usize>, to: &mut Entries) -> Result<()> {
        if let Some(laid) = &self.laid {
            return laid.append(rows, self.stored.has_offsets(), to);
        }
        match &self.stored {
            Stored::Fixed => self.node.append(rows, &mut to.data, &mut to.largest),
            Stored::Counts | Stored::Counted => {
                let lists = self.lists(&rows)?;
                let has_starts = self.stored == Stored::Counted;
                if has_starts {
                    let begin = to.data.len() as u32;
                    to.starts.extend((0..rows.len() as u32).map(|row| begin.wrapping_add(4 * row)));
                }
                let counts = lists[1..].iter().zip(lists).map(|(end, begin)| end.wrapping_sub(*begin));
                // Negative differences exceed any count as unsigned numbers.
                let largest = counts.clone().fold(to.largest, |most, count| most.max(count.cast_unsigned()));
                append_numbers(counts.map(|count| count as u32), &mut to.data);
                to.largest = largest;
                if largest > i32::MAX as u64 { Err(long_list(largest)) } else { Ok(()) }
            }
            Stored::Items => {
                let lists = self.lists(&rows)?;
                let (from, end) = (lists[0], lists[lists.len() - 1]);
                let (base, width) = (to.data.len() as u32, self.node.width() as u32);
                let items = place(from)?..place(end)?;
                self.node.append(items, &mut to.data, &mut to.largest)?;
                // The difference of offsets may wrap in 32 bits, which bound the length of a basket.
                let begin = |at: &i64| (*at as u32).wrapping_sub(from as u32).wrapping_mul(width);
                to.starts.extend(lists[..rows.len()].iter().map(|at| base.wrapping_add(begin(at))));
                Ok(())
            }
            Stored::Text { .. } | Stored::FramedText => {
                self.append_each(rows.map(|row| Ok(row..row + 1)), to)
            }
            Stored::Framed | Stored::FramedItems => {
                let mut levels = Levels::default();
                if let Some((lists, count)) = self.nested(&mut levels) {
                    let lists = Lists { levels: &levels[..count], ..lists };
                    let head = Head { frame: Some(FRAME_VERSION), count: self.stored.is_counted() };
                    return append_lists(&lists, rows, head, &mut to.data, &mut to.starts).map_err(refused);
                }
                let items = self.lists(&rows)?.windows(2);
                self.append_each(items.map(|pair| Ok(place(pair[0])?..place(pair[1])?)), to)
            }
            Stored::Constant { .. } | Stored::Laid { .. } | Stored::Flagged(_) => Err(changed()),
        }
    }

    /// Appends entries one by one, each with its rows of the items.
    fn append_each(
        &self,
        entries: impl ExactSizeIterator<Item = Result<Range<usize>>>,
        to: &mut Entries,
    ) -> Result<()> {
        let (is_framed, is_counted) = (self.stored.is_framed(), self.stored.is_counted());
        to.starts.reserve(entries.len());
        for rows in entries {
            let (rows, begin) = (rows?, to.data.len());
            to.starts.push(begin as u32);
            if is_framed {
                to.data.extend_from_slice(&FRAME_HEAD);
            }
            let count = rows.end.checked_sub(rows.start).ok_or_else(changed)?;
            if is_counted {
                to.data.extend(number(count)?.to_be_bytes());
            }
            self.node.append(rows, &mut to.data, &mut to.largest)?;
            if is_framed {
                close(begin, &mut to.data)?;
            }
        }
        Ok(())
    }

    /// Returns nested lists of numbers up to the depth of the kernels, with their number of levels, or `None`
    /// for other values.
    fn nested<'v>(&'v self, levels: &mut Levels<'v>) -> Option<(Lists<'v>, usize)> {
        levels[0] = self.lists.as_deref()?;
        let (mut node, mut count) = (&self.node, 1);
        loop {
            match node {
                Node::List { offsets, item } => {
                    *levels.get_mut(count)? = offsets;
                    (node, count) = (item, count + 1);
                }
                Node::Numbers { bytes, width, wire: Encoding::Big(dtype) } if *width == dtype.size() => {
                    return Some((Lists { levels: &[], numbers: bytes, width: *width }, count));
                }
                _ => return None,
            }
        }
    }

    /// Returns the offsets of the lists of some entries, one more than there are entries.
    fn lists(&self, rows: &Range<usize>) -> Result<&[i64]> {
        self.lists.as_ref().and_then(|lists| lists.get(rows.start..=rows.end)).ok_or_else(changed)
    }
}

impl Node<'_> {
    /// Returns an upper bound on the size of rows in bytes.
    fn bytes(&self, rows: Range<usize>) -> u64 {
        let count = rows.len() as u64;
        match self {
            Self::Nothing => 0,
            Self::Numbers { .. } => count * self.width() as u64,
            Self::Text { offsets, .. } => {
                let bytes = span(offsets, &rows).len() as u64;
                // Long text has a length of 5 bytes, but there can only be few of them.
                bytes + count + bytes / 64
            }
            Self::List { offsets, item } => 4 * count + item.bytes(span(offsets, &rows)),
            Self::Regular { size, item } => {
                4 * count + item.bytes(rows.start.saturating_mul(*size)..rows.end.saturating_mul(*size))
            }
        }
    }

    /// Returns the size of a row of numbers in bytes, and 0 for other values.
    fn width(&self) -> usize {
        match self {
            Self::Numbers { width, wire, .. } => width / wire.dtype().size() * wire.width(),
            _ => 0,
        }
    }

    fn append(&self, rows: Range<usize>, out: &mut Vec<u8>, largest: &mut u64) -> Result<()> {
        match self {
            Self::Nothing => Ok(()),
            Self::Numbers { bytes, width, wire } => {
                let bytes = bytes.get(rows.start.saturating_mul(*width)..rows.end.saturating_mul(*width));
                store(*wire, bytes.ok_or_else(changed)?, out)
            }
            Self::Text { offsets, bytes, nul } => {
                for pair in offsets.get(rows.start..=rows.end).ok_or_else(changed)?.windows(2) {
                    let text = bytes.get(place(pair[0])?..place(pair[1])?).ok_or_else(changed)?;
                    if !nul && text.contains(&0) {
                        return Err(ends_early());
                    }
                    *largest = (*largest).max(text.len() as u64);
                    match u8::try_from(text.len()) {
                        Ok(short) if short < 255 => out.push(short),
                        _ => {
                            out.push(255);
                            out.extend(number(text.len())?.to_be_bytes());
                        }
                    }
                    out.extend_from_slice(text);
                }
                Ok(())
            }
            Self::List { offsets, item } => {
                let offsets = offsets.get(rows.start..=rows.end).ok_or_else(changed)?;
                if let Self::Numbers { bytes, width, wire: wire @ Encoding::Big(_) } = &**item {
                    // The innermost lists are the hot loop.
                    for pair in offsets.windows(2) {
                        let (from, end) = (place(pair[0])?, place(pair[1])?);
                        let items = bytes
                            .get(from.saturating_mul(*width)..end.saturating_mul(*width))
                            .ok_or_else(changed)?;
                        out.extend(number(end.wrapping_sub(from))?.to_be_bytes());
                        store(*wire, items, out)?;
                    }
                    return Ok(());
                }
                for pair in offsets.windows(2) {
                    let (from, end) = (place(pair[0])?, place(pair[1])?);
                    out.extend(number(end.checked_sub(from).ok_or_else(changed)?)?.to_be_bytes());
                    item.append(from..end, out, largest)?;
                }
                Ok(())
            }
            Self::Regular { size, item } => {
                for row in rows {
                    out.extend(number(*size)?.to_be_bytes());
                    let begin = row.checked_mul(*size).ok_or_else(changed)?;
                    item.append(begin..begin.checked_add(*size).ok_or_else(changed)?, out, largest)?;
                }
                Ok(())
            }
        }
    }
}

/// Returns the items of the lists of some rows.
fn span(offsets: &[i64], rows: &Range<usize>) -> Range<usize> {
    let at = |row: usize| offsets.get(row).map_or(0, |at| usize::try_from(*at).unwrap_or(0));
    let from = at(rows.start);
    from..at(rows.end).max(from)
}

fn place(at: i64) -> Result<usize> {
    usize::try_from(at).map_err(|_| changed())
}

fn number(count: usize) -> Result<u32> {
    i32::try_from(count).map(i32::cast_unsigned).map_err(|_| long_list(count as u64))
}

fn refused(fault: Fault) -> Error {
    match fault {
        Fault::Offsets => changed(),
        Fault::Long(count) => long_list(count),
        Fault::LongRow(length) => Error::unsupported(format!("an entry of {length} bytes in a tree")),
    }
}

fn ends_early() -> Error {
    Error::invalid("text with a NUL character, which would end the text of a leaf of characters")
}

fn long_list(count: u64) -> Error {
    match i64::try_from(count) {
        Ok(count) => {
            Error::unsupported(format!("a list of {count} items in a tree, which counts in 31 bits"))
        }
        Err(_) => changed(),
    }
}

/// Returns the path from a list's items, which is empty for the items themselves.
fn into_items(path: &[Step]) -> Result<&[Step]> {
    match path {
        [] => Ok(path),
        [Step::Items, path @ ..] => Ok(path),
        _ => Err(changed()),
    }
}

/// Binder of the columns of a branch.
struct Binder<'a> {
    array: &'a Array,
    wire: Option<Encoding>,
    /// Whether fixed dimensions are written as vectors.
    framed: bool,
    /// Whether text may contain a NUL.
    nul: bool,
}

impl<'a> Binder<'a> {
    /// Binds the values of a Form, or those at the end of a path of lists and fields.
    fn node(&self, form: &'a Form, path: &[Step], rows: u64) -> Result<Node<'a>> {
        Ok(match form {
            Form::Logical { content, .. } => return self.node(content, path, rows),
            Form::Record { contents, .. } => {
                let [Step::Field(at), path @ ..] = path else { return Err(changed()) };
                return self.node(contents.get(*at).ok_or_else(changed)?, path, rows);
            }
            Form::List { key, content } => {
                let offsets = offsets(self.array, key, rows)?;
                let items = offsets.last().copied().unwrap_or(0).max(0).cast_unsigned();
                Node::List { offsets, item: Box::new(self.node(content, into_items(path)?, items)?) }
            }
            Form::Regular { size, content } => {
                let items = self.node(content, into_items(path)?, rows.saturating_mul(*size))?;
                let size = usize::try_from(*size).map_err(|_| changed())?;
                match items {
                    Node::Numbers { bytes, width, wire } if !self.framed && path.is_empty() => {
                        Node::Numbers { bytes, width: width.checked_mul(size).ok_or_else(changed)?, wire }
                    }
                    item => Node::Regular { size, item: Box::new(item) },
                }
            }
            _ if !path.is_empty() => return Err(changed()),
            Form::Numpy { key, dtype, shape } => {
                let dims =
                    shape.iter().try_fold(1u64, |all, size| all.checked_mul(*size)).ok_or_else(changed)?;
                if !self.framed {
                    return self.numbers(key, *dtype, dims);
                }
                let mut sizes = shape.iter().rev();
                sizes.try_fold(self.numbers(key, *dtype, 1)?, |item, size| {
                    let size = usize::try_from(*size).map_err(|_| changed())?;
                    Ok::<_, Error>(Node::Regular { size, item: Box::new(item) })
                })?
            }
            Form::String { key, .. } => {
                let (offsets, bytes) = (offsets(self.array, key, rows)?, self.data(key)?);
                let all = span(&offsets, &(0..offsets.len().saturating_sub(1)));
                if !self.nul && bytes.get(all).ok_or_else(changed)?.contains(&0) {
                    return Err(ends_early());
                }
                Node::Text { offsets, bytes, nul: self.nul }
            }
            _ => return Err(changed()),
        })
    }

    fn numbers(&self, key: &str, dtype: DType, dims: u64) -> Result<Node<'a>> {
        let wire = match self.wire {
            Some(wire) => wire,
            _ if dtype == DType::Bool => Encoding::Bool,
            _ => Encoding::Big(dtype),
        };
        let width = usize::try_from(dims).ok().and_then(|dims| dims.checked_mul(dtype.size()));
        Ok(Node::Numbers { bytes: self.data(key)?, width: width.ok_or_else(changed)?, wire })
    }

    fn data(&self, key: &str) -> Result<&'a [u8]> {
        self.array.column(&format!("{key}-data")).map(Column::as_bytes).ok_or_else(changed)
    }
}
