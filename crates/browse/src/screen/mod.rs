//! Drawing of the screen: a title, the topmost pane, a status line, and keys.

mod grid;
mod plot;
mod text;
mod tree;

use crate::{app::App, human, pane::Pane};
use ratatui::{
    buffer::Buffer,
    layout::Rect,
    style::{Color, Modifier, Style},
    text::Span,
};

/// Styles by role of text, with or without colour.
#[derive(Clone, Copy)]
struct Palette {
    color: bool,
}

impl Palette {
    const fn with(self, color: Color) -> Style {
        if self.color { Style::new().fg(color) } else { Style::new() }
    }

    /// Bars, programs and directories.
    const fn special(self) -> Style {
        self.with(Color::Cyan)
    }

    /// Failures.
    const fn bad(self) -> Style {
        self.with(Color::Red)
    }

    /// Marked or found items.
    const fn found(self) -> Style {
        if self.color { Style::new().fg(Color::Yellow) } else { UNDERLINED }
    }
}

const PLAIN: Style = Style::new();
const STRONG: Style = Style::new().add_modifier(Modifier::BOLD);
const FAINT: Style = Style::new().add_modifier(Modifier::DIM);
const CURSOR: Style = Style::new().add_modifier(Modifier::REVERSED);
const UNDERLINED: Style = Style::new().add_modifier(Modifier::UNDERLINED);

/// Area of the screen.
struct Canvas<'a> {
    buffer: &'a mut Buffer,
    area: Rect,
    palette: Palette,
}

impl Canvas<'_> {
    /// Writes escaped text at a position of the area, at most `width` cells. Returns the position after it.
    fn put(&mut self, x: usize, y: usize, text: &str, width: usize, style: Style) -> usize {
        let (wide, high) = (usize::from(self.area.width), usize::from(self.area.height));
        if x >= wide || y >= high || width == 0 {
            return x;
        }
        let text = human::clean(text);
        let width = width.min(wide - x);
        let left = self.area.x + x as u16;
        let (end, _) = self.buffer.set_stringn(left, self.area.y + y as u16, text, width, style);
        usize::from(end - self.area.x)
    }

    /// Writes text as [`put`](Self::put) does, with an ellipsis if it is cut.
    fn put_cut(&mut self, x: usize, y: usize, text: &str, width: usize, style: Style) -> usize {
        let text = human::clean(text);
        if cells(&text) <= width {
            return self.put(x, y, &text, width, style);
        }
        let end = self.put(x, y, &text, width.saturating_sub(1), style);
        self.put(end, y, "…", 1, style)
    }

    /// Writes text aligned to the right end of `width` cells.
    fn put_right(&mut self, x: usize, y: usize, text: &str, width: usize, style: Style) {
        let length = cells(&human::clean(text));
        self.put_cut(x + width.saturating_sub(length), y, text, width, style);
    }

    /// Changes the style of a line.
    fn paint(&mut self, y: usize, style: Style) {
        let (width, height) = (usize::from(self.area.width), usize::from(self.area.height));
        if y < height {
            let line = Rect::new(self.area.x, self.area.y + y as u16, width as u16, 1);
            self.buffer.set_style(line, style);
        }
    }
}

/// Returns the number of cells of a text.
fn cells(text: &str) -> usize {
    Span::raw(text).width()
}

/// Draws a browser. Returns the position of the text cursor while a line is typed.
pub fn draw(app: &App, area: Rect, buffer: &mut Buffer) -> Option<(u16, u16)> {
    let palette = Palette { color: app.color };
    let height = usize::from(area.height);
    let mut canvas = Canvas { buffer, area, palette };
    title(app, &mut canvas);
    let mut cursor = None;
    if height > 2 {
        cursor = status(app, &mut canvas, height - 2);
    }
    if height > 1 {
        keys(app, &mut canvas, height - 1);
    }
    let body = Rect { y: area.y + 1.min(area.height), height: area.height.saturating_sub(3), ..area };
    let mut canvas = Canvas { buffer: canvas.buffer, area: body, palette };
    match app.panes.last() {
        Some(Pane::Tree(tree)) => tree::draw(tree, usize::from(app.tree_width()), &mut canvas),
        Some(Pane::Grid(grid)) => grid::draw(grid, &mut canvas),
        Some(Pane::Plot(plot)) => plot::draw(plot, &mut canvas),
        Some(Pane::Text(text)) => text::draw(text, &mut canvas),
        None => {}
    }
    cursor
}

