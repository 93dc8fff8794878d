//! Draws the frame of a picture: inward ticks on four sides, numbers, and titles at the ends of the axes.

use super::{
    axis::{AxisView, Marks},
    label::Label,
    scene::{Anchor, Area, BLACK, Point, Scene},
};

/// Font size of tick numbers.
pub(super) const NUMBERS: f64 = 17.0;
/// Font size of titles.
pub(super) const TITLES: f64 = 20.0;
/// Line width of the frame and of ticks.
const FRAME: f64 = 1.5;
const TICK: f64 = 1.0;
const MAJOR: f64 = 10.0;
const MINOR: f64 = 5.0;
/// Pixels between frame and numbers.
const GAP: f64 = 7.0;
/// Maximum width of a bin label.
const NAME: f64 = 150.0;

/// Which axes of a frame have numbers and titles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lettered {
    Both,
    /// Only the vertical axis; a frame below labels the horizontal one.
    VerticalOnly,
}

/// Draws the frame around an area.
pub(super) fn frame(scene: &mut Scene, area: &Area, x: &AxisView, y: &AxisView, lettered: Lettered) {
    let (across, up) = (x_marks(area, x), y_marks(area, y));
    let mut lines = Vec::new();
    let has_names = !x.names.is_empty();
    let ticks = |marks: &Marks| {
        let major = marks.major.iter().map(|(part, _)| (*part, MAJOR));
        major.chain(marks.minor.iter().map(|part| (*part, MINOR))).collect::<Vec<_>>()
    };
    for (part, length) in ticks(&across).into_iter().filter(|_| !has_names) {
        let at = area.x(part);
        lines.push(vec![(at, area.bottom), (at, area.bottom - length)]);
        lines.push(vec![(at, area.top), (at, area.top + length)]);
    }
    for (part, length) in ticks(&up).into_iter().filter(|_| y.names.is_empty()) {
        let at = area.y(part);
        lines.push(vec![(area.left, at), (area.left + length, at)]);
        lines.push(vec![(area.right, at), (area.right - length, at)]);
    }
    scene.stroke(lines, BLACK, TICK);
    scene.stroke(vec![area.outline()], BLACK, FRAME);
    if lettered == Lettered::Both {
        horizontal(scene, area, x, &across);
    }
    vertical(scene, area, y, &up, lettered);
}

/// Returns the width needed for numbers and title of the vertical axis.
pub(super) fn left_margin(area: &Area, y: &AxisView) -> f64 {
    let title = if y.title.is_empty() { 8.0 } else { TITLES + 14.0 };
    numbers_width(area, y) + GAP + title
}

/// Returns the height needed for numbers and title of the horizontal axis.
pub(super) fn bottom_margin(x: &AxisView, width: f64) -> f64 {
    let names = if is_turned(x, width) { NAME * 0.75 } else { NUMBERS };
    names + GAP + if x.title.is_empty() { 14.0 } else { TITLES + 18.0 }
}

/// Returns the width of the widest number on a vertical axis.
pub(super) fn numbers_width(area: &Area, y: &AxisView) -> f64 {
    let widths = y.names.iter().map(|(_, name)| name.width(NUMBERS).min(NAME));
    let marks = if y.names.is_empty() { y_marks(area, y) } else { Marks::default() };
    marks.major.iter().map(|(_, label)| label.width(NUMBERS)).chain(widths).fold(0.0, f64::max)
}

/// Returns the marks of a vertical axis. Taller axes have more marks.
pub(super) fn y_marks(area: &Area, y: &AxisView) -> Marks {
    y.scale.marks(((area.height() / 45.0) as usize).clamp(4, 8))
}

/// Returns the marks of a horizontal axis such that numbers do not touch.
fn x_marks(area: &Area, x: &AxisView) -> Marks {
    let mut most = ((area.width() / 80.0) as usize).clamp(2, 8);
    loop {
        let marks = x.scale.marks(most);
        let end = |(part, label): &(f64, Label), side: f64| area.x(*part) + side * label.width(NUMBERS) / 2.0;
        let overlaps = marks.major.windows(2).any(|two| end(&two[0], 1.0) + 8.0 > end(&two[1], -1.0));
        if !overlaps || most <= 1 {
            return marks;
        }
        most -= 1;
    }
}

fn horizontal(scene: &mut Scene, area: &Area, x: &AxisView, marks: &Marks) {
    let base = area.bottom + GAP + NUMBERS * 0.8;
    let mut below = base;
    if x.names.is_empty() {
        for (part, label) in &marks.major {
            scene.text(label.clone(), (area.x(*part), base), NUMBERS, Anchor::Middle);
        }
        factor(scene, marks, (area.left, below + TITLES + 8.0));
    } else if is_turned(x, area.width()) {
        for (part, name) in &x.names {
            let at = (area.x(*part) + 5.0, area.bottom + GAP + 8.0);
            scene.lettering(name.clone().cut(NUMBERS, NAME), at, NUMBERS, Anchor::End, 40.0);
        }
        below += NAME * 0.75 - NUMBERS * 0.8;
    } else {
        for (part, name) in &x.names {
            scene.text(name.clone(), (area.x(*part), base), NUMBERS, Anchor::Middle);
        }
    }
    let room = area.width() - marks.factor.as_ref().map_or(0.0, |factor| factor.width(NUMBERS) + 10.0);
    let title = x.title.clone().cut(TITLES, room);
    scene.text(title, (area.right, below + TITLES + 8.0), TITLES, Anchor::End);
}

fn vertical(scene: &mut Scene, area: &Area, y: &AxisView, marks: &Marks, lettered: Lettered) {
    let edge = area.left - GAP;
    let labels: Vec<(f64, Label)> = if y.names.is_empty() {
        marks.major.clone()
    } else {
        y.names.iter().map(|(part, name)| (*part, name.clone().cut(NUMBERS, NAME))).collect()
    };
    for (part, label) in labels {
        let at = area.y(part);
        // The lowest number would touch the frame below.
        let hidden = lettered == Lettered::VerticalOnly && at > area.bottom - NUMBERS * 0.5;
        if !hidden {
            scene.text(label, (edge, at + NUMBERS * 0.36), NUMBERS, Anchor::End);
        }
    }
    if y.names.is_empty() {
        factor(scene, marks, (area.left, area.top - 9.0));
    }
    let at: Point = (edge - numbers_width(area, y) - 10.0, area.top);
    scene.lettering(y.title.clone().cut(TITLES, area.height()), at, TITLES, Anchor::End, 90.0);
}

/// Writes the common factor and offset of the numbers of an axis.
pub(super) fn factor(scene: &mut Scene, marks: &Marks, at: Point) {
    if let Some(factor) = &marks.factor {
        scene.text(factor.clone(), at, NUMBERS, Anchor::Start);
    }
}

/// Returns whether bin labels are too long to be placed side by side.
fn is_turned(x: &AxisView, width: f64) -> bool {
    let room = width / x.names.len().max(1) as f64;
    x.names.iter().any(|(_, name)| name.width(NUMBERS) + 8.0 > room)
}
