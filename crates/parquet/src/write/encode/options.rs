//! Options of encoding columns.

use super::pages::PageCodec;
use parquet::file::properties::WriterPropertiesPtr;

/// Options of encoding columns.
#[derive(Clone, Debug)]
pub(crate) struct EncoderOptions {
    /// Properties for the `parquet` crate.
    pub(crate) properties: WriterPropertiesPtr,
    /// Codec of pages; `None` for codecs that only the `parquet` crate supports.
    pub(crate) codec: Option<PageCodec>,
    pub(crate) dictionary: bool,
}

impl EncoderOptions {
    /// Whether flat columns are encoded by this crate, which requires a little-endian machine.
    pub(crate) const fn is_flat(&self) -> bool {
        self.codec.is_some() && cfg!(target_endian = "little")
    }
}
