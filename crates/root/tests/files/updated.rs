//! Files that are changed: what was there stays, and a process that is killed at any byte leaves one of both.

#![allow(clippy::unwrap_used)] // a test fails by panicking

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use forthwith_io::{MemorySink, Sink, UpdateSink};
use forthwith_root::RootFile;
use forthwith_root::write::{FileSettings, FileWriter};

use super::written::{add, assert_whole, note, open, run_root, settings, text};

/// The calls of a sink, in order.
#[derive(Clone, Debug)]
enum Step {
    Append(Vec<u8>),
    Patch(u64, Vec<u8>),
    Sync,
}

/// A sink that keeps what it was told.
#[derive(Clone, Default)]
struct Told(Arc<Mutex<Vec<Step>>>);

impl Told {
    fn push(&self, step: Step) {
        self.0.lock().unwrap().push(step);
    }

    fn steps(&self) -> Vec<Step> {
        self.0.lock().unwrap().clone()
    }
}

impl Write for Told {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.push(Step::Append(bytes.to_vec()));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Sink for Told {
    fn uri(&self) -> &str {
        "updated.root"
    }

    fn patch(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.push(Step::Patch(at, bytes.to_vec()));
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        self.push(Step::Sync);
        Ok(())
    }

    fn finish(self: Box<Self>) -> forthwith_io::Result<()> {
        Ok(())
    }
}

/// The file after these steps, the last of them perhaps cut off in its middle. A patch is one call with a few
/// bytes, which the system does or does not do.
fn after(old: &[u8], steps: &[Step], cut: Option<usize>) -> Vec<u8> {
    let mut file = old.to_vec();
    for (number, step) in steps.iter().enumerate() {
        let cut = cut.filter(|_| number + 1 == steps.len());
        match step {
            Step::Append(bytes) => file.extend(&bytes[..cut.unwrap_or(bytes.len()).min(bytes.len())]),
            Step::Patch(at, bytes) => {
                let at = *at as usize;
                file[at..at + bytes.len()].copy_from_slice(bytes);
            }
            Step::Sync => {}
        }
    }
    file
}

/// A file with directories, cycles and a free part.
fn old_file() -> Vec<u8> {
    let memory = MemorySink::new("old.root");
    let mut file = FileWriter::create(Box::new(memory.clone()), settings()).unwrap();
    add(&mut file, "", "first", "one");
    add(&mut file, "", "first", "two");
    add(&mut file, "a/b", "deep", &"long ".repeat(1000));
    let top = file.directory("").unwrap();
    assert!(file.remove(top, "first", 1));
    file.finish().unwrap();
    memory.bytes().unwrap().to_vec()
}

/// Adds to it, in old directories and new ones.
fn change(file: &mut FileWriter) {
    add(file, "", "first", "three");
    add(file, "a/b", "new", &"more ".repeat(40_000));
    add(file, "c/d", "other", "four");
    file.describe_class("TH1D").unwrap();
    let directory = file.directory("a/b").unwrap();
    assert!(file.remove(directory, "deep", 1));
}

fn steps_of(old: &[u8]) -> Vec<Step> {
    let told = Told::default();
    let before = open(old.to_vec().into());
    let settings = FileSettings { time: settings().time, uuid: settings().uuid, ..FileSettings::of(&before) };
    let mut file = FileWriter::update(Box::new(told.clone()), &before, settings).unwrap();
    change(&mut file);
    file.finish().unwrap();
    told.steps()
}

#[test]
fn what_was_there_stays_and_what_is_new_is_there() {
    let old = old_file();
    let steps = steps_of(&old);
    let file = open(after(&old, &steps, None).into());
    assert_whole(&file);
    assert_eq!((text(&file, "first"), text(&file, "first;2")), ("three".into(), "two".into()));
    assert_eq!((text(&file, "c/d/other"), text(&file, "a/b/new").len()), ("four".into(), 200_000));
    assert!(file.find("a/b/deep").is_err());
    assert!(file.streamers().unwrap().knows("TH1D") && file.streamers().unwrap().knows("TObjString"));
    let before = open(old.into());
    assert_eq!(file.header().uuid, before.header().uuid);
    assert_eq!(file.top().record().created, before.top().record().created);
    // Once more, of the file that was changed.
    let twice =
        after(&after(&before.source().read_one(0..before.header().end).unwrap(), &steps, None), &[], None);
    let again = open(after(&twice, &steps_of_note(&twice), None).into());
    assert_whole(&again);
    assert_eq!(text(&again, "first;2"), "two");
}

/// One more text.
fn steps_of_note(old: &[u8]) -> Vec<Step> {
    let told = Told::default();
    let before = open(old.to_vec().into());
    let mut file = FileWriter::update(Box::new(told.clone()), &before, FileSettings::of(&before)).unwrap();
    add(&mut file, "a", "note", "text");
    file.finish().unwrap();
    told.steps()
}

#[test]
fn nothing_that_is_referred_to_is_written_over() {
    let old = old_file();
    let patches: Vec<_> = steps_of(&old)
        .into_iter()
        .filter_map(
            |step| if let Step::Patch(at, bytes) = step { Some((at, bytes.len() as u64)) } else { None },
        )
        .collect();
    let before = open(old.clone().into());
    let mut allowed = vec![(0, before.header().begin)];
    for found in before.keys_recursive().unwrap().iter().filter(|found| found.key.is_directory()) {
        allowed.push((found.key.seek + u64::from(found.key.keylen), 60));
    }
    let top = before.header().begin + u64::from(before.header().nbytes_name);
    allowed.push((top, 60));
    let header = patches.iter().position(|&(at, _)| at == 0).unwrap();
    for (number, &(at, length)) in patches.iter().enumerate() {
        let is_allowed = allowed.iter().any(|&(from, room)| at >= from && at + length <= from + room);
        // Behind the header and the directories come the marks of parts that are free, four bytes each.
        assert!(is_allowed || at >= old.len() as u64 || (number > header + 3 && length == 4), "{at}");
    }
}

#[test]
fn a_file_without_changes_is_left_alone() {
    let old = old_file();
    let told = Told::default();
    let before = open(old.into());
    let mut file = FileWriter::update(Box::new(told.clone()), &before, FileSettings::of(&before)).unwrap();
    assert!(file.directory("a/b").is_ok());
    assert_eq!(file.finish().unwrap(), before.header().end);
    assert!(told.steps().is_empty());
}

#[test]
fn files_that_cannot_be_changed_are_refused() {
    let old = old_file();
    let update = |bytes: Vec<u8>| {
        let before = open(bytes.into());
        FileWriter::update(Box::new(Told::default()), &before, FileSettings::of(&before))
            .unwrap_err()
            .to_string()
    };
    let cut = update(old[..old.len() - 1].to_vec());
    assert!(cut.contains("not closed"), "{cut}");
    let mut moved = old.clone();
    let top = u32::from_be_bytes(old[28..32].try_into().unwrap()) as usize + 100;
    moved[top + 21] ^= 1;
    let moved = update(moved);
    assert!(moved.contains("where a directory says that it is"), "{moved}");
    let before = open(old.into());
    let mut file = FileWriter::update(Box::new(Told::default()), &before, FileSettings::of(&before)).unwrap();
    assert!(file.directory("first/x").unwrap_err().to_string().contains("not a directory"));
    let top = file.directory("").unwrap();
    assert!(file.object(top, note("a/b"), |_| {}).is_err());
}

#[test]
fn killed_at_any_byte_one_of_both_is_there() {
    let old = old_file();
    let steps = steps_of(&old);
    // Every state between two steps, and some in the middle of a step.
    let mut states = vec![old.clone()];
    for number in 0..steps.len() {
        if let Step::Append(bytes) = &steps[number] {
            let cuts = (0..40).map(|cut| bytes.len() * cut / 40);
            states.extend(cuts.map(|cut| after(&old, &steps[..=number], Some(cut))));
        }
        states.push(after(&old, &steps[..=number], None));
    }
    let expected = ["old", "top", "all"];
    let folder = tempfile::tempdir().unwrap();
    let mut seen = [0; 3];
    for (number, state) in states.iter().enumerate() {
        std::fs::write(folder.path().join(format!("{number:04}.root")), state).unwrap();
        let file = open(state.clone().into());
        // The marks of free parts come last.
        let first = text(&file, "first");
        let new = file.find("a/b/new").is_ok();
        assert_eq!(file.find("a/b/deep").is_ok(), !new, "state {number}");
        let kind = match (&*first, new) {
            ("two", false) => 0,
            ("three", true) => 2,
            _ => 1,
        };
        seen[kind] += 1;
        assert_eq!(text(&file, "first;2"), "two", "state {number} is {}", expected[kind]);
    }
    assert!(seen[0] > 40 && seen[2] > 0, "{seen:?}");
    let script = "
import glob, os
texts = set()
for path in sorted(glob.glob(os.path.join(sys.argv[1], '*.root'))):
    f = ROOT.TFile.Open(path)
    assert f and not f.IsZombie() and not f.TestBit(ROOT.TFile.kRecovered), path
    assert str(f.Get('first;2')) == 'two', path
    b = f.Get('a/b')
    texts.add((str(f.Get('first')), str(b.GetListOfKeys().At(0).GetName())))
    assert len(str(b.Get(b.GetListOfKeys().At(0).GetName()))) in (5000, 200000), path
    f.Close()
    f = ROOT.TFile.Open(path, 'UPDATE')
    f.Get('a/b').cd()
    ROOT.TObjString('added').Write('added')
    f.Close()
    f = ROOT.TFile.Open(path)
    assert str(f.Get('a/b/added')) == 'added' and str(f.Get('first;2')) == 'two', path
    f.Close()
print(sorted(texts))
";
    if let Some(out) = run_root(script, folder.path()) {
        assert!(out.contains("('three', 'new')") && out.contains("('two', 'deep')"), "{out}");
        eprintln!("{} states of a killed update read and changed by C++ ROOT", states.len());
    }
}

#[test]
fn files_of_the_disk_are_changed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.root");
    std::fs::write(&path, [&old_file()[..], b"left over"].concat()).unwrap();
    let read = || RootFile::open(forthwith_io::open_unmapped(path.to_str().unwrap()).unwrap()).unwrap();
    for round in 0..3 {
        let before = read();
        let sink = UpdateSink::open(&path).unwrap().begin_at(before.header().end).unwrap();
        let mut file = FileWriter::update(Box::new(sink), &before, FileSettings::of(&before)).unwrap();
        add(&mut file, "a/b", "note", &round.to_string());
        // An update that is not finished leaves the file as it was.
        if round != 1 {
            file.finish().unwrap();
        }
    }
    let file = read();
    assert_eq!((text(&file, "a/b/note"), text(&file, "a/b/note;1")), ("2".into(), "0".into()));
    assert_whole(&file);
}
