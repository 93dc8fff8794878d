//! Plain records: text that is divided where its marks are.

use forthwith_kernels::marks::LANES;

/// A cell: its text, and whether there were quotes around it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cell<'a> {
    pub text: &'a [u8],
    pub is_quoted: bool,
}

impl Cell<'_> {
    /// Whether there is nothing, not even an empty text.
    pub(crate) const fn is_missing(self) -> bool {
        self.text.is_empty() && !self.is_quoted
    }
}

/// Limit on the bytes of a record: longer ones are damage, such as a quote that never ends.
pub(crate) const LONGEST: usize = 64 << 20;

/// A cell of a record in a text of less than 2 GiB.
#[derive(Clone, Copy)]
pub(crate) struct Placed {
    start: u32,
    /// With [`QUOTED`].
    end: u32,
}

/// Set in the end of cells with quotes around them.
const QUOTED: u32 = 1 << 31;

impl Placed {
    pub(crate) const fn new(start: usize, end: usize, is_quoted: bool) -> Self {
        Self { start: start as u32, end: end as u32 | if is_quoted { QUOTED } else { 0 } }
    }

    pub(crate) const fn end(self) -> usize {
        (self.end & !QUOTED) as usize
    }

    /// The cell in its text.
    #[inline]
    pub(crate) fn cell(self, text: &[u8]) -> Cell<'_> {
        let text = text.get(self.start as usize..self.end()).unwrap_or_default();
        Cell { text, is_quoted: self.end & QUOTED != 0 }
    }
}

/// Records of a number of cells that lie in a piece of text and have no quotes but those around cells.
pub(crate) struct Plain {
    width: usize,
    cells: Vec<Placed>,
    ends: Vec<usize>,
}

impl Plain {
    /// None yet, of a number of cells each.
    pub(crate) const fn new(width: usize) -> Self {
        Self { width, cells: Vec::new(), ends: Vec::new() }
    }

    pub(crate) fn clear(&mut self) {
        self.cells.clear();
        self.ends.clear();
    }

    /// The number of cells of each record.
    pub(crate) const fn width(&self) -> usize {
        self.width
    }

    /// The number of records.
    pub(crate) const fn len(&self) -> usize {
        self.ends.len()
    }

    /// The byte of the piece behind each record.
    pub(crate) fn ends(&self) -> &[usize] {
        &self.ends
    }

    /// The cells of a column, in some of the records.
    pub(crate) fn column<'a>(
        &'a self,
        piece: &'a [u8],
        records: std::ops::Range<usize>,
        column: usize,
    ) -> impl Iterator<Item = Cell<'a>> {
        let cells = &self.cells[records.start * self.width..records.end * self.width];
        cells.iter().skip(column).step_by(self.width).map(|placed| placed.cell(piece))
    }

    /// Divides records from a byte on. Returns the byte at which the next one begins, and the number of line feeds.
    pub(crate) fn divide(
        &mut self,
        piece: &[u8],
        marks: &[u64],
        (from, separator): (usize, u8),
        most: usize,
    ) -> (usize, u64) {
        let mut marks = Marks::new(marks, from);
        let (mut at, mut lines) = (from, 0);
        // An empty line may be no record.
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

/// Divides a record that begins at a byte; the next mark is at or behind it. Returns the byte behind its line break
/// and the number of line feeds; `None` unless the record is plain and whole.
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

/// The marks of a piece from a byte on.
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

    /// The byte of the next mark.
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
