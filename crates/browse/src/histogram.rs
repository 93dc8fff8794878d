//! Histograms drawn with block characters.

use crate::{
    human::count,
    paint::{Paint, Style},
};

/// Counts in bins of equal width.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    low: f64,
    high: f64,
    counts: Vec<u64>,
    outside: Outside,
}

/// Number of values outside of the range of a histogram.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outside {
    below: u64,
    above: u64,
    not_a_number: u64,
}

impl Outside {
    /// Counts a value outside of a half-open range; returns whether it is outside.
    fn counts(&mut self, value: f64, low: f64, high: f64) -> bool {
        let number = match value {
            value if value.is_nan() => &mut self.not_a_number,
            value if value < low => &mut self.below,
            value if value >= high => &mut self.above,
            _ => return false,
        };
        *number += 1;
        true
    }

    /// Counts a value that is not finite, which is outside of any range.
    pub fn count(&mut self, value: f64) {
        self.counts(value, 0.0, 0.0);
    }

    /// Returns the number of values below the range, above it, and of NaN.
    pub fn parts(self) -> [u64; 3] {
        [self.below, self.above, self.not_a_number]
    }

    /// Returns the numbers as text; empty if all are 0.
    pub fn words(self) -> String {
        let Self { below, above, not_a_number } = self;
        let parts = [(below, "below"), (above, "above"), (not_a_number, "not a number")];
        let parts = parts.iter().filter(|(number, _)| *number > 0);
        parts.map(|(number, what)| format!("{} {what}", count(*number))).collect::<Vec<_>>().join(", ")
    }
}

const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

impl Histogram {
    /// Counts values in `bins` bins of the half-open range from `low` to `high`.
    ///
    /// The range must be finite and not empty, as those of [`robust_range`] are.
    pub fn new(values: impl IntoIterator<Item = f64>, low: f64, high: f64, bins: usize) -> Self {
        let mut made = Self::beside(Outside::default(), low, high, bins);
        made.add(values);
        made
    }

    /// Creates a histogram with empty bins and the given number of values outside of its range.
    pub fn beside(outside: Outside, low: f64, high: f64, bins: usize) -> Self {
        Self { low, high, counts: vec![0; bins.max(1)], outside }
    }

    /// Counts more values.
    pub fn add(&mut self, values: impl IntoIterator<Item = f64>) {
        let Self { low, high, counts, outside } = self;
        let scale = counts.len() as f64 / (*high - *low);
        for value in values {
            if !outside.counts(value, *low, *high) {
                // Rounding may move a value just below the end beyond the last bin.
                let bin = (((value - *low) * scale) as usize).min(counts.len() - 1);
                counts[bin] += 1;
            }
        }
    }

    /// Returns the centre of the highest bin.
    pub fn peak(&self) -> f64 {
        // The first of several highest bins, so that the result does not depend on the iteration order.
        let highest = self.counts.iter().max().copied().unwrap_or(0);
        let bin = self.counts.iter().position(|&c| c == highest).unwrap_or(0);
        self.low + (self.high - self.low) * (bin as f64 + 0.5) / self.counts.len() as f64
    }

    /// Returns the number of values in each bin.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Returns the number of values outside of the range.
    pub fn outside(&self) -> Outside {
        self.outside
    }

    /// Returns the number of values outside of the range as text; empty if there are none.
    pub fn remainder(&self) -> String {
        self.outside.words()
    }

    /// Returns [`remainder`](Self::remainder) as the end of a caption.
    pub fn not_shown(&self) -> String {
        let words = self.remainder();
        if words.is_empty() { words } else { format!("; not shown: {words}") }
    }

    /// Returns the counts as bars.
    pub fn bars(&self) -> Bars {
        let heights = self.counts.iter().map(|count| *count as f64).collect();
        Bars { low: self.low, high: self.high, heights }
    }

