//! Counts of distinct values: exact for few, estimated for many.

use super::{
    distinct::DistinctEstimate,
    report::Counted,
    sample::{Reservoir, mix},
};
use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hasher},
};

/// Counts of numbers, by their bits.
#[derive(Debug)]
pub(super) struct Counts {
    kept: Kept,
    /// Maximum number of distinct values that are counted exactly.
    most: usize,
    /// Last number, and how often it occurred in a row.
    run: (u64, u64),
}

#[derive(Debug)]
enum Kept {
    /// 8-bit numbers.
    Bytes(Box<[u64; 256]>),
    Exact(HashMap<u64, u64, BuildHasherDefault<Mixing>>),
    Estimate(DistinctEstimate),
}

/// Hashes numbers.
#[derive(Debug, Default)]
pub(super) struct Mixing(u64);

impl Hasher for Mixing {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = mix(self.0 ^ u64::from(*byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = mix(number);
    }
}

impl Counts {
    /// Makes empty counts, of 8-bit or other numbers.
    pub(super) fn new(are_bytes: bool, most: usize) -> Self {
        let kept = if are_bytes { Kept::Bytes(Box::new([0; 256])) } else { Kept::Exact(HashMap::default()) };
        Self { kept, most, run: (0, 0) }
    }

    pub(super) fn add(&mut self, numbers: impl Iterator<Item = u64>) {
        match &mut self.kept {
            Kept::Bytes(counts) => numbers.for_each(|number| counts[(number & 0xff) as usize] += 1),
            Kept::Estimate(estimate) => numbers.for_each(|number| estimate.add(number)),
            Kept::Exact(_) => numbers.for_each(|number| {
                if self.run.0 == number {
                    self.run.1 += 1;
                } else {
                    self.flush();
                    self.run = (number, 1);
                }
            }),
        }
    }

    fn flush(&mut self) {
        let (number, times) = std::mem::take(&mut self.run);
        if times == 0 {
            return;
        }
        match &mut self.kept {
            Kept::Exact(counts) => {
                *counts.entry(number).or_default() += times;
                if counts.len() > self.most {
                    let mut estimate = DistinctEstimate::new();
                    counts.keys().for_each(|number| estimate.add(*number));
                    self.kept = Kept::Estimate(estimate);
                }
            }
            Kept::Estimate(estimate) => estimate.add(number),
            Kept::Bytes(counts) => counts[(number & 0xff) as usize] += times,
        }
    }

    /// Returns the number of distinct values, the most frequent ones with their counts, and whether these are
    /// exact; otherwise they are estimated from a sample.
    pub(super) fn finish(mut self, top: usize, sample: &Reservoir<u64>) -> (Counted, Vec<(u64, u64)>, bool) {
        self.flush();
        let counts: Vec<(u64, u64)> = match self.kept {
            Kept::Bytes(counts) => (0..).zip(*counts).filter(|(_, count)| *count > 0).collect(),
            Kept::Exact(counts) => counts.into_iter().collect(),
            Kept::Estimate(estimate) => {
                let count = Counted { count: estimate.count(), is_exact: false };
                return (count, scaled(sample, top, |number| *number), false);
            }
        };
        let count = Counted { count: counts.len() as u64, is_exact: true };
        (count, most_frequent(counts, top), true)
    }
}

/// Returns the most frequent values of a sample, with their counts scaled to all values. Values that occur
/// only a few times are left out.
pub(super) fn scaled<T, K: Ord + std::hash::Hash + Clone>(
    sample: &Reservoir<T>,
    top: usize,
    key: impl Fn(&T) -> K,
) -> Vec<(K, u64)> {
    const FEW: u64 = 10;
    let mut counts: HashMap<K, u64> = HashMap::new();
    sample.values().iter().for_each(|value| *counts.entry(key(value)).or_default() += 1);
    let frequent = counts.into_iter().filter(|(_, count)| *count >= FEW).collect();
    let all = sample.seen() as f64 / (sample.values().len() as f64).max(1.0);
    let scale = |(value, count): (K, u64)| (value, (count as f64 * all).round() as u64);
    most_frequent(frequent, top).into_iter().map(scale).collect()
}

/// Returns the most frequent values, most frequent first, and those of equal counts in ascending order.
pub(crate) fn most_frequent<K: Ord>(mut counts: Vec<(K, u64)>, top: usize) -> Vec<(K, u64)> {
    counts.sort_unstable_by(|(left, count), (right, other)| other.cmp(count).then_with(|| left.cmp(right)));
    counts.truncate(top);
    counts
}
