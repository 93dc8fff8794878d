//! A file as a table.

use crate::{
    codec::CODECS,
    file::ParquetFile,
    format::ParquetFormat,
    schema::{self, Column, Part},
};
use forthwith_plan::{
    Dataset, Decoder, Description, Error, ErrorKind, Field, Group, Pick, Plan, Reading, Result, Stored, Task,
};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::statistics::Statistics as FileStatistics;
use parquet::schema::types::ColumnDescriptor;
use std::{ops::Range, sync::Arc};

/// How to look at a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Only these row groups, in this order; by default all.
    pub row_groups: Option<Vec<usize>>,
    /// Nobody looks whether text is UTF-8.
    pub unchecked_text: bool,
}

/// A file as a table: metadata only. Shared between threads as it is.
#[derive(Debug)]
pub struct ParquetTable {
    uri: String,
    metadata: Arc<ParquetMetaData>,
    columns: Vec<Column>,
    fields: Vec<Field>,
    groups: Vec<RowGroup>,
    size: u64,
}

/// A row group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowGroup {
    /// Its number in the file.
    pub number: usize,
    /// The entries of the table it holds.
    pub entries: Range<u64>,
    /// Bytes of its columns when decompressed, by the file's account.
    pub payload_bytes: u64,
}

/// What the file says of a column chunk.
#[derive(Clone, Debug, PartialEq)]
pub struct Chunk {
    /// The row group, by its number in the file.
    pub row_group: usize,
    /// The column's path, joined by `.`.
    pub path: String,
    /// Values, nulls and empty lists included.
    pub values: u64,
    /// Bytes as stored, and decompressed.
    pub bytes: (u64, u64),
    /// The codec.
    pub codec: String,
    /// The encodings of its pages.
    pub encodings: Vec<String>,
    /// How many nulls there are.
    pub nulls: Option<u64>,
    /// How many different values.
    pub distinct: Option<u64>,
    /// The least and the greatest value, or bounds of them.
    pub bounds: Option<(Bound, Bound)>,
    /// Whether the bounds are values that occur.
    pub exact: bool,
}

/// A value of statistics.
#[derive(Clone, Debug, PartialEq)]
pub enum Bound {
    /// A truth value.
    Bool(bool),
    /// A whole number, of a column without signs one without a sign.
    Integer(i128),
    /// A number.
    Float(f64),
    /// Bytes, or text.
    Bytes(Vec<u8>),
}

impl ParquetFile {
    /// The columns, and where they are.
    ///
    /// # Errors
    /// Metadata that contradict themselves or the file; no such row group.
    pub fn table(&self, options: &Options) -> Result<ParquetTable> {
        self.open_table(options).map_err(|e| e.in_file(self.uri()))
    }

    fn open_table(&self, options: &Options) -> Result<ParquetTable> {
        let metadata = Arc::clone(self.metadata());
        let schema = metadata.file_metadata().schema_descr();
        let hints = crate::hints::hints(metadata.file_metadata());
        let columns = schema::columns(schema.root_schema(), &hints);
        let there = metadata.num_row_groups();
        let chosen: Vec<usize> = match &options.row_groups {
            Some(chosen) => chosen.clone(),
            None => (0..there).collect(),
        };
        let mut groups = Vec::with_capacity(chosen.len());
        let mut entry = 0u64;
        for number in chosen {
            if number >= there {
                let what = format!("row group {number}, of a file that has {there}");
                return Err(ErrorKind::Invalid { what }.into());
            }
            let group = metadata.row_group(number);
            let bad = |found| {
                let limit = i64::MAX;
                Error::new(ErrorKind::OutOfRange { what: "the number of rows of a row group", found, limit })
            };
            let rows = u64::try_from(group.num_rows()).map_err(|_| bad(group.num_rows()))?;
            let end = entry.checked_add(rows).filter(|end| i64::try_from(*end).is_ok());
            let end = end.ok_or_else(|| bad(group.num_rows()))?;
            if group.columns().len() != schema.num_columns() {
                let (expected, found) = (schema.num_columns() as u64, group.columns().len() as u64);
                return Err(ErrorKind::Mismatch {
                    what: "the number of columns of a row group",
                    expected,
                    found,
                }
                .into());
            }
            let payload_bytes = u64::try_from(group.total_byte_size()).unwrap_or(0);
            groups.push(RowGroup { number, entries: entry..end, payload_bytes });
            entry = end;
        }
        let field = |column: &Column| Field {
            path: column.path.join("/"),
            name: column.path.last().cloned().unwrap_or_default(),
            title: String::new(),
            parent: column.parent,
            has_children: column.has_parts,
            has_data: true,
            is_part: column.parent.is_some(),
        };
        let fields = columns.iter().map(field).collect();
        let (uri, size) = (self.uri().to_owned(), self.source().size()?);
        Ok(ParquetTable { uri, metadata, columns, fields, groups, size })
    }
}