    /// Draws `height` lines of bars with axes, each bar `wide` characters wide. Lines end in a newline.
    pub fn draw(&self, height: usize, wide: usize, label: &str, paint: Paint) -> String {
        self.bars().draw(height, wide, label, paint)
    }
}

/// Number of decades below 1 at which a logarithmic axis begins, so that bars of height 1 are visible.
const LOG_FOOT: f64 = 0.5;

/// Bars of equal width over a range.
pub struct Bars {
    /// Lower end of the range.
    pub low: f64,
    /// Upper end of the range.
    pub high: f64,
    /// Height of each bar.
    pub heights: Vec<f64>,
}

impl Bars {
    /// Draws `height` lines of bars with axes, each bar `wide` characters wide. Lines end in a newline. Bars
    /// begin at zero, or at the lowest height if it is negative.
    pub fn draw(&self, height: usize, wide: usize, label: &str, paint: Paint) -> String {
        let height = height.max(1);
        let finite = || self.heights.iter().copied().filter(|height| height.is_finite());
        let bottom = finite().fold(0.0, f64::min);
        let top = finite().fold(bottom, f64::max);
        let span = top - bottom;
        // The bars are empty, or their heights overflow.
        let span = if span > 0.0 && span.is_finite() { span } else { 1.0 };
        let mut marks = vec![String::new(); height + 1];
        let step = nice_step(span, (height / 3).max(1));
        let is_count = finite().all(|height| height.fract() == 0.0) && top < 1e15;
        let step = if is_count { step.max(1.0) } else { step };
        for (value, part) in ticks(bottom, span, step) {
            let line = (part * height as f64).round();
            if !(line >= 0.0 && line <= height as f64) {
                break;
            }
            marks[line as usize] =
                if is_count && value >= 0.0 { count(value as u64) } else { tick_text(value, step) };
        }
        // The label of a count is on the line whose upper edge is that count.
        let line = |row: usize| -> String {
            let bars = self.heights.iter().map(|value| block((value - bottom) / span, row, height));
            bars.flat_map(|bar| std::iter::repeat_n(bar, wide)).collect()
        };
        let lines: Vec<String> = (1..=height).map(line).collect();
        let label = crate::human::clean(label);
        let range = (self.low, self.high);
        framed(&lines, &marks, range, self.heights.len() * wide, Some(&label), paint)
    }

    /// Draws bars as [`draw`](Self::draw) does, with a logarithmic axis that begins below 1. Heights below 1
    /// are blank.
    pub fn draw_log(&self, height: usize, wide: usize, label: &str, paint: Paint) -> String {
        let height = height.max(1);
        let top =
            self.heights.iter().copied().filter(|height| height.is_finite()).fold(1.0, f64::max).log10();
        let span = top + LOG_FOOT;
        let part = |value: f64| if value >= 1.0 { (value.log10() + LOG_FOOT) / span } else { 0.0 };
        let mut marks = vec![String::new(); height + 1];
        for power in 0..=top as i32 {
            let line = ((f64::from(power) + LOG_FOOT) / span * height as f64).round() as usize;
            if let Some(mark) = marks.get_mut(line) {
                *mark = short(10f64.powi(power));
            }
        }
        let line = |row: usize| -> String {
            let bars = self.heights.iter().map(|value| block(part(*value), row, height));
            bars.flat_map(|bar| std::iter::repeat_n(bar, wide)).collect()
        };
        let lines: Vec<String> = (1..=height).map(line).collect();
        let label = crate::human::clean(label);
        framed(&lines, &marks, (self.low, self.high), self.heights.len() * wide, Some(&label), paint)
    }
}

