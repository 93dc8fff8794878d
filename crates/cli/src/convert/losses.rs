//! Entries that were omitted from a conversion, by file.

use crate::{console::Console, human};
use forthwith::ChainLoss;
use std::collections::BTreeMap;

/// Losses of files that were not reported yet.
#[derive(Debug, Default)]
pub(super) struct Losses {
    files: BTreeMap<usize, FileLosses>,
}

/// Losses of one file.
#[derive(Debug, Default)]
struct FileLosses {
    entries: u64,
    pieces: u64,
    /// Number of blocks with an unknown number of entries.
    gaps: u64,
    first: Option<String>,
}

impl Losses {
    pub(super) fn add(&mut self, losses: Vec<ChainLoss>) {
        for ChainLoss { file, loss } in losses {
            let of_file = self.files.entry(file).or_default();
            let count = loss.entries.end - loss.entries.start;
            of_file.entries += count;
            of_file.pieces += u64::from(count > 0);
            of_file.gaps += u64::from(count == 0 && loss.error.place.block.is_some());
            of_file.first.get_or_insert_with(|| loss.error.to_string());
        }
    }

    /// Reports the losses of all files before the given one, in a line each.
    pub(super) fn tell_before(&mut self, file: usize, uris: &[&str], console: &mut Console<'_>) {
        let later = self.files.split_off(&file);
        for (file, losses) in std::mem::replace(&mut self.files, later) {
            losses.tell(uris.get(file).copied().unwrap_or_default(), console);
        }
    }
}

impl FileLosses {
    fn tell(&self, uri: &str, console: &mut Console<'_>) {
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
        if parts.is_empty() {
            parts.push("all entries".to_owned());
        }
        let first = self.first.as_deref().unwrap_or_default();
        let first = first.lines().next().unwrap_or_default();
        let what =
            format!("could not be read and left out of {uri}: {}; the first: {first}", parts.join(", "));
        console.note(&human::clean(&what));
    }
}
