//! Byte strings of a column: their offsets and concatenated bytes.

use forthwith_columns::{SHORT, VIEW, view_within, viewed};
use forthwith_plan::{Error, Result};

/// Output for some byte strings of a column.
pub(crate) struct Texts<'o> {
    /// End of each string.
    pub offsets: &'o mut [[u8; 8]],
    /// Concatenated bytes of the strings, whose total length this is.
    pub bytes: &'o mut [u8],
    /// Offset of the first string.
    pub base: i64,
}

/// The byte strings of a dictionary page.
#[derive(Debug, Default)]
pub(crate) struct TextItems {
    /// The bytes of all items, and [`WIDE`] bytes of padding.
    bytes: Vec<u8>,
    /// Start of each item, followed by the end of the last one.
    bounds: Vec<usize>,
    /// The first bytes of each item, and its length.
    short: Vec<Short>,
    /// Whether each item is UTF-8.
    are_text: bool,
    /// Whether views can hold all items inline.
    are_short: bool,
}

/// An item of a dictionary, complete if it has at most [`WIDE`] bytes.
#[derive(Clone, Copy, Debug)]
struct Short {
    bytes: [u8; WIDE],
    length: u32,
}

/// Number of bytes that are copied at once. Most texts are shorter; the next text overwrites the excess.
const WIDE: usize = 16;

#[cold]
fn misfit() -> Error {
    Error::fault("lengths of text changed while they were read")
}

impl Texts<'_> {
    /// Writes items of a dictionary, by their indexes.
    pub(crate) fn gather(self, items: &TextItems, rows: &[u32]) -> Result<()> {
        let whole = self.bytes.len();
        // A separate function, so that its few variables stay in registers.
        match gather(self.offsets, self.bytes, self.base, items, rows) {
            Some(at) if at == whole => Ok(()),
            _ => Err(misfit()),
        }
    }

    /// Writes byte strings that are preceded by their lengths.
    pub(crate) fn behind_lengths(self, bytes: &[u8]) -> Result<()> {
        let (mut from, mut at) = (0, 0);
        for offset in self.offsets.iter_mut() {
            let length = bytes.get(from..).and_then(<[u8]>::first_chunk::<4>).ok_or_else(misfit)?;
            let length = u32::from_le_bytes(*length) as usize;
            at = copy(bytes, from + 4, length, self.bytes, at).ok_or_else(misfit)?;
            from += 4 + length;
            *offset = (self.base + at as i64).to_ne_bytes();
        }
        // An uncompressed page of a mapped file may have changed since its lengths were added up.
        self.end(at)
    }

    /// Writes byte strings of equal length.
    pub(crate) fn even(self, bytes: &[u8], width: usize) -> Result<()> {
        self.bytes.copy_from_slice(bytes.get(..self.bytes.len()).ok_or_else(misfit)?);
        let mut at = 0;
        for offset in self.offsets.iter_mut() {
            at += width;
            *offset = (self.base + at as i64).to_ne_bytes();
        }
        self.end(at)
    }

    /// Writes byte strings that are concatenated already.
    pub(crate) fn of_lengths(self, bytes: &[u8], lengths: &[i64]) -> Result<()> {
        self.bytes.copy_from_slice(bytes.get(..self.bytes.len()).ok_or_else(misfit)?);
        let mut at = 0;
        for (offset, length) in self.offsets.iter_mut().zip(lengths) {
            at += *length as usize;
            *offset = (self.base + at as i64).to_ne_bytes();
        }
        self.end(at)
    }

    /// Checks that all bytes were written.
    fn end(&self, at: usize) -> Result<()> {
        if at == self.bytes.len() { Ok(()) } else { Err(misfit()) }
    }
}

/// Output for views of some byte strings.
pub(crate) struct Views<'o> {
    pub views: &'o mut [[u8; VIEW]],
    /// Bytes that the views refer to.
    pub bytes: &'o mut [u8],
    /// Offset of these bytes in the column.
    pub base: u64,
}

impl Views<'_> {
    /// Writes the views of dictionary items, by their indexes. Returns the total length of the strings.
    pub(crate) fn gather(self, items: &[[u8; VIEW]], rows: &[u32]) -> Result<u64> {
        let mut length = 0;
        for (view, row) in self.views.iter_mut().zip(rows) {
            *view = *items.get(*row as usize).ok_or_else(misfit)?;
            length += u64::from(length_of(view));
        }
        Ok(length)
    }

    /// Writes views of byte strings that are preceded by their lengths. The bytes are copied together with
    /// the lengths, unless all strings are short. Returns the total length of the strings.
    pub(crate) fn behind_lengths(self, bytes: &[u8]) -> Result<u64> {
        let is_copied = !self.bytes.is_empty();
        if is_copied {
            self.bytes.copy_from_slice(bytes.get(..self.bytes.len()).ok_or_else(misfit)?);
        }
        let bytes = if is_copied { &*self.bytes } else { bytes };
        let (mut at, mut all) = (0, 0);
        for to in self.views {
            let length = bytes.get(at..).and_then(<[u8]>::first_chunk::<4>).ok_or_else(misfit)?;
            let length = u32::from_le_bytes(*length) as usize;
            let rest = bytes.get(at + 4..).ok_or_else(misfit)?;
            // An uncompressed page of a mapped file may have changed since its lengths were added up.
            if length > SHORT && !is_copied {
                return Err(misfit());
            }
            *to = view_within(rest, length, self.base + at as u64 + 4).ok_or_else(misfit)?;
            (at, all) = (at + 4 + length, all + length as u64);
        }
        Ok(all)
    }

    /// Writes views of concatenated byte strings of these lengths. Returns their total length.
    pub(crate) fn of_lengths(self, bytes: &[u8], lengths: impl Iterator<Item = usize>) -> Result<u64> {
        self.bytes.copy_from_slice(bytes.get(..self.bytes.len()).ok_or_else(misfit)?);
        let mut at = 0;
        for (to, length) in self.views.iter_mut().zip(lengths) {
            let rest = self.bytes.get(at..).ok_or_else(misfit)?;
            *to = view_within(rest, length, self.base + at as u64).ok_or_else(misfit)?;
            at += length;
        }
        Ok(at as u64)
    }
}

