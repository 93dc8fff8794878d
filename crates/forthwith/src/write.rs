//! Writing tables, whatever the format.

use crate::{Format, formats};
use forthwith_columns::Form;
use forthwith_io::Sink;
use forthwith_plan::{Error, Result, TableWriter, WriteOptions};

/// A format that tables are written in.
#[derive(Clone, Copy)]
pub struct FileFormat(&'static dyn Format);

impl FileFormat {
    /// The format that a file name's ending stands for.
    ///
    /// # Errors
    /// An ending that stands for none, or for one that is only read.
    pub fn of(name: &str) -> Result<Self> {
        match formats::by_name(name) {
            Some(format) if format.is_written() => Ok(Self(format)),
            Some(format) => Err(Error::unsupported(format!("writing {} files", format.name())).in_file(name)),
            None => {
                let what = format!(
                    "no format has the ending of this name: {} can be written",
                    formats::written_endings(".")
                );
                Err(Error::invalid(what).in_file(name))
            }
        }
    }

    /// The format of this name, if it is written.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let mut all = formats::formats().iter().copied();
        all.find(|format| format.name() == name && format.is_written()).map(Self)
    }

    /// All that there are, by the endings that name them, in words: `"parquet, avro and csv"`.
    #[must_use]
    pub fn listed() -> String {
        formats::written_endings("")
    }

    /// Its name in messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0.name()
    }
}

impl FileFormat {
    /// The ending of its files, without a point.
    #[must_use]
    pub fn ending(self) -> &'static str {
        self.0.endings().first().copied().unwrap_or_default().trim_start_matches('.')
    }

    /// Whether its files are lines of text, which people read and pipes carry line by line.
    #[must_use]
    pub fn is_text(self) -> bool {
        self.0.is_text()
    }
}

impl PartialEq for FileFormat {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for FileFormat {}

impl std::fmt::Debug for FileFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("FileFormat").field(&self.name()).finish()
    }
}

/// Begins a file, in the format that its name says, with columns of these names and Forms. It appears when the writer is
/// [finished](TableWriter::finish).
///
/// ```
/// use forthwith::{columns::{Array, Column, DType, Form}, plan::WriteOptions};
///
/// let folder = std::env::temp_dir().join(format!("forthwith-doc-{}", std::process::id()));
/// std::fs::create_dir_all(&folder)?;
/// let path = folder.join("numbers.parquet").to_string_lossy().into_owned();
///
/// let form = Form::Numpy { key: "node0".into(), dtype: DType::Float32, shape: vec![] };
/// let array = Array {
///     form: form.clone(),
///     length: 3,
///     columns: vec![("node0-data".into(), Column::from_slice(&[1.5f32, 2.5, 3.5]))],
/// };
/// let mut writer = forthwith::create(&path, &[("x".into(), form)], &WriteOptions::default())?;
/// writer.write(&[array])?;
/// assert_eq!(writer.finish()?.entries, 3);
///
/// let table = forthwith::File::open(&path)?.table("")?;
/// let plan = table.plan(&[table.find("x")?], 1..3)?;
/// assert_eq!(table.read(&plan, None, None)?[0].preview(0..2, 10).lines()?, ["2.5", "3.5"]);
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`FileFormat::of`], and as [`writer`]; the file cannot be made.
pub fn create(uri: &str, fields: &[(String, Form)], options: &WriteOptions) -> Result<Box<dyn TableWriter>> {
    let format = FileFormat::of(uri)?;
    writer(format, fields, crate::files::sink(uri, &crate::files::StoreOptions::new())?, options)
}

/// Refuses the name of a file to write if its ending is that of another format. `format` is the [name](Format::name) of the
/// format to write; endings that no format has are fine.
///
/// # Errors
/// [`Invalid`](forthwith_plan::ErrorKind::Invalid), naming both formats.
pub fn check_ending(format: &str, name: &str) -> Result<()> {
    match formats::built_in_by_name(name) {
        Some(other) if other.name() != format => {
            let what =
                format!("the ending of the name is that of {} files, but this writes {format}", other.name());
            Err(Error::invalid(what).in_file(name))
        }
        _ => Ok(()),
    }
}

/// Begins a file of this format wherever its bytes go.
///
/// # Errors
/// A type the format does not have, with the column; options that make no sense for it; a name that ends as those of another
/// format do.
pub fn writer(
    format: FileFormat,
    fields: &[(String, Form)],
    sink: Box<dyn Sink>,
    options: &WriteOptions,
) -> Result<Box<dyn TableWriter>> {
    check_ending(format.name(), sink.uri())?;
    if let Some(table) = &options.table
        && !format.0.tables().contains(&&**table)
    {
        let what = match format.0.tables() {
            [] => format!("a table of kind {table:?}: {} files have one kind", format.name()),
            tables => {
                format!("a table of kind {table:?}: {} files have {}", format.name(), tables.join(" and "))
            }
        };
        return Err(Error::invalid(what).in_file(sink.uri()));
    }
    if options.nulls.is_some() && format.0.tables().is_empty() {
        let what = format!("a number for missing values: {} files have missing values", format.name());
        return Err(Error::invalid(what).in_file(sink.uri()));
    }
    format.0.writer(fields, sink, options)
}
