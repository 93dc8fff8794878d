//! Plain records, which are divided at their marks (separators, quotes and line breaks).

use forthwith_kernels::marks::LANES;

/// A cell: its text, and whether it was in quotes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cell<'a> {
    pub text: &'a [u8],
    pub is_quoted: bool,
}

impl Cell<'_> {
    /// Whether the cell is missing: it is empty and not in quotes.
    pub(crate) const fn is_missing(self) -> bool {
        self.text.is_empty() && !self.is_quoted
    }
}

/// Upper bound on the length of a record in bytes. Longer records are errors, due to a missing closing quote,
/// for example.
pub(crate) const LONGEST: usize = 64 << 20;

/// Range of a cell in a text of less than 2 GiB.
#[derive(Clone, Copy)]
pub(crate) struct Placed {
    start: u32,
    /// End of the cell, combined with [`QUOTED`].
    end: u32,
}

/// Flag in the end of cells that are in quotes.
const QUOTED: u32 = 1 << 31;

impl Placed {
    pub(crate) const fn new(start: usize, end: usize, is_quoted: bool) -> Self {
        Self { start: start as u32, end: end as u32 | if is_quoted { QUOTED } else { 0 } }
    }

    pub(crate) const fn end(self) -> usize {
        (self.end & !QUOTED) as usize
    }

    /// Returns the cell in its text.
    #[inline]
    pub(crate) fn cell(self, text: &[u8]) -> Cell<'_> {
        let text = text.get(self.start as usize..self.end()).unwrap_or_default();
        Cell { text, is_quoted: self.end & QUOTED != 0 }
    }
}

/// Records of equal width in a piece of text, without quotes except around cells.
pub(crate) struct Plain {
    width: usize,
    cells: Vec<Placed>,
    ends: Vec<usize>,
}

impl Plain {
    /// Creates an empty list of records with `width` cells each.
    pub(crate) const fn new(width: usize) -> Self {
        Self { width, cells: Vec::new(), ends: Vec::new() }
    }

    pub(crate) fn clear(&mut self) {
        self.cells.clear();
        self.ends.clear();
    }

    /// Returns the number of cells of each record.
    pub(crate) const fn width(&self) -> usize {
        self.width
    }

    /// Returns the number of records.
    pub(crate) const fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the end offset of each record in the piece.
    pub(crate) fn ends(&self) -> &[usize] {
        &self.ends
    }

    /// Returns the cells of a column in a range of records.
    pub(crate) fn column<'a>(
        &'a self,
        piece: &'a [u8],
        records: std::ops::Range<usize>,
        column: usize,
    ) -> impl Iterator<Item = Cell<'a>> {
        let cells = &self.cells[records.start * self.width..records.end * self.width];
        cells.iter().skip(column).step_by(self.width).map(|placed| placed.cell(piece))
    }

    /// Divides records from an offset on. Returns the offset of the next record and the number of line feeds.
    pub(crate) fn divide(
        &mut self,
        piece: &[u8],
        marks: &[u64],
        (from, separator): (usize, u8),
        most: usize,
    ) -> (usize, u64) {
        let mut marks = Marks::new(marks, from);
        let (mut at, mut lines) = (from, 0);
        // Whether an empty line is a record depends on the reader.
        while self.ends.len() < most && !matches!(piece.get(at), None | Some(b'\n' | b'\r')) {
            let Some((next, more)) = divide(piece, &mut marks, at, separator, &mut self.cells) else { break };
            if self.cells.len() != (self.ends.len() + 1) * self.width {
                break;
            }
            self.ends.push(next);
            (at, lines) = (next, lines + more);
        }
        self.cells.truncate(self.ends.len() * self.width);
        (at, lines)
    }
}

/// Divides the record at an offset, which the next mark does not precede. Returns the offset after its line
/// break and the number of line feeds; `None` unless the record is plain and complete.
#[inline]
pub(crate) fn divide(
    piece: &[u8],
    marks: &mut Marks<'_>,
    from: usize,
    separator: u8,
    cells: &mut Vec<Placed>,
) -> Option<(usize, u64)> {
    let (mut start, mut lines) = (from, 1);
    loop {
        let mut at = marks.next()?;
        let mut cell = Placed::new(start, at, false);
        if piece[at] == b'"' && at == start {
            let end = loop {
                let mark = marks.next()?;
                match piece[mark] {
                    b'"' => break mark,
                    b'\n' => lines += 1,
                    _ => {}
                }
            };
            at = marks.next().filter(|next| *next == end + 1)?;
            cell = Placed::new(start + 1, end, true);
        }
        if at - from > LONGEST {
            return None;
        }
        let next = match piece[at] {
            byte if byte == separator => {
                cells.push(cell);
                start = at + 1;
                continue;
            }
            b'\n' => at + 1,
            b'\r' if piece.get(at + 1) == Some(&b'\n') => marks.next()? + 1,
            _ => return None,
        };
        cells.push(cell);
        return Some((next, lines));
    }
}

/// Iterator over the marks of a piece from an offset on.
pub(crate) struct Marks<'a> {
    marks: &'a [u64],
    word: usize,
    mask: u64,
}

impl<'a> Marks<'a> {
    pub(crate) fn new(marks: &'a [u64], from: usize) -> Self {
        let word = from / LANES;
        let mask = marks.get(word).map_or(0, |mask| mask & (u64::MAX << (from % LANES)));
        Self { marks, word, mask }
    }

    /// Returns the offset of the next mark.
    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.mask == 0 {
            self.word += 1;
            self.mask = *self.marks.get(self.word)?;
        }
        let at = self.word * LANES + self.mask.trailing_zeros() as usize;
        self.mask &= self.mask - 1;
        Some(at)
    }
}
