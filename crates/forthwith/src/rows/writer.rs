//! Writing rows.

use super::{FieldWriter, Row, fields::WrittenField};
use crate::{create, files::split};
use forthwith_columns::{Array, Form};
use forthwith_plan::{Result, TableWriter, WriteOptions, Written};

/// Number of rows that are written first, which shows their size.
const FIRST: usize = 1 << 10;
/// Number of bytes of columns that are written together.
const TOGETHER: usize = 16 << 20;

/// Writes structs as the rows of a new file, in the format of its extension. The file appears with
/// [`finish`](Self::finish).
///
/// ```
/// use forthwith::{File, Row, Writer};
///
/// #[derive(Row, Debug, PartialEq)]
/// struct Muon {
///     pt: f32,
///     charge: i32,
/// }
///
/// #[derive(Row)]
/// struct Event {
///     run: u32,
///     #[row(prefix = "Muon_", count = "nMuon")]
///     muons: Vec<Muon>,
/// }
///
/// let folder = std::env::temp_dir().join(format!("forthwith-rows-{}", std::process::id()));
/// std::fs::create_dir_all(&folder)?;
/// let path = folder.join("out.root").to_string_lossy().into_owned();
///
/// let mut writer = Writer::<Event>::create(&format!("{path}:events"))?;
/// for run in 0..100 {
///     let muons = (0..run % 3).map(|at| Muon { pt: 10.0 + at as f32, charge: 1 }).collect();
///     writer.push(&Event { run, muons })?;
/// }
/// assert_eq!(writer.finish()?.entries, 100);
///
/// let mut rows = File::open(&path)?.table("events")?.rows::<Event>()?.range(5..6);
/// assert_eq!(rows.next()?.map(|event| event.muons.len()), Some(2));
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Writer<R: Row> {
    writer: Box<dyn TableWriter>,
    builder: R::Builder,
    /// Number of rows in the builder, and number that is written together.
    rows: usize,
    step: usize,
}

impl<R: Row> Writer<R> {
    /// Creates a file `FILE` or, for formats with named tables, `FILE:TABLE`.
    ///
    /// # Errors
    /// Errors of [`create`](crate::create()), such as a type that the format does not support, or an unknown
    /// extension.
    pub fn create(name: &str) -> Result<Self> {
        Self::create_with(name, WriteOptions::default())
    }

    /// Creates a file with options.
    ///
    /// # Errors
    /// Errors of [`create`](Self::create).
    pub fn create_with(name: &str, mut options: WriteOptions) -> Result<Self> {
        let (file, table) = split(name, |_| false);
        if !table.is_empty() {
            options.name = Some(table);
        }
        options.counters.extend(Self::counters());
        Ok(Self::to(create(file, &Self::columns(), &options)?))
    }

    /// Writes rows to any table writer that was made with the [columns](Self::columns).
    #[must_use]
    pub fn to(writer: Box<dyn TableWriter>) -> Self {
        Self { writer, builder: R::Builder::default(), rows: 0, step: FIRST }
    }

    /// Returns the names and Forms of the columns of the rows.
    #[must_use]
    pub fn columns() -> Vec<(String, Form)> {
        let filled = filled::<R>(R::Builder::default());
        filled.into_iter().map(|field| (field.name, field.form)).collect()
    }

    /// Returns pairs of a column of lists and the column of their lengths, for [`WriteOptions::counters`].
    #[must_use]
    pub fn counters() -> Vec<(String, String)> {
        let filled = filled::<R>(R::Builder::default());
        filled.into_iter().filter_map(|field| Some((field.name, field.counter?))).collect()
    }

    /// Appends a row.
    ///
    /// # Errors
    /// Errors of [`TableWriter::write`], for earlier rows.
    pub fn push(&mut self, row: &R) -> Result<()> {
        row.push_to(&mut self.builder);
        self.rows += 1;
        if self.rows < self.step { Ok(()) } else { self.flush() }
    }

    /// Appends rows.
    ///
    /// # Errors
    /// Errors of [`push`](Self::push).
    pub fn extend(&mut self, rows: impl IntoIterator<Item = R>) -> Result<()> {
        rows.into_iter().try_for_each(|row| self.push(&row))
    }

    /// Writes the last rows, and finishes the file.
    ///
    /// # Errors
    /// Errors of [`TableWriter::finish`].
    pub fn finish(mut self) -> Result<Written> {
        self.flush()?;
        self.writer.finish()
    }

    fn flush(&mut self) -> Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        let rows = std::mem::take(&mut self.rows);
        let filled = filled::<R>(std::mem::take(&mut self.builder));
        let array =
            |field: WrittenField| Array { form: field.form, length: rows as u64, columns: field.columns };
        let arrays: Vec<Array> = filled.into_iter().map(array).collect();
        let bytes: usize = arrays.iter().map(Array::nbytes).sum();
        let fitting = TOGETHER / (bytes / rows).max(1);
        self.step = fitting.clamp(1, rows.saturating_mul(16));
        self.writer.write(&arrays)
    }
}

/// Returns the columns of a builder.
fn filled<R: Row>(builder: R::Builder) -> Vec<WrittenField> {
    let mut fields = FieldWriter::new("row");
    R::finish_fields(builder, &mut fields);
    fields.fields
}
