//! Drawing of a histogram.

use super::{Canvas, PLAIN};
use crate::plot::Plot;

pub(super) fn draw(plot: &Plot, canvas: &mut Canvas<'_>) {
    let (width, high) = (usize::from(canvas.area.width), usize::from(canvas.area.height));
    if plot.failed.is_some() && plot.picture.is_none() {
        return;
    }
    for (y, line) in plot.lines().lines().take(high).enumerate() {
        // Bars follow the axis.
        match line.find(['│', '┤']) {
            Some(axis) => {
                let end = canvas.put(0, y, &line[..axis + '│'.len_utf8()], width, PLAIN);
                canvas.put(end, y, &line[axis + '│'.len_utf8()..], width, canvas.palette.special());
            }
            None => {
                canvas.put(0, y, line, width, PLAIN);
            }
        }
    }
}
