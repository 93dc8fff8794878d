//! Compression codecs of pages by their Parquet numbers.

use forthwith_io::{Codec, Decompressor};
use forthwith_plan::{Error, Result};

/// Number, name and codec of each supported compression.
const CODECS: [(u32, &str, Option<Codec>); 7] = [
    (0, "none", None),
    (1, "snappy", Some(Codec::RawSnappy)),
    (2, "gzip", Some(Codec::Gzip)),
    (4, "brotli", Some(Codec::Brotli)),
    (5, "lz4", Some(Codec::HadoopLz4)),
    (6, "zstd", Some(Codec::Zstd)),
    (7, "lz4_raw", Some(Codec::Lz4)),
];

/// Returns the name of a codec; the number for an unknown one.
pub(crate) fn name(number: i64) -> String {
    known_name(number).map_or_else(|| format!("codec {number}"), ToOwned::to_owned)
}

/// Returns the name of a supported codec.
pub(crate) fn known_name(number: i64) -> Option<&'static str> {
    CODECS.iter().find(|(known, ..)| i64::from(*known) == number).map(|(_, name, _)| *name)
}

/// Decompresses a block into `out`, whose length has to be the decompressed length.
pub(crate) fn decompress(
    number: u32,
    stored: &[u8],
    out: &mut [u8],
    codecs: &mut Decompressor,
) -> Result<()> {
    let codec = CODECS.iter().find(|(known, ..)| *known == number).and_then(|(.., codec)| *codec);
    let unknown = || Error::unsupported(format!("pages compressed by codec number {number}"));
    codecs.decompress(codec.ok_or_else(unknown)?, stored, out)?;
    Ok(())
}
