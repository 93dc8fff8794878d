//! Files of more than 2 GB, with holes where nothing but zeros was written.

#![allow(clippy::unwrap_used)] // a test fails by panicking

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

use forthwith_io::{Sink, UpdateSink};
use forthwith_root::RootFile;
use forthwith_root::write::{FileSettings, FileWriter, KeyKind, KeyText};

use super::written::{add, run_root, settings, text};

/// A file that gets holes instead of zeros.
struct Holes(File);

impl Write for Holes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() >= 1 << 20 && bytes.iter().all(|&byte| byte == 0) {
            self.0.seek(SeekFrom::Current(bytes.len() as i64))?;
            return Ok(bytes.len());
        }
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Sink for Holes {
    fn uri(&self) -> &str {
        "large.root"
    }

    fn patch(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let end = self.0.stream_position()?;
        self.0.seek(SeekFrom::Start(at))?;
        self.0.write_all(bytes)?;
        self.0.seek(SeekFrom::Start(end)).map(drop)
    }

    fn finish(self: Box<Self>) -> forthwith_io::Result<()> {
        Ok(())
    }
}

/// Appends a basket of so many megabytes.
fn grow(file: &mut FileWriter, megabytes: usize) {
    let piece = vec![0; 1 << 20];
    let top = file.directory("").unwrap();
    let key = KeyText { class: "TBasket", name: "x", title: "t" };
    let kind = KeyKind::BASKET;
    file.record(key, top, kind, megabytes << 20, &vec![&piece[..]; megabytes]).unwrap();
}

fn read(path: &Path) -> RootFile {
    RootFile::open(forthwith_io::open_unmapped(path.to_str().unwrap()).unwrap()).unwrap()
}

const SCRIPT: &str = "
f = ROOT.TFile.Open(sys.argv[1])
assert not f.TestBit(ROOT.TFile.kRecovered)
print(f.Get('small'), f.Get('d/inner'), f.Get('late/other'), f.GetEND() > 2000000000)
f.Close()
f = ROOT.TFile.Open(sys.argv[1], 'UPDATE')
ROOT.TObjString('added').Write('added')
f.Close()
f = ROOT.TFile.Open(sys.argv[1])
print(f.Get('added'), f.Get('small'), f.Get('late/other'))
";

#[test]
fn files_above_2_gb_have_64_bits() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.root");
    let mut file = FileWriter::create(Box::new(Holes(File::create(&path).unwrap())), settings()).unwrap();
    add(&mut file, "", "small", "one");
    add(&mut file, "d", "inner", "two");
    grow(&mut file, 1000);
    grow(&mut file, 1000);
    add(&mut file, "late", "other", &"three".repeat(100));
    file.finish().unwrap();
    let found = read(&path);
    assert!(found.header().end > 2_000_000_000 && found.header().root_version() == (6, 40, 0));
    assert_eq!(text(&found, "d/inner"), "two");
    assert_eq!(text(&found, "late/other").len(), 500);
    let key = found.find("late/other").unwrap().key;
    assert_eq!((key.version, key.keylen), (1004, 34 + 11 + 6 + 25));
    if let Some(out) = run_root(SCRIPT, &path) {
        assert_eq!(out, format!("one two {0} True\nadded one {0}\n", "three".repeat(100)));
    }
}

#[test]
fn files_that_grow_above_2_gb_change_to_64_bits() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.root");
    let mut file = FileWriter::create(Box::new(Holes(File::create(&path).unwrap())), settings()).unwrap();
    add(&mut file, "", "small", "one");
    add(&mut file, "d", "inner", "two");
    add(&mut file, "late", "other", "three");
    grow(&mut file, 1000);
    grow(&mut file, 900);
    let gone = file.directory("").unwrap();
    file.finish().unwrap();
    let before = read(&path);
    assert!(before.header().end < 2_000_000_000);
    let sink = Holes(File::options().read(true).write(true).open(&path).unwrap());
    let mut sink = Box::new(sink);
    sink.0.seek(SeekFrom::Start(before.header().end)).unwrap();
    let mut file = FileWriter::update(sink, &before, FileSettings::of(&before)).unwrap();
    grow(&mut file, 200);
    add(&mut file, "late", "other", "four");
    assert!(file.remove(gone, "small", 1));
    add(&mut file, "", "small", "five");
    file.finish().unwrap();
    drop(UpdateSink::open(&path).unwrap());
    let found = read(&path);
    assert!(found.header().end > 2_000_000_000);
    let texts = ["small", "d/inner", "late/other;1", "late/other"].map(|path| text(&found, path));
    assert_eq!(texts, ["five", "two", "three", "four"]);
    if let Some(out) = run_root(SCRIPT, &path) {
        assert_eq!(out, "five two four True\nadded five four\n");
    }
}
