//! Files that another process rewrites while they are read through a map.

use std::fs::OpenOptions;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use forthwith_plan::Dataset;
use forthwith_ttree::Tree;

use crate::support::open;

/// Text that is delivered is UTF-8 in memory of its own, whatever the bytes of the file become after they
/// were validated.
#[test]
fn text_stays_text_while_the_file_is_rewritten() {
    let bytes = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/codec-none.root"))
        .expect("a bundled file");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("rewritten.root");
    std::fs::write(&path, &bytes).expect("written");
    let done = AtomicBool::new(false);
    let mut looked = 0;
    std::thread::scope(|scope| {
        scope.spawn(|| rewrite(&path, &bytes, &done));
        let end = Instant::now() + Duration::from_millis(500);
        while Instant::now() < end || looked == 0 {
            // Damage is an error; a panic or text that is no text is not allowed.
            let Ok(file) = open(&path) else { continue };
            let Ok(found) = file.keys_recursive() else { continue };
            for found in found {
                looked += 1;
                check(&found.path);
                check(&found.key.title);
                let Ok(tree) = Tree::open_found(&file, &found) else { continue };
                for field in tree.fields().unwrap_or_default() {
                    check(&field.path);
                    check(&field.title);
                }
            }
        }
        done.store(true, Ordering::Relaxed);
    });
}

fn check(text: &str) {
    assert!(std::str::from_utf8(std::hint::black_box(text.as_bytes())).is_ok());
}

/// Makes letters bytes that are no UTF-8, and letters again.
fn rewrite(path: &Path, bytes: &[u8], done: &AtomicBool) {
    let broken: Vec<u8> =
        bytes.iter().map(|&byte| if byte.is_ascii_lowercase() { 0xFF } else { byte }).collect();
    let mut file = OpenOptions::new().write(true).open(path).expect("there");
    while !done.load(Ordering::Relaxed) {
        for bytes in [&broken[..], bytes] {
            // The header stays: a file that does not open shows nothing.
            file.seek(SeekFrom::Start(200)).and_then(|_| file.write_all(&bytes[200..])).expect("written");
        }
    }
}

/// A `str` is made of bytes of a file in one place, which copies them first.
#[test]
fn text_is_borrowed_from_no_file() {
    fn visit(folder: &Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).expect("sources") {
            let path = entry.expect("a source").path();
            if path.is_dir() {
                visit(&path, found);
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("a source");
            // Tests may do as they like.
            let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
            let borrows = ["str::from_utf8(", "String::from_utf8_lossy(", "from_utf8_unchecked("];
            if borrows.iter().any(|call| text.contains(call)) {
                found.push(path.file_name().unwrap_or_default().to_string_lossy().into_owned());
            }
        }
    }
    let mut found = Vec::new();
    for sources in ["src", "../root/src"] {
        visit(&Path::new(env!("CARGO_MANIFEST_DIR")).join(sources), &mut found);
    }
    assert_eq!(
        found,
        ["frame.rs"],
        "text from a file is made by `text` and `lossy`, which copy the bytes first"
    );
}
