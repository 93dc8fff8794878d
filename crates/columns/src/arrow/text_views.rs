//! Export of text views to Arrow view arrays.

use super::spread;
use crate::{Presence, SHORT, TextViews, VIEW, viewed};
use arrow_array::{ArrayRef, BinaryViewArray, StringViewArray};
use arrow_buffer::{Buffer, ScalarBuffer};
use forthwith_kernels::{CpuFeatures, for_each_cpu};
use std::sync::Arc;

/// Returns the view array of the texts, with nulls at the missing rows of `rows`. Returns `None` if a view is
/// outside the bytes, if text is not UTF-8, or if the texts are not as many as the present rows.
pub(super) fn array(texts: &TextViews, binary: bool, rows: Option<&Presence>) -> Option<ArrayRef> {
    let bytes = texts.views();
    let buffers: Vec<Buffer> = texts.buffers().into_iter().map(Buffer::from).collect();
    if !are_sound(bytes.as_chunks().0, &buffers, binary) {
        return None;
    }
    // Small buffers may be unaligned, and are copied.
    let views = match bytes.as_ptr().addr().is_multiple_of(align_of::<u128>()) {
        true => Buffer::from(bytes.clone()),
        false => Buffer::from_slice_ref(bytes),
    };
    let (views, nulls) = match rows {
        None => (views, None),
        Some(rows) => (spread::numbers(views.typed_data::<u128>(), rows), Some(spread::nulls(rows))),
    };
    let views = ScalarBuffer::<u128>::from(views);
    if nulls.as_ref().is_some_and(|nulls| nulls.len() != views.len()) {
        return None;
    }
    // SAFETY: each view was checked to be a short text or a range of a buffer, and text to be UTF-8. A
    // missing row has a view of zeros, which is an empty text. The nulls have the length of the views.
    Some(unsafe {
        match binary {
            true => Arc::new(BinaryViewArray::new_unchecked(views, buffers.into(), nulls)),
            false => Arc::new(StringViewArray::new_unchecked(views, buffers.into(), nulls)),
        }
    })
}

/// Whether all views are in bounds and, unless `binary`, are valid UTF-8.
///
/// Zero padding of short texts and the prefixes of long ones are not checked: [`view`](crate::view) makes
/// them right. Without them, texts would compare wrongly.
fn are_sound(views: &[[u8; VIEW]], buffers: &[Buffer], binary: bool) -> bool {
    let are_ascii = buffers.len() <= 1 && buffers.iter().all(|buffer| buffer.is_ascii());
    let size = buffers.first().map_or(0, |buffer| u32::try_from(buffer.len()).unwrap_or(u32::MAX));
    let cpu = CpuFeatures::current();
    // Chunks allow an early exit without a branch for each view.
    are_ascii && views.chunks(1 << 10).all(|some| are_ascii_texts(cpu, some, size))
        || are_texts(views, buffers, binary)
}

for_each_cpu! {
    /// Whether all texts are ASCII and in bounds, given that the `size` bytes of the only buffer are ASCII.
    fn are_ascii_texts(views: &[[u8; VIEW]], size: u32) -> bool = ascii_texts
}

#[inline(always)]
fn ascii_texts(views: &[[u8; VIEW]], size: u32) -> bool {
    let mut bad = 0;
    for view in views {
        // 32-bit words, of which a SIMD instruction compares several.
        let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = *view;
        let (length, first) = (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]));
        let (number, at) = (u32::from_le_bytes([i, j, k, l]), u32::from_le_bytes([m, n, o, p]));
        let high = (first | number | at) & 0x8080_8080;
        let outside = number | u32::from(at > size) | u32::from(length > size.wrapping_sub(at));
        bad |= if length <= SHORT as u32 { high } else { outside };
    }
    bad == 0
}

fn are_texts(views: &[[u8; VIEW]], buffers: &[Buffer], binary: bool) -> bool {
    // A slice of valid UTF-8 is valid if it starts and ends at character boundaries.
    let whole: Vec<bool> = buffers.iter().map(|buffer| !binary && is_utf8(buffer)).collect();
    views.iter().all(|view| {
        let value = u128::from_le_bytes(*view);
        let length = value as u32 as usize;
        if length <= SHORT {
            let is_ascii = (value >> 32) & (u128::MAX / 0xff * 0x80) == 0;
            return binary || is_ascii || viewed(view, &[], 0).is_some_and(is_utf8);
        }
        let (number, at) = ((value >> 64) as u32 as usize, (value >> 96) as u32 as usize);
        let Some(buffer) = buffers.get(number) else { return false };
        let Some(text) = buffer.get(at..).and_then(|from| from.get(..length)) else { return false };
        let is_between = is_between(buffer, at) && is_between(buffer, at + length);
        binary || if whole[number] { is_between } else { is_utf8(text) }
    })
}

fn is_utf8(bytes: &[u8]) -> bool {
    bytes.is_ascii() || std::str::from_utf8(bytes).is_ok()
}

/// Whether a byte offset is a character boundary of UTF-8.
fn is_between(bytes: &[u8], at: usize) -> bool {
    bytes.get(at).is_none_or(|byte| byte & 0xc0 != 0x80)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a test fails by panicking

    use super::*;
    use crate::view;
    use arrow_array::{Array as _, cast::AsArray as _};

    fn texts(of: &[&[u8]]) -> TextViews {
        let (mut views, mut bytes, mut length) = (Vec::new(), Vec::new(), 0);
        for text in of {
            views.extend(view(text, bytes.len() as u64));
            bytes.extend_from_slice(text);
            length += text.len() as u64;
        }
        // Allocates memory that is aligned for a view.
        let memory = crate::Memory::default();
        let builder = crate::Builder::new(&memory, crate::DType::UInt8, false, views.len()).unwrap();
        builder.extend(&views).unwrap();
        TextViews::new(builder.finish().to_bytes(), bytes.into(), length)
    }

    #[test]
    fn views_become_arrays_that_arrow_finds_sound() {
        let words = ["", "short", "größer als zwölf", "twelve bytes", "ascii that is long"];
        let mut rows = Presence::default();
        rows.extend(&[0x7f], &[0b101_1101]);
        for all in [&words[..], &words[..2], &words[3..]] {
            let bytes: Vec<&[u8]> = all.iter().map(|word| word.as_bytes()).collect();
            let found = array(&texts(&bytes), false, None).unwrap();
            found.to_data().validate_full().unwrap();
            assert_eq!(found.as_string_view().iter().flatten().collect::<Vec<_>>(), all);
        }
        let bytes: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
        let found = array(&texts(&bytes), false, Some(&rows)).unwrap();
        found.to_data().validate_full().unwrap();
        let wanted =
            [Some(words[0]), None, Some(words[1]), Some(words[2]), Some(words[3]), None, Some(words[4])];
        assert_eq!(found.as_string_view().iter().collect::<Vec<_>>(), wanted);
    }

    #[test]
    fn bytes_that_are_not_text_are_left_to_others() {
        for bad in [&b"\xff"[..], b"a long text with \xff in it"] {
            assert!(array(&texts(&[b"good", bad]), false, None).is_none());
            assert!(array(&texts(&[b"good", bad]), true, None).is_some());
        }
        // The two halves are UTF-8 only together: the cut is within a character.
        let halves = "a text that is cut within ö".as_bytes().split_at(27);
        let cut = texts(&[halves.0, halves.1, b"behind it, long enough"]);
        assert!(array(&cut, false, None).is_none());
    }
}
