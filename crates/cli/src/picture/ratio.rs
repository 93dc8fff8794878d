//! Draws the panel with ratios of histograms to the first.

use super::{
    axis::{AxisView, Scale},
    color::of_series,
    label::Label,
    parts::across,
    scene::{Area, Point, Scene},
};
use crate::binned::Filled;

/// Maximum distance from 1 on the axis.
const MOST: f64 = 3.0;
/// Half the size of a point.
const POINT: f64 = 3.0;

/// Returns the axis of ratios, centred at 1 and covering nine tenths of them.
pub(super) fn axis(histograms: &[Filled]) -> AxisView {
    let all = || histograms.iter().skip(1).flat_map(|histogram| ratios(histogram, &histograms[0]));
    let mut far: Vec<f64> = all().map(|(_, ratio, _)| (ratio - 1.0).abs()).collect();
    far.sort_by(f64::total_cmp);
    let far = far.get(far.len() * 9 / 10).copied().unwrap_or(0.0).clamp(0.1, MOST) * 1.3;
    let scale = Scale::new((1.0 - far).max(0.0), 1.0 + far, false);
    AxisView { scale, title: Label::plain("Ratio"), names: Vec::new() }
}

/// Draws points with errors.
pub(super) fn draw(scene: &mut Scene, area: &Area, histograms: &[Filled], x: &Scale, y: &AxisView) {
    across(scene, area, y.scale.part(1.0));
    let up = |value: f64| area.y(y.scale.part(value).clamp(0.0, 1.0));
    for (at, histogram) in histograms.iter().enumerate().skip(1) {
        let (mut points, mut lines) = (Vec::new(), Vec::new());
        let on_axis = |(middle, ..): &(f64, f64, f64)| (0.0..=1.0).contains(&x.part(*middle));
        for (middle, ratio, error) in ratios(histogram, &histograms[0]).filter(on_axis) {
            let across = area.x(x.part(middle));
            if (0.0..=1.0).contains(&y.scale.part(ratio)) {
                points.push(square((across, up(ratio))));
            }
            if error.is_finite() && error > 0.0 {
                lines.push(vec![(across, up(ratio - error)), (across, up(ratio + error))]);
            }
        }
        scene.stroke(lines, of_series(at), 1.5);
        scene.fill(points, of_series(at), true);
    }
}

/// Iterates over the bins where both contents are nonzero. Yields the bin's middle, its ratio to the first
/// histogram and the error.
fn ratios<'h>(histogram: &'h Filled, first: &'h Filled) -> impl Iterator<Item = (f64, f64, f64)> + 'h {
    let middles = first.binning.edges.windows(2).map(|ends| f64::midpoint(ends[0], ends[1]));
    let upper = histogram.values.iter().zip(&histogram.errors);
    let lower = first.values.iter().zip(&first.errors);
    middles.zip(upper.zip(lower)).filter_map(|(middle, ((value, error), (base, base_error)))| {
        let ratio = value / base;
        let relative = (error / value).hypot(base_error / base);
        (ratio.is_finite() && *value != 0.0).then_some((middle, ratio, (ratio * relative).abs()))
    })
}

fn square((x, y): Point) -> Vec<Point> {
    vec![(x - POINT, y - POINT), (x + POINT, y - POINT), (x + POINT, y + POINT), (x - POINT, y + POINT)]
}
