//! Of an Avro file no more is looked at than what is asked for.

use forthwith::{Engine, File, Options, Step, columns::TextPolicy, io, plan::ErrorKind};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

const BLOCKS: u64 = 2000;
const ENTRIES: u64 = 50;
const MARKER: [u8; 16] = *b"forthwith-tests!";

fn long(value: i64, out: &mut Vec<u8>) {
    let mut rest = ((value << 1) ^ (value >> 63)) as u64;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

/// Blocks of entries that count up, each with a text that makes it long.
fn many_blocks(text: usize) -> Vec<u8> {
    let schema = r#"{"type": "record", "name": "row", "fields": [{"name": "n", "type": "long"}, {"name": "s", "type": "string"}]}"#;
    let mut file = b"Obj\x01".to_vec();
    long(1, &mut file);
    for text in ["avro.schema", schema] {
        long(text.len() as i64, &mut file);
        file.extend(text.as_bytes());
    }
    file.push(0);
    file.extend(MARKER);
    for block in 0..BLOCKS {
        let mut bytes = Vec::new();
        for entry in 0..ENTRIES {
            long((block * ENTRIES + entry) as i64, &mut bytes);
            long(text as i64, &mut bytes);
            bytes.resize(bytes.len() + text, b'x');
        }
        long(ENTRIES as i64, &mut file);
        long(bytes.len() as i64, &mut file);
        file.extend(bytes);
        file.extend(MARKER);
    }
    file
}

/// Counts what is read, as a source far away would.
struct Counting(Vec<u8>, Arc<AtomicU64>);

impl io::ReadAt for Counting {
    fn size(&mut self) -> Result<u64, String> {
        Ok(self.0.len() as u64)
    }

    fn read_at(&mut self, at: u64, into: &mut [u8]) -> Result<usize, String> {
        self.1.fetch_add(into.len() as u64, Ordering::Relaxed);
        into.copy_from_slice(&self.0[at as usize..at as usize + into.len()]);
        Ok(into.len())
    }
}

/// The file, and the number of bytes that were read of it.
fn opened(bytes: Vec<u8>) -> (File, Arc<AtomicU64>) {
    let read = Arc::new(AtomicU64::new(0));
    let source = io::Callback::new("counting.avro", Box::new(Counting(bytes, Arc::clone(&read))));
    let engine = Arc::new(Engine::new(Options { threads: 1, ..Options::default() }));
    (File::from_source(Arc::new(source), engine).expect("a file"), read)
}

#[test]
fn no_more_is_read_than_what_is_asked_for() {
    let bytes = many_blocks(900);
    let all = bytes.len() as u64;
    let (file, read) = opened(bytes);
    let read = || read.load(Ordering::Relaxed);
    let table = file.table("").expect("a table");
    assert!(read() < 10_000, "opening read {} bytes", read());
    let description = table.describe_first(0, 1).expect("a description");
    assert!(description.reading.is_ok());
    assert_eq!(table.entries_up_to(120).expect("three blocks"), 120);
    let plan = table.plan(&[0], 0..120).expect("a plan");
    let arrays = table.read(&plan, None, None).expect("values");
    assert_eq!(arrays[0].length, 120);
    assert!(read() < 300_000, "120 entries read {} bytes", read());
    // Small steps are read some megabytes at a time, and no further than that.
    let mut walk = table.steps(&[0, 1], 100..u64::MAX, Step::Entries(70)).expect("a walk");
    for step in 0..5 {
        let (entries, arrays) = walk.read(None, None).expect("a step").expect("not the last");
        assert_eq!(entries, 100 + 70 * step..170 + 70 * step);
        assert_eq!(arrays[0].length, 70);
    }
    assert!(read() < all / 2, "five steps of 70 read {} of {all} bytes", read());
    assert_eq!(table.entries().expect("all blocks"), BLOCKS * ENTRIES);
}

#[test]
fn steps_that_are_cut_on_the_way_are_those_that_are_listed() {
    let (file, _) = opened(many_blocks(200));
    for step in [Step::Entries(999), Step::Entries(30_000), Step::Bytes(1 << 20), Step::Bytes(1 << 30)] {
        for entries in [0..u64::MAX, 7..90_000, 0..0, 99_999..u64::MAX, 200_000..u64::MAX] {
            let table = file.table("").expect("a table");
            let mut walk = table.steps(&[1, 0], entries.clone(), step).expect("a walk");
            let mut at = entries.start.min(BLOCKS * ENTRIES);
            let mut steps = Vec::new();
            while let Some((entries, arrays)) = walk.read(None, None).expect("a step") {
                assert_eq!(entries.start, at);
                assert_eq!(arrays[0].length, entries.end - entries.start);
                at = entries.end;
                steps.push(entries);
            }
            let end = entries.end.min(BLOCKS * ENTRIES);
            assert_eq!(at, end.max(entries.start.min(end)));
            if let Step::Entries(_) = step {
                let start = entries.start.min(end);
                assert_eq!(steps, table.cut(&[1, 0], start..end, step).expect("steps"));
            }
        }
    }
}

#[test]
fn what_is_damaged_is_said_by_whoever_comes_there() {
    let mut bytes = many_blocks(200);
    let half = bytes.len() / 2;
    bytes.truncate(half);
    let (file, _) = opened(bytes);
    let table = file.table("").expect("the header is whole");
    let plan = table.plan(&[0], 0..500).expect("what stands before is whole");
    assert_eq!(table.read(&plan, None, None).expect("values")[0].length, 500);
    for _ in 0..2 {
        let error = table.entries().expect_err("cut off");
        assert!(matches!(error.kind, ErrorKind::Truncated { .. }), "{error}");
        assert!(
            error.to_string().contains("block 999") || error.to_string().contains("block 1000"),
            "{error}"
        );
    }
    let mut walk = table.steps(&[0], 0..u64::MAX, Step::Entries(1000)).expect("a walk");
    let mut read = 0;
    let error = loop {
        match walk.read(None, None) {
            Ok(Some((entries, _))) => read = entries.end,
            Ok(None) => panic!("the end was not said to be missing"),
            Err(error) => break error,
        }
    };
    assert!(matches!(error.kind, ErrorKind::Truncated { .. }), "{error}");
    assert!(read >= 40_000, "{read} entries before the damage");
}

/// Text is checked by the thread that decodes it, and the error is the same as that of a check afterwards.
#[test]
fn text_that_is_none_is_told_whoever_finds_it() {
    let good = many_blocks(40);
    let read = |bytes: &[u8], threads: usize, unchecked: bool| {
        let policy = if unchecked { TextPolicy::Stored } else { TextPolicy::Strict };
        let (file, _) = opened(bytes.to_vec());
        let table = file.table("").expect("a table").with_text_policy(policy);
        table.read(&table.plan(&[0, 1], 5..BLOCKS * ENTRIES).expect("a plan"), Some(threads), None)
    };
    // Letters in the middle of the file, in the first bytes of an entry's text and in the last of the one before.
    let entry = (BLOCKS / 2 * ENTRIES) as i64 + 7;
    let mut head = Vec::new();
    long(entry, &mut head);
    long(40, &mut head);
    let at = good.windows(head.len()).position(|bytes| bytes == head).expect("the entry") + head.len();
    let before = at - head.len() - 2;
    let with = |changes: &[(usize, &[u8])]| {
        let mut bytes = good.clone();
        for (at, to) in changes {
            bytes[*at..at + to.len()].copy_from_slice(to);
        }
        bytes
    };
    let entry = entry as u64;
    let cases = [
        (with(&[]), None),
        (with(&[(at, "\u{e9}".as_bytes()), (before, "\u{e9}".as_bytes())]), None),
        (with(&[(at, b"\xff")]), Some(entry)),
        // The first half of a letter here, the other there.
        (with(&[(before + 1, b"\xc3"), (at, b"\xa9")]), Some(entry - 1)),
        (with(&[(at, b"\xa9"), (at + 5000, b"\xff")]), Some(entry)),
    ];
    for (bytes, bad) in cases {
        assert!(read(&bytes, 2, true).is_ok());
        for threads in 1..4 {
            let read = read(&bytes, threads, false);
            let Some(bad) = bad else {
                assert_eq!(read.expect("text").len(), 2);
                continue;
            };
            let error = read.expect_err("no text");
            assert!(
                matches!(&error.kind, ErrorKind::Fault { what } if what.contains("not UTF-8")),
                "{error}"
            );
            assert_eq!((error.place.entry, error.place.block), (Some(bad), None));
            assert_eq!(error.place.object.as_deref(), Some("row/s"));
        }
    }
}

/// A caller that reads each step in a way of its own gets the same steps, without reading.
#[test]
fn steps_that_are_passed_are_not_read() {
    let bytes = many_blocks(900);
    let all = bytes.len() as u64;
    let (file, read) = opened(bytes);
    let table = file.table("").expect("a table");
    let mut walk = table.steps(&[0], 0..u64::MAX, Step::Entries(70)).expect("a walk");
    for step in 0..5 {
        assert_eq!(walk.skip_step().expect("a step"), Some(70 * step..70 * (step + 1)));
    }
    let read = read.load(Ordering::Relaxed);
    assert!(read < 200_000, "five steps of 70 looked at {read} of {all} bytes");
    let (step, arrays) = walk.read(None, None).expect("a step").expect("not the last");
    assert_eq!((step, arrays[0].length), (350..420, 70));
    let found = table.entries_up_to(BLOCKS * ENTRIES / 2).expect("half of the blocks");
    let likely = table.likely_entries().expect("a guess");
    assert!(found < likely && likely.abs_diff(BLOCKS * ENTRIES) < 2_000, "{likely}");
}
