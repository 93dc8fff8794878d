//! Text as Arrow's views: 16 bytes for each string, which hold its length and, if it is short, its bytes,
//! otherwise its first four bytes and its position.
//!
//! Dictionary pages become views without a copy of each string. Offsets and contiguous bytes are computed on
//! first access.

use bytes::Bytes;
use std::{collections::HashMap, ops::Range, sync::OnceLock};

/// Size of a view in bytes.
pub const VIEW: usize = 16;
/// Maximum length in bytes of a string that is stored in its view.
pub const SHORT: usize = 12;
/// Distance in bytes between the starts of consecutive buffers: see [`TextViews::buffers`].
const STEP: u64 = 1 << 30;

/// Returns the view of a string at byte `at` of all bytes.
#[must_use]
#[inline]
pub fn view(text: &[u8], at: u64) -> [u8; VIEW] {
    let mut first = [0; VIEW];
    let some = &text[..text.len().min(SHORT)];
    first[..some.len()].copy_from_slice(some);
    of_first(u128::from_le_bytes(first), text.len(), at)
}

/// Returns the view of the first `length` bytes of `bytes`, or `None` if there are fewer. Loads 16 bytes at
/// once if possible.
#[must_use]
#[inline(always)]
pub fn view_within(bytes: &[u8], length: usize, at: u64) -> Option<[u8; VIEW]> {
    match bytes.first_chunk::<VIEW>() {
        Some(first) if length <= bytes.len() => Some(of_first(u128::from_le_bytes(*first), length, at)),
        _ => Some(view(bytes.get(..length)?, at)),
    }
}

/// Returns the view of a string that begins with the bytes of `first`, which contain a short string as a
/// whole.
#[inline(always)]
fn of_first(first: u128, length: usize, at: u64) -> [u8; VIEW] {
    let is_short = length <= SHORT;
    let short = first & !(u128::MAX << (8 * length.min(SHORT)));
    let place = u128::from(at / STEP) << 32 | u128::from(at % STEP) << 64;
    let rest = if is_short { short } else { u128::from(first as u32) | place };
    (u128::from(length as u32) | rest << 32).to_le_bytes()
}

/// Returns the string of a view, given the bytes from byte `base` of all bytes on; `None` if it is not in
/// them.
#[must_use]
#[inline]
pub fn viewed<'a>(view: &'a [u8; VIEW], bytes: &'a [u8], base: u64) -> Option<&'a [u8]> {
    let number = |at: usize| view.get(at..)?.first_chunk().map(|four| u32::from_le_bytes(*four));
    let length = number(0)? as usize;
    if length <= SHORT {
        return view.get(4..4 + length);
    }
    let at = u64::from(number(8)?) * STEP + u64::from(number(12)?);
    bytes.get(usize::try_from(at.checked_sub(base)?).ok()?..)?.get(..length)
}

/// Strings as views.
pub struct TextViews {
    /// A view for each string.
    views: Bytes,
    /// Bytes that the views of long strings refer to, and perhaps others.
    bytes: Bytes,
    /// Total length of the strings in bytes.
    length: u64,
    /// Offsets and contiguous bytes, computed on first access.
    plain: OnceLock<PlainTexts>,
}

/// Strings as offsets and contiguous bytes.
struct PlainTexts {
    offsets: Box<[i64]>,
    bytes: Box<[u8]>,
}

impl TextViews {
    /// Makes strings of `length` bytes in total from their views and the bytes that these refer to.
    ///
    /// An invalid view is an empty string.
    #[must_use]
    pub fn new(views: Bytes, bytes: Bytes, length: u64) -> Self {
        Self { views, bytes, length, plain: OnceLock::new() }
    }

    /// Returns the number of strings.
    #[must_use]
    pub const fn rows(&self) -> usize {
        self.views.len() / VIEW
    }

    /// Returns a string, or `None` if `row` or its view is out of range.
    #[must_use]
    pub fn text(&self, row: usize) -> Option<&[u8]> {
        viewed(self.views.as_chunks::<VIEW>().0.get(row)?, &self.bytes, 0)
    }

