//! Lists of names with their types.

use crate::pointer::{free, handle};
use crate::status::guard_value;
use std::ffi::{CString, c_char};

/// List of names with their types: objects with their classes, or columns with their types.
#[derive(Debug)]
pub struct NameList {
    names: Vec<(CString, CString)>,
}

impl NameList {
    pub(crate) fn new(names: impl IntoIterator<Item = (String, String)>) -> Self {
        let text = |text: String| CString::new(text.replace('\0', "\u{fffd}")).unwrap_or_default();
        Self { names: names.into_iter().map(|(name, kind)| (text(name), text(kind))).collect() }
    }
}

/// Returns the number of names; 0 for null.
///
/// # Safety
/// `names` is null or a list that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn forthwith_names_count(names: *const NameList) -> usize {
    // SAFETY: the caller's promise.
    guard_value(0, || unsafe { handle(names, "names") }.map_or(0, |list| list.names.len()))
}

/// Returns a name, valid until the list is freed; null if `index` is out of range.
///
/// # Safety
/// `names` is null or a list that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn forthwith_names_name(names: *const NameList, index: usize) -> *const c_char {
    // SAFETY: the caller's promise.
    unsafe { item(names, index, |(name, _)| name) }
}

/// Returns the class or type of a name, valid until the list is freed; null if `index` is out of range. The
/// type of a column that cannot be read is empty.
///
/// # Safety
/// `names` is null or a list that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn forthwith_names_type(names: *const NameList, index: usize) -> *const c_char {
    // SAFETY: the caller's promise.
    unsafe { item(names, index, |(_, kind)| kind) }
}

/// # Safety
/// Has the requirements of [`handle`].
unsafe fn item(
    names: *const NameList,
    index: usize,
    part: fn(&(CString, CString)) -> &CString,
) -> *const c_char {
    guard_value(std::ptr::null(), || {
        // SAFETY: the caller's promise.
        let list = unsafe { handle(names, "names") }.ok();
        list.and_then(|list| list.names.get(index)).map_or(std::ptr::null(), |item| part(item).as_ptr())
    })
}

/// Frees a list of names; null is ignored.
///
/// # Safety
/// `names` is null or a list that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn forthwith_names_free(names: *mut NameList) {
    // SAFETY: the caller's promise.
    guard_value((), || unsafe { free(names) });
}
