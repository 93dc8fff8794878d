//! Two dimensions, in shades.

use super::binned::{Axis, Binned};
use crate::{
    histogram::{horizontal, nice_step, short, tick_text},
    human,
    paint::{Paint, Style},
};

const SHADES: [char; 5] = [' ', '░', '▒', '▓', '█'];
/// Lines of a picture.
const HEIGHT: usize = 24;

impl Binned {
    /// The picture: x to the right, y upwards. A third axis is summed along.
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
            // A line is twice as high as wide: it is one bin, not several.
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
        let mut tick = (y.low / step).ceil();
        for _ in 0..16 {
            let part = (tick * step - y.low) / (y.high - y.low);
            if !(0.0..=1.0).contains(&part) {
                break;
            }
            marks[(part * rows.len() as f64).round() as usize] = tick_text(tick * step, step);
            tick += 1.0;
        }
        let margin = marks.iter().map(|mark| mark.chars().count()).max().unwrap_or(0);
        let mut text = String::new();
        if !y.title.is_empty() {
            text.push_str(&format!("{}\n", human::clean(&y.title)));
        }
        for (at, row) in values.iter().enumerate().rev() {
            let mark = &marks[at + 1];
            let axis = if mark.is_empty() { '│' } else { '┤' };
            let shades: String = row.iter().map(|value| shade(*value, low, high)).collect();
            let line = format!("{mark:>margin$} {axis}{}", paint.paint(Style::Special, shades.trim_end()));
            text.push_str(line.trim_end());
            text.push('\n');
        }
        let (axis, numbers) = horizontal(x.low, x.high, columns.len());
        text.push_str(&format!("{:>margin$} └{axis}\n", marks[0]));
        text.push_str(format!("{:margin$}  {}", "", numbers).trim_end());
        text.push('\n');
        if !x.title.is_empty() {
            let title = human::clean(&x.title);
            text.push_str(format!("{:margin$}  {title:^width$}", "", width = columns.len()).trim_end());
            text.push('\n');
        }
        let scale: Vec<String> = SHADES
            .iter()
            .enumerate()
            .skip(1)
            .map(|(at, shade)| {
                let from = low + (high - low) * (at - 1) as f64 / (SHADES.len() - 1) as f64;
                format!("{shade} from {}", short(from))
            })
            .collect();
        text.push_str(&format!("\n{}", scale.join("  ")));
        if let Some(z) = along {
            let title = if z.title.is_empty() { "the third axis".into() } else { human::clean(&z.title) };
            text.push_str(&format!("\nsums along {title}, from {} to {}", short(z.low), short(z.high)));
        }
        text.push('\n');
        text
    }
}

/// Nothing is empty, and anything else has a shade.
fn shade(value: f64, low: f64, high: f64) -> char {
    if value == 0.0 || !value.is_finite() || high <= low {
        return SHADES[0];
    }
    let part = (value - low) / (high - low) * (SHADES.len() - 1) as f64;
    SHADES[(part.ceil() as usize).clamp(1, SHADES.len() - 1)]
}
