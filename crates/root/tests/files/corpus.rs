//! The folders of the files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use forthwith_io::Source;
use forthwith_root::RootFile;

use crate::sparse::Sparse;

/// A file of the repository or the corpus, and what is known of it.
pub(crate) struct Example {
    pub(crate) path: PathBuf,
    pub(crate) golden: serde_json::Value,
}

impl Example {
    pub(crate) fn open(&self) -> RootFile {
        RootFile::open(source(&self.path)).unwrap_or_else(|error| panic!("{self}: {error}"))
    }
}

impl std::fmt::Display for Example {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.path.file_name().unwrap_or_default().to_string_lossy())
    }
}

/// The files of the repository, and those of the corpus where there is one.
pub(crate) fn examples() -> Vec<Example> {
    let mut examples = bundled();
    assert!(!examples.is_empty(), "the repository's own files are missing");
    let folder = folder();
    if folder.is_dir() {
        examples.extend(["root", "rntuple"].iter().flat_map(|family| within(&folder.join(family))));
    } else {
        eprintln!(
            "skipped: the corpus (set FORTHWITH_CORPUS); {} files of the repository only",
            examples.len()
        );
    }
    examples
}

/// The files of the repository.
pub(crate) fn bundled() -> Vec<Example> {
    within(&repository().join("tests/data"))
}

/// Every `.root` file of the repository, goldens or not.
pub(crate) fn data() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(repository().join("tests/data")).expect("the data are there");
    let paths = entries.map(|entry| entry.expect("a readable folder").path());
    let mut paths: Vec<_> = paths.filter(|path| path.extension().is_some_and(|end| end == "root")).collect();
    paths.sort();
    paths
}

/// The bytes of a file. One that is stored without its hole has it again.
pub(crate) fn source(path: &Path) -> Arc<dyn Source> {
    if path.extension().is_some_and(|extension| extension == "sparse") {
        return Arc::new(Sparse::open(path));
    }
    forthwith_io::open(&path.display().to_string()).expect("the file is there")
}

/// The damaged files of the corpus; none where there is no corpus.
pub(crate) fn bad() -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder().join("bad")) else { return Vec::new() };
    let paths = entries.map(|entry| entry.expect("a readable folder").path());
    paths.filter(|path| path.is_file()).collect()
}

fn within(folder: &Path) -> Vec<Example> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut examples = Vec::new();
    for entry in entries {
        let path = entry.expect("a readable folder").path();
        let name = path.display().to_string();
        let golden = format!("{}.golden.json", name.strip_suffix(".sparse").unwrap_or(&name));
        if name.ends_with(".golden.json") {
            continue;
        }
        if let Ok(golden) = std::fs::read(golden) {
            let golden = serde_json::from_slice(&golden).expect("goldens are JSON");
            examples.push(Example { path, golden });
        }
    }
    examples.sort_by(|a, b| a.path.cmp(&b.path));
    examples
}

fn folder() -> PathBuf {
    std::env::var_os("FORTHWITH_CORPUS").map_or_else(|| repository().join("../shared/corpus"), PathBuf::from)
}

pub(crate) fn repository() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}
