//! How columns are encoded.

use super::pages::PageCodec;
use parquet::file::properties::WriterPropertiesPtr;

/// How columns are encoded.
#[derive(Clone, Debug)]
pub(crate) struct EncoderOptions {
    /// For the `parquet` crate.
    pub(crate) properties: WriterPropertiesPtr,
    /// Nothing for codecs that the `parquet` crate has to run.
    pub(crate) codec: Option<PageCodec>,
    pub(crate) dictionary: bool,
}

impl EncoderOptions {
    /// Whether plain columns have encoders of their own. Their bytes are those of the machine, which must be the file's.
    pub(crate) const fn is_flat(&self) -> bool {
        self.codec.is_some() && cfg!(target_endian = "little")
    }
}
