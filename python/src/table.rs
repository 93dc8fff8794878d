//! Tables, their fields, and plans for reading them.

use crate::{
    array::{Array, Buffer},
    arrow,
    handle::Handle,
    read,
};
use forthwith::{
    Step,
    columns::{Column, DType, Form, Wire},
    plan::{self, Decoder, Error, Kernel},
};
use pyo3::{prelude::*, types::PyCapsule};
use std::{ops::Range, sync::Arc};

/// A tree.
#[pyclass(frozen, module = "forthwith._forthwith")]
pub(crate) struct Table {
    pub(crate) handle: Arc<Handle>,
    pub(crate) table: forthwith::Table,
    key: forthwith::Key,
}

impl Table {
    pub(crate) fn new(handle: Arc<Handle>, table: forthwith::Table, key: forthwith::Key) -> Self {
        Self { handle, table, key }
    }

    /// The Forms of fields, or the error that names the first one that cannot be read.
    fn forms(&self, fields: &[u32]) -> plan::Result<Vec<Form>> {
        let form = |field: &u32| match self.table.describe(*field)?.reading {
            Ok(reading) => Ok(reading.form),
            // Planning says it best.
            Err(what) => {
                self.table.plan(&[*field], 0..0)?;
                Err(Error::unsupported(what).in_object(self.table.path()).in_file(self.table.file().uri()))
            }
        };
        fields.iter().map(form).collect()
    }
}

#[pymethods]
impl Table {
    #[getter]
    fn path(&self) -> &str {
        self.table.path()
    }

    #[getter]
    fn title(&self) -> &str {
        &self.key.title
    }

    #[getter]
    fn classname(&self) -> &str {
        &self.key.class
    }

    #[getter]
    fn entries(&self) -> u64 {
        self.table.entries()
    }

    fn fields(&self, py: Python<'_>) -> PyResult<Vec<Field>> {
        self.handle.run(py, || Ok(self.table.fields()?.iter().cloned().map(Field).collect()))
    }

    fn find(&self, py: Python<'_>, name: &str) -> PyResult<u32> {
        self.handle.run(py, || self.table.find(name))
    }

    fn describe(&self, py: Python<'_>, field: u32) -> PyResult<Description> {
        self.handle.run(py, || self.table.describe(field)).map(Description)
    }

    fn entry_range(&self, py: Python<'_>, field: u32) -> PyResult<(u64, u64)> {
        self.handle.run(py, || self.table.tree().entry_range(field)).map(|range| pair(&range))
    }

    fn plan(&self, py: Python<'_>, fields: Vec<u32>, start: u64, stop: u64) -> PyResult<Plan> {
        self.handle.run(py, || self.table.plan(&fields, start..stop)).map(Plan)
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

    fn raw(&self, py: Python<'_>, plan: &Bound<'_, Plan>, task: usize) -> PyResult<RawBlock> {
        self.handle.check_open(py)?;
        let plan = &plan.get().0;
        let block = self.handle.run(py, || self.table.raw(plan, task))?;
        let group = plan.tasks.get(task).and_then(|task| plan.groups.get(task.group as usize));
        Ok(RawBlock { block, wire: group.and_then(|group| raw_wire(&group.decoder)) })
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
        let steps = self.handle.run(py, || self.table.steps(&fields, start..stop, step))?;
        Ok(steps.into_iter().map(|step| (step.start, step.end)).collect())
    }

    fn schema<'py>(
        &self,
        py: Python<'py>,
        names: Vec<String>,
        fields: Vec<u32>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let forms = self.handle.run(py, || self.forms(&fields))?;
        arrow::schema(py, &names.into_iter().zip(forms).collect::<Vec<_>>())
    }

    #[pyo3(signature = (names, fields, steps, threads=None))]
    fn stream<'py>(
        &self,
        py: Python<'py>,
        names: Vec<String>,
        fields: Vec<u32>,
        steps: Vec<(u64, u64)>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        self.handle.check_open(py)?;
        let forms = self.handle.run(py, || self.forms(&fields))?;
        let forms = names.into_iter().zip(forms).collect();
        let steps = steps.into_iter().map(|(start, stop)| start..stop).collect();
        arrow::stream(py, self, forms, fields, steps, threads)
    }
}

