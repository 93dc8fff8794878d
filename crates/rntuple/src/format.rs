//! Decoding of blocks, which are pages.

use crate::{
    coding::{Coding, Kept, Kind},
    decode, page_note, streamed,
};
use forthwith_columns::Encoding;
use forthwith_plan::{Block, BlockFormat, Columns, Decoder, Group, Result, Scratch, Stored, Task};
use std::{ops::Range, sync::Arc};

/// The [`BlockFormat`] of pages.
#[derive(Clone, Copy, Debug, Default)]
pub struct NtupleFormat;

impl NtupleFormat {
    /// Id of the format in plans.
    pub const ID: &'static str = "rntuple";
}

/// Cache of a worker: the column description that it decoded last.
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

/// Returns the column description of a group.
fn coding(group: &Group, scratch: &mut Scratch) -> Result<Arc<Coding>> {
    let coding = match &group.decoder {
        Decoder::Format(text) => scratch.own::<Warm>().0.coding(text),
        _ => None,
    };
    let coding = coding.filter(|coding| coding.columns() == group.columns.len());
    coding.ok_or_else(page_note::foreign)
}

impl BlockFormat for NtupleFormat {
    fn id(&self) -> &'static str {
        Self::ID
    }

    fn unit(&self) -> &'static str {
        "cluster"
    }

    fn unframe<'a>(
        &self,
        group: &Group,
        task: &Task,
        stored: &'a [u8],
        scratch: &'a mut Scratch,
    ) -> Result<Block<'a>> {
        let entries = task.entries.end - task.entries.start;
        if page_note::Note::of(task.note).streamed {
            let (bounds, payload) = streamed::split(stored, entries)?;
            return Ok(Block { payload, entries, bounds, origin: 0 });
        }
        let coding = coding(group, scratch)?;
        let payload = decode::raw(&coding, task, stored, scratch)?;
        Ok(Block { payload, entries, bounds: &[], origin: 0 })
    }

    fn fills_same_columns(&self, first: &Group, other: &Group) -> bool {
        let kept = |group: &Group| match &group.decoder {
            Decoder::Format(text) => serde_json::from_str(text).ok().map(|coding: Coding| coding.kept),
            _ => None,
        };
        match (kept(first), kept(other)) {
            // Rows of alternatives count from the beginning of a plan.
            (Some(Kept::Tags(_)), _) => false,
            (first, other) => first.is_some() && first == other,
        }
    }

    fn values(&self, group: &Group, task: &Task) -> Option<Encoding> {
        let Decoder::Format(text) = &group.decoder else { return None };
        let coding: Coding = serde_json::from_str(text).ok()?;
        match coding.stored.get(page_note::Note::of(task.note).representation)?.kind {
            Kind::Plain(dtype) => Some(Encoding::Little(dtype)),
            _ => None,
        }
    }

    fn continues(&self, group: &Group, task: &Task, next: &Task) -> bool {
        let Decoder::Format(text) = &group.decoder else { return false };
        let Ok(coding) = serde_json::from_str::<Coding>(text) else { return false };
        // A verified checksum is that of a single page.
        let [note, other] = [task.note, next.note].map(page_note::Note::of);
        let is_plain = !note.verified && !note.zeros && !note.streamed && note == other;
        let Some(how) = coding.stored.get(note.representation).filter(|_| is_plain) else { return false };
        let (Stored::Range(range), Stored::Range(behind)) = (&task.stored, &next.stored) else {
            return false;
        };
        let is_whole = |task: &Task, range: &Range<u64>| {
            let elements = task.entries.end.saturating_sub(task.entries.start);
            how.page_bytes(elements) == range.end.saturating_sub(range.start)
        };
        let is_number = matches!(how.kind, Kind::Plain(_) | Kind::Byte);
        is_number
            && range.end == behind.start
            && task.entries.end == next.entries.start
            && is_whole(task, range)
            && is_whole(next, behind)
    }

    fn decode(
        &self,
        group: &Group,
        task: &Task,
        stored: &[u8],
        scratch: &mut Scratch,
        columns: &mut dyn Columns,
    ) -> Result<()> {
        let coding = coding(group, scratch)?;
        decode::page(&coding, task, stored, scratch, columns)
    }
}
