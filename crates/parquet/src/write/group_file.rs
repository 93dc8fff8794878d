//! Row groups and footer of a file that is being written.

use super::{
    encode::{EncodedChunk, moved},
    library_error::failed,
};
use forthwith_plan::Result;
use parquet::{
    errors::ParquetError,
    file::{
        metadata::{
            ColumnChunkMetaData, FileMetaData, KeyValue, ParquetMetaDataBuilder, ParquetMetaDataWriter,
            RowGroupMetaData, page_index::PageIndexBuilder,
        },
        page_index::{column_index::ColumnIndexMetaData, offset_index::OffsetIndexMetaData},
        properties::WriterProperties,
        writer::TrackedWrite,
    },
    schema::types::SchemaDescPtr,
};
use std::{
    io::{self, BufWriter, Write},
    sync::Arc,
};

/// Writer of a file of row groups.
pub(crate) struct GroupFile<W: Write> {
    out: BufWriter<W>,
    /// Number of bytes written so far.
    written: u64,
    schema: SchemaDescPtr,
    words: Option<Vec<KeyValue>>,
    created_by: String,
    groups: Vec<RowGroupMetaData>,
    /// Chunks of the current row group.
    chunks: Vec<ColumnChunkMetaData>,
    indexes: Vec<(Option<ColumnIndexMetaData>, Option<OffsetIndexMetaData>)>,
}

const MAGIC: &[u8] = b"PAR1";

impl<W: Write> GroupFile<W> {
    pub(crate) fn new(out: W, schema: SchemaDescPtr, properties: &WriterProperties) -> Result<Self> {
        let mut file = Self {
            out: BufWriter::new(out),
            written: 0,
            schema,
            words: properties.key_value_metadata().cloned(),
            created_by: properties.created_by().to_owned(),
            groups: Vec::new(),
            chunks: Vec::new(),
            indexes: Vec::new(),
        };
        file.write(MAGIC)?;
        Ok(file)
    }

    pub(crate) const fn schema(&self) -> &SchemaDescPtr {
        &self.schema
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.written += bytes.len() as u64;
        self.out.write_all(bytes).map_err(|e| failed(&e.into()))
    }

    /// Appends a chunk to the row group. Returns its buffer for reuse.
    pub(crate) fn append(&mut self, chunk: EncodedChunk) -> Result<Vec<u8>> {
        let start = self.written as i64;
        self.write(&chunk.head)?;
        chunk.body.pieces().try_for_each(|piece| self.write(piece))?;
        self.chunks.push(moved(chunk.metadata, start).map_err(|e| failed(&e))?);
        let mut offsets = chunk.offsets;
        for page in offsets.iter_mut().flat_map(|offsets| &mut offsets.page_locations) {
            page.offset += start;
        }
        self.indexes.push((chunk.columns, offsets));
        Ok(chunk.body.into_memory())
    }

    /// Completes the row group of the appended chunks.
    pub(crate) fn end_group(&mut self, rows: usize) -> Result<()> {
        let chunks = std::mem::take(&mut self.chunks);
        let bytes = chunks.iter().map(ColumnChunkMetaData::uncompressed_size).sum();
        let start = chunks.first().map_or(0, |chunk| chunk.byte_range().0 as i64);
        let ordinal = i32::try_from(self.groups.len()).map_err(|_| failed(&too_many()))?;
        let group = RowGroupMetaData::builder(Arc::clone(&self.schema))
            .set_column_metadata(chunks)
            .set_total_byte_size(bytes)
            .set_num_rows(rows as i64)
            .set_ordinal(ordinal)
            .set_file_offset(start)
            .build();
        self.groups.push(group.map_err(|e| failed(&e))?);
        Ok(())
    }

    /// Writes the footer, and returns the output.
    pub(crate) fn finish(mut self) -> Result<W> {
        let footer = self.footer().map_err(|e| failed(&e))?;
        self.write(&footer)?;
        self.out.into_inner().map_err(|e| failed(&e.into_error().into()))
    }

    /// Encodes the page indexes and the metadata of the file.
    fn footer(&mut self) -> std::result::Result<Vec<u8>, ParquetError> {
        let leaves = self.schema.num_columns();
        let mut index = PageIndexBuilder::new(self.groups.len(), leaves);
        for (at, (columns, offsets)) in std::mem::take(&mut self.indexes).into_iter().enumerate() {
            if let Some(columns) = columns {
                index.put_column_index(columns, at / leaves, at % leaves);
            }
            if let Some(offsets) = offsets {
                index.put_offset_index(offsets, at / leaves, at % leaves);
            }
        }
        let groups = std::mem::take(&mut self.groups);
        let rows = groups.iter().map(RowGroupMetaData::num_rows).sum();
        let (created_by, words) = (std::mem::take(&mut self.created_by), self.words.take());
        let file = FileMetaData::new(VERSION, rows, Some(created_by), words, Arc::clone(&self.schema), None);
        let metadata = ParquetMetaDataBuilder::new(file)
            .set_row_groups(groups)
            .set_page_index(Some(Arc::new(index.build())))
            .build();
        let mut footer = Footer { before: self.written, bytes: Vec::new() };
        let mut out = TrackedWrite::new(&mut footer);
        // The metadata refer to indexes by their offsets in the file, which `TrackedWrite` counts from zero.
        let mut before = self.written;
        while before > 0 {
            let count = before.min(ZEROS.len() as u64);
            out.write_all(&ZEROS[..count as usize])?;
            before -= count;
        }
        ParquetMetaDataWriter::new_with_tracked(out, &metadata).finish()?;
        Ok(footer.bytes)
    }
}

/// Version of the format, by which data pages have version 1.
const VERSION: i32 = 1;
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

/// Output that keeps the bytes of the footer, and drops the zeros before it.
struct Footer {
    before: u64,
    bytes: Vec<u8>,
}

impl Write for Footer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let skipped = self.before.min(bytes.len() as u64);
        self.before -= skipped;
        self.bytes.extend_from_slice(&bytes[skipped as usize..]);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn too_many() -> ParquetError {
    ParquetError::General("more row groups than a file can have".into())
}
