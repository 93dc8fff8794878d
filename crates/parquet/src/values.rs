//! Values of a page in any encoding. A batch of values is *loaded*, which returns the length of its texts,
//! and then either *stored* in columns or dropped.

use crate::{
    delta::Delta,
    hybrid::Hybrid,
    item_views::ItemViews,
    leaf::{Kept, Leaf, Physical},
    texts::{self, TextItems, Texts, Views},
};
use forthwith_columns::{SHORT, VIEW, kernels::are_texts};
use forthwith_kernels::hybrid::unpack_bits;
use forthwith_plan::{Error, ErrorKind, Result};

/// Upper bound on the bytes of text in a batch of the prefix encoding, whose texts can be far larger than the
/// page.
const LARGEST_TEXT: usize = 1 << 30;

/// A dictionary page: items of the decoded type, or byte strings.
#[derive(Debug, Default)]
pub(crate) struct Dictionary {
    items: Vec<u8>,
    texts: TextItems,
    count: usize,
    /// Whether each item is out of range for the decoded type; empty if none can be.
    overflows: Vec<bool>,
}

/// A batch of loaded values, with reusable buffers.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    /// Position of the values in the page: a byte offset or, for some encodings, an index.
    from: usize,
    count: usize,
    /// Indexes of dictionary items.
    rows: Vec<u32>,
    /// Integers, or lengths of byte strings.
    integers: Vec<i64>,
    /// Bytes of values that are assembled from parts.
    text: Vec<u8>,
    /// Whether texts become views.
    pub(crate) has_views: bool,
}

pub(crate) struct Values<'a> {
    bytes: &'a [u8],
    at: usize,
    way: Way<'a>,
    /// The previous byte string, whose prefix the next one may share.
    last: Vec<u8>,
}

