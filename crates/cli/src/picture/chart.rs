//! Draws one-dimensional histograms as steps, with legend, statistics and ratios to the first.

use super::{
    axis::{AxisView, Scale},
    color::{light, of_series},
    frame::{Lettered, bottom_margin, frame, left_margin},
    label::Label,
    legend::Legend,
    parts::{LINE, Style, axis_of, heading},
    ratio,
    scene::{Area, Point, Scene},
};
use crate::binned::{Binning, Filled};

pub(super) const WIDTH: f64 = 800.0;
pub(super) const HEIGHT: f64 = 600.0;
/// Height of the ratio panel.
const RATIO: f64 = 150.0;
pub(super) const TOP: f64 = 48.0;
pub(super) const RIGHT: f64 = 28.0;

/// Draws overlaid histograms.
pub(crate) fn chart(title: &str, histograms: &[Filled], y_title: &str, style: Style) -> Scene {
    let height = if style.ratio { HEIGHT + RATIO } else { HEIGHT };
    let mut scene = Scene::new(WIDTH, height);
    let first = histograms.first().map(|first| &first.binning);
    let x = x_axis(histograms, first, style.log_x);
    let legend = Legend::of(histograms, style.stats);
    // Margins depend on the axis numbers, which hardly depend on the margins.
    let mut area = Area { left: 90.0, top: TOP, right: WIDTH - RIGHT, bottom: height - 70.0 };
    area.bottom = height - bottom_margin(&x, area.width()) - if style.ratio { RATIO } else { 0.0 };
    let mut y =
        AxisView { scale: heights(histograms, style.log_y), title: Label::latex(y_title), names: Vec::new() };
    let ratios = style.ratio.then(|| ratio::axis(histograms));
    let panel = Area { top: area.bottom + 10.0, bottom: area.bottom + RATIO, ..area };
    area.left = ratios.iter().map(|axis| left_margin(&panel, axis)).fold(left_margin(&area, &y), f64::max);
    let columns: Vec<_> = histograms.iter().flat_map(Filled::columns).collect();
    let place = legend.make_room(&area, &columns, &x.scale, &mut y.scale);

    for (at, histogram) in histograms.iter().enumerate() {
        let outline = steps(histogram, &area, &x.scale, &y.scale);
        let color = of_series(at);
        if histograms.len() == 1 {
            let base = area.y(y.scale.part(0.0).clamp(0.0, 1.0));
            let mut closed = outline.clone();
            closed.extend(outline.last().map(|(x, _)| (*x, base)));
            closed.extend(outline.first().map(|(x, _)| (*x, base)));
            scene.fill(vec![closed], light(color), true);
        }
        scene.stroke(vec![outline], color, LINE);
        if histogram.is_profile {
            scene.stroke(bars(histogram, &area, &x.scale, &y.scale), color, LINE);
        }
    }
    let lettered = if style.ratio { Lettered::VerticalOnly } else { Lettered::Both };
    frame(&mut scene, &area, &x, &y, lettered);
    heading(&mut scene, title, &area);
    legend.draw(&mut scene, place);
    if let Some(axis) = ratios {
        let panel = Area { left: area.left, ..panel };
        ratio::draw(&mut scene, &panel, histograms, &x.scale, &axis);
        frame(&mut scene, &panel, &x, &axis, Lettered::Both);
    }
    scene
}

/// Returns the horizontal axis, covering the bins of all histograms.
fn x_axis(histograms: &[Filled], first: Option<&Binning>, is_log: bool) -> AxisView {
    let edges = || histograms.iter().flat_map(|histogram| &histogram.binning.edges).copied();
    let edges = || edges().filter(|edge| !is_log || *edge > 0.0);
    let scale =
        Scale::new(edges().fold(f64::INFINITY, f64::min), edges().fold(f64::NEG_INFINITY, f64::max), is_log);
    match first {
        Some(first) => axis_of(first, scale),
        None => AxisView { scale, title: Label::default(), names: Vec::new() },
    }
}

/// Returns the scale of the vertical axis.
fn heights(histograms: &[Filled], is_log: bool) -> Scale {
    let finite = || histograms.iter().flat_map(Filled::reaches).filter(|value| value.is_finite());
    if is_log {
        let least = finite().filter(|value| *value > 1e-280).fold(f64::INFINITY, f64::min);
        let most = finite().fold(0.0, f64::max);
        return if most > 0.0 {
            Scale::new(least * 0.5, most * 2.0, true)
        } else {
            Scale::new(0.5, 10.0, true)
        };
    }
    let (low, high) = (finite().fold(0.0, f64::min), finite().fold(0.0, f64::max));
    let room = (high - low) * 0.05;
    Scale::new(if low < 0.0 { low - room } else { 0.0 }, high + room, false)
}

/// Returns the outline of a histogram from left to right.
fn steps(histogram: &Filled, area: &Area, x: &Scale, y: &Scale) -> Vec<Point> {
    let across = |edge: f64| area.x(x.part(edge).clamp(0.0, 1.0));
    let up = |height: f64| area.y(y.part(if height.is_finite() { height } else { 0.0 }).clamp(0.0, 1.0));
    let mut line = Vec::with_capacity(2 * histogram.values.len() + 2);
    let edges = &histogram.binning.edges;
    line.extend(edges.first().map(|edge| (across(*edge), up(0.0))));
    for (ends, height) in edges.windows(2).zip(&histogram.values) {
        line.extend([(across(ends[0]), up(*height)), (across(ends[1]), up(*height))]);
    }
    line.extend(edges.last().map(|edge| (across(*edge), up(0.0))));
    line
}

/// Returns error bars, from value minus error to value plus error.
fn bars(histogram: &Filled, area: &Area, x: &Scale, y: &Scale) -> Vec<Vec<Point>> {
    let up = |height: f64| area.y(y.part(height).clamp(0.0, 1.0));
    let middles = histogram.binning.edges.windows(2).map(|ends| f64::midpoint(ends[0], ends[1]));
    let values = histogram.values.iter().zip(&histogram.errors).zip(middles);
    let finite = values.filter(|((value, error), _)| (*value + *error).is_finite() && **error > 0.0);
    let finite = finite.filter(|(_, middle)| (0.0..=1.0).contains(&x.part(*middle)));
    finite
        .map(|((value, error), middle)| {
            let at = area.x(x.part(middle));
            vec![(at, up(value - error)), (at, up(value + error))]
        })
        .collect()
}
