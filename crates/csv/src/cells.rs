//! Text to cells.

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};
use forthwith_plan::{Error, Result};

/// Cells of one record after the other, of text that arrives in pieces.
pub(crate) struct Records {
    reader: Reader,
    output: Vec<u8>,
    ends: Vec<usize>,
    written: usize,
    cells: usize,
}

/// Limit on the bytes of a record: what is longer is damage, such as a quote that never ends.
const LONGEST: usize = 64 << 20;

impl Records {
    pub(crate) fn new(separator: u8) -> Self {
        let reader = ReaderBuilder::new().delimiter(separator).build();
        Self { reader, output: vec![0; 4096], ends: vec![0; 64], written: 0, cells: 0 }
    }

    /// Parses a record from the beginning of a piece; an empty piece is the end of the text. Returns how many bytes were taken, and
    /// whether a record is complete: otherwise the next piece is wanted.
    pub(crate) fn read(&mut self, piece: &[u8]) -> Result<(usize, bool)> {
        let mut taken = 0;
        loop {
            let (result, read, wrote, ended) =
                self.reader.read_record(&piece[taken..], &mut self.output[self.written..], &mut self.ends[self.cells..]);
            taken += read;
            self.written += wrote;
            self.cells += ended;
            match result {
                ReadRecordResult::OutputFull if self.output.len() >= LONGEST => {
                    return Err(Error::fault(format!("a record of more than {LONGEST} bytes: is a quote missing?")));
                }
                ReadRecordResult::OutputFull => self.output.resize(2 * self.output.len(), 0),
                ReadRecordResult::OutputEndsFull => self.ends.resize(2 * self.ends.len(), 0),
                ReadRecordResult::Record => return Ok((taken, true)),
                ReadRecordResult::InputEmpty | ReadRecordResult::End => return Ok((taken, false)),
            }
        }
    }

    /// The number of cells of the record.
    pub(crate) const fn len(&self) -> usize {
        self.cells
    }

    /// The cells of the record.
    pub(crate) fn cells(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.cells).map(|at| self.cell(at))
    }

    /// A cell of the record; empty if it has no such cell.
    pub(crate) fn cell(&self, at: usize) -> &[u8] {
        let start = if at == 0 { 0 } else { self.ends.get(at - 1).copied().unwrap_or(0) };
        let end = self.ends[..self.cells].get(at).copied();
        end.and_then(|end| self.output.get(start..end)).unwrap_or_default()
    }

    /// Begins the next record.
    pub(crate) fn clear(&mut self) {
        (self.written, self.cells) = (0, 0);
    }

    /// The line on which the reader stands, from 1.
    pub(crate) fn line(&self) -> u64 {
        self.reader.line()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(text: &[u8], step: usize) -> Vec<Vec<String>> {
        let mut records = Records::new(b',');
        let mut found = Vec::new();
        let pieces = text.chunks(step).chain([&[][..]]);
        for mut piece in pieces {
            loop {
                let (taken, complete) = records.read(piece).expect("records");
                piece = &piece[taken..];
                if !complete {
                    break;
                }
                found.push(records.cells().map(|cell| String::from_utf8_lossy(cell).into_owned()).collect());
                records.clear();
            }
        }
        found
    }

    #[test]
    fn records_do_not_depend_on_how_the_text_arrives() {
        let text = b"a,b\r\n1,\"x,\"\"y\"\"\nz\"\n\n2,\n3";
        let wanted = [vec!["a", "b"], vec!["1", "x,\"y\"\nz"], vec!["2", ""], vec!["3"]];
        for step in 1..=text.len() {
            assert_eq!(records(text, step), wanted, "in steps of {step}");
        }
    }
}
