//! A file that appears when it is complete.

use super::{Sink, early::Early, gather};
use crate::{Error, ErrorKind, Result};
use forthwith_platform::process_id;
use std::{
    fs::{File, OpenOptions},
    io::{self, IoSlice, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

/// A temporary file in the same folder, renamed when it is complete. Until then whatever had the name stays
/// as it was, and readers of it are not disturbed; afterwards all of the new file is there.
///
/// Its bytes are given to the disk while they are written, and all are there before it is renamed (`fsync`),
/// so that a machine that loses power has the old file or the new one, never half of one. The folder itself
/// is not synchronised: which of the two it is then, the system decides. [`without_sync`](Self::without_sync)
/// leaves that to the system altogether.
///
/// A symbolic link is followed, and the file that it points at is replaced, or made if it is not there yet.
/// Permissions of a file that is replaced are kept, but for the bits that let it run as its owner or group
/// (set-uid, set-gid); owner, group and other names of it (hard links) are not. The temporary file is called
/// after the file, `.name.1234-0.part`, with the number of the process, and removed when the sink is dropped.
/// A process that is killed leaves it; on Linux the next sink of the same file removes it, if no process has
/// that number, its lock is free, and it has not been written to for a minute.
///
/// The file belongs to the process that made the sink: in a forked child, dropping the sink leaves everything
/// as it is, and writing or finishing is an error ([`Forked`](ErrorKind::Forked)).
#[derive(Debug)]
pub struct FileSink {
    uri: String,
    path: PathBuf,
    part: PathBuf,
    /// Away when it was renamed.
    file: Option<File>,
    sync: bool,
    early: Early,
    /// The process that made it.
    process: u32,
}

/// Numbers the files of this process.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// Names that are tried, should they be taken.
const TRIES: u32 = 100;

impl FileSink {
    /// A new file, to be at this path.
    ///
    /// # Errors
    /// The path is a folder or another thing that is no file, or the folder does not exist or may not be
    /// written.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        let uri = path.as_ref().to_string_lossy().into_owned();
        let failed = |error: io::Error| Error::new(error.into(), uri.clone());
        let path = destination(path.as_ref()).map_err(failed)?;
        // A device, a pipe or a folder is nothing to be replaced by a file.
        let is_other = std::fs::metadata(&path).is_ok_and(|there| !there.is_file());
        let (Some(name), false) = (path.file_name(), is_other) else {
            return Err(Error::new(ErrorKind::NotAFile, uri));
        };
        // A name has 255 bytes at most, and that of the temporary file is longer.
        let short: String = name.to_string_lossy().chars().take(40).collect();
        let process = process_id();
        remove_left_over(&path, &short);
        for _ in 0..TRIES {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let part = path.with_file_name(format!(".{short}.{process}-{number}.part"));
            match OpenOptions::new().write(true).create_new(true).open(&part) {
                Ok(file) => {
                    // For those who look for files that were left over; where there are no locks, the process
                    // counts.
                    #[cfg(unix)]
                    let _ = file.try_lock();
                    if let Ok(old) = std::fs::metadata(&path) {
                        // The new file can be used even where this is refused.
                        let _ = file.set_permissions(permissions(&old));
                    }
                    let early = Early::default();
                    return Ok(Self { uri, path, part, file: Some(file), sync: true, early, process });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => {
                    // The folder is missing, not the file.
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

    /// Whether this is not the process that made it.
    fn is_forked(&self) -> bool {
        self.process != process_id()
    }

    /// The temporary file, for this process to write to.
    fn own(&mut self) -> io::Result<&mut File> {
        if self.is_forked() {
            return Err(io::Error::other(ErrorKind::Forked { process: self.process }));
        }
        self.file.as_mut().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Has the disk begin with what was written, if it is to have all of it at the end.
    fn wrote(&mut self, count: usize) {
        if let Some(file) = &self.file
            && self.sync
        {
            self.early.wrote(file, count);
        }
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
        let count = self.own()?.write(bytes)?;
        self.wrote(count);
        Ok(count)
    }

    fn write_vectored(&mut self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        let count = self.own()?.write_vectored(pieces)?;
        self.wrote(count);
        Ok(count)
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

    fn write_pieces(&mut self, pieces: &mut [IoSlice<'_>]) -> io::Result<()> {
        gather(self, pieces)
    }

    fn patch(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        write_at(self.own()?, at, bytes)
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        if self.is_forked() {
            return Err(Error::new(ErrorKind::Forked { process: self.process }, self.uri.clone()));
        }
        self.rename().map_err(|error| Error::new(error.into(), self.uri.clone()))
    }
}

impl Drop for FileSink {
    fn drop(&mut self) {
        if self.file.take().is_some() && !self.is_forked() {
            // A destructor cannot report a failure.
            let _ = std::fs::remove_file(&self.part);
        }
    }
}

/// Replaces bytes of a file that is written from first to last otherwise.
pub(super) fn write_at(file: &mut File, at: u64, bytes: &[u8]) -> io::Result<()> {
    let end = file.stream_position()?;
    if at.checked_add(bytes.len() as u64).is_none_or(|last| last > end) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "bytes that were not written yet"));
    }
    file.seek(SeekFrom::Start(at))?;
    let written = file.write_all(bytes);
    file.seek(SeekFrom::Start(end))?;
    written
}

/// Links that are followed before they are taken for a loop, as Linux has it.
const LINKS: u32 = 40;

/// The file that a path leads to, whether it is there or not: links are followed.
pub(super) fn destination(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        if let Ok(there) = path.canonicalize() {
            return Ok(there);
        }
        match std::fs::read_link(&path) {
            // Relative to the folder that the link is in; an absolute one replaces all of it.
            Ok(target) => path = path.parent().unwrap_or(Path::new("")).join(target),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("symbolic links that lead back to themselves"))
}

/// The permissions of a file, for the one that replaces it: not the bits that let it run as its owner or
/// group, since that may be another.
fn permissions(old: &std::fs::Metadata) -> std::fs::Permissions {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::Permissions::from_mode(old.permissions().mode() & !0o6000)
    }
    #[cfg(not(unix))]
    old.permissions()
}

/// Removes temporary files of the same file that dead processes left. What cannot be told or removed is left
/// as it is.
fn remove_left_over(path: &Path, short: &str) {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| process_of(name, short));
        if process.is_some_and(is_dead) && is_given_up(&entry).unwrap_or(false) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Whether a temporary file is not being written. Processes of other containers and machines may share the
/// folder, and cannot be seen: they hold a lock on theirs.
fn is_given_up(entry: &std::fs::DirEntry) -> io::Result<bool> {
    let there = entry.metadata()?;
    let age = there.modified()?.elapsed().unwrap_or_default();
    Ok(there.is_file() && age > GIVEN_UP && File::open(entry.path())?.try_lock().is_ok())
}

/// Temporary files that were written to more recently are left alone.
const GIVEN_UP: Duration = Duration::from_secs(60);

/// The number of the process in the name of a temporary file: `.name.1234-0.part`.
fn process_of(name: &str, short: &str) -> Option<u32> {
    let rest = name.strip_prefix('.')?.strip_prefix(short)?.strip_prefix('.')?.strip_suffix(".part")?;
    let (process, number) = rest.split_once('-')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (digits(process) && digits(number)).then(|| process.parse().ok())?
}

/// Whether the system says that no process has this number. Only asked on Linux.
fn is_dead(process: u32) -> bool {
    let folder = Path::new("/proc");
    cfg!(target_os = "linux") && folder.join("self").exists() && !folder.join(process.to_string()).exists()
}
