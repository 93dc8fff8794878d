//! Drawing of the values of a table, below the names of its columns.

use super::{CURSOR, Canvas, FAINT, PLAIN, STRONG, UNDERLINED};
use crate::{grid::Grid, human};

pub(super) fn draw(grid: &Grid, canvas: &mut Canvas<'_>) {
    let high = usize::from(canvas.area.height);
    let gutter = grid.gutter();
    let mut x = gutter + 1;
    for (at, (field, width)) in grid.visible.iter().enumerate() {
        let name = grid.field(*field).map_or("", |field| &field.name);
        let is_current = grid.current() == Some(*field);
        let is_marked = grid.marked_columns.contains(field);
        let mut style = if is_current { STRONG.patch(UNDERLINED) } else { STRONG };
        if is_marked {
            style = style.patch(canvas.palette.found());
        }
        let name = human::cut_middle(&human::clean(name), *width);
        if is_number(grid, *field) && !is_last(grid, at) {
            canvas.put_right(x, 0, &name, *width, style);
        } else {
            canvas.put_cut(x, 0, &name, *width, style);
        }
        x += width + 2;
    }
    for y in 1..high {
        let row = grid.top + (y - 1) as u64;
        let Some(entry) = grid.rows.entry(row) else { break };
        let is_marked = grid.marks.contains(&entry);
        let style = if is_marked { canvas.palette.found() } else { FAINT };
        canvas.put_right(0, y, &human::count(entry), gutter, style);
        if is_marked {
            canvas.put(gutter, y, "*", 1, style);
        }
        let mut x = gutter + 1;
        for (at, (field, width)) in grid.visible.iter().enumerate() {
            cell(grid, (row, *field), (x, y), *width, is_last(grid, at), canvas);
            x += width + 2;
        }
        if row == grid.cursor {
            canvas.paint(y, CURSOR);
        }
    }
    if grid.rows.len() == 0 && high > 1 {
        let is_reading = grid.activity().is_some();
        let text = if is_reading { "reading…" } else { "no rows" };
        canvas.put(gutter + 1, 1, text, 20, FAINT);
    }
    if grid.visible.is_empty() && high > 0 {
        canvas.put(gutter + 1, 0, "no columns", 20, FAINT);
    }
}

/// Whether a column is the last one on the screen, which may be cut.
fn is_last(grid: &Grid, at: usize) -> bool {
    at > 0 && at + 1 == grid.visible.len()
}

fn is_number(grid: &Grid, field: u32) -> bool {
    grid.cell(grid.top, field).is_some_and(|(cells, _)| cells.is_number)
}

fn cell(
    grid: &Grid,
    (row, field): (u64, u32),
    (x, y): (usize, usize),
    width: usize,
    is_last: bool,
    canvas: &mut Canvas<'_>,
) {
    let Some((cells, at)) = grid.cell(row, field) else {
        canvas.put(x, y, "…", 1, FAINT);
        return;
    };
    match &cells.texts {
        Err(why) => {
            canvas.put_cut(x, y, why, width, canvas.palette.bad());
        }
        Ok(texts) => {
            let Some(text) = texts.get(at) else { return };
            let is_found = grid.pattern.as_ref().is_some_and(|pattern| pattern.is_match(text));
            let style = if is_found { canvas.palette.found() } else { PLAIN };
            if cells.is_number && !is_last {
                canvas.put_right(x, y, text, width, style);
            } else {
                canvas.put_cut(x, y, text, width, style);
            }
        }
    }
}