    /// Copies a range of the strings, with only the bytes that their views refer to: bytes of equal views are
    /// copied once.
    pub(crate) fn part(&self, rows: Range<usize>) -> Self {
        let all = self.views.as_chunks::<VIEW>().0;
        let (mut views, mut bytes, mut length) = (Vec::with_capacity(rows.len() * VIEW), Vec::new(), 0);
        let mut known: HashMap<[u8; VIEW], [u8; VIEW]> = HashMap::new();
        for of in all.get(rows).unwrap_or_default() {
            // An invalid view becomes the view of an empty string.
            let text = viewed(of, &self.bytes, 0).unwrap_or_default();
            length += text.len() as u64;
            if text.len() <= SHORT {
                views.extend(view(text, 0));
                continue;
            }
            views.extend(*known.entry(*of).or_insert_with(|| {
                bytes.extend_from_slice(text);
                view(text, (bytes.len() - text.len()) as u64)
            }));
        }
        Self::new(views.into(), bytes.into(), length)
    }

    /// Returns the first row that is not valid UTF-8, or `None` if all are valid.
    #[must_use]
    pub fn first_not_text(&self) -> Option<usize> {
        let is_text = |row: &usize| self.text(*row).is_some_and(|text| std::str::from_utf8(text).is_ok());
        (0..self.rows()).find(|row| !is_text(row))
    }

    /// Returns the total length of the strings in bytes.
    #[must_use]
    pub const fn length(&self) -> u64 {
        self.length
    }

    /// Returns the views, one for each string.
    #[must_use]
    pub const fn views(&self) -> &Bytes {
        &self.views
    }

    /// Returns the buffers that views refer to by number. They overlap: each starts one GiB after the
    /// previous one, and has at most 2^31 - 1 bytes.
    #[must_use]
    pub fn buffers(&self) -> Vec<Bytes> {
        let all = &self.bytes;
        let step = STEP as usize;
        let begins = (0..all.len()).step_by(step);
        begins.map(|at| all.slice(at..all.len().min(at + 2 * step - 1))).collect()
    }

    fn plain(&self) -> &PlainTexts {
        self.plain.get_or_init(|| {
            let (views, _) = self.views.as_chunks::<VIEW>();
            let bytes = &self.bytes;
            let length = usize::try_from(self.length).unwrap_or(usize::MAX);
            let (mut offsets, mut texts) = (Vec::with_capacity(views.len() + 1), Vec::with_capacity(length));
            offsets.push(0);
            for view in views {
                let text = viewed(view, bytes, 0).unwrap_or_default();
                // At most `length` bytes, as declared.
                texts.extend_from_slice(&text[..text.len().min(length - texts.len())]);
                offsets.push(texts.len() as i64);
            }
            texts.resize(length, 0);
            PlainTexts { offsets: offsets.into(), bytes: texts.into() }
        })
    }

    pub(crate) fn offsets(&self) -> &[i64] {
        &self.plain().offsets
    }

    pub(crate) fn texts(&self) -> &[u8] {
        &self.plain().bytes
    }
}

impl std::fmt::Debug for TextViews {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TextViews({} of {} bytes)", self.rows(), self.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_views_are_offsets_and_bytes() {
        let words = ["", "a", "twelve bytes", "thirteen byte", "and one that is longer than sixteen"];
        let (mut views, mut bytes) = (Vec::new(), b"..".to_vec());
        for word in words {
            let of = view(word.as_bytes(), bytes.len() as u64);
            let longer = [word.as_bytes(), b"and what is behind"].concat();
            assert_eq!(view_within(&longer, word.len(), bytes.len() as u64), Some(of));
            assert_eq!(view_within(word.as_bytes(), word.len(), bytes.len() as u64), Some(of));
            assert_eq!(view_within(word.as_bytes(), word.len() + 1, 0), None);
            bytes.extend_from_slice(word.as_bytes());
            assert_eq!(viewed(&of, &bytes, 0), Some(word.as_bytes()));
            views.extend(of);
        }
        let all = words.concat();
        let texts = TextViews::new(views.into(), bytes.into(), all.len() as u64);
        assert_eq!((texts.rows(), texts.buffers().len()), (5, 1));
        assert_eq!(texts.texts(), all.as_bytes());
        assert_eq!(texts.offsets(), [0, 0, 1, 13, 26, all.len() as i64]);
        assert_eq!(
            (texts.text(3), texts.text(5), texts.first_not_text()),
            (Some(words[3].as_bytes()), None, None)
        );
    }

    #[test]
    fn a_view_that_lies_is_an_empty_text() {
        let of = view(b"a text that is not there", 5);
        assert_eq!(viewed(&of, b"short", 0), None);
        assert_eq!(viewed(&view(b"far away, far away", 5 << 30), b"short", 0), None);
        let texts = TextViews::new(of.to_vec().into(), Bytes::new(), 0);
        assert_eq!(texts.offsets(), [0, 0]);
    }
}
