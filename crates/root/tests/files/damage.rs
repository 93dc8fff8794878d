//! Damaged files: an error or values, never a panic, a hang, or memory out of proportion.

use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use bytes::Bytes;
use forthwith_io::{Decompressor, Memory};
use forthwith_plan::ErrorKind;
use forthwith_root::{Key, RootFile, Streamers, Walker, check_record, decompress_record};
use proptest::prelude::*;

use crate::corpus;

/// Small files, as bytes.
static FILES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let small = |name: &String| name.ends_with(".root") && !name.starts_with("zmumu");
    let files = corpus::bundled().into_iter().filter(|example| small(&example.to_string()));
    files.map(|example| std::fs::read(&example.path).expect("the file is there")).collect()
});

/// Payloads: streamer infos, and objects to be read with the infos of their file.
static PAYLOADS: LazyLock<Vec<Payload>> = LazyLock::new(|| {
    let mut payloads = Vec::new();
    for bytes in FILES.iter() {
        let file = RootFile::open(Arc::new(Memory::new("whole", bytes.clone()))).expect("a whole file");
        let header = file.header();
        let (key, infos) = file.record(header.seek_info, header.nbytes_info).expect("streamer infos");
        let streamers = file.streamers().expect("streamer infos");
        payloads.push(Payload {
            origin: key.keylen,
            class: None,
            bytes: infos,
            streamers: streamers.clone(),
        });
        for found in file.keys_recursive().expect("keys") {
            let bytes = file.payload(&found.key).expect("a payload");
            let (origin, class) = (found.key.keylen, Some(found.key.class_name.clone()));
            payloads.push(Payload { origin, class, bytes, streamers: streamers.clone() });
        }
    }
    payloads
});

struct Payload {
    origin: u16,
    class: Option<Box<str>>,
    bytes: Bytes,
    streamers: Arc<Streamers>,
}

/// Changes at a few places: which, as a part of the length, and to what.
fn changes() -> impl Strategy<Value = Vec<(f64, Change)>> {
    let change = prop_oneof![
        any::<u8>().prop_map(Change::Byte),
        prop_oneof![
            Just(0),
            Just(u32::MAX),
            Just(0x4000_0000),
            Just(0x7FFF_FFFF),
            Just(0x3FFF_FFFF),
            0..200_u32
        ]
        .prop_map(Change::Word),
        (0.0..1.0).prop_map(Change::Copy),
    ];
    prop::collection::vec((0.0..1.0, change), 1..6)
}

#[derive(Clone, Debug)]
enum Change {
    Byte(u8),
    Word(u32),
    Copy(f64),
}

fn damage(bytes: &[u8], changes: &[(f64, Change)], length: f64) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let place = |part: f64, length: usize| (part * length as f64) as usize;
    for (part, change) in changes {
        let at = place(*part, bytes.len());
        let new = match change {
            Change::Byte(byte) => vec![*byte],
            Change::Word(word) => word.to_be_bytes().to_vec(),
            Change::Copy(part) => {
                let from = place(*part, bytes.len());
                bytes[from..(from + 16).min(bytes.len())].to_vec()
            }
        };
        for (old, new) in bytes[at..].iter_mut().zip(new) {
            *old = new;
        }
    }
    // Half of them whole.
    bytes.truncate(place((2.0 * length).min(1.0), bytes.len()));
    bytes
}

