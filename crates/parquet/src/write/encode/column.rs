//! Encoders of columns: those of this crate, and that of the `parquet` crate.

use super::{
    chunk::{ChunkEncoder, EncodedChunk},
    flags::FlagEncoder,
    nested::NestedEncoder,
    numbers,
    options::EncoderOptions,
    pages::Pages,
    texts::TextEncoder,
};
use arrow_array::ArrayRef;
use arrow_schema::{DataType, FieldRef};
use forthwith_io::Compressor;
use forthwith_plan::Result;
use parquet::schema::types::ColumnDescPtr;

/// Encoder of a column of one row group, with all of its leaves.
pub(crate) enum ColumnEncoder {
    Flat(Box<dyn ChunkEncoder>),
    Nested(Box<NestedEncoder>),
}

impl ColumnEncoder {
    /// Creates the encoder of a column, given its first leaf. `stored` is a buffer to reuse for the pages.
    pub(crate) fn new(
        field: &FieldRef,
        leaf: &ColumnDescPtr,
        options: &EncoderOptions,
        stored: Vec<u8>,
    ) -> Result<Self> {
        match flat(field.data_type(), leaf, options, stored) {
            Some(encoder) => Ok(Self::Flat(encoder)),
            None => Ok(Self::Nested(Box::new(NestedEncoder::new(field, options)?))),
        }
    }

    pub(crate) fn push(&mut self, array: &ArrayRef, codecs: &mut Compressor) -> Result<()> {
        match self {
            Self::Flat(encoder) => encoder.push(array, codecs),
            Self::Nested(encoder) => encoder.push(array),
        }
    }

    pub(crate) fn memory(&self) -> usize {
        match self {
            Self::Flat(encoder) => encoder.memory(),
            Self::Nested(encoder) => encoder.memory(),
        }
    }

    /// Copies values that the encoder references in arrays, so that these can be dropped.
    pub(crate) fn detach(&mut self) -> Result<()> {
        match self {
            Self::Flat(encoder) => encoder.detach(),
            Self::Nested(_) => Ok(()),
        }
    }

    /// Encodes pending rows, and returns the chunks of the leaves.
    pub(crate) fn close(self, codecs: &mut Compressor) -> Result<Vec<EncodedChunk>> {
        match self {
            Self::Flat(encoder) => Ok(vec![encoder.close(codecs)?]),
            Self::Nested(encoder) => encoder.close(),
        }
    }
}

/// Returns the encoder of a flat column; `None` for columns that the `parquet` crate encodes.
fn flat(
    data_type: &DataType,
    leaf: &ColumnDescPtr,
    options: &EncoderOptions,
    stored: Vec<u8>,
) -> Option<Box<dyn ChunkEncoder>> {
    if data_type.is_nested() || !options.is_flat() {
        return None;
    }
    let pages = Pages::new(leaf.clone(), options.codec?, stored);
    match data_type {
        DataType::Boolean => Some(Box::new(FlagEncoder::new(pages))),
        DataType::LargeUtf8 | DataType::LargeBinary => {
            Some(Box::new(TextEncoder::new(pages, options.dictionary)))
        }
        other => numbers::encoder(other, pages, options.dictionary),
    }
}
