//! Axes of histograms.

/// The bins of one dimension. Bin 0 is the underflow, bin `bins + 1` the overflow.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// `TAxis::fNbins`, without underflow and overflow.
    pub bins: i64,
    /// Lower edge of the first bin.
    pub low: f64,
    /// Upper edge of the last bin. The axis has no range yet if it is not above `low`.
    pub high: f64,
    /// Edges of bins of different widths; empty if all bins have the same width.
    pub edges: Vec<f64>,
    /// Bin numbers and their labels.
    pub labels: Vec<(i64, String)>,
    /// `TAxis::fBits2`: bits for an axis that can be extended, and for bins that are found by label.
    pub bits: i64,
    /// `TAxis::kIsInteger`: if the range is found from entries, the width of the bins is an integer.
    pub is_integer: bool,
}

impl Axis {
    /// Whether the axis has a range. Otherwise it is found from entries.
    #[must_use]
    pub fn has_range(&self) -> bool {
        self.low < self.high
    }

    /// Returns the bin of a value, like `TAxis::FindBin`. NaN is in the overflow.
    #[must_use]
    pub fn find_bin(&self, x: f64) -> usize {
        let bins = usize::try_from(self.bins).unwrap_or(0);
        if x < self.low {
            return 0;
        }
        if x >= self.high || x.is_nan() {
            return bins + 1;
        }
        if !self.edges.is_empty() {
            return self.edges.partition_point(|edge| *edge <= x);
        }
        let count = bins as f64;
        let bin = 1 + (count * (x - self.low) / (self.high - self.low)).min(count + 1.0) as usize;
        // Rounding may move the quotient to a neighbouring bin: the edges decide.
        let width = self.width();
        let is_lower = x < self.low + (bin - 1) as f64 * width;
        let is_upper = x >= self.low + bin as f64 * width && bin < bins;
        (bin - usize::from(is_lower) + usize::from(is_upper)).max(1)
    }

    /// Returns the centre of a bin, like `TAxis::GetBinCenter`. Underflow and overflow have the average
    /// width.
    #[must_use]
    pub fn center(&self, bin: usize) -> f64 {
        match bin.checked_sub(1).and_then(|first| Some((self.edges.get(first)?, self.edges.get(first + 1)?)))
        {
            Some((low, high)) => low + 0.5 * (high - low),
            None => {
                let width = self.width();
                self.low + (bin as f64 - 1.0) * width + 0.5 * width
            }
        }
    }

    /// Returns the average width of a bin.
    #[must_use]
    pub fn width(&self) -> f64 {
        (self.high - self.low) / self.bins as f64
    }

    /// Returns the number of bins with underflow and overflow; `None` if it is negative or too large.
    #[must_use]
    pub fn cells(&self) -> Option<usize> {
        usize::try_from(self.bins).ok()?.checked_add(2)
    }

    /// `TAxis::kCanExtend`: whether values outside of the range extend the axis.
    #[must_use]
    pub const fn can_extend(&self) -> bool {
        self.bits & CAN_EXTEND != 0
    }

    /// `TAxis::kAlphanumeric`: whether bins are found by label.
    #[must_use]
    pub const fn is_alphanumeric(&self) -> bool {
        self.bits & ALPHANUMERIC != 0
    }

    /// Whether any bin has a label.
    #[must_use]
    pub fn has_labels(&self) -> bool {
        !self.labels.is_empty()
    }

    /// Returns a description of the axis for error messages.
    #[must_use]
    pub fn describe(&self) -> String {
        let edges = if self.edges.is_empty() { "" } else { " of several widths" };
        let labels = if self.labels.is_empty() { "" } else { " with labels" };
        format!("{} bins{edges} from {} to {}{labels}", self.bins, self.low, self.high)
    }
}

/// Names of the axes in error messages.
pub(crate) const LETTERS: [&str; 3] = ["x", "y", "z"];
const CAN_EXTEND: i64 = 1 << 1;
const ALPHANUMERIC: i64 = 1 << 0;

#[cfg(test)]
mod tests {
    use super::Axis;

    #[test]
    fn values_at_edges_are_in_the_bins_of_root() {
        // The expected bins are those of `TAxis::FindFixBin` in C++ ROOT 6.40.
        let axis = Axis { bins: 100, low: 0.1, high: 1.1, ..Axis::default() };
        for (x, bin) in [(0.18, 9), (0.35, 26), (0.1, 1), (1.1, 101), (0.099, 0), (f64::NAN, 101)] {
            assert_eq!(axis.find_bin(x), bin, "{x}");
        }
        let axis = Axis { bins: 3, low: 0.0, high: 9.0, edges: vec![0.0, 1.0, 4.0, 9.0], ..Axis::default() };
        assert_eq!([0.0, 1.0, 3.9, 4.0, 9.0].map(|x| axis.find_bin(x)), [1, 2, 2, 3, 4]);
    }

    #[test]
    fn damaged_axes_have_some_bin() {
        for (bins, low, high) in
            [(0, 0.0, 1.0), (-3, 0.0, 1.0), (5, f64::NEG_INFINITY, f64::INFINITY), (i64::MAX, 0.0, 1e-300)]
        {
            let axis = Axis { bins, low, high, ..Axis::default() };
            for x in [0.0, 0.5, -1e308, 1e308, f64::NAN, f64::INFINITY] {
                let _ = axis.find_bin(x);
            }
        }
    }
}
