//! Lists of names with their types.

use crate::pointer::{free, handle};
use crate::status::guard_value;
use std::ffi::{CString, c_char};

/// A list of names, each with a type: objects with their classes, or columns with their types.
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

/// The number of names; 0 for null.
///
/// # Safety
/// `names` is null or a list that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn forthwith_names_count(names: *const NameList) -> usize {
    // SAFETY: the caller's promise.
    guard_value(0, || unsafe { handle(names, "names") }.map_or(0, |list| list.names.len()))
}

/// A name, valid until the list is freed; null if there are not as many.
///
/// # Safety
/// `names` is null or a list that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn forthwith_names_name(names: *const NameList, index: usize) -> *const c_char {
    // SAFETY: the caller's promise.
    unsafe { item(names, index, |(name, _)| name) }
}

/// The class or type of a name, valid until the list is freed; null if there are not as many. A column that cannot be
/// read has an empty type.
///
/// # Safety
/// `names` is null or a list that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn forthwith_names_type(names: *const NameList, index: usize) -> *const c_char {
    // SAFETY: the caller's promise.
    unsafe { item(names, index, |(_, kind)| kind) }
}

/// # Safety
/// As [`handle`].
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
