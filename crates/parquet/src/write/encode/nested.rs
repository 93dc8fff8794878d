//! Encoding of lists, records and rare types by the `parquet` crate.

use super::{chunk::EncodedChunk, options::EncoderOptions, stored::StoredPages};
use crate::write::library_error::failed;
use arrow_array::ArrayRef;
use arrow_schema::{FieldRef, Schema};
use forthwith_plan::{Error, Result};
use parquet::{
    arrow::{
        ArrowSchemaConverter,
        arrow_writer::{ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves},
    },
    errors::ParquetError,
    file::{metadata::ColumnChunkMetaData, writer::SerializedFileWriter},
};
use std::sync::Arc;

/// Encoder of a column of a row group, which writes a temporary file in memory.
pub(crate) struct NestedEncoder {
    field: FieldRef,
    file: SerializedFileWriter<Vec<u8>>,
    leaves: Vec<ArrowColumnWriter>,
}

impl NestedEncoder {
    pub(crate) fn new(field: &FieldRef, options: &EncoderOptions) -> Result<Self> {
        Self::try_new(field, options).map_err(|e| failed(&e))
    }

    fn try_new(field: &FieldRef, options: &EncoderOptions) -> std::result::Result<Self, ParquetError> {
        let schema = Arc::new(Schema::new(vec![Arc::clone(field)]));
        let descriptor = ArrowSchemaConverter::new().convert(&schema)?;
        let file =
            SerializedFileWriter::new(Vec::new(), descriptor.root_schema_ptr(), options.properties.clone())?;
        let leaves = ArrowRowGroupWriterFactory::new(&file, schema).create_column_writers(0)?;
        Ok(Self { field: Arc::clone(field), file, leaves })
    }

    pub(crate) fn push(&mut self, array: &ArrayRef) -> Result<()> {
        let arrays = compute_leaves(&self.field, array).map_err(|e| failed(&e))?;
        let mut leaves = self.leaves.iter_mut().zip(&arrays);
        leaves.try_for_each(|(leaf, array)| leaf.write(array)).map_err(|e| failed(&e))
    }

    pub(crate) fn memory(&self) -> usize {
        self.leaves.iter().map(ArrowColumnWriter::get_estimated_total_bytes).sum()
    }

    pub(crate) fn close(self) -> Result<Vec<EncodedChunk>> {
        let chunks = self.chunks().map_err(|e| failed(&e))?;
        chunks
            .into_iter()
            .collect::<Option<_>>()
            .ok_or_else(|| Error::fault("a chunk that is not in its file"))
    }

    /// Closes the leaves and returns their chunks; `None` for a chunk whose byte range is outside the
    /// temporary file.
    fn chunks(mut self) -> std::result::Result<Vec<Option<EncodedChunk>>, ParquetError> {
        let mut indexes = Vec::with_capacity(self.leaves.len());
        let mut group = self.file.next_row_group()?;
        for leaf in self.leaves {
            let mut chunk = leaf.close()?;
            let close = chunk.close_mut();
            indexes.push((close.column_index.clone(), close.offset_index.clone()));
            chunk.append_to_row_group(&mut group)?;
        }
        let metadata = group.close()?;
        self.file.flush()?;
        let bytes = self.file.inner();
        let chunks = metadata.columns().iter().zip(indexes).map(|(chunk, (columns, offsets))| {
            let (start, length) = chunk.byte_range();
            let mut body = StoredPages::default();
            body.append(bytes.get(usize::try_from(start).ok()?..)?.get(..usize::try_from(length).ok()?)?)
                .ok()?;
            let metadata = moved(chunk.clone(), -(start as i64)).ok()?;
            // The encoder counts them from its dictionary page or its first data page, whichever is later, so
            // they are recomputed.
            let offsets = offsets.map(|mut offsets| {
                let mut at = metadata.data_page_offset();
                for page in &mut offsets.page_locations {
                    page.offset = at;
                    at += i64::from(page.compressed_page_size);
                }
                offsets
            });
            Some(EncodedChunk { head: Vec::new(), body, metadata, columns, offsets })
        });
        Ok(chunks.collect())
    }
}

/// Shifts the offsets in the metadata of a chunk by a number of bytes.
pub(crate) fn moved(
    chunk: ColumnChunkMetaData,
    by: i64,
) -> std::result::Result<ColumnChunkMetaData, ParquetError> {
    let (data, dictionary) = (chunk.data_page_offset(), chunk.dictionary_page_offset());
    let chunk = chunk.into_builder().set_data_page_offset(data + by);
    chunk.set_dictionary_page_offset(dictionary.map(|offset| offset + by)).build()
}
