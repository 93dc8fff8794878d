//! Histograms that are drawn or printed, of columns or of objects.

use serde::Serialize;

/// The bins of an axis.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Binning {
    pub(crate) title: String,
    /// One more than there are bins, in increasing order.
    pub(crate) edges: Vec<f64>,
    /// Names of bins.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) labels: Vec<(usize, String)>,
}

/// A histogram of one dimension.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Filled {
    pub(crate) name: String,
    #[serde(flatten)]
    pub(crate) binning: Binning,
    pub(crate) values: Vec<f64>,
    pub(crate) errors: Vec<f64>,
    /// Number of values, those outside of the bins included.
    pub(crate) entries: f64,
    pub(crate) below: f64,
    pub(crate) above: f64,
    /// Values that are not numbers.
    pub(crate) not_numbers: u64,
    pub(crate) mean: Option<f64>,
    pub(crate) deviation: Option<f64>,
    /// Whether values are means.
    pub(crate) is_profile: bool,
}

/// A histogram of two dimensions.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Grid {
    pub(crate) name: String,
    pub(crate) x: Binning,
    pub(crate) y: Binning,
    /// Rows from the lowest on, one after the other.
    pub(crate) values: Vec<f64>,
    pub(crate) entries: f64,
    /// Pairs outside of the bins.
    pub(crate) outside: f64,
    /// Whether values are means.
    pub(crate) is_profile: bool,
}

impl Filled {
    /// The ends of each bin with its value.
    pub(crate) fn columns(&self) -> impl Iterator<Item = ([f64; 2], f64)> + '_ {
        self.binning.edges.windows(2).zip(&self.values).map(|(ends, value)| ([ends[0], ends[1]], *value))
    }

    /// Values that the vertical axis shows: those of bins, of profiles with errors.
    pub(crate) fn reaches(&self) -> impl Iterator<Item = f64> + '_ {
        let errors = self.errors.iter().filter(|_| self.is_profile);
        let ends = self.values.iter().zip(errors).flat_map(|(value, error)| [value - error, value + error]);
        self.values.iter().copied().chain(ends)
    }

    /// Scales the histogram so that its area is 1.
    pub(crate) fn normalize(&mut self) {
        let widths: Vec<f64> = self.binning.edges.windows(2).map(|ends| ends[1] - ends[0]).collect();
        let sum: f64 = self.values.iter().filter(|value| value.is_finite()).sum();
        if sum == 0.0 {
            return;
        }
        for (numbers, width) in self.values.iter_mut().zip(&mut self.errors).zip(widths) {
            *numbers.0 /= sum * width;
            *numbers.1 /= sum * width;
        }
    }
}
