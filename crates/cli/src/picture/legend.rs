//! The legend of overlaid histograms, with their statistics.

use super::{
    axis::Scale,
    label::Label,
    parts::sample,
    scene::{Anchor, Area, BLACK, Point, Scene},
};
use crate::binned::Filled;
use crate::histogram::short;

const LETTERS: f64 = 17.0;
const LINE: f64 = 24.0;
/// Length of a line sample, and the gap after it.
const SAMPLE: f64 = 34.0;
/// Maximum width of a name.
const NAME: f64 = 330.0;
/// Pixels between frame and legend, leaving space for the ticks.
const PAD: f64 = 18.0;

/// A row of the legend.
enum Row {
    /// The name of a histogram, with its index.
    Name(usize, Label),
    /// A statistic: its name and value.
    Number(Label, Label),
}

/// The legend; empty for a single histogram without statistics.
pub(super) struct Legend {
    rows: Vec<Row>,
    width: f64,
    /// Whether the legend has a frame, as for statistics of a single histogram.
    is_box: bool,
}

impl Legend {
    pub(super) fn of(histograms: &[Filled], stats: bool) -> Self {
        let is_one = histograms.len() == 1;
        let mut rows = Vec::new();
        for (at, histogram) in histograms.iter().enumerate() {
            if !is_one {
                rows.push(Row::Name(at, Label::latex(&histogram.name).cut(LETTERS, NAME)));
            }
            if stats {
                let numbers = [
                    ("Entries", Some(histogram.entries)),
                    ("Mean", histogram.mean),
                    ("Std Dev", histogram.deviation),
                ];
                let numbers = numbers.into_iter().filter_map(|(name, number)| Some((name, number?)));
                rows.extend(numbers.map(|(name, number)| {
                    let number = short(number).replace('-', "−");
                    Row::Number(Label::plain(name), Label::plain(&number))
                }));
            }
        }
        Self::new(rows, is_one)
    }

    /// Creates the legend of several graphs; empty for a single graph.
    pub(super) fn of_names<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> Self {
        let is_one = names.len() == 1;
        let rows = names.enumerate().filter(|_| !is_one);
        Self::new(
            rows.map(|(at, name)| Row::Name(at, Label::latex(name).cut(LETTERS, NAME))).collect(),
            is_one,
        )
    }

    fn new(rows: Vec<Row>, is_one: bool) -> Self {
        let width = |row: &Row| match row {
            Row::Name(_, name) => SAMPLE + name.width(LETTERS),
            Row::Number(name, number) => {
                name.width(LETTERS) + number.width(LETTERS) + 24.0 + if is_one { 0.0 } else { SAMPLE }
            }
        };
        let width = rows.iter().map(width).fold(0.0, f64::max);
        Self { rows, width, is_box: is_one }
    }

    fn height(&self) -> f64 {
        LINE * self.rows.len() as f64
    }

    /// Extends the vertical axis so that the histograms do not overlap the legend, on the side that requires
    /// less. `columns` are the heights of the drawn shapes, each with a start and end on the horizontal axis.
    /// Returns the position of the legend.
    pub(super) fn make_room(
        &self,
        area: &Area,
        columns: &[([f64; 2], f64)],
        x: &Scale,
        y: &mut Scale,
    ) -> Point {
        let top = area.top + PAD;
        let (right, left) = (area.right - PAD - self.width, area.left + PAD);
        if self.rows.is_empty() {
            return (right, top);
        }
        let highest = |from: f64| {
            let (from, to) = (from - PAD, from + self.width + PAD);
            let below = columns
                .iter()
                .filter(|(ends, _)| area.x(x.part(ends[0])) < to && area.x(x.part(ends[1])) > from);
            below.map(|(_, value)| y.part(*value)).filter(|part| part.is_finite()).fold(0.0, f64::max)
        };
        let (at_right, at_left) = (highest(right), highest(left));
        // The right side is preferred unless it requires more.
        let (place, part) = if at_left + 0.02 < at_right { (left, at_left) } else { (right, at_right) };
        let free = (1.0 - (self.height() + 1.5 * PAD) / area.height()).max(0.35);
        if part > free {
            let longer = part / free;
            *y = if y.is_log {
                let span = y.high.log10() - y.low.log10();
                Scale::new(y.low, 10_f64.powf((y.low.log10() + span * longer).min(307.0)), true)
            } else {
                Scale::new(y.low, y.low + (y.high - y.low) * longer, false)
            };
        }
        (place, top)
    }

    pub(super) fn draw(self, scene: &mut Scene, (left, top): Point) {
        let (right, height) = (left + self.width, self.height());
        if self.is_box && !self.rows.is_empty() {
            let area =
                Area { left: left - 10.0, top: top - 6.0, right: right + 10.0, bottom: top + height + 2.0 };
            scene.stroke(vec![area.outline()], BLACK, 1.0);
        }
        for (at, row) in self.rows.into_iter().enumerate() {
            let base = top + LINE * (at as f64 + 0.75);
            match row {
                Row::Name(at, name) => {
                    sample(scene, at, (left, base - LETTERS * 0.36), SAMPLE - 10.0);
                    scene.text(name, (left + SAMPLE, base), LETTERS, Anchor::Start);
                }
                Row::Number(name, number) => {
                    let from = if self.is_box { left } else { left + SAMPLE };
                    scene.text(name, (from, base), LETTERS, Anchor::Start);
                    scene.text(number, (right, base), LETTERS, Anchor::End);
                }
            }
        }
    }
}
