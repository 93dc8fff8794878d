//! Cutting a range of entries into steps.

use forthwith_plan::{Dataset, Result};
use std::ops::Range;

/// How large a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// This many entries; the last step may be shorter.
    Entries(u64),
    /// About this many bytes of decompressed data, cut where blocks end when they are small enough.
    Bytes(u64),
}

pub(crate) fn steps(
    dataset: &dyn Dataset,
    fields: &[u32],
    entries: Range<u64>,
    step: Step,
) -> Result<Vec<Range<u64>>> {
    let bytes = match step {
        Step::Entries(n) => return Ok(even(entries, n)),
        Step::Bytes(bytes) => bytes.max(1),
    };
    let mut density = 0.0;
    for &field in fields {
        let d = dataset.describe(field)?;
        density += d.payload_bytes.max(d.stored_bytes) as f64 / d.entries.max(1) as f64;
    }
    let most = ((bytes as f64 / density.max(1e-9)) as u64).max(1);
    let mut cuts = dataset.boundaries(fields, entries.clone())?;
    cuts.retain(|cut| entries.start < *cut && *cut < entries.end);
    cuts.push(entries.end);
    let mut out = Vec::new();
    let mut start = entries.start;
    let mut best = start;
    for cut in cuts {
        if cut - start > most && best > start {
            out.push(start..best);
            start = best;
        }
        // A block larger than a step is cut inside.
        while cut - start > most {
            out.push(start..start + most);
            start += most;
        }
        best = cut;
    }
    if start < entries.end {
        out.push(start..entries.end);
    }
    Ok(out)
}

fn even(entries: Range<u64>, n: u64) -> Vec<Range<u64>> {
    let n = n.max(1);
    let mut out = Vec::new();
    let mut start = entries.start;
    while start < entries.end {
        let end = start.saturating_add(n).min(entries.end);
        out.push(start..end);
        start = end;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::even;

    #[test]
    fn the_last_step_is_short() {
        assert_eq!(even(3..10, 3), [3..6, 6..9, 9..10]);
        assert!(even(5..5, 3).is_empty());
        assert_eq!(even(0..2, 0).len(), 2);
    }
}
