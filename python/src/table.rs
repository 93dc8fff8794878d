//! Tables, their fields, and plans to read them.

use crate::{
    array::{Array, Buffer, place},
    arrow,
    batch_reader::BatchReader,
    chain::{Divided, divided, partition_size},
    column_form::ColumnForm,
    description::{ColumnType, ColumnTypes, Description, raw_type},
    handle::Handle,
    read,
    selection::{Selection, United, numbers, united_columns},
};
use forthwith::{
    Friend, SelectOptions, Step,
    columns::{Column, DType, Form},
    plan,
};
use pyo3::{exceptions::PyIndexError, prelude::*, types::PyCapsule};
use std::{ops::Range, sync::Arc};

/// A column with one value: name, value as text, whether it is an integer, and whether some files lack it.
pub(crate) type Constant = (String, Option<String>, bool, bool);

pub(crate) fn constants(constants: Vec<Constant>) -> Vec<plan::Constant> {
    let constant = |(name, text, is_whole, may_lack): Constant| plan::Constant {
        name,
        value: if is_whole {
            plan::Value::Whole(text.and_then(|text| text.parse().ok()))
        } else {
            plan::Value::Text(text)
        },
        may_lack,
    };
    constants.into_iter().map(constant).collect()
}

/// A table of a file.
#[pyclass(frozen, module = "forthwith._forthwith")]
pub(crate) struct Table {
    pub(crate) handle: Arc<Handle>,
    pub(crate) table: forthwith::Table,
    key: forthwith::Key,
    types: ColumnTypes,
}

/// Paths and Forms of fields with timestamps in a time zone.
#[pyclass(frozen, module = "forthwith._forthwith")]
pub(crate) struct Zones(Vec<(String, Form)>);

#[pymethods]
impl Zones {
    fn __len__(&self) -> usize {
        self.0.len()
    }
}

impl Table {
    pub(crate) fn new(handle: Arc<Handle>, table: forthwith::Table, key: forthwith::Key) -> Self {
        Self { handle, table, key, types: ColumnTypes::default() }
    }

    /// Returns the Forms of fields, or the error of the first field that cannot be read.
    fn forms(&self, fields: &[u32]) -> plan::Result<Vec<Form>> {
        self.table.forms(fields)
    }
}

#[pymethods]
impl Table {
    #[getter]
    fn path(&self) -> &str {
        self.table.path()
    }

    /// Whether entries are records, whose fields are the columns.
    #[getter]
    fn is_record(&self) -> bool {
        self.table.is_record()
    }

    #[getter]
    fn title(&self) -> &str {
        &self.key.title
    }

    #[getter]
    fn classname(&self) -> &str {
        &self.key.class
    }

    /// Returns the format's terms for a table, a column, columns, a block and blocks.
    #[getter]
    fn words(&self) -> [&'static str; 5] {
        let forthwith::Words { table, column: [column, columns], block: [block, blocks], .. } =
            *self.table.words();
        [table, column, columns, block, blocks]
    }

    #[getter]
    fn entries(&self, py: Python<'_>) -> PyResult<u64> {
        self.handle.run(py, || self.table.entries())
    }

    /// Returns the table without undecodable parts of its file, and for each such part the entries before it,
    /// the block, the byte offset and the error.
    #[expect(clippy::type_complexity, reason = "a tuple of Python")]
    fn sound(&self, py: Python<'_>) -> PyResult<(Self, Vec<(u64, u64, u64, String)>)> {
        let (table, gaps) = self.handle.run(py, || self.table.sound())?;
        let gaps = gaps.into_iter().map(|gap| (gap.entry, gap.block, gap.byte, gap.what)).collect();
        Ok((Self::new(Arc::clone(&self.handle), table, self.key.clone()), gaps))
    }

    /// Returns the table with constant columns after those of the file.
    fn with_constants(&self, py: Python<'_>, constants: Vec<Constant>) -> PyResult<Self> {
        let constants = self::constants(constants);
        let table = self.handle.run(py, || self.table.with_constants(&constants))?;
        Ok(Self::new(Arc::clone(&self.handle), table, self.key.clone()))
    }

