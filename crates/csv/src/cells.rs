//! Parsing of text to cells.

use crate::plain::{Cell, LONGEST, Marks, Placed, Plain, divide};
use csv_core::{ReadFieldResult, Reader, ReaderBuilder};
use forthwith_kernels::marks::marks;
use forthwith_plan::{Error, Result};

/// Parser of records in text that arrives in pieces.
///
/// Separators, quotes and line breaks of a piece are found first. [Plain](Plain) records are divided at these
/// marks; other records are parsed by `csv-core`, which assembles the text of their cells.
///
/// Empty lines are skipped, unless records have a single cell: then each is a record with a missing cell.
pub(crate) struct Records {
    reader: Reader,
    /// Bitmap of the bytes of the piece that are separators, quotes or parts of line breaks.
    marks: Vec<u64>,
    /// The cells of the record, as ranges of the piece or of `output`.
    cells: Vec<Placed>,
    is_in_piece: bool,
    output: Vec<u8>,
    written: usize,
    place: Place,
    /// Whether the previous record ended with a carriage return, which a line feed may follow.
    after_return: bool,
    /// Whether an empty line is a record with an empty cell.
    takes_empty_lines: bool,
    separator: u8,
}

/// Position of the reader within a record.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Record,
    Cell,
    /// Within a cell; `true` if its first byte was a quote.
    Inside(bool),
}

/// The cells of a record, with the text that contains them.
#[derive(Clone, Copy)]
pub(crate) struct Record<'a> {
    text: &'a [u8],
    cells: &'a [Placed],
}

/// Length in bytes below which the marks of a piece are searched.
const LONGEST_PIECE: usize = 1 << 31;

impl Records {
    pub(crate) fn new(separator: u8) -> Self {
        let mut reader = ReaderBuilder::new().delimiter(separator).build();
        // The reader skips a byte order mark before its first bytes, which may not be those of the file. The
        // line feed is consumed in their place.
        reader.read_field(b"\n", &mut []);
        reader.set_line(1);
        Self {
            separator,
            reader,
            marks: Vec::new(),
            cells: Vec::new(),
            is_in_piece: false,
            output: vec![0; 4096],
            written: 0,
            place: Place::Record,
            after_return: false,
            takes_empty_lines: false,
        }
    }

    /// Sets whether an empty line is a record with an empty cell.
    pub(crate) fn take_empty_lines(&mut self, take: bool) {
        self.takes_empty_lines = take;
    }

    /// Starts a piece, to which [`read`](Self::read) and [`record`](Self::record) refer; an empty piece is
    /// the end of the text.
    pub(crate) fn begin(&mut self, piece: &[u8]) {
        let piece = if piece.len() < LONGEST_PIECE { piece } else { &[] };
        marks(piece, [self.separator, b'"', b'\n', b'\r'], &mut self.marks);
    }

    /// Parses a record, or continues it, from an offset in the piece. Returns the offset after it, and
    /// whether the record is complete; if it is not, it continues in the next piece.
    pub(crate) fn read(&mut self, piece: &[u8], at: usize) -> Result<(usize, bool)> {
        let mut at = at;
        loop {
            if self.place == Place::Record {
                at += self.line_breaks(&piece[at..]);
                if let Some(b'\r' | b'\n') = piece.get(at) {
                    self.count_lines(&piece[at..=at]);
                    self.add(self.written, false);
                    return Ok((self.after_record(piece, at + 1), true));
                }
                if self.written == 0 && self.cells.is_empty() {
                    match self.within(piece, at) {
                        Some(next) => return Ok((next, true)),
                        None => self.clear(),
                    }
                }
            }
            let left = &piece[at..];
            if left.is_empty() && !piece.is_empty() {
                return Ok((at, false));
            }
            if let (Place::Record | Place::Cell, Some(first)) = (self.place, left.first()) {
                self.place = Place::Inside(*first == b'"');
            }
            let (result, read, wrote) = self.reader.read_field(left, &mut self.output[self.written..]);
            at += read;
            self.written += wrote;
            match result {
                ReadFieldResult::OutputFull if self.output.len() >= LONGEST => return Err(too_long()),
                ReadFieldResult::OutputFull => self.output.resize(2 * self.output.len(), 0),
                ReadFieldResult::Field { record_end } => {
                    self.add(self.written, self.place == Place::Inside(true));
                    self.place = if record_end { Place::Record } else { Place::Cell };
                    if record_end {
                        return Ok((self.after_record(piece, at), true));
                    }
                }
                ReadFieldResult::InputEmpty | ReadFieldResult::End => return Ok((at, false)),
            }
        }
    }

    /// Appends a cell that ends at this offset, and starts at the end of the previous cell.
    fn add(&mut self, end: usize, is_quoted: bool) {
        let start = self.cells.last().map_or(0, |cell| cell.end());
        self.cells.push(Placed::new(start, end, is_quoted));
    }

    /// Divides up to `most` plain records from an offset in the piece on, and stops before the first one with
    /// quotes within cells or of another width, which [`read`](Self::read) has to parse. Returns the offset
    /// of the next record.
    pub(crate) fn read_plain(&mut self, piece: &[u8], from: usize, most: usize, plain: &mut Plain) -> usize {
        plain.clear();
        if !self.is_between() {
            return from;
        }
        let (next, lines) = plain.divide(piece, &self.marks, (from, self.separator), most);
        self.reader.set_line(self.reader.line() + lines);
        next
    }

