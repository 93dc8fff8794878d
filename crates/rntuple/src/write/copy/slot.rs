//! Elements of one column that are collected for a cluster, and their pages.

use super::stored::{Chunk, Codecs};
use crate::coding::{Kind, Stored};
use crate::numbers::too_few;
use crate::write::offset_columns::encode_ends;
use crate::write::sealed::Sealed;
use forthwith_columns::kernels::{Planes, to_planes};
use forthwith_plan::{Error, Result};
use forthwith_root::write::Compression;

/// Elements of a column that were taken from clusters so far.
#[derive(Debug, Default)]
pub(super) struct Slot {
    pub(super) count: u64,
    /// Ends of lists, in native byte order.
    pub(super) ends: Vec<[u8; 8]>,
    /// All other elements, contiguous from the lowest bit of the first byte.
    bytes: Vec<u8>,
}

/// Maximum size of a page before compression in bytes, as in ROOT.
const PAGE: u64 = 1 << 20;

/// Returns the maximum number of elements in a page, a multiple of 8.
pub(super) fn most(bits: u16) -> u64 {
    (PAGE * 8 / u64::from(bits.max(1))).max(8) & !7
}

impl Slot {
    /// Returns the size of the elements in bytes.
    pub(super) fn size(&self) -> u64 {
        (self.bytes.len() + 8 * self.ends.len()) as u64
    }

    /// Appends the end of a list.
    pub(super) fn end(&mut self, end: u64) {
        self.ends.push(end.to_ne_bytes());
        self.count += 1;
    }

    /// Appends elements of `bits` bits.
    pub(super) fn append(&mut self, chunk: &Chunk<'_>, bits: u16) -> Result<()> {
        let each = u64::from(bits);
        match chunk {
            Chunk::Zeros(count) => {
                self.count += count;
                let bytes = self.count.saturating_mul(each).div_ceil(8);
                self.bytes.resize(usize::try_from(bytes).unwrap_or(usize::MAX), 0);
            }
            Chunk::Page(wanted, page) => {
                let range = wanted.start as u64 * each..wanted.end as u64 * each;
                let used = self.count * each;
                let bytes = (range.start / 8) as usize..range.end.div_ceil(8) as usize;
                let from = page.get(bytes).ok_or_else(too_few)?;
                if used.is_multiple_of(8) && range.start.is_multiple_of(8) && range.end.is_multiple_of(8) {
                    self.bytes.extend_from_slice(from);
                } else {
                    append_bits(&mut self.bytes, used, from, range.start % 8, range.end - range.start);
                }
                self.count += wanted.len() as u64;
            }
        }
        Ok(())
    }

    /// Appends the element of a variant: the index of the value among those of its alternative, and the
    /// alternative, from 1.
    pub(super) fn switch(&mut self, at: u64, alternative: u32) {
        self.bytes.extend(at.to_le_bytes());
        self.bytes.extend(alternative.to_le_bytes());
        self.count += 1;
    }

    /// Encodes all elements to pages, and removes them.
    pub(super) fn pages(
        &mut self,
        stored: &Stored,
        compression: Compression,
        codecs: &mut Codecs,
    ) -> Result<Vec<Sealed>> {
        let (most, width) = (most(stored.bits) as usize, usize::from(stored.bits) / 8);
        let mut pages = Vec::new();
        let mut payload = Vec::new();
        for ends in self.ends.chunks(most) {
            encode_ends(stored.kind, ends, &mut payload)?;
            pages.push(codecs.compressed(compression, ends.len() as u32, &payload)?);
        }
        let mut left = self.count - self.ends.len() as u64;
        for part in self.bytes.chunks((most * usize::from(stored.bits) / 8).max(1)) {
            let elements = left.min(most as u64);
            left -= elements;
            let part = match stored.kind {
                Kind::Split(_) | Kind::Zigzag(_) | Kind::SplitHalf if width > 1 => {
                    payload.resize(part.len(), 0);
                    to_planes(Planes::Plain, width, part, &mut payload)
                        .map_err(|_| Error::fault("elements that are not whole"))?;
                    &payload[..]
                }
                _ => part,
            };
            pages.push(codecs.compressed(compression, elements as u32, part)?);
        }
        *self = Self::default();
        Ok(pages)
    }
}

/// Appends `count` bits of `from`, from bit `start` on, after the first `used` bits of `into`.
fn append_bits(into: &mut Vec<u8>, used: u64, from: &[u8], start: u64, count: u64) {
    let bit = |at: u64| from.get((at / 8) as usize).map_or(0, |byte| byte >> (at % 8) & 1);
    let byte = |at: usize| u16::from(from.get(at).copied().unwrap_or(0));
    let mut done = 0;
    while done < count {
        let (to, at) = (used + done, start + done);
        if to.is_multiple_of(8) && count - done >= 8 {
            let both = byte((at / 8) as usize) | byte((at / 8) as usize + 1) << 8;
            into.push((both >> (at % 8)) as u8);
            done += 8;
            continue;
        }
        if to.is_multiple_of(8) {
            into.push(0);
        }
        if let Some(last) = into.last_mut() {
            *last |= bit(at) << (to % 8);
        }
        done += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Elements of any width, taken from several ranges of a page, are contiguous.
    #[test]
    fn elements_of_any_number_of_bits_follow_each_other() {
        let page: Vec<u8> = (0..400u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 11) as u8).collect();
        let bit = |bytes: &[u8], at: usize| bytes[at / 8] >> (at % 8) & 1;
        for bits in (1..=32u16).chain([64, 96]) {
            let mut slot = Slot::default();
            let mut expected = Vec::new();
            for range in [3..4, 5..5, 7..20, 20..21, 0..33, 1..2] {
                slot.append(&Chunk::Page(range.clone(), &page), bits).unwrap();
                let each = usize::from(bits);
                expected.extend((range.start * each..range.end * each).map(|at| bit(&page, at)));
                slot.append(&Chunk::Zeros(2), bits).unwrap();
                expected.extend(vec![0; 2 * each]);
            }
            assert_eq!(slot.count as usize * usize::from(bits), expected.len());
            assert_eq!(slot.bytes.len(), expected.len().div_ceil(8));
            let found: Vec<u8> = (0..expected.len()).map(|at| bit(&slot.bytes, at)).collect();
            assert_eq!(found, expected, "{bits} bits");
            assert!(slot.append(&Chunk::Page(0..3300, &page), bits).is_err());
        }
    }
}
