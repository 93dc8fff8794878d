//! Options for writing container files.

use crate::container::BlockCodec;
use forthwith_io::levels;
use forthwith_plan::{Error, Result, WriteOptions};
use std::hash::{BuildHasher, Hasher, RandomState};

/// Default size of a block in bytes, before compression.
pub const DEFAULT_BLOCK: usize = 64 << 10;

/// Options for writing a container file.
#[derive(Clone, Debug, Default)]
pub struct Writing {
    /// Options that all formats have.
    pub options: WriteOptions,
    /// Schema as JSON; `None` to derive it from the types of the columns.
    pub schema: Option<String>,
    /// Size in bytes, before compression, at which a block is written; 0 for [`DEFAULT_BLOCK`].
    pub block_bytes: usize,
    /// Sync marker, for reproducible files; `None` for a random one.
    pub marker: Option<[u8; 16]>,
    /// Whether to write blocks without a header, to be appended to a file with this schema, codec and marker.
    pub append: bool,
}

impl Writing {
    pub(super) fn name(&self) -> &str {
        self.options.name.as_deref().unwrap_or("Record")
    }

    pub(super) fn full_block(&self) -> usize {
        if self.block_bytes == 0 { DEFAULT_BLOCK } else { self.block_bytes }
    }

    pub(super) fn block_entries(&self) -> u64 {
        self.options.block_entries.unwrap_or(u64::MAX).max(1)
    }

    pub(super) fn block_codec(&self) -> Result<BlockCodec> {
        let name = match self.options.codec.as_deref() {
            None | Some("none" | "uncompressed") => "null",
            Some("zstd") => "zstandard",
            Some("lzma") => "xz",
            Some("bz2") => "bzip2",
            Some(name) => name,
        };
        let known = BlockCodec::ALL.iter().find(|(_, known, _)| *known == name);
        known.map(|(codec, ..)| *codec).ok_or_else(|| {
            let names: Vec<_> = BlockCodec::ALL.iter().map(|(_, name, _)| *name).collect();
            let what = format!("unknown codec {name:?}: Avro has the codecs {}", names.join(", "));
            Error::invalid(what)
        })
    }

    pub(super) fn level(&self) -> Result<Option<i32>> {
        let (Some(level), codec) = (self.options.level, self.block_codec()?) else { return Ok(None) };
        let range = match codec {
            BlockCodec::Null => None,
            BlockCodec::Compressed(codec) => levels(codec),
        };
        match range {
            Some((least, _, most)) if (least..=most).contains(&level) => Ok(Some(level)),
            Some((least, _, most)) => {
                let what = format!("level {level} for {}, whose levels are {least} to {most}", codec.name());
                Err(Error::invalid(what))
            }
            None => {
                let what = format!("a level for {}, which has no levels", codec.name());
                Err(Error::invalid(what))
            }
        }
    }
}

/// Returns a random sync marker.
pub(super) fn random_marker() -> [u8; 16] {
    let mut marker = [0; 16];
    for half in marker.as_chunks_mut::<8>().0 {
        // Each `RandomState` has different keys.
        *half = RandomState::new().build_hasher().finish().to_ne_bytes();
    }
    marker
}
