//! Status codes, error messages, and conversion of panics to errors.

use forthwith::plan::{Error, ErrorKind};
use std::{
    any::Any,
    cell::RefCell,
    ffi::{CString, c_char},
    panic::{AssertUnwindSafe, catch_unwind},
};

/// Result of a function that can fail. New values may be added.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Success.
    Ok = 0,
    /// An argument is null, not UTF-8, or out of range; an option or expression is invalid.
    Invalid = 1,
    /// The named file, object, table or column does not exist.
    NotFound = 2,
    /// The bytes of the file cannot be read.
    Io = 3,
    /// The bytes contradict the format.
    Damaged = 4,
    /// The data are valid, but this version cannot read them.
    Unsupported = 5,
    /// Memory cannot be allocated, or the data exceed a limit.
    Memory = 6,
    /// The callback stopped the loop.
    Cancelled = 7,
    /// An internal error of forthwith.
    Internal = 8,
}

/// Status and message of a failure.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) status: Status,
    pub(crate) message: String,
}

impl Failure {
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self { status: Status::Invalid, message: message.into() }
    }

    pub(crate) fn panicked(panic: &(dyn Any + Send)) -> Self {
        let message = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let message = message.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        Self { status: Status::Internal, message: format!("defect of forthwith: {message}") }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        use forthwith::io::ErrorKind as Io;
        let status = match &error.kind {
            ErrorKind::Source(source) if matches!(source.kind, Io::Cancelled) => Status::Cancelled,
            ErrorKind::Source(source) if matches!(source.kind, Io::NotFound | Io::NotListed) => {
                Status::NotFound
            }
            ErrorKind::Source(_) if !error.is_damage() => Status::Io,
            ErrorKind::NotFound { .. } => Status::NotFound,
            ErrorKind::Unsupported { .. } | ErrorKind::MissingValues { .. } => Status::Unsupported,
            ErrorKind::Invalid { .. } | ErrorKind::NotUtf8 { .. } => Status::Invalid,
            ErrorKind::OutOfMemory { .. } => Status::Memory,
            ErrorKind::Codec(forthwith::io::CodecError::OverLimit { .. }) => Status::Memory,
            ErrorKind::Cancelled => Status::Cancelled,
            ErrorKind::Compile(_) => Status::Internal,
            _ => Status::Damaged,
        };
        Self { status, message: error.to_string() }
    }
}

impl From<forthwith::columns::arrow::ExportError> for Failure {
    fn from(error: forthwith::columns::arrow::ExportError) -> Self {
        Self { status: Status::Unsupported, message: error.to_string() }
    }
}

impl From<forthwith::columns::Invalid> for Failure {
    fn from(error: forthwith::columns::Invalid) -> Self {
        Self { status: Status::Damaged, message: error.to_string() }
    }
}

thread_local! {
    static LAST: RefCell<CString> = RefCell::new(CString::default());
}

/// Runs a function of the interface. Errors and panics become a status, and their message is kept for the
/// thread.
pub(crate) fn guard(act: impl FnOnce() -> Result<(), Failure>) -> Status {
    let failure = match catch_unwind(AssertUnwindSafe(act)) {
        Ok(Ok(())) => return Status::Ok,
        Ok(Err(failure)) => failure,
        Err(panic) => Failure::panicked(&*panic),
    };
    keep(failure.message);
    failure.status
}

/// Returns the value of a function without a status, or `fallback` after a panic.
pub(crate) fn guard_value<T>(fallback: T, act: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(act)).unwrap_or_else(|panic| {
        keep(Failure::panicked(&*panic).message);
        fallback
    })
}

fn keep(message: String) {
    // A name from a file may contain NUL.
    let message = CString::new(message.replace('\0', "\u{fffd}")).unwrap_or_default();
    // The storage of a thread that is ending is not available.
    let _ = LAST.try_with(|last| *last.borrow_mut() = message);
}

/// Returns the message of the last failure in the calling thread, with file, object, byte offset and expected
/// value if known; empty if nothing failed. It is valid until the next failure in this thread.
#[unsafe(no_mangle)]
pub extern "C" fn forthwith_last_error() -> *const c_char {
    LAST.try_with(|last| last.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

/// Returns the version of the library, such as "0.1.0". It is a constant.
#[unsafe(no_mangle)]
pub extern "C" fn forthwith_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}
