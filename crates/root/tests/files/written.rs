//! Files that the crate writes, read by the crate and by C++ ROOT.

#![allow(clippy::unwrap_used)] // a test fails by panicking

use std::io::{self, Write};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use forthwith_io::{FileSink, Memory, MemorySink, Sink};
use forthwith_root::write::{
    Algorithm, Buffer, Compression, Edits, FileSettings, FileWriter, KeyKind, KeyText, Moment, Uuid,
    described_class, described_classes,
};
use forthwith_root::{RootFile, StreamerInfo};

pub(super) fn settings() -> FileSettings {
    FileSettings {
        compression: Compression::NONE,
        uuid: Uuid([3; 16]),
        time: Moment(1_700_000_000),
        title: "a title".into(),
        ..FileSettings::default()
    }
}

pub(super) fn note(name: &str) -> KeyText<'_> {
    KeyText { class: "TObjString", name, title: "Collectable string class" }
}

/// Adds a text.
pub(super) fn add(file: &mut FileWriter, directory: &str, name: &str, text: &str) {
    let directory = file.directory(directory).unwrap();
    file.describe_class("TObjString").unwrap();
    let written = file.object(directory, note(name), |buffer| {
        buffer.frame(1, |buffer| {
            buffer.tobject(0, 0);
            buffer.string(text);
        });
    });
    written.unwrap();
}

/// Adds everything that a file can have but tables.
fn fill(file: &mut FileWriter) {
    add(file, "", "first", "one");
    add(file, "", "first", "two");
    add(file, "a/b", "deep", &"long ".repeat(1000));
    add(file, "a", "beside", "three");
    file.directory("empty").unwrap();
    let key = KeyText { class: "TBasket", name: "x", title: "t" };
    let directory = file.directory("").unwrap();
    let kind = KeyKind::BASKET;
    let place = file.record(key, directory, kind, 6, &[b"abc", b"def"]).unwrap();
    assert_eq!((place.stored_len, place.key_len), (6, 65));
    add(file, "", "gone", "removed");
    assert!(file.remove(directory, "gone", 1));
    assert!(!file.remove(directory, "gone", 1));
    described_classes().for_each(|info| file.describe(info));
}

pub(super) fn open(bytes: bytes::Bytes) -> RootFile {
    RootFile::open(Arc::new(Memory::new("written.root", bytes))).unwrap()
}

/// Everything that the parts of a file say of each other.
pub(super) fn assert_whole(file: &RootFile) {
    let checked = file.check(&mut []).unwrap();
    assert!(checked.findings.is_empty(), "{:#?}", checked.findings);
    let (header, free) = (file.header(), file.free_segments().unwrap());
    assert_eq!(header.nfree as usize, free.len());
    assert_eq!(free.last().unwrap().0, header.end);
    assert_eq!(file.source().size().unwrap(), header.end);
    let mut end = header.begin;
    for record in file.records().unwrap() {
        let record = record.unwrap();
        assert_eq!(record.at, end);
        end += record.length;
        if let Some(key) = record.key {
            assert_eq!(key.seek, record.at);
        }
    }
    assert_eq!(end, header.end);
}

pub(super) fn text(file: &RootFile, path: &str) -> String {
    let object = file.object(&file.find(path).unwrap().key).unwrap();
    object.top().text("fString").unwrap()
}

