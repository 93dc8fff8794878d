//! Which files a server may read: those below its folders, reached without symbolic links.

use crate::{
    failure::{Failure, Result},
    human,
};
use std::{
    fs,
    path::{Component, Path, PathBuf},
};

/// The folders of a server, by their real paths.
pub(super) struct Folders {
    all: Vec<PathBuf>,
}

impl Folders {
    /// # Errors
    /// A name that is not one of a folder.
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

    /// The file or folder that a name means: a real path below one of the folders, or one relative to them, of which the
    /// first counts that is there. An object in a file follows a colon, and is returned with it.
    ///
    /// # Errors
    /// Why there is none, in words for the client.
    pub(super) fn find(&self, name: &str) -> Result<(PathBuf, String), String> {
        if name.len() > LONGEST_NAME {
            return Err(format!("a name of more than {LONGEST_NAME} bytes"));
        }
        let ends = name.match_indices(':').map(|(at, _)| at);
        // The name of a file may have a colon in it: the longest that is there.
        for at in ends.chain([name.len()]).collect::<Vec<_>>().into_iter().rev() {
            let (path, object) = name.split_at(at);
            if let Some(found) = self.real(Path::new(path))? {
                return Ok((found, object.to_owned()));
            }
        }
        Err(format!("there is no file {name:?} in the served folders: call list to see the files"))
    }

    /// The real path of a name.
    ///
    /// # Errors
    /// It leads out of the folders, or through a symbolic link.
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
                    // A pipe or a device may never answer.
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

    /// Lists the files of a folder, or of all of them, with their sizes.
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

/// How much more is read and listed.
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

/// Bytes of a name, which may end with the path of an object.
const LONGEST_NAME: usize = 8192;
/// Files that are listed.
const LISTED: usize = 500;
/// Names that are read, of all folders together.
const MOST_READ: usize = 20_000;
/// Folders in folders that are listed.
const DEEPEST: usize = 4;