enum Way<'a> {
    Plain,
    /// Byte strings that are preceded by their lengths.
    Text,
    /// Bits, the least significant one first.
    Bits,
    Rows(Hybrid<'a>),
    Runs(Hybrid<'a>),
    Integers(Delta<'a>),
    Lengths(Delta<'a>),
    Prefixes(Delta<'a>, Delta<'a>),
    /// Byte stream split: the first bytes of all values, then the second bytes, and so on.
    Split(usize),
}

#[cold]
fn short() -> Error {
    Error::fault("a page ends before its last value")
}

#[cold]
fn odd(what: &str) -> Error {
    Error::fault(what)
}

fn refused(bytes: usize) -> Error {
    Error::new(ErrorKind::OutOfMemory { what: "values", bytes: bytes as u64 })
}

impl<'a> Values<'a> {
    pub(crate) fn new(encoding: i64, bytes: &'a [u8], leaf: &Leaf) -> Result<Self> {
        let (mut bytes, mut at) = (bytes, 0);
        let unsupported =
            |name: String| Err(Error::unsupported(format!("{:?} values encoded as {name}", leaf.physical)));
        let way = match (encoding, leaf.physical) {
            // A page of nulls only, from which values cannot be read.
            (5..=7, _) if bytes.is_empty() => Way::Bits,
            (0, Physical::Bool) => Way::Bits,
            (0, Physical::Bytes) => Way::Text,
            (0, _) => Way::Plain,
            (2 | 8, _) => {
                // A page without values may be empty.
                let width = bytes.first().copied().unwrap_or(0);
                Way::Rows(Hybrid::new(bytes.get(1..).unwrap_or_default(), width.into())?)
            }
            (3, Physical::Bool) if bytes.is_empty() => Way::Bits,
            (3, Physical::Bool) => {
                let (length, runs) = bytes.split_first_chunk::<4>().ok_or_else(short)?;
                Way::Runs(Hybrid::new(
                    runs.get(..u32::from_le_bytes(*length) as usize).ok_or_else(short)?,
                    1,
                )?)
            }
            (5, Physical::Int32 | Physical::Int64) => Way::Integers(Delta::new(bytes)?),
            (6, Physical::Bytes) => {
                let lengths = Delta::new(bytes)?;
                at = lengths.clone().end()?;
                Way::Lengths(lengths)
            }
            (7, Physical::Bytes | Physical::Fixed(_)) => {
                let prefixes = Delta::new(bytes)?;
                bytes = bytes.get(prefixes.clone().end()?..).ok_or_else(short)?;
                let lengths = Delta::new(bytes)?;
                at = lengths.clone().end()?;
                Way::Prefixes(prefixes, lengths)
            }
            (9, _)
                if leaf.physical != Physical::Int96
                    && leaf.physical.width().is_some_and(|width| width > 0) =>
            {
                // The header counts nulls as well, so the number of values, which is the length of a stream,
                // follows from the length of the page.
                let width = leaf.physical.width().unwrap_or(1);
                if !bytes.len().is_multiple_of(width) {
                    return Err(odd("a page of values split into bytes that is not as long as whole values"));
                }
                Way::Split(bytes.len() / width)
            }
            (4, _) => return unsupported("BIT_PACKED".into()),
            (5, _) => return unsupported("DELTA_BINARY_PACKED".into()),
            (6, _) => return unsupported("DELTA_LENGTH_BYTE_ARRAY".into()),
            (7, _) => return unsupported("DELTA_BYTE_ARRAY".into()),
            (other, _) => return unsupported(format!("number {other}")),
        };
        Ok(Self { bytes, at, way, last: Vec::new() })
    }

    /// Returns an error if bytes follow the last value: they are not padding, but a sign of a wrong length
    /// before them.
    pub(crate) fn end(&self) -> Result<()> {
        let is_at_end = match &self.way {
            Way::Plain | Way::Text | Way::Lengths(_) | Way::Prefixes(..) => self.at == self.bytes.len(),
            Way::Bits => self.at.div_ceil(8) == self.bytes.len(),
            Way::Rows(rows) => rows.is_at_end(),
            Way::Split(all) => self.at == *all,
            // These encodings include their length.
            Way::Runs(_) | Way::Integers(_) => true,
        };
        if is_at_end { Ok(()) } else { Err(odd("values that end before their bytes do")) }
    }

    /// Loads the next values. Returns the number of bytes of their texts or, for views, of the bytes outside
    /// a dictionary that the views refer to.
    pub(crate) fn load(
        &mut self,
        count: usize,
        leaf: &Leaf,
        dictionary: Option<&Dictionary>,
        into: &mut Loaded,
    ) -> Result<usize> {
        into.from = self.at;
        into.count = count;
        if count == 0 {
            return Ok(0);
        }
        match &mut self.way {
            Way::Plain => {
                let width = leaf.physical.width().unwrap_or_default();
                let bytes = count.checked_mul(width).ok_or_else(short)?;
                if self.bytes.len() - self.at < bytes {
                    return Err(short());
                }
                self.at += bytes;
                Ok(if leaf.kept == Kept::Bytes { bytes } else { 0 })
            }
            Way::Text => {
                let (mut text, mut longest) = (0, 0);
                for _ in 0..count {
                    let rest = &self.bytes[self.at..];
                    let length = rest.first_chunk::<4>().ok_or_else(short)?;
                    let length = u32::from_le_bytes(*length) as usize;
                    if rest.len() - 4 < length {
                        return Err(short());
                    }
                    self.at += 4 + length;
                    text += length;
                    longest = longest.max(length);
                }
                Ok(match into.has_views {
                    false => text,
                    true if longest > SHORT => text + 4 * count,
                    true => 0,
                })
            }
            Way::Bits => {
                if self.bytes.len().saturating_mul(8) - self.at < count {
                    return Err(short());
                }
                self.at += count;
                Ok(0)
            }
            Way::Rows(hybrid) => {
                let dictionary =
                    dictionary.ok_or_else(|| odd("numbers of dictionary items without a dictionary"))?;
                into.rows.resize(count, 0);
                hybrid.numbers(&mut into.rows)?;
                let most = into.rows.iter().fold(0, |most, row| most.max(*row)) as usize;
                if most >= dictionary.count {
                    return Err(Error::out_of_range(
                        "a dictionary item's number",
                        most,
                        dictionary.count as i64 - 1,
                    ));
                }
                if leaf.kept != Kept::Bytes || into.has_views {
                    return Ok(0);
                }
                let text = dictionary.texts.length_of(&into.rows);
                usize::try_from(text).map_err(|_| refused(usize::MAX))
            }
            Way::Runs(hybrid) => {
                into.text.resize(count, 0);
                hybrid.levels(&mut into.text)?;
                if into.text.iter().any(|value| *value > 1) {
                    return Err(odd("a boolean that is neither 0 nor 1"));
                }
                Ok(0)
            }
            Way::Integers(delta) => {
                into.integers.resize(count, 0);
                delta.read(&mut into.integers)?;
                Ok(0)
            }
            Way::Lengths(delta) => {
                into.integers.resize(count, 0);
                delta.read(&mut into.integers)?;
                let text = sum(&into.integers, self.bytes.len() - self.at)?;
                self.at += text;
                Ok(text)
            }
            Way::Prefixes(prefixes, lengths) => {
                let mut both = vec![0; 2 * count];
                let (before, after) = both.split_at_mut(count);
                prefixes.read(before)?;
                lengths.read(after)?;
                sum(after, self.bytes.len() - self.at)?;
                into.text.clear();
                into.integers.clear();
                for (prefix, length) in before.iter().zip(after) {
                    let rest = &self.bytes[self.at..];
                    let suffix = rest.get(..*length as usize).ok_or_else(short)?;
                    let prefix = usize::try_from(*prefix).ok().filter(|prefix| *prefix <= self.last.len());
                    self.last.truncate(prefix.ok_or_else(|| odd("a prefix longer than the text before"))?);
                    self.last.extend_from_slice(suffix);
                    self.at += suffix.len();
                    if leaf.physical.width().is_some_and(|width| width != self.last.len()) {
                        return Err(odd("a value that is not as long as all are"));
                    }
                    if into.text.len() + self.last.len() > LARGEST_TEXT {
                        return Err(refused(into.text.len() + self.last.len()));
                    }
                    into.text.try_reserve(self.last.len()).map_err(|_| refused(self.last.len()))?;
                    into.text.extend_from_slice(&self.last);
                    into.integers.push(self.last.len() as i64);
                }
                Ok(if leaf.kept == Kept::Bytes { into.text.len() } else { 0 })
            }
            Way::Split(all) => {
                let width = leaf.physical.width().unwrap_or_default();
                if *all - self.at < count {
                    return Err(short());
                }
                let bytes = count.checked_mul(width).ok_or_else(short)?;
                into.text.resize(bytes, 0);
                for (byte, stream) in self.bytes.chunks_exact(*all).take(width).enumerate() {
                    let stream = &stream[self.at..self.at + count];
                    for (to, from) in into.text[byte..].iter_mut().step_by(width).zip(stream) {
                        *to = *from;
                    }
                }
                self.at += count;
                Ok(if leaf.kept == Kept::Bytes { bytes } else { 0 })
            }
        }
    }

    /// Returns the position among the loaded values of the first value out of range for the decoded type.
    pub(crate) fn overflow(
        &self,
        leaf: &Leaf,
        dictionary: Option<&Dictionary>,
        loaded: &Loaded,
    ) -> Option<usize> {
        match &self.way {
            Way::Rows(_) => {
                let overflows = &dictionary?.overflows;
                let is_over = |row: &u32| overflows.get(*row as usize) == Some(&true);
                if overflows.is_empty() { None } else { loaded.rows.iter().position(is_over) }
            }
            Way::Plain => {
                let bytes = self.bytes.get(loaded.from..loaded.from + loaded.count * INT96)?;
                bytes.as_chunks::<INT96>().0.iter().position(|value| time(value, leaf.kept).is_none())
            }
            _ => None,
        }
    }

    /// Whether the values are dictionary items.
    pub(crate) const fn are_items(&self) -> bool {
        matches!(self.way, Way::Rows(_))
    }

    /// Returns the number of bytes of dictionary items that the loaded views refer to, and that are not in
    /// the column yet.
    pub(crate) fn items_room(
        &self,
        dictionary: Option<&Dictionary>,
        loaded: &Loaded,
        items: &mut ItemViews,
    ) -> usize {
        match (&self.way, dictionary) {
            (Way::Rows(_), Some(dictionary)) => items.room(&dictionary.texts, &loaded.rows),
            _ => 0,
        }
    }

    /// Writes the views of the loaded texts, and the bytes that they refer to, at offset `base` of the
    /// column. Returns the total length of the texts.
    pub(crate) fn store_views(
        &self,
        leaf: &Leaf,
        dictionary: Option<&Dictionary>,
        (loaded, items): (&Loaded, &mut ItemViews),
        base: u64,
        out: &mut [&mut [u8]],
    ) -> Result<u64> {
        let missing = || odd("columns that the plan does not have");
        if loaded.count == 0 {
            return Ok(0);
        }
        let [views, to, ..] = out else { return Err(missing()) };
        let bytes = self.bytes;
        let to = Views { views: views.as_chunks_mut::<VIEW>().0, bytes: to, base };
        let even = std::iter::repeat(leaf.physical.width().unwrap_or(0));
        let long = loaded.integers.iter().map(|length| *length as usize);
        match &self.way {
            Way::Rows(_) => {
                items.place(&dictionary.ok_or_else(missing)?.texts, to.bytes, base)?;
                to.gather(items.views(), &loaded.rows)
            }
            Way::Text => to.behind_lengths(&bytes[loaded.from..]),
            Way::Plain => to.of_lengths(&bytes[loaded.from..], even),
            Way::Split(_) => to.of_lengths(&loaded.text, even),
            Way::Lengths(_) => to.of_lengths(&bytes[loaded.from..], long),
            Way::Prefixes(..) => to.of_lengths(&loaded.text, long),
            Way::Bits | Way::Runs(_) | Way::Integers(_) => Err(missing()),
        }
    }

    /// Whether each text whose view was stored is UTF-8. The stored bytes begin at offset `base` of the
    /// column.
    pub(crate) fn are_viewed_texts(
        &self,
        dictionary: Option<&Dictionary>,
        (loaded, items): (&Loaded, &mut ItemViews),
        base: u64,
        stored: &[&mut [u8]],
    ) -> bool {
        match (&self.way, dictionary, stored) {
            (Way::Rows(_), Some(dictionary), _) => {
                dictionary.texts.are_text() || items.are_texts(&dictionary.texts, &loaded.rows)
            }
            (_, _, [views, bytes]) => texts::are_texts(views.as_chunks().0, bytes, base),
            _ => false,
        }
    }

    /// Whether each stored byte string is UTF-8. `base` is the offset before the stored ones.
    pub(crate) fn are_text(&self, dictionary: Option<&Dictionary>, base: i64, stored: &[&mut [u8]]) -> bool {
        match (&self.way, dictionary, stored) {
            (Way::Rows(_), Some(dictionary), _) => dictionary.texts.are_text(),
            (_, _, [ends, bytes]) => are_texts(ends, base, bytes),
            _ => false,
        }
    }

    /// Writes the loaded values: numbers, or offsets (the previous one is `base`) and bytes.
    pub(crate) fn store(
        &self,
        leaf: &Leaf,
        dictionary: Option<&Dictionary>,
        loaded: &Loaded,
        base: i64,
        out: &mut [&mut [u8]],
    ) -> Result<()> {
        if loaded.count == 0 {
            return Ok(());
        }
        let missing = || odd("columns that the plan does not have");
        let (first, rest) = match (leaf.kept, out) {
            (Kept::Nothing, _) => return Err(odd("values of a column that has none")),
            (_, [first, rest @ ..]) => (first, rest),
            _ => return Err(missing()),
        };
        let bytes = self.bytes;
        if leaf.kept == Kept::Bytes {
            let bytes_of_all = rest.first_mut().ok_or_else(missing)?;
            let to = Texts { offsets: first.as_chunks_mut::<8>().0, bytes: bytes_of_all, base };
            return match &self.way {
                Way::Plain => to.even(&bytes[loaded.from..], leaf.physical.width().unwrap_or(0)),
                Way::Split(_) => to.even(&loaded.text, leaf.physical.width().unwrap_or(0)),
                Way::Text => to.behind_lengths(&bytes[loaded.from..]),
                Way::Rows(_) => to.gather(&dictionary.ok_or_else(missing)?.texts, &loaded.rows),
                Way::Lengths(_) => to.of_lengths(&bytes[loaded.from..], &loaded.integers),
                Way::Prefixes(..) => to.of_lengths(&loaded.text, &loaded.integers),
                Way::Bits | Way::Runs(_) | Way::Integers(_) => Err(missing()),
            };
        }
        match &self.way {
            Way::Plain => {
                let width = leaf.physical.width().unwrap_or(0);
                convert(&bytes[loaded.from..loaded.from + loaded.count * width], width, leaf.kept, first);
            }
            Way::Split(_) | Way::Prefixes(..) => {
                convert(&loaded.text, leaf.physical.width().unwrap_or(0), leaf.kept, first);
            }
            Way::Bits => {
                unpack_bits(bytes, loaded.from, first);
            }
            Way::Runs(_) => first.copy_from_slice(loaded.text.get(..first.len()).ok_or_else(short)?),
            Way::Integers(_) => {
                let width = leaf.kept.width();
                match width {
                    8 => cut::<8>(&loaded.integers, first),
                    4 => cut::<4>(&loaded.integers, first),
                    2 => cut::<2>(&loaded.integers, first),
                    _ => cut::<1>(&loaded.integers, first),
                }
            }
            Way::Rows(_) => {
                let items = &dictionary.ok_or_else(missing)?.items;
                match leaf.kept.width() {
                    8 => gather::<8>(items, &loaded.rows, first),
                    4 => gather::<4>(items, &loaded.rows, first),
                    2 => gather::<2>(items, &loaded.rows, first),
                    _ => gather::<1>(items, &loaded.rows, first),
                }
            }
            Way::Text | Way::Lengths(_) => return Err(missing()),
        }
        Ok(())
    }
}

/// Returns the total length of byte strings; an error if it exceeds `available`.
fn sum(lengths: &[i64], available: usize) -> Result<usize> {
    let mut sum = 0usize;
    for length in lengths {
        sum = usize::try_from(*length).ok().and_then(|length| sum.checked_add(length)).ok_or_else(short)?;
    }
    if sum > available { Err(short()) } else { Ok(sum) }
}

fn cut<const N: usize>(integers: &[i64], out: &mut [u8]) {
    for (to, integer) in out.as_chunks_mut::<N>().0.iter_mut().zip(integers) {
        to.copy_from_slice(&integer.to_le_bytes()[..N]);
    }
}

fn gather<const N: usize>(items: &[u8], rows: &[u32], out: &mut [u8]) {
    let (items, _) = items.as_chunks::<N>();
    for (to, row) in out.as_chunks_mut::<N>().0.iter_mut().zip(rows) {
        *to = items[*row as usize];
    }
}

/// Converts values of a width to the decoded type.
fn convert(from: &[u8], width: usize, kept: Kept, out: &mut [u8]) {
    match kept {
        Kept::Numbers(dtype) if dtype.size() == width => out.copy_from_slice(from),
        Kept::Numbers(dtype) => {
            for (to, from) in out.chunks_exact_mut(dtype.size()).zip(from.chunks_exact(width.max(1))) {
                to.copy_from_slice(&from[..dtype.size().min(width)]);
            }
        }
        Kept::Nanoseconds | Kept::Microseconds => {
            for (to, from) in out.as_chunks_mut::<8>().0.iter_mut().zip(from.as_chunks::<INT96>().0) {
                // Values out of range were refused before, or are dictionary items without a row.
                *to = time(from, kept).unwrap_or(0).to_ne_bytes();
            }
        }
        Kept::Bytes | Kept::Nothing => {}
    }
}

/// Julian day number of 1970-01-01.
const EPOCH: i64 = 2_440_588;

/// Length in bytes of an INT96 time.
const INT96: usize = 12;

/// Converts an INT96 time to time since 1970; `None` if it is out of range.
fn time(bytes: &[u8; INT96], kept: Kept) -> Option<i64> {
    let (of_day, day) = (bytes.first_chunk::<8>(), bytes.last_chunk::<4>());
    let of_day = of_day.map_or(0, |bytes| i64::from_le_bytes(*bytes));
    let days = day.map_or(0, |bytes| i64::from(u32::from_le_bytes(*bytes))) - EPOCH;
    let (each, of_day) = match kept {
        Kept::Microseconds => (86_400_000_000, of_day.div_euclid(1000)),
        _ => (86_400_000_000_000, of_day),
    };
    // The sum may be in range even if midnight of the day is not.
    i64::try_from(i128::from(days) * each + i128::from(of_day)).ok()
}

impl Dictionary {
    /// Returns the start of each byte string followed by the end of the last one, and the concatenated bytes.
    pub(crate) fn into_texts(self) -> (Vec<usize>, Vec<u8>) {
        self.texts.into_parts()
    }

    pub(crate) fn new(count: i64, bytes: &[u8], leaf: &Leaf) -> Result<Self> {
        let count = usize::try_from(count).map_err(|_| short())?;
        let mut this = Self { count, ..Self::default() };
        match (leaf.physical.width(), leaf.kept) {
            (Some(width), kept) => {
                let length =
                    count.checked_mul(width).filter(|length| *length <= bytes.len()).ok_or_else(short)?;
                let bytes = &bytes[..length];
                if kept == Kept::Bytes {
                    if width == 0 && count > 1 << 20 {
                        return Err(short());
                    }
                    this.texts = TextItems::with_capacity(count, bytes.len());
                    match width {
                        0 => (0..count).for_each(|_| this.texts.push(&[])),
                        _ => bytes.chunks_exact(width).for_each(|item| this.texts.push(item)),
                    }
                    this.texts = this.texts.finish();
                } else if width > 0 {
                    this.items = vec![0; count * kept.width()];
                    convert(bytes, width, kept, &mut this.items);
                    if leaf.may_overflow() {
                        let times = bytes.as_chunks::<INT96>().0;
                        this.overflows = times.iter().map(|value| time(value, kept).is_none()).collect();
                    }
                }
            }
            (None, _) if leaf.physical == Physical::Bytes => {
                let mut rest = bytes;
                if count > bytes.len() / 4 {
                    return Err(short());
                }
                this.texts = TextItems::with_capacity(count, bytes.len() - 4 * count);
                for _ in 0..count {
                    let (length, more) = rest.split_first_chunk::<4>().ok_or_else(short)?;
                    let (item, more) =
                        more.split_at_checked(u32::from_le_bytes(*length) as usize).ok_or_else(short)?;
                    this.texts.push(item);
                    rest = more;
                }
                this.texts = this.texts.finish();
            }
            _ => {
                if count > bytes.len().saturating_mul(8) {
                    return Err(short());
                }
                this.items = vec![0; count];
                unpack_bits(bytes, 0, &mut this.items);
            }
        }
        Ok(this)
    }
}
