//! Validity of the rows of an option: a bit for each row, in place of an int64 index.

use std::sync::OnceLock;

/// Rows, some of which may be missing. The present rows are the rows of the content, in order.
#[derive(Clone, Default)]
pub struct Presence {
    rows: usize,
    there: usize,
    /// A bit for each row, least significant first, with zeros after the last row. Empty if all rows are
    /// present.
    words: Vec<u64>,
    /// The int64 index, computed on first access.
    index: OnceLock<Box<[i64]>>,
}

const BITS: usize = u64::BITS as usize;

impl Presence {
    /// Makes `rows` rows that are all present.
    #[must_use]
    pub fn complete(rows: usize) -> Self {
        Self { rows, there: rows, ..Self::default() }
    }

    /// Makes `rows` rows that are all missing.
    #[must_use]
    pub fn missing(rows: usize) -> Self {
        Self { rows, words: vec![0; rows.div_ceil(BITS)], ..Self::default() }
    }

    /// Number of rows.
    #[must_use]
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// Number of present rows, which is the number of rows of the content.
    #[must_use]
    pub const fn there(&self) -> usize {
        self.there
    }

    /// Whether no row is missing.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        self.rows == self.there
    }

    /// Removes all rows.
    pub fn clear(&mut self) {
        self.truncate(0);
    }

    /// Keeps the first `rows` rows.
    pub(crate) fn truncate(&mut self, rows: usize) {
        let rows = rows.min(self.rows);
        self.index.take();
        self.rows = rows;
        if self.words.is_empty() {
            self.there = rows;
            return;
        }
        self.words.truncate(rows.div_ceil(BITS));
        if let Some(last) = self.words.last_mut().filter(|_| !rows.is_multiple_of(BITS)) {
            *last &= low(rows % BITS);
        }
        self.there = self.words.iter().map(|word| word.count_ones() as usize).sum();
        if self.is_complete() {
            self.words.clear();
        }
    }

    /// Appends a row for each one bit of `slots`; it is present if `items` has the same bit set.
    pub fn extend(&mut self, slots: &[u64], items: &[u64]) {
        for (&slots, &items) in slots.iter().zip(items) {
            match slots {
                u64::MAX => self.push(items, BITS),
                _ => self.push(gathered(items & slots, slots), slots.count_ones() as usize),
            }
        }
    }

    /// Appends the rows of `other`.
    pub fn append(&mut self, other: &Self) {
        if other.is_complete() && self.is_complete() {
            self.index.take();
            self.rows += other.rows;
            self.there += other.there;
            return;
        }
        for (word, rows) in other.words() {
            self.push(word, rows);
        }
    }

    /// Appends `rows` rows, at most 64, from the least significant bit; higher bits must be zero.
    fn push(&mut self, bits: u64, rows: usize) {
        self.index.take();
        let there = bits.count_ones() as usize;
        if self.is_complete() {
            if there == rows {
                self.rows += rows;
                self.there += rows;
                return;
            }
            self.words = vec![u64::MAX; self.rows / BITS];
            if !self.rows.is_multiple_of(BITS) {
                self.words.push(low(self.rows % BITS));
            }
        }
        let used = self.rows % BITS;
        match self.words.last_mut().filter(|_| used > 0) {
            Some(last) => {
                *last |= bits << used;
                if used + rows > BITS {
                    self.words.push(bits >> (BITS - used));
                }
            }
            None if rows > 0 => self.words.push(bits),
            None => {}
        }
        self.rows += rows;
        self.there += there;
    }

    /// Returns a range of the rows, and the range of rows of the content that they refer to.
    pub(crate) fn part(&self, rows: std::ops::Range<usize>) -> (Self, std::ops::Range<usize>) {
        let end = rows.end.min(self.rows);
        let start = rows.start.min(end);
        if self.is_complete() {
            return (Self::complete(end - start), start..end);
        }
        let word = |at: usize| self.words.get(at).copied().unwrap_or(0);
        let whole =
            self.words.iter().take(start / BITS).map(|word| word.count_ones() as usize).sum::<usize>();
        let before = whole + (word(start / BITS) & low(start % BITS)).count_ones() as usize;
        let mut part = Self::default();
        for at in (start..end).step_by(BITS) {
            let (first, shift) = (at / BITS, at % BITS);
            let above = if shift == 0 { 0 } else { word(first + 1) << (BITS - shift) };
            let count = (end - at).min(BITS);
            part.push((word(first) >> shift | above) & low(count), count);
        }
        let there = part.there;
        (part, before..before + there)
    }

    /// Iterates over words of 64 rows: their bits, and the number of rows in the word.
    pub(crate) fn words(&self) -> impl Iterator<Item = (u64, usize)> {
        (0..self.rows).step_by(BITS).map(|at| {
            let rows = (self.rows - at).min(BITS);
            (self.words.get(at / BITS).copied().unwrap_or_else(|| low(rows)), rows)
        })
    }

    /// Converts an index with negative items for missing rows; `None` unless its other items are 0 to `there`
    /// - 1, in order.
    pub(crate) fn of(index: &[i64], there: usize) -> Option<Self> {
        let mut found = Self::default();
        let mut next = 0;
        for some in index.chunks(BITS) {
            let mut bits = 0;
            let mut wrong = 0;
            for (row, at) in some.iter().enumerate() {
                let is_there = u64::from(*at >= 0);
                bits |= is_there << row;
                wrong |= (at ^ next) & -(is_there.cast_signed());
                next += is_there.cast_signed();
            }
            if wrong != 0 {
                return None;
            }
            found.push(bits, some.len());
        }
        (found.there == there).then_some(found)
    }

    /// Returns the index: the row of the content for each row, and -1 for missing rows.
    pub(crate) fn index(&self) -> &[i64] {
        self.index.get_or_init(|| {
            if self.is_complete() {
                return (0_i64..).take(self.rows).collect();
            }
            let mut index = Vec::with_capacity(self.rows);
            let mut next = 0_i64;
            for (word, rows) in self.words() {
                if word == u64::MAX {
                    index.extend(next..next + 64);
                } else {
                    let mut at = next;
                    index.extend((0..rows).map(|row| {
                        let is_there = (word >> row & 1).cast_signed();
                        let item = (at + 1) * is_there - 1;
                        at += is_there;
                        item
                    }));
                }
                next += i64::from(word.count_ones());
            }
            index.into()
        })
    }
}

