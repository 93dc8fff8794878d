//! Lookup of the streamer info of an object: that of a user, of a class with a custom streamer, of the file,
//! or a built-in one.

use std::sync::Arc;

use forthwith_plan::Result;

use super::kind::Native;
use super::native::native;
use super::own::{own, own_versions, stored};
use crate::streamer::{StreamerInfo, Streamers, builtin, builtin_versions, registered};

/// Returns the streamer info of a class in a version, or with a checksum. Returns `None` if there is none.
///
/// # Errors
/// Returns an error if a streamer info cannot be parsed.
pub fn describe(
    streamers: &Streamers,
    class: &str,
    version: i32,
    checksum: Option<u32>,
) -> Result<Option<Arc<StreamerInfo>>> {
    // Compares the name first, as most classes have neither.
    if matches!(native(class), Native::Own | Native::Bare)
        && registered(class).is_none()
        && let Some(info) = own(streamers, class, version)?
    {
        return Ok(Some(info));
    }
    if let Some(info) = streamers.describe(class, version, checksum)? {
        return Ok(Some(info));
    }
    // The checksum identifies a class with another name, such as a typedef or a nested name.
    let renamed = checksum.map(|checksum| streamers.by_checksum_alone(checksum)).transpose()?.flatten();
    // A class without a version of its own counts as version 1.
    Ok(renamed.or_else(|| builtin(class, if checksum.is_some() { 1 } else { version })))
}

/// Returns the streamer infos of all versions of a class, except those of a user: of its custom streamer,
/// else of the file, else built-in ones. An info of `ANY_VERSION` is the only one.
///
/// # Errors
/// Returns an error if a streamer info cannot be parsed.
pub fn versions(streamers: &Streamers, class: &str) -> Result<Vec<Arc<StreamerInfo>>> {
    let known = streamers.versions(class)?;
    let latest = known.iter().map(|info| info.version).max().unwrap_or(0);
    let own = own_versions(class, latest).into_iter().map(|version| own(streamers, class, version));
    let own: Vec<_> = own.filter_map(Result::transpose).collect::<Result<_>>()?;
    Ok(match (own.is_empty(), known.is_empty()) {
        (false, _) => own,
        (true, false) => known,
        (true, true) => builtin_versions(class),
    })
}

/// Returns whether a class has streamer info or a custom streamer that is supported.
#[must_use]
pub fn is_described(streamers: &Streamers, class: &str) -> bool {
    streamers.describes(class) || stored(class).is_some() || !builtin_versions(class).is_empty()
}
