//! Row groups being written: the columns of each are encoded side by side.

use forthwith_columns::arrow::{RecordBatch, SchemaRef};
use forthwith_plan::{Bench, BlockMaker, BlockRunner, BlockSink, Error, Result, StoredBlock};
use parquet::{
    arrow::arrow_writer::{ArrowColumnChunk, ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves},
    errors::ParquetError,
    file::writer::{SerializedFileWriter, SerializedRowGroupWriter},
};
use std::{
    io::Write,
    ops::Range,
    sync::{Arc, Mutex, PoisonError},
};

/// The row groups of a file: full ones are in the file, the last one is in memory.
pub(crate) struct RowGroups<W: Write + Send> {
    file: SerializedFileWriter<W>,
    factory: ArrowRowGroupWriterFactory,
    schema: SchemaRef,
    /// Rows of a group.
    most: usize,
    runner: Arc<dyn BlockRunner>,
    open: Option<OpenGroup>,
    /// Whether rows failed to be written, which are missing or in some columns alone.
    failed: bool,
}

/// A group that is not full.
struct OpenGroup {
    rows: usize,
    columns: Vec<ColumnWriters>,
}

/// The writers of the leaves of one column.
type ColumnWriters = Vec<ArrowColumnWriter>;

impl<W: Write + Send> RowGroups<W> {
    pub(crate) fn new(
        (file, factory): (SerializedFileWriter<W>, ArrowRowGroupWriterFactory),
        schema: SchemaRef,
        most: usize,
        runner: Arc<dyn BlockRunner>,
    ) -> Self {
        Self { file, factory, schema, most: most.max(1), runner, open: None, failed: false }
    }

    /// Appends rows. Groups that are full then are in the file.
    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.check()?;
        self.failed = true;
        let mut start = 0;
        while start < batch.num_rows() {
            // Where there are fewer columns than threads, groups are encoded side by side as well.
            let most_parts = self.runner.threads().div_ceil(batch.num_columns().max(1)).max(1);
            let mut parts = Vec::new();
            while start < batch.num_rows() && parts.len() < most_parts {
                let OpenGroup { rows, columns } = match self.open.take() {
                    Some(open) => open,
                    None => OpenGroup { rows: 0, columns: self.new_columns()? },
                };
                let end = batch.num_rows().min(start + (self.most - rows));
                let rows = rows + (end - start);
                let encoders = columns.into_iter().map(|writers| Mutex::new(Encoder::Writers(writers)));
                parts.push(Part { batch_rows: start..end, rows, encoders: encoders.collect() });
                start = end;
            }
            self.encode(batch, parts)?;
        }
        self.failed = false;
        Ok(())
    }

    fn check(&self) -> Result<()> {
        match self.failed {
            false => Ok(()),
            true => Err(Error::invalid("rows that failed to be written are missing: write the file anew")),
        }
    }

    fn new_columns(&self) -> Result<Vec<ColumnWriters>> {
        let number = self.file.flushed_row_groups().len();
        let leaves = self.factory.create_column_writers(number).map_err(|e| failed(&e))?;
        let mut columns: Vec<_> = self.schema.fields().iter().map(|_| Vec::new()).collect();
        for (leaf, writer) in leaves.into_iter().enumerate() {
            let column = self.file.schema_descr().get_column_root_idx(leaf);
            if let Some(writers) = columns.get_mut(column) {
                writers.push(writer);
            }
        }
        Ok(columns)
    }

    /// Encodes parts of a batch; the last one may leave its group open.
    fn encode(&mut self, batch: &RecordBatch, parts: Vec<Part>) -> Result<()> {
        let encoding = Encoding { batch, parts, most: self.most };
        match encoding.parts.as_slice() {
            // Each column is in the file before the next one needs the memory.
            [part] if part.rows >= self.most => {
                let mut group = self.file.next_row_group().map_err(|e| failed(&e))?;
                self.runner
                    .run(&encoding, &mut AppendingColumns { group: &mut group, encoding: &encoding })?;
                return group.close().map(drop).map_err(|e| failed(&e));
            }
            _ => self
                .runner
                .run(&encoding, &mut AppendingGroups { file: &mut self.file, encoding: &encoding })?,
        }
        if let Some(last) = encoding.parts.into_iter().next_back().filter(|part| part.rows < self.most) {
            let columns = last.encoders.into_iter().map(|encoder| match unlocked(encoder) {
                Encoder::Writers(writers) => Ok(writers),
                Encoder::Chunks(_) | Encoder::Empty => Err(Error::fault("a column was closed early")),
            });
            self.open = Some(OpenGroup { rows: last.rows, columns: columns.collect::<Result<_>>()? });
        }
        Ok(())
    }

    /// An estimate of the bytes that the open group has when it is encoded.
    pub(crate) fn open_bytes(&self) -> usize {
        let writers = self.open.iter().flat_map(|open| open.columns.iter().flatten());
        writers.map(ArrowColumnWriter::get_estimated_total_bytes).sum()
    }

    /// Ends the open group.
    pub(crate) fn flush(&mut self) -> Result<()> {
        let Some(open) = self.open.take() else { return Ok(()) };
        self.failed = true;
        let closed = open.columns.into_iter().flatten().map(ArrowColumnWriter::close);
        let chunks = closed.collect::<std::result::Result<Vec<_>, _>>();
        chunks.and_then(|chunks| append(&mut self.file, chunks)).map_err(|e| failed(&e))?;
        self.failed = false;
        Ok(())
    }

    /// Writes the open group and the footer; returns the output.
    pub(crate) fn into_inner(mut self) -> Result<W> {
        self.check()?;
        self.flush()?;
        self.file.into_inner().map_err(|e| failed(&e))
    }
}

