//! Directories: their records, and the keys in them.

use std::collections::HashSet;
use std::sync::Arc;

use forthwith_plan::{Error, ErrorKind, NameListing, Result, similar_names};

use super::RootFile;
use super::contents::{Contents, DirectoryRecord};
use crate::record::Key;

/// A directory of a file. Cheap to clone; its keys are read when they are first needed.
#[derive(Clone, Debug)]
pub struct Directory {
    pub(super) file: RootFile,
    pub(super) path: Arc<str>,
    pub(super) contents: Arc<Contents>,
}

/// An object found by its path.
#[derive(Clone, Debug)]
pub struct Found {
    /// Path without a cycle, such as `dir/tree`.
    pub path: String,
    /// Key of the object.
    pub key: Key,
}

impl RootFile {
    /// Returns the top directory.
    #[must_use]
    pub fn top(&self) -> Directory {
        Directory { file: self.clone(), path: "".into(), contents: self.shared.top.clone() }
    }

    /// Returns the keys of the top directory, in the order of the file.
    ///
    /// # Errors
    /// Returns an error if the list cannot be read, or is invalid.
    pub fn keys(&self) -> Result<Arc<[Key]>> {
        self.top().keys()
    }

    /// Returns every key of the file with its path. See [`Directory::keys_recursive`].
    ///
    /// # Errors
    /// Returns an error if a directory's record or list of keys cannot be read.
    pub fn keys_recursive(&self) -> Result<Vec<Found>> {
        self.top().keys_recursive()
    }

    /// Finds an object by its path. See [`Directory::find`].
    ///
    /// # Errors
    /// Returns an error if there is no such object, or if a directory on the path cannot be read.
    pub fn find(&self, path: &str) -> Result<Found> {
        self.top().find(path)
    }
}

impl Directory {
    /// Returns the file of the directory.
    #[must_use]
    pub fn file(&self) -> &RootFile {
        &self.file
    }

    /// Returns the path of the directory, which is empty for the top directory.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the contents of the directory's record.
    #[must_use]
    pub fn record(&self) -> &DirectoryRecord {
        &self.contents.record
    }

    /// Returns the keys of the directory, in the order of the file.
    ///
    /// # Errors
    /// Returns an error if the list cannot be read, or is invalid.
    pub fn keys(&self) -> Result<Arc<[Key]>> {
        self.file.keys_of(&self.contents).map_err(|error| self.here(error))
    }

    /// Opens the subdirectory of a key.
    ///
    /// # Errors
    /// Returns an error if the key is not that of a directory, or if its record cannot be read.
    pub fn open(&self, key: &Key) -> Result<Self> {
        if !key.is_directory() {
            let what = format!("{} is a {}, not a directory", self.join(&key.name), key.class_name);
            return Err(self.here(Error::invalid(what)));
        }
        let contents = self.file.load_directory(key).map_err(|error| self.here(error))?;
        Ok(Self { file: self.file.clone(), path: self.join(&key.name).into(), contents })
    }

    /// Finds an object by its path: `name`, `name;cycle` or `dir/sub/name;cycle`. The default is the highest
    /// cycle.
    ///
    /// A name may contain `/` or `;`: the longest name that matches a key wins.
    ///
    /// # Errors
    /// Returns [`ErrorKind::NotFound`] with the most similar names, or an error if a directory on the path
    /// cannot be read.
    pub fn find(&self, path: &str) -> Result<Found> {
        let path = path.trim_start_matches('/');
        let (directory, rest) = match self.search(path)? {
            Ok(found) => return Ok(found),
            Err(missing) => missing,
        };
        let keys = directory.keys()?;
        let (name, cycle) = split_cycle(rest);
        let (what, near, known) = if cycle.is_some() && keys.iter().any(|key| &*key.name == name) {
            let cycles = keys.iter().filter(|key| &*key.name == name).take(3);
            ("cycle", cycles.map(|key| directory.join(&key.label())).collect(), NameListing::default())
        } else {
            let names = similar_names(name, keys.iter().map(|key| &*key.name));
            let known = NameListing::of(keys.iter().map(|key| &*key.name));
            ("object", names.iter().map(|name| directory.join(name)).collect(), known)
        };
        Err(self.here(ErrorKind::NotFound { what, name: path.to_owned(), near, known }))
    }

