//! Opening of files, in one pass over their text.

use crate::{
    cells::{Record, Records},
    plain::{Cell, Plain},
    seen::Seen,
    types::CellType,
    typing::types_of,
};
use forthwith_io::Source;
use forthwith_plan::{BlockRunner, Error, Result};
use std::{collections::BTreeMap, ops::Range, sync::Arc};

/// Options of reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsvOptions {
    /// Character between cells.
    pub separator: u8,
    /// Whether the first record has the names of the columns; otherwise they are `column_1` and so on.
    pub header: bool,
    /// Types of some columns as JSON, `{"name": "type"}`; those of the others are inferred.
    pub types: Option<String>,
    /// Whether a truncated last record is omitted instead of being an error.
    pub recover: bool,
}

impl Default for CsvOptions {
    fn default() -> Self {
        Self { separator: b',', header: true, types: None, recover: false }
    }
}

/// An opened CSV file: its columns, and the locations of its blocks.
#[derive(Debug)]
pub struct CsvFile {
    pub(crate) source: Arc<dyn Source>,
    pub(crate) separator: u8,
    pub(crate) columns: Arc<[CsvColumn]>,
    /// Byte range and entries of each block.
    pub(crate) blocks: Arc<[(Range<u64>, Range<u64>)]>,
    cut: Option<Error>,
}

/// A column of the file.
#[derive(Clone, Debug)]
pub(crate) struct CsvColumn {
    pub name: String,
    pub cell_type: CellType,
    pub is_optional: bool,
}

/// Number of bytes per thread that are read at once.
const PIECE: u64 = 1 << 20;
/// Upper bound on the number of threads by which [`PIECE`] is multiplied.
const MOST_THREADS: usize = 16;
/// Number of records that a single thread divides before it inspects their cells, which are still in its
/// caches.
const FEW: usize = 1 << 10;
/// Minimum length of a block in bytes, except for the last one.
const BLOCK: u64 = 2 << 20;
/// Byte order mark of UTF-8, which some programs write at the start of a file.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// State of the pass.
struct Scan<'a> {
    runner: &'a dyn BlockRunner,
    names: Option<Vec<String>>,
    seen: Vec<Seen>,
    blocks: Vec<(Range<u64>, Range<u64>)>,
    /// The block that is being filled.
    block: (Range<u64>, Range<u64>),
}

impl CsvFile {
    /// Reads the whole file once.
    ///
    /// # Errors
    /// The source cannot be read; records differ in their number of cells, with the line; `types` names an
    /// unknown type or column.
    pub fn open(source: Arc<dyn Source>, options: &CsvOptions, runner: &dyn BlockRunner) -> Result<Self> {
        let uri = source.uri().to_owned();
        Self::scan(source, options, runner).map_err(|error| error.in_file(&uri))
    }

    fn scan(source: Arc<dyn Source>, options: &CsvOptions, runner: &dyn BlockRunner) -> Result<Self> {
        let size = source.size()?;
        let mut records = Records::new(options.separator);
        let mut scan =
            Scan { runner, names: None, seen: Vec::new(), blocks: Vec::new(), block: (0..0, 0..0) };
        let (mut at, mut cut) = (0, None);
        let threads = runner.threads().min(MOST_THREADS);
        let most = if threads > 1 { usize::MAX } else { FEW };
        let mut plain = Plain::new(0);
        loop {
            let end = size.min(at + PIECE * threads as u64);
            let piece = source.read_one(at..end)?;
            let piece = match at {
                0 => piece.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&piece),
                _ => &piece[..],
            };
            let is_end = piece.is_empty();
            // Leading empty lines do not determine the width of records.
            let blanks = match scan.names {
                None if records.is_between() => {
                    piece.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count()
                }
                _ => 0,
            };
            records.count_lines(&piece[..blanks]);
            let piece = &piece[blanks..];
            scan.skip(end - at - piece.len() as u64 + records.feeds(piece) as u64);
            records.begin(piece);
            let mut read = 0;
            // Converts an offset in the piece to one in the file.
            let byte = |read: usize| end - (piece.len() - read) as u64;
            while is_end || read < piece.len() {
                if scan.names.is_some() && !is_end {
                    let begin = byte(0);
                    read = records.read_plain(piece, read, most, &mut plain);
                    scan.plain(piece, &plain, begin)?;
                    if plain.len() == most || read == piece.len() {
                        continue;
                    }
                }
                let (next, complete) =
                    records.read(piece, read).map_err(|error| error.at_byte(byte(read)))?;
                read = next;
                if !complete {
                    break;
                }
                let record = records.record(piece);
                let is_open = is_end
                    && options.recover
                    && ends_within_quotes(record, source.as_ref(), scan.block.0.end..size)?;
                let found = if is_open {
                    Err(scan.fault("a cell whose quote does not end".into()))
                } else {
                    scan.record(record, records.line(), byte(read), options.header)
                };
                match found {
                    // Only the last record can be truncated.
                    Err(error) if is_end && options.recover => cut = Some(error),
                    other => other?,
                }
                if plain.width() != scan.seen.len() {
                    plain = Plain::new(scan.seen.len());
                    records.take_empty_lines(scan.seen.len() == 1);
                }
                records.clear();
            }
            if is_end {
                break;
            }
            at = end;
        }
        Ok(Self { cut, ..scan.finish(source, options)? })
    }

    /// Removes and returns the error of a truncated last record that was omitted, with the byte offset of the
    /// record.
    #[must_use]
    pub const fn take_cut(&mut self) -> Option<Error> {
        self.cut.take()
    }
}

