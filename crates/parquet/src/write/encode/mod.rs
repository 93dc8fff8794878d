//! Encoding of column chunks: flat columns by this crate, all others by the `parquet` crate.

mod bounds;
mod chunk;
mod column;
mod dictionary;
mod flags;
mod header;
mod hybrid;
mod nested;
mod number;
mod numbers;
mod options;
mod pages;
mod rows;
mod stored;
mod texts;

pub(crate) use chunk::EncodedChunk;
pub(crate) use column::ColumnEncoder;
pub(crate) use nested::moved;
pub(crate) use options::EncoderOptions;
pub(crate) use pages::PageCodec;
