//! Columns of indexes: the ends of lists, which count from the first item of the cluster.

use crate::coding::{Kind, Stored};
use forthwith_columns::kernels::{DecodeError, offsets_from_planes, sum_of_planes};
use std::ops::Range;

/// Ends in a decompressed page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends<'p> {
    page: &'p [u8],
    width: usize,
    is_split: bool,
}

impl<'p> Ends<'p> {
    /// Returns the ends in a page of whole elements, or `None` if the column has other elements.
    pub(crate) fn of(stored: &Stored, page: &'p [u8]) -> Option<Self> {
        let (width, is_split) = match stored.kind {
            Kind::Index32 => (4, false),
            Kind::Index64 => (8, false),
            Kind::SplitIndex32 => (4, true),
            Kind::SplitIndex64 => (8, true),
            _ => return None,
        };
        page.len().is_multiple_of(width).then_some(Self { page, width, is_split })
    }

    /// Returns the end of the list before element `at`, or `None` if that is before the page. Does not decode
    /// each element before it.
    pub(crate) fn before(&self, at: usize) -> Result<Option<u64>, DecodeError> {
        let Some(last) = at.checked_sub(1) else { return Ok(None) };
        if self.is_split {
            return sum_of_planes(self.width, self.page, at).map(Some);
        }
        let refused = DecodeError::Length { from: self.page.len(), into: at };
        self.number(last).map(Some).ok_or(refused)
    }

    fn number(&self, at: usize) -> Option<u64> {
        let bytes = self.page.get(at * self.width..)?;
        match self.width {
            4 => bytes.first_chunk().map(|bytes| u32::from_le_bytes(*bytes).into()),
            _ => bytes.first_chunk().map(|bytes| u64::from_le_bytes(*bytes)),
        }
    }

    /// Writes the ends `wanted` with `base` added. `start` is the end of the list before them. Returns
    /// whether the ends are non-decreasing and at most `most`.
    pub(crate) fn offsets(
        &self,
        wanted: Range<usize>,
        [start, most]: [u64; 2],
        base: i64,
        into: &mut [u8],
    ) -> Result<bool, DecodeError> {
        if self.is_split {
            // The first element of a page is the sum of all differences before it.
            let begin = if wanted.start == 0 { 0 } else { start };
            let good = offsets_from_planes(self.width, self.page, wanted, [begin, most], base, into)?;
            let first = into.first_chunk().map(|first| i64::from_ne_bytes(*first).wrapping_sub(base));
            return Ok(good && first.is_none_or(|first| first as u64 >= start));
        }
        let mut before = start;
        let mut good = true;
        for (at, into) in wanted.zip(into.as_chunks_mut::<8>().0) {
            let end = self.number(at).unwrap_or(u64::MAX);
            good &= (before <= end) & (end <= most);
            before = end;
            *into = (end as i64).wrapping_add(base).to_ne_bytes();
        }
        Ok(good)
    }
}
