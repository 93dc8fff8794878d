//! Draws the points of a graph as text.

use crate::{
    graph::Graph,
    histogram::{framed, nice_step, tick_text, ticks},
    human,
    paint::Paint,
};

const HEIGHT: usize = 16;
/// Maximum width of a picture in characters.
const WIDEST: usize = 100;

/// Draws a graph. Returns `None` if it has no finite points.
pub(crate) fn draw(graph: &Graph, width: usize, paint: Paint) -> Option<String> {
    let all = graph.x.len();
    let points: Vec<(f64, f64)> = graph.points().map(|point| (point.x, point.y)).collect();
    let (left, right) = range(points.iter().map(|point| point.0))?;
    let (bottom, top) = range(points.iter().map(|point| point.1))?;
    let columns = width.min(WIDEST).saturating_sub(12).max(20);
    let place = |value: f64, low: f64, high: f64, most: usize| {
        (((value - low) / (high - low) * most as f64) as usize).min(most - 1)
    };
    let mut canvas = vec![vec![' '; columns]; HEIGHT];
    for (x, y) in &points {
        canvas[place(*y, bottom, top, HEIGHT)][place(*x, left, right, columns)] = '•';
    }
    let step = nice_step(top - bottom, 4);
    let mut marks = vec![String::new(); HEIGHT + 1];
    for (value, part) in ticks(bottom, top - bottom, step) {
        let line = (part * HEIGHT as f64).round();
        if !(0.0..=HEIGHT as f64).contains(&line) {
            break;
        }
        marks[line as usize] = tick_text(value, step);
    }
    let lines: Vec<String> = canvas.iter().map(|line| line.iter().collect()).collect();
    let picture = framed(&lines, &marks, (left, right), columns, None, paint);
    let hidden = all - points.len();
    let hidden = if hidden > 0 {
        format!(", {} not shown: no numbers", human::count(hidden as u64))
    } else {
        String::new()
    };
    Some(format!("{picture}\n{}{hidden}\n", human::counted(all as u64, "point", "points")))
}

/// Returns the range of the values with a margin on both sides; `None` without a valid range.
fn range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let (low, high) = values
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    let room = if low < high { (high - low) * 0.02 } else { (low.abs() * 0.5).max(0.5) };
    let (low, high) = (low - room, high + room);
    (low < high && (high - low).is_finite()).then_some((low, high))
}
