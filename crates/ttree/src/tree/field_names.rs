//! Lookup of fields by path or name.

use super::Tree;
use forthwith_plan::{ErrorKind, NameListing, Result, similar_names};
use std::collections::HashMap;

/// Fields by path and by name.
pub(super) struct NameIndex {
    by_path: HashMap<String, u32>,
    by_name: HashMap<String, Vec<u32>>,
}

impl Tree {
    /// Returns the index of a field in [`fields`](forthwith_plan::Dataset::fields), by its path, or by its
    /// name if that is unique.
    ///
    /// # Errors
    /// Returns an error if there is no such field, or if the name is ambiguous.
    pub fn find(&self, name: &str) -> Result<u32> {
        let index = self.index.get_or_make(|| self.make_index());
        let name = name.strip_prefix('/').unwrap_or(name);
        if let Some(&field) = index.by_path.get(name) {
            return Ok(field);
        }
        match index.by_name.get(name).map(Vec::as_slice) {
            Some(&[field]) => Ok(field),
            Some(several) => {
                let paths: Vec<&str> = several
                    .iter()
                    .take(5)
                    .map(|&field| &*self.metadata.fields[field as usize].path)
                    .collect();
                let what = format!("{} branches are named {name:?}: {}", several.len(), paths.join(", "));
                Err(self.locate(ErrorKind::Invalid { what }))
            }
            None => {
                let near = similar_names(name, self.metadata.fields.iter().map(|field| &*field.path));
                let known = self.metadata.fields.iter().filter(|field| field.parent.is_none());
                let known = NameListing::of(known.map(|field| &*field.path));
                Err(self.locate(ErrorKind::NotFound { what: "branch", name: name.into(), near, known }))
            }
        }
    }

    fn make_index(&self) -> NameIndex {
        let mut index = NameIndex { by_path: HashMap::new(), by_name: HashMap::new() };
        for (number, field) in (0..).zip(&self.metadata.fields) {
            // A repeated path is that of its first field.
            index.by_path.entry(field.path.clone()).or_insert(number);
            index.by_name.entry(field.name.clone()).or_default().push(number);
        }
        index
    }
}
