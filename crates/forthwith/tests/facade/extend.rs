//! Trees of ROOT files that are opened to be extended, with their first entries read.
#![cfg(feature = "root")]

use forthwith::{
    io::{UpdateSink, open_unmapped},
    plan::ErrorKind,
    root::{
        RootFile, TreeOptions, extend_tree,
        write::{FileSettings, FileWriter},
    },
    ttree::Tree,
};
use std::path::Path;

#[test]
fn bundled_trees_can_be_extended_or_say_why_not() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.root");
    let path = path.to_str().expect("text");
    let (mut opened, mut refused) = (0, Vec::new());
    for source in std::fs::read_dir(data).expect("bundled files") {
        let source = source.expect("a file").path();
        if source.extension().is_none_or(|ending| ending != "root") {
            continue;
        }
        std::fs::copy(&source, path).expect("room");
        // Some are damaged, or too old to be changed.
        let Ok(old) = RootFile::open(open_unmapped(path).expect("a file")) else { continue };
        for found in old.keys_recursive().unwrap_or_default() {
            if !Tree::is_tree(&found.key.class_name) {
                continue;
            }
            let sink =
                UpdateSink::open(path).and_then(|sink| sink.begin_at(old.header().end)).expect("a sink");
            let Ok(mut file) = FileWriter::update(Box::new(sink), &old, FileSettings::of(&old)) else {
                continue;
            };
            match extend_tree(&mut file, &old, &found, TreeOptions::default()) {
                Ok(tree) => {
                    assert_eq!(
                        tree.entries(),
                        Tree::open_found(&old, &found).expect("a tree").info().entries
                    );
                    opened += 1;
                }
                Err(error) => {
                    let is_named = error.to_string().contains(&found.path);
                    assert!(is_named && matches!(error.kind, ErrorKind::Unsupported { .. }), "{error}");
                    refused.push(format!("{}: {error}", source.display()));
                }
            }
        }
    }
    assert!(opened > 20, "{opened} can be extended; {refused:#?}");
}
