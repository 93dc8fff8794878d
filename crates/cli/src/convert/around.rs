//! Reading around damage: what can be read, and how much was lost.

use crate::{console::Console, human};
use forthwith::{
    Gap, ProgressCallback, Selected, Selection, Table, io,
    plan::{Error, ErrorKind, Result},
};
use std::ops::Range;

/// Entries of one block that are left out one by one; if more of them are damaged, so is the block.
const MOST: u32 = 32;

/// What was lost of a file.
#[derive(Debug, Default)]
pub(super) struct Lost {
    entries: u64,
    pieces: u64,
    /// Parts of which not even the number of entries is known.
    gaps: u64,
    first: Option<String>,
}

impl Lost {
    fn entries(&mut self, entries: u64, error: &Error) {
        self.entries += entries;
        self.pieces += 1;
        self.first.get_or_insert_with(|| error.to_string());
    }

    /// One line for all of it.
    pub(super) fn tell(&self, uri: &str, console: &mut Console<'_>) {
        let Some(first) = &self.first else { return };
        let mut parts = Vec::new();
        if self.pieces > 0 {
            let entries = human::counted(self.entries, "entry", "entries");
            let pieces = human::counted(self.pieces, "piece", "pieces");
            parts.push(format!("{entries} in {pieces}"));
        }
        if self.gaps > 0 {
            let gaps = human::counted(self.gaps, "block", "blocks");
            parts.push(format!("{gaps} with an unknown number of entries"));
        }
        let first = first.lines().next().unwrap_or_default();
        let what =
            format!("could not be read and left out of {uri}: {}; the first: {first}", parts.join(", "));
        console.note(&human::clean(&what));
    }
}

/// The table around parts in which nothing can be told apart, if it has such, and what was lost with them.
pub(super) fn sound(table: Table) -> Result<(Table, Lost)> {
    let mut lost = Lost::default();
    let error = match table.entries() {
        Err(error) if is_damage(&error) => error,
        _ => return Ok((table, lost)),
    };
    let Some((around, gaps)) = table.around_damage()? else { return Err(error) };
    lost.gaps = gaps.len() as u64;
    lost.first = gaps.into_iter().next().map(|Gap { what, .. }| what);
    Ok((around, lost))
}

/// Reads a range of entries of a selection in as many pieces as it takes, in their order.
///
/// # Errors
/// Anything but damage of the table's own file.
pub(super) fn read(
    selection: &Selection,
    range: Range<u64>,
    threads: Option<usize>,
    tick: &mut ProgressCallback<'_>,
    lost: &mut Lost,
) -> Result<Vec<Selected>> {
    let mut pieces = Vec::new();
    // What is left of a range, and how many entries of its block were left out one by one.
    let mut waiting = vec![(range, 0)];
    while let Some((range, alone)) = waiting.pop() {
        let error = match selection.read(range.clone(), threads, Some(&mut *tick)) {
            Ok(piece) => {
                pieces.push(piece);
                continue;
            }
            Err(error) if is_damage(&error) && is_of(&error, selection.table()) => error,
            Err(error) => return Err(error),
        };
        if let Some(middle) = middle(selection, &range) {
            waiting.extend([(middle..range.end, 0), (range.start..middle, 0)]);
            continue;
        }
        match error.place.entry.filter(|entry| range.contains(entry) && alone < MOST) {
            Some(entry) => {
                lost.entries(1, &error);
                let beside = [(entry + 1..range.end, alone + 1), (range.start..entry, alone + 1)];
                waiting.extend(beside.into_iter().filter(|(range, _)| !range.is_empty()));
            }
            None => lost.entries(range.end - range.start, &error),
        }
    }
    Ok(pieces)
}

/// The entry at which the middle one of the blocks begins that are read together.
fn middle(selection: &Selection, range: &Range<u64>) -> Option<u64> {
    // What says where blocks begin may be damaged itself.
    let mut begins = selection.table().boundaries(selection.fields(), range.clone()).ok()?;
    begins.retain(|entry| range.start < *entry && *entry < range.end);
    begins.get(begins.len() / 2).copied()
}

/// Whether it is of the file and of no other that is read beside it.
fn is_of(error: &Error, table: &Table) -> bool {
    error.place.uri.as_deref().is_none_or(|uri| uri == table.file().uri())
}

/// Whether bytes contradict themselves or their format, or a single entry is of a kind that is not supported.
fn is_damage(error: &Error) -> bool {
    match &error.kind {
        ErrorKind::Source(source) => matches!(source.kind, io::ErrorKind::BeyondEnd { .. }),
        ErrorKind::Unsupported { .. } => error.place.entry.is_some(),
        ErrorKind::NotFound { .. }
        | ErrorKind::Invalid { .. }
        | ErrorKind::OutOfMemory { .. }
        | ErrorKind::Codec(io::CodecError::OverLimit { .. })
        | ErrorKind::Cancelled
        | ErrorKind::Compile(_) => false,
        _ => true,
    }
}
