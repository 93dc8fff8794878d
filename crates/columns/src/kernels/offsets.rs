//! Computation of offsets from the bounds or counts in files.

use super::copy::{ahead, ask_ahead};
use super::parts::in_parts;
use crate::{DType, with_integer};
use forthwith_kernels::{CpuFeatures, for_each_cpu};

/// Computes offsets from entry bounds: `bounds` are little-endian `u32` byte offsets, one more than there are
/// entries; each entry consists of `header` bytes and items of `item_bytes`. Writes the end of each entry in
/// items, plus `base`, as int64 to `into` (8 bytes for each entry, without the leading zero). Returns the
/// last end, which is `base` plus the number of all items.
pub fn offsets_from_bounds(
    bounds: &[u8],
    header: u32,
    item_bytes: u32,
    base: i64,
    into: &mut [u8],
) -> Result<i64, OffsetsError> {
    offsets_from_bounds_at(CpuFeatures::current(), bounds, header, item_bytes, base, into)
}

pub(super) fn offsets_from_bounds_at(
    features: CpuFeatures,
    bounds: &[u8],
    header: u32,
    item_bytes: u32,
    base: i64,
    into: &mut [u8],
) -> Result<i64, OffsetsError> {
    let refused = OffsetsError::Length { from: bounds.len(), into: into.len() };
    let (bounds, rest) = bounds.as_chunks::<4>();
    let (ends, spare) = into.as_chunks_mut::<8>();
    if !rest.is_empty() || !spare.is_empty() || bounds.len().checked_sub(1) != Some(ends.len()) {
        return Err(refused);
    }
    if base.checked_add(i64::from(u32::MAX)).is_none() {
        return Err(OffsetsError::Overflow { entry: 0 });
    }
    let Some(division) = Division::by(item_bytes) else { return Err(OffsetsError::Partial { entry: 0 }) };
    if run_bounds(features, bounds, header, division, base, ends) {
        return Ok(ends.last().map_or(base, |end| i64::from_ne_bytes(*end)));
    }
    Err(first_bad(bounds, header, item_bytes))
}

/// Computes offsets from item counts: integers of any type in native byte order, one for each entry. Writes
/// the running sum, starting at `base`, as int64 to `into`, and returns the last.
pub fn offsets_from_counts(
    counts: &[u8],
    dtype: DType,
    base: i64,
    into: &mut [u8],
) -> Result<i64, OffsetsError> {
    let size = dtype.size();
    if !counts.len().is_multiple_of(size) || Some(into.len()) != (counts.len() / size).checked_mul(8) {
        return Err(OffsetsError::Length { from: counts.len(), into: into.len() });
    }
    with_integer!(dtype, T => sums(counts, base, into, |count| whole(T::from_ne_bytes(count))),
        DType::Bool => sums(counts, base, into, |count| Some(i64::from(u8::from_ne_bytes(count)))),
        DType::Float32 | DType::Float64 => Err(OffsetsError::Type(dtype)),
    )
}

fn whole(count: impl TryInto<i64>) -> Option<i64> {
    count.try_into().ok()
}

/// Whether any int64 offset is less than its predecessor; `before` is the predecessor of the first.
#[must_use]
pub fn fall(before: i64, offsets: &[u8]) -> bool {
    run_fall(CpuFeatures::current(), before, offsets.as_chunks().0)
}

/// Whether any int64 offset is less than its predecessor. Up to `threads` threads check a large number of
/// offsets.
#[must_use]
pub fn fall_by(offsets: &[[u8; 8]], threads: usize) -> bool {
    in_parts(threads, offsets.len(), WORTH_A_THREAD, |rows| {
        let first = offsets.get(rows.start.saturating_sub(1)).map_or(0, |offset| i64::from_ne_bytes(*offset));
        fall(first, offsets.get(rows).unwrap_or_default().as_flattened())
    })
    .contains(&true)
}

/// Minimum number of offsets for each thread.
const WORTH_A_THREAD: usize = 1 << 18;

/// Copies int64 offsets and adds `base` to each. Returns the last result, or `base` if there are none.
pub fn rebase(offsets: &[u8], base: i64, into: &mut [u8]) -> Result<i64, OffsetsError> {
    rebase_at(CpuFeatures::current(), offsets, base, into)
}

