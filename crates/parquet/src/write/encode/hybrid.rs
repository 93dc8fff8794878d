//! RLE/bit-packed hybrid encoding of small integers: definition levels and dictionary indexes.

use arrow_buffer::BooleanBuffer;

/// Appends numbers of `width` bits, which is at most 32.
pub(crate) fn append_numbers(out: &mut Vec<u8>, numbers: &[u32], width: u32) {
    // `packed` is the start of the numbers that are not written yet; bit-packed runs consist of groups of
    // eight.
    let (mut packed, mut at) = (0, 0);
    while let Some((group, _)) = numbers[at..].split_first_chunk::<8>() {
        let first = group[0];
        if group.iter().fold(0, |differences, number| differences | (number ^ first)) != 0 {
            at += 8;
            continue;
        }
        let same = numbers[at..].iter().take_while(|number| **number == first).count();
        append_packed(out, &numbers[packed..at], width);
        append_repeated(out, same, first, width);
        at += same;
        packed = at;
    }
    append_packed(out, &numbers[packed..], width);
}

/// Appends an RLE run: a number and its count.
fn append_repeated(out: &mut Vec<u8>, count: usize, number: u32, width: u32) {
    varint(out, (count as u64) << 1);
    out.extend_from_slice(&number.to_le_bytes()[..width.div_ceil(8) as usize]);
}

/// Appends a bit-packed run of groups of eight numbers, the last one padded with zeros.
fn append_packed(out: &mut Vec<u8>, numbers: &[u32], width: u32) {
    if numbers.is_empty() {
        return;
    }
    let groups = numbers.len().div_ceil(8);
    varint(out, (groups as u64) << 1 | 1);
    // A group is written as 32 bytes; the next group overwrites the excess.
    let (mut at, size) = (out.len(), width as usize);
    out.resize(at + groups * size + 32, 0);
    let (whole, rest) = numbers.as_chunks::<8>();
    for group in whole {
        out[at..at + 32].copy_from_slice(&pack(group, width));
        at += size;
    }
    if !rest.is_empty() {
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        out[at..at + 32].copy_from_slice(&pack(&last, width));
        at += size;
    }
    out.truncate(at);
}

/// Packs eight numbers of `width` bits into the first `width` bytes.
#[inline(always)]
fn pack(group: &[u32; 8], width: u32) -> [u8; 32] {
    let two = |at: usize| u64::from(group[at]) | u64::from(group[at + 1]) << width;
    let four = |at: usize| u128::from(two(at)) | u128::from(two(at + 2)) << (2 * width);
    let (low, high) = (four(0), four(4));
    let mut bytes = [0; 32];
    bytes[..16].copy_from_slice(&(low | high.checked_shl(4 * width).unwrap_or(0)).to_le_bytes());
    if width > 16 {
        bytes[16..].copy_from_slice(&(high >> (128 - 4 * width)).to_le_bytes());
    }
    bytes
}

/// Appends one-bit levels.
pub(crate) fn append_bits(out: &mut Vec<u8>, bits: &BooleanBuffer) {
    let chunks = bits.bit_chunks();
    let words = chunks.iter().chain((chunks.remainder_len() > 0).then(|| chunks.remainder_bits()));
    let mut writer = BitRuns { out, packed: Vec::new(), repeated: (0, 0) };
    let mut left = bits.len();
    for word in words {
        let count = left.min(64);
        writer.push(word, count);
        left -= count;
    }
    writer.end();
}

/// Appends `count` equal one-bit levels.
pub(crate) fn append_equal_bits(out: &mut Vec<u8>, bit: bool, count: usize) {
    append_repeated(out, count, bit.into(), 1);
}

/// Encoder of one-bit levels, in words of 64 bits.
struct BitRuns<'a> {
    out: &'a mut Vec<u8>,
    /// Words of the bit-packed run before the RLE run.
    packed: Vec<u64>,
    /// The RLE run: its word (all bits 0 or 1) and its length in bits.
    repeated: (u64, usize),
}

impl BitRuns<'_> {
    /// Appends the lower `count` bits of a word. Only the last word may have fewer than 64.
    fn push(&mut self, word: u64, count: usize) {
        let all = u64::MAX >> (64 - count);
        if word != 0 && word != all {
            self.end_repeated();
            self.packed.push(word);
            return;
        }
        let word = if word == 0 { 0 } else { u64::MAX };
        if self.repeated.1 > 0 && self.repeated.0 != word {
            self.end_repeated();
        }
        self.repeated = (word, self.repeated.1 + count);
    }

    fn end_repeated(&mut self) {
        let (word, count) = std::mem::take(&mut self.repeated);
        if count > 0 {
            self.end_packed();
            append_repeated(self.out, count, (word & 1) as u32, 1);
        }
    }

    fn end_packed(&mut self) {
        if !self.packed.is_empty() {
            varint(self.out, (self.packed.len() as u64 * 8) << 1 | 1);
            self.out.extend(self.packed.drain(..).flat_map(u64::to_le_bytes));
        }
    }

    fn end(mut self) {
        self.end_repeated();
        self.end_packed();
    }
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hybrid::Hybrid;

    /// Returns pseudo-random numbers below a bound, some of them in runs.
    fn numbers(seed: u64, count: usize, bound: u64) -> Vec<u32> {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state >> 11
        };
        let mut made = Vec::new();
        while made.len() < count {
            let run = if next() % 4 == 0 { next() % 40 } else { 1 };
            made.extend(std::iter::repeat_n((next() % bound) as u32, run as usize));
        }
        made.truncate(count);
        made
    }

    #[test]
    fn numbers_of_all_widths_come_back() {
        for width in 0..=32 {
            for count in [0, 1, 7, 8, 9, 63, 64, 65, 1000] {
                let wanted = numbers(count as u64 + 1, count, 1 << width);
                let mut bytes = b"before".to_vec();
                append_numbers(&mut bytes, &wanted, width);
                let mut found = vec![0; count];
                Hybrid::new(&bytes[6..], width).unwrap().numbers(&mut found).unwrap();
                assert_eq!(found, wanted, "{count} of {width} bits");
            }
        }
    }

    #[test]
    fn bits_come_back() {
        for count in [0, 1, 7, 63, 64, 65, 128, 1000, 5000] {
            for bound in [2, 50] {
                let wanted: Vec<u8> =
                    numbers(count as u64, count, bound).iter().map(|n| (*n == 0).into()).collect();
                for skipped in [0, count / 3] {
                    let bits: BooleanBuffer = wanted.iter().map(|bit| *bit == 1).collect();
                    let bits = bits.slice(skipped, count - skipped);
                    let mut bytes = Vec::new();
                    append_bits(&mut bytes, &bits);
                    let mut found = vec![7; bits.len()];
                    let same = Hybrid::new(&bytes, 1).unwrap().levels(&mut found).unwrap();
                    found = same.map_or(found, |level| vec![level; count - skipped]);
                    assert_eq!(found, wanted[skipped..], "{count} from {skipped}");
                }
            }
        }
    }
}