    /// Returns the fields with timestamps in a time zone.
    fn zones(&self) -> Zones {
        Zones(self.table.zones())
    }

    /// Returns the table with timestamps in the time zones of another table, and in UTC for fields without a
    /// time zone there.
    fn in_zones_of(&self, py: Python<'_>, zones: &Zones) -> PyResult<Self> {
        let table = self.handle.run(py, || self.table.in_zones_of(&zones.0))?;
        Ok(Self::new(Arc::clone(&self.handle), table, self.key.clone()))
    }

    /// Returns the Arrow schema that the table was written from as a capsule; `None` if the file does not
    /// have it.
    fn arrow_schema<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyCapsule>>> {
        self.table.arrow_schema().map(|schema| arrow::capsule(py, &schema)).transpose()
    }

    /// Whether entries arrive while the table is read.
    #[getter]
    fn is_stream(&self) -> bool {
        self.table.is_stream()
    }

    /// Returns the number of entries, which is an estimate for files whose blocks have to be counted.
    fn likely_entries(&self, py: Python<'_>) -> PyResult<u64> {
        self.handle.run(py, || self.table.likely_entries())
    }

    fn entries_up_to(&self, py: Python<'_>, most: u64) -> PyResult<u64> {
        self.handle.run(py, || self.table.entries_up_to(most))
    }

    fn fields(&self, py: Python<'_>) -> PyResult<Fields> {
        self.handle
            .run(py, || Ok(Fields { count: self.table.fields()?.len(), table: Arc::new(self.table.clone()) }))
    }

    fn find(&self, py: Python<'_>, name: &str) -> PyResult<u32> {
        self.handle.run(py, || match self.table.found(name)? {
            Some(at) => Ok(at),
            None => {
                Err(self.table.missing(name)?.in_file(self.table.file().uri()).in_object(self.table.path()))
            }
        })
    }

    fn found(&self, py: Python<'_>, name: &str) -> PyResult<Option<u32>> {
        self.handle.run(py, || self.table.found(name))
    }

    #[pyo3(signature = (field, most=None))]
    fn describe(&self, py: Python<'_>, field: u32, most: Option<u64>) -> PyResult<Description> {
        let describe = || match most {
            Some(most) => self.table.describe_first(field, most),
            None => self.table.describe(field),
        };
        let described = self.handle.run(py, describe)?;
        Ok(Description::new(py, described, &self.types))
    }

    fn column_type(&self, py: Python<'_>, field: u32) -> PyResult<Py<ColumnType>> {
        let described = self.handle.run(py, || self.table.describe_first(field, 0))?;
        self.types.of(py, described)
    }

    fn column_form(&self, py: Python<'_>, field: u32) -> PyResult<Option<ColumnForm>> {
        let described = self.handle.run(py, || self.table.describe_first(field, 0))?;
        Ok(described.reading.ok().map(|reading| ColumnForm(reading.form)))
    }

    #[pyo3(signature = (field, most=None))]
    fn entry_range(&self, py: Python<'_>, field: u32, most: Option<u64>) -> PyResult<(u64, u64)> {
        let most = most.unwrap_or(u64::MAX);
        self.handle.run(py, || self.table.entry_range_up_to(field, most)).map(|range| pair(&range))
    }

    #[pyo3(signature = (fields, start, stop, *, bits=false, views=false))]
    fn plan(
        &self,
        py: Python<'_>,
        fields: Vec<u32>,
        start: u64,
        stop: u64,
        bits: bool,
        views: bool,
    ) -> PyResult<Plan> {
        let plan = self.handle.run(py, || self.table.plan(&fields, start..stop))?;
        Ok(Plan(plan::Plan { bits, views, ..plan }))
    }

    fn plan_raw(&self, py: Python<'_>, fields: Vec<u32>, start: u64, stop: u64) -> PyResult<Plan> {
        self.handle.run(py, || self.table.plan_raw(&fields, start..stop)).map(Plan)
    }

