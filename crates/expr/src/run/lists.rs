//! Operations on lists: values of lists for their items, and reductions of items to their lists.

use super::arithmetic::Number;
use crate::{
    buffer::{Buffer, Item, Slice, with_type},
    syntax::Reduction,
};
use forthwith_columns::DType;
use std::ops::Range;

/// The lists of a space that are computed at a time.
#[derive(Clone, Copy)]
pub(super) enum Lists<'a> {
    /// Start of the first list, which may differ from 0, and end of each list.
    Offsets(&'a [i64]),
    /// A number of lists of equal length.
    Regular { count: usize, size: usize },
}

impl Lists<'_> {
    pub(super) fn len(self) -> usize {
        match self {
            Self::Offsets(offsets) => offsets.len().saturating_sub(1),
            Self::Regular { count, .. } => count,
        }
    }

    /// Returns the total number of items.
    fn items(self) -> usize {
        match self {
            Self::Offsets([first, .., last]) => last.wrapping_sub(*first) as usize,
            Self::Offsets(_) => 0,
            Self::Regular { count, size } => count * size,
        }
    }

    /// Calls a function with the range of items of each list, relative to the first item of all.
    #[inline(always)]
    fn each(self, mut act: impl FnMut(Range<usize>)) {
        match self {
            Self::Offsets(offsets) => {
                let first = offsets.first().copied().unwrap_or(0);
                let mut start = 0;
                for end in offsets.iter().skip(1) {
                    let end = end.wrapping_sub(first) as usize; // checked to ascend when the column was taken
                    act(start..end);
                    start = end;
                }
            }
            Self::Regular { count, size } => (0..count).for_each(|at| act(at * size..(at + 1) * size)),
        }
    }

    /// Returns 0 and the end of each list, relative to the first item of all.
    pub(super) fn ends(self) -> Vec<i64> {
        let mut ends = Vec::with_capacity(self.len() + 1);
        ends.push(0);
        self.each(|items| ends.push(items.end as i64));
        ends
    }

    /// Calls a function with the number of set flags in each list. Flags are 0 or 1.
    fn totals(self, mut flags: impl Iterator<Item = u8>, mut act: impl FnMut(u64)) {
        if self.items() > MANY {
            return self.each(|items| act(flags.by_ref().take(items.len()).map(u64::from).sum()));
        }
        // Most lists are short and of varying lengths, so the end of a loop over each list would be
        // mispredicted.
        let mut before = vec![0_u32; self.items() + 1];
        let mut total = 0;
        for (sum, flag) in before[1..].iter_mut().zip(flags) {
            total += u32::from(flag);
            *sum = total;
        }
        let mut start = 0;
        self.each(|items| {
            let end = before[items.end];
            act(u64::from(end - start));
            start = end;
        });
    }

    /// Returns the list that contains an item.
    pub(super) fn list_of(self, item: usize) -> usize {
        match self {
            Self::Offsets(offsets) => {
                let first = offsets.first().copied().unwrap_or(0);
                offsets.partition_point(|end| end.wrapping_sub(first) as usize <= item).saturating_sub(1)
            }
            Self::Regular { size, .. } => item / size.max(1),
        }
    }

    /// Returns the first list whose length differs from that of the corresponding other list, and both
    /// lengths.
    pub(super) fn differs(self, other: Lists<'_>) -> Option<(usize, usize, usize)> {
        if let (Self::Offsets(a), Lists::Offsets(b)) = (self, other)
            && a.len() == b.len()
        {
            let base = |offsets: &[i64]| offsets.first().copied().unwrap_or(0);
            let (first, second) = (base(a), base(b));
            let same =
                if first == second { a == b } else { a.iter().zip(b).all(|(a, b)| a - first == b - second) };
            if same {
                return None;
            }
        }
        let lengths = |lists: Lists<'_>| {
            let mut lengths = Vec::with_capacity(lists.len());
            lists.each(|items| lengths.push(items.len()));
            lengths
        };
        let (a, b) = (lengths(self), lengths(other));
        a.iter().zip(&b).position(|(a, b)| a != b).map(|at| (at, a[at], b[at]))
    }
}

