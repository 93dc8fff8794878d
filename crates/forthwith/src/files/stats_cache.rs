//! Caches of summaries, stored next to local files.

use super::{StoreOptions, sink};
use crate::StatsCache;
use forthwith_io::{self as io, Index, Source};
use forthwith_plan::Result;
use std::{
    fs,
    io::{Read, Write},
    path::{Path, PathBuf},
};

/// Reads the cache of a local file's summaries. Returns `None` if it does not exist, cannot be read, or is of
/// another state of the file.
#[must_use]
pub fn read_stats(file: &str, source: &dyn Source) -> Option<StatsCache> {
    let path = beside(file, StatsCache::ENDING)?;
    // Opening a pipe would block until it has a writer.
    if !is_regular(&path) {
        return None;
    }
    let cache = fs::File::open(path).ok()?;
    let metadata = cache.metadata().ok()?;
    if !metadata.is_file() || metadata.len() > StatsCache::MOST {
        return None;
    }
    let mut bytes = Vec::new();
    cache.take(StatsCache::MOST).read_to_end(&mut bytes).ok()?;
    StatsCache::parse(&bytes, source)
}

/// Whether an index or a cache of summaries exists next to a local file.
#[must_use]
pub fn has_files_beside(file: &str) -> bool {
    let exists = |ending| beside(file, ending).is_some_and(|path| is_regular(&path));
    exists(Index::ENDING) || exists(StatsCache::ENDING)
}

/// Writes the cache of a local file's summaries, under the file's name with [`StatsCache::ENDING`]. The cache
/// appears when it is complete.
///
/// # Errors
/// The cache cannot be written; the file is not local; a link, or another object that is not a file, has the
/// name of the cache.
pub fn write_stats(cache: &StatsCache, file: &str) -> Result<PathBuf> {
    let Some(path) = beside(file, StatsCache::ENDING) else {
        return Err(forthwith_plan::Error::unsupported("caches of summaries of files that are not local")
            .in_file(file));
    };
    if fs::symlink_metadata(&path).is_ok_and(|found| !found.is_file()) {
        let what = "a cache of summaries in the place of a link or of something else that is not a file";
        return Err(forthwith_plan::Error::unsupported(what).in_file(&path.display().to_string()));
    }
    let mut sink = sink(&path, &StoreOptions::new())?;
    let written = sink.write_all(&cache.to_bytes());
    written.map_err(|error| io::Error::new(error.into(), path.display().to_string()))?;
    sink.finish()?;
    Ok(path)
}

/// Whether a path is a regular file, and not a link or a pipe.
fn is_regular(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_file())
}

/// Returns the path of a file next to a local file.
fn beside(file: &str, ending: &str) -> Option<PathBuf> {
    if file == "-" || file.contains("://") {
        return None;
    }
    Some(PathBuf::from(format!("{file}{ending}")))
}
