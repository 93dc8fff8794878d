//! Files that a server may read: those in its folders, reached without symbolic links.

use crate::{
    failure::{Failure, Result},
    human,
};
use std::{
    fs,
    path::{Component, Path, PathBuf},
};

/// Folders of a server, by their canonical paths.
pub(super) struct Folders {
    all: Vec<PathBuf>,
}

impl Folders {
    /// # Errors
    /// Returns an error if a path is not a folder.
    pub(super) fn of(named: &[PathBuf]) -> Result<Self> {
        let mut all = Vec::with_capacity(named.len());
        for path in named {
            let unreadable = |error| Failure::Unreadable { path: path.display().to_string(), error };
            let real = path.canonicalize().map_err(unreadable)?;
            if !real.is_dir() {
                return Err(Failure::misuse(format!("{} is not a folder", path.display())));
            }
            all.push(real);
        }
        Ok(Self { all })
    }

    /// Returns the file or folder of a name: an absolute path in one of the folders, or a path relative to
    /// the first folder in which it exists. The path of an object follows a colon, and is returned
    /// separately, with the colon.
    ///
    /// # Errors
    /// Returns a message for the client if the file does not exist or must not be read.
    pub(super) fn find(&self, name: &str) -> Result<(PathBuf, String), String> {
        if name.len() > LONGEST_NAME {
            return Err(format!("a name of more than {LONGEST_NAME} bytes"));
        }
        let ends = name.match_indices(':').map(|(at, _)| at);
        // File names may contain colons: the longest existing name is used.
        for at in ends.chain([name.len()]).collect::<Vec<_>>().into_iter().rev() {
            let (path, object) = name.split_at(at);
            if let Some(found) = self.real(Path::new(path))? {
                return Ok((found, object.to_owned()));
            }
        }
        Err(format!("there is no file {name:?} in the served folders: call list to see the files"))
    }

    /// Returns the real path of a name; `None` if it does not exist.
    ///
    /// # Errors
    /// Returns an error if the path leads out of the folders or through a symbolic link.
    fn real(&self, path: &Path) -> Result<Option<PathBuf>, String> {
        if path.components().any(|part| matches!(part, Component::ParentDir)) {
            return Err(format!("{} leads out of the served folders: names have no \"..\"", path.display()));
        }
        for folder in &self.all {
            let below = match path.is_absolute() {
                true => path.strip_prefix(folder).ok(),
                false => Some(path),
            };
            let Some(below) = below else { continue };
            let mut at = folder.clone();
            let mut is_there = true;
            for part in below.components() {
                let Component::Normal(part) = part else { continue };
                at.push(part);
                match fs::symlink_metadata(&at) {
                    Ok(found) if found.is_symlink() => {
                        return Err(format!("{} is a symbolic link, which is not followed", path.display()));
                    }
                    // Reading a pipe or a device may block forever.
                    Ok(found) if !found.is_file() && !found.is_dir() => {
                        return Err(format!("{} is neither a file nor a folder", path.display()));
                    }
                    Ok(_) => {}
                    Err(_) => {
                        is_there = false;
                        break;
                    }
                }
            }
            if is_there {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }

    /// Lists the files of a folder, or of all folders, with their sizes.
    pub(super) fn list(&self, below: Option<&Path>) -> String {
        let mut lines = Vec::new();
        let mut left = Left { listed: LISTED, read: MOST_READ };
        let all: Vec<&Path> =
            below.map_or_else(|| self.all.iter().map(PathBuf::as_path).collect(), |one| vec![one]);
        for folder in all {
            lines.push(format!("{}:", human::clean(&folder.display().to_string())));
            visit(folder, folder, 0, &mut left, &mut lines);
        }
        if left.listed == 0 {
            lines.push(format!("… cut after {LISTED} files: name a folder"));
        } else if left.read == 0 {
            lines.push(format!("… cut after {MOST_READ} names of files and folders: name a folder"));
        }
        lines.join("\n")
    }
}

/// Remaining numbers of files that may be listed and read.
struct Left {
    listed: usize,
    read: usize,
}

fn visit(top: &Path, folder: &Path, depth: usize, left: &mut Left, lines: &mut Vec<String>) {
    if left.read == 0 {
        return;
    }
    let Ok(found) = fs::read_dir(folder) else { return };
    let mut names: Vec<PathBuf> = found.flatten().take(left.read).map(|entry| entry.path()).collect();
    left.read -= names.len();
    names.sort();
    for path in names {
        let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
        let name = path.strip_prefix(top).unwrap_or(&path).display().to_string();
        if metadata.is_dir() && depth < DEEPEST {
            visit(top, &path, depth + 1, left, lines);
        } else if metadata.is_file() || metadata.is_dir() {
            if left.listed == 0 {
                return;
            }
            left.listed -= 1;
            let size = if metadata.is_dir() { "folder".into() } else { human::bytes(metadata.len()) };
            lines.push(format!("  {}  {size}", human::clean(&name)));
        }
    }
}

/// Maximum length in bytes of a name, including the path of an object.
const LONGEST_NAME: usize = 8192;
/// Maximum number of listed files.
const LISTED: usize = 500;
/// Maximum number of names that are read in all folders.
const MOST_READ: usize = 20_000;
/// Maximum depth of subfolders.
const DEEPEST: usize = 4;