/// One field of a table.
#[pyclass(frozen, module = "forthwith._forthwith")]
pub(crate) struct Field(plan::Field);

#[pymethods]
impl Field {
    #[getter]
    fn path(&self) -> &str {
        &self.0.path
    }

    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    #[getter]
    fn title(&self) -> &str {
        &self.0.title
    }

    #[getter]
    fn parent(&self) -> Option<u32> {
        self.0.parent
    }

    #[getter]
    fn has_children(&self) -> bool {
        self.0.has_children
    }

    #[getter]
    fn has_data(&self) -> bool {
        self.0.has_data
    }

    fn __repr__(&self) -> String {
        format!("<Field {}>", self.0.path)
    }
}

/// How a field is read.
#[pyclass(frozen, module = "forthwith._forthwith")]
pub(crate) struct Description(plan::Description);

impl Description {
    fn reading(&self) -> Option<&plan::Reading> {
        self.0.reading.as_ref().ok()
    }
}

#[pymethods]
impl Description {
    #[getter]
    fn typename(&self) -> &str {
        &self.0.type_name
    }

    #[getter]
    fn entries(&self) -> u64 {
        self.0.entries
    }

    #[getter]
    fn blocks(&self) -> u64 {
        self.0.blocks
    }

    #[getter]
    fn stored_bytes(&self) -> u64 {
        self.0.stored_bytes
    }

    #[getter]
    fn payload_bytes(&self) -> u64 {
        self.0.payload_bytes
    }

    /// Why the field cannot be read, if it cannot.
    #[getter]
    fn problem(&self) -> Option<&str> {
        self.0.reading.as_ref().err().map(String::as_str)
    }

    #[getter]
    fn form(&self) -> Option<String> {
        // A Form that Awkward has no words for would fail when it is read, too; the words it has are the best there is.
        self.reading().map(|reading| {
            let form = &reading.form;
            form.for_awkward().map_or_else(|_| form.to_awkward_json(), |flat| flat.to_awkward_json())
        })
    }

    #[getter]
    fn type_string(&self) -> Option<String> {
        self.reading().map(|reading| reading.form.type_string())
    }

    #[getter]
    fn decoder(&self) -> Option<&'static str> {
        self.reading().map(|reading| reading.decoder.kind())
    }

    #[getter]
    fn layout(&self) -> Option<String> {
        self.reading().map(|reading| layout(&reading.decoder))
    }

    #[getter]
    fn reason(&self) -> Option<&str> {
        self.reading().map(|reading| reading.reason.as_str())
    }

    #[getter]
    fn forth(&self) -> Option<&str> {
        match &self.reading()?.decoder {
            Decoder::Program(program) => Some(&program.source),
            _ => None,
        }
    }
}

/// What a decoder does, in a phrase.
fn layout(decoder: &Decoder) -> String {
    match decoder {
        Decoder::Kernel(Kernel::Flat { wire, per_entry: 1 }) => format!("one {} an entry", wire_text(*wire)),
        Decoder::Kernel(Kernel::Flat { wire, per_entry }) => {
            format!("{per_entry} {} an entry", wire_text(*wire))
        }
        Decoder::Kernel(Kernel::Slots { size, slots }) => {
            format!("{} members in {size} bytes an entry", slots.len())
        }
        Decoder::Kernel(Kernel::Jagged { header, wire, per_item }) => {
            let items = if *per_item == 1 { String::new() } else { format!("{per_item} ") };
            let header = if *header == 0 { String::new() } else { format!(" after {header} bytes") };
            format!("lists of {items}{}{header}", wire_text(*wire))
        }
        Decoder::Program(program) => format!("{} outputs", program.outputs.len()),
        _ => String::new(),
    }
}

