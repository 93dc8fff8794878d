//! Expansion of lists, patterns and directories of files.

use super::{STANDARD_INPUT, StoreOptions, expand_stored, is_pattern, is_stored_pattern, matches};
use crate::formats;
use forthwith_io as io;
use forthwith_plan::{Error, Result};
use std::{
    ffi::OsStr,
    fs,
    io::{ErrorKind as IoKind, Read},
    path::{Component, Path, PathBuf},
};

/// Maximum depth of directories.
const DEEPEST: usize = 64;
/// Extensions of files that are incomplete or backups.
const PARTIAL: [&str; 9] =
    ["part", "partial", "tmp", "temp", "crdownload", "download", "inprogress", "swp", "bak"];

/// Returns the files that names refer to, in the order of the names.
///
/// * A file, a URL and `-` refer to themselves; so does a name that matches nothing else, so that opening it
///   reports the error.
/// * A pattern (`*`, `?`, `[a-z]` within a part of a path, `**` for any directories) refers to all matches,
///   sorted. A file whose name equals the pattern takes precedence.
/// * A URL with a pattern refers to the matching objects of the store, with the settings of the environment
///   ([`expand_stored`]).
/// * A directory refers to the files of known formats in it and its subdirectories, sorted.
///
/// Hidden files and directories (names that start with `.`, in directories also with `_`) are left out unless
/// a pattern names them, and so are incomplete files and backups, by their usual extensions (`part`, `tmp`,
/// `bak`, `~` and the like). An unreadable file or directory is never left out.
///
/// # Errors
/// A pattern has no matches; a directory has no file of a known format, or cannot be read, with its name.
pub fn expand<P: AsRef<Path>>(names: &[P]) -> Result<Vec<PathBuf>> {
    Ok(expand_telling(names)?.files)
}

/// Files that names refer to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expanded {
    /// The files that [`expand`] returns.
    pub files: Vec<PathBuf>,
    /// Matches that were left out because their names mark them as incomplete or backups.
    pub partial: Vec<PathBuf>,
}

/// Expands names like [`expand`], and also returns the files that were left out.
///
/// # Errors
/// The same.
pub fn expand_telling<P: AsRef<Path>>(names: &[P]) -> Result<Expanded> {
    expand_with(names, &StoreOptions::new())
}

/// The same, with options for the stores of URLs with patterns.
///
/// # Errors
/// The same; an option that a store does not have.
pub fn expand_with<P: AsRef<Path>>(names: &[P], store: &StoreOptions) -> Result<Expanded> {
    let mut all = Expanded::default();
    let Expanded { files, partial } = &mut all;
    for name in names {
        let name = name.as_ref();
        let text = name.to_string_lossy();
        if is_stored_pattern(&text) && !name.exists() {
            files.extend(expand_stored(&text, store)?.into_iter().map(PathBuf::from));
        } else if name.is_dir() {
            files.extend(folder(name, partial)?);
        } else if name.exists() || text == STANDARD_INPUT || text.contains("://") || !is_pattern(&text) {
            files.push(name.to_owned());
        } else {
            let found = matching(name, partial)?;
            if found.is_empty() {
                return Err(io::Error::new(io::ErrorKind::NotFound, &*text).into());
            }
            files.extend(found);
        }
    }
    partial.sort();
    partial.dedup();
    Ok(all)
}

/// Returns all files of known formats in a directory.
fn folder(path: &Path, partial: &mut Vec<PathBuf>) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    visit(path, &mut files, partial, 0)?;
    if files.is_empty() {
        let what = format!("the folder has no file that is {}", formats::known());
        return Err(Error::invalid(what).in_file(&path.to_string_lossy()));
    }
    files.sort();
    Ok(files)
}

fn visit(path: &Path, files: &mut Vec<PathBuf>, partial: &mut Vec<PathBuf>, depth: usize) -> Result<()> {
    if depth > DEEPEST {
        let what = format!("folders more than {DEEPEST} deep");
        return Err(Error::unsupported(what).in_file(&path.to_string_lossy()));
    }
    for entry in listed(path)? {
        let name = entry.file_name();
        if name.as_encoded_bytes().starts_with(b"_") || is_hidden(&name) {
            continue;
        }
        let inner = entry.path();
        if is_partial(&name) {
            partial.extend(inner.is_file().then_some(inner));
            continue;
        }
        // A link to a directory may form a cycle.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            visit(&inner, files, partial, depth + 1)?;
        } else if is_file_or_lost(&inner) && is_known(&inner)? {
            files.push(inner);
        }
    }
    Ok(())
}

