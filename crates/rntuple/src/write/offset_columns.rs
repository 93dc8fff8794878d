//! Encodes ends of lists from the offsets of arrays.

use super::elements::changed;
use crate::coding::Kind;
use forthwith_columns::kernels::{Planes, differences_to_planes, rebase, to_planes};
use forthwith_plan::{Error, Result};

/// Borrowed offsets of an array for a whole page of ends. They are checked when the page is encoded, since
/// they may have changed.
#[derive(Debug)]
pub(crate) struct LentEnds<'a> {
    offsets: &'a [[u8; 8]],
    /// Number to add to the offsets.
    more: u64,
    /// End before the first one.
    before: u64,
    /// Last end.
    pub(crate) last: u64,
}

/// Exclusive upper bound on differences whose sum, over as many as a page may have, cannot overflow.
const LARGEST: u64 = 1 << 36;
const MOST: usize = 1 << 27;

impl<'a> LentEnds<'a> {
    /// Borrows offsets as ends after the end `before`, or returns `None` if a page of this kind cannot be
    /// encoded from them.
    pub(crate) fn of(kind: Kind, offsets: &'a [[u8; 8]], more: u64, before: u64) -> Option<Self> {
        let last = more.wrapping_add(u64::from_ne_bytes(*offsets.last()?));
        let is_known = matches!(kind, Kind::Index64 | Kind::SplitIndex64) && offsets.len() <= MOST;
        (is_known && (before..LARGEST).contains(&last)).then_some(Self { offsets, more, before, last })
    }

    /// Returns the size of the ends in bytes.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(self.offsets)
    }

    /// Encodes the page to `into`, whose contents are replaced.
    pub(crate) fn encode(&self, kind: Kind, into: &mut Vec<u8>) -> Result<()> {
        into.resize(self.bytes(), 0);
        let is_sound = if kind == Kind::SplitIndex64 {
            let found = differences_to_planes(self.offsets, self.more, into).map_err(|_| changed())?;
            // The sum of this many small differences cannot overflow.
            (self.before..=self.last).contains(&found.first) && found.bits < LARGEST && found.sum == self.last
        } else {
            let mut end = Some(self.before);
            for (offsets, into) in self.offsets.chunks(NEAR).zip(into.chunks_mut(8 * NEAR)) {
                rebase(offsets.as_flattened(), self.more as i64, into).map_err(|_| changed())?;
                let ends = into.as_chunks_mut::<8>().0;
                end = end.and_then(|end| rising(end, ends));
                if cfg!(target_endian = "big") {
                    ends.iter_mut().for_each(|end| end.reverse());
                }
            }
            end == Some(self.last)
        };
        if is_sound { Ok(()) } else { Err(changed()) }
    }
}

/// Number of ends that stay in the nearest cache while they are converted and checked.
pub(super) const NEAR: usize = 2048;

/// Returns the last of ends, or `None` if they decrease.
pub(super) fn rising(before: u64, ends: &[[u8; 8]]) -> Option<u64> {
    let number = |end: &[u8; 8]| u64::from_ne_bytes(*end);
    let (first, last) = (ends.first().map_or(before, number), ends.last().map_or(before, number));
    // The highest bit is set if an end or a difference has it. Without a branch, so that the loop is
    // vectorized.
    let signs = |signs: u64, before: u64, end: u64| signs | end | end.wrapping_sub(before);
    let pairs = ends.array_windows::<2>();
    let all =
        pairs.fold(signs(before, before, first), |all, [one, next]| signs(all, number(one), number(next)));
    (all >> 63 == 0).then_some(last)
}

