//! Merging of histograms bin by bin, by the rules of `TH1::Merge`.

use crate::histogram::cells;
use crate::{Axis, Error, Histogram, Result, axis::LETTERS};

impl Histogram {
    /// Adds another histogram: bins, statistics and buffered entries.
    ///
    /// # Errors
    /// Returns an error if the histograms have no common binning, or ROOT's rule for this case is not known.
    pub fn merge(&mut self, mut other: Self) -> Result<()> {
        if !self.merge_buffers(&mut other)? {
            return Ok(());
        }
        self.merge_axes(&mut other)?;
        // Entries of a histogram without squared weights have a weight of 1.
        for squares in ["fSumw2", "fBinSumw2"] {
            if self.has(squares) || other.has(squares) {
                self.keep_squares(squares);
                other.keep_squares(squares);
            }
        }
        for (name, more) in &other.arrays {
            if self.array_mut(name).is_some_and(|own| !own.add(more)) {
                return Err(Error::Lengths { member: name });
            }
        }
        for (name, value) in &mut self.scalars {
            *value += other.scalar(name);
        }
        Ok(())
    }

    /// Whether the histogram has no entries, and all bins are 0.
    pub(crate) fn is_bare(&self) -> bool {
        let is_buffered = self.buffer.as_ref().is_some_and(|buffer| !buffer.is_empty());
        self.scalar("fEntries") == 0.0
            && !is_buffered
            && self.arrays.iter().all(|(_, numbers)| numbers.is_zero())
    }

    /// Converts two histograms to their common binning.
    fn merge_axes(&mut self, other: &mut Self) -> Result<()> {
        let bare = [self.is_bare(), other.is_bare()];
        let mut moves = [Vec::new(), Vec::new()];
        let mut axes = Vec::new();
        for ((axis, one), two) in LETTERS.into_iter().zip(self.own_axes()).zip(other.own_axes()) {
            let Some(merged) = one.merged(two, bare) else {
                return Err(Error::Axes { axis, found: two.describe(), first: one.describe() });
            };
            let [own, others] = merged.places;
            moves[0].push(own);
            moves[1].push(others);
            axes.push(merged.axis);
        }
        let stays = |moves: &[Option<_>]| moves.iter().all(Option::is_none);
        if !moves.iter().all(|moves| stays(moves)) {
            let after = cells(&axes)?;
            let before = self.cells()?.max(other.cells()?);
            if after > MOST_GROWN.max(before.saturating_mul(MOST_GROWTH)) {
                return Err(Error::Growth { before, after });
            }
            let lengths: Vec<usize> = axes.iter().filter_map(Axis::cells).collect();
            for (histogram, moves) in [&mut *self, other].into_iter().zip(&moves) {
                histogram.rebin(moves, &lengths, after)?;
            }
        }
        for ((changed, new), old) in self.changed.iter_mut().zip(&axes).zip(&self.axes) {
            *changed |= new != old;
        }
        // Axes without bins stay those of the first histogram.
        for histogram in [self, other] {
            histogram.axes.iter_mut().zip(&axes).for_each(|(own, new)| own.clone_from(new));
        }
        Ok(())
    }

    /// Moves the numbers of all bins to new bins, of which there are `count`. `lengths` are the new numbers
    /// of bins of each axis.
    fn rebin(&mut self, moves: &[Option<Vec<Option<usize>>>], lengths: &[usize], count: usize) -> Result<()> {
        let old: Option<Vec<usize>> = self.axes.iter().take(lengths.len()).map(Axis::cells).collect();
        let old = old.unwrap_or_default();
        // The product cannot overflow: `check_lengths` compared it with the arrays.
        let all = old.iter().try_fold(1_usize, |all, &n| all.checked_mul(n)).unwrap_or(0);
        if self.arrays.iter().all(|(_, numbers)| numbers.is_empty()) {
            return Ok(());
        }
        let mut places = Vec::with_capacity(all);
        for cell in 0..all {
            let (mut rest, mut to, mut stride) = (cell, Some(0), 1);
            for ((moves, &own), &new) in moves.iter().zip(&old).zip(lengths) {
                let at = rest % own;
                rest /= own;
                let at = moves.as_ref().map_or(Some(at), |moves| moves.get(at).copied().flatten());
                to = to.zip(at).map(|(to, at)| to + at * stride);
                stride *= new;
            }
            if to.is_none() && self.arrays.iter().any(|(_, numbers)| numbers.is_set(cell)) {
                return Err(Error::LostEntries);
            }
            places.push(to.unwrap_or(0));
        }
        for (_, numbers) in &mut self.arrays {
            *numbers = numbers.moved(&places, count);
        }
        Ok(())
    }
}

/// Upper bound on the bins of the sum of small histograms, and on the factor by which the bins of larger ones
/// grow.
const MOST_GROWN: usize = 1 << 22;
const MOST_GROWTH: usize = 256;
