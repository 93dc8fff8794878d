//! Files and their objects.

use crate::{
    names::NameList,
    options::GivenOptions,
    pointer::{Out, free, handle, text, text_or_none},
    status::{Status, guard, guard_value},
};
use forthwith::{File, files, plan::Result};
use std::{
    collections::HashSet,
    ffi::{CString, c_char},
};

/// Opened file. Several threads may use it at once.
#[derive(Debug)]
pub struct FileHandle {
    pub(crate) file: File,
    format: CString,
}

impl FileHandle {
    /// Returns the path and the class of each table, once for all of its cycles.
    pub(crate) fn tables(&self) -> Result<Vec<(String, String)>> {
        let keys = self.file.keys("", true)?.into_iter().filter(|key| key.is_table);
        let mut seen = HashSet::new();
        let first = keys.filter(|key| seen.insert(key.path.clone()));
        Ok(first.map(|key| (key.path, key.class)).collect())
    }
}

/// Opens a file: a local path, a URL of HTTP, S3, Google Cloud Storage or Azure, or `-` for standard input.
/// The format is determined from the first bytes. `options` is null or a JSON object with `threads` (a
/// number), `store` (an object with options of the store of a URL), and options of the format, such as
/// `{"check_text": false}`.
///
/// # Safety
/// `uri` is a text that ends with NUL, `options` as well or null. `out` may be written to; the file is freed
/// by `forthwith_file_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn forthwith_open(
    uri: *const c_char,
    options: *const c_char,
    out: *mut *mut FileHandle,
) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        let (out, uri, options) =
            unsafe { (Out::of_handle(out)?, text(uri, "uri")?, text_or_none(options, "options")?) };
        let options = GivenOptions::parse(options)?.for_one_file()?;
        let source = files::source_with(uri, &options.store)?;
        let file = File::from_source_with(source, options.engine, &options.open)?;
        let format = CString::new(file.format()).unwrap_or_default();
        out.put(FileHandle { file, format });
        Ok(())
    })
}

/// Returns the name of the file's format, valid until the file is freed; null for null.
///
/// # Safety
/// `file` is null or a file that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn forthwith_file_format(file: *const FileHandle) -> *const c_char {
    guard_value(std::ptr::null(), || {
        // SAFETY: the caller's promise.
        unsafe { handle(file, "file") }.map_or(std::ptr::null(), |file| file.format.as_ptr())
    })
}

/// Lists the objects of a directory with their classes, in the order of the file. A null `directory` is the
/// top level. Subdirectories are included if `recursive` is not 0.
///
/// # Safety
/// `file` is a file that is not freed; `directory` is null or ends with NUL. `out` may be written to; the
/// list is freed by `forthwith_names_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn forthwith_file_keys(
    file: *const FileHandle,
    directory: *const c_char,
    recursive: i32,
    out: *mut *mut NameList,
) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        let (out, file, directory) =
            unsafe { (Out::of_handle(out)?, handle(file, "file")?, text_or_none(directory, "directory")?) };
        let keys = file.file.keys(directory.unwrap_or_default(), recursive != 0)?;
        out.put(NameList::new(keys.into_iter().map(|key| (key.path, key.class))));
        Ok(())
    })
}

/// Lists the tables of all directories with their classes.
///
/// # Safety
/// `file` is a file that is not freed. `out` may be written to; the list is freed by `forthwith_names_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn forthwith_file_tables(file: *const FileHandle, out: *mut *mut NameList) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        let (out, file) = unsafe { (Out::of_handle(out)?, handle(file, "file")?) };
        out.put(NameList::new(file.tables()?));
        Ok(())
    })
}

/// Frees a file; null is ignored. Its tables remain valid.
///
/// # Safety
/// `file` is null or a file that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn forthwith_file_free(file: *mut FileHandle) {
    // SAFETY: the caller's promise.
    guard_value((), || unsafe { free(file) });
}
