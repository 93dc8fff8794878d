//! The encoder of a column: one of this crate, or that of the `parquet` crate.

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

/// The encoder of a column of one row group, and of all of its leaves.
pub(crate) enum ColumnEncoder {
    Flat(Box<dyn ChunkEncoder>),
    Nested(Box<NestedEncoder>),
}

impl ColumnEncoder {
    /// An encoder of a column whose first leaf this is; its pages go to the memory that is given.
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

    /// Copies values of arrays that it refers to, before others may change them.
    pub(crate) fn detach(&mut self) -> Result<()> {
        match self {
            Self::Flat(encoder) => encoder.detach(),
            Self::Nested(_) => Ok(()),
        }
    }

    /// The chunks of its leaves.
    pub(crate) fn close(self, codecs: &mut Compressor) -> Result<Vec<EncodedChunk>> {
        match self {
            Self::Flat(encoder) => Ok(vec![encoder.close(codecs)?]),
            Self::Nested(encoder) => encoder.close(),
        }
    }
}

/// The encoder of a column of plain values.
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
