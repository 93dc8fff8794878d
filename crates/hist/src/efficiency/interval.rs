//! Confidence intervals of efficiencies.

use super::beta::{Beta, binomial, deviance};
use super::normal;

/// Method of computing a confidence interval from the number of all entries and of those that passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interval {
    /// The normal approximation.
    Normal,
    /// Wilson's score interval.
    Wilson,
    /// Agresti and Coull's interval.
    AgrestiCoull,
    /// Clopper and Pearson's interval, whose coverage is at least the confidence level.
    ClopperPearson,
    /// Feldman and Cousins' interval, ordered by likelihood ratio.
    FeldmanCousins,
    /// Lancaster's mid-P interval.
    MidP,
}

impl Interval {
    /// Returns the interval of a `TEfficiency::EStatOption`. Unknown options mean Clopper-Pearson, as in
    /// ROOT.
    #[must_use]
    pub const fn of_option(option: i64) -> Self {
        match option {
            1 => Self::Normal,
            2 => Self::Wilson,
            3 => Self::AgrestiCoull,
            4 => Self::FeldmanCousins,
            8 => Self::MidP,
            _ => Self::ClopperPearson,
        }
    }

    /// Returns both ends of the interval at a confidence level. Invalid numbers give the ends of
    /// `TEfficiency`.
    #[must_use]
    pub fn ends(self, total: f64, passed: f64, level: f64) -> (f64, f64) {
        match self {
            Self::Normal | Self::Wilson | Self::AgrestiCoull => self.approximate(total, passed, level),
            Self::ClopperPearson => clopper_pearson(total, passed, level),
            Self::FeldmanCousins => feldman_cousins(total, passed, level),
            Self::MidP => mid_p(total, passed, level),
        }
    }

    /// Returns both ends of an interval that uses quantiles of the normal distribution.
    fn approximate(self, total: f64, passed: f64, level: f64) -> (f64, f64) {
        if total == 0.0 {
            return (0.0, 1.0);
        }
        let kappa = normal::quantile(1.0 - (1.0 - level) / 2.0);
        let share = passed / total;
        let more = total + kappa * kappa;
        let shifted = (passed + 0.5 * (kappa * kappa)) / more;
        let (middle, reach) = match self {
            Self::Normal => (share, kappa * (share * (1.0 - share) / total).sqrt()),
            Self::Wilson => {
                let spread = total * share * (1.0 - share) + kappa * kappa / 4.0;
                (shifted, kappa / more * spread.sqrt())
            }
            _ => (shifted, kappa * (shifted * (1.0 - shifted) / more).sqrt()),
        };
        let low = if middle - reach < 0.0 { 0.0 } else { middle - reach };
        (low, if middle + reach > 1.0 { 1.0 } else { middle + reach })
    }
}

/// Returns both ends of the central or shortest interval with probability `level` of a beta distribution.
#[must_use]
pub fn beta_interval(a: f64, b: f64, level: f64, shortest: bool) -> (f64, f64) {
    if !(a > 0.0 && b > 0.0) {
        return (0.0, 1.0);
    }
    let beta = Beta::new(a, b);
    let rest = 1.0 - level;
    if !shortest || (a == b && a <= 1.0) {
        return (beta.quantile((1.0 - level) / 2.0), beta.quantile((1.0 + level) / 2.0));
    }
    if a <= 1.0 || b <= 1.0 {
        // The mode is 0 or 1, which is also one end of the interval.
        return if a < b { (0.0, beta.quantile(level)) } else { (beta.quantile(rest), 1.0) };
    }
    // The density is equal at both ends of the shortest interval.
    let (mut low, mut high) = (0.0, beta.quantile(rest).min((a - 1.0) / (a + b - 2.0)));
    let mut ends = (low, beta.quantile(level));
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            break;
        }
        ends = (middle, beta.quantile(beta.below(middle) + level));
        if beta.log_density(ends.0) < beta.log_density(ends.1) {
            low = middle;
        } else {
            high = middle;
        }
    }
    ends
}

