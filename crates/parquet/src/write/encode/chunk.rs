//! Chunks of a row group, and what makes them.

use super::stored::StoredPages;
use arrow_array::ArrayRef;
use forthwith_io::Compressor;
use forthwith_plan::Result;
use parquet::file::{
    metadata::ColumnChunkMetaData,
    page_index::{column_index::ColumnIndexMetaData, offset_index::OffsetIndexMetaData},
};

/// Encodes one leaf of a row group.
pub(crate) trait ChunkEncoder: Send {
    /// Appends rows.
    fn push(&mut self, array: &ArrayRef, codecs: &mut Compressor) -> Result<()>;

    /// Bytes of memory that it takes.
    fn memory(&self) -> usize;

    /// Copies values of arrays that it refers to.
    fn detach(&mut self) -> Result<()>;

    /// Encodes the pending rows.
    fn close(self: Box<Self>, codecs: &mut Compressor) -> Result<EncodedChunk>;
}

/// A chunk as the file has it. Its offsets count from its first byte.
pub(crate) struct EncodedChunk {
    /// The dictionary page.
    pub(crate) head: Vec<u8>,
    pub(crate) body: StoredPages,
    pub(crate) metadata: ColumnChunkMetaData,
    pub(crate) columns: Option<ColumnIndexMetaData>,
    pub(crate) offsets: Option<OffsetIndexMetaData>,
}
