//! The table of a file.

use crate::{
    codec,
    decode::Note,
    encodings::encodings,
    footer::{self, Footer, Statistics},
    format::ParquetFormat,
    index::{self, PagePlaces},
    schema::{self, Column, Part},
};
use forthwith_columns::{Array, Form, arrow::SchemaRef};
use forthwith_io::Source;
use forthwith_plan::{
    Dataset, Decoder, Description, Error, Field, Group, Limit, Limits, Pick, Plan, Reading, Result, Stored,
    Task, check_entries, cuts,
};
use forthwith_platform::ProcessLock;
use std::{collections::HashMap, ops::Range, sync::Arc};

/// Options of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Row groups of the table, in this order; all row groups by default.
    pub row_groups: Option<Vec<usize>>,
    /// Whether INT96 times are read as microseconds, which cover all years; nanoseconds cover 1677 to 2262.
    pub int96_as_microseconds: bool,
}

/// The table of a file. It has metadata only, and can be shared between threads.
#[derive(Debug)]
pub struct ParquetTable {
    uri: String,
    footer: Arc<Footer>,
    columns: Vec<Column>,
    /// Arrow's schema of the columns, if the file stores it.
    arrow: Option<SchemaRef>,
    fields: Vec<Field>,
    groups: Vec<RowGroup>,
    pub(crate) size: u64,
    pub(crate) source: Arc<dyn Source>,
    /// Cache of page indexes.
    indexes: ProcessLock<Indexes>,
}

/// Page indexes by row group and column; `None` for chunks without a valid index.
#[derive(Debug, Default)]
struct Indexes {
    places: HashMap<(usize, usize), Option<Arc<PagePlaces>>>,
    limits: HashMap<(usize, usize), Option<PageLimits>>,
}

/// Bounds of each page of a chunk, if known.
type PageLimits = Vec<Option<(Limit, Limit)>>;

/// Minimum size in bytes of column chunks for which page indexes are read; smaller chunks are read as a
/// whole.
const WORTH_AN_INDEX: i64 = 64 << 10;

/// A row group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowGroup {
    /// Number of the row group in the file.
    pub number: usize,
    /// Range of entries in the table.
    pub entries: Range<u64>,
    /// Decompressed size of its columns in bytes, as stored in the footer.
    pub payload_bytes: u64,
}

/// Description of a column chunk in the footer.
#[derive(Clone, Debug, PartialEq)]
pub struct Chunk {
    /// Number of the row group in the file.
    pub row_group: usize,
    /// Path of the column, joined by `.`.
    pub path: String,
    /// Number of values, including nulls and empty lists.
    pub values: u64,
    /// Stored and decompressed size in bytes.
    pub bytes: (u64, u64),
    /// Name of the codec.
    pub codec: String,
    /// Names of the encodings of its pages.
    pub encodings: Vec<String>,
    /// Number of nulls, if stored.
    pub nulls: Option<u64>,
    /// Number of distinct values, if stored.
    pub distinct: Option<u64>,
    /// Minimum and maximum, or bounds on them, if stored.
    pub bounds: Option<(Bound, Bound)>,
    /// Whether the bounds are values that occur.
    pub exact: bool,
}

/// A bound in the statistics of a column chunk.
#[derive(Clone, Debug, PartialEq)]
pub enum Bound {
    /// A boolean.
    Bool(bool),
    /// An integer, signed or unsigned as the column.
    Integer(i128),
    /// A floating-point number.
    Float(f64),
    /// Bytes or text.
    Bytes(Vec<u8>),
}