impl ParquetTable {
    /// The row groups, those that were chosen.
    #[must_use]
    pub fn row_groups(&self) -> &[RowGroup] {
        &self.groups
    }

    /// What the file says of the column chunks of a field, row group by row group.
    ///
    /// # Errors
    /// No such field.
    pub fn chunks(&self, field: u32) -> Result<Vec<Chunk>> {
        let column = self.column(field)?;
        let chunk = |group: &RowGroup, leaf: usize| {
            let chunk = self.metadata.row_group(group.number).column(leaf);
            let statistics = chunk.statistics();
            let unsigned = is_unsigned(chunk.column_descr());
            let bounds = statistics.and_then(|statistics| bounds(statistics, unsigned));
            Chunk {
                row_group: group.number,
                path: chunk.column_path().string(),
                values: u64::try_from(chunk.num_values()).unwrap_or(0),
                bytes: (
                    u64::try_from(chunk.compressed_size()).unwrap_or(0),
                    u64::try_from(chunk.uncompressed_size()).unwrap_or(0),
                ),
                codec: codec(chunk).1,
                encodings: chunk.encodings().map(|encoding| encoding.to_string()).collect(),
                nulls: statistics.and_then(FileStatistics::null_count_opt),
                distinct: statistics.and_then(FileStatistics::distinct_count_opt),
                exact: statistics.is_some_and(|s| s.min_is_exact() && s.max_is_exact()),
                bounds,
            }
        };
        let leaves = column.leaves.clone();
        Ok(self.groups.iter().flat_map(|group| leaves.clone().map(move |leaf| chunk(group, leaf))).collect())
    }

    fn column(&self, field: u32) -> Result<&Column> {
        self.columns.get(field as usize).ok_or_else(|| {
            Error::new(ErrorKind::Invalid { what: format!("there is no field number {field}") })
        })
    }

    fn row_groups_of(&self, entries: &Range<u64>) -> &[RowGroup] {
        let from = self.groups.partition_point(|group| group.entries.end <= entries.start);
        let to = self.groups.partition_point(|group| group.entries.start < entries.end);
        self.groups.get(from..to).unwrap_or_default()
    }

    /// Where a column chunk is.
    fn range(&self, chunk: &ColumnChunkMetaData) -> Result<Range<u64>> {
        let first = chunk.dictionary_page_offset().filter(|at| *at > 0 && *at < chunk.data_page_offset());
        let start = u64::try_from(first.unwrap_or(chunk.data_page_offset())).ok();
        let length = u64::try_from(chunk.compressed_size()).ok();
        let end = start.zip(length).and_then(|(start, length)| start.checked_add(length));
        match start.zip(end).filter(|(_, end)| *end <= self.size) {
            Some((start, end)) => Ok(start..end),
            None => {
                let (needed, available) = (length.unwrap_or(u64::MAX), self.size);
                Err(ErrorKind::Truncated { what: "a column chunk", needed, available }.into())
            }
        }
    }

