//! Writing of tables, the counterpart of a [`Dataset`](crate::Dataset).

use crate::{Error, Number, Result};
use bytes::Bytes;
use forthwith_columns::{
    Array,
    arrow::{RecordBatch, SchemaRef},
};

/// A writer of a table in any format. It is created for the names and [Form](forthwith_columns::Form)s of the
/// columns and a [`Sink`](forthwith_io::Sink), and is fed in steps. The file is valid only after
/// [`finish`](Self::finish).
pub trait TableWriter: Send {
    /// Appends rows: one array for each column, in their order, with the declared Forms (keys of nodes may
    /// differ) and of equal length.
    ///
    /// # Errors
    /// Arrays of other types or inconsistent arrays; values that the format cannot represent, with the column
    /// and the row; errors of the sink.
    fn write(&mut self, columns: &[Array]) -> Result<()>;

    /// Appends Arrow record batches with the declared columns directly. `is_last` tells that no more rows
    /// follow. Returns `false`, without effect, if the format does not support it.
    ///
    /// # Errors
    /// See [`write`](Self::write).
    fn write_batches(&mut self, batches: &[RecordBatch], is_last: bool) -> Result<bool> {
        let _ = (batches, is_last);
        Ok(false)
    }

    /// Writes buffered rows and the end of the file, and finishes the sink.
    ///
    /// # Errors
    /// Errors of the format or the sink.
    fn finish(self: Box<Self>) -> Result<Written>;
}

/// Checks that decimals have no more digits than their type allows. `entries` is the number of entries that
/// were written before.
///
/// # Errors
/// The first decimal with too many digits, with column, entry and member.
pub fn check_digits<'a>(columns: impl IntoIterator<Item = (&'a str, &'a Array)>, entries: u64) -> Result<()> {
    columns.into_iter().try_for_each(|(name, array)| {
        array.check_digits().map_err(|many| {
            let error = Error::invalid(many.to_string());
            error.in_many_digits(name, entries, &many)
        })
    })
}

/// Totals of a written file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Number of entries.
    pub entries: u64,
    /// Length of the file in bytes.
    pub bytes: u64,
}

/// Options of writing. A format ignores options that do not concern it, and rejects contradictory ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WriteOptions {
    /// The format's name of the codec, such as `"zstd"` or `"none"`; `None` is the format's default.
    pub codec: Option<String>,
    /// Compression level; `None` is the codec's default.
    pub level: Option<i32>,
    /// Upper bound on the number of entries in a block or row group.
    pub block_entries: Option<u64>,
    /// The schema of the file in the format's own language, such as that of a file whose columns are copied.
    pub schema: Option<String>,
    /// Name of the record type, in formats that have one.
    pub name: Option<String>,
    /// The format's name of the framing of rows, in formats with several.
    pub framing: Option<String>,
    /// Kind of table, in formats with several: `"tree"` or `"ntuple"`.
    pub table: Option<String>,
    /// Whether repeated values are dictionary-encoded, in formats that support it.
    pub dictionary: Option<bool>,
    /// Treatment of NaN and infinities, in formats that cannot represent them (JSON).
    pub not_numbers: NotNumbers,
    /// Layout of rows, in formats whose rows are text cells (CSV).
    pub cells: CellOptions,
    /// Sentinel that replaces missing values, in formats that cannot represent them (those of ROOT). Missing
    /// lists and texts become empty.
    pub nulls: Option<Number>,
    /// Pairs of a column of lists and the column with their lengths, in formats that store such counters
    /// (trees of ROOT). Other columns of lists get a counter of their own.
    pub counters: Vec<(String, String)>,
    /// Whether text that is not UTF-8 is written unchanged if its type in the file allows it; otherwise it is
    /// an error.
    pub keep_text: bool,
    /// Key-value metadata of the file, in formats that support them.
    pub metadata: Vec<(String, Bytes)>,
    /// The Arrow schema of the columns. Formats with Arrow's types store its field metadata and dictionaries.
    pub arrow: Option<SchemaRef>,
}

/// Treatment of NaN and infinities in formats that cannot represent them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NotNumbers {
    /// An error with the column and the entry.
    #[default]
    Refused,
    /// Written as missing values.
    Null,
    /// Written as the texts `NaN`, `Infinity` and `-Infinity`.
    Text,
}

impl NotNumbers {
    /// Names that [`parse`](Self::parse) accepts.
    pub const NAMES: [&str; 3] = ["error", "null", "string"];

    /// Returns the variant of this name; `None` for other names.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let all = [Self::Refused, Self::Null, Self::Text];
        Self::NAMES.iter().position(|known| *known == name).map(|at| all[at])
    }
}

/// Layout of rows as text cells with separators.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellOptions {
    /// Separator between cells; `None` is a comma, or a tab in files whose names end with `.tsv`.
    pub separator: Option<char>,
    /// Whether the first line contains the names of the columns.
    pub header: bool,
    /// Text of missing values.
    pub null: String,
    /// Cells that are quoted.
    pub quotes: Quotes,
    /// Whether lines end with CR LF instead of LF.
    pub crlf: bool,
}

impl Default for CellOptions {
    fn default() -> Self {
        Self { separator: None, header: true, null: String::new(), quotes: Quotes::default(), crlf: false }
    }
}

/// Cells that are quoted. Missing values are never quoted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Quotes {
    /// Cells that contain a separator, a quote or a line break, start or end with a space, or read as a
    /// missing value.
    #[default]
    Necessary,
    /// All cells except numbers and booleans.
    NotNumeric,
    /// All cells, including the names of the columns.
    Always,
}

impl Quotes {
    /// Names that [`parse`](Self::parse) accepts.
    pub const NAMES: [&str; 3] = ["necessary", "non_numeric", "always"];

    /// Returns the variant of this name; `None` for other names.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let all = [Self::Necessary, Self::NotNumeric, Self::Always];
        Self::NAMES.iter().position(|known| *known == name).map(|at| all[at])
    }
}
