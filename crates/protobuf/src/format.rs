//! Block formats: consecutive messages of a file, and messages that are stored in the plan.

use crate::framing::{Framing, Walk};
use forthwith_plan::{Block, BlockFormat, Error, Group, Result, Scratch, Task};

/// [`BlockFormat`] of messages in a file.
///
/// The first two numbers of a task are its framing and the length of the path of fields to the messages. The
/// field numbers of the path follow, then the number of bytes left in each outer message at the first
/// message.
#[derive(Clone, Copy, Debug)]
pub struct ProtoFormat;

impl BlockFormat for ProtoFormat {
    fn id(&self) -> &'static str {
        "protobuf"
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
        let end = stored.len() as u64;
        let mut walk = walk(task, end)?;
        let entries = task.entries.end.saturating_sub(task.entries.start);
        // A message takes at least one byte, except a single empty message.
        if entries > end.max(1) {
            return Err(Error::mismatch("number of messages of a block", entries, end));
        }
        let bytes = usize::try_from(entries).ok().and_then(|n| n.checked_add(1)?.checked_mul(4));
        let bytes = bytes.ok_or_else(|| Error::invalid("a block with too many messages"))?;
        let (_, bounds, _) = scratch.rooms(0, bytes)?;
        let (slots, _) = bounds.as_chunks_mut::<4>();
        let mut input = stored;
        for slot in &mut slots[..entries as usize] {
            let Some(message) = walk.next(&mut input, end)? else {
                return Err(Error::fault("fewer messages than when the file was opened"));
            };
            *slot = bound(message.start)?;
        }
        slots[entries as usize] = bound(end)?;
        Ok(Block { payload: stored, entries, bounds: &*bounds, origin: 0 })
    }
}

fn bound(at: u64) -> Result<[u8; 4]> {
    let at = u32::try_from(at).map_err(|_| Error::invalid("a block of 4 GiB or more"))?;
    Ok(at.to_le_bytes())
}

/// Returns the numbers of a task.
pub(crate) fn numbers(framing: Framing, path: &[u32], state: &[i64]) -> Vec<i64> {
    let framing = match framing {
        Framing::Delimited => 0,
        Framing::Fixed32 { big: false } => 1,
        Framing::Fixed32 { big: true } => 2,
        Framing::Single => 3,
        Framing::HepMc3 => 4,
    };
    let path = path.iter().map(|number| i64::from(*number));
    [framing, path.len() as i64].into_iter().chain(path).chain(state.iter().copied()).collect()
}

fn walk(task: &Task, end: u64) -> Result<Walk> {
    let invalid = || Error::invalid("a plan without the framing of its messages");
    let [framing, length, rest @ ..] = task.numbers.as_slice() else { return Err(invalid()) };
    let framing = match framing {
        0 => Framing::Delimited,
        1 => Framing::Fixed32 { big: false },
        2 => Framing::Fixed32 { big: true },
        3 => Framing::Single,
        4 => Framing::HepMc3,
        _ => return Err(invalid()),
    };
    let split = usize::try_from(*length).ok().and_then(|length| rest.split_at_checked(length));
    let (path, state) = split.ok_or_else(invalid)?;
    let path = path.iter().map(|number| u32::try_from(*number).map_err(|_| invalid()));
    let path = path.collect::<Result<Vec<u32>>>()?;
    if state.len() > path.len() {
        return Err(invalid());
    }
    Walk::resumed(framing, path, end, state)
}

/// [`BlockFormat`] of single messages: their concatenated bytes, followed by their bounds as `u32` offsets.
#[derive(Clone, Copy, Debug)]
pub struct MessagesFormat;

impl BlockFormat for MessagesFormat {
    fn id(&self) -> &'static str {
        "protobuf.messages"
    }

    fn unit(&self) -> &'static str {
        "piece"
    }

    fn unframe<'a>(
        &self,
        _group: &Group,
        task: &Task,
        stored: &'a [u8],
        _scratch: &'a mut Scratch,
    ) -> Result<Block<'a>> {
        let entries = task.entries.end.saturating_sub(task.entries.start);
        let bytes = usize::try_from(entries).ok().and_then(|n| n.checked_add(1)?.checked_mul(4));
        let parts = bytes.and_then(|n| stored.split_at_checked(stored.len().checked_sub(n)?));
        let (payload, bounds) = parts.ok_or_else(|| Error::invalid("messages without their bounds"))?;
        let mut last = 0;
        for bound in bounds.as_chunks::<4>().0.iter().map(|bound| u32::from_le_bytes(*bound)) {
            if bound < last || bound as usize > payload.len() {
                return Err(Error::invalid("messages whose bounds fall"));
            }
            last = bound;
        }
        Ok(Block { payload, entries, bounds, origin: 0 })
    }
}
