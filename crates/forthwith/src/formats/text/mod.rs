//! Writers of tables as text: one JSON object per line (JSON Lines), or comma-separated values (CSV).

mod cells;
mod column;
mod compressed;
mod rows;
mod spell;
#[cfg(test)]
mod tests;

#[cfg(any(feature = "csv", feature = "json", feature = "protobuf"))]
pub(super) use compressed::COMPRESSED;
pub(super) use compressed::decompressed;
pub use rows::JsonRows;

use super::Format;
use cells::Cells;
use column::Spelled;
use forthwith_columns::{Array, Form, Invalid};
use forthwith_engine::BlockThreads;
use forthwith_io::Sink;
use forthwith_plan::{
    Bench, BlockMaker, BlockRunner, BlockSink, Error, NotNumbers, Result, StoredBlock, TableWriter,
    WriteOptions, Written,
};

/// Returns the JSON text of a Form, which the option `schema` accepts for formats that do not store types.
#[must_use]
pub fn form_text(form: &Form) -> String {
    serde_json::to_string(form).unwrap_or_default()
}

/// Upper bounds on the bytes of columns and on the rows that one task formats.
const PIECE: u64 = 256 << 10;
const MOST_ROWS: u64 = 1 << 14;

/// A text format that can be written.
pub(super) struct Text {
    name: &'static str,
    endings: &'static [&'static str],
    style: Style,
}

/// The format of one JSON object per line; in files with the extension `.json`, of one list of objects.
pub(super) static JSON_LINES: Text =
    Text { name: "JSON Lines", endings: &["jsonl", "ndjson", LIST], style: Style::JsonLines };

/// Extension of files that are one list.
const LIST: &str = "json";

/// Extension of files with tabs between values.
const TABS: &str = "tsv";

/// The format of comma-separated values with a header line; columns are numbers or text.
pub(super) static CSV: Text = Text { name: "CSV", endings: &["csv", TABS], style: Style::Csv };

impl Format for Text {
    fn name(&self) -> &'static str {
        self.name
    }

    fn is_text(&self) -> bool {
        true
    }

    fn endings(&self) -> &'static [&'static str] {
        self.endings
    }

    fn is_read(&self) -> bool {
        false
    }

    fn writer(
        &self,
        fields: &[(String, Form)],
        sink: Box<dyn Sink>,
        options: &WriteOptions,
    ) -> Result<Box<dyn TableWriter>> {
        Ok(Box::new(TextWriter::new(self.style, fields, sink, options)?))
    }
}

/// Writes a line for each entry. Numbers have the shortest digits that round-trip; missing values are `null`
/// or a text that is set by the options; times and decimals are formatted as text. JSON has neither NaN nor
/// infinities, whose treatment is an option. Blocks of up to 16384 lines are formatted by several threads.
pub(crate) struct TextWriter {
    sink: Box<dyn Sink>,
    names: Vec<String>,
    layout: Layout,
    /// Text to write before the next rows.
    before: Vec<u8>,
    runner: BlockThreads,
    written: Written,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    JsonLines,
    Csv,
}

/// Layout of rows.
enum Layout {
    /// Objects, on lines or as the items of a list.
    Objects { is_list: bool, not_numbers: NotNumbers },
    /// Cells of CSV.
    Cells(Box<Cells>),
}

impl TextWriter {
    pub(crate) fn new(
        style: Style,
        fields: &[(String, Form)],
        sink: Box<dyn Sink>,
        options: &WriteOptions,
    ) -> Result<Self> {
        let uri = sink.uri().to_owned();
        if options.codec.as_deref().is_some_and(|codec| codec != "none") || options.level.is_some() {
            return Err(Error::unsupported("a codec in text files").in_file(&uri));
        }
        let ending = super::ending(&uri);
        let layout = match style {
            Style::JsonLines => {
                let is_list = match options.framing.as_deref() {
                    None => ending.as_deref() == Some(LIST),
                    Some("lines") => false,
                    Some("list") => true,
                    Some(other) => {
                        let what = format!("framing is \"lines\" or \"list\", not {other:?}");
                        return Err(Error::invalid(what).in_file(&uri));
                    }
                };
                Layout::Objects { is_list, not_numbers: options.not_numbers }
            }
            Style::Csv => {
                let separator = if ending.as_deref() == Some(TABS) { b'\t' } else { b',' };
                let cells = Cells::new(fields, &options.cells, separator);
                Layout::Cells(Box::new(cells.map_err(|error| error.in_file(&uri))?))
            }
        };
        let names: Vec<String> = fields.iter().map(|(name, _)| name.clone()).collect();
        let mut before = Vec::new();
        match &layout {
            Layout::Objects { is_list: true, .. } => before.push(b'['),
            Layout::Objects { .. } => {}
            Layout::Cells(cells) => cells.header(&names, &mut before),
        }
        let written = Written { entries: 0, bytes: 0 };
        Ok(Self { sink, names, layout, before, runner: BlockThreads::default(), written })
    }
}

