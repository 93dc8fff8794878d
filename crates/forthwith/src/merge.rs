//! Files merged to one, or copied in part, without decoding what need not be decoded.

use crate::{Container, File};
use forthwith_io::Sink;
use forthwith_plan::{Error, Result};
use std::{ops::Range, path::Path, sync::Arc};

/// The parts of files that are merged or copied, and how.
#[derive(Clone, Default)]
pub struct Merge {
    /// Everything is compressed in this way, by the name that the format has for it. Otherwise blocks of
    /// tables are copied as they are, and other objects are compressed as the first file's settings say.
    pub codec: Option<String>,
    /// The level of the codec.
    pub level: Option<i32>,
    /// Columns that not all tables of one path have are left out, instead of an error, and so are tables without columns.
    pub common: bool,
    /// Which objects are wanted, by their paths; directories follow from what is in them.
    pub objects: Option<PathFilter>,
    /// Which columns of each table are wanted, by their paths.
    pub columns: Option<PathFilter>,
    /// The entries of each table that are wanted, in ranges that ascend and do not touch each other, counted
    /// over all files.
    pub entries: Option<Vec<Range<u64>>>,
    /// How many entries each table must have for these ranges.
    pub bounds: EntryBounds,
    /// The kind that tables are written anew as, such as `tree` or `ntuple`; otherwise their blocks are copied. Of one file, all
    /// of its entries.
    pub tables: Option<String>,
    /// Threads that compress; as many as there are processors if nothing is said.
    pub threads: Option<usize>,
}

/// Bounds that ranges of entries must keep in each table, over all files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EntryBounds {
    /// Anything: ranges end with the table.
    #[default]
    Clamped,
    /// The first entry of the ranges exists in one of the tables.
    Begun,
    /// Each entry of the ranges exists in each table.
    Existing,
    /// Each table has as many entries as the mask that the ranges were made of.
    Mask(u64),
}

impl EntryBounds {
    /// Compares ranges with the numbers of entries of tables, of which each has a path.
    ///
    /// # Errors
    /// A table has fewer entries, or not as many as the mask.
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

/// Says of a path whether it is wanted.
pub type PathFilter = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// Called with the bytes that were copied so far and those that there are; an answer of `false` ends the
/// merge.
pub type MergeProgress<'p> = dyn FnMut(u64, u64) -> bool + 'p;

/// The tables and objects that were written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// Bytes of the file.
    pub bytes: u64,
    /// Tables, with their paths and entries.
    pub tables: Vec<(String, u64)>,
    /// Objects that are no tables.
    pub objects: u64,
    /// Paths at which there were several objects that differ and for which there is no rule: they are cycles, in
    /// the order of the files.
    pub several: Vec<String>,
    /// Tables without columns that were left out beside those that have some.
    pub branchless: u64,
}

/// Writes the objects of several files of one format to one file. With a single file this is a copy of what
/// is wanted of it.
///
/// Tables of one path are put one behind the other, and their blocks are copied as they are stored. What
/// becomes of other objects of one path is for the format to say.
///
/// # Errors
/// A file that cannot be read; a name whose ending is that of another format; files of a format that cannot be copied so, or of several formats; tables whose
/// columns are not stored alike; objects that cannot be added; what the sink says. Nothing has the new file's
/// name then.
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

/// Whether two names are those of one file, by links of either kind as well.
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
