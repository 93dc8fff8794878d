//! What is summarised.

/// What is summarised of a column besides its counts, extremes and moments.
#[derive(Clone, Debug, PartialEq)]
pub struct StatsOptions {
    /// The quantiles, as fractions.
    pub quantiles: Vec<f64>,
    /// The number of most frequent values.
    pub top: usize,
    /// Distinct values of a column that are counted exactly, in some 40 bytes for each.
    pub distinct: usize,
    /// Threads that read and summarise; as many as there are processors if nothing is said.
    pub threads: Option<usize>,
}

impl Default for StatsOptions {
    fn default() -> Self {
        Self { quantiles: vec![0.25, 0.5, 0.75], top: 3, distinct: 1 << 15, threads: None }
    }
}
