//! Bounds of the values in pages and chunks.

use parquet::basic::BoundaryOrder;

/// Upper bound on the length in bytes of text bounds in indexes and statistics.
const LONGEST: usize = 64;

/// Bounds of the pages so far, in the order of their keys.
#[derive(Debug)]
pub(crate) struct Bounds<K> {
    /// Bounds of all pages, and whether all values so far were NaN.
    chunk: Option<(K, K, bool)>,
    last: Option<(K, K)>,
    is_ascending: bool,
    is_descending: bool,
}

impl<K: Ord + Clone> Bounds<K> {
    pub(crate) const fn new() -> Self {
        Self { chunk: None, last: None, is_ascending: true, is_descending: true }
    }

    /// Adds a page. Bounds of a page of NaN are replaced by those of numbers.
    pub(crate) fn add(&mut self, min: K, max: K, is_nan: bool) {
        self.add_stored((min.clone(), max.clone()), (min, max), is_nan);
    }

    /// Adds a page whose stored bounds differ from its exact ones. The boundary order is that of the stored
    /// bounds, by which readers search.
    pub(crate) fn add_stored(&mut self, (min, max): (K, K), stored: (K, K), is_nan: bool) {
        if let Some((last_min, last_max)) = &self.last {
            self.is_ascending &= *last_min <= stored.0 && *last_max <= stored.1;
            self.is_descending &= *last_min >= stored.0 && *last_max >= stored.1;
        }
        self.last = Some(stored);
        self.chunk = Some(match self.chunk.take() {
            Some((least, most, was_nan)) if was_nan == is_nan => (least.min(min), most.max(max), is_nan),
            Some(numbers) if is_nan => numbers,
            _ => (min, max, is_nan),
        });
    }

    /// Returns the bounds of all pages.
    pub(crate) fn chunk(&self) -> Option<(K, K)> {
        self.chunk.clone().map(|(min, max, _)| (min, max))
    }

    pub(crate) const fn order(&self) -> BoundaryOrder {
        match (self.is_ascending, self.is_descending) {
            (true, _) => BoundaryOrder::ASCENDING,
            (false, true) => BoundaryOrder::DESCENDING,
            (false, false) => BoundaryOrder::UNORDERED,
        }
    }
}

/// Returns a lower bound of limited length, and whether it equals the value.
pub(crate) fn lower(value: &[u8], is_text: bool) -> (Vec<u8>, bool) {
    if value.len() <= LONGEST {
        return (value.to_vec(), true);
    }
    (value[..cut(value, is_text).unwrap_or(LONGEST)].to_vec(), false)
}

/// Returns an upper bound of limited length, and whether it equals the value. A value without a shorter upper
/// bound is returned as it is.
pub(crate) fn upper(value: &[u8], is_text: bool) -> (Vec<u8>, bool) {
    if value.len() <= LONGEST {
        return (value.to_vec(), true);
    }
    let next = match cut(value, is_text) {
        Some(end) => next_text(&value[..end]),
        None => next_bytes(&value[..LONGEST]),
    };
    next.map_or_else(|| (value.to_vec(), true), |next| (next, false))
}

/// Returns the length of the longest prefix of whole characters within the limit; `None` if the value is not
/// text.
fn cut(value: &[u8], is_text: bool) -> Option<usize> {
    let text = std::str::from_utf8(value).ok().filter(|_| is_text)?;
    Some(text.floor_char_boundary(LONGEST))
}

/// Increments the last character that has a successor of the same length, and drops the characters after it.
fn next_text(text: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(text).ok()?;
    text.char_indices().rev().find_map(|(at, last)| {
        let next = char::from_u32(last as u32 + 1).filter(|next| next.len_utf8() == last.len_utf8())?;
        let mut made = text[..at].to_owned();
        made.push(next);
        Some(made.into_bytes())
    })
}

/// Returns the smallest larger byte string of the same length; `None` if all bytes are 255.
fn next_bytes(bytes: &[u8]) -> Option<Vec<u8>> {
    let last = bytes.iter().rposition(|byte| *byte != u8::MAX)?;
    let mut made = bytes.to_vec();
    made[last] += 1;
    made[last + 1..].fill(0);
    Some(made)
}

/// Minimum and maximum of byte strings, which are compared by a prefix first.
#[derive(Debug)]
pub(crate) struct TextExtremes<'a> {
    least: (u64, &'a [u8]),
    most: (u64, &'a [u8]),
}

impl<'a> TextExtremes<'a> {
    pub(crate) fn new(first: &'a [u8]) -> Self {
        let first = (prefix(first), first);
        Self { least: first, most: first }
    }

    #[inline(always)]
    pub(crate) fn add(&mut self, value: &'a [u8]) {
        let prefix = prefix(value);
        if prefix <= self.least.0 && (prefix < self.least.0 || value < self.least.1) {
            self.least = (prefix, value);
        }
        if prefix >= self.most.0 && (prefix > self.most.0 || value > self.most.1) {
            self.most = (prefix, value);
        }
    }

    pub(crate) const fn bounds(&self) -> (&'a [u8], &'a [u8]) {
        (self.least.1, self.most.1)
    }
}

/// Returns the first eight bytes, padded with zeros, as an integer in the same order.
#[inline(always)]
fn prefix(value: &[u8]) -> u64 {
    match value.first_chunk::<8>() {
        Some(first) => u64::from_be_bytes(*first),
        None => {
            let mut first = [0; 8];
            first[..value.len()].copy_from_slice(value);
            u64::from_be_bytes(first)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_of_long_text_are_short_and_valid() {
        let long = "ä".repeat(100);
        let (low, is_exact) = lower(long.as_bytes(), true);
        assert_eq!((low.len(), is_exact), (64, false));
        let (high, is_exact) = upper(long.as_bytes(), true);
        assert!(!is_exact && std::str::from_utf8(&high).unwrap() > long.as_str());
        let odd = format!("a{long}");
        assert_eq!(lower(odd.as_bytes(), true).0.len(), 63);
        let largest = "\u{10ffff}".repeat(30);
        assert_eq!(upper(largest.as_bytes(), true), (largest.as_bytes().to_vec(), true));
        assert_eq!(upper(&[255; 65], false), (vec![255; 65], true));
        let mut bytes = vec![7; 70];
        bytes[63] = 255;
        let (high, _) = upper(&bytes, false);
        assert_eq!((high.len(), high[62], high[63]), (64, 8, 0));
        assert_eq!(upper(b"short", false), (b"short".to_vec(), true));
    }

    #[test]
    fn pages_of_nans_do_not_hide_numbers() {
        let mut bounds = Bounds::new();
        bounds.add(9, 9, true);
        bounds.add(3, 5, false);
        bounds.add(8, 9, true);
        bounds.add(4, 7, false);
        assert_eq!(bounds.chunk(), Some((3, 7)));
        assert_eq!(bounds.order(), BoundaryOrder::UNORDERED);
    }
}
