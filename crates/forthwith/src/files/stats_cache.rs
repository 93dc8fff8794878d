//! Caches of summaries beside local files.

use super::{StoreOptions, sink};
use crate::StatsCache;
use forthwith_io::{self as io, Index, Source};
use forthwith_plan::Result;
use std::{
    fs,
    io::{Read, Write},
    path::{Path, PathBuf},
};

/// The cache of a local file's summaries, if there is one of its present state. Whatever keeps it from being read, there is none.
#[must_use]
pub fn read_stats(file: &str, source: &dyn Source) -> Option<StatsCache> {
    let path = beside(file, StatsCache::ENDING)?;
    // Opening a pipe would wait for its writer.
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

/// Whether files about a local file are kept beside it: an index, or a cache of its summaries.
#[must_use]
pub fn has_files_beside(file: &str) -> bool {
    let exists = |ending| beside(file, ending).is_some_and(|path| is_regular(&path));
    exists(Index::ENDING) || exists(StatsCache::ENDING)
}

/// Writes the cache of a local file's summaries, under the file's name with [`StatsCache::ENDING`]. It is there once it is complete.
///
/// # Errors
/// It cannot be written, or the file is not a local one; there is a link, or something else that is not a file, in its place.
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

/// Whether there is a file at a path, and neither a link nor a pipe.
fn is_regular(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_file())
}

/// The path of a file beside a local one.
fn beside(file: &str, ending: &str) -> Option<PathBuf> {
    if file == "-" || file.contains("://") {
        return None;
    }
    Some(PathBuf::from(format!("{file}{ending}")))
}
