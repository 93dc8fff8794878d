//! Writing of row groups, whose columns are encoded in parallel.

use super::{
    encode::{ColumnEncoder, EncodedChunk, EncoderOptions},
    group_file::GroupFile,
};
use arrow_array::{Array as _, ArrayRef};
use arrow_schema::Fields;
use forthwith_columns::arrow::{RecordBatch, SchemaRef};
use forthwith_io::Compressor;
use forthwith_plan::{Bench, BlockMaker, BlockRunner, BlockSink, Error, Result, StoredBlock};
use parquet::schema::types::SchemaDescriptor;
use std::{
    io::Write,
    ops::Range,
    sync::{Arc, Mutex, PoisonError},
};

/// Writer of the row groups of a file: complete ones are in the file, the last one is in memory.
pub(crate) struct RowGroups<W: Write + Send> {
    file: GroupFile<W>,
    schema: SchemaRef,
    options: EncoderOptions,
    /// Upper bound on the rows of a group.
    most: usize,
    runner: Arc<dyn BlockRunner>,
    open: Option<OpenGroup>,
    /// Whether a write failed, so that rows are missing, maybe in some columns only.
    failed: bool,
}

/// Number of groups of a batch that are prepared at a time.
const MOST_PARTS: usize = 256;

/// A group that is not complete.
struct OpenGroup {
    rows: usize,
    columns: Vec<Encoder>,
}

impl<W: Write + Send> RowGroups<W> {
    pub(crate) fn new(
        file: GroupFile<W>,
        schema: SchemaRef,
        options: EncoderOptions,
        most: usize,
        runner: Arc<dyn BlockRunner>,
    ) -> Self {
        Self { file, schema, options, most: most.max(1), runner, open: None, failed: false }
    }

