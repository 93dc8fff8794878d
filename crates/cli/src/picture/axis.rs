//! Axes: scales and tick marks.

use super::label::Label;
use crate::histogram::nice_step;

/// A linear or logarithmic range with finite ends. The ends of a logarithmic range are positive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) is_log: bool,
}

/// Tick marks of an axis, as fractions of its length.
#[derive(Debug, Default)]
pub(super) struct Marks {
    pub(super) major: Vec<(f64, Label)>,
    pub(super) minor: Vec<f64>,
    /// Common factor and offset of the numbers.
    pub(super) factor: Option<Label>,
}

/// Scale, title and bin labels of one side of the frame.
#[derive(Clone, Debug)]
pub(crate) struct AxisView {
    pub(super) scale: Scale,
    pub(super) title: Label,
    /// Bin labels with the middles of their bins.
    pub(super) names: Vec<(f64, Label)>,
}

impl Scale {
    /// Creates a range that can be drawn. A logarithmic axis covers only positive values.
    pub(super) fn new(low: f64, high: f64, is_log: bool) -> Self {
        let low = if is_log && low <= 0.0 { high * 1e-3 } else { low };
        let (span, largest) = (high - low, low.abs().max(high.abs()));
        // A range too narrow for floating-point precision has no round numbers inside.
        let is_range = span.is_finite() && span > largest * 1e-12 && span > LEAST && (!is_log || low > LEAST);
        let (low, high) = match (is_range, is_log) {
            (true, _) => (low, high),
            (false, true) => (1.0, 10.0),
            (false, false) => (0.0, 1.0),
        };
        Self { low, high, is_log }
    }

    /// Returns the position of a value as a fraction of the axis. On a logarithmic axis, values without a
    /// logarithm lie before the start.
    pub(super) fn part(&self, value: f64) -> f64 {
        if !self.is_log {
            return (value - self.low) / (self.high - self.low);
        }
        if value <= 0.0 {
            return -1.0;
        }
        (value.log10() - self.low.log10()) / (self.high.log10() - self.low.log10())
    }

    /// Returns at most about `most` marks with numbers, and small marks between them.
    pub(super) fn marks(&self, most: usize) -> Marks {
        if self.is_log {
            self.log_marks(most).unwrap_or_else(|| self.linear_marks(most))
        } else {
            self.linear_marks(most)
        }
    }

    fn linear_marks(&self, most: usize) -> Marks {
        let span = self.high - self.low;
        let step = nice_step(span, most);
        // Numbers that differ only in their last digits are shown relative to a round offset.
        let coarse = 10_f64.powf(span.log10().ceil() + 1.0);
        let is_far = self.low.abs().min(self.high.abs()) > span * 1e4;
        let offset = if is_far { (self.low / coarse).round() * coarse } else { 0.0 };
        let largest = (self.low - offset).abs().max((self.high - offset).abs());
        let is_plain = (1e-3..1e5).contains(&largest);
        let power = if is_plain { 0 } else { largest.log10().floor() as i32 };
        let unit = 10_f64.powi(power);
        // Without a factor if the power of ten overflows.
        let (unit, power) = if unit.is_normal() { (unit, power) } else { (1.0, 0) };
        let decimals = decimals(step / unit);
        let text = |value: f64| {
            let value = value - offset;
            let value = if value.abs() < step * 1e-6 { 0.0 } else { value / unit };
            format!("{value:.decimals$}").replace('-', "−")
        };
        let factor = if power == 0 { Label::default() } else { Label::power(power).after("×") };
        let sign = if offset < 0.0 { " − " } else { " + " };
        let added = if offset == 0.0 { String::new() } else { format!("{sign}{}", offset.abs()) };
        let factor = factor.before(added.trim_start());
        let major = self.multiples(step).map(|value| (self.part(value), Label::plain(&text(value))));
        let leading = step / 10_f64.powf(step.log10().floor());
        let small = step / if (1.5..3.0).contains(&leading) { 4.0 } else { 5.0 };
        let minor = self.multiples(small).map(|value| self.part(value));
        Marks {
            major: major.collect(),
            minor: minor.collect(),
            factor: Some(factor).filter(|factor| !factor.is_empty()),
        }
    }