/// Number of items that are written at once for a short list.
const BLOCK: usize = 8;

pub(super) fn expand(dtype: DType, x: Slice<'_>, to: Lists<'_>, out: &mut Buffer) {
    with_type!(dtype, T => {
        let x = T::in_slice(x);
        let out = T::in_buffer(out);
        let count = to.items();
        // Most lists are short and of varying lengths, so the end of a loop over each list would be
        // mispredicted. A whole block is written for each list; the next list overwrites its excess. Previous
        // contents of the buffer need not be cleared, since every item is written.
        out.resize(count + BLOCK, T::ZERO);
        let mut values = x.iter();
        to.each(|items| {
            let Some(value) = values.next() else { return };
            if let Some(block) = out.get_mut(items.start..).and_then(<[T]>::first_chunk_mut::<BLOCK>) {
                *block = [*value; BLOCK];
            }
            if items.len() > BLOCK {
                out[items].fill(*value);
            }
        });
        out.truncate(count);
    });
}

pub(super) fn reduce(
    by: Reduction,
    dtype: DType,
    x: Slice<'_>,
    valid: Option<&[u8]>,
    of: Lists<'_>,
    out: &mut Buffer,
) {
    match by {
        Reduction::Count => {
            let out = i64::emptied(out, of.len());
            match valid {
                None => of.each(|items| out.push(items.len() as i64)),
                Some(valid) => of.totals(valid.iter().copied(), |total| out.push(total as i64)),
            }
        }
        Reduction::Any => with_flags(u8::in_slice(x), valid, of, out, |x| x, |holding| holding != 0),
        Reduction::All => with_flags(u8::in_slice(x), valid, of, out, |x| 1 - x, |failing| failing == 0),
        Reduction::Sum | Reduction::Prod => accumulate(by, dtype, x, valid, of, out),
        Reduction::Min => {
            with_type!(dtype, T => extreme::<T>(x, valid, of, out, Number::minimum))
        }
        Reduction::Max => {
            with_type!(dtype, T => extreme::<T>(x, valid, of, out, Number::maximum))
        }
        Reduction::First => item(dtype, 0, x, of, out),
        Reduction::Argmin => {
            with_type!(dtype, T => best::<T>(x, valid, of, out, |x, y| x < y))
        }
        Reduction::Argmax => {
            with_type!(dtype, T => best::<T>(x, valid, of, out, |x, y| x > y))
        }
        Reduction::Mean | Reduction::Var | Reduction::Std => debug_assert!(false, "made of sums and counts"),
    }
}

fn accumulate(
    by: Reduction,
    dtype: DType,
    x: Slice<'_>,
    valid: Option<&[u8]>,
    of: Lists<'_>,
    out: &mut Buffer,
) {
    macro_rules! both {
        ($number:ident, $total:ident) => {
            match by {
                Reduction::Sum if valid.is_none() => {
                    sums::<$number, $total>(x, of, out, |x| x as $total);
                }
                Reduction::Sum => {
                    fold::<$number, $total>(x, valid, of, out, $total::ZERO, |sum, x| {
                        Number::add(sum, x as $total)
                    });
                }
                _ => {
                    fold::<$number, $total>(x, valid, of, out, $total::ONE, |sum, x| {
                        Number::multiply(sum, x as $total)
                    });
                }
            }
        };
    }
    match dtype {
        DType::Bool => both!(u8, i64),
        DType::Int8 => both!(i8, i64),
        DType::Int16 => both!(i16, i64),
        DType::Int32 => both!(i32, i64),
        DType::Int64 => both!(i64, i64),
        DType::UInt8 => both!(u8, u64),
        DType::UInt16 => both!(u16, u64),
        DType::UInt32 => both!(u32, u64),
        DType::UInt64 => both!(u64, u64),
        DType::Float32 => both!(f32, f32),
        DType::Float64 => both!(f64, f64),
    }
}