    /// Appends rows, and writes complete groups to the file. If `is_last`, no rows follow, and the last group
    /// is written as well.
    pub(crate) fn write(&mut self, batches: &[RecordBatch], is_last: bool) -> Result<()> {
        self.check()?;
        self.failed = true;
        let mut left = batches.iter().map(RecordBatch::num_rows).sum::<usize>();
        let mut places = batches.iter().enumerate().map(|(at, batch)| (at, 0..batch.num_rows())).peekable();
        while left > 0 {
            let mut parts = Vec::new();
            while left > 0 && parts.len() < MOST_PARTS {
                let OpenGroup { rows, columns } = self.open.take().unwrap_or_else(|| OpenGroup {
                    rows: 0,
                    columns: self.schema.fields().iter().map(|_| Encoder::New).collect(),
                });
                let mut part = Part { slices: Vec::new(), rows, is_complete: false, encoders: Vec::new() };
                while let Some((batch, some)) = places.peek_mut().filter(|_| part.rows < self.most) {
                    let end = some.end.min(some.start + (self.most - part.rows));
                    part.rows += end - some.start;
                    left -= end - some.start;
                    part.slices.push((*batch, some.start..end));
                    some.start = end;
                    if some.start == some.end {
                        places.next();
                    }
                }
                part.is_complete = part.rows >= self.most || is_last && left == 0;
                part.encoders = columns.into_iter().map(Mutex::new).collect();
                parts.push(part);
            }
            self.encode(batches, parts)?;
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

    /// Encodes parts of batches. The last part may leave its group open.
    fn encode(&mut self, batches: &[RecordBatch], parts: Vec<Part>) -> Result<()> {
        let (first_leaves, schema) = (self.first_leaves(), Arc::clone(self.file.schema()));
        let (fields, options) = (self.schema.fields(), &self.options);
        let encoding = Encoding { batches, fields, parts, options, schema: &schema, first_leaves };
        self.runner.run(&encoding, &mut AppendingChunks { file: &mut self.file, encoding: &encoding })?;
        if let Some(last) = encoding.parts.into_iter().next_back().filter(|part| !part.is_complete) {
            let columns = last.encoders.into_iter().map(unlocked).collect();
            self.open = Some(OpenGroup { rows: last.rows, columns });
        }
        Ok(())
    }

    /// Returns the estimated encoded size of the open group in bytes.
    pub(crate) fn open_bytes(&self) -> usize {
        let columns = self.open.iter().flat_map(|open| &open.columns);
        columns.map(|column| if let Encoder::Open(column) = column { column.memory() } else { 0 }).sum()
    }

    /// Writes the open group to the file.
    pub(crate) fn flush(&mut self) -> Result<()> {
        let Some(open) = self.open.take() else { return Ok(()) };
        self.failed = true;
        let mut codecs = Compressor::new();
        for column in open.columns {
            let Encoder::Open(column) = column else { return Err(Error::fault("a column was closed early")) };
            for chunk in column.close(&mut codecs)? {
                self.file.append(chunk)?;
            }
        }
        self.file.end_group(open.rows)?;
        self.failed = false;
        Ok(())
    }

    /// Writes the open group and the footer, and returns the output.
    pub(crate) fn into_inner(mut self) -> Result<W> {
        self.check()?;
        self.flush()?;
        self.file.finish()
    }

    /// Returns the index of the first leaf of each column.
    fn first_leaves(&self) -> Vec<usize> {
        let schema = self.file.schema();
        let mut first = vec![0; self.schema.fields().len()];
        for leaf in (0..schema.num_columns()).rev() {
            if let Some(column) = first.get_mut(schema.get_column_root_idx(leaf)) {
                *column = leaf;
            }
        }
        first
    }
}

/// Rows of one group.
struct Part {
    /// Indexes of batches, and ranges of their rows.
    slices: Vec<(usize, Range<usize>)>,
    /// Number of rows of the group, including these.
    rows: usize,
    /// Whether the group is complete.
    is_complete: bool,
    /// Encoder of each column.
    encoders: Vec<Mutex<Encoder>>,
}

/// State of encoding a column of a group.
#[derive(Default)]
enum Encoder {
    /// No rows were encoded.
    New,
    /// More rows may follow.
    Open(ColumnEncoder),
    /// The group is complete, and its chunks are encoded.
    Chunks(Vec<EncodedChunk>),
    /// Taken by the thread that encodes or writes it.
    #[default]
    Empty,
}

fn unlocked(encoder: Mutex<Encoder>) -> Encoder {
    encoder.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Encoding of all columns of some parts, each as a block.
struct Encoding<'a> {
    batches: &'a [RecordBatch],
    fields: &'a Fields,
    parts: Vec<Part>,
    options: &'a EncoderOptions,
    schema: &'a SchemaDescriptor,
    first_leaves: Vec<usize>,
}

impl Encoding<'_> {
    /// Returns the part and the column of a block.
    fn place(&self, block: usize) -> Option<(&Part, usize)> {
        let columns = self.fields.len().max(1);
        self.parts.get(block / columns).map(|part| (part, block % columns))
    }

    fn write(&self, part: &Part, column: usize, bench: &mut Bench) -> Result<()> {
        let Some(encoder) = part.encoders.get(column) else { return Ok(()) };
        let mut encoder = encoder.lock().unwrap_or_else(PoisonError::into_inner);
        let mut open = match std::mem::take(&mut *encoder) {
            Encoder::Open(open) => open,
            Encoder::New => {
                let leaf = self.schema.column(self.first_leaves[column]);
                ColumnEncoder::new(&self.fields[column], &leaf, self.options, bench.spare())?
            }
            Encoder::Chunks(_) | Encoder::Empty => return Err(Error::fault("a column was closed early")),
        };
        for (batch, rows) in &part.slices {
            let rows = self.batches[*batch].column(column).slice(rows.start, rows.len());
            open.push(&rows, &mut bench.compressor)?;
        }
        *encoder = if part.is_complete {
            Encoder::Chunks(open.close(&mut bench.compressor)?)
        } else {
            open.detach()?;
            Encoder::Open(open)
        };
        Ok(())
    }
}

/// Returns the bytes of the rows of an array: of the buffers of a slice, only its part counts.
pub(crate) fn bytes_of_rows(column: &ArrayRef) -> usize {
    column.to_data().get_slice_memory_size().unwrap_or_else(|_| column.get_buffer_memory_size())
}

impl BlockMaker for Encoding<'_> {
    fn blocks(&self) -> usize {
        self.parts.len() * self.fields.len()
    }

    fn weight(&self, block: usize) -> u64 {
        let Some((part, column)) = self.place(block) else { return 0 };
        let weights = part.slices.iter().map(|(batch, rows)| {
            let batch = &self.batches[*batch];
            let bytes = bytes_of_rows(batch.column(column)) as f64;
            (bytes * rows.len() as f64 / batch.num_rows().max(1) as f64) as u64
        });
        weights.sum()
    }

    fn make(&self, block: usize, bench: &mut Bench) -> Result<StoredBlock> {
        if let Some((part, column)) = self.place(block) {
            self.write(part, column, bench)?;
        }
        Ok(StoredBlock::default())
    }
}

/// Sink that appends chunks to the file, and completes groups.
struct AppendingChunks<'a, W: Write + Send> {
    file: &'a mut GroupFile<W>,
    encoding: &'a Encoding<'a>,
}

impl<W: Write + Send> BlockSink for AppendingChunks<'_, W> {
    fn take(&mut self, block: usize, stored: &mut StoredBlock) -> Result<()> {
        let Some((part, column)) = self.encoding.place(block) else { return Ok(()) };
        let Some(encoder) = part.encoders.get(column).filter(|_| part.is_complete) else {
            return Ok(());
        };
        let chunks = std::mem::take(&mut *encoder.lock().unwrap_or_else(PoisonError::into_inner));
        let Encoder::Chunks(chunks) = chunks else {
            return Err(Error::fault("a column that is not encoded"));
        };
        for chunk in chunks {
            stored.bytes = self.file.append(chunk)?;
        }
        match column + 1 == part.encoders.len() {
            true => self.file.end_group(part.rows),
            false => Ok(()),
        }
    }
}
