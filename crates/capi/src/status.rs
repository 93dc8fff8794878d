//! Statuses, messages, and panics that become errors.

use forthwith::plan::{Error, ErrorKind};
use std::{
    any::Any,
    cell::RefCell,
    ffi::{CString, c_char},
    panic::{AssertUnwindSafe, catch_unwind},
};

/// The result of a function that can fail. New values may be added.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Success.
    Ok = 0,
    /// An argument is null, not UTF-8, or out of range; an option or expression is invalid.
    Invalid = 1,
    /// No file, object, table or column of that name.
    NotFound = 2,
    /// The bytes of the file cannot be read.
    Io = 3,
    /// The bytes contradict the format.
    Damaged = 4,
    /// Valid data that this version cannot read.
    Unsupported = 5,
    /// Memory cannot be allocated, or the data exceed a limit.
    Memory = 6,
    /// The callback stopped the loop.
    Cancelled = 7,
    /// A defect of forthwith.
    Internal = 8,
}

/// A failure: its status and its message.
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

/// Runs a function of the interface: errors and panics become a status, with the message kept for the thread.
pub(crate) fn guard(act: impl FnOnce() -> Result<(), Failure>) -> Status {
    let failure = match catch_unwind(AssertUnwindSafe(act)) {
        Ok(Ok(())) => return Status::Ok,
        Ok(Err(failure)) => failure,
        Err(panic) => Failure::panicked(&*panic),
    };
    keep(failure.message);
    failure.status
}

/// The value of a function without a status, or `fallback` after a panic.
pub(crate) fn guard_value<T>(fallback: T, act: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(act)).unwrap_or_else(|panic| {
        keep(Failure::panicked(&*panic).message);
        fallback
    })
}

fn keep(message: String) {
    // A name from a file may hold a NUL.
    let message = CString::new(message.replace('\0', "\u{fffd}")).unwrap_or_default();
    // A thread that is ending has no message.
    let _ = LAST.try_with(|last| *last.borrow_mut() = message);
}

/// The message of the last failure in the calling thread: file, object and byte as far as known, with the expected value.
/// Empty if nothing failed. Valid until the next failure in this thread.
#[unsafe(no_mangle)]
pub extern "C" fn forthwith_last_error() -> *const c_char {
    LAST.try_with(|last| last.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

/// The version of the library, such as "0.1.0". A constant.
#[unsafe(no_mangle)]
pub extern "C" fn forthwith_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}