/// Encodes the ends of lists, or their differences.
pub(crate) fn encode_ends(kind: Kind, ends: &[[u8; 8]], into: &mut Vec<u8>) -> Result<()> {
    let short = |end: &[u8; 8]| {
        let end = u64::from_ne_bytes(*end);
        u32::try_from(end)
            .map_err(|_| Error::invalid(format!("{end} items of lists in a cluster, in a column of 32 bits")))
    };
    let wide = matches!(kind, Kind::Index64 | Kind::SplitIndex64);
    into.resize(ends.len() * if wide { 8 } else { 4 }, 0);
    match kind {
        Kind::SplitIndex64 => differences_to_planes(ends, 0, into).map(drop).map_err(|_| changed()),
        Kind::Index64 => {
            let both = into.as_chunks_mut().0.iter_mut().zip(ends);
            both.for_each(|(into, end)| *into = u64::from_ne_bytes(*end).to_le_bytes());
            Ok(())
        }
        Kind::Index32 => into.as_chunks_mut().0.iter_mut().zip(ends).try_for_each(|(into, end)| {
            *into = short(end)?.to_le_bytes();
            Ok(())
        }),
        Kind::SplitIndex32 => {
            let mut last = 0;
            let mut differences = Vec::with_capacity(into.len());
            for end in ends {
                let end = short(end)?;
                differences.extend(end.wrapping_sub(last).to_ne_bytes());
                last = end;
            }
            to_planes(Planes::Plain, 4, &differences, into).map_err(|_| changed())
        }
        _ => Err(changed()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Borrowed offsets are encoded like ends, and changed offsets are errors.
    #[test]
    fn offsets_become_ends_unless_they_change() {
        let offsets: Vec<[u8; 8]> = (0..5000u64).map(|at| (100 + at * at).to_ne_bytes()).collect();
        let more = 7u64.wrapping_sub(100);
        let ends: Vec<[u8; 8]> = (0..5000u64).map(|at| (7 + at * at).to_ne_bytes()).collect();
        for kind in [Kind::Index64, Kind::SplitIndex64] {
            let (mut lent, mut own) = (vec![1; 3], Vec::new());
            let whole = LentEnds::of(kind, &offsets, more, 7).unwrap();
            whole.encode(kind, &mut lent).unwrap();
            encode_ends(kind, &ends, &mut own).unwrap();
            assert_eq!((lent, whole.last), (own, 7 + 4999 * 4999));
            for (at, number) in
                [(0, 99), (1, 100), (2500, 0), (2500, 1 << 62), (2500, 1 << 63), (4999, 0), (4999, 1 << 50)]
            {
                let mut changed = offsets.clone();
                changed[at] = u64::to_ne_bytes(number);
                let other = LentEnds { offsets: &changed, ..whole };
                let is_end = at == 1; // it rises from the one before, and to the next one
                assert_eq!(other.encode(kind, &mut Vec::new()).is_ok(), is_end, "{kind:?}: {number} at {at}");
            }
        }
        assert!(LentEnds::of(Kind::Index32, &offsets, more, 7).is_none());
        assert!(LentEnds::of(Kind::Index64, &offsets, more, u64::MAX).is_none());
        assert!(LentEnds::of(Kind::Index64, &offsets, more.wrapping_add(LARGEST), 7).is_none());
        assert!(LentEnds::of(Kind::Index64, &[], more, 7).is_none());
    }

    #[test]
    fn ends_rise() {
        let last = |before: u64, ends: &[u64]| {
            let ends: Vec<_> = ends.iter().map(|end| end.to_ne_bytes()).collect();
            rising(before, &ends)
        };
        let most = u64::MAX >> 1;
        assert_eq!(last(7, &[]), Some(7));
        assert_eq!(last(7, &[7, 7, 9, most]), Some(most));
        for wrong in [&[6][..], &[8, 9, 8], &[8, most + 1], &[u64::MAX, 3], &[most, 0, most, 0]] {
            assert_eq!(last(7, wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn ends_fit_into_their_column() {
        let most = u64::from(u32::MAX);
        let encode_ends = |kind, ends: &[u64], into: &mut Vec<u8>| {
            let ends: Vec<_> = ends.iter().map(|end| end.to_ne_bytes()).collect();
            encode_ends(kind, &ends, into)
        };
        let mut into = vec![7; 3];
        encode_ends(Kind::Index32, &[1, most], &mut into).unwrap();
        assert_eq!(into, [1, 0, 0, 0, 255, 255, 255, 255]);
        encode_ends(Kind::SplitIndex32, &[1, 3, most], &mut into).unwrap();
        assert_eq!(into, [1, 2, 252, 0, 0, 255, 0, 0, 255, 0, 0, 255]);
        for kind in [Kind::Index32, Kind::SplitIndex32] {
            let error = encode_ends(kind, &[most + 1], &mut into).unwrap_err().to_string();
            assert!(
                error.contains("4294967296 items of lists in a cluster, in a column of 32 bits"),
                "{error}"
            );
        }
        encode_ends(Kind::Index64, &[most + 1], &mut into).unwrap();
        assert_eq!(into, (most + 1).to_le_bytes());
        encode_ends(Kind::SplitIndex64, &[most + 1, most + 3], &mut into).unwrap();
        assert_eq!(into, [0, 2, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
    }
}