pub(super) fn rebase_at(
    features: CpuFeatures,
    offsets: &[u8],
    base: i64,
    into: &mut [u8],
) -> Result<i64, OffsetsError> {
    let (from, rest) = offsets.as_chunks::<8>();
    if !rest.is_empty() || offsets.len() != into.len() {
        return Err(OffsetsError::Length { from: offsets.len(), into: into.len() });
    }
    let to = into.as_chunks_mut::<8>().0;
    let mut fits = true;
    ahead(from.as_flattened(), to.as_flattened_mut(), |from, to| {
        fits &= run_rebase(features, from.as_chunks().0, base, to.as_chunks_mut().0);
    });
    if fits {
        return Ok(to.last().map_or(base, |end| i64::from_ne_bytes(*end)));
    }
    let entry = from.iter().position(|offset| i64::from_ne_bytes(*offset).checked_add(base).is_none());
    Err(OffsetsError::Overflow { entry: entry.unwrap_or(0) })
}

/// Reason that offsets could not be computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OffsetsError {
    /// The lengths of input and output do not match.
    #[error("{from} bytes do not make {into} bytes of offsets")]
    Length {
        /// Length of the input in bytes.
        from: usize,
        /// Length of the output in bytes.
        into: usize,
    },
    /// The counts are not integers.
    #[error("counts cannot be {0}")]
    Type(DType),
    /// An entry ends before it starts.
    #[error("an entry ends before it starts")]
    Backwards {
        /// Number of the entry, counted from the first of the call.
        entry: usize,
    },
    /// An entry is too short for its header.
    #[error("an entry is shorter than its header")]
    NoHeader {
        /// Number of the entry, counted from the first of the call.
        entry: usize,
    },
    /// The length of an entry is not a multiple of the item size.
    #[error("an entry ends within an item")]
    Partial {
        /// Number of the entry, counted from the first of the call.
        entry: usize,
    },
    /// A count is negative.
    #[error("an entry has a negative number of items")]
    Negative {
        /// Number of the entry, counted from the first of the call.
        entry: usize,
    },
    /// The number of items exceeds int64.
    #[error("an entry has more items than its bytes can hold")]
    Overflow {
        /// Number of the entry, counted from the first of the call.
        entry: usize,
    },
}

impl OffsetsError {
    /// Returns the number of the invalid entry, counted from the first of the call.
    #[must_use]
    pub const fn entry(&self) -> Option<usize> {
        match *self {
            Self::Length { .. } | Self::Type(_) => None,
            Self::Backwards { entry }
            | Self::NoHeader { entry }
            | Self::Partial { entry }
            | Self::Negative { entry }
            | Self::Overflow { entry } => Some(entry),
        }
    }
}

/// Exact division by a constant without a division instruction: multiplication by the inverse of the odd part
/// modulo 2^32, and rotation by the power of two. A result above `most` means that the division has a
/// remainder. Vectorises for every divisor.
#[derive(Clone, Copy)]
struct Division {
    inverse: u32,
    shift: u32,
    most: u32,
}

impl Division {
    fn by(divisor: u32) -> Option<Self> {
        let shift = divisor.checked_ilog2().map(|_| divisor.trailing_zeros())?;
        let odd = divisor >> shift;
        // Newton's iteration doubles the correct bits; an odd number is its own inverse in the lowest three.
        let mut inverse = odd;
        for _ in 0..4 {
            inverse = inverse.wrapping_mul(2u32.wrapping_sub(odd.wrapping_mul(inverse)));
        }
        Some(Self { inverse, shift, most: u32::MAX / divisor })
    }

    #[inline(always)]
    fn exactly(self, bytes: u32) -> u32 {
        bytes.wrapping_mul(self.inverse).rotate_right(self.shift)
    }
}

for_each_cpu! {
    fn run_bounds(
        bounds: &[[u8; 4]], header: u32, division: Division, base: i64, ends: &mut [[u8; 8]],
    ) -> bool = bounds_body
}

