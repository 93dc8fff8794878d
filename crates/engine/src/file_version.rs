//! Verification that a file still matches its metadata.

use forthwith_io::Source;
use forthwith_plan::{Error, ErrorKind, Result};

/// Returns `read` if the source still matches its metadata, and otherwise the error that it has changed.
/// Errors of the source itself and cancellation are returned unchanged.
pub(crate) fn confirmed<T>(read: Result<T>, source: &dyn Source) -> Result<T> {
    match &read {
        Err(Error { kind: ErrorKind::Cancelled | ErrorKind::Source(_), .. }) => {}
        _ => source.confirm()?,
    }
    read
}
