//! Editor of a line of text.

use crate::input::Key;
use forthwith::columns::is_unsafe_to_show;

/// Line with a cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LineEditor {
    text: Vec<char>,
    cursor: usize,
}

/// Effect of a key on a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edited {
    /// The text changed.
    Changed,
    /// Only the cursor moved, or nothing happened.
    Kept,
    /// The line is complete.
    Entered,
    /// The line was cancelled.
    Left,
}

/// Maximum number of characters of a line.
const LONGEST: usize = 4096;

impl LineEditor {
    /// Creates a line with a text, with the cursor at its end.
    pub(crate) fn of(text: &str) -> Self {
        let text: Vec<char> = text.chars().take(LONGEST).collect();
        Self { cursor: text.len(), text }
    }

    pub(crate) fn text(&self) -> String {
        self.text.iter().collect()
    }

    /// Returns the text before and after the cursor.
    pub(crate) fn parts(&self) -> (String, String) {
        let (before, behind) = self.text.split_at(self.cursor);
        (before.iter().collect(), behind.iter().collect())
    }

    /// Inserts text at the cursor, without control characters.
    pub(crate) fn insert(&mut self, text: &str) -> Edited {
        let before = self.text.len();
        for c in text.chars().filter(|c| !is_unsafe_to_show(*c)) {
            if self.text.len() < LONGEST {
                self.text.insert(self.cursor, c);
                self.cursor += 1;
            }
        }
        if self.text.len() == before { Edited::Kept } else { Edited::Changed }
    }

    pub(crate) fn key(&mut self, key: Key) -> Edited {
        match key {
            Key::Enter => Edited::Entered,
            Key::Esc | Key::Ctrl('c' | 'g') => Edited::Left,
            Key::Char(c) => self.insert(c.encode_utf8(&mut [0; 4])),
            Key::Backspace if self.text.is_empty() => Edited::Left,
            Key::Backspace if self.cursor > 0 => {
                self.cursor -= 1;
                self.text.remove(self.cursor);
                Edited::Changed
            }
            Key::Delete if self.cursor < self.text.len() => {
                self.text.remove(self.cursor);
                Edited::Changed
            }
            Key::Ctrl('u') => {
                self.text.drain(..self.cursor);
                self.cursor = 0;
                Edited::Changed
            }
            Key::Ctrl('k') => {
                self.text.truncate(self.cursor);
                Edited::Changed
            }
            Key::Ctrl('w') => {
                let kept = self.text[..self.cursor].iter().rposition(|c| !c.is_whitespace()).unwrap_or(0);
                let kept = self.text[..kept].iter().rposition(|c| c.is_whitespace()).map_or(0, |at| at + 1);
                self.text.drain(kept..self.cursor);
                self.cursor = kept;
                Edited::Changed
            }
            Key::Left => self.place(self.cursor.saturating_sub(1)),
            Key::Right => self.place(self.cursor + 1),
            Key::Home | Key::Ctrl('a') => self.place(0),
            Key::End | Key::Ctrl('e') => self.place(self.text.len()),
            _ => Edited::Kept,
        }
    }

    fn place(&mut self, cursor: usize) -> Edited {
        self.cursor = cursor.min(self.text.len());
        Edited::Kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_edited() {
        let mut line = LineEditor::of("Muon pt");
        assert_eq!(line.key(Key::Ctrl('w')), Edited::Changed);
        assert_eq!(line.text(), "Muon ");
        line.insert("e\u{1b}ta\n");
        assert_eq!(line.text(), "Muon eta");
        line.key(Key::Home);
        line.key(Key::Delete);
        line.key(Key::Char('m'));
        assert_eq!(line.parts(), ("m".to_owned(), "uon eta".to_owned()));
        line.key(Key::Ctrl('k'));
        assert_eq!((line.text(), line.key(Key::Enter)), ("m".to_owned(), Edited::Entered));
        line.key(Key::Backspace);
        assert_eq!(line.key(Key::Backspace), Edited::Left);
    }
}
