//! The formats there are, by the id plans carry.

use forthwith_plan::{BlockFormat, Error, ErrorKind, Result};
use forthwith_root::TreeFormat;

static ROOT_TREE: TreeFormat = TreeFormat;

/// The format that understands a plan's blocks.
///
/// # Errors
/// [`ErrorKind::Unsupported`] naming the id.
pub fn format(id: &str) -> Result<&'static dyn BlockFormat> {
    let known: [&'static dyn BlockFormat; 1] = [&ROOT_TREE];
    known
        .into_iter()
        .find(|f| f.id() == id)
        .ok_or_else(|| Error::new(ErrorKind::Unsupported { what: format!("format {id:?}") }))
}
