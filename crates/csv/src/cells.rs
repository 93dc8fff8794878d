//! Text to cells.

use csv_core::{ReadFieldResult, Reader, ReaderBuilder};
use forthwith_plan::{Error, Result};

/// Cells of one record after the other, of text that arrives in pieces.
///
/// Empty lines are skipped, unless records have a single cell: then each is a record with a missing cell.
pub(crate) struct Records {
    reader: Reader,
    output: Vec<u8>,
    cells: Vec<Placed>,
    written: usize,
    place: Place,
    /// Whether the last record ended with a carriage return, to which a line feed belongs.
    after_return: bool,
    /// Whether an empty line is a record with an empty cell.
    takes_empty_lines: bool,
    separator: u8,
    /// Bytes that are a separator, a quote or part of a line break.
    is_special: [bool; 256],
}

/// A cell of a record.
#[derive(Clone, Copy)]
struct Placed {
    end: usize,
    is_quoted: bool,
}

/// Where in a record the reader stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Record,
    Cell,
    /// Within a cell, of which the first byte was a quote or not.
    Inside(bool),
}

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

/// Limit on the bytes of a record: what is longer is damage, such as a quote that never ends.
const LONGEST: usize = 64 << 20;

impl Records {
    pub(crate) fn new(separator: u8) -> Self {
        let mut is_special = [false; 256];
        for byte in [separator, b'"', b'\n', b'\r'] {
            is_special[usize::from(byte)] = true;
        }
        Self {
            separator,
            is_special,
            reader: ReaderBuilder::new().delimiter(separator).build(),
            output: vec![0; 4096],
            cells: Vec::new(),
            written: 0,
            place: Place::Record,
            after_return: false,
            takes_empty_lines: false,
        }
    }

    /// From now on, whether an empty line is a record with an empty cell.
    pub(crate) fn take_empty_lines(&mut self, take: bool) {
        self.takes_empty_lines = take;
    }

    /// Parses a record from the beginning of a piece; an empty piece is the end of the text. Returns how many bytes were taken, and
    /// whether a record is complete: otherwise the next piece is wanted.
    pub(crate) fn read(&mut self, piece: &[u8]) -> Result<(usize, bool)> {
        let mut taken = 0;
        loop {
            if self.place == Place::Record {
                taken += self.line_breaks(&piece[taken..]);
                if let Some(b'\r' | b'\n') = piece.get(taken) {
                    self.cells.push(Placed { end: self.written, is_quoted: false });
                    return Ok((self.after_record(piece, taken + 1), true));
                }
                if let Some(length) = self.plain(&piece[taken..]) {
                    return Ok((taken + length, true));
                }
            }
            let left = &piece[taken..];
            if left.is_empty() && !piece.is_empty() {
                return Ok((taken, false));
            }
            if let (Place::Record | Place::Cell, Some(first)) = (self.place, left.first()) {
                self.place = Place::Inside(*first == b'"');
            }
            let (result, read, wrote) = self.reader.read_field(left, &mut self.output[self.written..]);
            taken += read;
            self.written += wrote;
            match result {
                ReadFieldResult::OutputFull if self.output.len() >= LONGEST => {
                    return Err(Error::fault(format!(
                        "a record of more than {LONGEST} bytes: is a quote missing?"
                    )));
                }
                ReadFieldResult::OutputFull => self.output.resize(2 * self.output.len(), 0),
                ReadFieldResult::Field { record_end } => {
                    let is_quoted = self.place == Place::Inside(true);
                    self.cells.push(Placed { end: self.written, is_quoted });
                    self.place = if record_end { Place::Record } else { Place::Cell };
                    if record_end {
                        return Ok((self.after_record(piece, taken), true));
                    }
                }
                ReadFieldResult::InputEmpty | ReadFieldResult::End => return Ok((taken, false)),
            }
        }
    }

    /// Parses a record without quotes whose end is in the piece, and returns its bytes with the line break. The reader, which is
    /// between records, does not see it; `None` leaves any other record to it.
    fn plain(&mut self, piece: &[u8]) -> Option<usize> {
        if self.written > 0 || !self.cells.is_empty() {
            return None;
        }
        let mut start = 0;
        for (at, byte) in piece.iter().enumerate() {
            if !self.is_special[usize::from(*byte)] {
                continue;
            }
            let is_break = match byte {
                b'\n' => true,
                b'\r' => piece.get(at + 1) == Some(&b'\n'),
                _ => false,
            };
            if (!is_break && *byte != self.separator) || at > LONGEST {
                break;
            }
            let cell = &piece[start..at];
            let end = self.written + cell.len();
            if end > self.output.len() {
                self.output.resize(end.max(2 * self.output.len()), 0);
            }
            self.output[self.written..end].copy_from_slice(cell);
            self.written = end;
            self.cells.push(Placed { end, is_quoted: false });
            if is_break {
                self.reader.set_line(self.reader.line() + 1);
                return Some(at + if *byte == b'\r' { 2 } else { 1 });
            }
            start = at + 1;
        }
        self.clear();
        None
    }

