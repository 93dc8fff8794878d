//! Access to single blocks without decoding.

use crate::{fetch, worker::Worker};
use bytes::Bytes;
use forthwith_columns::Encoding;
use forthwith_io::Source;
use forthwith_plan::{BlockFormat, Error, Plan, Result, Task};
use std::{ops::Range, sync::Arc};

/// A block that is decompressed but not decoded.
#[derive(Clone, Debug, PartialEq)]
pub struct RawBlock {
    /// The entries of the block.
    pub entries: Range<u64>,
    /// The bytes of the entries. They are a view of the source if the block is uncompressed and the source
    /// lends views; if the file is truncated or written later, the view changes, and lost bytes read as
    /// zeros.
    pub payload: Bytes,
    /// The `entries + 1` byte offsets of the entries in the payload; empty if all entries have one size.
    pub bounds: Vec<u32>,
    /// Encoding of the values, if the block consists of values of one type.
    pub values: Option<Encoding>,
    /// Whether `payload` is a view of the source rather than a copy.
    pub view: bool,
}

pub(crate) fn raw(
    worker: &mut Worker,
    plan: &Plan,
    task: usize,
    source: &Arc<dyn Source>,
    format: &dyn BlockFormat,
) -> Result<RawBlock> {
    let invalid = || Error::invalid(format!("the plan has no task {task}"));
    let task = plan.tasks.get(task).ok_or_else(invalid)?;
    let task = &Task { wanted: task.entries.clone(), ..task.clone() };
    let group = plan.groups.get(task.group as usize).ok_or_else(invalid)?;
    if group.joins || plan.groups.get(task.group as usize + 1).is_some_and(|next| next.joins) {
        let what = "raw blocks of a field that is stored in several columns";
        return Err(Error::unsupported(what).in_object(&group.path));
    }
    let mut hold = Bytes::new();
    let Worker { scratch, stored, .. } = worker;
    let stored = fetch::alone(source.as_ref(), task, stored, &mut hold)?;
    let at = stored.as_ptr().addr();
    let block = format
        .unframe(group, task, stored, scratch)
        .map_err(|e| e.in_object(&group.path).in_block(task.block))?;
    let bounds = block.bounds.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    // An uncompressed payload is a part of the stored bytes, and a view of the source if they are.
    let offset = block.payload.as_ptr().addr().wrapping_sub(at);
    let length = block.payload.len();
    let view = source.lends_views() && offset <= stored.len() && length <= stored.len() - offset;
    let copy = if view { Bytes::new() } else { Bytes::copy_from_slice(block.payload) };
    let payload = if view { hold.slice(offset..offset + length) } else { copy };
    let (entries, values) = (plan.entries_of(task, &task.entries), format.values(group, task));
    Ok(RawBlock { entries, payload, bounds, values, view })
}
