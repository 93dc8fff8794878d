//! Drawing of text.

use super::{Canvas, PLAIN};
use crate::pane::TextPane;

pub(super) fn draw(text: &TextPane, canvas: &mut Canvas<'_>) {
    let (width, high) = (usize::from(canvas.area.width), usize::from(canvas.area.height));
    for (y, line) in text.lines.iter().skip(text.top).take(high).enumerate() {
        let line: String = line.chars().skip(text.left).take(width).collect();
        canvas.put(0, y, &line, width, PLAIN);
    }
}