    /// Returns the multiples of a step on the axis.
    fn multiples(&self, step: f64) -> impl Iterator<Item = f64> + use<> {
        let (first, last) = ((self.low / step - 1e-6).ceil(), (self.high / step + 1e-6).floor());
        let number = if last >= first { (last - first).min(MOST_TICKS) as u32 + 1 } else { 0 };
        (0..number).map(move |at| (first + f64::from(at)) * step)
    }

    /// Returns marks at powers of ten; `None` if the axis contains fewer than two.
    fn log_marks(&self, most: usize) -> Option<Marks> {
        let (low, high) = (self.low.log10(), self.high.log10());
        let (first, last) = ((low - 1e-9).ceil() as i32, (high + 1e-9).floor() as i32);
        if last <= first {
            return None;
        }
        let step = (last - first) / most.max(1) as i32 + 1;
        let powers = || first..=last;
        let major = powers().filter(|power| power % step == 0);
        let major = major.map(|power| (self.part(10_f64.powi(power)), Label::power(power))).collect();
        let between = (first - 1..=last).flat_map(|power| (2..10).map(move |digit| (power, digit)));
        let minor: Vec<f64> = if step == 1 {
            between.map(|(power, digit)| self.part(f64::from(digit) * 10_f64.powi(power))).collect()
        } else {
            powers().map(|power| self.part(10_f64.powi(power))).collect()
        };
        let minor = minor.into_iter().filter(|part| (0.0..=1.0).contains(part)).collect();
        Some(Marks { major, minor, factor: None })
    }
}

/// Maximum number of ticks, as a safeguard.
const MOST_TICKS: f64 = 100.0;
/// Minimum length of a range.
const LEAST: f64 = 1e-290;

/// Returns the number of decimals that distinguish multiples of a step.
fn decimals(step: f64) -> usize {
    let digits = -(step * 1.000_001).log10().floor();
    if digits.is_finite() { digits.clamp(0.0, 12.0) as usize } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(low: f64, high: f64, is_log: bool) -> Vec<String> {
        let marks = Scale::new(low, high, is_log).marks(6);
        let text = |(part, label): &(f64, Label)| {
            assert!((-1e-6..=1.0 + 1e-6).contains(part), "{low} {high}: {part}");
            label.0.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("^")
        };
        marks.major.iter().map(text).collect()
    }

    #[test]
    fn marks_are_round_numbers() {
        assert_eq!(numbers(0.0, 200.0, false), ["0", "50", "100", "150", "200"]);
        assert_eq!(numbers(-0.3, 0.3, false), ["−0.3", "−0.2", "−0.1", "0.0", "0.1", "0.2", "0.3"]);
        assert_eq!(numbers(0.0, 3e7, false), ["0.0", "0.5", "1.0", "1.5", "2.0", "2.5", "3.0"]);
        assert_eq!(numbers(0.5, 2000.0, true), ["1", "10", "10^2", "10^3"]);
        assert_eq!(numbers(1e9, 1e9 + 4.0, false), ["0", "1", "2", "3", "4"]);
        assert_eq!(numbers(2.0, 5.0, true).first().map(String::as_str), Some("2.0"));
        for (low, high) in [
            (0.0, 0.0),
            (1.0, 1.0 + 1e-12),
            (-f64::MAX, f64::MAX),
            (0.0, 1e-320),
            (f64::NAN, 1.0),
            (1e300, 2e300),
        ] {
            for is_log in [false, true] {
                let scale = Scale::new(low, high, is_log);
                assert!(scale.low < scale.high && scale.marks(6).minor.len() < 400, "{low} {high}");
                numbers(low, high, is_log);
            }
        }
    }
}
