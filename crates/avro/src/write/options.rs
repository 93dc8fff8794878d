//! How container files are written.

use crate::container::BlockCodec;
use forthwith_io::levels;
use forthwith_plan::{Error, Result, WriteOptions};
use std::hash::{BuildHasher, Hasher, RandomState};

/// The size of a block before it is compressed, unless an option says another.
pub const DEFAULT_BLOCK: usize = 64 << 10;

/// How to write a container file.
#[derive(Clone, Debug, Default)]
pub struct Writing {
    /// The options that all formats know.
    pub options: WriteOptions,
    /// The schema, as JSON, instead of one made of the columns' types.
    pub schema: Option<String>,
    /// Bytes that make a block full, before they are compressed: 0 stands for [`DEFAULT_BLOCK`].
    pub block_bytes: usize,
    /// The sync marker, instead of a random one: for files that have to be the same every time.
    pub marker: Option<[u8; 16]>,
    /// Blocks without a header, to be put behind those of a file that has this schema, codec and marker.
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

/// Sixteen bytes that stand nowhere in the data.
pub(super) fn random_marker() -> [u8; 16] {
    let mut marker = [0; 16];
    for half in marker.as_chunks_mut::<8>().0 {
        // Every state has keys of its own.
        *half = RandomState::new().build_hasher().finish().to_ne_bytes();
    }
    marker
}