impl ParquetTable {
    pub(crate) fn of(footer: Arc<Footer>, source: Arc<dyn Source>, options: &Options) -> Result<Self> {
        let arrow = crate::hints::arrow_schema(&footer);
        let hints = arrow.as_deref().map(|schema| crate::hints::hints(schema, &footer)).unwrap_or_default();
        let columns = schema::columns(&footer, &hints, options.int96_as_microseconds);
        let there = footer.row_groups.len();
        let chosen: Vec<usize> = match &options.row_groups {
            Some(chosen) => chosen.clone(),
            None => (0..there).collect(),
        };
        let mut groups = Vec::with_capacity(chosen.len());
        let mut entry = 0u64;
        for number in chosen {
            let Some(group) = footer.row_groups.get(number) else {
                return Err(Error::invalid(format!("row group {number}, of a file that has {there}")));
            };
            let bad = |found| Error::out_of_range("the number of rows of a row group", found, i64::MAX);
            let rows = u64::try_from(group.rows).map_err(|_| bad(group.rows))?;
            let end = entry.checked_add(rows).filter(|end| i64::try_from(*end).is_ok());
            let end = end.ok_or_else(|| bad(group.rows))?;
            if group.chunks.len() != footer.columns.len() {
                return Err(Error::mismatch(
                    "the number of columns of a row group",
                    footer.columns.len(),
                    group.chunks.len(),
                ));
            }
            let payload_bytes = u64::try_from(group.total_bytes).unwrap_or(0);
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
        let (uri, size) = (source.uri().to_owned(), source.size()?);
        Ok(Self {
            uri,
            footer,
            columns,
            arrow,
            fields,
            groups,
            size,
            source,
            indexes: ProcessLock::default(),
        })
    }

    /// Returns the row groups of the table.
    #[must_use]
    pub fn row_groups(&self) -> &[RowGroup] {
        &self.groups
    }

    /// Returns the column chunks of a field as described by the footer, row group by row group.
    ///
    /// # Errors
    /// Returns an error if the field does not exist.
    pub fn chunks(&self, field: u32) -> Result<Vec<Chunk>> {
        let column = self.column(field)?;
        let chunk = |group: &RowGroup, leaf: usize| {
            let (chunk, of) = (self.chunk(group, leaf)?, self.footer.columns.get(leaf)?);
            let statistics = chunk.statistics.as_deref();
            let size = |bytes| u64::try_from(bytes).unwrap_or(0);
            Some(Chunk {
                row_group: group.number,
                path: of.path.clone(),
                values: size(chunk.values),
                bytes: (size(chunk.compressed), size(chunk.uncompressed)),
                codec: codec::name(chunk.codec),
                encodings: encodings(chunk.encodings),
                nulls: statistics.and_then(|statistics| statistics.nulls),
                distinct: statistics.and_then(|statistics| statistics.distinct),
                exact: statistics.is_some_and(|statistics| statistics.exact == [true; 2]),
                bounds: statistics.and_then(|statistics| bounds(statistics, of)),
            })
        };
        let leaves = column.leaves.clone();
        Ok(self
            .groups
            .iter()
            .flat_map(|group| leaves.clone().filter_map(move |leaf| chunk(group, leaf)))
            .collect())
    }

    pub(crate) fn column(&self, field: u32) -> Result<&Column> {
        self.columns.get(field as usize).ok_or_else(|| Error::no_field(field, self.columns.len()))
    }

    /// Returns the chunk of a row group for one of the file's columns.
    pub(crate) fn chunk(&self, group: &RowGroup, leaf: usize) -> Option<&footer::Chunk> {
        self.footer.row_groups.get(group.number)?.chunks.get(leaf)
    }

    fn row_groups_of(&self, entries: &Range<u64>) -> &[RowGroup] {
        let from = self.groups.partition_point(|group| group.entries.end <= entries.start);
        let to = self.groups.partition_point(|group| group.entries.start < entries.end);
        self.groups.get(from..to).unwrap_or_default()
    }

    /// Reads the offset indexes of all fields for row groups that are read in part, in one request.
    fn look_up_places(&self, fields: &[u32], entries: &Range<u64>) -> Result<()> {
        let partly =
            |group: &&RowGroup| entries.start > group.entries.start || entries.end < group.entries.end;
        let mut wanted = Vec::new();
        for group in self.row_groups_of(entries).iter().filter(partly) {
            for &field in fields {
                let Ok((_, parts)) = &self.column(field)?.reading else { continue };
                let flat = parts.iter().filter(|part| part.leaf.max_rep == 0).map(|part| part.number);
                let worth = |leaf: &usize| {
                    self.chunk(group, *leaf).is_some_and(|chunk| chunk.compressed > WORTH_AN_INDEX)
                };
                wanted.extend(flat.filter(worth).map(|leaf| (group, leaf)));
            }
        }
        self.read_indexes(&wanted, false)
    }

    /// Reads page indexes that are not cached yet, in one request.
    fn read_indexes(&self, wanted: &[(&RowGroup, usize)], with_limits: bool) -> Result<()> {
        let (mut missing, mut ranges) = (Vec::new(), Vec::new());
        {
            let known = self.indexes.lock();
            for (group, leaf) in wanted {
                let (key, Some(chunk)) = ((group.number, *leaf), self.chunk(group, *leaf)) else { continue };
                if !known.places.contains_key(&key) {
                    ranges.extend(index::place(chunk.offset_index, self.size));
                    missing.push((*group, *leaf, false, index::place(chunk.offset_index, self.size)));
                }
                if with_limits && !known.limits.contains_key(&key) {
                    ranges.extend(index::place(chunk.column_index, self.size));
                    missing.push((*group, *leaf, true, index::place(chunk.column_index, self.size)));
                }
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        let mut read = if ranges.is_empty() { Vec::new() } else { self.source.read(&ranges)? }.into_iter();
        let mut known = self.indexes.lock();
        for (group, leaf, of_limits, place) in missing {
            let key = (group.number, leaf);
            let bytes = place.and_then(|_| read.next());
            if of_limits {
                let pages = known.places.get(&key).and_then(Option::as_ref).map(|places| places.len());
                let column = self.footer.columns.get(leaf);
                let found = bytes.zip(pages).zip(column);
                let found =
                    found.and_then(|((bytes, pages), column)| index::limits(&bytes, column, pages, limits));
                known.limits.insert(key, found);
            } else {
                let rows = group.entries.end - group.entries.start;
                let chunk = self.chunk(group, leaf).and_then(|chunk| chunk.range(self.size).ok());
                let found =
                    bytes.zip(chunk).and_then(|(bytes, chunk)| PagePlaces::read(&bytes, &chunk, rows));
                known.places.insert(key, found.map(Arc::new));
            }
        }
        Ok(())
    }

    /// Returns the positions of a chunk's pages, if they were read and are valid.
    fn places(&self, group: &RowGroup, leaf: usize) -> Option<Arc<PagePlaces>> {
        self.indexes.lock().places.get(&(group.number, leaf)).cloned().flatten()
    }

    fn tasks(&self, part: &Part, group: u32, entries: &Range<u64>) -> Result<Vec<Task>> {
        let mut tasks = Vec::new();
        for row_group in self.row_groups_of(entries) {
            // A row group may be empty.
            let wanted = row_group.entries.start.max(entries.start)..row_group.entries.end.min(entries.end);
            if wanted.is_empty() {
                continue;
            }
            let here = |error: Error| error.in_block(row_group.number as u64).in_unit("row group");
            let missing = || here(Error::invalid("a row group without this column"));
            let chunk = self.chunk(row_group, part.number).ok_or_else(missing)?;
            if let Some(what) = chunk.elsewhere {
                return Err(here(Error::unsupported(what)));
            }
            let mut payload_hint = u64::try_from(chunk.uncompressed).unwrap_or(0);
            let (mut bytes, mut entries) = (chunk.range(self.size).map_err(here)?, row_group.entries.clone());
            let mut values = chunk.values;
            // Skip pages before and after the requested rows. Not for lists: the number of values in their
            // pages is unknown.
            if part.leaf.max_rep == 0
                && let Some(places) = self.places(row_group, part.number)
                && let Some((some, rows)) =
                    places.around(&bytes, &(wanted.start - entries.start..wanted.end - entries.start))
                && rows.end - rows.start < entries.end - entries.start
            {
                let share = (some.end - some.start) as f64 / (bytes.end - bytes.start).max(1) as f64;
                payload_hint = (payload_hint as f64 * share) as u64;
                values = i64::try_from(rows.end - rows.start).unwrap_or(i64::MAX);
                (bytes, entries) = (some, entries.start + rows.start..entries.start + rows.end);
            }
            tasks.push(Task {
                wanted,
                payload_hint,
                note: Note::packed(chunk.codec, values).map_err(here)?,
                ..Task::of(group, row_group.number as u64, entries, Stored::Range(bytes))
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
        let (form, parts) = column.reading.as_ref().map_err(|why| Error::unsupported(why.clone()))?;
        let named = schema::has_names(form);
        for (at, part) in parts.iter().enumerate() {
            let here = |error: Error| error.in_object(&part.path);
            let more = self.tasks(part, groups.len() as u32, entries).map_err(here)?;
            let chunks = self.row_groups_of(entries).iter();
            let chunks = chunks.filter_map(|group| self.chunk(group, part.number));
            let values =
                chunks.filter_map(|chunk| u64::try_from(chunk.values).ok()).fold(0, u64::saturating_add);
            let bytes = more.iter().map(|task| task.payload_hint).fold(0, u64::saturating_add);
            let form = part.form(form, named);
            let reading = Reading { form, decoder: decoder(part)?, reason: REASON.into() };
            let views = part.has_views(&reading.form).then_some(part.leaf.nodes.len() as u32);
            let group = Group::of(&part.path, reading, part.specs(values, bytes));
            groups.push(Group { joins: at > 0, views, ..group });
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
    let text = text.map_err(|error| Error::invalid(error.to_string()))?;
    Ok(Decoder::Format(text.into()))
}

fn bounds(statistics: &Statistics, column: &footer::Column) -> Option<(Bound, Bound)> {
    // Deprecated bounds of unsigned integers were compared as signed ones.
    if column.is_unsigned && statistics.is_old {
        return None;
    }
    let of = |bytes: &Vec<u8>| bound(bytes, column);
    Some((of(statistics.min.as_ref()?)?, of(statistics.max.as_ref()?)?))
}

fn bound(bytes: &[u8], column: &footer::Column) -> Option<Bound> {
    let four = || bytes.first_chunk::<4>();
    let eight = || bytes.first_chunk::<8>();
    Some(match (column.physical, column.is_unsigned) {
        (0, _) => Bound::Bool(*bytes.first()? != 0),
        (1, true) => Bound::Integer(u32::from_le_bytes(*four()?).into()),
        (1, false) => Bound::Integer(i32::from_le_bytes(*four()?).into()),
        (2, true) => Bound::Integer(u64::from_le_bytes(*eight()?).into()),
        (2, false) => Bound::Integer(i64::from_le_bytes(*eight()?).into()),
        (4, _) => Bound::Float(f32::from_le_bytes(*four()?).into()),
        (5, _) => Bound::Float(f64::from_le_bytes(*eight()?)),
        (6 | 7, _) => Bound::Bytes(bytes.to_vec()),
        _ => return None,
    })
}

/// Returns the bounds of statistics if values can be compared with them.
fn limits(statistics: &Statistics, column: &footer::Column) -> Option<(Limit, Limit)> {
    let (least, greatest) = bounds(statistics, column)?;
    match (least, greatest) {
        (Bound::Bool(least), Bound::Bool(greatest)) => {
            Some((Limit::Integer(least.into()), Limit::Integer(greatest.into())))
        }
        (Bound::Integer(least), Bound::Integer(greatest)) => {
            Some((Limit::Integer(least), Limit::Integer(greatest)))
        }
        // Deprecated statistics define neither the order of bytes nor the treatment of NaN.
        _ if statistics.is_old => None,
        (Bound::Float(least), Bound::Float(greatest)) if !least.is_nan() && !greatest.is_nan() => {
            Some((Limit::Float(least), Limit::Float(greatest)))
        }
        (Bound::Bytes(least), Bound::Bytes(greatest)) => Some((Limit::Text(least), Limit::Text(greatest))),
        _ => None,
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
                let Some(chunk) = self.chunk(group, leaf) else { continue };
                let bytes = |bytes| u64::try_from(bytes).unwrap_or(0);
                blocks += 1;
                stored_bytes = stored_bytes.saturating_add(bytes(chunk.compressed));
                payload_bytes = payload_bytes.saturating_add(bytes(chunk.uncompressed));
            }
        }
        let reading = match &column.reading {
            Ok((form, parts)) => match parts.first() {
                Some(part) => Ok(Reading {
                    form: form.clone().regular(&column.fixed),
                    decoder: decoder(part)?,
                    reason: REASON.into(),
                }),
                None => Err("a column without data".into()),
            },
            Err(why) => Err(why.clone()),
        };
        let (type_name, entries) = (column.type_name.clone(), self.total());
        Ok(Description { type_name, reading, entries, blocks, stored_bytes, payload_bytes })
    }

    fn plan(&self, fields: &[u32], entries: Range<u64>) -> Result<Plan> {
        check_entries(&entries, self.total()).map_err(|error| error.in_file(&self.uri))?;
        self.look_up_places(fields, &entries).map_err(|error| error.in_file(&self.uri))?;
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
            delivered: groups.len() as u32,
            groups,
            tasks,
            picks,
            utf8: true,
            entries,
            ..Plan::default()
        })
    }

    fn values(&self, field: u32) -> Result<Option<u64>> {
        let leaves = self.column(field)?.leaves.clone();
        let chunks = self.groups.iter().filter_map(|group| self.chunk(group, leaves.start));
        let values = chunks.filter_map(|chunk| u64::try_from(chunk.values).ok()).fold(0, u64::saturating_add);
        Ok((leaves.len() == 1).then_some(values))
    }

    fn codecs(&self, field: u32) -> Result<Vec<String>> {
        let leaves = self.column(field)?.leaves.clone();
        let chunks =
            self.groups.iter().flat_map(|group| leaves.clone().filter_map(|leaf| self.chunk(group, leaf)));
        let mut numbers: Vec<i64> = chunks.map(|chunk| chunk.codec).collect();
        numbers.sort_unstable();
        numbers.dedup();
        Ok(numbers.into_iter().map(crate::codec::name).collect())
    }

    fn is_complete(&self, field: u32) -> Result<bool> {
        let leaves = self.column(field)?.leaves.clone();
        let chunks = self.groups.iter().flat_map(|group| leaves.clone().map(|leaf| self.chunk(group, leaf)));
        Ok({ chunks }.all(|chunk| {
            chunk.is_some_and(|chunk| {
                chunk.statistics.as_ref().is_some_and(|statistics| statistics.nulls == Some(0))
            })
        }))
    }

    fn limits(&self, field: u32, entries: Range<u64>) -> Result<Vec<Limits>> {
        let leaves = self.column(field)?.leaves.clone();
        if leaves.len() != 1 {
            return Ok(Vec::new());
        }
        let of = |group: &RowGroup| {
            let (chunk, column) = (self.chunk(group, leaves.start)?, self.footer.columns.get(leaves.start)?);
            let (least, greatest) = limits(chunk.statistics.as_deref()?, column)?;
            Some(Limits { entries: group.entries.clone(), least, greatest })
        };
        Ok(self.row_groups_of(&entries).iter().filter_map(of).collect())
    }

    fn finer_limits(&self, field: u32, entries: Range<u64>) -> Result<Vec<Limits>> {
        let leaves = self.column(field)?.leaves.clone();
        if leaves.len() != 1 {
            return Ok(Vec::new());
        }
        let groups: Vec<_> = self.row_groups_of(&entries).iter().map(|group| (group, leaves.start)).collect();
        self.read_indexes(&groups, true)?;
        let mut found = Vec::new();
        for (group, leaf) in groups {
            let known = self.indexes.lock();
            let key = (group.number, leaf);
            let (Some(Some(places)), Some(Some(limits))) = (known.places.get(&key), known.limits.get(&key))
            else {
                continue;
            };
            for (rows, limits) in places.rows().zip(limits.iter()) {
                let Some((least, greatest)) = limits.clone() else { continue };
                let here = group.entries.start + rows.start..group.entries.start + rows.end;
                found.push(Limits { entries: here, least, greatest });
            }
        }
        Ok(found)
    }

    fn arrow_schema(&self) -> Option<SchemaRef> {
        self.arrow.clone()
    }

    fn dictionary(&self, field: u32) -> Result<Option<Array>> {
        self.first_dictionary(field)
    }

    fn zones(&self) -> Vec<(String, Form)> {
        let named = self.fields.iter().zip(&self.columns);
        let zoned = named.filter_map(|(field, column)| Some((&field.path, &column.reading.as_ref().ok()?.0)));
        zoned.filter(|(_, form)| form.has_zone()).map(|(path, form)| (path.clone(), form.clone())).collect()
    }

    fn in_zones_of(&self, zones: &[(String, Form)]) -> Option<Arc<dyn Dataset>> {
        let mut columns = self.columns.clone();
        for (field, column) in self.fields.iter().zip(&mut columns) {
            let Ok((form, _)) = &mut column.reading else { continue };
            if form.has_zone() {
                let other = zones.iter().find(|(path, _)| *path == field.path);
                form.show_in_zones_of(other.map(|(_, form)| form));
            }
        }
        Some(Arc::new(Self {
            uri: self.uri.clone(),
            footer: Arc::clone(&self.footer),
            columns,
            arrow: self.arrow.clone(),
            fields: self.fields.clone(),
            groups: self.groups.clone(),
            size: self.size,
            source: Arc::clone(&self.source),
            indexes: ProcessLock::default(),
        }))
    }

    fn boundaries(&self, _: &[u32], entries: Range<u64>) -> Result<Vec<u64>> {
        Ok(cuts(&entries, self.row_groups_of(&entries).iter().map(|group| group.entries.clone())))
    }
}