const fn length_of(view: &[u8; VIEW]) -> u32 {
    let [a, b, c, d, ..] = *view;
    u32::from_le_bytes([a, b, c, d])
}

/// Whether the texts of all views are UTF-8. `bytes` begin at offset `base` of the column, and include short
/// texts; or they are empty if all texts are short.
pub(crate) fn are_texts(views: &[[u8; VIEW]], bytes: &[u8], base: u64) -> bool {
    let is_plain = |view: &[u8; VIEW]| (u128::from_le_bytes(*view) >> 32) & (u128::MAX / 0xff * 0x80) == 0;
    let is_ascii = match bytes {
        [] => views.iter().fold(true, |all, view| all & is_plain(view)),
        _ => bytes.is_ascii(),
    };
    is_ascii
        || views
            .iter()
            .all(|view| viewed(view, bytes, base).is_some_and(|text| std::str::from_utf8(text).is_ok()))
}

/// Concatenates items, and returns the end of the last one; `None` if an item does not exist or `bytes` is
/// too short.
#[inline(never)]
fn gather(
    offsets: &mut [[u8; 8]],
    bytes: &mut [u8],
    base: i64,
    items: &TextItems,
    rows: &[u32],
) -> Option<usize> {
    let mut at = 0;
    for (offset, row) in offsets.iter_mut().zip(rows) {
        let short = items.short.get(*row as usize)?;
        match bytes.get_mut(at..).and_then(<[u8]>::first_chunk_mut::<WIDE>) {
            Some(target) if short.length as usize <= WIDE => {
                *target = short.bytes;
                at += short.length as usize;
            }
            _ => {
                let [start, end] = items.bounds.get(*row as usize..)?.first_chunk::<2>()?;
                at = copy(&items.bytes, *start, end - start, bytes, at)?;
            }
        }
        *offset = (base + at as i64).to_ne_bytes();
    }
    Some(at)
}

/// Copies a byte string, and returns its end; `None` if one of the slices is too short.
#[inline(always)]
fn copy(from: &[u8], start: usize, length: usize, to: &mut [u8], at: usize) -> Option<usize> {
    let source = from.get(start..).and_then(<[u8]>::first_chunk::<WIDE>);
    let target = to.get_mut(at..).and_then(<[u8]>::first_chunk_mut::<WIDE>);
    match (source, target) {
        (Some(source), Some(target)) if length <= WIDE => *target = *source,
        _ => to.get_mut(at..)?.get_mut(..length)?.copy_from_slice(from.get(start..)?.get(..length)?),
    }
    Some(at + length)
}

impl TextItems {
    /// Creates an empty list of items with this capacity.
    pub(crate) fn with_capacity(count: usize, bytes: usize) -> Self {
        let mut bounds = Vec::with_capacity(count + 1);
        bounds.push(0);
        Self {
            bytes: Vec::with_capacity(bytes + WIDE),
            bounds,
            short: Vec::with_capacity(count),
            are_text: true,
            are_short: true,
        }
    }

    /// Appends an item, which has to be shorter than 4 GiB.
    pub(crate) fn push(&mut self, item: &[u8]) {
        self.are_short &= item.len() <= SHORT;
        self.bytes.extend_from_slice(item);
        self.bounds.push(self.bytes.len());
        let mut short = Short { bytes: [0; WIDE], length: item.len() as u32 };
        let first = &item[..item.len().min(WIDE)];
        short.bytes[..first.len()].copy_from_slice(first);
        self.short.push(short);
    }

    /// Completes the list: checks for UTF-8, and adds the padding.
    pub(crate) fn finish(mut self) -> Self {
        // All bytes are UTF-8, and each item begins at a character.
        let text = std::str::from_utf8(&self.bytes).ok();
        self.are_text = text.is_some_and(|text| self.bounds.iter().all(|at| text.is_char_boundary(*at)));
        self.bytes.extend_from_slice(&[0; WIDE]);
        self
    }

