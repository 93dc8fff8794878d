//! Filling of buffered entries into bins, like `TH1::BufferEmpty`.

use crate::axis::LETTERS;
use crate::histogram::is_contents;
use crate::limits::{Range, find_range, powers_of_two};
use crate::{Axis, EntryBuffer, Error, Histogram, Result};

/// Axes with which some of the buffered entries are filled.
struct Stage {
    /// Index of the first entry that is filled with these axes.
    first: usize,
    axes: Vec<Axis>,
}

impl Histogram {
    /// Whether the histogram has buffered entries.
    #[must_use]
    pub fn is_buffered(&self) -> bool {
        self.buffer.as_ref().is_some_and(|buffer| !buffer.is_empty())
    }

    /// Returns the axes after buffered entries are filled: ROOT finds the range of some axes and extends
    /// others.
    ///
    /// # Errors
    /// Returns an error if ROOT's rule is not known, or results in a range that is infinite or has no bins.
    pub fn emptied_axes(&self) -> Result<Vec<Axis>> {
        let Some(buffer) = self.buffer.as_ref().filter(|buffer| !buffer.is_empty()) else {
            return Ok(self.own_axes().to_vec());
        };
        let stages = self.stages(buffer)?;
        Ok(stages.into_iter().next_back().map(|stage| stage.axes).unwrap_or_default())
    }

    /// Returns the histogram after buffered entries are filled.
    ///
    /// # Errors
    /// Returns an error in the cases of [`emptied_axes`](Self::emptied_axes), or if an array does not have
    /// one number for each bin.
    pub fn emptied(mut self) -> Result<Self> {
        let Some(buffer) = self.buffer.take().filter(|buffer| !buffer.is_empty()) else { return Ok(self) };
        let mut stages = self.stages(&buffer)?;
        if !self.has_range() {
            self.resize_arrays(&stages[0].axes)?;
        }
        self.set_axes(stages[0].axes.clone());
        self.check_lengths()?;
        let ends: Vec<usize> = stages.iter().skip(1).map(|next| next.first).chain([buffer.len()]).collect();
        let axes: Vec<Option<Vec<Axis>>> =
            stages.drain(..).skip(1).map(|stage| Some(stage.axes)).chain([None]).collect();
        let mut entries = buffer.entries();
        let mut first = 0;
        for (end, longer) in ends.into_iter().zip(axes) {
            entries.by_ref().take(end - first).try_for_each(|entry| self.fill(&entry))?;
            first = end;
            if let Some(longer) = longer {
                self.extend_to(longer);
            }
        }
        self.is_flushed = true;
        Ok(self)
    }

    /// Returns the axes with which buffered entries are filled, in the order of the entries.
    fn stages(&self, buffer: &EntryBuffer) -> Result<Vec<Stage>> {
        let coordinates: Vec<Vec<f64>> = (0..self.dimensions).map(|axis| buffer.coordinates(axis)).collect();
        let mut stages = Vec::new();
        let mut axes = self.own_axes().to_vec();
        let extends_all = axes.iter().all(Axis::can_extend);
        if !self.has_range() {
            for (number, found) in coordinates.iter().enumerate() {
                let axis = &axes[number];
                if self.is_profile() || !axis.has_range() {
                    axes[number] = self.with_found_range(number, found)?;
                } else if extends_all {
                    let (low, high) = extremes(found.get(1..).unwrap_or_default(), axis.low, axis.high);
                    axes[number] = with_range(axis, number, low, high)?;
                }
            }
        } else if extends_all {
            // Like ROOT, extend the axes to the smallest and largest entry first.
            stages.push(Stage { first: 0, axes: axes.clone() });
            for (number, found) in coordinates.iter().enumerate() {
                let axis = &axes[number];
                let (least, most) = self.extremes_along(axis, found);
                if least < axis.low {
                    extend(&mut axes, number, least)?;
                }
                if most >= axes[number].high {
                    extend(&mut axes, number, most)?;
                }
            }
        }
        stages.push(Stage { first: 0, axes: axes.clone() });
        // Each entry outside an axis then extends it, unless its bins are found by label.
        let able: Vec<usize> =
            (0..axes.len()).filter(|&at| axes[at].can_extend() && !axes[at].is_alphanumeric()).collect();
        let entries = if able.is_empty() { 0 } else { buffer.len() };
        #[expect(clippy::needless_range_loop, reason = "each axis has its coordinates by entry")]
        for entry in 0..entries {
            let is_outside = |&number: &usize| {
                let (axis, place) = (&axes[number], coordinates[number][entry]);
                place < axis.low || place >= axis.high || place.is_nan()
            };
            if !able.iter().any(is_outside) {
                continue;
            }
            let mut is_last = false;
            for &number in &able {
                let place = coordinates[number][entry];
                if place.is_nan() {
                    // ROOT does not extend any axis after a NaN.
                    is_last = true;
                    break;
                }
                extend(&mut axes, number, place)?;
            }
            stages.push(Stage { first: entry, axes: axes.clone() });
            if is_last {
                break;
            }
        }
        Ok(stages)
    }

    /// Returns the smallest and largest coordinate to which an axis with a range is extended first.
    fn extremes_along(&self, axis: &Axis, found: &[f64]) -> (f64, f64) {
        let is_single = self.dimensions == 1;
        if !self.is_profile() && !is_single {
            // ROOT starts from the range of the axis, and skips the first entry.
            return extremes(found.get(1..).unwrap_or_default(), axis.low, axis.high);
        }
        let known: Vec<f64> = found.iter().copied().filter(|x| !is_single || x.is_finite()).collect();
        let first = known.first().copied().unwrap_or(axis.low);
        extremes(&known, first, first)
    }

