//! Which streamer info an object follows: that of a user, of code of the class's own, of the file, or one
//! that is built in.

use std::sync::Arc;

use forthwith_plan::Result;

use super::kind::Native;
use super::native::native;
use super::own::{own, own_versions, stored};
use crate::streamer::{StreamerInfo, Streamers, builtin, builtin_versions, registered};

/// How a class is stored in this version, or with this checksum. `None` if nothing says it.
///
/// # Errors
/// An info cannot be parsed.
pub fn describe(
    streamers: &Streamers,
    class: &str,
    version: i32,
    checksum: Option<u32>,
) -> Result<Option<Arc<StreamerInfo>>> {
    // By the name first: most classes are none of these.
    if matches!(native(class), Native::Own | Native::Bare)
        && registered(class).is_none()
        && let Some(info) = own(streamers, class, version)?
    {
        return Ok(Some(info));
    }
    if let Some(info) = streamers.describe(class, version, checksum)? {
        return Ok(Some(info));
    }
    // The checksum tells which class it is, where it goes by another name: a typedef, or a name within a
    // class.
    let renamed = checksum.map(|checksum| streamers.by_checksum_alone(checksum)).transpose()?.flatten();
    // A class without a version of its own counts as version 1.
    Ok(renamed.or_else(|| builtin(class, if checksum.is_some() { 1 } else { version })))
}

/// How a class is stored in each version that is known without a user: by code of its own, else by the file,
/// else as built in. One of `ANY_VERSION` is the only one.
///
/// # Errors
/// An info cannot be parsed.
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

/// Whether anything says how a class is stored.
#[must_use]
pub fn is_described(streamers: &Streamers, class: &str) -> bool {
    streamers.describes(class) || stored(class).is_some() || !builtin_versions(class).is_empty()
}