    /// Whether each item is UTF-8.
    pub(crate) const fn are_text(&self) -> bool {
        self.are_text
    }

    /// Returns the number of items.
    pub(crate) const fn len(&self) -> usize {
        self.short.len()
    }

    /// Returns an item by its index.
    pub(crate) fn item(&self, row: u32) -> Option<&[u8]> {
        let [start, end] = self.bounds.get(row as usize..)?.first_chunk::<2>()?;
        self.bytes.get(*start..*end)
    }

    /// Returns the bytes that views of the items refer to, which are none if all items are short.
    pub(crate) fn viewed_bytes(&self) -> &[u8] {
        let end = if self.are_short { 0 } else { self.bounds.last().copied().unwrap_or(0) };
        &self.bytes[..end]
    }

    /// Creates the views of all items, whose bytes begin at offset `at` of the column.
    pub(crate) fn views(&self, at: u64) -> Vec<[u8; VIEW]> {
        let bounds = self.bounds.array_windows::<2>();
        let view = |[start, end]: &[usize; 2]| {
            view_within(&self.bytes[*start..], end - start, at + *start as u64).unwrap_or_default()
        };
        bounds.map(view).collect()
    }

    /// Returns the total length of these items. Indexes out of range count as 0.
    pub(crate) fn length_of(&self, rows: &[u32]) -> u64 {
        rows.iter().map(|row| self.short.get(*row as usize).map_or(0, |short| u64::from(short.length))).sum()
    }

    /// Returns the start of each item followed by the end of the last one, and the concatenated bytes.
    pub(crate) fn into_parts(mut self) -> (Vec<usize>, Vec<u8>) {
        self.bytes.truncate(self.bounds.last().copied().unwrap_or(0));
        (self.bounds, self.bytes)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a test fails by panicking

    use super::*;

    /// Returns texts whose lengths are around the number of bytes that are copied at once.
    fn words() -> Vec<Vec<u8>> {
        let lengths = [3, 0, 16, 17, 15, 1, 40, 0, 0, 33, 16, 2];
        lengths.iter().zip(1..).map(|(length, byte)| vec![byte; *length]).collect()
    }

    #[test]
    fn texts_are_put_one_behind_the_other() {
        let words = words();
        let mut items = TextItems::with_capacity(0, 0);
        words.iter().for_each(|word| items.push(word));
        let items = items.finish();
        for count in 0..60 {
            let rows: Vec<u32> = (0..count).map(|row| row * 7 % words.len() as u32).collect();
            let wanted: Vec<&[u8]> = rows.iter().map(|row| &words[*row as usize][..]).collect();
            let ends: Vec<i64> = wanted
                .iter()
                .scan(100, |end, word| {
                    *end += word.len() as i64;
                    Some(*end)
                })
                .collect();
            let all = wanted.concat();
            assert_eq!(items.length_of(&rows), all.len() as u64);
            let behind: Vec<u8> =
                wanted.iter().flat_map(|word| [&(word.len() as u32).to_le_bytes(), *word].concat()).collect();
            let lengths: Vec<i64> = wanted.iter().map(|word| word.len() as i64).collect();
            for way in 0..3 {
                let (mut offsets, mut bytes) = (vec![[0; 8]; rows.len()], vec![9; all.len()]);
                let texts = Texts { offsets: &mut offsets, bytes: &mut bytes, base: 100 };
                match way {
                    0 => texts.gather(&items, &rows).unwrap(),
                    1 => texts.behind_lengths(&behind).unwrap(),
                    _ => texts.of_lengths(&all, &lengths).unwrap(),
                }
                assert_eq!(bytes, all, "way {way}, {count} texts");
                assert_eq!(offsets.iter().map(|end| i64::from_ne_bytes(*end)).collect::<Vec<_>>(), ends);
            }
        }
        assert_eq!(items.into_parts().1, words.concat());
    }

    #[test]
    fn texts_that_do_not_fit_are_refused() {
        let mut items = TextItems::with_capacity(2, 4);
        items.push(b"four");
        items.push(b"two");
        let items = items.finish();
        let behind = b"\x04\0\0\0four\x03\0\0\0two";
        for (length, rows) in [(6, [0, 1]), (8, [0, 1]), (4, [0, 2])] {
            let (mut offsets, mut bytes) = ([[0; 8]; 2], vec![0; length]);
            let texts = Texts { offsets: &mut offsets, bytes: &mut bytes, base: 0 };
            assert!(texts.gather(&items, &rows).is_err(), "{length} {rows:?}");
            let texts = Texts { offsets: &mut offsets, bytes: &mut bytes, base: 0 };
            assert!(texts.behind_lengths(behind).is_err());
        }
        let (mut offsets, mut bytes) = ([[0; 8]; 2], vec![0; 7]);
        for cut in 0..behind.len() {
            let texts = Texts { offsets: &mut offsets, bytes: &mut bytes, base: 0 };
            assert!(texts.behind_lengths(&behind[..cut]).is_err());
        }
        let texts = Texts { offsets: &mut offsets, bytes: &mut bytes, base: 0 };
        assert!(texts.even(b"abcdefg", 3).is_err());
    }
}
