//! Draws two-dimensional histograms: a coloured cell for every bin other than zero, and a colour bar.

use super::{
    axis::{AxisView, Scale},
    color::of_cell,
    frame::{Lettered, NUMBERS, TITLES, bottom_margin, factor, frame, left_margin, numbers_width, y_marks},
    label::Label,
    parts::{Style, axis_of, heading},
    scene::{Anchor, Area, BLACK, Color, Point, Scene},
};
use crate::binned::{Binning, Grid};
use std::collections::BTreeMap;

const WIDTH: f64 = 800.0;
const HEIGHT: f64 = 620.0;
const TOP: f64 = 48.0;
/// Width of the colour bar, and its distance from the frame.
const BAR: f64 = 26.0;
const GAP: f64 = 14.0;

/// Draws a two-dimensional histogram.
pub(crate) fn heat(title: &str, grid: &Grid, z_title: &str, style: Style) -> Scene {
    let mut scene = Scene::new(WIDTH, HEIGHT);
    let (x, y) = (axis(&grid.x, style.log_x), axis(&grid.y, style.log_y));
    let colors =
        AxisView { scale: colors(grid, style.log_z), title: Label::latex(z_title), names: Vec::new() };
    let mut area =
        Area { left: 90.0, top: TOP, right: WIDTH - 120.0, bottom: HEIGHT - bottom_margin(&x, 560.0) };
    area.left = left_margin(&area, &y);
    area.right = WIDTH - GAP - BAR - 12.0 - numbers_width(&area, &colors) - TITLES - 16.0;
    for (color, outlines) in cells(grid, &area, [&x.scale, &y.scale, &colors.scale]) {
        scene.fill(outlines, color, false);
    }
    frame(&mut scene, &area, &x, &y, Lettered::Both);
    heading(&mut scene, title, &area);
    bar(&mut scene, &area, &colors);
    scene
}

fn axis(binning: &Binning, is_log: bool) -> AxisView {
    let edges = || binning.edges.iter().copied().filter(|edge| !is_log || *edge > 0.0);
    let (low, high) = (edges().fold(f64::INFINITY, f64::min), edges().fold(f64::NEG_INFINITY, f64::max));
    axis_of(binning, Scale::new(low, high, is_log))
}

/// Returns the range of the colours.
fn colors(grid: &Grid, is_log: bool) -> Scale {
    let finite = || grid.values.iter().copied().filter(|value| value.is_finite());
    if is_log {
        let positive = || finite().filter(|value| *value > 1e-280);
        let (low, high) = (positive().fold(f64::INFINITY, f64::min), positive().fold(0.0, f64::max));
        return Scale::new(low, if high > low { high } else { low * 10.0 }, true);
    }
    Scale::new(finite().fold(0.0, f64::min), finite().fold(0.0, f64::max), false)
}

/// Returns the outlines of cells by colour. Neighbours of equal colour in a row are merged.
fn cells(grid: &Grid, area: &Area, [x, y, z]: [&Scale; 3]) -> BTreeMap<Color, Vec<Vec<Point>>> {
    let place =
        |scale: &Scale, edges: &[f64]| edges.iter().map(|edge| scale.part(*edge).clamp(0.0, 1.0)).collect();
    let (across, up): (Vec<f64>, Vec<f64>) = (place(x, &grid.x.edges), place(y, &grid.y.edges));
    let columns = across.len().saturating_sub(1).max(1);
    let mut cells: BTreeMap<Color, Vec<Vec<Point>>> = BTreeMap::new();
    for (row, ends) in grid.values.chunks(columns).zip(up.windows(2)) {
        let color = |value: &f64| {
            let is_seen = value.is_finite() && *value != 0.0 && (!z.is_log || *value > 0.0);
            is_seen.then(|| of_cell(z.part(*value)))
        };
        let (bottom, top) = (area.y(ends[0]), area.y(ends[1]));
        let mut from = 0;
        for run in row.chunk_by(|one, other| color(one) == color(other)) {
            let to = from + run.len();
            if let (Some(color), Some(left), Some(right)) =
                (run.first().and_then(color), across.get(from), across.get(to))
                && left < right
                && top < bottom
            {
                let (left, right) = (area.x(*left), area.x(*right));
                cells.entry(color).or_default().push(vec![
                    (left, top),
                    (right, top),
                    (right, bottom),
                    (left, bottom),
                ]);
            }
            from = to;
        }
    }
    cells
}

/// Draws the colour bar with numbers.
fn bar(scene: &mut Scene, area: &Area, colors: &AxisView) {
    let bar = Area { left: area.right + GAP, right: area.right + GAP + BAR, ..*area };
    let steps = 96;
    for step in 0..steps {
        let part = |step: i32| f64::from(step) / f64::from(steps);
        let (bottom, top) = (bar.y(part(step)), bar.y(part(step + 1)));
        let outline = vec![(bar.left, top), (bar.right, top), (bar.right, bottom), (bar.left, bottom)];
        scene.fill(vec![outline], of_cell(part(step) + 0.5 / f64::from(steps)), false);
    }
    let marks = y_marks(&bar, colors);
    let major = marks.major.iter().map(|(part, _)| (*part, 8.0));
    let ticks = major.chain(marks.minor.iter().map(|part| (*part, 4.0)));
    let ticks = ticks.map(|(part, length)| vec![(bar.right, bar.y(part)), (bar.right - length, bar.y(part))]);
    scene.stroke(ticks.collect(), BLACK, 1.0);
    scene.stroke(vec![bar.outline()], BLACK, 1.0);
    for (part, label) in &marks.major {
        let at = (bar.right + 7.0, bar.y(*part) + NUMBERS * 0.36);
        scene.text(label.clone(), at, NUMBERS, Anchor::Start);
    }
    factor(scene, &marks, (bar.left, bar.top - 9.0));
    let right = bar.right + 12.0 + numbers_width(&bar, colors) + TITLES;
    scene.lettering(
        colors.title.clone().cut(TITLES, bar.height()),
        (right, bar.top),
        TITLES,
        Anchor::End,
        90.0,
    );
}
