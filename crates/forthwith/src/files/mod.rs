//! Expansion of arguments to files: lists, patterns, directories, pipes, and `FILE:OBJECT`.
//!
//! ```
//! use forthwith::{File, files};
//! # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
//!
//! for path in files::expand(&["tests/data/parquet", "tests/data/z*.root"])? {
//!     println!("{}: {}", path.display(), File::open(&path)?.format());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod expand;
mod indexed;
mod partitions;
mod pattern;
mod place;
#[cfg_attr(not(feature = "remote"), path = "remote_absent.rs")]
mod remote;
mod split;
mod stats_cache;
mod stored;
mod whole;

pub use expand::{Expanded, expand, expand_telling, expand_with};
pub use indexed::{IndexPlace, read_index, source_indexed, write_index};
pub use partitions::partitions;
pub use pattern::{is_pattern, matches};
pub(crate) use place::tables;
pub use place::{Place, locate};
pub use remote::{StoreOptions, redact};
pub use split::split;
pub use stats_cache::{has_files_beside, read_stats, write_stats};
pub use stored::{expand_stored, is_stored_pattern};
pub use whole::whole;

use forthwith_io::{self as io, PreadFile, STREAM_IN_MEMORY, Source};
use forthwith_plan::Result;
use std::{fs::FileType, io::Read, path::Path, sync::Arc};

/// Name of standard input.
pub const STANDARD_INPUT: &str = "-";

/// Opens the source of a name: a local file or `file:` URL as [`io::open`] does; with the feature `remote` a
/// URL of HTTP, S3, Google Cloud Storage or Azure; standard input for `-` and `/dev/stdin`; a named pipe. A
/// stream is read on demand, and kept in memory or a temporary file ([`StreamSource`](io::StreamSource)).
///
/// # Errors
/// The name does not exist, or cannot be read.
pub fn source(name: impl AsRef<Path>) -> Result<Arc<dyn Source>> {
    source_with(name, &StoreOptions::new())
}

/// Opens the source of a name as [`source`] does, with options for the store of a URL. The options' function
/// [`goes_on`](StoreOptions::goes_on) is also called between the chunks of a stream, and after a signal that
/// arrives while the stream is awaited; `false` cancels the request.
///
/// # Errors
/// Errors of [`source`]; an option that the store does not support.
pub fn source_with(name: impl AsRef<Path>, store: &StoreOptions) -> Result<Arc<dyn Source>> {
    let path = name.as_ref();
    if let Some(url) = path.to_str().filter(|name| remote::is_remote(name)) {
        return Ok(remote::open(url, store)?);
    }
    let kind = path.metadata().map(|metadata| metadata.file_type()).ok();
    if is_standard_input(path) && !kind.is_some_and(|kind| kind.is_file()) {
        return Ok(streamed(std::io::stdin(), "standard input", store));
    }
    let name = path.to_string_lossy();
    if kind.is_some_and(is_pipe) {
        let opened = std::fs::File::open(path).map_err(|error| io::Error::new(error.into(), &*name));
        return Ok(streamed(opened?, &name, store));
    }
    match path.to_str() {
        Some(uri) => Ok(io::open(uri)?),
        // A name that is not UTF-8 can only be a local path.
        None => Ok(Arc::new(PreadFile::open(path)?)),
    }
}

/// Creates the sink of a new file: a local path as for [`io::create`], with the feature `remote` also an
/// object of S3, Google Cloud Storage or Azure, which is uploaded when the file is complete.
///
/// # Errors
/// The file cannot be created; the scheme does not support writing; an option that the store does not
/// support.
pub fn sink(name: impl AsRef<Path>, store: &StoreOptions) -> Result<Box<dyn io::Sink>> {
    let path = name.as_ref();
    Ok(match path.to_str() {
        Some(uri) if remote::is_remote(uri) => remote::create(uri, store)?,
        Some(uri) => io::create(uri)?,
        // A name that is not UTF-8 can only be a local path.
        None => Box::new(io::FileSink::create(path)?),
    })
}

/// Reads a stream to its end, as a source named standard input.
///
/// # Errors
/// The stream cannot be read or stored.
pub fn stream(stream: &mut dyn Read) -> Result<Arc<dyn Source>> {
    Ok(io::read_stream(stream, "standard input", STREAM_IN_MEMORY)?)
}

/// Whether a name has the extension of a known format.
#[must_use]
pub fn has_known_ending(name: &str) -> bool {
    crate::formats::by_name(name).is_some()
}

/// Makes a source of a stream, which the options may cancel.
fn streamed(stream: impl Read + Send + 'static, name: &str, store: &StoreOptions) -> Arc<dyn Source> {
    let store = store.clone();
    Arc::new(io::StreamSource::new(name, stream, STREAM_IN_MEMORY, move || store.goes_on()))
}

/// Whether a name means standard input.
#[must_use]
pub fn is_standard_input(path: &Path) -> bool {
    [STANDARD_INPUT, "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"].iter().any(|name| path == Path::new(name))
}

#[cfg(unix)]
fn is_pipe(kind: FileType) -> bool {
    std::os::unix::fs::FileTypeExt::is_fifo(&kind)
}

#[cfg(not(unix))]
fn is_pipe(_: FileType) -> bool {
    false
}
