//! Blocks: column chunks.

use crate::{
    decode::{self, Warm},
    leaf::Leaf,
};
use forthwith_plan::{Block, BlockFormat, Columns, Decoder, Error, ErrorKind, Group, Result, Scratch, Task};

/// The column chunk as the note of a task has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    /// The number of the codec.
    pub(crate) codec: u32,
    /// Values by the footer's account, nulls and empty lists included.
    pub(crate) values: u64,
}

impl Note {
    const CODEC_BITS: u32 = 16;

    /// The note. Codecs of greater numbers and counts of more than 2⁴⁸ are none.
    pub(crate) fn packed(codec: i64, values: i64) -> Result<u64> {
        let limit = i64::MAX >> (Self::CODEC_BITS - 1);
        let what = "the number of values of a column chunk";
        let refused = || Error::new(ErrorKind::OutOfRange { what, found: values, limit });
        let values = u64::try_from(values).ok().filter(|_| values <= limit).ok_or_else(refused)?;
        Ok(values << Self::CODEC_BITS | u64::from(u16::try_from(codec).unwrap_or(u16::MAX)))
    }

    pub(crate) const fn of(packed: u64) -> Self {
        Self { codec: packed as u32 & 0xffff, values: packed >> Self::CODEC_BITS }
    }
}

/// The [`BlockFormat`] of column chunks.
#[derive(Clone, Copy, Debug, Default)]
pub struct ParquetFormat;

impl ParquetFormat {
    /// Its id.
    pub const ID: &'static str = "parquet";
}

impl BlockFormat for ParquetFormat {
    fn id(&self) -> &'static str {
        Self::ID
    }

    fn unit(&self) -> &'static str {
        "row group"
    }

    fn unframe<'a>(&self, _: &Group, task: &Task, stored: &'a [u8], _: &'a mut Scratch) -> Result<Block<'a>> {
        // As it is stored: pages are not one piece of memory.
        Ok(Block { payload: stored, entries: task.entries.end - task.entries.start, bounds: &[], origin: 0 })
    }

    fn decode(
        &self,
        group: &Group,
        task: &Task,
        stored: &[u8],
        scratch: &mut Scratch,
        columns: &mut dyn Columns,
    ) -> Result<()> {
        let leaf = match &group.decoder {
            Decoder::Format(text) => serde_json::from_str::<Leaf>(text).ok().filter(Leaf::is_sound),
            _ => None,
        };
        let leaf = leaf.filter(|leaf| leaf.columns() == group.columns.len());
        let invalid = || Error::new(ErrorKind::Invalid { what: "a plan that is not for Parquet".into() });
        let leaf = leaf.ok_or_else(invalid)?;
        let (warm, codecs) = scratch.own::<Warm>();
        decode::decode(&leaf, Note::of(task.note), task, stored, warm, codecs, columns)
    }
}
