//! Settings of a file that are decided before anything is written.

use forthwith_plan::{Error, Result};

use super::header::BIG;
use super::{Compression, Moment, Uuid};
use crate::class::OLD_LOOPS;
use crate::file::RootFile;
use crate::streamer::code;

/// How a file is written.
#[derive(Clone, Debug)]
pub struct FileSettings {
    /// How objects are compressed. Tables may choose for themselves.
    pub compression: Compression,
    /// The file's number.
    pub uuid: Uuid,
    /// When it is written.
    pub time: Moment,
    /// Its title.
    pub title: String,
    /// The version of ROOT that the file says it is of, such as 64000. Some data are read by it.
    pub version: i32,
    /// Whether objects may have any name: those of files that are copied have theirs, also if C++ ROOT does not find them.
    pub keeps_names: bool,
}

impl FileSettings {
    /// Those that a file has that is to be changed.
    #[must_use]
    pub fn of(file: &RootFile) -> Self {
        let compression = Compression::from_setting(file.header().compression).unwrap_or_default();
        Self { compression, ..Self::default() }
    }

    /// Those of a file that data of several others are copied to as they are stored.
    ///
    /// # Errors
    /// The files' data are to be read in different ways.
    pub fn of_all(files: &[RootFile]) -> Result<Self> {
        let Some(first) = files.first() else { return Ok(Self::default()) };
        let settings = Self { keeps_names: true, ..Self::of(first) };
        let version = |file: &RootFile| file.header().version % BIG;
        if files.iter().all(|file| version(file) > OLD_LOOPS) {
            return Ok(settings);
        }
        if let Some(newer) = files.iter().find(|file| version(file) > OLD_LOOPS) {
            for file in files {
                let infos = file.streamers()?.infos()?;
                let loops = infos.iter().flat_map(|info| &info.elements).any(|element| {
                    element.code == code::STREAM_LOOP && element.type_name.trim().ends_with("**")
                });
                if loops {
                    let what = format!(
                        "copying arrays of pointers that a member counts to one file with others: those of version {} and \
                         of version {} of ROOT are stored in different ways",
                        version(files.iter().find(|file| version(file) <= OLD_LOOPS).unwrap_or(file)),
                        version(newer)
                    );
                    return Err(Error::unsupported(what).in_file(file.uri()));
                }
            }
            return Ok(settings);
        }
        let version = files.iter().map(version).max().unwrap_or(VERSION);
        Ok(Self { version, ..settings })
    }
}

impl Default for FileSettings {
    fn default() -> Self {
        Self {
            compression: Compression::default(),
            uuid: Uuid::fresh(),
            time: Moment::now(),
            title: String::new(),
            version: VERSION,
            keeps_names: false,
        }
    }
}

/// ROOT 6.40/00, whose class versions are written.
const VERSION: i32 = 64000;