/// Draws axes around lines of text, which are given from the bottom upwards. `marks` are the labels of the
/// vertical axis: of the bottom edge, then of each line. The horizontal axis has a range, a width and an
/// optional label. Lines end in a newline.
pub fn framed(
    lines: &[String],
    marks: &[String],
    (low, high): (f64, f64),
    width: usize,
    label: Option<&str>,
    paint: Paint,
) -> String {
    let margin = marks.iter().map(|mark| mark.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for (line, mark) in lines.iter().zip(marks.iter().skip(1)).rev() {
        let axis = if mark.is_empty() { '│' } else { '┤' };
        let line = format!("{mark:>margin$} {axis}{}", paint.paint(Style::Special, line.trim_end()));
        text.push_str(&format!("{}\n", line.trim_end()));
    }
    let (axis, numbers) = horizontal(low, high, width);
    text.push_str(&format!("{:>margin$} └{axis}\n", marks.first().map_or("", String::as_str)));
    for below in [Some(numbers), label.map(|label| format!("{label:^width$}"))].into_iter().flatten() {
        text.push_str(&format!("{}\n", format!("{:margin$}  {below}", "").trim_end()));
    }
    text
}

/// Returns a horizontal axis and the numbers below it.
fn horizontal(low: f64, high: f64, width: usize) -> (String, String) {
    let mut axis = vec!['─'; width];
    let mut numbers = vec![' '; width + 8];
    let step = nice_step(high - low, (width / 12).clamp(2, 8));
    let mut free_from = 0;
    for (value, part) in ticks(low, high - low, step) {
        let at = (part * width as f64).round();
        if !(at >= 0.0 && at <= width as f64) {
            break;
        }
        let text: Vec<char> = tick_text(value, step).chars().collect();
        let earliest = if free_from == 0 { 0 } else { free_from + 1 };
        let start = (at as usize).saturating_sub(text.len() / 2).max(earliest);
        if let Some(mark) = axis.get_mut(at as usize) {
            *mark = '┬';
        }
        if start + text.len() <= numbers.len() && start <= at as usize {
            numbers[start..start + text.len()].copy_from_slice(&text);
            free_from = start + text.len();
        }
    }
    (axis.into_iter().collect(), numbers.into_iter().collect())
}

/// Returns the character of a bar on line `row`, counted from 1 at the bottom. `part` is the height of the
/// bar as a fraction of the whole.
fn block(part: f64, row: usize, height: usize) -> char {
    let eighths = (part * height as f64 * 8.0).round() as usize;
    // A single entry must be visible even if the height of its bar rounds to 0.
    let eighths = if part > 0.0 { eighths.max(1) } else { 0 };
    BLOCKS[eighths.saturating_sub((row - 1) * 8).min(8)]
}

/// Formats a number for a caption, with few digits.
pub fn short(number: f64) -> String {
    let size = number.abs();
    if number.fract() == 0.0 && size < 1e15 {
        let sign = if number < 0.0 { "-" } else { "" };
        return format!("{sign}{}", count(size as u64));
    }
    if (1e-3..1e7).contains(&size) {
        let decimals = (3 - size.log10().floor() as i32).clamp(0, 6) as usize;
        return format!("{number:.decimals$}");
    }
    format!("{number:.3e}")
}

/// Returns 1, 2 or 5 times a power of ten, such that about `ticks` steps fill `span`.
pub fn nice_step(span: f64, ticks: usize) -> f64 {
    let rough = span / ticks.max(1) as f64;
    let power = 10f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|f| f * power >= rough * 0.999).unwrap_or(10.0);
    factor * power
}

/// Returns the multiples of a step from `low` on, each with its position on the axis: 0 at the beginning, 1
/// at the end, and greater beyond it.
pub fn ticks(low: f64, span: f64, step: f64) -> impl Iterator<Item = (f64, f64)> {
    let ticks = std::iter::successors(Some((low / step).ceil()), |tick| Some(tick + 1.0));
    // An axis has few ticks by construction; the bound guards against steps that are lost in rounding.
    ticks.take(64).map(move |tick| (tick * step, (tick * step - low) / span))
}

/// Formats a tick of an axis whose ticks are `step` apart.
pub fn tick_text(value: f64, step: f64) -> String {
    if value.abs() < step * 1e-9 {
        return "0".into();
    }
    if value.abs() >= 1e6 || step < 1e-4 {
        return format!("{value:.1e}");
    }
    let decimals = (-step.log10().floor()).max(0.0) as usize;
    format!("{value:.decimals$}")
}

