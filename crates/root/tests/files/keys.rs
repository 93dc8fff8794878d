//! Keys, directories and paths.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use forthwith_io::{Memory, Source};
use forthwith_root::RootFile;

use crate::corpus;

#[test]
fn keys_of_the_corpus_are_the_goldens() {
    let files = corpus::files();
    let mut equal = 0;
    let mut wrong = Vec::new();
    for (path, golden) in &files {
        let listed = corpus::open(path).keys_recursive().map(|found| {
            let mut keys: Vec<_> = found
                .iter()
                .map(|found| {
                    (format!("{};{}", found.path, found.key.cycle), found.key.class_name.to_string())
                })
                .collect();
            keys.sort();
            keys
        });
        let mut wanted: Vec<_> = golden["keys"]
            .as_array()
            .expect("goldens list keys")
            .iter()
            .map(|key| {
                (key[0].as_str().expect("a name").to_owned(), key[1].as_str().expect("a class").to_owned())
            })
            .collect();
        wanted.sort();
        match listed {
            Ok(listed) if listed == wanted => equal += 1,
            Ok(listed) => wrong.push(format!("{}: {listed:?}, expected {wanted:?}", path.display())),
            Err(error) => wrong.push(format!("{}: {error}", path.display())),
        }
    }
    eprintln!("keys equal: {equal}/{}", files.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_key_of_the_corpus_is_found_by_its_path_and_decompresses() {
    let (mut found, mut payloads) = (0, 0);
    for (path, _) in corpus::files() {
        let file = corpus::open(&path);
        for listed in file.keys_recursive().expect("listed by the test above") {
            let name = format!("{};{}", listed.path, listed.key.cycle);
            let hit = file.find(&name).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            assert_eq!(hit.key.seek, listed.key.seek, "{name} in {}", path.display());
            found += 1;
            let payload =
                file.payload(&hit.key).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            assert_eq!(payload.len(), hit.key.objlen as usize);
            payloads += 1;
        }
    }
    eprintln!("keys found by path: {found}, payloads: {payloads}");
}

/// A source that is read, not mapped, and counts how often.
#[derive(Debug)]
struct Counting {
    memory: Memory,
    calls: AtomicUsize,
}

impl Source for Counting {
    fn uri(&self) -> &str {
        self.memory.uri()
    }

    fn size(&self) -> forthwith_io::Result<u64> {
        self.memory.size()
    }

    fn read(&self, ranges: &[Range<u64>]) -> forthwith_io::Result<Vec<Bytes>> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.memory.read(ranges)
    }

    fn zero_copy(&self) -> bool {
        false
    }

    fn concurrent(&self) -> bool {
        false
    }
}

#[test]
fn a_file_opens_with_one_read_and_lists_with_two_per_level() {
    let mut checked = 0;
    for (path, _) in corpus::files() {
        let bytes = std::fs::read(&path).expect("a corpus file");
        let memory = Memory::new(path.display().to_string(), bytes);
        let source = Arc::new(Counting { memory, calls: AtomicUsize::new(0) });
        let calls = || source.calls.load(Ordering::Relaxed);
        let file = RootFile::open(source.clone()).expect("opened by the tests above");
        assert_eq!(calls(), 1);
        let found = file.keys_recursive().expect("listed by the tests above");
        let levels = found.iter().filter(|found| found.key.is_directory()).map(|found| {
            // Names may contain a slash; this then counts too many levels, which is on the safe side.
            found.path.split('/').count()
        });
        let levels = levels.max().unwrap_or(0);
        assert!(calls() <= 2 + 2 * levels, "{} reads for {levels} levels in {}", calls(), path.display());
        let before = calls();
        file.keys_recursive().expect("listed before");
        assert_eq!(calls(), before, "listing again reads nothing");
        checked += 1;
    }
    eprintln!("reads counted in {checked} files");
}
