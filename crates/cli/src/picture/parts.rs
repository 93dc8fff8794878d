//! Elements shared by pictures of one and two dimensions.

use super::{
    axis::{AxisView, Scale},
    color::of_series,
    frame::TITLES,
    label::Label,
    scene::{Anchor, Area, BLACK, Color, Point, Scene},
};
use crate::binned::Binning;

/// Line width of histogram outlines.
pub(super) const LINE: f64 = 2.0;
/// Maximum number of bin labels.
const MOST_NAMES: usize = 40;

/// Options of a picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Style {
    pub(crate) log_x: bool,
    pub(crate) log_y: bool,
    pub(crate) log_z: bool,
    pub(crate) stats: bool,
    pub(crate) ratio: bool,
}

/// Draws the title above the frame.
pub(super) fn heading(scene: &mut Scene, title: &str, area: &Area) {
    // The left end is left free for a power of ten.
    let title = Label::latex(title).cut(TITLES, area.width() - 60.0);
    scene.text(title, (area.right, area.top - 12.0), TITLES, Anchor::End);
}

/// Creates an axis with title and bin labels.
pub(super) fn axis_of(binning: &Binning, scale: Scale) -> AxisView {
    let middle = |bin: usize| binning.edges.get(bin..bin + 2).map(|ends| f64::midpoint(ends[0], ends[1]));
    let names =
        binning.labels.iter().filter_map(|(bin, name)| Some((scale.part(middle(*bin)?), Label::latex(name))));
    let names: Vec<_> = if binning.labels.len() <= MOST_NAMES { names.collect() } else { Vec::new() };
    AxisView { scale, title: Label::latex(&binning.title), names }
}

/// Draws a line sample next to its name in a legend.
pub(super) fn sample(scene: &mut Scene, at: usize, (x, y): Point, length: f64) {
    let color: Color = of_series(at);
    scene.stroke(vec![vec![(x, y), (x + length, y)]], color, LINE * 1.25);
}

/// Draws a horizontal line across an area.
pub(super) fn across(scene: &mut Scene, area: &Area, part: f64) {
    let y = area.y(part);
    let dashes = (0..).map(|dash| area.left + 12.0 * f64::from(dash)).take_while(|x| *x < area.right);
    let lines = dashes.map(|x| vec![(x, y), ((x + 6.0).min(area.right), y)]).collect();
    scene.stroke(lines, BLACK, 1.0);
}