/// Maximum number of values from which quantiles are computed.
const SAMPLE: usize = 100_000;

/// Returns a range that shows most of the values regardless of outliers: from about the 1st to the 99th
/// percentile, with a margin on both sides, and starting at zero if it is near. Returns `None` only if no
/// value is finite.
pub fn robust_range(values: &[f64]) -> Option<(f64, f64)> {
    let finite = || values.iter().copied().filter(|value| value.is_finite());
    let stride = finite().count().div_ceil(SAMPLE).max(1);
    let mut sample = one_of_each(finite(), stride);
    sample.sort_by(f64::total_cmp);
    let quantile = |q: f64| sample.get(((sample.len().checked_sub(1)?) as f64 * q).round() as usize).copied();
    Some(range_of([quantile(0.0)?, quantile(0.01)?, quantile(0.99)?, quantile(1.0)?]))
}

/// Samples one value of each `stride` at random positions, so that periodic values do not bias the sample.
fn one_of_each(values: impl Iterator<Item = f64>, stride: usize) -> Vec<f64> {
    let (mut state, mut place) = (0x9e37_79b9_7f4a_7c15_u64, 0);
    let chosen = |(at, value): (usize, f64)| {
        if at % stride == 0 {
            // Xorshift: equal values have equal ranges.
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            place = (state % stride as u64) as usize;
        }
        (at % stride == place).then_some(value)
    };
    values.enumerate().filter_map(chosen).collect()
}