    /// Searches for the whole path in this directory, then for the rest of it in the directories with which
    /// it may begin, the longest name first. No directory is searched twice for the same rest, as directories
    /// of a file may contain each other. If there is no such object, returns the directory with the longest
    /// part of the path, and the rest of the path.
    fn search<'p>(&self, path: &'p str) -> Result<Result<Found, (Self, &'p str)>> {
        let mut visited = vec![Visit { contents: Arc::clone(&self.contents), from: None, at: 0 }];
        let mut known = HashSet::new();
        // Directories to search, the next one last.
        let mut open: Vec<(usize, Key, usize)> = Vec::new();
        let (mut number, mut deepest) = (0, 0);
        loop {
            let (contents, at) = (Arc::clone(&visited[number].contents), visited[number].at);
            if at > visited[deepest].at {
                deepest = number;
            }
            let here = || self.below(&visited, number);
            let keys = self.file.keys_of(&contents).map_err(|error| here().here(error))?;
            if let Some(key) = pick(&keys, &path[at..]) {
                return Ok(Ok(Found { path: here().join(&key.name), key: key.clone() }));
            }
            let longer = beginnings(&keys, &path[at..]);
            open.extend(longer.into_iter().map(|(length, key)| (number, key.clone(), at + length)));
            let next = std::iter::from_fn(|| open.pop()).find(|(_, key, at)| known.insert((key.seek, *at)));
            let Some((from, key, at)) = next else {
                let rest = &path[visited[deepest].at..];
                return Ok(Err((self.below(&visited, deepest), rest)));
            };
            let contents = self.file.load_directory(&key);
            let contents = contents.map_err(|error| self.below(&visited, from).here(error))?;
            visited.push(Visit { contents, from: Some((from, key.name)), at });
            number = visited.len() - 1;
        }
    }

    /// Returns a visited directory.
    fn below(&self, visited: &[Visit], number: usize) -> Self {
        let mut names = Vec::new();
        let mut at = number;
        while let Some((parent, name)) = &visited[at].from {
            names.push(&**name);
            at = *parent;
        }
        names.reverse();
        let path = if names.is_empty() { Arc::clone(&self.path) } else { self.join(&names.join("/")).into() };
        Self { file: self.file.clone(), path, contents: Arc::clone(&visited[number].contents) }
    }

    pub(super) fn join(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}/{name}", self.path) }
    }

    fn here(&self, error: impl Into<Error>) -> Error {
        let error = error.into().in_file(self.file.uri());
        if self.path.is_empty() { error } else { error.in_object(&self.path) }
    }
}

/// A directory that a search visited.
struct Visit {
    contents: Arc<Contents>,
    /// Index of its parent among those visited, and its name there.
    from: Option<(usize, Box<str>)>,
    /// Start of the rest of the path.
    at: usize,
}

/// Returns the key of a name with or without a cycle.
fn pick<'k>(keys: &'k [Key], name: &str) -> Option<&'k Key> {
    let exact = keys.iter().filter(|key| &*key.name == name).max_by_key(|key| key.cycle);
    exact.or_else(|| {
        let (name, cycle) = split_cycle(name);
        keys.iter().find(|key| Some(key.cycle) == cycle && &*key.name == name)
    })
}

/// Returns the directories with whose name, with or without a cycle, and a slash a path begins, and the
/// lengths of these. The shortest name comes first. For several keys with one name, it is the highest cycle,
/// unless the path has a cycle.
fn beginnings<'k>(keys: &'k [Key], path: &str) -> Vec<(usize, &'k Key)> {
    let mut found: Vec<(usize, bool, &Key)> = Vec::new();
    for key in keys.iter().filter(|key| key.is_directory()) {
        let Some(behind) = path.strip_prefix(&*key.name) else { continue };
        if behind.starts_with('/') {
            found.push((key.name.len() + 1, true, key));
        } else if let Some((cycle, _)) = behind.strip_prefix(';').and_then(|rest| rest.split_once('/'))
            && cycle.parse() == Ok(key.cycle)
        {
            found.push((key.name.len() + cycle.len() + 2, false, key));
        }
    }
    // The sort is stable, so that the first of equal keys comes first.
    found
        .sort_by_key(|&(length, exact, key)| (length, !exact, exact.then_some(std::cmp::Reverse(key.cycle))));
    found.dedup_by_key(|&mut (length, ..)| length);
    found.into_iter().map(|(length, _, key)| (length, key)).collect()
}

/// Splits a name into name and cycle.
fn split_cycle(name: &str) -> (&str, Option<u16>) {
    match name.rsplit_once(';') {
        Some((before, cycle)) => match cycle.parse() {
            Ok(cycle) => (before, Some(cycle)),
            Err(_) => (name, None),
        },
        None => (name, None),
    }
}