    /// Returns an axis with the range that ROOT finds from all entries.
    fn with_found_range(&self, number: usize, entries: &[f64]) -> Result<Axis> {
        let axis = &self.axes[number];
        let finite: Vec<f64> = entries.iter().copied().filter(|x| x.is_finite()).collect();
        let is_plain = self.dimensions == 1 && !self.is_profile();
        let (Some(&first), true) = (finite.first(), finite.len() == entries.len() || is_plain) else {
            return Err(Error::NotFinite { axis: LETTERS[number] });
        };
        let (low, high) = extremes(&finite, first, first);
        let mut found = find_range(axis.bins, low, high, axis.is_integer, axis.has_labels());
        if is_plain && low < high && self.finds_powers_of_two {
            found = powers_of_two(found, low, high);
        }
        let Range { bins, low, high } = found;
        if !(1..=MOST_BINS.max(axis.bins)).contains(&bins) {
            return Err(Error::FoundBins { bins });
        }
        Ok(Axis { bins, low, high, edges: Vec::new(), ..axis.clone() })
    }

    /// Truncates arrays to the number of bins that were found, or pads them with zeros. Bins keep their
    /// indices.
    fn resize_arrays(&mut self, axes: &[Axis]) -> Result<()> {
        let cells = crate::histogram::cells(axes)?;
        let is_profile = self.is_profile();
        for (name, numbers) in &mut self.arrays {
            let is_kept = is_contents(name) || (is_profile && *name != "fBinSumw2");
            if numbers.is_empty() && !is_kept {
                continue;
            }
            if cells > (MOST_BINS as usize).max(numbers.len().saturating_mul(8)) {
                return Err(Error::BinCount {
                    member: name,
                    expected: cells as u64,
                    found: numbers.len() as u64,
                });
            }
            *numbers = numbers.part(0..cells.min(numbers.len()), cells);
        }
        Ok(())
    }

    fn set_axes(&mut self, axes: Vec<Axis>) {
        for ((changed, own), new) in self.changed.iter_mut().zip(&mut self.axes).zip(axes) {
            *changed |= *own != new;
            *own = new;
        }
    }

    /// Moves each bin to the bin of its centre on longer axes. As in ROOT, underflow and overflow of an
    /// extended axis are lost, and so are sums of bins without contents, except for profiles.
    fn extend_to(&mut self, longer: Vec<Axis>) {
        let mut stride = 1;
        for (number, new) in longer.iter().enumerate() {
            let axis = &self.axes[number];
            let cells = axis.cells().unwrap_or(2);
            if (axis.low, axis.high) != (new.low, new.high) {
                let width = axis.width();
                let contents = if self.is_profile() { None } else { self.contents().cloned() };
                let target = |cell: usize| {
                    let bin = cell / stride % cells;
                    let is_moved = (1..cells - 1).contains(&bin)
                        && contents.as_ref().is_none_or(|contents| contents.is_set(cell));
                    let to = new.find_bin(axis.low + (bin as f64 - 0.5) * width);
                    is_moved.then(|| cell - bin * stride + to * stride)
                };
                let moved: Vec<_> =
                    self.arrays.iter().map(|(name, numbers)| (*name, numbers.gathered(target))).collect();
                self.arrays = moved;
            }
            stride *= cells;
        }
        self.set_axes(longer);
    }
}

/// Returns the smallest and largest of two numbers and all coordinates. NaN is ignored.
fn extremes(coordinates: &[f64], mut least: f64, mut most: f64) -> (f64, f64) {
    for &coordinate in coordinates {
        if coordinate < least {
            least = coordinate;
        }
        if coordinate > most {
            most = coordinate;
        }
    }
    (least, most)
}

/// Returns an axis with the same number of equal bins in another range.
fn with_range(axis: &Axis, number: usize, low: f64, high: f64) -> Result<Axis> {
    if (low, high) == (axis.low, axis.high) {
        return Ok(axis.clone());
    }
    if !low.is_finite() || !high.is_finite() {
        return Err(Error::InfiniteAxis { axis: LETTERS[number] });
    }
    if !axis.edges.is_empty() {
        return Err(Error::VariableAxis { axis: LETTERS[number] });
    }
    Ok(Axis { low, high, ..axis.clone() })
}

/// Doubles an axis until it contains a coordinate. The axis is unchanged if that takes too many steps.
fn extend(axes: &mut [Axis], number: usize, place: f64) -> Result<()> {
    let axis = &axes[number];
    let (mut low, mut high) = (axis.low, axis.high);
    let (mut span, mut times) = (high - low, 0);
    while place < low || place >= high {
        times += 1;
        if times > MOST_DOUBLINGS {
            return Ok(());
        }
        (low, high) = if place < low { (low - span, high) } else { (low, high + span) };
        span *= 2.0;
    }
    axes[number] = with_range(axis, number, low, high)?;
    Ok(())
}

/// Upper bound on the bins of a range that is found from entries.
const MOST_BINS: i64 = 1 << 24;
/// Upper bound on the doublings for one entry, as in ROOT.
const MOST_DOUBLINGS: u32 = 65;
