//! Draws graphs: points with errors, and a legend.

use super::{
    axis::{AxisView, Scale},
    chart::{HEIGHT, RIGHT, TOP, WIDTH},
    color::of_series,
    frame::{Lettered, bottom_margin, frame, left_margin},
    label::Label,
    legend::Legend,
    parts::{Style, heading},
    scene::{Area, Point, Scene},
};
use crate::graph::Graph;
use std::f64::consts::TAU;

/// Radius of a point.
const RADIUS: f64 = 4.0;
/// Number of corners of a point.
const CORNERS: u32 = 16;
/// Largest magnitude on an axis, with a margin so that the length of a range never overflows.
const MOST: f64 = f64::MAX / 4.0;
/// Line width of errors.
const LINE: f64 = 1.5;

/// Draws overlaid graphs. Also returns the number of points drawn.
pub(crate) fn graphs(title: &str, all: &[Graph], style: Style) -> (Scene, usize) {
    let mut drawn = 0;
    let mut scene = Scene::new(WIDTH, HEIGHT);
    let points = || all.iter().flat_map(Graph::points);
    let x_scale = scale(points().flat_map(|point| [point.x, point.x_ends.0, point.x_ends.1]), style.log_x);
    let y_scale = scale(points().flat_map(|point| [point.y, point.y_ends.0, point.y_ends.1]), style.log_y);
    let title_of = |of: fn(&Graph) -> &String| all.iter().map(of).find(|title| !title.is_empty());
    let axis = |scale, of: fn(&Graph) -> &String| AxisView {
        scale,
        title: Label::latex(title_of(of).map_or("", String::as_str)),
        names: Vec::new(),
    };
    let (x, mut y) = (axis(x_scale, |graph| &graph.x_title), axis(y_scale, |graph| &graph.y_title));
    let mut area = Area { left: 90.0, top: TOP, right: WIDTH - RIGHT, bottom: HEIGHT - 70.0 };
    area.bottom = HEIGHT - bottom_margin(&x, area.width());
    area.left = left_margin(&area, &y);
    let legend = Legend::of_names(all.iter().map(|graph| graph.name.as_str()));
    let columns: Vec<_> =
        points().map(|point| ([point.x_ends.0, point.x_ends.1], point.y.max(point.y_ends.1))).collect();
    let place = legend.make_room(&area, &columns, &x.scale, &mut y.scale);

    for (at, graph) in all.iter().enumerate() {
        let color = of_series(at);
        let (across, up) = (|value: f64| x.scale.part(value), |value: f64| y.scale.part(value));
        let seen = graph.points().filter(|point| is_within(across(point.x)) && is_within(up(point.y)));
        let seen: Vec<_> = seen.collect();
        drawn += seen.len();
        let errors: Vec<Vec<Point>> = seen
            .iter()
            .flat_map(|point| {
                let (middle, height) = (area.x(across(point.x)), area.y(up(point.y)));
                let vertical =
                    [point.y_ends.0, point.y_ends.1].map(|end| (middle, area.y(up(end).clamp(0.0, 1.0))));
                let horizontal =
                    [point.x_ends.0, point.x_ends.1].map(|end| (area.x(across(end).clamp(0.0, 1.0)), height));
                [vertical, horizontal].into_iter().filter(|[one, other]| one != other).map(Vec::from)
            })
            .collect();
        if !errors.is_empty() {
            scene.stroke(errors, color, LINE);
        }
        let dots = seen.iter().map(|point| dot(area.x(across(point.x)), area.y(up(point.y)))).collect();
        scene.fill(dots, color, true);
    }
    frame(&mut scene, &area, &x, &y, Lettered::Both);
    heading(&mut scene, title, &area);
    legend.draw(&mut scene, place);
    (scene, drawn)
}

fn is_within(part: f64) -> bool {
    (0.0..=1.0).contains(&part)
}

/// Returns an axis covering some numbers, with margins.
fn scale(values: impl Iterator<Item = f64>, is_log: bool) -> Scale {
    let shown = values.filter(|value| value.is_finite() && (!is_log || *value > 0.0));
    let (low, high) = shown
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    if is_log {
        return Scale::new(low / 1.5, high * 1.5, true);
    }
    // Nearly equal numbers are placed in the middle, those close to the limit of floating-point numbers at an
    // end.
    let (low, high) = (low.max(-MOST), high.min(MOST));
    let least = low.abs().max(high.abs()) * 1e-11;
    let room = if low < high { ((high - low) * 0.05).max(least) } else { (low.abs() * 0.5).max(0.5) };
    Scale::new(low - room, high + room, false)
}

/// Returns the outline of a round point.
fn dot(x: f64, y: f64) -> Vec<Point> {
    let corner = |at: u32| f64::from(at) / f64::from(CORNERS) * TAU;
    (0..CORNERS).map(corner).map(|angle| (x + RADIUS * angle.cos(), y + RADIUS * angle.sin())).collect()
}