/// Rows of a batch that belong to one group.
struct Part {
    batch_rows: Range<usize>,
    /// Rows of the group with these.
    rows: usize,
    /// One for each column.
    encoders: Vec<Mutex<Encoder>>,
}

/// A column of a group.
#[derive(Default)]
enum Encoder {
    /// More rows may follow.
    Writers(ColumnWriters),
    /// The group is full.
    Chunks(Vec<ArrowColumnChunk>),
    /// Taken by the thread that works on it, or written.
    #[default]
    Empty,
}

/// The chunks of a column of a full group.
fn taken(encoder: &Mutex<Encoder>) -> Vec<ArrowColumnChunk> {
    let mut encoder = encoder.lock().unwrap_or_else(PoisonError::into_inner);
    match std::mem::take(&mut *encoder) {
        Encoder::Chunks(chunks) => chunks,
        Encoder::Writers(_) | Encoder::Empty => Vec::new(),
    }
}

fn unlocked(encoder: Mutex<Encoder>) -> Encoder {
    encoder.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Encodes the columns of parts, each by itself.
struct Encoding<'a> {
    batch: &'a RecordBatch,
    parts: Vec<Part>,
    most: usize,
}

impl Encoding<'_> {
    /// The part and the column that a block is.
    fn place(&self, block: usize) -> Option<(&Part, usize)> {
        let columns = self.batch.num_columns().max(1);
        self.parts.get(block / columns).map(|part| (part, block % columns))
    }

    fn write(&self, part: &Part, column: usize) -> std::result::Result<(), ParquetError> {
        let Some(encoder) = part.encoders.get(column) else { return Ok(()) };
        let mut encoder = encoder.lock().unwrap_or_else(PoisonError::into_inner);
        let Encoder::Writers(mut writers) = std::mem::take(&mut *encoder) else { return Ok(()) };
        let rows = self.batch.column(column).slice(part.batch_rows.start, part.batch_rows.len());
        let leaves = compute_leaves(self.batch.schema_ref().field(column), &rows)?;
        for (writer, leaf) in writers.iter_mut().zip(&leaves) {
            writer.write(leaf)?;
        }
        *encoder = if part.rows < self.most {
            Encoder::Writers(writers)
        } else {
            let chunks = writers.into_iter().map(ArrowColumnWriter::close);
            Encoder::Chunks(chunks.collect::<std::result::Result<_, _>>()?)
        };
        Ok(())
    }
}

impl BlockMaker for Encoding<'_> {
    fn blocks(&self) -> usize {
        self.parts.len() * self.batch.num_columns()
    }

    fn weight(&self, block: usize) -> u64 {
        let Some((part, column)) = self.place(block) else { return 0 };
        let bytes = self.batch.column(column).get_buffer_memory_size() as u64;
        let share = part.batch_rows.len() as f64 / self.batch.num_rows().max(1) as f64;
        (bytes as f64 * share) as u64
    }

    fn make(&self, block: usize, _: &mut Bench) -> Result<StoredBlock> {
        if let Some((part, column)) = self.place(block) {
            self.write(part, column).map_err(|e| failed(&e))?;
        }
        Ok(StoredBlock::default())
    }
}

/// Appends the columns of one group to it.
struct AppendingColumns<'a, 'f, W: Write + Send> {
    group: &'a mut SerializedRowGroupWriter<'f, W>,
    encoding: &'a Encoding<'a>,
}

impl<W: Write + Send> BlockSink for AppendingColumns<'_, '_, W> {
    fn take(&mut self, block: usize, _: &mut StoredBlock) -> Result<()> {
        let Some((part, column)) = self.encoding.place(block) else { return Ok(()) };
        for chunk in part.encoders.get(column).map_or_else(Vec::new, taken) {
            chunk.append_to_row_group(self.group).map_err(|e| failed(&e))?;
        }
        Ok(())
    }
}

/// Appends groups to the file, each when its last column is encoded.
struct AppendingGroups<'a, W: Write + Send> {
    file: &'a mut SerializedFileWriter<W>,
    encoding: &'a Encoding<'a>,
}

impl<W: Write + Send> BlockSink for AppendingGroups<'_, W> {
    fn take(&mut self, block: usize, _: &mut StoredBlock) -> Result<()> {
        let Some((part, column)) = self.encoding.place(block) else { return Ok(()) };
        if part.rows < self.encoding.most || column + 1 < part.encoders.len() {
            return Ok(());
        }
        append(self.file, part.encoders.iter().flat_map(taken)).map_err(|e| failed(&e))
    }
}

fn append<W: Write + Send>(
    file: &mut SerializedFileWriter<W>,
    chunks: impl IntoIterator<Item = ArrowColumnChunk>,
) -> std::result::Result<(), ParquetError> {
    let mut group = file.next_row_group()?;
    for chunk in chunks {
        chunk.append_to_row_group(&mut group)?;
    }
    group.close().map(drop)
}

pub(crate) fn failed(error: &ParquetError) -> Error {
    // The system's own error is within.
    let mut source: Option<&dyn std::error::Error> = Some(error);
    while let Some(inner) = source {
        if let Some(io) = inner.downcast_ref::<std::io::Error>() {
            let kind = forthwith_io::ErrorKind::Io {
                kind: io.kind(),
                code: io.raw_os_error(),
                text: io.to_string(),
            };
            return Error::new(forthwith_io::Error::new(kind, "the output"));
        }
        source = inner.source();
    }
    Error::invalid(error.to_string())
}
