//! Merging of files, or copying of their parts, with as little decoding as possible.

use crate::{Container, File};
use forthwith_io::Sink;
use forthwith_plan::{Error, Result};
use std::{ops::Range, path::Path, sync::Arc};

/// Options of a merge: which parts of the files are copied, and how.
#[derive(Clone, Default)]
pub struct Merge {
    /// Codec that all data are compressed with, by the format's name. By default, blocks of tables are copied
    /// as stored, and other objects are compressed with the settings of the first file.
    pub codec: Option<String>,
    /// Level of the codec.
    pub level: Option<i32>,
    /// Whether columns that some tables of a path lack are left out, instead of an error, and also tables
    /// without columns.
    pub common: bool,
    /// Filter of objects by path; directories follow from their content. By default all.
    pub objects: Option<PathFilter>,
    /// Filter of columns of each table by path. By default all.
    pub columns: Option<PathFilter>,
    /// Entries of each table that are copied, counted across all files: ranges in ascending order that do not
    /// touch. By default all.
    pub entries: Option<Vec<Range<u64>>>,
    /// Check of these ranges against the number of entries of each table.
    pub bounds: EntryBounds,
    /// Kind of tables to convert to, such as `tree` or `ntuple`, for a single file and all of its entries; by
    /// default, blocks are copied.
    pub tables: Option<String>,
    /// Number of threads that compress; by default that of processors.
    pub threads: Option<usize>,
}

/// Check of ranges of entries against each table, across all files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EntryBounds {
    /// No check: ranges are clamped to the table.
    #[default]
    Clamped,
    /// The first entry of the ranges exists in at least one table.
    Begun,
    /// Each entry of the ranges exists in each table.
    Existing,
    /// Each table has as many entries as the mask that the ranges come from.
    Mask(u64),
}

impl EntryBounds {
    /// Checks ranges against the numbers of entries of tables, given with their paths.
    ///
    /// # Errors
    /// A table has too few entries, or another number than the mask.
    pub fn check(self, ranges: &[Range<u64>], tables: &[(&str, u64)]) -> Result<()> {
        let (first, end) = match ranges {
            [] => (None, 0),
            [first, ..] => (Some(first.start), ranges.last().map_or(0, |last| last.end)),
        };
        let missing =
            |entry: u64, most: u64| format!("there is no entry {entry}: the number of entries is {most}");
        if self == Self::Begun {
            let most = tables.iter().max_by_key(|(_, entries)| *entries);
            return match (first, most) {
                (Some(first), Some(&(path, most))) if first > 0 && first >= most => {
                    Err(Error::invalid(missing(first, most)).in_object(path))
                }
                _ => Ok(()),
            };
        }
        for &(path, entries) in tables {
            let what = match self {
                Self::Mask(length) if length != entries => {
                    format!("a mask of {length} entries, but there are {entries}")
                }
                Self::Existing if end > entries => missing(end - 1, entries),
                _ => continue,
            };
            return Err(Error::invalid(what).in_object(path));
        }
        Ok(())
    }
}

/// Predicate on paths.
pub type PathFilter = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// Callback with the number of bytes copied so far and in total; returns `false` to cancel the merge.
pub type MergeProgress<'p> = dyn FnMut(u64, u64) -> bool + 'p;

/// Summary of a merge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// Size of the written file in bytes.
    pub bytes: u64,
    /// Path and number of entries of each table.
    pub tables: Vec<(String, u64)>,
    /// Number of objects that are not tables.
    pub objects: u64,
    /// Paths of several different objects that have no rule for merging: they are written as cycles, in the
    /// order of the files.
    pub several: Vec<String>,
    /// Number of tables without columns that were left out in favour of those with columns.
    pub branchless: u64,
}

/// Writes the objects of several files of one format to one file. With a single file, copies the selected
/// parts of it.
///
/// Tables of one path are concatenated, and their blocks are copied as stored. The format decides how other
/// objects of one path are merged.
///
/// # Errors
/// A file cannot be read; the extension of the new name belongs to another format; the files have different
/// formats, or one that cannot be merged; tables have columns that are stored differently; objects cannot be
/// merged; the sink fails. In these cases, no file appears at the new name.
pub fn merge(
    files: &[File],
    sink: Box<dyn Sink>,
    merge: &Merge,
    progress: &mut MergeProgress<'_>,
) -> Result<Merged> {
    let Some(first) = files.first() else {
        return Err(Error::invalid("no files to merge"));
    };
    for file in files {
        if is_same(file.uri(), sink.uri()) {
            let what = format!("{} is one of the input files, so it cannot be written", sink.uri());
            return Err(Error::invalid(what).in_file(file.uri()));
        }
        if file.format() != first.format() {
            let what = format!(
                "files of different formats cannot be merged: {} and {}",
                first.format(),
                file.format()
            );
            return Err(Error::invalid(what).in_file(file.uri()));
        }
    }
    crate::check_ending(first.format(), sink.uri())?;
    let containers: Vec<&dyn Container> = files.iter().map(File::container).collect();
    first.container().merge(&containers, sink, merge, progress)
}

forthwith_io::impl_debug!(Merge, |it| "codec": it.codec, "level": it.level, "common": it.common, "entries": it.entries);

/// Whether two paths refer to the same file, also through symbolic and hard links.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (Path::new(one), Path::new(other));
    if let (Ok(one), Ok(other)) = (one.canonicalize(), other.canonicalize())
        && one == other
    {
        return true;
    }
    #[cfg(unix)]
    if let (Ok(one), Ok(other)) = (one.metadata(), other.metadata()) {
        use std::os::unix::fs::MetadataExt;
        return (one.dev(), one.ino()) == (other.dev(), other.ino());
    }
    false
}
