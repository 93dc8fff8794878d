//! Keys, directories and paths.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use forthwith_io::Source;
use forthwith_plan::ErrorKind;
use forthwith_root::{Cursor, DirectoryRecord, Found, Key, RootFile};

use crate::corpus;

#[test]
fn keys_are_those_of_the_goldens() {
    let examples = corpus::examples();
    let mut wrong = Vec::new();
    for example in &examples {
        let listed = example.open().keys_recursive().map(|found| {
            let label = |found: &Found| {
                (format!("{};{}", found.path, found.key.cycle), found.key.class_name.to_string())
            };
            let mut keys: Vec<_> = found.iter().map(label).collect();
            keys.sort();
            keys
        });
        let wanted = example.golden["keys"].as_array().expect("goldens list keys");
        let text = |value: &serde_json::Value| value.as_str().expect("a name").to_owned();
        let mut wanted: Vec<_> = wanted.iter().map(|key| (text(&key[0]), text(&key[1]))).collect();
        wanted.sort();
        match listed {
            Ok(listed) if listed == wanted => {}
            Ok(listed) => {
                let extra: Vec<_> = listed.iter().filter(|key| !wanted.contains(key)).collect();
                let missing: Vec<_> = wanted.iter().filter(|key| !listed.contains(key)).collect();
                wrong.push(format!("{example}: {extra:?} should be {missing:?}"));
            }
            Err(error) => wrong.push(format!("{example}: {error}")),
        }
    }
    eprintln!("keys equal: {}/{}", examples.len() - wrong.len(), examples.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_key_is_found_by_its_path_and_decompresses() {
    let mut payloads = 0;
    for example in corpus::examples() {
        let file = example.open();
        for listed in file.keys_recursive().expect("listed by the test above") {
            let name = format!("{};{}", listed.path, listed.key.cycle);
            let hit = file.find(&name).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(hit.key.seek, listed.key.seek, "{name} in {example}");
            let payload = file.payload(&hit.key).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(payload.len(), hit.key.objlen as usize);
            payloads += 1;
        }
    }
    eprintln!("found by path, and decompressed: {payloads}");
}

/// The chain of records of a file must agree with its directories and free segments.
#[test]
fn records_chain_to_the_end_and_hold_every_key() {
    let mut decompressed = 0;
    for example in corpus::bundled() {
        let file = example.open();
        if file.header().end > 1 << 30 {
            continue;
        }
        let records: Vec<_> =
            file.records().expect("a size").collect::<Result<_, _>>().expect("whole records");
        for record in records.iter().filter(|record| record.key.is_some()) {
            let nbytes = u32::try_from(record.length).expect("records are short");
            let (key, payload) = file.record(record.at, nbytes).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(payload.len(), key.objlen as usize);
            decompressed += 1;
        }
        let last = records.last().expect("at least one record");
        assert_eq!(last.at + last.length, file.header().end, "{example}");
        for listed in file.keys_recursive().expect("listed by the test above") {
            let record = records.iter().find(|record| record.at == listed.key.seek);
            let key = record.and_then(|record| record.key.as_ref()).expect("every key has a record");
            assert_eq!((&key.name, key.cycle), (&listed.key.name, listed.key.cycle));
        }
        let free = file.free_segments().expect("a list of free segments");
        assert_eq!(free.last().expect("the space behind the file").0, file.header().end);
        for (first, end) in &free[..free.len() - 1] {
            let gap = records.iter().find(|record| record.at == *first).expect("a gap begins at a record");
            assert!(gap.key.is_none() && gap.at + gap.length == end + 1, "{example}: {gap:?}");
        }
    }
    eprintln!("records decompressed: {decompressed}");
}

#[test]
fn paths_take_the_longest_name_and_the_highest_cycle() {
    let keys = corpus::bundled().into_iter().find(|example| example.to_string() == "keys.root");
    let file = keys.expect("a file of the repository").open();
    let found = |path: &str| {
        let found = file.find(path).unwrap_or_else(|error| panic!("{path}: {error}"));
        format!("{};{}", found.path, found.key.cycle)
    };
    assert_eq!(found("cycles"), "cycles;12");
    assert_eq!(found("cycles;3"), "cycles;3");
    assert_eq!(found("/a/b/c/tree"), "a/b/c/tree;2");
    assert_eq!(found("a;1/b;1/c/tree;1"), "a/b/c/tree;1");
    assert_eq!(found("slash/in/name"), "slash/in/name;1");
    assert_eq!(found("semicolon;7"), "semicolon;7;1");
    assert_eq!(found("semicolon;7;1"), "semicolon;7;1");
    assert_eq!(found("ünicöde €"), "ünicöde €;1");
    // A directory and a name that begins with its name.
    assert_eq!(found("tree/x"), "tree/x;1");
    assert_eq!(found("tree"), "tree;1");
}

#[test]
fn what_is_not_there_is_named_with_what_is_near() {
    let keys = corpus::bundled().into_iter().find(|example| example.to_string() == "keys.root");
    let file = keys.expect("a file of the repository").open();
    let near = |path: &str| match file.find(path).map(|found| found.path).map_err(|error| error.kind) {
        Err(ErrorKind::NotFound { what, name, near, .. }) => {
            assert_eq!(name, path);
            (what, near)
        }
        other => panic!("{path}: {other:?}"),
    };
    assert_eq!(near("cycels"), ("object", vec!["cycles".to_owned()]));
    assert_eq!(near("a/b/c/treee"), ("object", vec!["a/b/c/tree".to_owned()]));
    assert_eq!(near("a/bee/c"), ("object", vec![]));
    let (what, cycles) = near("thinned;2");
    assert_eq!((what, &*cycles[0]), ("cycle", "thinned;6"));
    let text = file.find("graf").unwrap_err().to_string();
    assert!(text.contains("did you mean graph?") && text.contains("keys.root"), "{text}");
}

/// A source that is read, not mapped, and counts how often.
#[derive(Debug)]
struct Counting {
    source: Arc<dyn Source>,
    calls: AtomicUsize,
}

impl Source for Counting {
    fn uri(&self) -> &str {
        self.source.uri()
    }

    fn size(&self) -> forthwith_io::Result<u64> {
        self.source.size()
    }

    fn read(&self, ranges: &[Range<u64>]) -> forthwith_io::Result<Vec<Bytes>> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.source.read(ranges)
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
    for example in corpus::examples() {
        let source = corpus::source(&example.path);
        let source = Arc::new(Counting { source, calls: AtomicUsize::new(0) });
        let calls = || source.calls.load(Ordering::Relaxed);
        let file = RootFile::open(source.clone()).expect("opened by the tests above");
        assert_eq!(calls(), 1);
        let found = file.keys_recursive().expect("listed by the tests above");
        let levels = found.iter().filter(|found| found.key.is_directory()).map(|found| {
            // Names may contain a slash; this then counts too many levels, which is on the safe side.
            found.path.split('/').count()
        });
        let levels = levels.max().unwrap_or(0);
        assert!(calls() <= 2 + 2 * levels, "{} reads for {levels} levels in {example}", calls());
        let before = calls();
        file.keys_recursive().expect("listed before");
        assert_eq!(calls(), before, "listing again reads nothing");
        checked += 1;
    }
    eprintln!("reads counted in {checked} files");
}

/// A key of the tree `tree;3`, with positions as wide as its version says.
fn key_bytes(nbytes: i32, version: i16, positions: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend(nbytes.to_be_bytes());
    bytes.extend(version.to_be_bytes());
    bytes.extend(100u32.to_be_bytes());
    // 29 February 2024, 12:30:59.
    bytes.extend((29u32 << 26 | 2 << 22 | 29 << 17 | 12 << 12 | 30 << 6 | 59).to_be_bytes());
    bytes.extend(60u16.to_be_bytes());
    bytes.extend(3u16.to_be_bytes());
    bytes.extend(positions);
    bytes.extend(b"\x05TTree\x04tree\x00");
    bytes
}

#[test]
fn keys_of_64_bits_say_so_themselves() {
    let narrow = [0x7000_0000u32, 100].map(u32::to_be_bytes).concat();
    // The number of a process stands above the directory's position.
    let wide = [0x1_7000_0000u64, 0x0002_0000_0000_0064].map(u64::to_be_bytes).concat();
    for (version, positions, seek) in [(4, narrow, 0x7000_0000), (1004, wide, 0x1_7000_0000)] {
        let bytes = key_bytes(200, version, &positions);
        let mut cursor = Cursor::new(&bytes);
        let key = Key::parse(&mut cursor).expect("a key");
        assert_eq!(cursor.position(), bytes.len());
        assert_eq!((key.seek, key.seek_directory, key.label()), (seek, 100, "tree;3".into()));
        assert_eq!(key.stored().expect("behind the key"), seek + 60..seek + 200);
        assert_eq!(key.datime.to_string(), "2024-02-29 12:30:59");
        let gap = key_bytes(-200, version, &positions);
        let gap = Key::parse(&mut Cursor::new(&gap)).expect("a gap");
        assert!(gap.is_deleted() && gap.stored().is_err());
    }
    for (version, width, has_uuid) in [(1i16, 4, false), (5, 4, true), (1001, 8, false), (1005, 8, true)] {
        let mut bytes = version.to_be_bytes().to_vec();
        bytes.extend([0; 8]);
        bytes.extend([0, 0, 0, 7, 0, 0, 0, 9]);
        for position in [1u64, 2, 3] {
            bytes.extend(&position.to_be_bytes()[8 - width..]);
        }
        let without = bytes.len();
        bytes.extend([0, 1]);
        bytes.extend([0xAB; 16]);
        let mut cursor = Cursor::new(&bytes);
        let found = DirectoryRecord::parse(&mut cursor).expect("a directory");
        assert_eq!((found.seek_directory, found.seek_parent, found.seek_keys), (1, 2, 3));
        assert_eq!((found.nbytes_keys, found.nbytes_name), (7, 9));
        assert_eq!(found.uuid, has_uuid.then_some([0xAB; 16]));
        assert_eq!(cursor.position(), if has_uuid { bytes.len() } else { without });
    }
}
