//! Trees that are refused when they would be extended.

use super::support;
use forthwith_io::{UpdateSink, open_unmapped};
use forthwith_plan::{Dataset, Error, ErrorKind, Stored};
use forthwith_root::{
    RootFile,
    write::{FileSettings, FileWriter},
};
use forthwith_ttree::{
    Tree,
    write::{TreeOptions, TreeWriter},
};

#[test]
fn a_tree_whose_first_entry_is_refused_leaves_its_file_as_it_was() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut refused, mut in_record) = (0, 0);
    for source in support::data() {
        let before = std::fs::read(&source).expect("a file");
        if before.len() > 1_000_000 {
            continue;
        }
        let path = folder.path().join("t.root");
        let path = path.to_str().expect("text");
        std::fs::write(path, &before).expect("room");
        let Ok(old) = RootFile::open(open_unmapped(path).expect("a file")) else { continue };
        for found in old.keys_recursive().unwrap_or_default() {
            if !Tree::is_tree(&found.key.class_name) {
                continue;
            }
            // A tree before may have been opened.
            std::fs::write(path, &before).expect("room");
            let sink =
                UpdateSink::open(path).and_then(|sink| sink.begin_at(old.header().end)).expect("a sink");
            let Ok(mut file) = FileWriter::update(Box::new(sink), &old, FileSettings::of(&old)) else {
                continue;
            };
            let mut embedded = false;
            let opened =
                TreeWriter::open(&mut file, &old, &found, TreeOptions::default(), |tree, branches| {
                    let tasks =
                        branches.iter().flat_map(|&branch| tree.plan(&[branch], 0..1).map(|plan| plan.tasks));
                    embedded = tasks.flatten().any(|task| matches!(task.stored, Stored::Inline(_)));
                    Err(Error::unsupported("its first entry"))
                });
            let asked = matches!(&opened, Err(error) if error.to_string().contains("its first entry"));
            if let Err(error) = opened
                && asked
            {
                assert!(matches!(error.kind, ErrorKind::Unsupported { .. }));
                refused += 1;
                in_record += usize::from(embedded);
            }
            file.finish().expect("a file");
            if asked {
                assert!(
                    std::fs::read(path).expect("a file") == before,
                    "{}: {}",
                    source.display(),
                    found.path
                );
            }
        }
    }
    assert!(refused > 5, "{refused} trees have branches that are written by the layout of a class");
    assert!(in_record > 0, "some have baskets in their record");
}