#[test]
fn what_is_written_is_read() {
    let algorithms = Algorithm::ALL.map(Compression::of);
    for compression in algorithms.into_iter().chain([Compression::NONE]) {
        let memory = MemorySink::new("folder/written.root");
        let settings = FileSettings { compression, ..settings() };
        let mut file = FileWriter::create(Box::new(memory.clone()), settings).unwrap();
        fill(&mut file);
        let position = file.position();
        let end = file.finish().unwrap();
        assert!(end > position);
        let file = open(memory.bytes().unwrap());
        assert_whole(&file);
        assert_eq!(file.header().compression, compression.setting());
        assert_eq!(file.header().uuid, Some([3; 16]));
        assert_eq!(text(&file, "first"), "two");
        assert_eq!(text(&file, "first;1"), "one");
        assert_eq!(text(&file, "a/b/deep").len(), 5000);
        let paths: Vec<_> =
            file.keys_recursive().unwrap().iter().map(|found| found.path.to_string()).collect();
        assert_eq!(paths, ["first", "first", "a", "a/b", "a/b/deep", "a/beside", "empty"]);
        assert_eq!(file.keys().unwrap()[0].datime.to_string(), "2023-11-14 22:13:20");
        assert!(file.streamers().unwrap().infos().unwrap().len() > 60);
    }
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let bytes = || {
        let memory = MemorySink::new("written.root");
        let mut file = FileWriter::create(Box::new(memory.clone()), settings()).unwrap();
        fill(&mut file);
        file.finish().unwrap();
        memory.bytes().unwrap()
    };
    assert!(bytes() == bytes());
}

/// Objects of an older version are read by what their own file says, though members and checksum are those of
/// the version that is written here.
#[test]
fn versions_with_one_checksum_are_described_each() {
    let old = |class: &str, version| StreamerInfo { version, ..(*described_class(class).unwrap()).clone() };
    let (marker, holder) = (old("TAttMarker", 2), old("TH1", 7));
    let memory = MemorySink::new("old.root");
    let mut file = FileWriter::create(Box::new(memory.clone()), settings()).unwrap();
    file.describe(&holder);
    file.describe(&marker);
    file.finish().unwrap();
    let from = open(memory.bytes().unwrap()).streamers().unwrap();
    let memory = MemorySink::new("copied.root");
    let mut file = FileWriter::create(Box::new(memory.clone()), settings()).unwrap();
    file.describe_from(&from).unwrap();
    file.describe_from(&from).unwrap();
    file.finish().unwrap();
    let streamers = open(memory.bytes().unwrap()).streamers().unwrap();
    for info in [marker, holder] {
        assert_eq!(*streamers.find(&info.class, info.version).unwrap().unwrap(), info);
    }
    assert_eq!(streamers.infos().unwrap().len(), from.infos().unwrap().len());
}

#[test]
fn arrays_behind_their_number_keep_it() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/zmumu.root");
    let file = RootFile::open(forthwith_io::open(path).unwrap()).unwrap();
    let key = file.find("mass").unwrap().key;
    let histogram = file.object_to_edit(&key).unwrap();
    let mut edits = Edits::new(&histogram).unwrap();
    let bits = [1.5_f64, -2.0].map(|value| value.to_bits().cast_signed());
    edits.counted(histogram.top(), "fSumw2", &bits, 8).unwrap();
    let mut edited = Buffer::new(key.keylen);
    edits.write(&mut edited).unwrap();
    let walker = file.walker().unwrap();
    let again = walker.read(edited.bytes().to_vec().into(), key.keylen.into(), "TH1F").unwrap();
    let squares: Vec<f64> = again.top().array("fSumw2").unwrap().floats().collect();
    assert_eq!(squares, [1.5, -2.0]);
}

#[test]
fn descriptions_are_read_as_they_were() {
    let memory = MemorySink::new("written.root");
    let mut file = FileWriter::create(Box::new(memory.clone()), settings()).unwrap();
    described_classes().for_each(|info| file.describe(info));
    file.finish().unwrap();
    let streamers = open(memory.bytes().unwrap()).streamers().unwrap();
    for info in described_classes() {
        let found = streamers.find(&info.class, info.version).unwrap().unwrap();
        assert_eq!(&found, info);
    }
}

