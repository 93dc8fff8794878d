//! Streams, whose entries are read as they arrive.

use forthwith::{
    Engine, File, OpenOptions, Options, Step, Table,
    io::{Memory, Source, StreamSource},
};
use std::{
    io::Read,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

const SCHEMA: &str = "syntax = 'proto3'; message Hit { int64 n = 1; bytes raw = 2; }";

/// Bytes in pieces of a few hundred, and how many were read.
struct Pieces {
    bytes: Vec<u8>,
    read: Arc<AtomicUsize>,
}

impl Read for Pieces {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let at = self.read.load(Ordering::Relaxed);
        let length = into.len().min(333).min(self.bytes.len() - at);
        into[..length].copy_from_slice(&self.bytes[at..at + length]);
        self.read.fetch_add(length, Ordering::Relaxed);
        Ok(length)
    }
}

fn open(source: Arc<dyn Source>, format: &str, schema: &str) -> Table {
    let options = OpenOptions::new().with("format", format.to_owned()).with("schema", schema.to_owned());
    let engine = Arc::new(Engine::new(Options::default()));
    File::from_source_with(source, engine, &options).expect("a format").table("").expect("one table")
}

fn messages(count: u8) -> Vec<u8> {
    (0..count).flat_map(|n| [[105, 8, n | 0x80, n >> 7, 18, 100].as_slice(), &[n; 100]].concat()).collect()
}

fn lines(count: u8) -> Vec<u8> {
    (0..count)
        .flat_map(|n| format!("{{\"n\": {n}, \"raw\": \"{}\"}}\n", "x".repeat(90)).into_bytes())
        .collect()
}

#[test]
fn steps_of_a_stream_are_those_of_a_file_and_wait_for_no_more() {
    let schema = "{n: int64, raw: bytes}";
    for (bytes, format, schema) in
        [(messages(200), "pb", SCHEMA), (lines(200), "jsonl", schema), (lines(200), "json", schema)]
    {
        let read = Arc::new(AtomicUsize::new(0));
        let each = bytes.len() / 200;
        let pieces = Pieces { bytes: bytes.clone(), read: Arc::clone(&read) };
        let stream = open(Arc::new(StreamSource::new("pipe", pieces, 1000, || true)), format, schema);
        let file = open(Arc::new(Memory::new("file", bytes)), format, schema);
        assert!(stream.is_stream() && !file.is_stream());
        assert!(read.load(Ordering::Relaxed) <= 333, "{format}: opening reads the beginning");
        let mut steps = stream.steps(&["n", "raw"], .., Step::Entries(7)).expect("steps");
        let mut expected = file.steps(&["n", "raw"], .., Step::Entries(7)).expect("steps");
        while let Some((entries, arrays)) = steps.read(None, None).expect("sound") {
            let ahead = read.load(Ordering::Relaxed) - entries.end as usize * each;
            assert!(ahead <= 1500, "{format}: {ahead} bytes ahead of {entries:?}");
            assert_eq!(expected.read(None, None).expect("sound"), Some((entries, arrays)));
        }
        assert_eq!(expected.read(None, None).expect("sound"), None);
        assert_eq!(stream.entries().expect("counted"), 200);
    }
}

#[test]
fn steps_of_bytes_are_as_long_as_was_asked() {
    let pieces = Pieces { bytes: messages(200), read: Arc::default() };
    let stream = open(Arc::new(StreamSource::new("pipe", pieces, 0, || true)), "pb", SCHEMA);
    let steps = stream.steps(&["n", "raw"], 3.., Step::Bytes(2100)).expect("steps");
    let lengths: Vec<u64> = steps
        .map(|step| step.map(|step| step.entries.end - step.entries.start))
        .collect::<Result<_, _>>()
        .expect("sound");
    assert_eq!(lengths.iter().sum::<u64>(), 197);
    assert!(lengths[..lengths.len() - 1].iter().all(|length| (15..30).contains(length)), "{lengths:?}");
}

#[test]
fn a_step_of_bytes_does_not_take_the_first_entries_for_all() {
    // Empty messages, then some of a kilobyte.
    let large = [[0xeb, 0x07, 18, 0xe8, 0x07].as_slice(), &[b'x'; 1000]].concat();
    let bytes = [vec![0; 3], large.repeat(400)].concat();
    let size = bytes.len();
    let read = Arc::new(AtomicUsize::new(0));
    let stream = StreamSource::new("pipe", Pieces { bytes, read: Arc::clone(&read) }, 0, || true);
    let table = open(Arc::new(stream), "pb", SCHEMA);
    let mut steps = table.steps(&["raw"], .., Step::Bytes(20_000)).expect("steps");
    steps.read(None, None).expect("sound").expect("entries");
    assert!(read.load(Ordering::Relaxed) < size / 4);
}

#[test]
fn threads_fold_a_stream_of_which_only_open_steps_are_kept() {
    #[derive(forthwith::Row)]
    struct Hit {
        n: i64,
    }
    let (text, count) = ("x".repeat(4000), 10_000_i64);
    let bytes: Vec<u8> =
        (0..count).flat_map(|n| format!("{{\"n\": {n}, \"raw\": \"{text}\"}}\n").into_bytes()).collect();
    let pieces = std::io::Cursor::new(bytes);
    let stream = StreamSource::new("pipe", pieces, 0, || true);
    let table = open(Arc::new(stream), "jsonl", "{n: int64, raw: string}");
    let rows = table.rows::<Hit>().expect("a column").threads(4).step(Step::Entries(100));
    let sum = rows.par_fold(|| 0, |sum, hit| *sum += hit.n, |sum, other| *sum += other).expect("sound");
    assert_eq!(sum, count * (count - 1) / 2);
    assert!(table.plan(&["n"], 0..10).is_err(), "the first entries were dropped");
}

#[test]
fn a_list_in_a_stream_ends() {
    let items = |count: u8| (0..count).map(|n| format!("{{\"n\": {n}}}")).collect::<Vec<_>>();
    for (separator, end) in [(",", "]"), (",\n", "\n]\n"), (" , ", " ]  \n\n")] {
        for count in [0, 1, 2, 200] {
            let text = format!("[{}{end}", items(count).join(separator));
            let pieces = Pieces { bytes: text.into_bytes(), read: Arc::default() };
            let source = Arc::new(StreamSource::new("pipe", pieces, 1000, || true));
            let stream = open(source, "json", "{n: int64}");
            let steps = stream.steps(&["n"], .., Step::Entries(3)).expect("steps");
            let read: u64 =
                steps.map(|step| step.expect("sound").entries).map(|step| step.end - step.start).sum();
            assert_eq!(
                (read, stream.entries().expect("counted")),
                (count.into(), count.into()),
                "{separator:?} {end:?}"
            );
        }
    }
    let text = format!("[{},\n{{\"n\": x}}]", items(3).join(",\n"));
    let pieces = Pieces { bytes: text.into_bytes(), read: Arc::default() };
    let stream = open(Arc::new(StreamSource::new("pipe", pieces, 1000, || true)), "json", "{n: int64}");
    let mut steps = stream.steps(&["n"], .., Step::Entries(1)).expect("steps");
    for entry in 0..3 {
        assert_eq!(steps.read_batch(None, None).expect("sound").expect("entries").entries, entry..entry + 1);
    }
    assert!(steps.read_batch(None, None).is_err());
}
