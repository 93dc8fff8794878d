//! Two-dimensional histograms, drawn in shades.

use crate::{
    histogram::{framed, nice_step, short, tick_text, ticks},
    paint::Paint,
};

const SHADES: [char; 5] = [' ', '░', '▒', '▓', '█'];

/// Axis with bins of equal width.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeatAxis {
    /// Lower end of the axis.
    pub low: f64,
    /// Upper end of the axis (exclusive).
    pub high: f64,
    /// Number of bins.
    pub bins: usize,
}

impl HeatAxis {
    fn bin(&self, value: f64) -> Option<usize> {
        let is_within = value >= self.low && value < self.high;
        let part = (value - self.low) / (self.high - self.low);
        is_within.then(|| ((part * self.bins as f64) as usize).min(self.bins.saturating_sub(1)))
    }
}

/// Counts in bins of two axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Heat {
    x: HeatAxis,
    y: HeatAxis,
    counts: Vec<u64>,
    outside: u64,
}

impl Heat {
    /// Creates an empty histogram.
    #[must_use]
    pub fn new(x: HeatAxis, y: HeatAxis) -> Self {
        Self { x, y, counts: vec![0; x.bins * y.bins], outside: 0 }
    }

    /// Counts pairs of values.
    pub fn add(&mut self, pairs: impl IntoIterator<Item = (f64, f64)>) {
        for (x, y) in pairs {
            match (self.x.bin(x), self.y.bin(y)) {
                (Some(x), Some(y)) => self.counts[y * self.x.bins + x] += 1,
                _ => self.outside += 1,
            }
        }
    }

    /// Returns the number of pairs that are outside of the axes or have NaN.
    #[must_use]
    pub fn outside(&self) -> u64 {
        self.outside
    }

    /// Returns the counts of all bins; the index on the x axis varies fastest.
    #[must_use]
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Draws the histogram with a character for each bin, x to the right and y upwards. Lines end in a
    /// newline. With `log`, shades are logarithmic.
    #[must_use]
    pub fn draw(&self, label: &str, log: bool, paint: Paint) -> String {
        let counts: Vec<f64> = self.counts.iter().map(|count| *count as f64).collect();
        let ends = [(self.x.low, self.x.high), (self.y.low, self.y.high)];
        shaded(&counts, self.x.bins, ends, label, log, paint)
    }
}

/// Draws counts in shades, a character for each, between two axes. `counts` are rows of `columns` counts, the
/// lowest row first. With `log`, shades are logarithmic.
#[must_use]
pub fn shaded(
    counts: &[f64],
    columns: usize,
    [x, y]: [(f64, f64); 2],
    label: &str,
    log: bool,
    paint: Paint,
) -> String {
    let size = |count: f64| if log { count.max(0.0).ln_1p() } else { count };
    let most = counts.iter().copied().filter(|count| count.is_finite()).fold(0.0, f64::max);
    let rows = counts.chunks(columns.max(1));
    let line = |row: &[f64]| row.iter().map(|count| shade(size(*count), 0.0, size(most))).collect();
    let lines: Vec<String> = rows.map(line).collect();
    let (low, span) = (y.0, y.1 - y.0);
    let step = nice_step(span, (lines.len() / 4).clamp(1, 5));
    let mut marks = vec![String::new(); lines.len() + 1];
    for (value, part) in ticks(low, span, step) {
        if let Some(mark) = marks.get_mut((part * lines.len() as f64).round() as usize) {
            *mark = tick_text(value, step);
        }
    }
    let mut text = framed(&lines, &marks, x, columns, Some(label), paint);
    let from = |at: usize| {
        let below = (at - 1) as f64 / (SHADES.len() - 1) as f64 * size(most);
        let below = if log { below.exp_m1() } else { below };
        below.floor() + 1.0
    };
    // Low counts use only some of the shades.
    let used = (1..SHADES.len()).filter(|at| *at + 1 == SHADES.len() || from(*at) < from(at + 1));
    let scale = used.map(|at| format!("{} from {}", SHADES[at], short(from(at))));
    text.push_str(&scale.collect::<Vec<_>>().join("  "));
    text.push('\n');
    text
}

/// Returns the shade of a value in a range: blank for 0 and for values that are not finite.
#[must_use]
pub fn shade(value: f64, low: f64, high: f64) -> char {
    if value == 0.0 || !value.is_finite() || high <= low {
        return SHADES[0];
    }
    let part = (value - low) / (high - low) * (SHADES.len() - 1) as f64;
    SHADES[(part.ceil() as usize).clamp(1, SHADES.len() - 1)]
}

/// Returns a legend of the shades, with the value from which each is used.
#[must_use]
pub fn scale(low: f64, high: f64) -> String {
    let from = |at: usize| low + (high - low) * (at - 1) as f64 / (SHADES.len() - 1) as f64;
    (1..SHADES.len())
        .map(|at| format!("{} from {}", SHADES[at], short(from(at))))
        .collect::<Vec<_>>()
        .join("  ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_counted_in_their_bins() {
        let axis = HeatAxis { low: 0.0, high: 2.0, bins: 2 };
        let mut heat = Heat::new(axis, axis);
        heat.add([(0.5, 0.5), (1.5, 0.5), (1.5, 0.5), (0.0, 1.999), (2.0, 0.0), (f64::NAN, 0.0)]);
        assert_eq!((heat.counts(), heat.outside()), (&[1, 2, 1, 0][..], 2));
        insta::assert_snapshot!(heat.draw("x", false, Paint { color: false }), @r"
        2 ┤▒
          │▒█
        0 └┬┬
           0 2
           x
        ▒ from 1  █ from 2
        ");
    }
}