    /// The end of a record of which this many bytes were taken: with the line feed after a carriage return, if it has arrived.
    fn after_record(&mut self, piece: &[u8], taken: usize) -> usize {
        let ends_with_return = taken > 0 && piece[taken - 1] == b'\r';
        let feeds = usize::from(ends_with_return && piece.get(taken) == Some(&b'\n'));
        self.after_return = ends_with_return && feeds == 0;
        taken + feeds
    }

    /// The number of bytes of line breaks before a record that are no records.
    fn line_breaks(&mut self, piece: &[u8]) -> usize {
        let skipped = match self.takes_empty_lines {
            true => self.feeds(piece),
            false => piece.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count(),
        };
        self.after_return &= piece.is_empty();
        skipped
    }

    /// The number of bytes at the beginning of a piece that belong to the record before: a line feed after a carriage return.
    pub(crate) fn feeds(&self, piece: &[u8]) -> usize {
        usize::from(self.after_return && piece.first() == Some(&b'\n'))
    }

    /// The number of cells of the record.
    pub(crate) fn len(&self) -> usize {
        self.cells.len()
    }

    /// The cells of the record.
    pub(crate) fn cells(&self) -> impl Iterator<Item = Cell<'_>> {
        (0..self.len()).map(|at| self.cell(at))
    }

    /// A cell of the record; a missing one if it has no such cell.
    pub(crate) fn cell(&self, at: usize) -> Cell<'_> {
        let end = |at: usize| self.cells.get(at).map_or(0, |placed| placed.end);
        let start = at.checked_sub(1).map_or(0, end);
        let Some(Placed { end, is_quoted }) = self.cells.get(at).copied() else { return Cell::default() };
        Cell { text: self.output.get(start..end).unwrap_or_default(), is_quoted }
    }

    /// Begins the next record.
    pub(crate) fn clear(&mut self) {
        self.written = 0;
        self.cells.clear();
    }

    /// The line on which the reader stands, from 1.
    pub(crate) fn line(&self) -> u64 {
        self.reader.line()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All records of a text that arrives in steps; a missing cell is `None`.
    fn records(text: &[u8], step: usize, takes_empty_lines: bool) -> Vec<Vec<Option<String>>> {
        let mut records = Records::new(b',');
        records.take_empty_lines(takes_empty_lines);
        let mut found = Vec::new();
        let pieces = text.chunks(step).chain([&[][..]]);
        for mut piece in pieces {
            loop {
                let (taken, complete) = records.read(piece).expect("records");
                piece = &piece[taken..];
                if !complete {
                    break;
                }
                let text = |cell: Cell<'_>| String::from_utf8_lossy(cell.text).into_owned();
                found.push(records.cells().map(|cell| (!cell.is_missing()).then(|| text(cell))).collect());
                records.clear();
            }
        }
        found
    }

    fn some(cells: &[&str]) -> Vec<Option<String>> {
        cells.iter().map(|cell| Some((*cell).to_owned())).collect()
    }

    #[test]
    fn records_do_not_depend_on_how_the_text_arrives() {
        let text = b"a,b\r\n1,\"x,\"\"y\"\"\nz\"\n\n\"\",\n3";
        let wanted = vec![
            some(&["a", "b"]),
            some(&["1", "x,\"y\"\nz"]),
            vec![Some(String::new()), None],
            some(&["3"]),
        ];
        for step in 1..=text.len() {
            assert_eq!(records(text, step, false), wanted, "in steps of {step}");
        }
    }

    #[test]
    fn empty_lines_are_records_where_there_is_one_cell() {
        let text = b"a\r\n\r\nb\n\n\"\"\r\n\n";
        let wanted =
            vec![some(&["a"]), vec![None], some(&["b"]), vec![None], vec![Some(String::new())], vec![None]];
        for step in 1..=text.len() {
            assert_eq!(records(text, step, true), wanted, "in steps of {step}");
        }
        assert_eq!(records(b"\n\na\n", 2, false), vec![some(&["a"])]);
    }
}
