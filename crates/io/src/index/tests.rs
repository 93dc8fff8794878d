use super::{HEAD, Index, Indexed, Part, Recorder};
use crate::{
    error::ErrorKind,
    hash::xxh3,
    source::{Memory, PreadFile, Source, open},
};
use bytes::Bytes;
use proptest::prelude::*;
use std::{
    ops::Range,
    sync::{Arc, Mutex},
    time::Duration,
};

/// A file of which each request is noted, with a mark.
#[derive(Debug)]
struct Noted {
    file: Memory,
    mark: Option<&'static str>,
    asked: Mutex<Vec<Range<u64>>>,
}

impl Noted {
    fn new(bytes: impl Into<Bytes>, mark: Option<&'static str>) -> Arc<Self> {
        Arc::new(Self { file: Memory::new("a.root", bytes), mark, asked: Mutex::default() })
    }

    fn asked(&self) -> Vec<Range<u64>> {
        std::mem::take(&mut *self.asked.lock().expect("no panic"))
    }
}

impl Source for Noted {
    fn uri(&self) -> &str {
        self.file.uri()
    }

    fn size(&self) -> crate::Result<u64> {
        self.file.size()
    }

    fn read(&self, ranges: &[Range<u64>]) -> crate::Result<Vec<Bytes>> {
        self.asked.lock().expect("no panic").extend(ranges.iter().cloned());
        self.file.read(ranges)
    }

    fn zero_copy(&self) -> bool {
        false
    }

    fn concurrent(&self) -> bool {
        false
    }

    fn mark(&self) -> Option<String> {
        self.mark.map(str::to_owned)
    }
}

fn content() -> Vec<u8> {
    (0..1000_u32).map(|at| (at * 7 % 251) as u8).collect()
}

fn recorded(source: Arc<dyn Source>) -> Index {
    let recorder = Recorder::new(source).expect("a size");
    recorder.read(&[10..20, 15..40, 900..1000]).expect("inside");
    recorder.read_one(12..18).expect("inside");
    recorder.read_into(40, &mut [0; 5]).expect("inside");
    recorder.view(500..510).expect("inside");
    recorder.index().expect("an index")
}

fn kind(error: crate::Error) -> String {
    assert!(matches!(error.kind, ErrorKind::Index { .. }), "{error}");
    error.to_string()
}

#[test]
fn what_was_read_is_answered_and_all_else_is_passed_on() {
    let index = recorded(Noted::new(content(), Some("one")));
    assert_eq!(index.ranges(), [10..45, 500..510, 900..1000]);
    let bytes = Bytes::from(index.to_bytes());
    let again = Index::parse(index.name(), &bytes).expect("what was written");
    assert_eq!(again, index);

    let file = Noted::new(content(), Some("one"));
    let indexed = Indexed::over(Arc::clone(&file) as Arc<dyn Source>, again).expect("the same file");
    assert_eq!(file.asked(), []);
    let ranges = [10..45, 44..46, 500..500, 505..510, 0..3];
    let answers = indexed.read(&ranges).expect("inside");
    for (range, bytes) in ranges.iter().zip(&answers) {
        assert_eq!(bytes[..], content()[range.start as usize..range.end as usize]);
    }
    assert_eq!(file.asked(), [44..46, 0..3]);
    let mut into = [0; 7];
    indexed.read_into(990, &mut into).expect("inside");
    assert_eq!(into[..], content()[990..997]);
    assert_eq!(file.asked(), []);
    assert!(indexed.read_one(990..1001).is_err());
}

#[test]
fn a_file_without_the_mark_of_the_index_is_compared_with_it() {
    for mark in [None, Some("two")] {
        let index = recorded(Noted::new(content(), Some("one")));
        let file = Noted::new(content(), mark);
        Indexed::over(Arc::clone(&file) as Arc<dyn Source>, index).expect("the same bytes");
        assert_eq!(file.asked(), [10..45, 500..510, 900..1000]);

        let mut other = content();
        other[930] ^= 1;
        let index = recorded(Noted::new(content(), Some("one")));
        let error = kind(Indexed::over(Noted::new(other, mark), index).expect_err("another byte"));
        assert!(error.contains("a.root, byte 930: the index a.root.fwi belongs to another file"), "{error}");
    }
    let index = recorded(Noted::new(content(), Some("one")));
    let longer = [content(), vec![0]].concat();
    let error = kind(Indexed::over(Noted::new(longer, Some("one")), index).expect_err("another size"));
    assert!(error.contains("1000 bytes then, 1001 now"), "{error}");
}