    #[pyo3(signature = (plan, threads=None, progress=None))]
    fn read(
        &self,
        py: Python<'_>,
        plan: &Bound<'_, Plan>,
        threads: Option<usize>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Vec<Array>> {
        read::read(py, &self.handle, &self.table, &plan.get().0, threads, progress.as_ref())
    }

    /// Returns the distinct texts of a column in the order of its categories; `None` if the file has no such
    /// list.
    fn dictionary(&self, py: Python<'_>, field: u32) -> PyResult<Option<Array>> {
        let found = self.handle.run(py, || self.table.dictionary(field))?;
        let place = || place(self.handle.file.uri(), self.table.path().to_owned(), 0);
        found.map(|array| Array::new(py, &array, place(), self.table.text_policy())).transpose()
    }

    /// Returns the names that the file defines for expressions.
    fn aliases(&self, py: Python<'_>) -> PyResult<Vec<(String, String)>> {
        self.handle.run(py, || self.table.aliases())
    }

    /// Returns the friends of the table: name, file (empty for the file of this table), path, and the path of
    /// the file relative to the folder of this table's file if it is in that folder or below.
    fn friends(&self, py: Python<'_>) -> PyResult<Vec<Beside>> {
        let friends = self.handle.run(py, || self.table.friends())?;
        let beside = |friend: plan::FriendName| {
            let beside = self.table.beside(&friend);
            (friend.name, friend.file, friend.path, beside)
        };
        Ok(friends.into_iter().map(beside).collect())
    }

    /// Returns the expressions of the two numbers that the table's index is made of; `None` without an index.
    fn index_names(&self, py: Python<'_>) -> PyResult<Option<(String, String)>> {
        self.handle.run(py, || self.table.index_names())
    }

    /// Returns the names of tables whose rows describe ranges of entries of this table.
    fn attribute_sets(&self) -> Vec<String> {
        self.table.attribute_sets()
    }

    /// Selects columns, by the positions of their fields or as expressions, of entries that pass the filter.
    /// `entries` are 64-bit integers in native byte order. `friends` are names, the tables of a friend in
    /// order, and the number of their entries that belong to preceding tables. `united` are columns of
    /// several tables, with their fields if this table has them, their common type as an array or a Form, and
    /// whether some tables lack them. `before` is the number of entries of preceding tables.
    #[expect(clippy::too_many_arguments, reason = "the arguments of Python")]
    #[pyo3(signature = (columns, aliases, cut=None, entries=None, friends=Vec::new(), united=Vec::new(), before=0))]
    fn select(
        &self,
        py: Python<'_>,
        columns: Vec<(String, Option<u32>)>,
        aliases: Vec<(String, String)>,
        cut: Option<String>,
        entries: Option<Vec<u8>>,
        friends: Vec<(String, Vec<Bound<'_, Self>>, u64)>,
        united: Vec<United<'_>>,
        before: u64,
    ) -> PyResult<Selection> {
        let (entries, united) = (entries.as_deref().map(numbers), united_columns(united));
        let mut options = SelectOptions { aliases, cut, entries, united, before, ..SelectOptions::default() };
        let mut asks = self.handle.object.is_some();
        for (name, tables, before) in friends {
            let mut made: Option<Friend> = None;
            for table in &tables {
                let table = table.get();
                table.handle.check_open(py)?;
                asks |= table.handle.object.is_some();
                let table = table.table.clone();
                made = Some(match made {
                    Some(friend) => friend.then(table),
                    None => Friend::new(name.clone(), table),
                });
            }
            options.friends.extend(made.map(|friend| friend.before(before)));
        }
        let names: Vec<_> = columns.iter().map(|(name, field)| (name.as_str(), *field)).collect();
        let selection = self.handle.run(py, || self.table.select_fields(&names, options))?;
        Ok(Selection::new(Arc::clone(&self.handle), selection, asks))
    }

    fn raw(&self, py: Python<'_>, plan: &Bound<'_, Plan>, task: usize) -> PyResult<RawBlock> {
        self.handle.check_open(py)?;
        let plan = &plan.get().0;
        let block = self.handle.run(py, || self.table.raw(plan, task))?;
        Ok(RawBlock(block))
    }

    fn boundaries(&self, py: Python<'_>, fields: Vec<u32>, start: u64, stop: u64) -> PyResult<Vec<u64>> {
        self.handle.run(py, || self.table.boundaries(&fields, start..stop))
    }

    #[pyo3(signature = (fields, start, stop, entries=None, bytes=None))]
    fn steps(
        &self,
        py: Python<'_>,
        fields: Vec<u32>,
        start: u64,
        stop: u64,
        entries: Option<u64>,
        bytes: Option<u64>,
    ) -> PyResult<Vec<(u64, u64)>> {
        let step = entries.map_or(Step::Bytes(bytes.unwrap_or(u64::MAX)), Step::Entries);
        let steps = self.handle.run(py, || self.table.cut(&fields, start..stop, step))?;
        Ok(steps.into_iter().map(|step| (step.start, step.end)).collect())
    }

    /// Divides the table into partitions.
    #[pyo3(signature = (fields, *, entries=None, bytes=None, align=true))]
    fn divide(
        &self,
        py: Python<'_>,
        fields: Vec<u32>,
        entries: Option<u64>,
        bytes: Option<u64>,
        align: bool,
    ) -> PyResult<Divided> {
        let step = partition_size(entries, bytes);
        self.handle.run(py, || self.table.divide(&fields, step, align)).map(divided)
    }

    #[pyo3(signature = (fields, start, stop, entries=None, bytes=None))]
    fn batches(
        &self,
        py: Python<'_>,
        fields: Vec<u32>,
        start: u64,
        stop: Option<u64>,
        entries: Option<u64>,
        bytes: Option<u64>,
    ) -> PyResult<BatchReader> {
        let step = entries.map_or(Step::Bytes(bytes.unwrap_or(u64::MAX)), Step::Entries);
        let range = start..stop.unwrap_or(u64::MAX);
        let reader = self.handle.run(py, || self.table.steps(&fields, range, step))?;
        Ok(BatchReader::new(Arc::clone(&self.handle), reader))
    }

    #[pyo3(signature = (names, fields, *, choices))]
    fn schema<'py>(
        &self,
        py: Python<'py>,
        names: Vec<String>,
        fields: Vec<u32>,
        choices: arrow::Choices<'_>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let forms = self.handle.run(py, || self.forms(&fields))?;
        arrow::schema(
            py,
            &names.into_iter().zip(forms).collect::<Vec<_>>(),
            &choices,
            &arrow::Kept::of(&self.table),
        )
    }

    #[pyo3(signature = (names, fields, reader, threads=None, *, choices))]
    fn stream<'py>(
        &self,
        py: Python<'py>,
        names: Vec<String>,
        fields: Vec<u32>,
        reader: &Bound<'_, BatchReader>,
        threads: Option<usize>,
        choices: arrow::Choices<'_>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        self.handle.check_open(py)?;
        let forms = self.handle.run(py, || self.forms(&fields))?;
        let reader = reader.get().take(py)?.with_bits(true);
        let asks = self.handle.object.is_some();
        let forms = names.into_iter().zip(forms).collect();
        let kept = arrow::Kept::of(&self.table);
        arrow::stream(py, &self.handle, forms, reader, threads, &choices, asks, &kept)
    }
}

