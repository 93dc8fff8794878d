//! A sink whose file appears when it is complete.

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

/// Writes a temporary file in the same folder, which is renamed when it is complete. Until then, an existing
/// file of the name is unchanged, and its readers are not affected.
///
/// Write-back starts while the file is written, and the file is synchronised (`fsync`) before it is renamed.
/// After a power failure, the name refers to the old or the new file as a whole. The folder is not
/// synchronised, so either is possible. [`without_sync`](Self::without_sync) disables both.
///
/// Symbolic links are followed: the target is replaced, or created if it does not exist. The new file gets
/// the permissions of the replaced one, except for the set-uid and set-gid bits, but not its owner, group and
/// hard links. The temporary file is named `.name.1234-0.part`, with the process id, and is removed when the
/// sink is dropped. If the process is killed, the temporary file remains. On Linux, the next sink of the same
/// path removes it if no process has that id, the file is not locked, and it was not modified within a
/// minute.
///
/// The sink belongs to the process that created it: in a forked child, dropping it has no effect, and writing
/// or finishing is an error ([`Forked`](ErrorKind::Forked)).
#[derive(Debug)]
pub struct FileSink {
    uri: String,
    path: PathBuf,
    part: PathBuf,
    /// The temporary file; `None` after it was renamed.
    file: Option<File>,
    sync: bool,
    early: Early,
    /// Id of the process that created the sink.
    process: u32,
}

/// Number of the next temporary file of this process.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// Number of names that are tried for the temporary file.
const TRIES: u32 = 100;

impl FileSink {
    /// Creates the temporary file of a file that is to be at `path`.
    ///
    /// # Errors
    /// [`NotAFile`](ErrorKind::NotAFile) if the path is that of a folder, a device or a pipe; errors of the
    /// system, if the folder does not exist or is not writable.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        let uri = path.as_ref().to_string_lossy().into_owned();
        let failed = |error: io::Error| Error::new(error.into(), uri.clone());
        let path = destination(path.as_ref()).map_err(failed)?;
        // A device, a pipe or a folder must not be replaced by a file.
        let is_other = std::fs::metadata(&path).is_ok_and(|there| !there.is_file());
        let (Some(name), false) = (path.file_name(), is_other) else {
            return Err(Error::new(ErrorKind::NotAFile, uri));
        };
        // File names are limited to 255 bytes, and the temporary file's name is longer than the file's.
        let short: String = name.to_string_lossy().chars().take(40).collect();
        let process = process_id();
        remove_left_over(&path, &short);
        for _ in 0..TRIES {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let part = path.with_file_name(format!(".{short}.{process}-{number}.part"));
            match OpenOptions::new().write(true).create_new(true).open(&part) {
                Ok(file) => {
                    // The lock tells other processes that the file is in use. Without locks, only the process
                    // id does.
                    #[cfg(unix)]
                    let _ = file.try_lock();
                    if let Ok(old) = std::fs::metadata(&path) {
                        // Errors are ignored: the file is usable with other permissions.
                        let _ = file.set_permissions(permissions(&old));
                    }
                    let early = Early::default();
                    return Ok(Self { uri, path, part, file: Some(file), sync: true, early, process });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => {
                    // `NotFound` means that the folder does not exist, so the error names the folder.
                    let folder = path.parent().filter(|_| error.kind() == io::ErrorKind::NotFound);
                    let uri =
                        folder.map_or_else(|| uri.clone(), |folder| folder.to_string_lossy().into_owned());
                    return Err(Error::new(error.into(), uri));
                }
            }
        }
        Err(failed(io::ErrorKind::AlreadyExists.into()))
    }

    /// Disables write-back and synchronisation: the system decides when bytes get to the disk.
    #[must_use]
    pub fn without_sync(mut self) -> Self {
        self.sync = false;
        self
    }

    /// Whether the current process is a fork of the one in which the sink was created.
    fn is_forked(&self) -> bool {
        self.process != process_id()
    }

    /// Returns the temporary file; an error in a forked process, and after the file was renamed.
    fn own(&mut self) -> io::Result<&mut File> {
        if self.is_forked() {
            return Err(io::Error::other(ErrorKind::Forked { process: self.process }));
        }
        self.file.as_mut().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Starts write-back early if the file will be synchronised.
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

/// Overwrites bytes that were written before, and restores the position at the end.
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

/// Number of symbolic links that are followed before a cycle is assumed, as in Linux.
const LINKS: u32 = 40;

/// Returns the target of a path whose symbolic links are followed. The target need not exist.
pub(super) fn destination(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        if let Ok(there) = path.canonicalize() {
            return Ok(there);
        }
        match std::fs::read_link(&path) {
            // A relative target is joined to the folder of the link; an absolute one replaces the path.
            Ok(target) => path = path.parent().unwrap_or(Path::new("")).join(target),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("symbolic links that lead back to themselves"))
}

/// Returns the permissions of a file for its replacement: without the set-uid and set-gid bits, since the new
/// file may have another owner or group.
fn permissions(old: &std::fs::Metadata) -> std::fs::Permissions {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::Permissions::from_mode(old.permissions().mode() & !0o6000)
    }
    #[cfg(not(unix))]
    old.permissions()
}

/// Removes temporary files of the same path that terminated processes left. Errors are ignored.
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

/// Whether a temporary file is old enough and not locked. Processes of other containers and machines that
/// share the folder cannot be seen, but they hold a lock.
fn is_given_up(entry: &std::fs::DirEntry) -> io::Result<bool> {
    let there = entry.metadata()?;
    let age = there.modified()?.elapsed().unwrap_or_default();
    Ok(there.is_file() && age > GIVEN_UP && File::open(entry.path())?.try_lock().is_ok())
}

/// Time since the last modification before which a temporary file is kept.
const GIVEN_UP: Duration = Duration::from_secs(60);

/// Returns the process id in the name of a temporary file, such as `.name.1234-0.part`; `None` for other
/// names.
fn process_of(name: &str, short: &str) -> Option<u32> {
    let rest = name.strip_prefix('.')?.strip_prefix(short)?.strip_prefix('.')?.strip_suffix(".part")?;
    let (process, number) = rest.split_once('-')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (digits(process) && digits(number)).then(|| process.parse().ok())?
}

/// Whether no process has this id, by `/proc`. Always `false` on systems other than Linux.
fn is_dead(process: u32) -> bool {
    let folder = Path::new("/proc");
    cfg!(target_os = "linux") && folder.join("self").exists() && !folder.join(process.to_string()).exists()
}
