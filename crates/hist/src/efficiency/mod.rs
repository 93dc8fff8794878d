//! Efficiencies and their confidence intervals, like those of `TEfficiency`.

mod beta;
mod interval;
mod normal;

#[cfg(test)]
mod tests;

pub use interval::{Interval, beta_interval};

use std::collections::HashMap;

/// Bin contents of the two histograms of a `TEfficiency`, and its options. All arrays have one number for
/// each bin, with underflow and overflow.
#[derive(Clone, Debug, Default)]
pub struct Efficiency {
    /// Number, or sum of weights, of all entries.
    pub total: Vec<f64>,
    /// Number, or sum of weights, of the entries that passed.
    pub passed: Vec<f64>,
    /// Sums of squared weights of all entries and of those that passed; `None` without weights.
    pub squares: Option<[Vec<f64>; 2]>,
    /// Bayesian statistics; `None` for frequentist ones.
    pub posterior: Option<Posterior>,
    /// `TEfficiency::fStatisticOption`.
    pub option: i64,
    /// `TEfficiency::fConfLevel`.
    pub level: f64,
}

/// Bayesian statistics of an efficiency.
#[derive(Clone, Debug, Default)]
pub struct Posterior {
    /// Parameters of the prior beta distribution.
    pub prior: (f64, f64),
    /// Prior parameters of the first bins, if these have their own.
    pub bin_priors: Vec<(f64, f64)>,
    /// Whether the mode is the estimate, rather than the mean.
    pub is_mode: bool,
    /// Whether the interval is the shortest, rather than the central one.
    pub is_shortest: bool,
}

impl Efficiency {
    /// Returns the estimate of each bin, like `GetEfficiency`; NaN if the posterior of a bin is unknown.
    #[must_use]
    pub fn values(&self) -> Vec<f64> {
        (0..self.total.len()).map(|bin| self.value(bin)).collect()
    }

    /// Returns the distances from the estimate of each bin to the lower and upper end of its interval, like
    /// `GetEfficiencyErrorLow` and `GetEfficiencyErrorUp`, at a confidence level between 0 and 1.
    ///
    /// Calls `proceed` before each interval that takes time to compute.
    ///
    /// # Errors
    /// Returns an error of `proceed`.
    pub fn errors<E>(
        &self,
        level: f64,
        mut proceed: impl FnMut() -> Result<(), E>,
    ) -> Result<Vec<(f64, f64)>, E> {
        // Many bins have equal numbers, whose intervals are cached.
        let mut known = HashMap::new();
        let mut once = |pair: (f64, f64), interval: &dyn Fn() -> (f64, f64)| {
            let key = (pair.0.to_bits(), pair.1.to_bits());
            match known.get(&key) {
                Some(&found) => Ok(found),
                None => {
                    proceed()?;
                    let found = interval();
                    known.insert(key, found);
                    Ok(found)
                }
            }
        };
        let errors = |bin: usize| {
            let value = self.value(bin);
            if let Some(posterior) = &self.posterior {
                let Some((a, b)) = self.parameters(posterior, bin) else { return Ok((0.0, 0.0)) };
                let (low, high) = once((a, b), &|| beta_interval(a, b, level, posterior.is_shortest))?;
                return Ok((value - low, high - value));
            }
            if let Some(reach) = self.weighted_reach(bin, value, level) {
                let low = if value - reach < 0.0 { value } else { reach };
                return Ok((low, if value + reach > 1.0 { 1.0 - value } else { reach }));
            }
            let (total, passed) = (self.total[bin], self.passed[bin]);
            let ends = || Interval::of_option(self.option).ends(total, passed, level);
            let (low, high) = once((total, passed), &ends)?;
            Ok((value - low, high - value))
        };
        (0..self.total.len()).map(errors).collect()
    }

    fn value(&self, bin: usize) -> f64 {
        let (total, passed) = (self.total[bin], self.passed[bin]);
        let Some(posterior) = &self.posterior else {
            return if total == 0.0 { 0.0 } else { passed / total };
        };
        match self.parameters(posterior, bin) {
            Some((a, b)) if posterior.is_mode => mode(a, b),
            Some((a, b)) => mean(a, b),
            None => f64::NAN,
        }
    }

    /// Returns the parameters of a bin's posterior; `None` if weights are used, but the bin has none.
    fn parameters(&self, posterior: &Posterior, bin: usize) -> Option<(f64, f64)> {
        let (total, passed) = (self.total[bin], self.passed[bin]);
        let (alpha, beta) = posterior.bin_priors.get(bin).copied().unwrap_or(posterior.prior);
        match &self.squares {
            None => Some((passed + alpha, total - passed + beta)),
            Some([squares, _]) => {
                // Scales numbers to the effective number of entries, by their weights.
                let squares = squares.get(bin).copied().filter(|&squares| squares > 0.0)?;
                let scale = total / squares;
                Some((passed * scale + alpha, (total - passed) * scale + beta))
            }
        }
    }

    /// Returns half the width of the interval of a bin with weights, in the normal approximation; `None`
    /// without weights.
    fn weighted_reach(&self, bin: usize, value: f64, level: f64) -> Option<f64> {
        let [all, passed] = self.squares.as_ref()?;
        let at = |squares: &[f64]| squares.get(bin).copied().unwrap_or(0.0);
        let variance = at(passed) * (1.0 - 2.0 * value) + at(all) * (value * value);
        let variance = variance / (self.total[bin] * self.total[bin]);
        Some(normal::quantile(1.0 - (1.0 - level) / 2.0) * variance.sqrt())
    }
}

/// Returns the mean of a beta distribution; 0 if the sum of its parameters is not positive.
fn mean(a: f64, b: f64) -> f64 {
    if a + b > 0.0 { a / (a + b) } else { 0.0 }
}

/// Returns the mode of a beta distribution; 0 if its parameters are invalid.
fn mode(a: f64, b: f64) -> f64 {
    if a <= 0.0 || b <= 0.0 {
        0.0
    } else if a > 1.0 && b > 1.0 {
        (a - 1.0) / (a + b - 2.0)
    } else if a == b {
        0.5
    } else {
        f64::from(u8::from(a > b))
    }
}
