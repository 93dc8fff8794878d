//! Dictionaries of the values of a chunk, in the order of their first occurrence.

use super::number::{Number, bytes_of};

/// Upper bound on the bytes of a dictionary page; its last value may exceed it.
pub(crate) const LARGEST_DICTIONARY: usize = 1 << 20;
/// Upper bound on the probes for a value. Only values that are crafted to collide need more.
const MOST_PROBES: usize = 256;
/// Initial number of slots of a hash table.
const FEWEST_SLOTS: usize = 1 << 10;

/// Error of a full dictionary or hash table.
#[derive(Debug)]
pub(crate) struct Full;

/// A dictionary of numbers, which are compared by their bits.
#[derive(Debug, Default)]
pub(crate) struct NumberDictionary<T> {
    entries: Vec<T>,
    /// Hash table with the index of an entry plus one, or zero. Its length is a power of two.
    slots: Vec<u32>,
}

impl<T: Number> NumberDictionary<T> {
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the content of the dictionary page.
    pub(crate) fn page(&self) -> &[u8] {
        bytes_of(&self.entries)
    }

    pub(crate) fn truncate(&mut self, count: usize) {
        self.entries.truncate(count);
    }

    /// Appends the index of each number.
    pub(crate) fn indices(&mut self, numbers: &[T], out: &mut Vec<u32>) -> Result<(), Full> {
        out.reserve(numbers.len());
        for number in numbers {
            out.push(self.index(*number)?);
        }
        Ok(())
    }

    #[inline(always)]
    fn index(&mut self, number: T) -> Result<u32, Full> {
        if self.entries.len() * 2 >= self.slots.len() {
            self.grow()?;
        }
        let bits = number.bits();
        let mut at = slot(hash(bits, 0), self.slots.len());
        for _ in 0..MOST_PROBES {
            match self.slots[at] as usize {
                0 => {
                    self.entries.push(number);
                    let found = self.entries.len() as u32;
                    self.slots[at] = found;
                    return Ok(found - 1);
                }
                found if self.entries[found - 1].bits() == bits => return Ok(found as u32 - 1),
                _ => at = (at + 1) & (self.slots.len() - 1),
            }
        }
        Err(Full)
    }

    #[cold]
    fn grow(&mut self) -> Result<(), Full> {
        if self.entries.len() * size_of::<T>() >= LARGEST_DICTIONARY {
            return Err(Full);
        }
        let count = (self.slots.len() * 2).max(FEWEST_SLOTS);
        self.slots = vec![0; count];
        for (entry, number) in (1..).zip(&self.entries) {
            let mut at = slot(hash(number.bits(), 0), count);
            while self.slots[at] != 0 {
                at = (at + 1) & (count - 1);
            }
            self.slots[at] = entry;
        }
        Ok(())
    }
}

/// A dictionary of byte strings.
#[derive(Debug, Default)]
pub(crate) struct ByteDictionary {
    /// Content of the dictionary page: lengths and bytes.
    page: Vec<u8>,
    /// Offset in the page and length of the bytes of each entry.
    entries: Vec<(u32, u32)>,
    slots: Vec<Slot>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// Two words that depend on all bytes, and determine values of up to 16 bytes.
    parts: (u64, u64),
    length: u32,
    /// Index of the entry plus one, or zero.
    entry: u32,
}

impl ByteDictionary {
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the content of the dictionary page.
    pub(crate) fn page(&self) -> &[u8] {
        &self.page
    }

    pub(crate) fn entry(&self, index: u32) -> &[u8] {
        let (start, length) = self.entries[index as usize];
        &self.page[start as usize..][..length as usize]
    }

    pub(crate) fn truncate(&mut self, count: usize) {
        self.entries.truncate(count);
        let end = self.entries.last().map_or(0, |(start, length)| start + length);
        self.page.truncate(end as usize);
    }

