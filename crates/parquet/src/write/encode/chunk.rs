//! Encoded chunks of a row group, and their encoders.

use super::stored::StoredPages;
use arrow_array::ArrayRef;
use forthwith_io::Compressor;
use forthwith_plan::Result;
use parquet::file::{
    metadata::ColumnChunkMetaData,
    page_index::{column_index::ColumnIndexMetaData, offset_index::OffsetIndexMetaData},
};

/// Encoder of one column of a row group.
pub(crate) trait ChunkEncoder: Send {
    /// Appends rows.
    fn push(&mut self, array: &ArrayRef, codecs: &mut Compressor) -> Result<()>;

    /// Returns the memory it uses, in bytes.
    fn memory(&self) -> usize;

    /// Copies values that it references in arrays, so that these can be dropped.
    fn detach(&mut self) -> Result<()>;

    /// Encodes the pending rows, and returns the chunk.
    fn close(self: Box<Self>, codecs: &mut Compressor) -> Result<EncodedChunk>;
}

/// A chunk as stored in the file, with offsets relative to its first byte.
pub(crate) struct EncodedChunk {
    /// Bytes of the dictionary page; empty without one.
    pub(crate) head: Vec<u8>,
    pub(crate) body: StoredPages,
    pub(crate) metadata: ColumnChunkMetaData,
    pub(crate) columns: Option<ColumnIndexMetaData>,
    pub(crate) offsets: Option<OffsetIndexMetaData>,
}
