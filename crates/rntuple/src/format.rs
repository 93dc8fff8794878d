//! Blocks: pages.

use crate::{coding::Coding, decode, marks};
use forthwith_plan::{Block, BlockFormat, Columns, Decoder, Group, Result, Scratch, Task};
use std::sync::Arc;

/// The [`BlockFormat`] of pages.
#[derive(Clone, Copy, Debug, Default)]
pub struct NtupleFormat;

impl NtupleFormat {
    /// Its id.
    pub const ID: &'static str = "rntuple";
}

/// What a worker keeps warm: the description of a column that it met last.
#[derive(Default)]
struct Warm {
    last: Option<(Arc<str>, Arc<Coding>)>,
}

impl Warm {
    fn coding(&mut self, text: &Arc<str>) -> Option<Arc<Coding>> {
        if let Some((known, coding)) = &self.last
            && (Arc::ptr_eq(known, text) || known == text)
        {
            return Some(Arc::clone(coding));
        }
        let coding: Coding = serde_json::from_str(text).ok()?;
        let coding = Arc::new(Some(coding).filter(Coding::is_sound)?);
        self.last = Some((Arc::clone(text), Arc::clone(&coding)));
        Some(coding)
    }
}

impl BlockFormat for NtupleFormat {
    fn id(&self) -> &'static str {
        Self::ID
    }

    fn unit(&self) -> &'static str {
        "cluster"
    }

    fn unframe<'a>(&self, _: &Group, task: &Task, stored: &'a [u8], _: &'a mut Scratch) -> Result<Block<'a>> {
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
        let coding = match &group.decoder {
            Decoder::Format(text) => scratch.own::<Warm>().0.coding(text),
            _ => None,
        };
        let coding = coding.filter(|coding| coding.columns() == group.columns.len());
        let coding = coding.ok_or_else(marks::foreign)?;
        decode::page(&coding, task, stored, scratch, columns)
    }
}