    fn tasks(&self, part: &Part, group: u32, entries: &Range<u64>) -> Result<Vec<Task>> {
        let mut tasks = Vec::new();
        for row_group in self.row_groups_of(entries) {
            // A row group may be empty.
            let wanted = row_group.entries.start.max(entries.start)..row_group.entries.end.min(entries.end);
            if wanted.is_empty() {
                continue;
            }
            let chunk = self.metadata.row_group(row_group.number).column(part.number);
            let here = |error: Error| error.in_block(row_group.number as u64).in_unit("row group");
            if chunk.file_path().is_some_and(|path| !path.is_empty()) {
                return Err(here(Error::unsupported("columns in another file")));
            }
            let payload_hint = u64::try_from(chunk.uncompressed_size()).unwrap_or(0);
            tasks.push(Task {
                group,
                block: row_group.number as u64,
                entries: row_group.entries.clone(),
                wanted,
                stored: Stored::Range(self.range(chunk).map_err(here)?),
                payload_hint,
                needs: Vec::new(),
                note: codec(chunk).0,
            });
        }
        Ok(tasks)
    }

    fn groups(
        &self,
        field: u32,
        entries: &Range<u64>,
        groups: &mut Vec<Group>,
        tasks: &mut Vec<Task>,
    ) -> Result<()> {
        let column = self.column(field)?;
        let (_, parts) = column.reading.as_ref().map_err(|why| Error::unsupported(why.clone()))?;
        for (at, part) in parts.iter().enumerate() {
            let here = |error: Error| error.in_object(&part.path);
            let more = self.tasks(part, groups.len() as u32, entries).map_err(here)?;
            let chunks = self.row_groups_of(entries).iter();
            let values =
                chunks.map(|group| self.metadata.row_group(group.number).column(part.number).num_values());
            let values = values.filter_map(|values| u64::try_from(values).ok()).fold(0, u64::saturating_add);
            let bytes = more.iter().map(|task| task.payload_hint).fold(0, u64::saturating_add);
            groups.push(Group {
                path: part.path.clone(),
                decoder: decoder(part)?,
                reason: REASON.into(),
                form: part.form.clone(),
                columns: part.specs(values, bytes),
                counter: None,
                split: false,
                joins: at > 0,
            });
            tasks.extend(more);
        }
        Ok(())
    }

    fn here(&self, error: Error, field: u32) -> Error {
        let path = self.columns.get(field as usize).map(|column| column.path.join("/"));
        error.in_object(&path.unwrap_or_default()).in_file(&self.uri)
    }
}

const REASON: &str = "column chunks: pages of levels and values";

fn decoder(part: &Part) -> Result<Decoder> {
    let text = serde_json::to_string(&part.leaf);
    let text = text.map_err(|error| Error::new(ErrorKind::Invalid { what: error.to_string() }))?;
    Ok(Decoder::Format(text.into()))
}

/// The number of a chunk's codec in files, and its name.
pub(crate) fn codec(chunk: &ColumnChunkMetaData) -> (u32, String) {
    let number = chunk.compression_codec() as u32;
    let known = CODECS.iter().find(|(known, _)| *known == number);
    (number, known.map_or_else(|| format!("codec {number}"), |(_, name)| (*name).to_owned()))
}

/// Whether numbers are stored that have no sign.
fn is_unsigned(column: &ColumnDescriptor) -> bool {
    use parquet::basic::{ConvertedType, LogicalType};
    match column.logical_type_ref() {
        Some(LogicalType::Integer(kind)) => !kind.is_signed,
        _ => matches!(
            column.converted_type(),
            ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64
        ),
    }
}

