//! Summary of text.

use super::{
    counts::{most_frequent, scaled},
    distinct::DistinctEstimate,
    options::StatsOptions,
    report::{ColumnStats, Counted, FrequentValue, SummaryOf},
    sample::Reservoir,
};
use forthwith_columns::Value;
use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
};

/// Bytes of distinct texts that are kept, on the average.
const MOST_BYTES: usize = 128;
/// Texts of which the most frequent ones are estimated, and the bytes that are kept of each.
const SAMPLE: usize = 4096;
const SAMPLED_BYTES: usize = 64;
/// Bytes of the smallest and the largest text that are kept.
const EXTREME_BYTES: usize = 256;

/// Counts and extremes of texts.
#[derive(Debug)]
pub(super) struct TextSummary {
    count: u64,
    extremes: Option<[Vec<u8>; 2]>,
    kept: Kept,
    bytes: usize,
    /// Distinct texts that are counted exactly.
    most: usize,
    sample: Reservoir<Vec<u8>>,
    is_binary: bool,
}

#[derive(Debug)]
enum Kept {
    Exact(HashMap<Vec<u8>, u64>),
    Estimate(DistinctEstimate),
}

impl TextSummary {
    pub(super) fn new(is_binary: bool, most: usize) -> Self {
        let (kept, sample) = (Kept::Exact(HashMap::new()), Reservoir::new(SAMPLE));
        Self { count: 0, extremes: None, kept, bytes: 0, most, sample, is_binary }
    }

    pub(super) fn add(&mut self, text: &[u8]) {
        self.count += 1;
        let cut = &text[..text.len().min(EXTREME_BYTES)];
        match &mut self.extremes {
            None => self.extremes = Some([cut.to_vec(), cut.to_vec()]),
            Some([low, _]) if cut < &low[..] => *low = cut.to_vec(),
            Some([_, high]) if cut > &high[..] => *high = cut.to_vec(),
            Some(_) => {}
        }
        self.sample.offer(1, |_| text[..text.len().min(SAMPLED_BYTES)].to_vec());
        match &mut self.kept {
            Kept::Estimate(estimate) => estimate.add(hash(text)),
            Kept::Exact(counts) => {
                if let Some(count) = counts.get_mut(text) {
                    *count += 1;
                    return;
                }
                self.bytes += text.len();
                counts.insert(text.to_vec(), 1);
                if counts.len() > self.most || self.bytes > self.most.saturating_mul(MOST_BYTES) {
                    let mut estimate = DistinctEstimate::new();
                    counts.keys().for_each(|text| estimate.add(hash(text)));
                    self.kept = Kept::Estimate(estimate);
                }
            }
        }
    }

    pub(super) fn finish(
        self,
        path: String,
        of: SummaryOf,
        missing: u64,
        options: &StatsOptions,
    ) -> ColumnStats {
        let spelled = |text: &[u8]| match self.is_binary {
            true => Value::Bytes(text.to_vec()),
            false => Value::String(String::from_utf8_lossy(text).into_owned()),
        };
        let (distinct, frequent, is_exact) = match self.kept {
            Kept::Exact(counts) => {
                let distinct = Counted { count: counts.len() as u64, is_exact: true };
                (distinct, most_frequent(counts.into_iter().collect(), options.top), true)
            }
            Kept::Estimate(estimate) => {
                let distinct = Counted { count: estimate.count(), is_exact: false };
                (distinct, scaled(&self.sample, options.top, Vec::clone), false)
            }
        };
        let frequent = frequent.into_iter();
        let frequent = frequent.map(|(text, count)| FrequentValue { value: spelled(&text), count }).collect();
        let [min, max] = self.extremes.map_or([None, None], |both| both.map(|text| Some(spelled(&text))));
        ColumnStats {
            path,
            of,
            kind: if self.is_binary { "bytes" } else { "string" }.into(),
            count: self.count,
            missing,
            nan: None,
            min,
            max,
            mean: None,
            deviation: None,
            quantiles: Vec::new(),
            quantiles_are_exact: true,
            distinct: Some(distinct),
            frequent,
            frequent_is_exact: is_exact,
        }
    }
}

fn hash(text: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
