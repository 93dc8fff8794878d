//! Stand-in for user-defined formats in builds without the crate `forthwith_builders`.

use super::Format;
use forthwith_plan::{BlockFormat, Result};

pub(super) static BLOCKS: [&dyn BlockFormat; 0] = [];

pub(super) const fn head() -> u64 {
    0
}

pub(super) fn missed(_: &str) -> String {
    String::new()
}

pub(super) fn by_name_and_head(_: &[u8], _: &str) -> Result<Option<&'static dyn Format>> {
    Ok(None)
}

pub(super) fn by_head(_: &[u8], _: &str) -> Result<Option<&'static dyn Format>> {
    Ok(None)
}

pub(super) fn by_name(_: &str) -> Option<&'static dyn Format> {
    None
}
