//! Formats tables of text with aligned columns.

use crate::{
    human::{clean, cut, cut_middle},
    paint::{Paint, Style},
};

/// Alignment of a column, and how it may be narrowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    /// Names, aligned left. Cut in the middle, since names often share beginnings and ends; narrowed last.
    Name,
    /// Words, aligned left. May be cut to fit the terminal.
    Left,
    /// Numbers, aligned right. Never cut.
    Right,
    /// Numbers, aligned right. Dropped before names are cut, last column first.
    Spare,
}

/// Rows with headings.
#[derive(Debug)]
pub(crate) struct Table {
    headings: Vec<(String, Align)>,
    rows: Vec<Vec<Cell>>,
}

/// A cell of a table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    /// Creates a cell with a style.
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

/// Minimum width of columns of words.
const NARROWEST: usize = 8;
/// Minimum width of columns of words while spare columns can be dropped, and minimum width of names.
const ROOMY: usize = 16;
/// Number of spaces between columns.
const GAP: usize = 2;

impl Table {
    /// Creates a table without rows.
    pub(crate) fn new(headings: &[(&str, Align)]) -> Self {
        let headings = headings.iter().map(|(text, align)| (clean(text), *align)).collect();
        Self { headings, rows: Vec::new() }
    }

    /// Adds a row. Missing cells are empty.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Formats the table as lines, each ending in a newline. Lines are cut to `width` as far as the columns
    /// allow. Empty columns are omitted.
    pub(crate) fn render(&self, width: Option<usize>, paint: Paint) -> String {
        let length = |text: &str| text.chars().count();
        let cell = |row: &[Cell], at: usize| row.get(at).cloned().unwrap_or_default();
        let mut shown: Vec<usize> = (0..self.headings.len())
            .filter(|&at| self.rows.is_empty() || self.rows.iter().any(|row| !cell(row, at).text.is_empty()))
            .collect();
        let widest = |&at: &usize| {
            let widest = self.rows.iter().map(|row| row.get(at).map_or(0, |c| length(&c.text))).max();
            widest.unwrap_or(0).max(length(&self.headings[at].0))
        };
        let mut widths: Vec<usize> = shown.iter().map(widest).collect();
        if let Some(width) = width {
            let align = |at: &usize| self.headings[*at].1;
            // First words are cut, then spare columns dropped, then words cut further, and finally names.
            let mut excess = shrink(&mut widths, |at| align(&shown[at]) == Align::Left, ROOMY, width);
            while excess > 0
                && let Some(last) = shown.iter().rposition(|at| align(at) == Align::Spare)
            {
                shown.remove(last);
                widths = shown.iter().map(widest).collect();
                excess = shrink(&mut widths, |at| align(&shown[at]) == Align::Left, ROOMY, width);
            }
            shrink(&mut widths, |at| align(&shown[at]) == Align::Left, NARROWEST, width);
            shrink(&mut widths, |at| align(&shown[at]) == Align::Name, ROOMY, width);
        }
        let line = |texts: Vec<Cell>| {
            let mut line = String::new();
            for ((text, &width), &at) in texts.iter().zip(&widths).zip(&shown) {
                let align = self.headings[at].1;
                let short =
                    if align == Align::Name { cut_middle(&text.text, width) } else { cut(&text.text, width) };
                let padding = " ".repeat(width - length(&short));
                let painted = paint.paint(text.style, &short);
                match align {
                    Align::Name | Align::Left => line.extend([painted, padding]),
                    Align::Right | Align::Spare => line.extend([padding, painted]),
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

/// Narrows the widest of the permitted columns until the line fits or none is wider than `least`. Returns the
/// remaining excess.
fn shrink(widths: &mut [usize], may: impl Fn(usize) -> bool, least: usize, width: usize) -> usize {
    let gaps = GAP * widths.len().saturating_sub(1);
    let mut excess = (widths.iter().sum::<usize>() + gaps).saturating_sub(width);
    while excess > 0 {
        let widest =
            (0..widths.len()).filter(|&at| may(at) && widths[at] > least).max_by_key(|&at| widths[at]);
        let Some(widest) = widest else { break };
        widths[widest] -= 1;
        excess -= 1;
    }
    excess
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
    fn names_are_the_last_to_be_cut_and_in_the_middle() {
        let mut table = Table::new(&[
            ("branch", Align::Name),
            ("type", Align::Left),
            ("stored", Align::Spare),
            ("ratio", Align::Spare),
        ]);
        for end in ["pt", "eta"] {
            let name = format!("AnalysisElectronsAuxDyn.{end}");
            table.row([name.into(), "std::vector<float>".into(), "1.23 kB".into(), "2.00".into()]);
        }
        insta::assert_snapshot!(table.render(Some(60), PLAIN), @r"
        branch                       type                 stored
        AnalysisElectronsAuxDyn.pt   std::vector<float>  1.23 kB
        AnalysisElectronsAuxDyn.eta  std::vector<float>  1.23 kB
        ");
        insta::assert_snapshot!(table.render(Some(40), PLAIN), @r"
        branch                       type
        AnalysisElectronsAuxDyn.pt   std::vecto…
        AnalysisElectronsAuxDyn.eta  std::vecto…
        ");
        insta::assert_snapshot!(table.render(Some(28), PLAIN), @r"
        branch              type
        Analysis…AuxDyn.pt  std::ve…
        Analysis…uxDyn.eta  std::ve…
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