#[test]
fn names_that_cannot_be_are_refused() {
    let mut file = FileWriter::create(Box::new(MemorySink::new("written.root")), settings()).unwrap();
    let top = file.directory("").unwrap();
    for (name, expected) in
        [("", "it is empty"), ("a/b", "a slash separates"), (&*"x".repeat(40_000), "has room for")]
    {
        let error = file.object(top, note(name), |_| {}).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
    add(&mut file, "", "note", "text");
    let error = file.directory("note/inner").unwrap_err();
    assert!(error.to_string().contains("not a directory: an object of class TObjString"), "{error}");
    let error = file.describe_class("TNonsense").unwrap_err();
    assert!(error.to_string().contains("TNonsense"), "{error}");
    file.finish().unwrap();
}

/// A sink that takes so many bytes, or so many patches.
struct Full {
    bytes: usize,
    patches: usize,
}

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes = self.bytes.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Sink for Full {
    fn uri(&self) -> &str {
        "full.root"
    }

    fn patch(&mut self, _: u64, _: &[u8]) -> io::Result<()> {
        self.patches = self.patches.checked_sub(1).ok_or(io::ErrorKind::StorageFull)?;
        Ok(())
    }

    fn finish(self: Box<Self>) -> forthwith_io::Result<()> {
        panic!("a file that is not complete was finished");
    }
}

#[test]
fn a_sink_that_fails_is_not_finished() {
    for sink in [Full { bytes: 90_000, patches: 9 }, Full { bytes: usize::MAX, patches: 1 }] {
        let mut file = FileWriter::create(Box::new(sink), settings()).unwrap();
        let top = file.directory("").unwrap();
        let mut failed = false;
        for _ in 0..40 {
            let written = file.object(top, note("note"), |buffer| buffer.extend(&[1; 5000]));
            failed |= written.is_err();
        }
        assert!(file.finish().is_err());
        let _ = failed;
    }
}

/// Runs a script under C++ ROOT with the path of a file, and returns what it prints. Nothing may stand on its
/// other output.
pub(super) fn run_root(script: &str, path: &Path) -> Option<String> {
    let Some(python) = std::env::var_os("FORTHWITH_ROOT_PYTHON") else {
        eprintln!("skipped: FORTHWITH_ROOT_PYTHON names no Python with C++ ROOT");
        return None;
    };
    let script = format!(
        "import sys, warnings\nwarnings.simplefilter('ignore')\nimport ROOT\nROOT.gROOT.SetBatch(True)\n{script}"
    );
    let done = Command::new(python).arg("-c").arg(script).arg(path).output().unwrap();
    let (out, errors) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success() && errors.is_empty(), "{out}{errors}");
    Some(out.into_owned())
}

#[test]
fn root_reads_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("written.root");
    for compression in [Compression::NONE, Compression::of(Algorithm::Lz4), Compression::of(Algorithm::Lzma)]
    {
        let settings = FileSettings { compression, ..settings() };
        let sink = Box::new(FileSink::create(&path).unwrap());
        let mut file = FileWriter::create(sink, settings).unwrap();
        fill(&mut file);
        file.finish().unwrap();
        let script = "
f = ROOT.TFile.Open(sys.argv[1])
assert not f.TestBit(ROOT.TFile.kRecovered)
print(f.Get('first'), f.Get('first;1'), len(str(f.Get('a/b/deep'))), f.Get('a/beside'), f.GetTitle())
assert f.Get('empty').GetListOfKeys().GetSize() == 0
for info in f.GetStreamerInfoList():
    known = ROOT.TClass.GetClass(info.GetName())
    assert known and known.GetCheckSum() == info.GetCheckSum(), info.GetName()
    version = max(known.GetClassVersion(), 1) if info.GetName() == 'ROOT::TIOFeatures' else known.GetClassVersion()
    assert version == info.GetClassVersion(), info.GetName()
f.Close()
f = ROOT.TFile.Open(sys.argv[1], 'UPDATE')
f.Get('a/b').cd()
ROOT.TObjString('added').Write('added')
f.Close()
f = ROOT.TFile.Open(sys.argv[1])
print(f.Get('a/b/added'), f.Get('first'))
";
        let Some(out) = run_root(script, &path) else { return };
        assert_eq!(out, "two one 5000 three a title\nadded two\n");
        let updated = RootFile::open(forthwith_io::open(path.to_str().unwrap()).unwrap()).unwrap();
        assert_eq!(text(&updated, "a/b/added"), "added");
    }
}
