//! Errors of sources, and their places.

use std::fmt;
use std::ops::Range;

/// A source could not answer: what happened, in which source, at which byte.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Error {
    /// The fault.
    pub kind: ErrorKind,
    /// The source, as its opener named it.
    pub uri: String,
    /// The first byte of the request that failed, where one was made.
    pub at: Option<u64>,
}

/// The answer of a source.
pub type Result<T> = std::result::Result<T, Error>;

/// A fault of a source.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Nothing exists under this name.
    #[error("not found")]
    NotFound,
    /// Nothing exists under a name that is a folder or a pattern, on a server that lists no files.
    #[error("not found, and folders of web servers cannot be listed: name each file")]
    NotListed,
    /// It exists, and may not be read.
    #[error("permission denied")]
    PermissionDenied,
    /// A directory, a pipe or a device: it has no byte ranges to read.
    #[error("not a regular file")]
    NotAFile,
    /// A file that the system makes while it is read, such as those in `/proc`: it has contents, and no size
    /// by which ranges could be told.
    #[error(
        "the system reports a size of 0 bytes, but the file has content: copy it to a regular file first"
    )]
    NoSize,
    /// No source is known for this scheme.
    #[error("scheme {scheme:?} is not supported (a local path or file:// is)")]
    UnsupportedScheme {
        /// The part of the uri before `://`.
        scheme: String,
    },
    /// A `file://` uri that names another machine.
    #[error("a file:// uri can only name this machine, not {host:?}")]
    ForeignHost {
        /// The machine named.
        host: String,
    },
    /// A `file://` uri with a `%` that two hexadecimal digits do not follow.
    #[error("the uri has a broken %-escape")]
    BadEscape,
    /// A file names another that is not in its folder.
    #[error("not in the folder of the file that names it, so it is not opened")]
    Elsewhere,
    /// Something that is no local file names another file.
    #[error("{of} names it, which has no folder to look in")]
    NothingBeside {
        /// The name of what names it.
        of: String,
    },
    /// The operating system refused.
    #[error("{text}")]
    Io {
        /// The class of the refusal.
        kind: std::io::ErrorKind,
        /// The number the system gave it, where it came from the system.
        code: Option<i32>,
        /// The system's words.
        text: String,
    },
    /// The request ends before it starts.
    #[error("the range {}..{} is inverted", wanted.start, wanted.end)]
    Inverted {
        /// The request.
        wanted: Range<u64>,
    },
    /// The request leaves the source.
    #[error("bytes {}..{} wanted, but the source ends at {size}", wanted.start, wanted.end)]
    BeyondEnd {
        /// The request.
        wanted: Range<u64>,
        /// The present size of the source.
        size: u64,
    },
    /// The request was inside the file when it was opened, and the file has been cut since.
    #[error(
        "bytes {}..{} wanted, but the file shrank from {opened} to {present} bytes since it was opened",
        wanted.start, wanted.end
    )]
    Shrunk {
        /// The request.
        wanted: Range<u64>,
        /// The size when the file was opened.
        opened: u64,
        /// The size now.
        present: u64,
    },
    /// A file is not what it was when it was opened: one behind a network, or one whose bytes were copied
    /// from views.
    #[error("the file changed since it was opened ({what})")]
    Changed {
        /// The difference.
        what: String,
    },
    /// An index of a file is damaged, or of another state of the file.
    #[error("{what}")]
    Index {
        /// The fault.
        what: String,
    },
    /// A server, or the way to it, failed.
    #[error("{text}")]
    Remote {
        /// The fault, without credentials.
        text: String,
    },
    /// The host's object raised an error.
    #[error("{message}")]
    Callback {
        /// The host's words.
        message: String,
    },
    /// The host's object claimed more bytes than it was asked for.
    #[error("the callback claims {claimed} bytes where {asked} were asked for")]
    CallbackOverrun {
        /// Bytes asked for.
        asked: usize,
        /// Bytes it says it gave.
        claimed: usize,
    },
    /// The host's object panicked in an earlier call, so its state cannot be trusted.
    #[error("the callback panicked in an earlier call")]
    CallbackPanicked,
    /// A file that is being written belongs to the process that began it.
    #[error("process {process} is writing it, and this process, which was forked from that one, cannot")]
    Forked {
        /// The process that began.
        process: u32,
    },
    /// A file is being changed by another process or thread.
    #[error("it is being changed already, by this process or another one that has it locked")]
    Locked,
    /// A file that was changed is no longer the one under its name.
    #[error(
        "it was removed or replaced while it was being changed: the new data are in the file that was opened"
    )]
    Replaced,
    /// A stream no longer has bytes that were read before, or is read by another process.
    #[error("{what}")]
    Stream {
        /// The fault.
        what: String,
    },
    /// The work was given up on request.
    #[error("cancelled")]
    Cancelled,
    /// The answer does not fit in memory.
    #[error("no memory for {bytes} bytes")]
    OutOfMemory {
        /// Size of the answer.
        bytes: u64,
    },
}

impl Error {
    /// An error of `kind` in `uri`, at no particular byte.
    pub fn new(kind: ErrorKind, uri: impl Into<String>) -> Self {
        Self { kind, uri: uri.into(), at: None }
    }

    /// The same error, at this byte.
    #[must_use]
    pub fn at(mut self, byte: u64) -> Self {
        self.at = Some(byte);
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at {
            Some(at) => write!(f, "{}, byte {at}: {}", self.uri, self.kind),
            None => write!(f, "{}: {}", self.uri, self.kind),
        }
    }
}

impl From<std::io::Error> for ErrorKind {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::NotFound => Self::NotFound,
            std::io::ErrorKind::PermissionDenied => Self::PermissionDenied,
            kind => Self::Io { kind, code: error.raw_os_error(), text: error.to_string() },
        }
    }
}
