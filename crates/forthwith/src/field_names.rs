//! Look-up of fields by their paths and names.

use forthwith_plan::Field;
use std::{
    collections::HashMap,
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
};

/// Number of scans of all fields before an index is built, so that programs that read a few columns do not
/// build one.
const SCANS: u32 = 16;

/// Look-up of a table's fields by path and by name: by scans at first, and by a hash index after [`SCANS`]
/// scans.
#[derive(Default)]
pub(crate) struct FieldNames {
    scans: AtomicU32,
    index: OnceLock<Index>,
}

struct Index {
    /// First field of each path.
    paths: HashMap<Box<str>, u32>,
    /// Field of each name; `None` if several fields have it. Parts of other fields are excluded.
    names: HashMap<Box<str>, Option<u32>>,
}

impl FieldNames {
    /// Returns the first field with a path.
    pub(crate) fn at_path(&self, fields: &[Field], path: &str) -> Option<u32> {
        match self.index(fields) {
            Some(index) => index.paths.get(path).copied(),
            None => fields.iter().position(|field| field.path == path).map(|at| at as u32),
        }
    }

    /// Returns the field with a name, if only one has it.
    pub(crate) fn named(&self, fields: &[Field], name: &str) -> Option<u32> {
        if let Some(index) = self.index.get() {
            return index.names.get(name).copied().flatten();
        }
        let mut named = fields.iter().enumerate().filter(|(_, field)| field.name == name && !field.is_part);
        match (named.next(), named.next()) {
            (Some((at, _)), None) => Some(at as u32),
            _ => None,
        }
    }

    /// Returns the index; `None` before [`SCANS`] look-ups have scanned all fields.
    fn index(&self, fields: &[Field]) -> Option<&Index> {
        if self.index.get().is_none() && self.scans.fetch_add(1, Ordering::Relaxed) < SCANS {
            return None;
        }
        Some(self.index.get_or_init(|| Index::new(fields)))
    }
}

impl Index {
    fn new(fields: &[Field]) -> Self {
        let mut paths = HashMap::with_capacity(fields.len());
        let mut names = HashMap::with_capacity(fields.len());
        for (at, field) in fields.iter().enumerate() {
            let at = at as u32;
            paths.entry(field.path.as_str().into()).or_insert(at);
            if !field.is_part {
                names.entry(field.name.as_str().into()).and_modify(|one| *one = None).or_insert(Some(at));
            }
        }
        Self { paths, names }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(path: &str, is_part: bool) -> Field {
        let name = path.rsplit('/').next().unwrap_or(path);
        Field { path: path.to_owned(), is_part, ..Field::named(name, "") }
    }

    #[test]
    fn look_ups_by_scan_and_by_index_agree() {
        let paths = ["a", "a/x", "b", "b/x", "b/y", "b", "y/z"];
        let fields: Vec<Field> = paths.iter().map(|path| field(path, *path == "b/y")).collect();
        let wanted = ["a", "x", "b", "b/x", "y", "z", "a/x", "", "a/"];
        let names = FieldNames::default();
        let look_up = || wanted.map(|name| (names.at_path(&fields, name), names.named(&fields, name)));
        let scanned = look_up();
        assert!(names.index.get().is_none());
        while names.index(&fields).is_none() {}
        assert_eq!(look_up(), scanned);
        assert_eq!(names.at_path(&fields, "b"), Some(2));
        assert_eq!((names.named(&fields, "x"), names.named(&fields, "z")), (None, Some(6)));
    }
}
