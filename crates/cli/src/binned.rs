//! Histograms of columns or objects, for drawing and printing.

use serde::Serialize;

/// Bins of an axis.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Binning {
    pub(crate) title: String,
    /// Edges of the bins in increasing order: one more than the number of bins.
    pub(crate) edges: Vec<f64>,
    /// Labels of bins, by their index.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) labels: Vec<(usize, String)>,
}

/// One-dimensional histogram.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Filled {
    pub(crate) name: String,
    #[serde(flatten)]
    pub(crate) binning: Binning,
    pub(crate) values: Vec<f64>,
    pub(crate) errors: Vec<f64>,
    /// Number of values, including those outside of the bins.
    pub(crate) entries: f64,
    pub(crate) below: f64,
    pub(crate) above: f64,
    /// Number of NaN values.
    pub(crate) not_numbers: u64,
    pub(crate) mean: Option<f64>,
    pub(crate) deviation: Option<f64>,
    /// Whether the values are means of a profile.
    pub(crate) is_profile: bool,
}

/// Two-dimensional histogram.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Grid {
    pub(crate) name: String,
    pub(crate) x: Binning,
    pub(crate) y: Binning,
    /// Values row by row, from the lowest row.
    pub(crate) values: Vec<f64>,
    pub(crate) entries: f64,
    /// Number of pairs outside of the bins.
    pub(crate) outside: f64,
    /// Whether the values are means of a profile.
    pub(crate) is_profile: bool,
}

impl Filled {
    /// Returns the edges of each bin with its value.
    pub(crate) fn columns(&self) -> impl Iterator<Item = ([f64; 2], f64)> + '_ {
        self.binning.edges.windows(2).zip(&self.values).map(|(ends, value)| ([ends[0], ends[1]], *value))
    }

    /// Returns the values that the vertical axis must cover: those of the bins, in profiles also the ends of
    /// the error bars.
    pub(crate) fn reaches(&self) -> impl Iterator<Item = f64> + '_ {
        let errors = self.errors.iter().filter(|_| self.is_profile);
        let ends = self.values.iter().zip(errors).flat_map(|(value, error)| [value - error, value + error]);
        self.values.iter().copied().chain(ends)
    }

    /// Scales the histogram to an area of 1.
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