fn clopper_pearson(total: f64, passed: f64, level: f64) -> (f64, f64) {
    let tail = (1.0 - level) / 2.0;
    let low = if passed == 0.0 { 0.0 } else { Beta::new(passed, total - passed + 1.0).quantile(tail) };
    let high =
        if passed == total { 1.0 } else { Beta::new(passed + 1.0, total - passed).quantile(1.0 - tail) };
    (low, high)
}

fn mid_p(total: f64, passed: f64, level: f64) -> (f64, f64) {
    if passed > 0.0 && passed < 1.0 {
        // Interpolates between the intervals of 0 and 1.
        let (none, one) = (mid_p(total, 0.0, level), mid_p(total, 1.0, level));
        return ((one.0 - none.0) * passed + none.0, (one.1 - none.1) * passed + none.1);
    }
    let tail = (1.0 - level) / 2.0;
    let failed = total - passed;
    let (as_many, fewer) = (Beta::new(passed + 1.0, failed + 1.0), Beta::new(passed, failed + 1.0));
    // Half the probability of `passed` and the one of fewer, by the beta distribution, since weights are not
    // integers.
    let below = |p: f64| {
        let half = 0.5 * as_many.density(p) / (total + 1.0);
        if passed >= 1.0 { half + fewer.above(p) } else { half }
    };
    (halve(|p| below(p) > 1.0 - tail), halve(|p| below(p) > tail))
}

fn feldman_cousins(total: f64, passed: f64, level: f64) -> (f64, f64) {
    if total.is_nan() || total.abs() >= MOST_COUNTS {
        return (f64::NAN, f64::NAN);
    }
    let count = total as i64;
    let set = |p: f64| accepted(p, count, 1.0 - (1.0 - level));
    (halve(|p| (set(p).1 as f64) < passed), halve(|p| (set(p).0 as f64) <= passed))
}

/// Returns the smallest and largest number that an efficiency accepts, ordered by likelihood ratio.
fn accepted(p: f64, count: i64, level: f64) -> (i64, i64) {
    let (mut least, mut greatest) = (count, 0);
    if count < 0 {
        return (least, greatest);
    }
    let whole = count as f64;
    // The logarithm of the likelihood ratio, which increases on both sides of the mean.
    let distance = |passed: i64| match passed {
        0..=i64::MAX if passed <= count => deviance(passed as f64, (count - passed) as f64, p),
        _ => f64::INFINITY,
    };
    let mut left = (whole * p) as i64;
    let mut right = left + 1;
    let (mut at_left, mut at_right) = (distance(left), distance(right));
    let mut sum = 0.0;
    while sum < level {
        if !(at_left < NEVER || at_right < NEVER) {
            // All other numbers have a probability of 0.
            return (0, count);
        }
        let taken = if at_left <= at_right { left } else { right };
        sum += binomial(taken as f64, (count - taken) as f64, p);
        (least, greatest) = (least.min(taken), greatest.max(taken));
        if taken == left {
            left -= 1;
            at_left = distance(left);
        } else {
            right += 1;
            at_right = distance(right);
        }
    }
    (least, greatest)
}

/// Returns the number between 0 and 1 at which a condition stops holding, by the bisection of `TEfficiency`.
fn halve(holds: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high, mut middle) = (0.0, 1.0, 0.5);
    while high - low > 1e-9 {
        middle = f64::midpoint(low, high);
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    middle
}

/// Upper bound on the number of entries, which ROOT counts with 32 bits here.
const MOST_COUNTS: f64 = 2_147_483_648.0;
/// Negative logarithm of the smallest positive `f64`.
const NEVER: f64 = 745.0;
/// Number of bisections, after which an interval of length 1 is shorter than 1e-30.
const HALVINGS: usize = 100;