/// Asks everything of a file that can be asked.
fn explore(bytes: Vec<u8>) {
    let Ok(file) = RootFile::open(Arc::new(Memory::new("damaged", bytes))) else { return };
    let _ = file.streamers().and_then(|streamers| streamers.infos());
    let _ = file.free_segments();
    if let Ok(records) = file.records() {
        let _ = records.take(1000).count();
    }
    let _ = file.find("a/b/c/tree;1");
    for found in file.keys_recursive().unwrap_or_default().iter().take(1000) {
        let _ = file.object(&found.key);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_files_are_errors_or_files(file in 0..1000_usize, changes in changes(), length in 0.0..1.0) {
        explore(damage(&FILES[file % FILES.len()], &changes, length));
    }

    #[test]
    fn damaged_beginnings_are_errors_or_files(file in 0..1000_usize, changes in changes()) {
        let bytes = &FILES[file % FILES.len()];
        let mut damaged = damage(&bytes[..400.min(bytes.len())], &changes, 1.0);
        damaged.extend_from_slice(&bytes[damaged.len()..]);
        explore(damaged);
    }

    #[test]
    fn damaged_payloads_are_errors_or_objects(which in 0..10_000_usize, changes in changes(), length in 0.0..1.0) {
        let payload = &PAYLOADS[which % PAYLOADS.len()];
        let bytes = Bytes::from(damage(&payload.bytes, &changes, length));
        let origin = u32::from(payload.origin);
        match &payload.class {
            None => {
                if let Ok(streamers) = Streamers::parse(bytes, origin) {
                    let streamers = Arc::new(streamers);
                    let _ = streamers.infos();
                    // Every object by infos that lie.
                    let walker = Walker::new(streamers);
                    for payload in PAYLOADS.iter() {
                        if let Some(class) = &payload.class {
                            let _ = walker.read(payload.bytes.clone(), u32::from(payload.origin), class);
                        }
                    }
                }
            }
            Some(class) => {
                let walker = Walker::new(payload.streamers.clone());
                if let Ok(objects) = walker.read(bytes, origin, class) {
                    for object in objects.iter() {
                        let _ = (object.members().count(), object.items().count(), object.range());
                    }
                }
            }
        }
    }

    #[test]
    fn noise_is_no_compressed_record(bytes in prop::collection::vec(any::<u8>(), 0..200), length in 0..100_000_usize) {
        for magic in [b"ZL\x08", b"CS\x08", b"XZ\x00", b"L4\x01", b"ZS\x01"] {
            let stored = [magic, &*bytes].concat();
            let checked = check_record(&stored, length);
            let done = decompress_record(&stored, &mut vec![0; length], &mut Decompressor::new());
            // A payload that decompresses was possible.
            prop_assert!(checked.is_ok() || done.is_err());
        }
    }
}

/// The damaged files of the corpus, where there is one.
#[test]
fn bad_files_of_the_corpus_are_errors_or_files() {
    let mut explored = 0;
    for path in corpus::bad() {
        explore(std::fs::read(path).expect("the file is there"));
        explored += 1;
    }
    eprintln!("bad files explored: {explored}");
}

/// A directory that is its own grandchild is listed once.
#[test]
fn circles_of_directories_end() {
    let example = corpus::bundled().into_iter().find(|example| example.to_string() == "keys.root");
    let path = example.expect("a file of the repository").path;
    let mut bytes = std::fs::read(&path).expect("the file is there");
    let file = RootFile::open(Arc::new(Memory::new("whole", bytes.clone()))).expect("a whole file");
    let (outer, inner) = (file.find("a").expect("there").key, file.find("a/b").expect("there").key);
    // The key of `a/b` in the list of `a` leads to `a`: nbytes and all up to its place, which the record has,
    // too.
    let begin = inner.seek as usize;
    let label = bytes[begin..begin + 22].to_vec();
    let places = (0..bytes.len() - 22).filter(|&at| at != begin && bytes[at..at + 22] == label);
    let listed: Vec<_> = places.collect();
    assert_eq!(listed.len(), 1);
    bytes[listed[0] + 18..listed[0] + 22].copy_from_slice(&(outer.seek as u32).to_be_bytes());
    let file = RootFile::open(Arc::new(Memory::new("circle", bytes))).expect("a file all the same");
    let found = file.keys_recursive().expect("a finite list");
    assert_eq!(found.iter().filter(|found| found.path == "a/b").count(), 1);
    assert!(!found.iter().any(|found| found.path.starts_with("a/b/")));
    // By path one may go round as often as the path says.
    assert_eq!(file.find("a/b/b/b/tree").expect("round three times").path, "a/b/b/b/tree");
    // That takes time in proportion to the path, and so does finding that there is nothing.
    let rounds = "/b".repeat(20_000);
    let begin = Instant::now();
    let long = format!("a{rounds}/tree");
    assert_eq!(file.find(&long).expect("round very often").path, long);
    let error = file.find(&format!("a{rounds}/none")).expect_err("not there");
    assert!(matches!(error.kind, ErrorKind::NotFound { what: "object", .. }), "{error}");
    assert!(begin.elapsed() < Duration::from_secs(2), "{:?}", begin.elapsed());
}

/// A text that begins with the four letters is no damaged file, but none.
#[test]
fn texts_that_begin_like_a_file_are_none() {
    let text =
        b"root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n".repeat(30);
    let empty = b"root".iter().copied().chain([0; 200]).collect::<Vec<u8>>();
    for bytes in [text, empty, b"root-of-all-things".to_vec()] {
        let error = RootFile::open(Arc::new(Memory::new("text", bytes))).expect_err("no file");
        assert!(matches!(error.kind, ErrorKind::NotA { what: "a ROOT file", .. }), "{error}");
    }
}

/// Bytes of the key of an object where its directory lists it.
fn listed(bytes: &[u8], key: &Key) -> usize {
    let begin = key.seek as usize;
    let label = &bytes[begin..begin + usize::from(key.keylen)];
    let mut places =
        (0..bytes.len() - label.len()).filter(|&at| at != begin && bytes[at..].starts_with(label));
    let found = places.next().expect("a list");
    assert_eq!(places.next(), None);
    found
}

/// A list of keys that leads to another object, or tells other lengths than the object itself.
#[test]
fn an_object_is_the_one_that_is_listed() {
    let whole = std::fs::read(corpus::repository().join("tests/data/zmumu.root")).expect("there");
    let open =
        |bytes: &[u8]| RootFile::open(Arc::new(Memory::new("doctored", bytes.to_vec()))).expect("a file");
    let file = open(&whole);
    let (mass, other) = (file.find("mass").expect("there").key, file.find("events").expect("there").key);
    let at = listed(&whole, &mass);
    let doctored = |from: usize, new: &[u8]| {
        let mut bytes = whole.clone();
        bytes[at + from..at + from + new.len()].copy_from_slice(new);
        let file = open(&bytes);
        let keys = file.keys().expect("a list");
        let key = keys.iter().find(|key| {
            key.seek_directory == mass.seek_directory && {
                key.seek == mass.seek || key.seek == other.seek && key.nbytes == mass.nbytes
            }
        });
        file.object(key.expect("it is listed")).map(|objects| objects.top().class().to_owned())
    };
    let error = doctored(18, &(other.seek as u32).to_be_bytes()).expect_err("another object");
    assert_eq!(error.place.byte, Some(other.seek));
    assert_eq!(
        error.kind.to_string(),
        "not the object that the directory lists here: events;1 of class TTree"
    );
    let error = doctored(6, &(mass.objlen + 1).to_be_bytes()).expect_err("another length");
    assert!(
        matches!(error.kind, ErrorKind::Mismatch { found, .. } if found == u64::from(mass.objlen)),
        "{error}"
    );
    let error = doctored(14, &(mass.keylen - 1).to_be_bytes()).expect_err("another length of the key");
    assert!(
        matches!(error.kind, ErrorKind::Mismatch { found, .. } if found == u64::from(mass.keylen)),
        "{error}"
    );
    let error = doctored(27, b"TH1D").expect_err("another class");
    assert!(error.kind.to_string().ends_with("mass;2 of class TH1F"), "{error}");
    // ROOT lets a user rename what is there, in the list only.
    assert_eq!(doctored(32, b"miss").expect("the same object"), "TH1F");
    // Not if it was written at another time.
    let mut bytes = whole.clone();
    bytes[at + 32..at + 36].copy_from_slice(b"miss");
    bytes[at + 13] ^= 1;
    let file = open(&bytes);
    let error = file.object(&file.find("miss").expect("listed").key).expect_err("another object");
    assert!(error.kind.to_string().ends_with("mass;2 of class TH1F"), "{error}");
}

#[test]
fn compressed_blocks_that_lie_are_refused_before_memory_is_made() {
    let kind = |stored: &[u8], length| check_record(stored, length).map_err(|error| error.kind);
    // 16 MiB from nothing.
    let mut stored = [b"ZL\x08".as_slice(), &[1, 0, 0], &[255, 255, 255], &[0]].concat();
    assert!(matches!(kind(&stored, 0xFF_FFFF), Err(ErrorKind::OutOfRange { found: 0xFF_FFFF, .. })));
    // A block longer than what is there.
    stored[3] = 200;
    assert!(matches!(kind(&stored, 0xFF_FFFF), Err(ErrorKind::Truncated { needed: 200, available: 1, .. })));
    // Blocks that add up to something else.
    let stored = [b"ZS\x01".as_slice(), &[1, 0, 0], &[10, 0, 0], &[0]].concat();
    assert!(matches!(kind(&stored, 20), Err(ErrorKind::Mismatch { expected: 20, found: 10, .. })));
    assert!(matches!(kind(b"??\x01\0\0\0\0\0\0", 100), Err(ErrorKind::NotA { .. })));
    // A hash that is not the block's.
    let block = [0x30, b'a', b'b', b'c'];
    let hash = forthwith_io::xxh64(&block).to_be_bytes();
    let mut stored = [b"L4\x01".as_slice(), &[12, 0, 0], &[3, 0, 0], &hash, &block].concat();
    stored[8] = 0;
    let mut out = [0; 3];
    forthwith_root::decompress_blocks(&stored, &mut out, &mut Decompressor::new()).expect("a sound block");
    assert_eq!(&out, b"abc");
    stored[9] ^= 1;
    let error = forthwith_root::decompress_blocks(&stored, &mut out, &mut Decompressor::new()).unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Mismatch { what: "hash of a compressed block", .. }), "{error}");
}
