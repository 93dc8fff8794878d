//! Raw fields of keys, directories and streamer infos of a ROOT file.

use crate::file::File;
use forthwith::{
    plan::{Error, Result},
    root::{self, ElementKind, RootFile},
};
use pyo3::prelude::*;

/// Bytes of the record and of its key, position of the record and of its directory, time of writing, version.
type KeyFields = (i32, u16, u64, u64, u32, i16);
/// Version, times of creation and modification, bytes of the list of keys and of the name, and positions of
/// the directory, its parent and the list.
type DirectoryFields = (i16, u32, u32, u32, u32, u64, u64, u64);
/// Class of the element, name, type, comment; type code of ROOT, size, array length and dimensions; version
/// and checksum of a base; counter; container type and content type of a collection.
type Element = (
    String,
    String,
    String,
    String,
    i32,
    i32,
    u32,
    Vec<u32>,
    Option<i32>,
    u32,
    Option<Counter>,
    Option<(i32, i32)>,
);
/// Version of its class, name, class.
type Counter = (i32, String, String);
/// Class, version, checksum and members.
type Info = (String, i32, u32, Vec<Element>);

/// Returns the fields of an object's key.
#[pyfunction]
pub(super) fn root_key(py: Python<'_>, file: &Bound<'_, File>, path: &str) -> PyResult<KeyFields> {
    of(py, file, "keys", |root| {
        let key = root.find(path)?.key;
        Ok((key.nbytes, key.keylen, key.seek, key.seek_directory, key.datime.0, key.version))
    })
}

/// Returns the fields of a directory's record; an empty path is the top directory.
#[pyfunction]
pub(super) fn root_directory(
    py: Python<'_>,
    file: &Bound<'_, File>,
    path: &str,
) -> PyResult<DirectoryFields> {
    of(py, file, "directories", |root| {
        let top = root.top();
        let directory = if path.is_empty() { top } else { top.open(&root.find(path)?.key)? };
        let record = directory.record();
        Ok((
            record.version,
            record.created.0,
            record.modified.0,
            record.nbytes_keys,
            record.nbytes_name,
            record.seek_directory,
            record.seek_parent,
            record.seek_keys,
        ))
    })
}

/// Returns class, version, checksum and members of each streamer info of a file.
#[pyfunction]
pub(super) fn root_streamers(py: Python<'_>, file: &Bound<'_, File>) -> PyResult<Vec<Info>> {
    let infos = of(py, file, "streamer infos", |root| root.streamers()?.infos())?;
    let infos = infos.iter().map(|info| {
        (info.class.to_string(), info.version, info.checksum, info.elements.iter().map(element).collect())
    });
    Ok(infos.collect())
}

fn element(element: &root::Element) -> Element {
    let (mut class, mut base, mut checksum_of_base, mut container) = (element.kind.class(), None, 0, None);
    match element.kind {
        ElementKind::Base { version, checksum } => (base, checksum_of_base) = (version, checksum),
        ElementKind::Stl { container: which, content } => container = Some((which, content)),
        ElementKind::Artificial => class = "TStreamerArtificial",
        _ => {}
    }
    let counter = element.counter().map(|of| (of.version, of.name.to_string(), of.class.to_string()));
    (
        class.to_owned(),
        element.name.to_string(),
        element.type_name.to_string(),
        element.title.to_string(),
        element.code,
        element.size,
        element.array_length,
        element.dimensions.clone(),
        base,
        checksum_of_base,
        counter,
        container,
    )
}

/// Calls `find` with a ROOT file. Returns an error for other formats.
fn of<T: Send>(
    py: Python<'_>,
    file: &Bound<'_, File>,
    what: &str,
    find: impl Fn(&RootFile) -> Result<T> + Send + Sync,
) -> PyResult<T> {
    let handle = &file.get().handle;
    handle.run(py, || {
        let found = match handle.file.own::<RootFile>() {
            Some(root) => find(root),
            None => Err(Error::unsupported(format!(
                "{what} of {} files, because only ROOT files have them",
                handle.file.format()
            ))),
        };
        found.map_err(|error| error.in_file(handle.file.uri()))
    })
}
