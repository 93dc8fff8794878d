//! Counts of the line feeds of text, 64 bytes at a time.

use crate::CpuFeatures;
use crate::levels::compare::{self, Compare, for_each_compare};

/// Counts of the line feeds of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineFeeds {
    /// Number of line feeds.
    pub count: usize,
    /// Number of line feeds that are followed by a blank: a space, a tab, a carriage return or another line
    /// feed.
    pub before_blanks: usize,
}

impl LineFeeds {
    /// Counts the line feeds of a text.
    #[must_use]
    pub fn of(text: &[u8]) -> Self {
        counted_by(CpuFeatures::current(), text)
    }
}

for_each_compare!(fn counted_by(text: &[u8]) -> LineFeeds = counted);

#[inline(always)]
fn counted<C: Compare>(text: &[u8]) -> LineFeeds {
    let (blocks, rest) = text.as_chunks();
    let mut so_far = (LineFeeds::default(), 0);
    for block in blocks {
        add::<C>(block, &mut so_far);
    }
    if !rest.is_empty() {
        let mut block = [0; 64];
        block[..rest.len()].copy_from_slice(rest);
        add::<C>(&block, &mut so_far);
    }
    so_far.0
}

/// Adds the line feeds of a block. The number beside them is 1 after a line feed, otherwise 0. Not a closure,
/// which would not be compiled for the generation.
#[inline(always)]
fn add<C: Compare>(block: &compare::Block, (feeds, is_behind_feed): &mut (LineFeeds, u64)) {
    // SAFETY: `C` is of the generation that this is compiled for.
    let (feed, blank) = unsafe {
        let blank = C::equal(block, b' ') | C::equal(block, b'\t') | C::equal(block, b'\r');
        (C::equal(block, b'\n'), blank)
    };
    let behind = feed << 1 | *is_behind_feed;
    *is_behind_feed = feed >> 63;
    feeds.count += feed.count_ones() as usize;
    feeds.before_blanks += (behind & (feed | blank)).count_ones() as usize;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cpu_counts_what_a_loop_counts() {
        let mut seed = 3_u64;
        for length in (0..200).chain([1 << 12]) {
            let mut next = || {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                b"\n\n \t\rxy\x0b\0"[(seed >> 33) as usize % 9]
            };
            let text: Vec<u8> = (0..length).map(|_| next()).collect();
            let is_blank = |pair: &&[u8]| pair[0] == b'\n' && matches!(pair[1], b'\n' | b' ' | b'\t' | b'\r');
            let wanted = LineFeeds {
                count: text.iter().filter(|byte| **byte == b'\n').count(),
                before_blanks: text.windows(2).filter(is_blank).count(),
            };
            for features in CpuFeatures::available() {
                assert_eq!(counted_by(features, &text), wanted, "{} {text:?}", features.name());
            }
        }
    }
}