/// Returns the range of [`robust_range`] from the minimum, the 1st and 99th percentile, and the maximum of
/// finite values.
pub fn range_of([least, low, high, most]: [f64; 4]) -> (f64, f64) {
    let room = (high - low) * 0.1;
    let mut low = (low - room).max(least);
    let mut high = (high + room).min(most);
    if low >= 0.0 && low < 0.2 * high {
        low = 0.0;
    }
    // A single value, or values too close to distinguish.
    let least_span = low.abs().max(high.abs()) * 1e-9;
    if high - low <= least_span {
        let half = if least_span > 0.0 { (low.abs() * 0.5).max(least_span * 10.0) } else { 0.5 };
        (low, high) = (low - half, high + half);
    } else {
        // The maximum must be inside of the half-open range.
        high += (high - low) * 1e-6;
    }
    if low < high && (high - low).is_finite() {
        return (low, high);
    }
    // The width of the range overflows: extreme values are counted as outside.
    (f64::MIN / 4.0, f64::MAX / 4.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Paint = Paint { color: false };

    /// Returns a peak around 91, without a random number generator.
    fn bell() -> Vec<f64> {
        (0..60)
            .flat_map(|at| {
                let x = 60.5 + f64::from(at);
                let height = 400.0 / (1.0 + ((x - 91.0) / 3.0).powi(2));
                std::iter::repeat_n(x, height as usize)
            })
            .collect()
    }

    #[test]
    fn a_peak_is_where_it_is() {
        let histogram = Histogram::new(bell(), 60.0, 120.0, 60);
        assert_eq!(histogram.peak(), 90.5);
        insta::assert_snapshot!(histogram.draw(12, 1, "mass [GeV]", PLAIN), @r"
        400 ┤                              ██
            │                              ██
            │                             ▇██▇
        300 ┤                             ████
            │                            ▂████▂
            │                            ██████
        200 ┤                           ▂██████▂
            │                           ████████
            │                          ▆████████▆
        100 ┤                        ▁▆██████████▆▁
            │                     ▁▃▆██████████████▆▃▁
            │▁▁▁▁▁▁▁▁▁▂▂▂▂▃▃▃▄▄▅▆▇████████████████████▇▆▅▄▄▃▃▃▂▂▂▂▁▁▁▁▁▁▁
          0 └┬───────────────────┬───────────────────┬───────────────────
             60                 80                  100                 120
                                      mass [GeV]
        ");
    }

    #[test]
    fn nothing_is_lost() {
        let values =
            [-1.0, 0.0, 0.5, 1.0, 2.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.999_999_999_999_999_9];
        let histogram = Histogram::new(values, 0.0, 1.0, 3);
        assert_eq!(histogram.counts.iter().sum::<u64>(), 3);
        assert_eq!(histogram.remainder(), "2 below, 3 above, 1 not a number");
        assert_eq!(Histogram::new([], 0.0, 1.0, 3).remainder(), "");
    }

    #[test]
    fn an_empty_or_tiny_histogram_can_be_drawn() {
        insta::assert_snapshot!(Histogram::new([], 0.0, 1.0, 10).draw(2, 2, "x", PLAIN), @r"
        1 ┤
          │
        0 └┬─────────┬─────────
           0        0.5       1.0
                    x
        ");
        assert!(!Histogram::new([0.5], 0.0, 1.0, 1).draw(0, 1, "", PLAIN).is_empty());
        assert!(!Histogram::new([1e300], -1e308, 1e307, 7).draw(3, 1, "", PLAIN).is_empty());
        assert!(!Histogram::new([1e-300], 0.0, 2e-300, 40).draw(3, 1, "", PLAIN).is_empty());
    }

    #[test]
    fn small_bins_are_visible_beside_large_ones() {
        assert_eq!(block(1e-6, 1, 12), '▁');
        assert_eq!(block(0.0, 1, 12), ' ');
        assert_eq!(block(1.0, 12, 12), '█');
    }

    #[test]
    fn ranges_ignore_outliers() {
        let mut values: Vec<f64> = (0..1000).map(f64::from).collect();
        values.extend([1e30, -1e30, f64::NAN, f64::INFINITY]);
        let (low, high) = robust_range(&values).expect("finite values");
        assert!((-120.0..=0.0).contains(&low) && (980.0..1200.0).contains(&high), "{low} {high}");
        assert_eq!(robust_range(&[]), None);
        assert_eq!(robust_range(&[f64::NAN]), None);
        assert_eq!(robust_range(&[0.0]), Some((-0.5, 0.5)));
        // Any finite values have a range of finite width.
        for values in
            [[f64::MAX, f64::MIN], [f64::MAX, f64::MAX], [f64::MIN, 0.0], [5e-324, -5e-324], [-0.0, 0.0]]
        {
            let (low, high) = robust_range(&values).expect("finite values");
            assert!(low < high && (high - low).is_finite(), "{values:?}: {low} {high}");
            assert!(!Histogram::new(values, low, high, 60).draw(16, 1, "x", PLAIN).is_empty());
        }
        // One finite value among many that are not.
        let mut values = vec![f64::NAN; 3 * SAMPLE];
        values[SAMPLE + 1] = 2.0;
        assert!(robust_range(&values).is_some_and(|(low, high)| low < 2.0 && high > 2.0));
        let (low, high) = robust_range(&[4.0, 4.0]).expect("finite values");
        assert!(low < 4.0 && high > 4.0);
        let (low, high) = robust_range(&[5.0, 100.0, 7.0, 80.0]).expect("finite values");
        assert!(low == 0.0 && high > 100.0);
    }

    #[test]
    fn values_that_repeat_are_all_in_the_range() {
        for period in 2..9 {
            let values: Vec<f64> = (0..300_000).map(|at| f64::from(at % period)).collect();
            let (low, high) = robust_range(&values).expect("finite values");
            assert!(low <= 0.0 && high >= f64::from(period - 1), "{low} to {high}");
        }
    }

    #[test]
    fn steps_are_round() {
        assert_eq!(nice_step(60.0, 5), 20.0);
        assert_eq!(nice_step(1.0, 5), 0.2);
        assert_eq!(tick_text(0.4, 0.2), "0.4");
        assert_eq!(tick_text(1e7, 1e6), "1.0e7");
    }
}