#[test]
fn a_local_file_that_was_written_anew_is_compared() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.root");
    std::fs::write(&path, content()).expect("written");
    assert_eq!(PreadFile::open(&path).expect("there").mark(), None, "a moment ago");
    std::thread::sleep(Duration::from_millis(50));
    let name = path.to_str().expect("text");
    let index = recorded(open(name).expect("there"));
    assert!(index.mark().is_some_and(|mark| mark.starts_with("local ")));
    Indexed::over(open(name).expect("there"), index.clone()).expect("the same file");
    let mut other = content();
    other[600] ^= 1;
    std::fs::write(&path, &other).expect("written");
    Indexed::over(open(name).expect("there"), index.clone()).expect("the same metadata");
    other[30] ^= 1;
    std::fs::write(&path, &other).expect("written");
    kind(Indexed::over(open(name).expect("there"), index).expect_err("other metadata"));
}

#[test]
fn a_file_that_changes_while_it_is_recorded_is_an_error() {
    let index = Index {
        name: String::new(),
        size: 4,
        mark: None,
        parts: vec![Part { start: 1, bytes: Bytes::from_static(b"x") }],
    };
    let liar = Indexed { inner: Noted::new(vec![0; 4], None), index };
    let recorder = Recorder::new(Arc::new(liar)).expect("a size");
    recorder.read_one(1..2).expect("inside");
    recorder.read_one(0..3).expect("inside");
    let error = recorder.index().expect_err("two answers");
    assert!(matches!(error.kind, ErrorKind::Changed { .. }), "{error}");
}

/// Makes the checksum that of what stands before it.
fn sealed(mut bytes: Vec<u8>) -> Bytes {
    let end = bytes.len() - 8;
    let sum = xxh3(&bytes[..end]);
    bytes[end..].copy_from_slice(&sum.to_le_bytes());
    bytes.into()
}

#[test]
fn every_changed_byte_and_every_cut_is_an_error() {
    let bytes = recorded(Noted::new(content(), Some("one"))).to_bytes();
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        kind(Index::parse("i", &damaged.into()).expect_err("another byte"));
        kind(Index::parse("i", &Bytes::copy_from_slice(&bytes[..at])).expect_err("cut"));
    }
}

#[test]
fn parts_that_lie_are_errors_though_the_checksum_is_right() {
    let bytes = recorded(Noted::new(content(), Some("one"))).to_bytes();
    let place = HEAD + "one".len();
    for (at, value) in [
        (20, u64::from(u32::MAX)), // parts, and what follows
        (16, u64::MAX),            // the mark's length
        (place, u64::MAX),         // the first part's start
        (place, 501),              // behind the second
        (place + 8, u64::MAX),     // its length
        (place + 8, 34),           // a byte less: one is left over
        (place + 8, 1 << 40),
        (8, 999), // a file that is shorter than the last part
    ] {
        let mut lying = bytes.clone();
        lying[at..at + 8].copy_from_slice(&value.to_le_bytes());
        kind(Index::parse("i", &sealed(lying)).expect_err("a lie"));
    }
}

proptest! {
    #[test]
    fn no_index_makes_a_wrong_answer_or_a_panic(
        changes in proptest::collection::vec((0..300_usize, any::<u8>()), 0..4),
        ranges in proptest::collection::vec((0..1000_u64, 0..200_u64), 1..20),
    ) {
        let mut bytes = recorded(Noted::new(content(), Some("one"))).to_bytes();
        for (at, value) in changes {
            let at = at % bytes.len();
            bytes[at] = value;
        }
        let file = Noted::new(content(), None);
        let Ok(index) = Index::parse("i", &sealed(bytes)) else { return Ok(()) };
        let Ok(indexed) = Indexed::over(file, index) else { return Ok(()) };
        for (start, length) in ranges {
            let range = start..(start + length).min(1000);
            let whole = &content()[range.start as usize..range.end as usize];
            prop_assert_eq!(&indexed.read_one(range).expect("inside")[..], whole);
        }
    }
}
