//! The common axis of two histograms, by the rules of `TH1::Merge`.

use crate::Axis;

/// The common axis of two histograms.
#[derive(Clone, Debug)]
pub struct MergedAxis {
    /// The axis of the sum.
    pub axis: Axis,
    /// For each of both axes, the new bin of each of its bins, with underflow and overflow; `None` if all
    /// bins stay. A bin that has no new bin must be empty.
    pub places: [Option<Vec<Option<usize>>>; 2],
}

impl Axis {
    /// Returns the axis of the sum of two histograms by ROOT's rules; `None` if there is none. Bins with
    /// equal labels are merged. Bins of equal widths may extend the first axis, or divide the bins of the
    /// other. `bare` histograms have no entries, and may lack the labels that ROOT adds while filling.
    #[must_use]
    pub fn merged(&self, other: &Self, bare: [bool; 2]) -> Option<MergedAxis> {
        let lacks = [bare[0] && self.labels.is_empty(), bare[1] && other.labels.is_empty()];
        let labelled = [self.is_labelled(), other.is_labelled()];
        if labelled.contains(&true) && (labelled[0] || lacks[0]) && (labelled[1] || lacks[1]) {
            return Some(self.merged_by_labels(other));
        }
        if self.bins == other.bins && same(self.low, other.low, self) && same(self.high, other.high, self) {
            let alike = self.edges.len() == other.edges.len();
            let alike = alike && self.edges.iter().zip(&other.edges).all(|(one, two)| same(*one, *two, self));
            let axis = if lacks[0] && other.has_labels() { other } else { self };
            return alike.then(|| MergedAxis { axis: axis.clone(), places: [None, None] });
        }
        let regular = |axis: &Self| axis.edges.is_empty() && axis.labels.is_empty() && axis.bins > 0;
        if !regular(self) || !regular(other) {
            return None;
        }
        let axis = self.extended(other)?;
        let places = [self, other].map(|of| (*of != axis).then(|| of.bins_within(&axis)));
        Some(MergedAxis { axis, places })
    }

    /// Whether both axes have the same bins and labels.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        let stays = |merged: MergedAxis| merged.places.iter().all(Option::is_none);
        self.labels == other.labels && self.merged(other, [false; 2]).is_some_and(stays)
    }

    /// Whether labels identify the bins: each bin has one, or bins are added for new labels. Labels must be
    /// unique.
    fn is_labelled(&self) -> bool {
        let mut texts: Vec<&str> = self.labels.iter().map(|(_, text)| &**text).collect();
        texts.sort_unstable();
        let unique = texts.windows(2).all(|pair| pair[0] != pair[1]);
        let placed = self.labels.iter().all(|(bin, _)| (1..=self.bins).contains(bin));
        let all = usize::try_from(self.bins) == Ok(self.labels.len());
        unique && placed && !self.labels.is_empty() && (all || self.can_extend())
    }

    fn merged_by_labels(&self, other: &Self) -> MergedAxis {
        let mut axis = Self { bits: self.bits | other.bits, ..self.clone() };
        let mut bins: std::collections::HashMap<&str, i64> =
            self.labels.iter().map(|(bin, text)| (&**text, *bin)).collect();
        let mut last = self.labels.iter().map(|(bin, _)| *bin).max().unwrap_or(0);
        for (_, text) in &other.labels {
            bins.entry(text).or_insert_with(|| {
                last += 1;
                axis.labels.push((last, text.clone()));
                last
            });
        }
        // ROOT doubles the number of bins until there is one for each label.
        let width = self.width();
        axis.bins = self.bins.max(other.bins);
        while axis.bins < last {
            axis.bins = axis.bins.saturating_mul(2);
        }
        if axis.bins != self.bins {
            axis.high = axis.low + axis.bins as f64 * width;
            axis.edges.clear();
        }
        let end = usize::try_from(axis.bins).unwrap_or(0) + 1;
        let place = |of: &Self, bin: usize| match i64::try_from(bin) {
            Ok(0) => Some(0),
            Ok(bin) if bin > of.bins => Some(end),
            Ok(bin) => {
                let (_, text) = of.labels.iter().find(|(at, _)| *at == bin)?;
                usize::try_from(*bins.get(&**text)?).ok()
            }
            Err(_) => None,
        };
        let all = |of: &Self| (0..of.cells().unwrap_or(0)).map(|bin| place(of, bin)).collect::<Vec<_>>();
        let same = *self == axis && self.labels == other.labels && self.bins == other.bins;
        let places = if same { [None, None] } else { [Some(all(self)), Some(all(other))] };
        MergedAxis { axis, places }
    }

    /// Returns an axis that contains both, with the wider bins.
    fn extended(&self, other: &Self) -> Option<Self> {
        let widths = [self, other].map(Self::width);
        let width = widths[0].max(widths[1]);
        if !widths.iter().all(|&each| each > 0.0 && each.is_finite() && is_whole(width / each)) {
            return None;
        }
        let low = self.low.min(other.low);
        let high = self.high.max(other.high);
        // The wider bins are continued on both sides.
        let wide = if widths[0] >= widths[1] { self } else { other };
        let low = wide.low - rounded_up((wide.low - low) / width) * width;
        let high = wide.high + rounded_up((high - wide.high) / width) * width;
        let fits =
            |axis: &Self, own: f64| is_whole((axis.low - low) / own) && is_whole((high - axis.high) / own);
        if !fits(self, widths[0]) || !fits(other, widths[1]) {
            return None;
        }
        let bins = ((high - low) / width).round();
        if !(1.0..=MOST_BINS).contains(&bins) {
            return None;
        }
        Some(Self { bins: bins as i64, low, high, ..self.clone() })
    }

    /// Returns the bin of another axis for each bin. Underflow and overflow only have one if the edges are
    /// equal.
    fn bins_within(&self, axis: &Self) -> Vec<Option<usize>> {
        let end = axis.bins as usize + 1;
        let place = |bin: i64| match bin {
            0 => same(self.low, axis.low, axis).then_some(0),
            bin if bin > self.bins => same(self.high, axis.high, axis).then_some(end),
            bin => {
                let center = self.low + (bin as f64 - 0.5) * self.width();
                Some((((center - axis.low) / axis.width()) as usize + 1).min(end - 1))
            }
        };
        (0..=self.bins + 1).map(place).collect()
    }
}

/// Whether two edges are equal up to rounding.
fn same(one: f64, two: f64, axis: &Axis) -> bool {
    one == two || (one - two).abs() <= ROUNDING * (axis.high - axis.low).abs()
}

fn is_whole(number: f64) -> bool {
    (number - number.round()).abs() < WHOLE
}

/// Rounds up, except that an almost integral number is rounded to the nearest.
fn rounded_up(number: f64) -> f64 {
    if is_whole(number) { number.round() } else { number.ceil() }
}

/// Relative tolerance of equal edges, as a fraction of the axis.
const ROUNDING: f64 = 1e-12;
/// ROOT's tolerance for almost integral numbers of bins.
const WHOLE: f64 = 1e-4;
const MOST_BINS: f64 = 1e8;
