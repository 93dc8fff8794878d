//! Where the real files are.

use std::path::PathBuf;

use forthwith_root::RootFile;

/// The ROOT files of the corpus with their golden values. Empty, and said so, where there is no corpus.
pub(crate) fn files() -> Vec<(PathBuf, serde_json::Value)> {
    let Some(folder) = folder() else {
        eprintln!("skipped: no corpus (set FORTHWITH_CORPUS)");
        return Vec::new();
    };
    let mut files = Vec::new();
    for family in ["root", "rntuple"] {
        for entry in std::fs::read_dir(folder.join(family)).expect("a corpus has this folder") {
            let path = entry.expect("a readable folder").path();
            if path.extension().is_some_and(|extension| extension == "root") {
                let golden = PathBuf::from(format!("{}.golden.json", path.display()));
                let golden = std::fs::read(golden).expect("each file has a golden");
                files.push((path, serde_json::from_slice(&golden).expect("goldens are JSON")));
            }
        }
    }
    files.sort_by(|a, b| a.0.cmp(&b.0));
    files
}

/// The files of the repository itself.
pub(crate) fn bundled() -> Vec<PathBuf> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data"));
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<_> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "root"))
        .collect();
    files.sort();
    files
}

pub(crate) fn open(path: &std::path::Path) -> RootFile {
    let source = forthwith_io::open(&path.display().to_string()).expect("the file is there");
    RootFile::open(source).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("FORTHWITH_CORPUS").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpus")),
        PathBuf::from,
    );
    folder.is_dir().then_some(folder)
}