/// A sink together with the count of written bytes.
struct Lines<'a> {
    sink: &'a mut dyn Sink,
    written: &'a mut Written,
}

impl Lines<'_> {
    fn put(&mut self, text: &[u8]) -> Result<()> {
        self.sink.write_all(text).map_err(|error| forthwith_io::Error::new(error.into(), self.sink.uri()))?;
        self.written.bytes += text.len() as u64;
        Ok(())
    }
}

impl BlockSink for Lines<'_> {
    fn take(&mut self, _: usize, stored: &mut StoredBlock) -> Result<()> {
        self.put(&stored.bytes)
    }
}

/// Blocks of rows, each of which is formatted by one thread.
struct Pieces<'a> {
    rows: Rows<'a>,
    /// Number of rows, and the number of rows in a block.
    count: u64,
    each: u64,
    /// Average bytes of the columns in a row, rounded up.
    weight: u64,
    /// Number of rows that were written before these.
    before: u64,
    uri: &'a str,
}

enum Rows<'a> {
    Objects(JsonRows<'a>, bool),
    Cells(Vec<Spelled<'a>>, &'a Cells),
}

impl Pieces<'_> {
    fn row(&self, row: u64, to: &mut Vec<u8>) -> Result<()> {
        match &self.rows {
            Rows::Objects(rows, false) => {
                rows.row(row, to)?;
                to.push(b'\n');
                Ok(())
            }
            Rows::Objects(rows, true) => {
                to.extend_from_slice(if self.before + row == 0 { b"\n" } else { b",\n" });
                rows.row(row, to)
            }
            Rows::Cells(columns, cells) => cells.row(columns, row, to).map_err(|error| invalid(&error)),
        }
    }
}

fn invalid(invalid: &Invalid) -> Error {
    Error::fault(invalid.to_string())
}

impl BlockMaker for Pieces<'_> {
    fn blocks(&self) -> usize {
        usize::try_from(self.count.div_ceil(self.each)).unwrap_or(usize::MAX)
    }

    fn weight(&self, _: usize) -> u64 {
        self.weight.saturating_mul(self.each)
    }

    fn make(&self, block: usize, bench: &mut Bench) -> Result<StoredBlock> {
        let mut bytes = bench.spare();
        let start = block as u64 * self.each;
        for row in start..self.count.min(start + self.each) {
            self.row(row, &mut bytes).map_err(|error| error.at_entry(self.before + row).in_file(self.uri))?;
        }
        Ok(StoredBlock { payload: bytes.len() as u64, bytes, note: 0 })
    }
}

impl TableWriter for TextWriter {
    fn write(&mut self, columns: &[Array]) -> Result<()> {
        let count = columns.first().map_or(0, |column| column.length);
        let uri = self.sink.uri().to_owned();
        if columns.len() != self.names.len() || columns.iter().any(|column| column.length != count) {
            let what = "columns that are not those of the file, or differ in length";
            return Err(Error::invalid(what).in_file(&uri));
        }
        let rows = match &self.layout {
            Layout::Objects { is_list, not_numbers } => {
                let rows = JsonRows::new(&self.names, columns, *not_numbers);
                Rows::Objects(rows.map_err(|error| error.in_file(&uri))?, *is_list)
            }
            Layout::Cells(cells) => {
                let columns = cells::spelled(columns);
                Rows::Cells(columns.map_err(|error| invalid(&error).in_file(&uri))?, cells)
            }
        };
        let buffers = columns.iter().flat_map(|column| &column.columns);
        let bytes: usize = buffers.map(|(_, buffer)| buffer.as_bytes().len()).sum();
        let weight = (bytes as u64).div_ceil(count.max(1)).max(1);
        let each = (PIECE / weight).clamp(1, MOST_ROWS);
        let pieces = Pieces { rows, count, each, weight, before: self.written.entries, uri: &uri };
        let mut lines = Lines { sink: self.sink.as_mut(), written: &mut self.written };
        lines.put(&std::mem::take(&mut self.before))?;
        self.runner.run(&pieces, &mut lines)?;
        self.written.entries += count;
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<Written> {
        let mut end = std::mem::take(&mut self.before);
        if matches!(self.layout, Layout::Objects { is_list: true, .. }) {
            end.extend_from_slice(b"\n]\n");
        }
        Lines { sink: self.sink.as_mut(), written: &mut self.written }.put(&end)?;
        self.sink.finish()?;
        Ok(self.written)
    }
}