/// A friend: name, file, path, and the path of the file relative to the folder of the file that names it.
type Beside = (String, String, String, Option<String>);

/// The fields of a table, each created on access: Python's garbage collector would traverse thousands of
/// them.
#[pyclass(frozen, sequence, module = "forthwith._forthwith")]
pub(crate) struct Fields {
    table: Arc<forthwith::Table>,
    count: usize,
}

#[pymethods]
impl Fields {
    fn __len__(&self) -> usize {
        self.count
    }

    fn __getitem__(&self, at: usize) -> PyResult<Field> {
        let found = self.table.fields().ok().and_then(|fields| fields.get(at)).ok_or_else(|| no_field(at))?;
        let plan::Field { path, name, title, parent, has_children, has_data, is_part } = found.clone();
        Ok(Field { path, name, title, parent, has_children, has_data, is_part })
    }

    /// Returns path and position of each field that is not a part of another field.
    fn members(&self) -> PyResult<Vec<(&str, usize)>> {
        let fields = self.table.fields().map_err(|_| no_field(0))?.iter().enumerate();
        Ok(fields.filter(|(_, field)| !field.is_part).map(|(at, field)| (&*field.path, at)).collect())
    }

    /// Returns the position of the parent of each field; `None` for fields at the top level.
    fn parents(&self) -> PyResult<Vec<Option<u32>>> {
        Ok(self.table.fields().map_err(|_| no_field(0))?.iter().map(|field| field.parent).collect())
    }
}