fn title(app: &App, canvas: &mut Canvas<'_>) {
    let width = usize::from(canvas.area.width);
    let what = match app.panes.last() {
        Some(Pane::Tree(_)) | None => String::new(),
        Some(Pane::Grid(grid)) => grid.table.path().to_owned(),
        Some(Pane::Plot(plot)) => plot.caption(),
        Some(Pane::Text(text)) => text.title.clone(),
    };
    let file = app.file();
    let size = app.file_size().map_or(String::new(), |size| format!(", {}", human::bytes(size)));
    let about = if app.has_changed() {
        "the file has changed: R opens it again".to_owned()
    } else {
        format!("{}{size}", file.format())
    };
    let style = if app.has_changed() { canvas.palette.bad() } else { FAINT };
    let about_width = cells(&about).min(width / 2);
    canvas.put_right(width.saturating_sub(about_width), 0, &about, about_width, style);
    let room = width.saturating_sub(about_width + 2);
    let name = app.name();
    let named = match what.is_empty() {
        true => cells(&name).min(room),
        false => cells(&name).min(room.saturating_sub(cells(&human::clean(&what)) + 2).max(room / 4)),
    };
    let end = canvas.put_cut(0, 0, &human::cut_middle(&name, named), named, STRONG);
    if !what.is_empty() {
        canvas.put_cut(end + 2, 0, &what, room.saturating_sub(end + 2), PLAIN);
    }
}

/// Draws the line that is typed, a message, or the status of the pane.
fn status(app: &App, canvas: &mut Canvas<'_>, y: usize) -> Option<(u16, u16)> {
    let width = usize::from(canvas.area.width);
    if let Some((question, editor)) = &app.prompt {
        let (before, behind) = editor.parts();
        let mut x = canvas.put(0, y, question.label(), width, STRONG);
        // The end of a long line is visible.
        let room = width.saturating_sub(x + 1);
        let skipped = before.chars().count().saturating_sub(room);
        let before: String = before.chars().skip(skipped).collect();
        x = canvas.put(x, y, &before, room, PLAIN);
        let at = (canvas.area.x + x as u16, canvas.area.y + y as u16);
        if before.is_empty() && behind.is_empty() {
            canvas.put_cut(x + 1, y, question.hint(), width.saturating_sub(x + 1), FAINT);
        }
        canvas.put(x, y, &behind, width.saturating_sub(x), PLAIN);
        return Some(at);
    }
    if let Some(reading) = app.reading() {
        canvas.put_cut(0, y, &reading, width, PLAIN);
        return None;
    }
    match &app.message {
        Some(message) => canvas.put_cut(0, y, message, width, canvas.palette.bad()),
        None => canvas.put_cut(0, y, &app.status(), width, PLAIN),
    };
    None
}

fn keys(app: &App, canvas: &mut Canvas<'_>, y: usize) {
    let keys = match app.panes.last() {
        _ if app.prompt.is_some() => "Enter done   Esc give up",
        Some(Pane::Tree(_)) => {
            "Enter values   → open   / filter   Space mark   p plot   e plan   f program   d code"
        }
        Some(Pane::Grid(_)) => {
            "/ search   & rows   w where   c columns   : row   p plot   Space mark   d code   Esc back"
        }
        Some(Pane::Plot(_)) => "+ - bins   r range   l log   w where   d code   Esc back",
        Some(Pane::Text(_)) => "↑ ↓ ← → scroll   Esc back",
        None => "",
    };
    let width = usize::from(canvas.area.width);
    let always = "? help   q quit";
    let end = cells(always);
    // Hints are never cut.
    let mut x = 0;
    for hint in keys.split("   ").filter(|hint| !hint.is_empty()) {
        if x + cells(hint) + 3 + end > width {
            break;
        }
        x = canvas.put(x, y, hint, width, FAINT) + 3;
    }
    canvas.put_right(width.saturating_sub(end), y, always, end.min(width), FAINT);
}
