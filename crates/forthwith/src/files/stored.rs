//! Expansion of patterns in stores: `s3://bucket/run*/part-?.root`.

use super::{is_pattern, matches, remote};
use crate::files::StoreOptions;
use forthwith_io as io;
use forthwith_plan::Result;

/// Whether a name is a pattern for objects of a store. Web servers cannot list files, and `?` starts a query
/// in their URLs.
#[must_use]
pub fn is_stored_pattern(name: &str) -> bool {
    remote::is_remote(name) && !name.get(..4).is_some_and(|scheme| scheme.eq_ignore_ascii_case("http")) && {
        let path = name.split_once("://").map_or(name, |(_, path)| path);
        is_pattern(path)
    }
}

/// Returns the URLs of the objects that match a pattern, sorted. `*`, `?` and `[a-z]` match characters of one
/// part of a path, `**` any directories; an object whose name equals the pattern matches, too. Names that
/// start with a dot are left out unless the pattern's part does.
///
/// # Errors
/// No object matches; the store cannot be read; an option that the store does not support.
pub fn expand_stored(pattern: &str, store: &StoreOptions) -> Result<Vec<String>> {
    let (scheme, path) = pattern.split_once("://").unwrap_or_default();
    let mut parts = path.split('/');
    let mut found = vec![format!("{scheme}://{}", parts.next().unwrap_or_default())];
    let parts: Vec<&str> = parts.collect();
    for (at, part) in parts.iter().enumerate() {
        let is_last = at + 1 == parts.len();
        let mut next = Vec::new();
        for folder in found {
            if *part == "**" {
                below(&folder, store, &mut next, is_last)?;
            } else if is_pattern(part) {
                let inner = remote::folder(&folder, store)?;
                let named = if is_last { inner.files } else { inner.folders };
                next.extend(named.into_iter().filter(|url| {
                    let name = url.rsplit('/').next().unwrap_or(url);
                    name == *part || matches(part, name) && (part.starts_with('.') || !name.starts_with('.'))
                }));
            } else if is_last {
                let url = format!("{folder}/{part}");
                next.extend(remote::folder(&folder, store)?.files.into_iter().filter(|file| *file == url));
            } else {
                next.push(format!("{folder}/{part}"));
            }
        }
        next.sort();
        next.dedup();
        found = next;
    }
    if found.is_empty() {
        return Err(io::Error::new(io::ErrorKind::NotFound, pattern).into());
    }
    Ok(found)
}

/// Collects a directory and all its subdirectories, or the files in them.
fn below(folder: &str, store: &StoreOptions, found: &mut Vec<String>, files: bool) -> Result<()> {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let inner = remote::folder(&folder, store)?;
        if files {
            found.extend(inner.files);
        } else {
            found.push(folder);
        }
        let is_seen = |url: &String| !url.rsplit('/').next().is_some_and(|name| name.starts_with('.'));
        folders.extend(inner.folders.into_iter().filter(is_seen));
    }
    Ok(())
}