fn no_field(at: usize) -> PyErr {
    PyIndexError::new_err(format!("there is no field {at}"))
}

/// A field of a table.
#[pyclass(frozen, get_all, module = "forthwith._forthwith")]
pub(crate) struct Field {
    path: String,
    name: String,
    title: String,
    parent: Option<u32>,
    has_children: bool,
    has_data: bool,
    is_part: bool,
}

#[pymethods]
impl Field {
    fn __repr__(&self) -> String {
        format!("<Field {}>", self.path)
    }
}

/// A plan to read some fields of a range of entries.
#[pyclass(frozen, module = "forthwith._forthwith")]
pub(crate) struct Plan(plan::Plan);

#[pymethods]
impl Plan {
    #[getter]
    fn entries(&self) -> (u64, u64) {
        pair(&self.0.entries)
    }

    #[getter]
    fn stored_bytes(&self) -> u64 {
        self.0.stored_bytes()
    }

    #[getter]
    fn can_choose(&self) -> bool {
        self.0.can_choose()
    }

    fn blocks(&self) -> Vec<Block> {
        let task = |(task, t): (usize, &plan::Task)| Block {
            task,
            group: t.group,
            block: t.block,
            entries: pair(&self.0.entries_of(t, &t.entries)),
            wanted: pair(&self.0.entries_of(t, &t.wanted)),
            stored_bytes: t.stored.len(),
        };
        self.0.tasks.iter().enumerate().map(task).collect()
    }
}

fn pair(range: &Range<u64>) -> (u64, u64) {
    (range.start, range.end)
}

/// A block of a plan.
#[pyclass(frozen, get_all, module = "forthwith._forthwith")]
pub(crate) struct Block {
    task: usize,
    group: u32,
    block: u64,
    entries: (u64, u64),
    wanted: (u64, u64),
    stored_bytes: u64,
}

/// A block, decompressed but not decoded.
#[pyclass(frozen, module = "forthwith._forthwith")]
pub(crate) struct RawBlock(forthwith::RawBlock);

#[pymethods]
impl RawBlock {
    #[getter]
    fn entries(&self) -> (u64, u64) {
        pair(&self.0.entries)
    }

    #[getter]
    fn view(&self) -> bool {
        self.0.view
    }

    #[getter]
    fn payload(&self) -> Buffer {
        Buffer::new(self.bytes())
    }

    #[getter]
    fn values(&self) -> Buffer {
        let (typestr, size) = self.0.values.map_or(("|u1", 1), raw_type);
        Buffer::viewed(self.bytes(), typestr, size)
    }

    #[getter]
    fn bounds(&self) -> Option<Buffer> {
        let bounds = &self.0.bounds;
        (!bounds.is_empty()).then(|| Buffer::new(Column::from_slice(bounds)))
    }
}

impl RawBlock {
    fn bytes(&self) -> Column {
        Column::from_bytes(DType::UInt8, self.0.payload.clone())
    }
}
