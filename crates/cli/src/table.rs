//! Aligned columns of text.

use crate::{
    human::{clean, cut},
    paint::{Paint, Style},
};

/// Where a column's text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    /// Words. May be cut to fit the terminal.
    Left,
    /// Numbers. Never cut.
    Right,
}

/// Rows under headings.
#[derive(Debug)]
pub(crate) struct Table {
    headings: Vec<(String, Align)>,
    rows: Vec<Vec<Cell>>,
}

/// One text in a table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    /// Text in a style.
    pub(crate) fn new(style: Style, text: &str) -> Self {
        Self { text: clean(text), style }
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::new(Style::Plain, &text)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::new(Style::Plain, text)
    }
}

/// No column of words is cut below this.
const NARROWEST: usize = 8;
/// Between columns.
const GAP: usize = 2;

impl Table {
    /// A table without rows.
    pub(crate) fn new(headings: &[(&str, Align)]) -> Self {
        let headings = headings.iter().map(|(text, align)| (clean(text), *align)).collect();
        Self { headings, rows: Vec::new() }
    }

    /// Adds a row. Missing cells are empty.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Lines that end in a newline, at most `width` wide where cutting words can do it. Columns with nothing in them are left out.
    pub(crate) fn render(&self, width: Option<usize>, paint: Paint) -> String {
        let length = |text: &str| text.chars().count();
        let cell = |row: &[Cell], at: usize| row.get(at).cloned().unwrap_or_default();
        let shown: Vec<usize> = (0..self.headings.len())
            .filter(|&at| self.rows.is_empty() || self.rows.iter().any(|row| !cell(row, at).text.is_empty()))
            .collect();
        let mut widths: Vec<usize> = shown
            .iter()
            .map(|&at| {
                let widest = self.rows.iter().map(|row| row.get(at).map_or(0, |c| length(&c.text))).max();
                widest.unwrap_or(0).max(length(&self.headings[at].0))
            })
            .collect();
        if let Some(width) = width {
            let words: Vec<bool> = shown.iter().map(|&at| self.headings[at].1 == Align::Left).collect();
            shrink(&mut widths, &words, width);
        }
        let line = |texts: Vec<Cell>| {
            let mut line = String::new();
            for ((text, &width), &at) in texts.iter().zip(&widths).zip(&shown) {
                let short = cut(&text.text, width);
                let padding = " ".repeat(width - length(&short));
                let painted = paint.paint(text.style, &short);
                match self.headings[at].1 {
                    Align::Left => line.extend([painted, padding]),
                    Align::Right => line.extend([padding, painted]),
                }
                line.extend(std::iter::repeat_n(' ', GAP));
            }
            line.truncate(line.trim_end().len());
            line.push('\n');
            line
        };
        let headings = shown.iter().map(|&at| Cell::new(Style::Faint, &self.headings[at].0)).collect();
        let mut text = line(headings);
        for row in &self.rows {
            text.push_str(&line(shown.iter().map(|&at| cell(row, at)).collect()));
        }
        text
    }
}

/// Takes from the widest columns of words until everything fits, or nothing more can be taken.
fn shrink(widths: &mut [usize], words: &[bool], width: usize) {
    let gaps = GAP * widths.len().saturating_sub(1);
    let mut excess = (widths.iter().sum::<usize>() + gaps).saturating_sub(width);
    while excess > 0 {
        let widest =
            (0..widths.len()).filter(|&at| words[at] && widths[at] > NARROWEST).max_by_key(|&at| widths[at]);
        let Some(widest) = widest else { return };
        widths[widest] -= 1;
        excess -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Paint = Paint { color: false };

    fn sample() -> Table {
        let mut table = Table::new(&[("name", Align::Left), ("note", Align::Left), ("bytes", Align::Right)]);
        table.row(["Muon_pt".into(), Cell::default(), "1,234".into()]);
        table.row(["a rather long name".into(), Cell::default(), "5".into()]);
        table
    }

    #[test]
    fn columns_are_aligned_and_empty_ones_left_out() {
        insta::assert_snapshot!(sample().render(None, PLAIN), @r"
        name                bytes
        Muon_pt             1,234
        a rather long name      5
        ");
    }

    #[test]
    fn words_are_cut_to_the_terminal_but_numbers_are_not() {
        insta::assert_snapshot!(sample().render(Some(18), PLAIN), @r"
        name         bytes
        Muon_pt      1,234
        a rather l…      5
        ");
        insta::assert_snapshot!(sample().render(Some(1), PLAIN), @r"
        name      bytes
        Muon_pt   1,234
        a rathe…      5
        ");
    }

    #[test]
    fn colour_does_not_disturb_the_alignment() {
        let mut table = Table::new(&[("a", Align::Right), ("b", Align::Left)]);
        table.row([Cell::new(Style::Bad, "1"), Cell::new(Style::Good, "x")]);
        table.row(["100".into(), "\u{1b}[2J".into()]);
        let expected = "  \u{1b}[2ma\u{1b}[0m  \u{1b}[2mb\u{1b}[0m\n  \u{1b}[31m1\u{1b}[0m  \u{1b}[32mx\u{1b}[0m\n100  \\u{1b}[2J\n";
        assert_eq!(table.render(None, Paint { color: true }), expected);
    }
}
