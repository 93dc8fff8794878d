//! Merging of buffered entries, by the rules of `TH1::Merge`.

use crate::limits::find_range;
use crate::{Axis, Error, Histogram, Result};

impl Histogram {
    /// Merges both entry buffers; returns whether bin contents still have to be added.
    ///
    /// Entries of histograms without a range stay buffered until all histograms are merged, since ROOT finds
    /// the range first.
    pub(crate) fn merge_buffers(&mut self, other: &mut Self) -> Result<bool> {
        if self.buffer.is_none() && other.buffer.is_none() {
            return Ok(true);
        }
        let ranges = [self.has_range(), other.has_range()];
        for (histogram, has_range) in [(&mut *self, ranges[0]), (&mut *other, ranges[1])] {
            if has_range && !histogram.is_late {
                histogram.flush()?;
            } else if !has_range && histogram.arrays.iter().any(|(_, numbers)| !numbers.is_zero()) {
                return Err(Error::FilledWithoutRange);
            }
        }
        if ranges == [true; 2] {
            return Ok(true);
        }
        if ranges[0] != ranges[1] && self.finds_powers_of_two {
            return Err(Error::PowersOfTwo);
        }
        let squares = self.weight_squares();
        if other.has(squares) {
            self.keep_squares(squares);
        }
        if ranges == [false, true] {
            self.adopt_axes(other)?;
            return Ok(true);
        }
        // The other histogram has no range, so all its entries are buffered.
        match (&mut self.buffer, other.buffer.take()) {
            (_, None) if other.is_bare() => {}
            (Some(own), Some(more)) => own.append(&more)?,
            (own @ None, Some(more)) if ranges[0] => *own = Some(more),
            _ => return Err(Error::NoRange),
        }
        self.is_late |= ranges[0];
        Ok(false)
    }

    /// Replaces axes without a range by those of another histogram.
    fn adopt_axes(&mut self, other: &Self) -> Result<()> {
        let both = self.own_axes().iter().zip(other.own_axes());
        if let Some((own, _)) = both.clone().find(|(own, other)| own.has_range() && own != other) {
            return Err(Error::PartialRange { axis: own.describe() });
        }
        let cells = other.cells()?;
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

    /// Returns the sum in the form that is written. Buffered entries are filled into bins if they exceed the
    /// buffer, or if they were merged into a histogram with a range from others without one.
    ///
    /// # Errors
    /// Returns an error if ROOT's rule for the range of an axis is not known.
    pub fn settled(mut self) -> Result<Self> {
        if self.has_range() {
            if self.is_late {
                self.flush()?;
            }
            return Ok(self);
        }
        let Some(buffer) = &self.buffer else { return Ok(self) };
        let Some(kept) = buffer.overflows_at() else { return Ok(self) };
        let is_special = |axis: &Axis| axis.is_integer || axis.can_extend() || axis.has_labels();
        let is_special = self.finds_powers_of_two || self.own_axes().iter().any(is_special);
        let mut axes = self.own_axes().to_vec();
        for (number, axis) in axes.iter_mut().enumerate() {
            let mut found = buffer.coordinates(number);
            found.truncate(kept);
            if is_special || found.iter().any(|coordinate| !coordinate.is_finite()) {
                return Err(Error::FullBuffer);
            }
            if self.is_profile() || !axis.has_range() {
                let low = found.iter().copied().fold(f64::INFINITY, f64::min);
                let high = found.into_iter().fold(f64::NEG_INFINITY, f64::max);
                let range = find_range(axis.bins, low, high, false, false);
                (axis.low, axis.high) = (range.low, range.high);
                axis.edges.clear();
            }
        }
        for ((changed, own), new) in self.changed.iter_mut().zip(&mut self.axes).zip(axes) {
            *changed = true;
            *own = new;
        }
        self.flush()?;
        Ok(self)
    }

    /// Fills all buffered entries into bins.
    fn flush(&mut self) -> Result<()> {
        let Some(buffer) = self.buffer.take() else { return Ok(()) };
        self.is_flushed = true;
        buffer.entries().try_for_each(|entry| self.fill(&entry))
    }
}