/// Computes a boolean for each list from the number of its valid items whose flag is set.
#[inline(always)]
fn with_flags(
    x: &[u8],
    valid: Option<&[u8]>,
    of: Lists<'_>,
    out: &mut Buffer,
    flag: impl Fn(u8) -> u8,
    holds: impl Fn(u64) -> bool,
) {
    let out = u8::emptied(out, of.len());
    match valid {
        None => of.totals(x.iter().map(|x| flag(*x)), |total| out.push(u8::from(holds(total)))),
        Some(valid) => {
            let flags = x.iter().zip(valid).map(|(x, valid)| flag(*x) & valid);
            of.totals(flags, |total| out.push(u8::from(holds(total))));
        }
    }
}

/// Number of items above which flags are counted list by list, because such lists are long themselves.
const MANY: usize = 1 << 16;

/// Length up to which a list is summed by a loop of constant length, which is not mispredicted.
const SHORT: usize = 4;

/// Computes the sum of each list, adding its items in order.
#[inline(always)]
fn sums<T: Item, R: Number>(x: Slice<'_>, of: Lists<'_>, out: &mut Buffer, as_total: impl Fn(T) -> R) {
    let x = T::in_slice(x);
    let out = R::emptied(out, of.len());
    of.each(|items| {
        out.push(match x.get(items.start..items.start + SHORT) {
            // The partial sum is never -0.0, so adding zeros does not change it.
            Some(near) if items.len() <= SHORT => (0..SHORT).fold(R::ZERO, |sum, at| {
                Number::add(sum, if at < items.len() { as_total(near[at]) } else { R::ZERO })
            }),
            _ => x[items].iter().fold(R::ZERO, |sum, x| Number::add(sum, as_total(*x))),
        });
    });
}

#[inline(always)]
fn fold<T: Item, R: Item>(
    x: Slice<'_>,
    valid: Option<&[u8]>,
    of: Lists<'_>,
    out: &mut Buffer,
    start: R,
    f: impl Fn(R, T) -> R,
) {
    let x = T::in_slice(x);
    let out = R::emptied(out, of.len());
    match valid {
        None => of.each(|items| out.push(x[items].iter().fold(start, |found, x| f(found, *x)))),
        Some(valid) => of.each(|items| {
            let there = x[items.clone()].iter().zip(&valid[items]).filter(|(_, valid)| **valid != 0);
            out.push(there.fold(start, |found, (x, _)| f(found, *x)));
        }),
    }
}

/// Reduces the valid items of each list, beginning with the first; 0 if there are none.
#[inline(always)]
fn extreme<T: Number>(
    x: Slice<'_>,
    valid: Option<&[u8]>,
    of: Lists<'_>,
    out: &mut Buffer,
    f: impl Fn(T, T) -> T,
) {
    let x = T::in_slice(x);
    let out = T::emptied(out, of.len());
    of.each(|items| {
        let found = match valid {
            None => x[items].iter().copied().reduce(&f),
            Some(valid) => {
                let there = x[items.clone()].iter().zip(&valid[items]).filter(|(_, valid)| **valid != 0);
                there.map(|(x, _)| *x).reduce(&f)
            }
        };
        out.push(found.unwrap_or(T::ZERO));
    });
}

/// Finds the position of the extreme valid item of each list. A later item replaces an earlier one only if it
/// compares as strictly better, so NaN neither replaces an item nor is replaced, as in Awkward Array. Lists
/// without valid items get 0.
#[inline(always)]
fn best<T: Number>(
    x: Slice<'_>,
    valid: Option<&[u8]>,
    of: Lists<'_>,
    out: &mut Buffer,
    beats: impl Fn(T, T) -> bool,
) {
    let x = T::in_slice(x);
    let out = i64::emptied(out, of.len());
    of.each(|items| {
        let mut found: Option<usize> = None;
        for at in items.clone().filter(|at| valid.is_none_or(|valid| valid[*at] != 0)) {
            if found.is_none_or(|found| beats(x[at], x[found])) {
                found = Some(at);
            }
        }
        out.push(found.map_or(0, |found| (found - items.start) as i64));
    });
}

/// Computes the position of each item in its list, for lists with these ends.
pub(super) fn index(ends: &[i64], out: &mut Buffer) {
    let out = i64::emptied(out, ends.last().map_or(0, |end| *end as usize));
    for list in ends.windows(2) {
        out.extend(0..list[1] - list[0]);
    }
}

