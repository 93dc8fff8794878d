//! Uniform samples, and the random numbers for them.

use std::collections::HashSet;

/// SplitMix64 random number generator, which gives the same numbers on all machines and in all versions.
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.0)
    }

    /// Returns a uniformly distributed number below `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        // Numbers in the last, incomplete interval are rejected.
        let last = u64::MAX - u64::MAX % end.max(1);
        loop {
            let drawn = self.next();
            if drawn < last {
                return drawn % end.max(1);
            }
        }
    }

    /// Returns a uniformly distributed number above 0 and below 1.
    pub(crate) fn fraction(&mut self) -> f64 {
        ((self.next() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }
}

/// Mixes the bits of a number, so that each depends on all.
pub(super) const fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ (number >> 31)
}

/// Draws `count` of `entries` entries without replacement, in ascending order; all, if there are no more. The
/// distribution over sets is uniform, and the seed determines the set.
///
/// ```
/// let drawn = forthwith::sample_entries(1_000_000, 3, 7);
/// assert_eq!(drawn, forthwith::sample_entries(1_000_000, 3, 7));
/// assert_eq!(forthwith::sample_entries(2, 3, 7), [0, 1]);
/// ```
#[must_use]
pub fn sample_entries(entries: u64, count: u64, seed: u64) -> Vec<u64> {
    if count >= entries {
        return (0..entries).collect();
    }
    let mut random = Random::new(seed);
    // Floyd's algorithm draws one number for each entry. If most entries are drawn, the ones to leave out are
    // drawn instead.
    let drawn = count.min(entries - count);
    let mut set = HashSet::new();
    for last in entries - drawn..entries {
        let at = random.below(last + 1);
        if !set.insert(at) {
            set.insert(last);
        }
    }
    if drawn < count {
        return (0..entries).filter(|entry| !set.contains(entry)).collect();
    }
    let mut drawn: Vec<u64> = set.into_iter().collect();
    drawn.sort_unstable();
    drawn
}

/// Uniform sample of values whose number is not known in advance.
#[derive(Clone, Debug)]
pub(super) struct Reservoir<T> {
    values: Vec<T>,
    room: usize,
    random: Random,
    seen: u64,
    /// Number of the next value that is taken, once the sample is full.
    next: u64,
    weight: f64,
}

impl<T> Reservoir<T> {
    pub(crate) fn new(room: usize) -> Self {
        Self { values: Vec::new(), room, random: Random::new(room as u64), seen: 0, next: 0, weight: 1.0 }
    }

    /// Offers `count` values; `value` returns those that are taken, by position.
    pub(crate) fn offer(&mut self, count: u64, mut value: impl FnMut(u64) -> T) {
        let before = self.seen;
        self.seen += count;
        let filling = (self.room - self.values.len()).min(usize::try_from(count).unwrap_or(usize::MAX));
        if filling > 0 {
            self.values.extend((0..filling as u64).map(&mut value));
            if self.values.len() == self.room {
                self.next = before + filling as u64 - 1;
                self.skip();
            }
        }
        while self.values.len() == self.room && self.next < self.seen {
            let at = self.random.below(self.room as u64) as usize;
            self.values[at] = value(self.next - before);
            self.skip();
        }
    }

    /// Li's algorithm L: draws the number of skipped values from its known distribution.
    fn skip(&mut self) {
        self.weight *= (self.random.fraction().ln() / self.room as f64).exp();
        let passed = (self.random.fraction().ln() / (-self.weight).ln_1p()).floor();
        let passed = if passed.is_finite() && passed >= 0.0 { passed as u64 } else { u64::MAX / 4 };
        self.next = self.next.saturating_add(passed).saturating_add(1);
    }

    /// Whether the sample has all values.
    pub(crate) fn is_complete(&self) -> bool {
        self.seen <= self.room as u64
    }

    pub(crate) const fn seen(&self) -> u64 {
        self.seen
    }

    pub(crate) fn values(&self) -> &[T] {
        &self.values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_uniform() {
        let mut hits = [0_u32; 20];
        for seed in 0..4000 {
            for entry in sample_entries(20, 5, seed) {
                hits[entry as usize] += 1;
            }
        }
        // 1000 are expected, with a standard deviation of 27.
        assert!(hits.iter().all(|hits| hits.abs_diff(1000) < 140), "{hits:?}");
        assert_eq!(sample_entries(10, 9, 1).len(), 9);
        assert_eq!(sample_entries(0, 9, 1), Vec::<u64>::new());
    }

    #[test]
    fn reservoirs_are_uniform_however_values_come() {
        let mut hits = vec![0_u32; 100];
        for seed in 0..3000 {
            let mut reservoir = Reservoir { random: Random::new(seed), ..Reservoir::new(10) };
            let mut first = 0;
            for count in [3, 1, 40, 0, 56] {
                reservoir.offer(count, |at| first + at);
                first += count;
            }
            assert_eq!((reservoir.values().len(), reservoir.seen()), (10, 100));
            for value in reservoir.values() {
                hits[*value as usize] += 1;
            }
        }
        // 300 are expected, with a standard deviation of 16.
        assert!(hits.iter().all(|hits| hits.abs_diff(300) < 90), "{hits:?}");
    }
}
