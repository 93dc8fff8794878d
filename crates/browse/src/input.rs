//! Events of a browser, independent of their source.

/// Pressed key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    /// A character, as typed with or without Shift.
    Char(char),
    /// A character with Ctrl.
    Ctrl(char),
    /// Enter.
    Enter,
    /// Escape.
    Esc,
    /// Backspace.
    Backspace,
    /// Delete.
    Delete,
    /// Tab.
    Tab,
    /// Arrow up.
    Up,
    /// Arrow down.
    Down,
    /// Arrow left.
    Left,
    /// Arrow right.
    Right,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
    /// Home.
    Home,
    /// End.
    End,
}

/// Event. Positions are in cells from the upper left corner of the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A key.
    Key(Key),
    /// A click of the left button.
    Click {
        /// Column of the cell.
        column: u16,
        /// Row of the cell.
        row: u16,
    },
    /// Number of lines scrolled by the wheel; positive downwards.
    Scroll(i32),
    /// Pasted text.
    Paste(String),
    /// New size of the screen in cells.
    Resize {
        /// Number of columns.
        width: u16,
        /// Number of rows.
        height: u16,
    },
}

/// Returns the number of lines that a key moves on a page of this height; `None` for other keys.
pub(crate) fn lines_moved(key: Key, page: usize) -> Option<i64> {
    let page = page.max(1) as i64;
    Some(match key {
        Key::Up | Key::Char('k') => -1,
        Key::Down | Key::Char('j') => 1,
        Key::PageUp | Key::Ctrl('b') => -page,
        Key::PageDown | Key::Ctrl('f') => page,
        Key::Ctrl('u') => -(page / 2).max(1),
        Key::Ctrl('d') => (page / 2).max(1),
        Key::Home | Key::Char('g') => i64::MIN,
        Key::End | Key::Char('G') => i64::MAX,
        _ => return None,
    })
}

/// Returns a position after moving by lines, within `0..count`.
pub(crate) fn moved(position: u64, lines: i64, count: u64) -> u64 {
    let step = lines.unsigned_abs();
    let position = if lines < 0 { position.saturating_sub(step) } else { position.saturating_add(step) };
    position.min(count.saturating_sub(1))
}

/// Returns the first line of a page of `height` lines that shows a position, scrolled as little as possible.
pub(crate) fn scrolled(top: u64, position: u64, height: usize) -> u64 {
    let height = height.max(1) as u64;
    top.clamp(position.saturating_sub(height - 1), position)
}

/// Adds a value, or removes it if present.
pub(crate) fn toggle(values: &mut Vec<u32>, value: u32) {
    match values.iter().position(|other| *other == value) {
        Some(at) => drop(values.remove(at)),
        None => values.push(value),
    }
}