    /// Divides a plain record without the reader, which is between records. `None` if the reader has to parse
    /// it.
    fn within(&mut self, piece: &[u8], from: usize) -> Option<usize> {
        let mut marks = Marks::new(&self.marks, from);
        let (next, lines) = divide(piece, &mut marks, from, self.separator, &mut self.cells)?;
        self.is_in_piece = true;
        self.reader.set_line(self.reader.line() + lines);
        Some(next)
    }

    /// Returns the end of a record of which `taken` bytes were parsed, including a line feed after a carriage
    /// return if it is in the piece.
    fn after_record(&mut self, piece: &[u8], taken: usize) -> usize {
        let ends_with_return = taken > 0 && piece[taken - 1] == b'\r';
        let feeds = usize::from(ends_with_return && piece.get(taken) == Some(&b'\n'));
        self.count_lines(&piece[taken..taken + feeds]);
        self.after_return = ends_with_return && feeds == 0;
        taken + feeds
    }

    /// Returns the number of bytes of line breaks before a record that are not records themselves.
    fn line_breaks(&mut self, piece: &[u8]) -> usize {
        let skipped = match self.takes_empty_lines {
            true => self.feeds(piece),
            false => piece.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count(),
        };
        self.count_lines(&piece[..skipped]);
        self.after_return &= piece.is_empty();
        skipped
    }

    /// Whether the position is between records, after the complete line break of the previous one.
    pub(crate) fn is_between(&self) -> bool {
        self.place == Place::Record && self.written == 0 && self.cells.is_empty() && !self.after_return
    }

    /// Counts line feeds that are not passed to the reader.
    pub(crate) fn count_lines(&mut self, line_breaks: &[u8]) {
        let feeds = line_breaks.iter().filter(|byte| **byte == b'\n').count();
        self.reader.set_line(self.reader.line() + feeds as u64);
    }

    /// Returns the number of bytes at the start of a piece that belong to the previous record: a line feed
    /// after a carriage return.
    pub(crate) fn feeds(&self, piece: &[u8]) -> usize {
        usize::from(self.after_return && piece.first() == Some(&b'\n'))
    }

    /// Returns the last record that was read.
    pub(crate) fn record<'a>(&'a self, piece: &'a [u8]) -> Record<'a> {
        Record { text: if self.is_in_piece { piece } else { &self.output }, cells: &self.cells }
    }

    /// Clears the cells for the next record.
    pub(crate) fn clear(&mut self) {
        self.written = 0;
        self.cells.clear();
        self.is_in_piece = false;
    }

    /// Returns the current line number, from 1.
    pub(crate) fn line(&self) -> u64 {
        self.reader.line()
    }
}

fn too_long() -> Error {
    Error::fault(format!("a record of more than {LONGEST} bytes: is a quote missing?"))
}

impl<'a> Record<'a> {
    /// Returns the number of cells.
    pub(crate) const fn len(self) -> usize {
        self.cells.len()
    }

    /// Returns the cells.
    pub(crate) fn cells(self) -> impl Iterator<Item = Cell<'a>> {
        self.cells.iter().map(move |placed| self.at(placed))
    }

    /// Returns a cell; a missing one if `at` is out of range.
    pub(crate) fn cell(self, at: usize) -> Cell<'a> {
        self.cells.get(at).map_or_else(Cell::default, |placed| self.at(placed))
    }

    fn at(self, placed: &Placed) -> Cell<'a> {
        placed.cell(self.text)
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
        for piece in pieces {
            records.begin(piece);
            let mut at = 0;
            loop {
                let (next, complete) = records.read(piece, at).expect("records");
                at = next;
                if !complete {
                    break;
                }
                let text = |cell: Cell<'_>| String::from_utf8_lossy(cell.text).into_owned();
                let cells = records.record(piece).cells();
                found.push(cells.map(|cell| (!cell.is_missing()).then(|| text(cell))).collect());
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
        let text = b"\"a b\",\"c,\rd\"\r\n\"x\ny\",z\n\"p\"q,r\ns\"t,\"\"\n\"u\",\"v";
        let wanted = [["a b", "c,\rd"], ["x\ny", "z"], ["pq", "r"], ["s\"t", ""], ["u", "v"]];
        let wanted: Vec<_> = wanted.iter().map(|cells| some(cells)).collect();
        for step in 1..=text.len() {
            assert_eq!(records(text, step, false), wanted, "in steps of {step}");
        }
    }

    #[test]
    fn lines_are_counted_and_marks_of_byte_order_are_text() {
        let text = "a\r\n\r\n\n\u{feff}b\"\r\n\"c\r\nd\"\r\n\"e\"\"\n\"\nf\n";
        for step in 1..=text.len() {
            let mut reader = Records::new(b',');
            let mut found: Vec<(String, u64)> = Vec::new();
            for piece in text.as_bytes().chunks(step).chain([&[][..]]) {
                reader.begin(piece);
                let mut at = 0;
                while let (next, true) = reader.read(piece, at).expect("records") {
                    at = next;
                    let cell = String::from_utf8_lossy(reader.record(piece).cell(0).text).into_owned();
                    reader.clear();
                    found.push((cell, reader.line()));
                }
            }
            let cells: Vec<&str> = found.iter().map(|(cell, _)| cell.as_str()).collect();
            assert_eq!(cells, ["a", "\u{feff}b\"", "c\r\nd", "e\"\n", "f"], "in steps of {step}");
            // The line feed after a carriage return may be in the next piece.
            let lines = found.iter().zip([2, 5, 7, 9, 10]);
            for ((cell, line), wanted) in lines {
                assert!(*line == wanted || *line + 1 == wanted && step < text.len(), "{cell}: {line}");
            }
            assert_eq!(reader.line(), 10);
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
