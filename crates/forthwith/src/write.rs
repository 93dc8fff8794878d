//! Writing tables, whatever the format.

use crate::{
    feather::FeatherWriter,
    text::{Style, TextWriter},
};
use forthwith_avro::{AvroWriter, Writing};
use forthwith_columns::Form;
use forthwith_io::Sink;
use forthwith_parquet::ParquetWriter;
use forthwith_plan::{Error, ErrorKind, Result, TableWriter, WriteOptions};

/// A format that tables are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileFormat {
    /// Parquet: `.parquet`, `.pq`.
    Parquet,
    /// Avro container files: `.avro`.
    Avro,
    /// Arrow IPC files, also called Feather: `.arrow`, `.feather`, `.ipc`.
    Arrow,
    /// JSON Lines, an object for each entry: `.jsonl`, `.ndjson`.
    JsonLines,
    /// Values with commas between them, below their names: `.csv`. Numbers and text only.
    Csv,
}

impl FileFormat {
    /// The format that a file name's ending stands for.
    ///
    /// # Errors
    /// An ending that stands for none, or for one that is only read.
    pub fn of(name: &str) -> Result<Self> {
        let ending = name.rsplit(['/', '\\']).next().and_then(|name| name.rsplit_once('.')).map(|(_, e)| e);
        match ending.map(str::to_ascii_lowercase).as_deref() {
            Some("parquet" | "pq") => Ok(Self::Parquet),
            Some("arrow" | "feather" | "ipc") => Ok(Self::Arrow),
            Some("avro") => Ok(Self::Avro),
            Some("jsonl" | "ndjson") => Ok(Self::JsonLines),
            Some("csv") => Ok(Self::Csv),
            Some("root") => Err(Error::unsupported("writing .root files").in_file(name)),
            _ => {
                let what =
                    "the ending says no format: .parquet, .avro, .arrow, .jsonl and .csv are written".into();
                Err(Error::new(ErrorKind::Invalid { what }).in_file(name))
            }
        }
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
/// assert_eq!(table.read(&plan, None, None)?[0].preview(0..2, 10)?, ["2.5", "3.5"]);
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`FileFormat::of`], and as [`writer`]; the file cannot be made.
pub fn create(uri: &str, fields: &[(String, Form)], options: &WriteOptions) -> Result<Box<dyn TableWriter>> {
    let format = FileFormat::of(uri)?;
    writer(format, fields, forthwith_io::create(uri)?, options)
}

/// Begins a file of this format wherever its bytes go.
///
/// # Errors
/// A type the format does not have, with the column; options that make no sense for it.
pub fn writer(
    format: FileFormat,
    fields: &[(String, Form)],
    sink: Box<dyn Sink>,
    options: &WriteOptions,
) -> Result<Box<dyn TableWriter>> {
    Ok(match format {
        FileFormat::Parquet => Box::new(ParquetWriter::new(fields, sink, options)?),
        FileFormat::Avro => {
            let options = Writing { options: options.clone(), ..Writing::default() };
            Box::new(AvroWriter::new(sink, fields, &options)?)
        }
        FileFormat::JsonLines => Box::new(TextWriter::new(Style::JsonLines, fields, sink, options)?),
        FileFormat::Csv => Box::new(TextWriter::new(Style::Csv, fields, sink, options)?),
        FileFormat::Arrow => Box::new(FeatherWriter::new(fields, sink, options)?),
    })
}
