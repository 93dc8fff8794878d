//! Writing a table, the mirror of a [`Dataset`](crate::Dataset).

use crate::{Error, Number, Result};
use bytes::Bytes;
use forthwith_columns::{
    Array,
    arrow::{RecordBatch, SchemaRef},
};

/// A table being written, whatever the format: made for the names and [Form](forthwith_columns::Form)s of its
/// columns and a [`Sink`](forthwith_io::Sink), filled step by step, and nothing before it is finished.
pub trait TableWriter: Send {
    /// Appends a step: an array a column, in their order, of the Forms that were announced (keys of nodes may
    /// differ) and of one length.
    ///
    /// # Errors
    /// Arrays that are not what was announced or contradict themselves; values the format has no room for,
    /// with the column and the row; whatever the sink says.
    fn write(&mut self, columns: &[Array]) -> Result<()>;

    /// Appends batches of Arrow that have the announced columns, without making arrays of them, as the last ones if
    /// nothing follows. Returns whether the format can: otherwise nothing was written.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    fn write_batches(&mut self, batches: &[RecordBatch], is_last: bool) -> Result<bool> {
        let _ = (batches, is_last);
        Ok(false)
    }

    /// Writes what is held back and what comes last, and finishes the sink.
    ///
    /// # Errors
    /// Whatever the sink says.
    fn finish(self: Box<Self>) -> Result<Written>;
}

/// Refuses decimals that have more digits than their type, before a format has no room for them. `entries`
/// were written before.
///
/// # Errors
/// The first one, with column, entry and member.
pub fn check_digits<'a>(columns: impl IntoIterator<Item = (&'a str, &'a Array)>, entries: u64) -> Result<()> {
    columns.into_iter().try_for_each(|(name, array)| {
        array.check_digits().map_err(|many| {
            let error = Error::invalid(many.to_string());
            error.in_many_digits(name, entries, &many)
        })
    })
}

/// Numbers of things that were written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Entries.
    pub entries: u64,
    /// Bytes of the file.
    pub bytes: u64,
}

/// How to write. A format takes what it has a use for, and refuses what makes no sense for it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WriteOptions {
    /// The codec by the format's own name for it, `"zstd"` or `"none"`; the format's choice if there is none.
    pub codec: Option<String>,
    /// The codec's level; the codec's own choice if there is none.
    pub level: Option<i32>,
    /// Entries in a block (a row group) at most.
    pub block_entries: Option<u64>,
    /// The schema to write by, in the format's own words, where it has such: that of a file of the same format
    /// whose columns are copied.
    pub schema: Option<String>,
    /// The name of the record type, where the format has one.
    pub name: Option<String>,
    /// What is around the rows, where a format has several ways, by its own words.
    pub framing: Option<String>,
    /// The kind of table, where a format has several: `"tree"` or `"ntuple"`.
    pub table: Option<String>,
    /// Whether values that repeat are written once and referred to, where the format can.
    pub dictionary: Option<bool>,
    /// The text of NaN and infinities, in a format that has no way to write them: JSON.
    pub not_numbers: NotNumbers,
    /// The spelling of rows, in a format whose rows are cells of text: CSV.
    pub cells: CellOptions,
    /// The number that missing values become, with lists and texts that are empty, in formats whose tables may not have
    /// them: those of ROOT.
    pub nulls: Option<Number>,
    /// Columns whose lists another column counts, with the name of that one, in formats that store such counts beside lists:
    /// trees of ROOT, where each column has a counter of its own otherwise.
    pub counters: Vec<(String, String)>,
    /// Whether text that is not UTF-8 is written as it is, where its type in the file could hold it: an error otherwise.
    pub keep_text: bool,
    /// Words that are kept with the file, in formats that have a place for such: names with their values.
    pub metadata: Vec<(String, Bytes)>,
    /// The Arrow schema that the columns had, whose metadata of fields and dictionaries are kept in formats that have
    /// Arrow's types.
    pub arrow: Option<SchemaRef>,
}

/// The treatment of NaN and infinities where there is no way to write them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NotNumbers {
    /// They are an error, which names the column and the entry.
    #[default]
    Refused,
    /// They are missing values.
    Null,
    /// They are the texts `NaN`, `Infinity` and `-Infinity`.
    Text,
}

impl NotNumbers {
    /// The names by which [`parse`](Self::parse) knows them.
    pub const NAMES: [&str; 3] = ["error", "null", "string"];

    /// The treatment of this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let all = [Self::Refused, Self::Null, Self::Text];
        Self::NAMES.iter().position(|known| *known == name).map(|at| all[at])
    }
}

/// Spelling of rows as cells of text with separators between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellOptions {
    /// The character between cells; by default a comma, or a tab in files whose names end with `.tsv`.
    pub separator: Option<char>,
    /// Whether the first line has the names of the columns.
    pub header: bool,
    /// The text of missing values.
    pub null: String,
    /// The cells that are in quotes.
    pub quotes: Quotes,
    /// Whether lines end with a carriage return and a line feed, rather than a line feed alone.
    pub crlf: bool,
}

impl Default for CellOptions {
    fn default() -> Self {
        Self { separator: None, header: true, null: String::new(), quotes: Quotes::default(), crlf: false }
    }
}

/// Cells of text that are in quotes. Missing values never are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Quotes {
    /// Cells that hold a separator, a quote, a line break, or spaces at their ends, and text that reads as a missing value.
    #[default]
    Necessary,
    /// All cells but numbers and booleans.
    NotNumeric,
    /// All cells, and the names of the columns.
    Always,
}

impl Quotes {
    /// The names by which [`parse`](Self::parse) knows them.
    pub const NAMES: [&str; 3] = ["necessary", "non_numeric", "always"];

    /// The quotes of this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let all = [Self::Necessary, Self::NotNumeric, Self::Always];
        Self::NAMES.iter().position(|known| *known == name).map(|at| all[at])
    }
}