/// Writes the ends, and returns whether all bounds are valid. Each end depends on the bounds alone, not on
/// the end before it, so that SIMD lanes are independent: if all entries up to here are multiples of the item
/// size, so is their sum.
#[inline(always)]
fn bounds_body(bounds: &[[u8; 4]], header: u32, division: Division, base: i64, ends: &mut [[u8; 8]]) -> bool {
    let Some((first, after)) = bounds.split_first() else { return false };
    let first = u32::from_le_bytes(*first);
    let mut skipped = first;
    let mut sound = true;
    for ((end, start), stop) in ends.iter_mut().zip(bounds).zip(after) {
        let (start, stop) = (u32::from_le_bytes(*start), u32::from_le_bytes(*stop));
        sound &= stop >= start;
        sound &= stop.wrapping_sub(start) >= header;
        skipped = skipped.wrapping_add(header);
        let items = division.exactly(stop.wrapping_sub(skipped));
        sound &= items <= division.most;
        *end = base.wrapping_add(i64::from(items)).to_ne_bytes();
    }
    sound
}

#[cold]
fn first_bad(bounds: &[[u8; 4]], header: u32, item_bytes: u32) -> OffsetsError {
    let mut entry = 0;
    for (start, stop) in bounds.iter().zip(bounds.iter().skip(1)) {
        let (start, stop) = (u32::from_le_bytes(*start), u32::from_le_bytes(*stop));
        match stop.checked_sub(start).map(|bytes| bytes.checked_sub(header)) {
            None => return OffsetsError::Backwards { entry },
            Some(None) => return OffsetsError::NoHeader { entry },
            Some(Some(bytes)) if !bytes.is_multiple_of(item_bytes) => return OffsetsError::Partial { entry },
            Some(Some(_)) => entry += 1,
        }
    }
    OffsetsError::Partial { entry } // never: the caller found something
}

fn sums<const SIZE: usize>(
    counts: &[u8],
    base: i64,
    into: &mut [u8],
    read: impl Fn([u8; SIZE]) -> Option<i64>,
) -> Result<i64, OffsetsError> {
    let mut end = base;
    let counts = counts.as_chunks::<SIZE>().0;
    for (entry, (count, to)) in counts.iter().zip(into.as_chunks_mut::<8>().0).enumerate() {
        let count = read(*count).ok_or(OffsetsError::Overflow { entry })?;
        if count < 0 {
            return Err(OffsetsError::Negative { entry });
        }
        end = end.checked_add(count).ok_or(OffsetsError::Overflow { entry })?;
        *to = end.to_ne_bytes();
    }
    Ok(end)
}

/// Number of offsets in a block.
const BLOCK: usize = 512;

for_each_cpu! {
    fn run_fall(before: i64, offsets: &[[u8; 8]]) -> bool = fall_body
}

#[inline(always)]
fn fall_body(before: i64, offsets: &[[u8; 8]]) -> bool {
    let (mut bad, mut before) = (false, before);
    for (at, block) in offsets.chunks(BLOCK).enumerate() {
        ask_ahead(offsets, BLOCK, at);
        bad |= block.first().is_some_and(|first| i64::from_ne_bytes(*first) < before);
        let pairs = block.iter().zip(block.get(1..).unwrap_or_default());
        // Without an early exit, the loop is vectorised.
        bad = pairs.fold(bad, |bad, (a, b)| bad | (i64::from_ne_bytes(*a) > i64::from_ne_bytes(*b)));
        before = block.last().map_or(before, |last| i64::from_ne_bytes(*last));
    }
    bad
}

for_each_cpu! {
    fn run_rebase(from: &[[u8; 8]], base: i64, into: &mut [[u8; 8]]) -> bool = rebase_body
}

/// Adds `base` to each offset, and returns whether no sum overflowed.
#[inline(always)]
fn rebase_body(from: &[[u8; 8]], base: i64, into: &mut [[u8; 8]]) -> bool {
    let mut overflow = 0;
    for (to, offset) in into.iter_mut().zip(from) {
        let offset = i64::from_ne_bytes(*offset);
        let sum = offset.wrapping_add(base);
        overflow |= (offset ^ sum) & (base ^ sum);
        *to = sum.to_ne_bytes();
    }
    overflow >= 0
}
