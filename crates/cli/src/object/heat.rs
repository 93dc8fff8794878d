//! Draws two-dimensional histograms with shaded characters.

use super::binned::{Axis, Binned};
use crate::{
    heat::{scale, shade},
    histogram::{framed, nice_step, short, tick_text, ticks},
    human,
    paint::Paint,
};

/// Height of the picture in lines.
const HEIGHT: usize = 24;

impl Binned {
    /// Draws the picture with x to the right and y upwards. Contents are summed along a third axis.
    pub(super) fn shades(
        &self,
        x: &Axis,
        y: &Axis,
        along: Option<&Axis>,
        width: usize,
        paint: Paint,
    ) -> String {
        let columns = x.columns(width.saturating_sub(14).max(20));
        let mut rows = y.columns(HEIGHT);
        if y.bins <= HEIGHT {
            // A line is twice as high as a character is wide; it shows one bin, not several.
            rows.dedup();
        }
        let value = |column: &std::ops::Range<usize>, row: &std::ops::Range<usize>| {
            let cells = row.clone().flat_map(|y| column.clone().map(move |x| (x, y)));
            let sum: f64 = cells.map(|(x, y)| self.at(x, y)).sum();
            let number = (row.len() * column.len()).max(1) as f64;
            if self.is_profile() { sum / number } else { sum }
        };
        let values: Vec<Vec<f64>> =
            rows.iter().map(|row| columns.iter().map(|column| value(column, row)).collect()).collect();
        let finite = || values.iter().flatten().copied().filter(|value| value.is_finite());
        let (low, high) = (finite().fold(0.0, f64::min), finite().fold(0.0, f64::max));
        let step = nice_step(y.high - y.low, 4);
        let mut marks = vec![String::new(); rows.len() + 1];
        for (value, part) in ticks(y.low, y.high - y.low, step) {
            if !(0.0..=1.0).contains(&part) {
                break;
            }
            marks[(part * rows.len() as f64).round() as usize] = tick_text(value, step);
        }
        let line = |row: &Vec<f64>| row.iter().map(|value| shade(*value, low, high)).collect();
        let lines: Vec<String> = values.iter().map(line).collect();
        let title = |axis: &Axis| (!axis.title.is_empty()).then(|| human::clean(&axis.title));
        let mut text = title(y).map_or_else(String::new, |title| format!("{title}\n"));
        let range = (x.low, x.high);
        text.push_str(&framed(&lines, &marks, range, columns.len(), title(x).as_deref(), paint));
        text.push_str(&format!("\n{}", scale(low, high)));
        if let Some(z) = along {
            let title = title(z).unwrap_or_else(|| "the third axis".into());
            text.push_str(&format!("\nsums along {title}, from {} to {}", short(z.low), short(z.high)));
        }
        text.push('\n');
        text
    }
}
