//! Settings of a file, which are fixed before it is written.

use forthwith_plan::{Error, Result};

use super::header::BIG;
use super::{Compression, Moment, Uuid};
use crate::class::OLD_LOOPS;
use crate::file::RootFile;
use crate::streamer::code;

/// Settings of a written file.
#[derive(Clone, Debug)]
pub struct FileSettings {
    /// Default compression of objects. Tables may use another one.
    pub compression: Compression,
    /// UUID of the file.
    pub uuid: Uuid,
    /// Time of writing.
    pub time: Moment,
    /// Title of the file.
    pub title: String,
    /// ROOT version in the file's header, such as 64000. The form of some data depends on it.
    pub version: i32,
    /// Whether objects may have any name, as copied objects do, even if C++ ROOT cannot find it.
    pub keeps_names: bool,
}

impl FileSettings {
    /// Returns the settings for changing a file: its compression, and defaults.
    #[must_use]
    pub fn of(file: &RootFile) -> Self {
        let compression = Compression::from_setting(file.header().compression).unwrap_or_default();
        Self { compression, ..Self::default() }
    }

    /// Returns the settings of a file to which the stored bytes of several files are copied.
    ///
    /// # Errors
    /// Returns an error if the files store counted arrays of pointers in different forms, as their versions
    /// tell.
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
