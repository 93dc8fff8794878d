//! Reading around damage: what can be read, and how much was lost.

use crate::{console::Console, human};
use forthwith::{Gap, Loss, ProgressCallback, Selected, Selection, Table, plan::Result};
use std::ops::Range;

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
    fn add(&mut self, loss: &Loss) {
        self.entries += loss.entries.end - loss.entries.start;
        self.pieces += 1;
        self.first.get_or_insert_with(|| loss.error.to_string());
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
pub(super) fn sound(table: &Table) -> Result<(Table, Lost)> {
    let (around, gaps) = table.sound()?;
    let lost = Lost {
        gaps: gaps.len() as u64,
        first: gaps.into_iter().next().map(|Gap { what, .. }| what),
        ..Lost::default()
    };
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
    let (pieces, losses) = selection.read_around_damage(range, threads, tick)?;
    losses.iter().for_each(|loss| lost.add(loss));
    Ok(pieces)
}