fn bounds(statistics: &FileStatistics, unsigned: bool) -> Option<(Bound, Bound)> {
    if unsigned && statistics.is_min_max_deprecated() {
        // Compared as if they had signs.
        return None;
    }
    macro_rules! of {
        ($values:expr, $bound:expr) => {{
            let bound = $bound;
            Some((bound($values.min_opt()?), bound($values.max_opt()?)))
        }};
    }
    match statistics {
        FileStatistics::Boolean(s) => of!(s, |v: &bool| Bound::Bool(*v)),
        FileStatistics::Int32(s) => of!(s, |v: &i32| Bound::Integer(match unsigned {
            true => (*v as u32).into(),
            false => (*v).into(),
        })),
        FileStatistics::Int64(s) => of!(s, |v: &i64| Bound::Integer(match unsigned {
            true => (*v as u64).into(),
            false => (*v).into(),
        })),
        FileStatistics::Float(s) => of!(s, |v: &f32| Bound::Float((*v).into())),
        FileStatistics::Double(s) => of!(s, |v: &f64| Bound::Float(*v)),
        FileStatistics::Int96(_) => None,
        FileStatistics::ByteArray(_) | FileStatistics::FixedLenByteArray(_) => {
            let (min, max) = (statistics.min_bytes_opt()?, statistics.max_bytes_opt()?);
            Some((Bound::Bytes(min.to_vec()), Bound::Bytes(max.to_vec())))
        }
    }
}

impl ParquetTable {
    fn total(&self) -> u64 {
        self.groups.last().map_or(0, |group| group.entries.end)
    }
}

impl Dataset for ParquetTable {
    fn format(&self) -> &'static str {
        ParquetFormat::ID
    }

    fn object(&self) -> &str {
        ""
    }

    fn entries(&self) -> Result<u64> {
        Ok(self.total())
    }

    fn fields(&self) -> Result<&[Field]> {
        Ok(&self.fields)
    }

    fn describe(&self, field: u32) -> Result<Description> {
        let column = self.column(field)?;
        let (mut blocks, mut stored_bytes, mut payload_bytes) = (0, 0u64, 0u64);
        for group in &self.groups {
            for leaf in column.leaves.clone() {
                let chunk = self.metadata.row_group(group.number).column(leaf);
                let bytes = |bytes| u64::try_from(bytes).unwrap_or(0);
                blocks += 1;
                stored_bytes = stored_bytes.saturating_add(bytes(chunk.compressed_size()));
                payload_bytes = payload_bytes.saturating_add(bytes(chunk.uncompressed_size()));
            }
        }
        let reading = match &column.reading {
            Ok((form, parts)) => match parts.first() {
                Some(part) => {
                    Ok(Reading { form: form.clone(), decoder: decoder(part)?, reason: REASON.into() })
                }
                None => Err("a column without data".into()),
            },
            Err(why) => Err(why.clone()),
        };
        let (type_name, entries) = (column.type_name.clone(), self.total());
        Ok(Description { type_name, reading, entries, blocks, stored_bytes, payload_bytes })
    }

    fn plan(&self, fields: &[u32], entries: Range<u64>) -> Result<Plan> {
        if entries.start > entries.end || entries.end > self.total() {
            let all = self.total();
            let what = format!("entries {} to {}, of a table that has {all}", entries.start, entries.end);
            return Err(Error::new(ErrorKind::Invalid { what }).in_file(&self.uri));
        }
        let (mut groups, mut tasks) = (Vec::new(), Vec::new());
        for &field in fields {
            self.groups(field, &entries, &mut groups, &mut tasks).map_err(|e| self.here(e, field))?;
        }
        let lists = fields.iter().map(|&field| Ok(self.column(field)?.fixed.clone()));
        let lists = lists.collect::<Result<Vec<_>>>()?;
        let as_they_are = lists.iter().all(Vec::is_empty);
        let pick = |(array, lists)| Pick { array, path: Vec::new(), lists };
        let picks = if as_they_are { Vec::new() } else { (0..).zip(lists).map(pick).collect() };
        Ok(Plan {
            format: ParquetFormat::ID.into(),
            uri: self.uri.clone(),
            object: String::new(),
            others: Vec::new(),
            delivered: groups.len() as u32,
            groups,
            tasks,
            picks,
            utf8: true,
            entries,
        })
    }

    fn boundaries(&self, _: &[u32], entries: Range<u64>) -> Result<Vec<u64>> {
        let ends =
            self.row_groups_of(&entries).iter().flat_map(|group| [group.entries.start, group.entries.end]);
        let mut found: Vec<u64> = ends.filter(|at| entries.contains(at)).collect();
        found.extend([entries.start, entries.end]);
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }
}
