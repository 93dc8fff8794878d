//! Entries of buffers put into bins, and axes that get their ends by it.

use forthwith_plan::{Error, Result};

use super::limits::limits;
use super::pending::Entry;
use super::{Axis, Part, statistics};

impl Part {
    /// Whether all axes have ends, so that each place is in a bin.
    fn has_ends(&self) -> bool {
        self.own_axes().iter().all(|axis| axis.low < axis.high)
    }

    /// Takes what waits in the buffers of both to where it is to be filled in the end; whether bins are left to be added.
    ///
    /// Entries of an axis without ends wait until all histograms are known, as ROOT looks for ends first.
    pub(super) fn join_pending(&mut self, other: &mut Self) -> Result<bool> {
        if self.pending.is_none() && other.pending.is_none() {
            return Ok(true);
        }
        let ends = [self.has_ends(), other.has_ends()];
        for (part, has_ends) in [(&mut *self, ends[0]), (&mut *other, ends[1])] {
            if has_ends && !part.is_late {
                part.flush()?;
            } else if !has_ends && part.arrays.iter().any(|(_, numbers)| !numbers.is_zero()) {
                let what = "adding histograms with entries in bins of an axis without ends";
                return Err(Error::unsupported(what));
            }
        }
        if ends == [true; 2] {
            return Ok(true);
        }
        if ends[0] != ends[1] && self.finds_powers_of_two {
            let what =
                "adding a histogram without ends of its axis, whose bins shall be as wide as powers of two";
            return Err(Error::unsupported(what));
        }
        let squares = self.squares();
        if other.has(squares) {
            self.keep_squares(squares);
        }
        if ends == [false, true] {
            self.adopt(other)?;
            return Ok(true);
        }
        // The other one has no ends, so that it has nothing but what waits.
        match (&mut self.pending, other.pending.take()) {
            (_, None) if other.is_bare() => {}
            (Some(own), Some(more)) => own.join(&more)?,
            (own @ None, Some(more)) if ends[0] => *own = Some(more),
            _ => {
                let what = "adding histograms without ends of axes and without a buffer";
                return Err(Error::unsupported(what));
            }
        }
        self.is_late |= ends[0];
        Ok(false)
    }

    /// Takes the axes of another histogram in the place of those without ends.
    fn adopt(&mut self, other: &Self) -> Result<()> {
        let both = self.own_axes().iter().zip(other.own_axes());
        if let Some((own, _)) = both.clone().find(|(own, other)| own.low < own.high && own != other) {
            let what = format!("adding a histogram to one of which only one axis has ends, {}", own.text());
            return Err(Error::unsupported(what));
        }
        let cells = super::cells(other.own_axes())?;
        for (_, numbers) in self.arrays.iter_mut().filter(|(_, numbers)| !numbers.is_empty()) {
            *numbers = numbers.zeros(cells);
        }
        let dimensions = self.dimensions;
        let axes = self.axes.iter_mut().zip(&other.axes).take(dimensions);
        for (changed, (own, other)) in self.changed.iter_mut().zip(axes) {
            *changed |= own != other;
            own.clone_from(other);
        }
        self.is_late = true;
        Ok(())
    }

    /// Puts what waits into bins, unless it has room in the buffer of axes without ends.
    pub(super) fn settle(&mut self) -> Result<()> {
        if self.has_ends() {
            return if self.is_late { self.flush() } else { Ok(()) };
        }
        let Some(pending) = &self.pending else { return Ok(()) };
        let Some(kept) = pending.kept() else { return Ok(()) };
        let is_special = |axis: &Axis| axis.is_whole || axis.can_extend() || axis.has_labels();
        let is_special = self.finds_powers_of_two || self.own_axes().iter().any(is_special);
        let mut axes = self.own_axes().to_vec();
        for (number, axis) in axes.iter_mut().enumerate() {
            let places = pending.entries().take(kept).filter_map(|entry| entry.places.get(number).copied());
            let places: Vec<f64> = places.collect();
            if is_special || places.iter().any(|place| !place.is_finite()) {
                let what = "adding histograms without ends of axes that have more entries together than the buffer of the \
                            first, of which ROOT would find the ends in a way of its own";
                return Err(Error::unsupported(what));
            }
            if self.is_profile() || axis.low >= axis.high {
                let low = places.iter().copied().fold(f64::INFINITY, f64::min);
                let high = places.into_iter().fold(f64::NEG_INFINITY, f64::max);
                [axis.low, axis.high] = limits(axis.bins, low, high);
                axis.edges.clear();
            }
        }
        for ((changed, own), new) in self.changed.iter_mut().zip(&mut self.axes).zip(axes) {
            *changed = true;
            *own = new;
        }
        self.flush()
    }

    /// Puts entries of the buffer into bins.
    fn flush(&mut self) -> Result<()> {
        let Some(pending) = self.pending.take() else { return Ok(()) };
        self.is_flushed = true;
        pending.entries().try_for_each(|entry| self.fill(&entry))
    }

    fn fill(&mut self, entry: &Entry<'_>) -> Result<()> {
        let (weight, value) = (entry.weight, entry.value.unwrap_or(1.0));
        if entry.value.is_some() && self.bounds.is_some_and(|[low, high]| !(low..=high).contains(&value)) {
            return Ok(());
        }
        let (mut bin, mut step, mut is_inside) = (0, 1, true);
        for (axis, place) in self.own_axes().iter().zip(entry.places) {
            let at = axis.bin(*place);
            is_inside &= (1..=axis.bins).contains(&(at as i64));
            bin = at.saturating_mul(step).saturating_add(bin);
            step = step.saturating_mul(axis.cells().unwrap_or(0));
        }
        let squares = self.squares();
        if weight != 1.0 && !self.is_unweighted {
            self.keep_squares(squares);
        }
        let is_profile = self.is_profile();
        for (name, numbers) in self.arrays.iter_mut().filter(|(_, numbers)| !numbers.is_empty()) {
            let more = match *name {
                "fBinEntries" => weight,
                "fSumw2" if is_profile => weight * value * value,
                "fSumw2" | "fBinSumw2" => weight * weight,
                _ => weight * value,
            };
            if !numbers.add_value(bin, more) {
                let what = format!("a histogram of {step} bins with {} numbers", numbers.len());
                return Err(Error::invalid(what).in_member(name));
            }
        }
        let sums = statistics::of_entry(entry);
        for (name, sum) in &mut self.scalars {
            if *name == "fEntries" {
                *sum += 1.0;
            } else if (is_inside || self.counts_all)
                && let Some(at) = statistics::NAMES.iter().position(|known| known == name)
            {
                *sum += sums[at];
            }
        }
        Ok(())
    }

    /// Where the squares of weights are kept, if they are.
    fn squares(&self) -> &'static str {
        if self.is_profile() { "fBinSumw2" } else { "fSumw2" }
    }
}
