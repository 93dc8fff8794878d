//! Entries of a histogram that wait in its buffer (`fBuffer`): C++ ROOT puts them into bins, and perhaps
//! finds the range of its axes, when bins are asked for. The Python package does that; the command says that
//! they are there.

use crate::human;
use forthwith::root::Object;

/// A note about entries that are in no bin yet.
pub(super) fn note(histogram: Object<'_>) -> Option<String> {
    let entries = waiting(histogram.array("fBuffer")?.floats().next()?);
    let counted = human::counted(entries, "entry waits", "entries wait");
    (entries > 0)
        .then(|| format!("{counted} in its buffer, in no bin here; the Python package puts them into bins"))
}

/// The entries that wait, by the first number of a buffer. A number below zero says that they are in bins
/// already.
fn waiting(first: f64) -> u64 {
    // NaN and numbers that are too large become the nearest integer there is.
    first as u64
}

#[cfg(test)]
mod tests {
    use super::waiting;

    #[test]
    fn what_is_in_bins_does_not_wait() {
        for (first, entries) in [(64.0, 64), (0.0, 0), (-64.0, 0), (f64::NAN, 0), (1e300, u64::MAX)] {
            assert_eq!(waiting(first), entries, "{first}");
        }
    }
}