/// Mask of the `bits` least significant bits, at most 64.
const fn low(bits: usize) -> u64 {
    if bits >= BITS { u64::MAX } else { (1 << bits) - 1 }
}

/// Compresses the bits of `bits` at the ones of `mask` to the least significant end. Halves the distances in
/// six steps (Hacker's Delight, 7-4), as not all processors have an instruction for it.
fn gathered(mut bits: u64, mut mask: u64) -> u64 {
    if mask == low(mask.trailing_ones() as usize) {
        return bits;
    }
    let mut zeros = !mask << 1;
    for step in 0..6 {
        // Whether the number of zeros in the mask below each bit is odd.
        let mut odd = zeros;
        for shift in 0..6 {
            odd ^= odd << (1 << shift);
        }
        let moved = odd & mask;
        mask = (mask ^ moved) | moved >> (1 << step);
        let some = bits & moved;
        bits = (bits ^ some) | some >> (1 << step);
        zeros &= !odd;
    }
    bits
}

impl std::fmt::Debug for Presence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Presence({} of {})", self.there, self.rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a pseudo-random number generator.
    fn random() -> impl FnMut() -> u64 {
        let mut state = 1_u64;
        move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        }
    }

    #[test]
    fn bits_are_gathered_one_by_one() {
        let mut next = random();
        for round in 0..1000 {
            let mut mask = next();
            for _ in 0..round % 5 {
                mask &= next();
            }
            let bits = next() & mask;
            let ones = (0..64).filter(|bit| mask >> bit & 1 == 1);
            let expected = ones.zip(0..).fold(0, |all, (bit, at)| all | (bits >> bit & 1) << at);
            assert_eq!(gathered(bits, mask), expected, "{bits:x} {mask:x}");
        }
        assert_eq!(gathered(0, 0), 0);
        assert_eq!(gathered(5, u64::MAX), 5);
    }

    #[test]
    fn rows_are_those_that_were_appended() {
        let mut next = random();
        for dense in 0..4 {
            let mut rows = Presence::default();
            let mut expected: Vec<bool> = Vec::new();
            for step in 0..200 {
                let slots: Vec<u64> = (0..next() % 4).map(|_| next() | (next() * (step % 2))).collect();
                let items: Vec<u64> = slots
                    .iter()
                    .map(|slots| (0..dense).fold(slots & next(), |items, _| items | slots & next()))
                    .map(|items| if dense == 3 && step < 60 { u64::MAX } else { items })
                    .collect();
                let mut some = Presence::default();
                some.extend(&slots, &items);
                for (slots, items) in slots.iter().zip(&items) {
                    let bits = (0..64).filter(|bit| slots >> bit & 1 == 1);
                    expected.extend(bits.map(|bit| items >> bit & 1 == 1));
                }
                match step % 3 {
                    0 => rows.append(&some),
                    _ => rows.extend(&slots, &items),
                }
            }
            let check = |rows: &Presence, expected: &[bool]| {
                let mut at = -1;
                let index: Vec<i64> = expected
                    .iter()
                    .map(|there| {
                        at += i64::from(*there);
                        if *there { at } else { -1 }
                    })
                    .collect();
                assert_eq!(rows.index(), index);
                assert_eq!(rows.rows(), expected.len());
                assert_eq!(rows.there(), expected.iter().filter(|there| **there).count());
                let again = Presence::of(&index, rows.there()).unwrap();
                assert_eq!(again.words().collect::<Vec<_>>(), rows.words().collect::<Vec<_>>());
            };
            check(&rows, &expected);
            for (start, end) in [(0, 0), (0, 64), (1, 65), (63, 130), (64, 128), (100, expected.len())] {
                let (part, inner) = rows.part(start..end);
                let before = expected[..start].iter().filter(|there| **there).count();
                assert_eq!(inner, before..before + part.there());
                check(&part, &expected[start..end]);
            }
            for cut in [1, 63, 64, 65] {
                expected.truncate(expected.len().saturating_sub(cut));
                rows.truncate(expected.len());
                check(&rows, &expected);
            }
            rows.clear();
            check(&rows, &[]);
        }
    }

    #[test]
    fn an_index_out_of_order_has_no_bits() {
        for (index, there) in [(&[0, 2][..], 2), (&[1, 0], 2), (&[0, 0], 1), (&[0, 1], 3), (&[-1, 1], 1)] {
            assert!(Presence::of(index, there).is_none(), "{index:?}");
        }
        assert!(Presence::of(&[-1, 0, -5, 1], 2).is_some());
        assert!(Presence::of(&[], 0).is_some());
    }
}
