//! A file that appears when it is complete.

use super::Sink;
use crate::{Error, ErrorKind, Result};
use std::{
    ffi::OsString,
    fs::{File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

/// A temporary file in the same folder, renamed when it is complete. Until then whatever had the name stays as it was, and readers of it
/// are not disturbed; afterwards all of the new file is there.
///
/// Its bytes are given to the disk before it is renamed (`fsync`), so that a machine that loses power has the old file or the new one,
/// never half of one. The folder itself is not synchronised: which of the two it is then, the system decides.
/// [`without_sync`](Self::without_sync) leaves that to the system altogether.
///
/// A symbolic link is followed, and what it points at replaced. Permissions of a file that is replaced are kept; owner, group and other
/// names of it (hard links) are not. The temporary file is called after the file, `.name.1234-0.part`, and removed when the sink is dropped;
/// only a process that is killed leaves it.
#[derive(Debug)]
pub struct FileSink {
    uri: String,
    path: PathBuf,
    part: PathBuf,
    /// Away when it was renamed.
    file: Option<File>,
    sync: bool,
}

/// Numbers the files of this process.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// Names that are tried, should they be taken.
const TRIES: u32 = 100;

impl FileSink {
    /// A new file, to be at this path.
    ///
    /// # Errors
    /// The path is a folder, or the folder does not exist or may not be written.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        let uri = path.as_ref().to_string_lossy().into_owned();
        let failed = |error: io::Error| Error::new(error.into(), uri.clone());
        // Where a link leads to; a file that is not there yet has its name.
        let path = path.as_ref().canonicalize().unwrap_or_else(|_| path.as_ref().to_owned());
        let (Some(name), false) = (path.file_name(), path.is_dir()) else {
            return Err(Error::new(ErrorKind::NotAFile, uri));
        };
        for _ in 0..TRIES {
            let mut part = OsString::from(".");
            // A name has 255 bytes at most, and this one gets longer.
            let short: String = name.to_string_lossy().chars().take(40).collect();
            part.push(short);
            part.push(format!(".{}-{}.part", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
            let part = path.with_file_name(part);
            match OpenOptions::new().write(true).create_new(true).open(&part) {
                Ok(file) => {
                    if let Ok(old) = std::fs::metadata(&path) {
                        // The new file can be used even where this is refused.
                        let _ = file.set_permissions(old.permissions());
                    }
                    return Ok(Self { uri, path, part, file: Some(file), sync: true });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => {
                    // What is missing is not the file, but where it was to be.
                    let folder = path.parent().filter(|_| error.kind() == io::ErrorKind::NotFound);
                    let uri =
                        folder.map_or_else(|| uri.clone(), |folder| folder.to_string_lossy().into_owned());
                    return Err(Error::new(error.into(), uri));
                }
            }
        }
        Err(failed(io::ErrorKind::AlreadyExists.into()))
    }

    /// Leaves it to the system when the bytes get to the disk.
    #[must_use]
    pub fn without_sync(mut self) -> Self {
        self.sync = false;
        self
    }

    fn rename(&mut self) -> io::Result<()> {
        if let Some(file) = &self.file
            && self.sync
        {
            file.sync_all()?;
        }
        std::fs::rename(&self.part, &self.path)?;
        self.file = None;
        Ok(())
    }
}

impl Write for FileSink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.as_mut().ok_or(io::ErrorKind::NotFound)?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Sink for FileSink {
    fn uri(&self) -> &str {
        &self.uri
    }

    fn temporary(&self) -> Option<&Path> {
        self.file.is_some().then_some(&self.part)
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.rename().map_err(|error| Error::new(error.into(), self.uri.clone()))
    }
}

impl Drop for FileSink {
    fn drop(&mut self) {
        if self.file.take().is_some() {
            // There is nobody to tell.
            let _ = std::fs::remove_file(&self.part);
        }
    }
}