/// Whether the last cell of a file has an unterminated quote: the number of quotes in its record is odd.
fn ends_within_quotes(record: Record<'_>, source: &dyn Source, bytes: Range<u64>) -> Result<bool> {
    if !record.cells().last().is_some_and(|cell| cell.is_quoted) {
        return Ok(false);
    }
    let text = source.read_one(bytes)?;
    Ok(text.iter().filter(|byte| **byte == b'"').count() % 2 == 1)
}

impl Scan<'_> {
    /// Adds the plain records of a piece that starts at byte `begin` of the file.
    fn plain(&mut self, piece: &[u8], plain: &Plain, begin: u64) -> Result<()> {
        let types = types_of(self.runner, piece, plain)?;
        self.seen.iter_mut().zip(types).for_each(|(seen, found)| seen.merge(found));
        plain.ends().iter().for_each(|end| self.count(begin + *end as u64));
        Ok(())
    }

    /// Adds a record that ends at byte `end` of the file, before the line number `line`.
    fn record(&mut self, record: Record<'_>, line: u64, end: u64, header: bool) -> Result<()> {
        let Some(names) = &self.names else {
            let name = |(number, cell): (usize, Cell<'_>)| match header {
                true => String::from_utf8(cell.text.to_vec())
                    .map_err(|_| Error::fault("a name of a column is not valid UTF-8").at_byte(0)),
                false => Ok(format!("column_{number}")),
            };
            self.names = Some((1..).zip(record.cells()).map(name).collect::<Result<_>>()?);
            self.seen = vec![Seen::default(); record.len()];
            if header {
                self.block.0 = end..end;
                return Ok(());
            }
            return self.cells(record, end);
        };
        if record.len() != names.len() {
            let found = record.len();
            let what = format!(
                "a record of {found} cells, where the first one has {} (it ends before line {line})",
                names.len()
            );
            return Err(self.fault(what));
        }
        self.cells(record, end)
    }

    /// Returns the error of the next record.
    fn fault(&self, what: String) -> Error {
        Error::fault(what).at_byte(self.block.0.end).at_entry(self.block.1.end)
    }

    fn cells(&mut self, record: Record<'_>, end: u64) -> Result<()> {
        self.seen.iter_mut().zip(record.cells()).for_each(|(seen, cell)| seen.cells([cell]));
        self.count(end);
        Ok(())
    }

    /// Counts a record that ends at byte `end` of the file.
    fn count(&mut self, end: u64) {
        self.block.0.end = end;
        self.block.1.end += 1;
        if end - self.block.0.start >= BLOCK {
            self.close(end);
        }
    }

    /// Skips bytes between records, with which no block starts.
    fn skip(&mut self, bytes: u64) {
        self.block.0.end += bytes;
        if self.block.1.is_empty() {
            self.block.0.start += bytes;
        }
    }

    fn close(&mut self, end: u64) {
        let entry = self.block.1.end;
        if !self.block.1.is_empty() {
            self.blocks.push(std::mem::replace(&mut self.block, (end..end, entry..entry)));
        }
    }

    fn finish(mut self, source: Arc<dyn Source>, options: &CsvOptions) -> Result<CsvFile> {
        self.close(self.block.0.end);
        let names = self.names.unwrap_or_default();
        let mut given = options.types.as_deref().map(parse_types).transpose()?.unwrap_or_default();
        let columns = names.into_iter().zip(self.seen).map(|(name, seen)| {
            let given = given.remove(&name);
            let cell_type = given.unwrap_or_else(|| seen.found());
            // The cells of a column with a specified type may be empty in other files.
            CsvColumn { is_optional: given.is_some() || seen.is_optional(cell_type), cell_type, name }
        });
        let columns: Vec<CsvColumn> = columns.collect();
        if let Some(name) = given.keys().next() {
            let names: Vec<_> = columns.iter().map(|column| column.name.as_str()).collect();
            return Err(Error::invalid(format!(
                "types: no column is named {name:?}; there are {}",
                names.join(", ")
            )));
        }
        Ok(CsvFile {
            source,
            separator: options.separator,
            columns: columns.into(),
            blocks: self.blocks.into(),
            cut: None,
        })
    }
}

/// Parses the types of columns from JSON: `{"name": "type"}`.
fn parse_types(text: &str) -> Result<BTreeMap<String, CellType>> {
    let names: BTreeMap<String, String> = serde_json::from_str(text).map_err(|error| {
        Error::invalid(format!("types: a JSON object with a type for each name: {error}"))
    })?;
    let each = names.into_iter().map(|(name, of)| {
        let known = CellType::parse(&of).ok_or_else(|| {
            let types = "bool, int64, uint64, float64, date, timestamp or string";
            Error::invalid(format!("types: {of:?} of column {name:?} is none of {types}"))
        })?;
        Ok((name, known))
    });
    each.collect()
}
