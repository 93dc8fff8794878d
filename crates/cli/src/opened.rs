//! From what was typed to an opened tree.

use crate::{
    failure::{Failure, Result},
    target::Target,
};
use forthwith::{
    Engine, File, Options, Table, io,
    plan::{Error, ErrorKind},
};
use std::{collections::BTreeSet, sync::Arc};

/// Opens the file with as many threads as asked for.
pub(crate) fn file(target: &Target, threads: Option<usize>) -> Result<File> {
    let mut options = Options::default();
    if let Some(threads) = threads {
        options.threads = threads;
    }
    let source = io::open(&target.uri).map_err(Error::new)?;
    Ok(File::from_source(source, Arc::new(Engine::new(options)))?)
}

/// A tree, and perhaps one of its branches.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) table: Table,
    pub(crate) branch: Option<u32>,
    /// Whether the tree was named; otherwise it was the only one.
    pub(crate) named: bool,
}

impl Place {
    /// Text that is none is no error.
    pub(crate) fn with_unchecked_text(self, unchecked: bool) -> Self {
        Self { table: self.table.with_unchecked_text(unchecked), ..self }
    }

    /// What to tell somebody who did not name the tree.
    pub(crate) fn note(&self) -> Option<String> {
        // A file that is one table has no name for it.
        (!self.named && !self.table.path().is_empty())
            .then(|| format!("the only tree is {}", crate::human::clean(self.table.path())))
    }
}

/// Finds the tree, and the branch, that a path in a file means. The longest path that is a tree wins; the rest is the branch, whose
/// name may contain `/` too. No path means the only tree there is.
pub(crate) fn place(file: &File, object: &str) -> Result<Place> {
    if object.is_empty() {
        let table = only_tree(file)?;
        return Ok(Place { table, branch: None, named: false });
    }
    let missing = match file.find(object) {
        Ok(key) if key.is_directory => {
            return Err(Failure::WrongObject { path: key.path, class: key.class, needed: "tree" });
        }
        Ok(key) if !key.is_table && !is_other_table(&key.class) => {
            return Err(Failure::WrongObject { path: key.path, class: key.class, needed: "tree" });
        }
        Ok(_) => return Ok(Place { table: file.table(object)?, branch: None, named: true }),
        Err(error) if is_not_found(&error) => error,
        Err(error) => return Err(error.into()),
    };
    for (slash, _) in object.match_indices('/').rev() {
        match file.find(&object[..slash]) {
            Ok(key) if key.is_table => {
                let table = file.table(&object[..slash])?;
                let branch = table.find(&object[slash + 1..])?;
                return Ok(Place { table, branch: Some(branch), named: true });
            }
            Ok(_) => {}
            Err(error) if is_not_found(&error) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(missing.into())
}

fn is_not_found(error: &Error) -> bool {
    matches!(error.kind, ErrorKind::NotFound { .. })
}

/// The paths of all trees of a file, in its order, each once however many cycles it has.
pub(crate) fn trees(file: &File) -> Result<Vec<String>> {
    let mut seen = BTreeSet::new();
    let tables = file.keys("", true)?.into_iter().filter(|key| key.is_table).map(|key| key.path);
    Ok(tables.filter(|path| seen.insert(path.clone())).collect())
}

fn only_tree(file: &File) -> Result<Table> {
    let mut trees = trees(file)?;
    if trees.is_empty()
        && let Some(table) = other_table(file)?
    {
        return Ok(file.table(&table)?);
    }
    match (trees.pop(), trees.is_empty()) {
        (Some(path), true) => Ok(file.table(&path)?),
        (last, _) => {
            trees.extend(last);
            Err(Failure::WhichTree { uri: file.uri().to_owned(), trees })
        }
    }
}

/// A table of a kind that is no tree: the façade names it precisely as not supported.
pub(crate) fn other_table(file: &File) -> Result<Option<String>> {
    Ok(file.keys("", true)?.into_iter().find(|key| is_other_table(&key.class)).map(|key| key.path))
}

fn is_other_table(class: &str) -> bool {
    class.ends_with("RNTuple")
}