    #[inline(always)]
    pub(crate) fn index(&mut self, value: &[u8]) -> Result<u32, Full> {
        if self.entries.len() * 2 >= self.slots.len() {
            self.grow();
        }
        let parts = parts(value);
        let mut at = slot(hash(parts.0 ^ value.len() as u64, parts.1), self.slots.len());
        for _ in 0..MOST_PROBES {
            let found = self.slots[at];
            if found.entry == 0 {
                return self.add(value, parts, at);
            }
            if found.parts == parts
                && found.length as usize == value.len()
                && (value.len() <= 16 || self.entry(found.entry - 1) == value)
            {
                return Ok(found.entry - 1);
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
        Err(Full)
    }

    #[inline(never)]
    fn add(&mut self, value: &[u8], parts: (u64, u64), at: usize) -> Result<u32, Full> {
        let length = u32::try_from(value.len()).map_err(|_| Full)?;
        if self.page.len() + 4 + value.len() > LARGEST_DICTIONARY {
            return Err(Full);
        }
        self.page.extend_from_slice(&length.to_le_bytes());
        self.entries.push((self.page.len() as u32, length));
        self.page.extend_from_slice(value);
        let entry = self.entries.len() as u32;
        self.slots[at] = Slot { parts, length, entry };
        Ok(entry - 1)
    }

    #[cold]
    fn grow(&mut self) {
        let count = (self.slots.len() * 2).max(FEWEST_SLOTS);
        for old in std::mem::replace(&mut self.slots, vec![Slot::default(); count]) {
            if old.entry != 0 {
                let mut at = slot(hash(old.parts.0 ^ u64::from(old.length), old.parts.1), count);
                while self.slots[at].entry != 0 {
                    at = (at + 1) & (count - 1);
                }
                self.slots[at] = old;
            }
        }
    }
}

/// Returns two words that depend on all bytes of a value. For values of equal length up to 16 bytes, they are
/// equal only if the values are.
#[inline(always)]
fn parts(value: &[u8]) -> (u64, u64) {
    if let (Some(first), Some(last)) = (value.first_chunk::<8>(), value.last_chunk::<8>()) {
        let (first, last) = (u64::from_le_bytes(*first), u64::from_le_bytes(*last));
        return if value.len() <= 16 { (first, last) } else { (first, long(value)) };
    }
    if let (Some(first), Some(last)) = (value.first_chunk::<4>(), value.last_chunk::<4>()) {
        return (u32::from_le_bytes(*first).into(), u32::from_le_bytes(*last).into());
    }
    match value {
        [] => (0, 0),
        [first, ..] => {
            (u64::from(*first) | u64::from(value[value.len() / 2]) << 8, value[value.len() - 1].into())
        }
    }
}

/// Returns a hash of all bytes of a long value.
fn long(value: &[u8]) -> u64 {
    let (words, _) = value.as_chunks::<8>();
    let last = value.last_chunk::<8>().map_or(0, |last| u64::from_le_bytes(*last));
    words.iter().fold(last, |state, word| hash(u64::from_le_bytes(*word), state))
}

/// Returns a hash of two words.
#[inline(always)]
fn hash(one: u64, other: u64) -> u64 {
    let product =
        u128::from(one ^ 0x9e37_79b9_7f4a_7c15) * u128::from(other.rotate_left(32) ^ 0xd6e8_feb8_6659_fd93);
    (product as u64) ^ (product >> 64) as u64
}

/// Returns the first slot for a hash. `count` is a power of two.
#[inline(always)]
fn slot(hash: u64, count: usize) -> usize {
    hash as usize & (count - 1)
}

/// Whether a dictionary is likely to reduce the size of a chunk, by a sample of its values.
///
/// The number of distinct values is estimated from the repeats in the sample: if values are drawn at random
/// from `n` values, about `sampled² / 2n` pairs in the sample are equal.
pub(crate) fn is_worthwhile(sampled: usize, distinct: usize, values: usize, entry_bytes: usize) -> bool {
    let repeats = sampled - distinct;
    if repeats == 0 {
        return false;
    }
    if sampled >= values {
        return distinct * 4 <= sampled * 3;
    }
    if distinct * 2 <= sampled {
        return true;
    }
    let estimate = (sampled as f64).powi(2) / (2.0 * repeats as f64);
    estimate * entry_bytes as f64 <= 1.5 * LARGEST_DICTIONARY as f64 && estimate <= 0.7 * values as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_by_their_bits() {
        let mut dictionary = NumberDictionary::default();
        let mut indices = Vec::new();
        let numbers = [0.0, -0.0, f64::NAN, 1.5, 0.0, f64::NAN, -0.0];
        dictionary.indices(&numbers, &mut indices).unwrap();
        assert_eq!(indices, [0, 1, 2, 3, 0, 2, 1]);
        let many: Vec<i64> = (0..200_000).collect();
        let mut full = NumberDictionary::default();
        indices.clear();
        assert!(full.indices(&many, &mut indices).is_err());
        assert!(full.len() >= LARGEST_DICTIONARY / 8);
        assert_eq!(indices[..1000], (0..1000).collect::<Vec<u32>>());
    }

    #[test]
    fn texts_of_all_lengths_are_told_apart() {
        let text: Vec<u8> = (0..80).collect();
        let mut dictionary = ByteDictionary::default();
        let mut all = Vec::new();
        for length in 0..=40 {
            for changed in 0..=length {
                let mut value = text[..length].to_vec();
                if let Some(byte) = value.get_mut(changed) {
                    *byte = 200;
                }
                all.push(value);
            }
        }
        for _ in 0..2 {
            for (index, value) in all.iter().enumerate() {
                assert_eq!(dictionary.index(value).unwrap() as usize, index);
                assert_eq!(dictionary.entry(index as u32), value);
            }
        }
        dictionary.truncate(2);
        assert_eq!(dictionary.page(), [0, 0, 0, 0, 1, 0, 0, 0, 200]);
    }

    #[test]
    fn a_sample_tells_whether_values_repeat() {
        assert!(is_worthwhile(16_384, 100, 1 << 20, 8));
        assert!(is_worthwhile(16_384, 15_000, 1 << 20, 8));
        assert!(!is_worthwhile(16_384, 16_300, 1 << 20, 8));
        assert!(!is_worthwhile(16_384, 16_384, 1 << 20, 8));
        assert!(!is_worthwhile(1000, 990, 1000, 8));
        assert!(is_worthwhile(1000, 3, 1000, 8));
    }
}
