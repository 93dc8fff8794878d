//! Options of summaries.

/// Statistics of a column in addition to counts, extremes and moments.
#[derive(Clone, Debug, PartialEq)]
pub struct StatsOptions {
    /// Fractions of the quantiles.
    pub quantiles: Vec<f64>,
    /// Number of most frequent values.
    pub top: usize,
    /// Maximum number of distinct values of a column that are counted exactly, at about 40 bytes each.
    pub distinct: usize,
    /// Number of threads; `None` for that of processors.
    pub threads: Option<usize>,
}

impl Default for StatsOptions {
    fn default() -> Self {
        Self { quantiles: vec![0.25, 0.5, 0.75], top: 3, distinct: 1 << 15, threads: None }
    }
}
