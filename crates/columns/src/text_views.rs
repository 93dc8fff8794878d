//! Texts as Arrow's views: 16 bytes for each, which hold the text itself if it is short, and otherwise its first bytes and
//! its place.
//!
//! A column of dictionary pages becomes views without copying each text. Whoever looks at offsets and bytes instead gets
//! those, which are made then.

use bytes::Bytes;
use std::{collections::HashMap, ops::Range, sync::OnceLock};

/// Bytes of a view.
pub const VIEW: usize = 16;
/// Bytes of a text that are in its view, at most.
pub const SHORT: usize = 12;
/// A place beyond this number of bytes is counted from the beginning of the next buffer: see [`TextViews::buffers`].
const STEP: u64 = 1 << 30;

/// The view of a text that lies at byte `at` of the bytes of all.
#[must_use]
#[inline]
pub fn view(text: &[u8], at: u64) -> [u8; VIEW] {
    let mut first = [0; VIEW];
    let some = &text[..text.len().min(SHORT)];
    first[..some.len()].copy_from_slice(some);
    of_first(u128::from_le_bytes(first), text.len(), at)
}

/// The view of the first `length` of some bytes, which are looked at 16 at a time.
#[must_use]
#[inline(always)]
pub fn view_within(bytes: &[u8], length: usize, at: u64) -> Option<[u8; VIEW]> {
    match bytes.first_chunk::<VIEW>() {
        Some(first) if length <= bytes.len() => Some(of_first(u128::from_le_bytes(*first), length, at)),
        _ => Some(view(bytes.get(..length)?, at)),
    }
}

/// The view of a text with these first bytes, of which a short text is a part.
#[inline(always)]
fn of_first(first: u128, length: usize, at: u64) -> [u8; VIEW] {
    let is_short = length <= SHORT;
    let short = first & !(u128::MAX << (8 * length.min(SHORT)));
    let place = u128::from(at / STEP) << 32 | u128::from(at % STEP) << 64;
    let rest = if is_short { short } else { u128::from(first as u32) | place };
    (u128::from(length as u32) | rest << 32).to_le_bytes()
}

/// The text of a view into some bytes, which begin at byte `base` of the bytes of all; nothing if it is not in them.
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

/// Texts as views.
pub struct TextViews {
    /// A view for each text.
    views: Bytes,
    /// The bytes that views of long texts point into, and others between them.
    bytes: Bytes,
    /// Bytes of all texts together.
    length: u64,
    /// Made when it is looked at.
    plain: OnceLock<PlainTexts>,
}

/// Where each text ends, and all of them one behind the other.
struct PlainTexts {
    offsets: Box<[i64]>,
    bytes: Box<[u8]>,
}

impl TextViews {
    /// Texts of `length` bytes together.
    ///
    /// A view that is none counts as an empty text.
    #[must_use]
    pub fn new(views: Bytes, bytes: Bytes, length: u64) -> Self {
        Self { views, bytes, length, plain: OnceLock::new() }
    }

    /// The number of texts.
    #[must_use]
    pub const fn rows(&self) -> usize {
        self.views.len() / VIEW
    }

    /// A text; nothing for a view outside the bytes.
    #[must_use]
    pub fn text(&self, row: usize) -> Option<&[u8]> {
        viewed(self.views.as_chunks::<VIEW>().0.get(row)?, &self.bytes, 0)
    }

    /// Some of the texts, with copies of the bytes that they have outside their views: each is copied once, however often it occurs.
    pub(crate) fn part(&self, rows: Range<usize>) -> Self {
        let all = self.views.as_chunks::<VIEW>().0;
        let (mut views, mut bytes, mut length) = (Vec::with_capacity(rows.len() * VIEW), Vec::new(), 0);
        let mut known: HashMap<[u8; VIEW], [u8; VIEW]> = HashMap::new();
        for of in all.get(rows).unwrap_or_default() {
            // A view that lies is an empty text in the part, too.
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

    /// The first row whose text is not UTF-8.
    #[must_use]
    pub fn first_not_text(&self) -> Option<usize> {
        let is_text = |row: &usize| self.text(*row).is_some_and(|text| std::str::from_utf8(text).is_ok());
        (0..self.rows()).find(|row| !is_text(row))
    }

    /// Bytes of all texts together.
    #[must_use]
    pub const fn length(&self) -> u64 {
        self.length
    }

    /// A view for each text.
    #[must_use]
    pub const fn views(&self) -> &Bytes {
        &self.views
    }

    /// The buffers that views number. They overlap: each begins a GiB behind the one before, and is as long as 32 bits with a
    /// sign count.
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
                // No more than was said.
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