/// Computes whether each list has a valid item.
pub(super) fn some(valid: Option<&[u8]>, of: Lists<'_>, out: &mut Buffer) {
    let out = u8::emptied(out, of.len());
    match valid {
        None => of.each(|items| out.push(u8::from(!items.is_empty()))),
        Some(valid) => of.totals(valid.iter().copied(), |total| out.push(u8::from(total != 0))),
    }
}

/// Returns the item at a position of a list, which counts from the end if negative; `None` if it is out of
/// range.
fn position(items: &Range<usize>, position: i64) -> Option<usize> {
    let length = items.len() as i64;
    let at = if position < 0 { length.checked_add(position)? } else { position };
    (0..length).contains(&at).then(|| items.start + at as usize)
}

pub(super) fn item(dtype: DType, at: i64, x: Slice<'_>, of: Lists<'_>, out: &mut Buffer) {
    with_type!(dtype, T => {
        let x = T::in_slice(x);
        let out = T::emptied(out, of.len());
        of.each(|items| out.push(position(&items, at).map_or(T::ZERO, |at| x[at])));
    });
}

pub(super) fn has(at: i64, of: Lists<'_>, out: &mut Buffer) {
    let out = u8::emptied(out, of.len());
    of.each(|items| out.push(u8::from(position(&items, at).is_some())));
}

/// Computes the ends of lists filtered by a condition on their items. `lists` filters the lists themselves.
pub(super) fn kept(condition: &[u8], lists: Option<&[u8]>, of: Lists<'_>, out: &mut Vec<i64>) {
    out.clear();
    out.push(0);
    let (mut total, mut list) = (0, 0);
    out.reserve(of.len());
    of.totals(condition.iter().copied(), |kept| {
        if lists.is_none_or(|lists| lists[list] != 0) {
            total += kept as i64;
            out.push(total);
        }
        list += 1;
    });
}

pub(super) fn keep(dtype: DType, x: Slice<'_>, condition: &[u8], out: &mut Buffer) {
    with_type!(dtype, T => {
        let x = T::in_slice(x);
        let out = T::in_buffer(out);
        out.clear();
        // Without a branch, which would often be mispredicted: the next item overwrites a dropped one.
        out.resize(x.len(), T::ZERO);
        let mut kept = 0;
        for (x, holds) in x.iter().zip(condition) {
            out[kept] = *x;
            kept += usize::from(*holds != 0);
        }
        out.truncate(kept);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_item_has_the_value_of_its_list() {
        let mut state = 7_u64;
        let mut next = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        // The buffers are reused, as in a run: the results must not depend on their previous contents.
        let (mut wide, mut narrow) = (Buffer::new(DType::Float64, 0), Buffer::new(DType::UInt8, 0));
        for longest in [1, 2, 5, 9, 10, 20, 3, 1] {
            let mut offsets = vec![next(50) as i64];
            let (mut values, mut small) = (Vec::new(), Vec::new());
            let (mut expected, mut expected_small) = (Vec::new(), Vec::new());
            for _ in 0..next(300) {
                let (length, value) = (next(longest), next(250));
                offsets.push(offsets.last().copied().unwrap_or(0) + length as i64);
                values.push(value as f64);
                small.push(value as u8);
                expected.extend(std::iter::repeat_n(value as f64, length as usize));
                expected_small.extend(std::iter::repeat_n(value as u8, length as usize));
            }
            expand(DType::Float64, Slice::Float64(&values), Lists::Offsets(&offsets), &mut wide);
            assert_eq!(f64::in_slice(wide.slice()), expected);
            expand(DType::Bool, Slice::UInt8(&small), Lists::Offsets(&offsets), &mut narrow);
            assert_eq!(u8::in_slice(narrow.slice()), expected_small);
            for size in [0, 1, longest as usize] {
                let lists = Lists::Regular { count: values.len(), size };
                expand(DType::Float64, Slice::Float64(&values), lists, &mut wide);
                let expected: Vec<f64> =
                    values.iter().flat_map(|value| std::iter::repeat_n(*value, size)).collect();
                assert_eq!(f64::in_slice(wide.slice()), expected);
            }
        }
    }
}
