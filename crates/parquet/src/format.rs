//! The block format of column chunks.

use crate::{
    decode::{self, Note, Warm},
    leaf::Leaf,
};
use forthwith_columns::Form;
use forthwith_plan::{BlockFormat, Columns, Decoder, Error, Group, Result, Scratch, Task};

/// The [`BlockFormat`] of column chunks.
#[derive(Clone, Copy, Debug, Default)]
pub struct ParquetFormat;

impl ParquetFormat {
    /// Id of the format in plans.
    pub const ID: &'static str = "parquet";
}

impl BlockFormat for ParquetFormat {
    fn id(&self) -> &'static str {
        Self::ID
    }

    fn unit(&self) -> &'static str {
        "row group"
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
        let invalid = || Error::invalid("a plan that is not for Parquet");
        let leaf = leaf.ok_or_else(invalid)?;
        let (warm, codecs) = scratch.own::<Warm>();
        let has_text = group.form.nodes().any(|node| matches!(node, Form::String { binary: false, .. }));
        decode::decode((&leaf, has_text), Note::of(task.note), task, stored, warm, codecs, columns)
    }
}
