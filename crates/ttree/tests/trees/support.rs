//! The folders of files and their goldens.

use std::path::{Path, PathBuf};

use forthwith_plan::{Error, Result};
use forthwith_root::RootFile;
use forthwith_ttree::Tree;
use serde_json::Value;

/// A file with what other readers found in it.
pub(crate) struct Sample {
    pub(crate) name: String,
    pub(crate) file: RootFile,
    pub(crate) golden: Value,
}

/// The files of this repository, and those of the corpus where there is one.
pub(crate) fn samples() -> Vec<Sample> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut samples = folder(&root.join("tests/data"));
    samples.extend(corpus());
    samples
}

/// The files of the corpus: `FORTHWITH_CORPUS`, or beside the repository.
pub(crate) fn corpus() -> Vec<Sample> {
    folder(&corpus_folder().join("root"))
}

/// Every `.root` file of this repository, goldens or not.
pub(crate) fn data() -> Vec<PathBuf> {
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data"))
}

/// The damaged files of the corpus; none where there is no corpus.
pub(crate) fn bad() -> Vec<PathBuf> {
    files(&corpus_folder().join("bad"))
}

pub(crate) fn open(path: &Path) -> Result<RootFile> {
    RootFile::open(forthwith_io::open(&path.display().to_string())?)
}

fn corpus_folder() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::env::var_os("FORTHWITH_CORPUS").map_or(root.join("../shared/corpus"), PathBuf::from)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "root"));
    paths.sort();
    paths
}

/// A file of this repository.
pub(crate) fn bundled(name: &str) -> Option<Sample> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data");
    sample(&data.join(format!("{name}.golden.json")))
}

/// Whether the baskets are in a file that nobody has kept.
pub(crate) fn is_elsewhere(error: &Error) -> bool {
    error.kind.to_string().ends_with(": not found")
}

fn folder(folder: &Path) -> Vec<Sample> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut goldens: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    goldens.retain(|path| path.to_string_lossy().ends_with(".root.golden.json"));
    goldens.sort();
    goldens.iter().filter_map(|golden| sample(golden)).collect()
}

fn sample(golden: &Path) -> Option<Sample> {
    let path = golden.to_string_lossy();
    let path = path.strip_suffix(".golden.json")?;
    if !Path::new(path).exists() {
        return None;
    }
    let name = Path::new(path).file_name()?.to_string_lossy().into_owned();
    let golden =
        serde_json::from_slice(&std::fs::read(golden).ok()?).unwrap_or_else(|e| panic!("{name}: {e}"));
    let file = open(Path::new(path)).unwrap_or_else(|e| panic!("{name}: {e}"));
    Some(Sample { name, file, golden })
}

impl Sample {
    /// The trees that the golden knows, with their columns and groups.
    pub(crate) fn trees(&self) -> Vec<(String, Result<Tree>, Value)> {
        let Some(trees) = self.golden["trees"].as_object() else { return Vec::new() };
        let open =
            |(path, golden): (&String, &Value)| (path.clone(), Tree::open(&self.file, path), golden.clone());
        trees.iter().map(open).collect()
    }
}
