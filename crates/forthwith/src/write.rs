//! Writing of tables in all formats.

use crate::{Format, formats};
use forthwith_columns::Form;
use forthwith_io::Sink;
use forthwith_plan::{Error, Result, TableWriter, WriteOptions};

/// A format that tables can be written in.
#[derive(Clone, Copy)]
pub struct FileFormat(&'static dyn Format);

impl FileFormat {
    /// Returns the format of a file name's extension.
    ///
    /// # Errors
    /// The extension is unknown, or its format is read-only.
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

    /// Returns the format of a name, if it can be written.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let mut all = formats::formats().iter().copied();
        all.find(|format| format.name() == name && format.is_written()).map(Self)
    }

    /// Lists the extensions of all formats that can be written: `"parquet, avro and csv"`.
    #[must_use]
    pub fn listed() -> String {
        formats::written_endings("")
    }

    /// Returns its name, for messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0.name()
    }
}

impl FileFormat {
    /// Returns the extension of its files, without the dot.
    #[must_use]
    pub fn ending(self) -> &'static str {
        self.0.endings().first().copied().unwrap_or_default().trim_start_matches('.')
    }

    /// Whether its files are lines of text, which can be read by people and piped line by line.
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

/// Creates a file with columns of these names and Forms, in the format of its extension. The file appears
/// when the writer is [finished](TableWriter::finish).
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
/// Errors of [`FileFormat::of`] and [`writer`]; the file cannot be created.
pub fn create(uri: &str, fields: &[(String, Form)], options: &WriteOptions) -> Result<Box<dyn TableWriter>> {
    let format = FileFormat::of(uri)?;
    writer(format, fields, crate::files::sink(uri, &crate::files::StoreOptions::new())?, options)
}

/// Checks that the extension of a file name is not that of another format. `format` is the
/// [name](Format::name) of the format to write; unknown extensions are accepted.
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

/// Starts a file of a format in any sink.
///
/// # Errors
/// A type that the format does not support, with its column; invalid options; a name with the extension of
/// another format.
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
