//! Notes about buffered entries (`fBuffer`) missing from a picture because ROOT would fill them by an unknown
//! rule.

use crate::human;
use forthwith::root::{self, Object};

/// Returns a note about entries missing from the bins, with the reason.
pub(super) fn note(object: Object<'_>) -> Option<String> {
    let histogram = root::histogram(object).ok()?;
    let entries = histogram.buffer.as_ref().map_or(0, |buffer| buffer.len()) as u64;
    let reason = histogram.emptied().err()?;
    let counted = human::counted(entries, "buffered entry is", "buffered entries are");
    Some(human::clean(&format!("{counted} not in the bins: {reason}")))
}
