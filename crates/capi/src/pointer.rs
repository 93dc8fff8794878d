//! Pointers of the caller: null checks, reads, writes and freeing. The functions of the interface dereference
//! pointers only through these functions.

use crate::status::Failure;
use std::ffi::{CStr, c_char};

/// Maximum length of a list of names; more are assumed to be an error of the caller.
const MOST_NAMES: usize = 1 << 20;

/// Returns a string of the caller.
///
/// # Safety
/// A pointer that is not null points to a text that ends with NUL and lives as long as `'a`.
pub(crate) unsafe fn text<'a>(pointer: *const c_char, name: &str) -> Result<&'a str, Failure> {
    if pointer.is_null() {
        return Err(Failure::invalid(format!("{name} is null")));
    }
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str().map_err(|_| Failure::invalid(format!("{name} is not UTF-8: {:?}", text.to_string_lossy())))
}

/// Returns a string of the caller; `None` for null.
///
/// # Safety
/// Has the requirements of [`text`].
pub(crate) unsafe fn text_or_none<'a>(
    pointer: *const c_char,
    name: &str,
) -> Result<Option<&'a str>, Failure> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller's promise.
    unsafe { text(pointer, name) }.map(Some)
}

/// Returns a list of strings of the caller; `None` for null.
///
/// # Safety
/// A pointer that is not null points to `count` pointers that meet the requirements of [`text`].
pub(crate) unsafe fn texts<'a>(
    pointer: *const *const c_char,
    count: usize,
    name: &str,
) -> Result<Option<Vec<&'a str>>, Failure> {
    if pointer.is_null() {
        return match count {
            0 => Ok(None),
            _ => Err(Failure::invalid(format!("{name} is null, but has a length of {count}"))),
        };
    }
    if count > MOST_NAMES {
        return Err(Failure::invalid(format!(
            "{name} has a length of {count}, which must not be above {MOST_NAMES}"
        )));
    }
    let item = |at: usize| {
        // SAFETY: the caller's promise: `at` is below `count`.
        let pointer = unsafe { *pointer.add(at) };
        // SAFETY: the caller's promise.
        unsafe { text(pointer, &format!("{name}[{at}]")) }
    };
    (0..count).map(item).collect::<Result<_, _>>().map(Some)
}

/// Returns the value of a handle.
///
/// # Safety
/// A pointer that is not null points to a `T` that was put by [`Out::put`] and is not freed, or for other
/// types to a valid `T`.
pub(crate) unsafe fn handle<'a, T>(pointer: *const T, name: &str) -> Result<&'a T, Failure> {
    // SAFETY: the caller's promise.
    unsafe { pointer.as_ref() }.ok_or_else(|| Failure::invalid(format!("{name} is null")))
}

/// Returns the value of a handle for modification.
///
/// # Safety
/// Has the requirements of [`handle`], and no other thread uses the handle.
pub(crate) unsafe fn handle_mut<'a, T>(pointer: *mut T, name: &str) -> Result<&'a mut T, Failure> {
    // SAFETY: the caller's promise.
    unsafe { pointer.as_mut() }.ok_or_else(|| Failure::invalid(format!("{name} is null")))
}

/// Output parameter. For a handle, it is null until a result is written.
pub(crate) struct Out<T>(*mut T);

impl<T> Out<T> {
    /// # Safety
    /// A pointer that is not null may be written to, with or without a value before.
    pub(crate) unsafe fn new(pointer: *mut T, name: &str) -> Result<Self, Failure> {
        if pointer.is_null() {
            return Err(Failure::invalid(format!("{name} is null")));
        }
        Ok(Self(pointer))
    }

    /// Creates an output parameter and writes `empty` to it.
    ///
    /// # Safety
    /// Has the requirements of [`new`](Self::new).
    pub(crate) unsafe fn with(pointer: *mut T, name: &str, empty: T) -> Result<Self, Failure> {
        // SAFETY: the caller's promise.
        let out = unsafe { Self::new(pointer, name) }?;
        // SAFETY: as in `write`.
        unsafe { out.0.write(empty) }
        Ok(out)
    }

    /// Writes the result.
    pub(crate) fn write(self, value: T) {
        // SAFETY: `new` was promised that this may be written to.
        unsafe { self.0.write(value) }
    }
}

impl<T> Out<*mut T> {
    /// Creates an output parameter for a handle, and sets it to null.
    ///
    /// # Safety
    /// Has the requirements of [`new`](Self::new).
    pub(crate) unsafe fn of_handle(pointer: *mut *mut T) -> Result<Self, Failure> {
        // SAFETY: the caller's promise.
        unsafe { Self::with(pointer, "out", std::ptr::null_mut()) }
    }

    /// Writes a new handle, which the caller must free with [`free`].
    pub(crate) fn put(self, value: T) {
        self.write(Box::into_raw(Box::new(value)));
    }
}

/// Frees a handle; null is ignored.
///
/// # Safety
/// A pointer that is not null was put by [`Out::put`], and is neither freed nor in use.
pub(crate) unsafe fn free<T>(pointer: *mut T) {
    if !pointer.is_null() {
        // SAFETY: the caller's promise: the box was leaked there.
        drop(unsafe { Box::from_raw(pointer) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Status;

    #[test]
    fn null_is_an_error_that_names_the_argument() {
        // SAFETY: null, which is checked.
        let failures = unsafe {
            [
                text(std::ptr::null(), "uri").map(drop),
                handle::<u8>(std::ptr::null(), "file").map(drop),
                handle_mut::<u8>(std::ptr::null_mut(), "steps").map(drop),
                texts(std::ptr::null(), 2, "names").map(drop),
                Out::<u8>::new(std::ptr::null_mut(), "out").map(drop),
            ]
        };
        let found: Vec<_> = failures.into_iter().map(|failure| failure.map_err(|f| f.message)).collect();
        let expected = [
            "uri is null",
            "file is null",
            "steps is null",
            "names is null, but has a length of 2",
            "out is null",
        ];
        assert_eq!(found, expected.map(|text| Err(text.to_owned())));
    }

    #[test]
    fn lists_of_texts_are_read_and_bounded() {
        let names = [c"a".as_ptr(), c"\xff".as_ptr(), std::ptr::null()];
        // SAFETY: three pointers, of which the last one is checked for null.
        unsafe {
            assert_eq!(texts(names.as_ptr(), 1, "names").ok().flatten(), Some(vec!["a"]));
            let failed = texts(names.as_ptr(), 2, "names").unwrap_err();
            assert_eq!(failed.message, "names[1] is not UTF-8: \"\u{fffd}\"");
            assert_eq!(texts(&raw const names[2], 1, "names").unwrap_err().message, "names[0] is null");
            let failed = texts(names.as_ptr(), usize::MAX, "names").unwrap_err();
            assert_eq!(failed.status, Status::Invalid);
            assert!(texts(std::ptr::null(), 0, "names").is_ok_and(|names| names.is_none()));
        }
    }

    #[test]
    fn handles_are_put_used_and_freed() {
        let mut place = std::ptr::dangling_mut::<String>();
        // SAFETY: the place is ours; the handle is freed once.
        unsafe {
            let out = Out::of_handle(&raw mut place);
            assert!(place.is_null());
            if let Ok(out) = out {
                out.put("value".to_owned());
            }
            assert_eq!(handle(place, "place").map(String::as_str).ok(), Some("value"));
            free(place);
            free(std::ptr::null_mut::<String>());
        }
    }
}