fn wire_text(wire: Wire) -> String {
    match wire {
        Wire::Big(dtype) if dtype.size() > 1 => format!("big-endian {dtype}"),
        Wire::Little(dtype) if dtype.size() > 1 => format!("little-endian {dtype}"),
        Wire::Big(dtype) | Wire::Little(dtype) => dtype.to_string(),
        Wire::Bool => "bool".into(),
        Wire::Widened => "float32 widened to float64".into(),
        Wire::Scaled { to, .. } => format!("integer scaled to {to}"),
        Wire::Truncated { bits, to } => format!("{to} with {bits} bits of mantissa"),
        _ => "value".into(),
    }
}

/// What raw blocks hold, if it is nothing but values of one width.
fn raw_wire(decoder: &Decoder) -> Option<Wire> {
    match decoder {
        Decoder::Kernel(Kernel::Flat { wire, .. } | Kernel::Jagged { header: 0, wire, .. }) => Some(*wire),
        _ => None,
    }
}

/// NumPy's word for a value as it lies in the file, and its size.
fn raw_type(wire: Wire) -> (&'static str, usize) {
    match wire {
        Wire::Big(dtype) => (big(dtype), dtype.size()),
        Wire::Little(dtype) => (little(dtype), dtype.size()),
        Wire::Widened => (">f4", 4),
        Wire::Scaled { .. } => (">u4", 4),
        // Three bytes have no type, and bytes that should be bool may be anything.
        _ => ("|u1", 1),
    }
}

const fn big(dtype: DType) -> &'static str {
    match dtype {
        DType::Int8 => "|i1",
        DType::Int16 => ">i2",
        DType::Int32 => ">i4",
        DType::Int64 => ">i8",
        DType::UInt16 => ">u2",
        DType::UInt32 => ">u4",
        DType::UInt64 => ">u8",
        DType::Float32 => ">f4",
        DType::Float64 => ">f8",
        _ => "|u1",
    }
}

const fn little(dtype: DType) -> &'static str {
    match dtype {
        DType::Int8 => "|i1",
        DType::Int16 => "<i2",
        DType::Int32 => "<i4",
        DType::Int64 => "<i8",
        DType::UInt16 => "<u2",
        DType::UInt32 => "<u4",
        DType::UInt64 => "<u8",
        DType::Float32 => "<f4",
        DType::Float64 => "<f8",
        _ => "|u1",
    }
}

/// What it takes to read some fields for some entries.
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

    fn blocks(&self) -> Vec<Block> {
        let task = |(task, t): (usize, &plan::Task)| Block {
            task,
            group: t.group,
            block: t.block,
            entries: pair(&t.entries),
            wanted: pair(&t.wanted),
            stored_bytes: t.stored.len(),
        };
        self.0.tasks.iter().enumerate().map(task).collect()
    }
}

fn pair(range: &Range<u64>) -> (u64, u64) {
    (range.start, range.end)
}

/// One block of a plan.
#[pyclass(frozen, get_all, module = "forthwith._forthwith")]
pub(crate) struct Block {
    task: usize,
    group: u32,
    block: u64,
    entries: (u64, u64),
    wanted: (u64, u64),
    stored_bytes: u64,
}

/// One block, decompressed and not decoded.
#[pyclass(frozen, module = "forthwith._forthwith")]
pub(crate) struct RawBlock {
    block: forthwith::RawBlock,
    wire: Option<Wire>,
}

#[pymethods]
impl RawBlock {
    #[getter]
    fn entries(&self) -> (u64, u64) {
        pair(&self.block.entries)
    }

    #[getter]
    fn view(&self) -> bool {
        self.block.view
    }

    #[getter]
    fn payload(&self) -> Buffer {
        Buffer::new(self.bytes())
    }

    #[getter]
    fn values(&self) -> Buffer {
        let (typestr, size) = self.wire.map_or(("|u1", 1), raw_type);
        Buffer::viewed(self.bytes(), typestr, size)
    }

    #[getter]
    fn bounds(&self) -> Option<Buffer> {
        let bounds = &self.block.bounds;
        (!bounds.is_empty()).then(|| Buffer::new(Column::from_slice(bounds)))
    }
}

impl RawBlock {
    fn bytes(&self) -> Column {
        Column::from_bytes(DType::UInt8, self.block.payload.clone())
    }
}
