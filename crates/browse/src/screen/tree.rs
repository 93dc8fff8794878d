//! Drawing of the tree, and of details of the node at the cursor.

use super::{CURSOR, Canvas, FAINT, PLAIN, STRONG, cells};
use crate::{
    human,
    tree::Tree,
    tree_node::{Children, TreeContent, TreeNode},
};

/// Number of cells for stored bytes.
const BYTES: usize = 9;
/// Minimum number of cells that names keep before types are shown.
const NAME: usize = 24;

pub(super) fn draw(tree: &Tree, width: usize, canvas: &mut Canvas<'_>) {
    let (wide, high) = (usize::from(canvas.area.width), usize::from(canvas.area.height));
    if tree.shown.is_empty() {
        let text = if tree.filter.is_empty() { "the file is empty" } else { "no name matches" };
        canvas.put_cut(0, 0, text, width, FAINT);
    }
    let is_wide = width < wide;
    let room = if is_wide { width - 1 } else { width };
    for y in 0..high {
        let Some(node) = tree.shown.get(tree.top + y).and_then(|at| tree.nodes.get(*at)) else { break };
        line(tree, node, y, room, canvas);
        if tree.top + y == tree.cursor {
            let line = ratatui::layout::Rect {
                y: canvas.area.y + y as u16,
                height: 1,
                width: room as u16,
                ..canvas.area
            };
            canvas.buffer.set_style(line, CURSOR);
        }
    }
    if !is_wide {
        return;
    }
    for y in 0..high {
        canvas.put(width - 1, y, "│", 1, FAINT);
    }
    let left = width + 1;
    let text = tree.details().unwrap_or("reading…");
    for (y, line) in text.lines().take(high).enumerate() {
        let style = if y == 0 { STRONG } else { PLAIN };
        canvas.put_cut(left, y, line, wide.saturating_sub(left), style);
    }
}

fn line(tree: &Tree, node: &TreeNode, y: usize, width: usize, canvas: &mut Canvas<'_>) {
    let sign = match (&node.content, node.is_open) {
        _ if tree.is_marked(node) => "*",
        _ if node.children == Children::Pending => "…",
        (content, true) if content.opens() => "▾",
        (content, false) if content.opens() => "▸",
        _ => " ",
    };
    let style = match &node.content {
        _ if tree.is_marked(node) => canvas.palette.found(),
        TreeContent::Directory(_) => canvas.palette.special(),
        TreeContent::Table(..) => STRONG,
        TreeContent::Problem => canvas.palette.bad(),
        TreeContent::Column { has_data: false, .. } => FAINT,
        TreeContent::Column { .. } | TreeContent::Object(_) => PLAIN,
    };
    let mut x = (node.depth * 2).min(width / 3);
    x = canvas.put(x, y, sign, 1, style) + 1;
    let bytes = node.bytes.map_or(String::new(), human::bytes);
    let has_bytes = width >= x + NAME + BYTES;
    let room = width.saturating_sub(x + if has_bytes { BYTES + 1 } else { 0 });
    // Names take precedence over types.
    let name = cells(&node.label);
    let kind = cells(&node.kind).min(room.saturating_sub(name.min(NAME) + 2));
    let named = name.min(room.saturating_sub(if kind == 0 { 0 } else { kind + 2 }).max(NAME.min(room)));
    let end = canvas.put_cut(x, y, &human::cut_middle(&node.label, named), named, style);
    if end + 2 < x + room {
        canvas.put_cut(end + 2, y, &node.kind, (x + room).saturating_sub(end + 2), FAINT);
    }
    if has_bytes {
        canvas.put_right(width - BYTES, y, &bytes, BYTES, PLAIN);
    }
}