/// Returns the entries of a directory.
fn listed(path: &Path) -> Result<Vec<fs::DirEntry>> {
    let failed = |error: std::io::Error| io::Error::new(error.into(), path.to_string_lossy());
    let entries = fs::read_dir(path).map_err(failed)?;
    Ok(entries.collect::<std::io::Result<_>>().map_err(failed)?)
}

/// Whether the path is a file or cannot be inspected, such as a broken link: opening it then reports the
/// error, while leaving it out would silently make a smaller table.
fn is_file_or_lost(path: &Path) -> bool {
    path.metadata().map_or(true, |there| there.is_file())
}

/// Whether a path exists. If this cannot be determined, it is an error: a table without some of its files
/// would be silently wrong.
fn is_there(path: &Path) -> Result<bool> {
    match path.symlink_metadata() {
        Ok(_) => Ok(true),
        Err(error) if matches!(error.kind(), IoKind::NotFound | IoKind::NotADirectory) => Ok(false),
        Err(error) => Err(io::Error::new(error.into(), path.to_string_lossy()).into()),
    }
}

/// Whether the format of a file can be read: by its name, or by its first bytes if the extension is unknown.
/// An unreadable file counts, so that opening it reports the error.
fn is_known(path: &Path) -> Result<bool> {
    let name = path.to_string_lossy();
    if let Some(format) = formats::by_name(&name) {
        // Text files among tables are mostly notes and summaries.
        return Ok(format.is_read() && !format.is_text());
    }
    let mut head = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(formats::head_bytes()).read_to_end(&mut head));
    match read {
        Ok(_) => Ok(formats::recognised(&head, &name)
            .map_err(|error| error.in_file(&name))?
            .is_some_and(|format| !format.is_text())),
        Err(error) => Ok(error.kind() != IoKind::NotFound),
    }
}

fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

fn is_partial(name: &OsStr) -> bool {
    let ending = Path::new(name).extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    ending.is_some_and(|ending| PARTIAL.contains(&&*ending)) || name.as_encoded_bytes().ends_with(b"~")
}

/// Returns the files that match a pattern, sorted.
fn matching(pattern: &Path, partial: &mut Vec<PathBuf>) -> Result<Vec<PathBuf>> {
    let mut found = vec![PathBuf::new()];
    let parts: Vec<Component<'_>> = pattern.components().collect();
    for (at, part) in parts.iter().enumerate() {
        let last = at + 1 == parts.len();
        let text = part.as_os_str().to_string_lossy();
        let mut next = Vec::new();
        for folder in found {
            match part {
                Component::Normal(_) if text == "**" => below(&folder, &mut next, 0)?,
                Component::Normal(_) if is_pattern(&text) => {
                    let mut left_out = Vec::new();
                    let found = children(&folder, &text, &mut left_out)?;
                    next.extend(found.into_iter().filter(|path| last || path.is_dir()));
                    partial.extend(left_out.into_iter().filter(|path| last && path.is_file()));
                }
                _ => {
                    let path = folder.join(part);
                    next.extend(is_there(&path)?.then_some(path));
                }
            }
        }
        // With `**`, a path can match in several ways.
        next.sort();
        next.dedup();
        found = next;
    }
    found.retain(|path| is_file_or_lost(path));
    Ok(found)
}

/// Returns the names in a directory that match a part of a pattern.
fn children(folder: &Path, pattern: &str, partial: &mut Vec<PathBuf>) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    if !is_there(here)? || !here.is_dir() {
        return Ok(found);
    }
    for entry in listed(here)? {
        let name = entry.file_name();
        let text = name.to_string_lossy();
        let meant = Path::new(pattern).extension() == Path::new(&name).extension();
        if is_hidden(&name) && !pattern.starts_with('.') || !matches(pattern, &text) {
            continue;
        }
        let to = if is_partial(&name) && !meant { &mut *partial } else { &mut found };
        to.push(folder.join(&name));
    }
    Ok(found)
}

/// Collects a directory and all its subdirectories.
fn below(folder: &Path, found: &mut Vec<PathBuf>, depth: usize) -> Result<()> {
    if depth > DEEPEST {
        let what = format!("folders more than {DEEPEST} deep");
        return Err(Error::unsupported(what).in_file(&folder.to_string_lossy()));
    }
    found.push(folder.to_owned());
    let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    for entry in listed(here)? {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) && !is_hidden(&entry.file_name()) {
            below(&folder.join(entry.file_name()), found, depth + 1)?;
        }
    }
    Ok(())
}
