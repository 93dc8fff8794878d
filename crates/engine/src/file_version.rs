//! Whether a file is still the one that its metadata are of.

use forthwith_io::Source;
use forthwith_plan::{Error, ErrorKind, Result};

/// What was read, if the source is still that of its metadata. If it is another one, that is why reading failed,
/// unless the source itself could not be read.
pub(crate) fn confirmed<T>(read: Result<T>, source: &dyn Source) -> Result<T> {
    match &read {
        Err(Error { kind: ErrorKind::Cancelled | ErrorKind::Source(_), .. }) => {}
        _ => source.confirm()?,
    }
    read
}
