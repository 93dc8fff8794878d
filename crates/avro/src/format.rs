//! Block format of container files.

use crate::container::{BlockCodec, MARKER, MOST_WEIGHTLESS, Reader, payload_limit};
use forthwith_plan::{Block, BlockFormat, Error, ErrorKind, Framing, Group, Piece, Result, Scratch, Task};

/// [`BlockFormat`] of container files with one codec.
///
/// The bytes of a task begin with the sync marker before its first block and end with the marker after its
/// last one: the first marker is compared with the others. Consecutive blocks may be one task, since writers
/// make them small.
#[derive(Clone, Copy, Debug)]
pub struct AvroFormat(BlockCodec, &'static str);

impl AvroFormat {
    /// Formats of all codecs.
    pub const ALL: [Self; BlockCodec::ALL.len()] = {
        let mut all = [Self(BlockCodec::Null, ""); BlockCodec::ALL.len()];
        let mut at = 0;
        while at < all.len() {
            let (codec, _, id) = BlockCodec::ALL[at];
            all[at] = Self(codec, id);
            at += 1;
        }
        all
    };

    /// Returns the format of a codec.
    #[must_use]
    pub fn of(codec: BlockCodec) -> Self {
        Self::ALL.into_iter().find(|format| format.0 == codec).unwrap_or(Self::ALL[0])
    }
}

impl BlockFormat for AvroFormat {
    fn id(&self) -> &'static str {
        self.1
    }

    fn unit(&self) -> &'static str {
        "block"
    }

    fn unframe<'a>(
        &self,
        _group: &Group,
        task: &Task,
        stored: &'a [u8],
        scratch: &'a mut Scratch,
    ) -> Result<Block<'a>> {
        let mut reader = Reader { bytes: stored, at: 0 };
        let marker = reader.take(MARKER as usize, "the sync marker before the block")?;
        let (memory, decompressor) = scratch.growing();
        let (mut entries, mut filled, mut number) = (0u64, 0usize, task.block);
        while reader.at < stored.len() {
            let one = Self::one(&mut reader, marker).map_err(|e| e.in_block(number))?;
            entries = entries.saturating_add(one.entries);
            let limit = usize::try_from(payload_limit(one.bytes.len() as u64)).unwrap_or(usize::MAX);
            filled += match self.0 {
                BlockCodec::Null => {
                    put(memory, filled, one.bytes).map_err(|e| e.in_block(number))?;
                    one.bytes.len()
                }
                BlockCodec::Compressed(codec) => decompressor
                    .append(codec, one.bytes, memory, filled, limit)
                    .map_err(|e| Error::new(e).in_block(number))?,
            };
            number += 1;
        }
        let payload = &memory[..filled];
        bounded(entries, payload.len())?;
        Ok(Block { payload, entries, bounds: &[], origin: 0 })
    }

    fn locate(&self, _: &Group, _: &Task, _: &[u8]) -> Framing {
        match self.0 {
            BlockCodec::Null => Framing::Pieces,
            BlockCodec::Compressed(_) => Framing::Whole,
        }
    }

    fn pieces(&self, _group: &Group, task: &Task, stored: &[u8]) -> Result<Vec<Piece>> {
        let mut reader = Reader { bytes: stored, at: 0 };
        let marker = reader.take(MARKER as usize, "the sync marker before the block")?;
        let mut pieces = Vec::new();
        let mut block = task.block;
        while reader.at < stored.len() {
            let one = Self::one(&mut reader, marker).map_err(|e| e.in_block(block))?;
            bounded(one.entries, one.bytes.len()).map_err(|e| e.in_block(block))?;
            let end = reader.at - MARKER as usize;
            pieces.push(Piece { bytes: end - one.bytes.len()..end, entries: one.entries, block });
            block += 1;
        }
        Ok(pieces)
    }
}

/// Checks that the number of entries is plausible for the number of bytes, or small enough.
fn bounded(entries: u64, bytes: usize) -> Result<()> {
    let most = (bytes as u64).max(MOST_WEIGHTLESS);
    if entries > most {
        return Err(Error::out_of_range(
            "number of entries of a block",
            i64::try_from(entries).unwrap_or(i64::MAX),
            most,
        ));
    }
    Ok(())
}

struct One<'a> {
    entries: u64,
    bytes: &'a [u8],
}

impl AvroFormat {
    /// Reads the next block and checks the sync marker after it.
    fn one<'a>(reader: &mut Reader<'a>, marker: &[u8]) -> Result<One<'a>> {
        let at = reader.at;
        let entries = reader.long("the number of entries of a block")?;
        let length = reader.long("the length of a block")?;
        let (Ok(entries), Ok(length)) = (u64::try_from(entries), usize::try_from(length)) else {
            return Err(
                Error::not_a("a block", format!("{entries} entries in {length} bytes")).at_byte(at as u64)
            );
        };
        let bytes = reader.take(length, "a block")?;
        if reader.take(MARKER as usize, "the sync marker")? != marker {
            let found = "another sync marker than before";
            return Err(Error::not_a("the end of a block", found).at_byte(reader.at as u64));
        }
        Ok(One { entries, bytes })
    }
}

fn put(memory: &mut Vec<u8>, at: usize, bytes: &[u8]) -> Result<()> {
    let end = at + bytes.len();
    if memory.len() < end {
        let refused = |_| ErrorKind::OutOfMemory { what: "scratch for a block", bytes: end as u64 };
        memory.try_reserve(end - memory.len()).map_err(refused)?;
        memory.resize(end, 0);
    }
    memory[at..end].copy_from_slice(bytes);
    Ok(())
}
