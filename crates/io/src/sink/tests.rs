#![allow(clippy::disallowed_methods, reason = "tests and examples run where there are processes and clocks")]

use super::*;
use crate::ErrorKind;
use std::{fs, path::Path};

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut names: Vec<_> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_file_appears_when_it_is_complete() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.bin");
    fs::write(&path, b"old").unwrap();
    let mut sink = Box::new(FileSink::create(&path).unwrap());
    sink.write_all(b"new").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(names(folder.path()).len(), 2);
    sink.finish().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(names(folder.path()), ["a.bin"]);
}

#[test]
fn a_sink_that_is_dropped_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.bin");
    let mut sink = FileSink::create(&path).unwrap();
    sink.write_all(b"half").unwrap();
    drop(sink);
    let panicked = std::panic::catch_unwind(|| {
        let _sink = FileSink::create(&path).unwrap();
        panic!("in the middle");
    });
    assert!(panicked.is_err());
    assert_eq!(names(folder.path()), [""; 0]);
}

#[test]
fn folders_and_missing_folders_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let kind = |path: &Path| create(path.to_str().unwrap()).err().map(|error| error.kind);
    assert_eq!(kind(folder.path()), Some(ErrorKind::NotAFile));
    assert_eq!(kind(&folder.path().join("no/such")), Some(ErrorKind::NotFound));
    assert!(matches!(create("https://x/y").err().unwrap().kind, ErrorKind::UnsupportedScheme { .. }));
}

#[test]
fn two_of_one_name_do_not_meet() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(format!("{}.bin", "a".repeat(200)));
    let mut sinks: Vec<_> =
        (0..3).map(|_| Box::new(FileSink::create(&path).unwrap().without_sync())).collect();
    for (sink, text) in sinks.iter_mut().zip(["one", "two", "three"]) {
        sink.write_all(text.as_bytes()).unwrap();
    }
    for sink in sinks {
        sink.finish().unwrap();
    }
    assert_eq!(fs::read(&path).unwrap(), b"three");
    assert_eq!(names(folder.path()).len(), 1);
}

#[cfg(unix)]
#[test]
fn links_are_followed_and_permissions_kept() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let (path, link) = (folder.path().join("a.bin"), folder.path().join("link"));
    fs::write(&path, b"old").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let mut sink = create(link.to_str().unwrap()).unwrap();
    sink.write_all(b"new").unwrap();
    sink.finish().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    // A program that runs as its owner is not replaced by one that does.
    fs::set_permissions(&path, fs::Permissions::from_mode(0o6751)).unwrap();
    create(path.to_str().unwrap()).unwrap().finish().unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o751);
    let mut nowhere = create("/dev/null").unwrap();
    nowhere.write_all(b"gone").unwrap();
    nowhere.finish().unwrap();
}

#[cfg(unix)]
#[test]
fn links_to_files_that_are_not_there_make_them_and_loops_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("inner")).unwrap();
    std::os::unix::fs::symlink("inner/made.bin", at("second")).unwrap();
    std::os::unix::fs::symlink(at("second"), at("first")).unwrap();
    let mut sink = create(at("first").to_str().unwrap()).unwrap();
    sink.write_all(b"new").unwrap();
    sink.finish().unwrap();
    assert_eq!(fs::read(at("inner/made.bin")).unwrap(), b"new");
    assert_eq!(names(&at("inner")), ["made.bin"]);
    for link in ["first", "second"] {
        assert!(fs::symlink_metadata(at(link)).unwrap().is_symlink());
    }

    std::os::unix::fs::symlink("self", at("self")).unwrap();
    let error = create(at("self").to_str().unwrap()).err().unwrap();
    assert!(error.to_string().contains("lead back"), "{error}");
    assert!(fs::symlink_metadata(at("self")).unwrap().is_symlink());
}

#[cfg(target_os = "linux")]
#[test]
fn what_dead_processes_left_of_the_same_file_is_removed() {
    use std::time::{Duration, SystemTime};
    let folder = tempfile::tempdir().unwrap();
    let dead = {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        child.id()
    };
    let own = forthwith_platform::process_id();
    let gone = format!(".a.bin.{dead}-3.part");
    let kept = [
        format!(".a.bin.{own}-999.part"),
        format!(".b.bin.{dead}-3.part"),
        format!(".a.bin.{dead}-.part"),
        format!(".a.bin.{dead}.part"),
        format!(".a.bin.x{dead}-3.part"),
        format!(".a.bin.{dead}-4.part"),
        format!(".a.bin.{dead}-5.part"),
        format!(".a.bin.{dead}-6.part"),
        format!("a.bin.{dead}-3.part"),
    ];
    let old = SystemTime::now() - Duration::from_secs(3600);
    let make = |name: &str| {
        let file = fs::File::create(folder.path().join(name)).unwrap();
        file.set_modified(old).unwrap();
        file
    };
    make(&gone);
    kept.iter().for_each(|name| drop(make(name)));
    // One is being written by a process that cannot be seen, one was written to a moment ago, one is no file.
    let locked = make(&kept[5]);
    locked.try_lock().unwrap();
    make(&kept[6]).set_modified(SystemTime::now()).unwrap();
    fs::remove_file(folder.path().join(&kept[7])).unwrap();
    fs::create_dir(folder.path().join(&kept[7])).unwrap();

    let sink = Box::new(FileSink::create(folder.path().join("a.bin")).unwrap());
    sink.finish().unwrap();
    let mut expected: Vec<_> = kept.iter().cloned().chain(["a.bin".into()]).collect();
    expected.sort();
    assert_eq!(names(folder.path()), expected);
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_not_replaced_by_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let _socket = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let error = FileSink::create(&path).unwrap_err();
    assert_eq!(error.kind, ErrorKind::NotAFile);
    assert!(!std::fs::metadata(&path).unwrap().is_file());
}

#[test]
fn bytes_that_were_written_can_be_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.bin");
    let memory = MemorySink::new("memory");
    let sinks: [Box<dyn Sink>; 2] = [Box::new(FileSink::create(&path).unwrap()), Box::new(memory.clone())];
    for mut sink in sinks {
        sink.write_all(b"0123").unwrap();
        sink.patch(1, b"ab").unwrap();
        assert!(sink.patch(3, b"xy").is_err(), "behind the end");
        sink.write_all(b"45").unwrap();
        sink.finish().unwrap();
    }
    assert_eq!(fs::read(&path).unwrap(), b"0ab345");
    assert_eq!(memory.bytes().unwrap(), b"0ab345"[..]);
    let error = WriterSink::new("pipe", Vec::new()).patch(0, b"x").unwrap_err();
    assert!(error.to_string().contains("write to a file"), "{error}");
}

#[test]
fn pieces_are_written_one_behind_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let (path, other) = (folder.path().join("a.bin"), folder.path().join("b.bin"));
    fs::write(&other, b"").unwrap();
    let memory = MemorySink::new("memory");
    let bytes: Vec<u8> = (0..2_000_000_u32).flat_map(u32::to_le_bytes).collect();
    // More pieces than a call takes, empty ones among them.
    let lengths = (0..5000).map(|n| if n % 999 == 3 { 1_100_000 } else { [0, 1, 70, 0, 9][n % 5] });
    let sinks: [Box<dyn Sink>; 4] = [
        Box::new(FileSink::create(&path).unwrap()),
        Box::new(UpdateSink::open(&other).unwrap()),
        Box::new(memory.clone()),
        Box::new(WriterSink::new("file", fs::File::create(folder.path().join("c.bin")).unwrap())),
    ];
    let total: usize = lengths.clone().sum();
    for mut sink in sinks {
        sink.write_all(b"first").unwrap();
        let mut at = 0;
        let piece = |length| {
            at += length;
            IoSlice::new(&bytes[at - length..at])
        };
        let mut pieces: Vec<IoSlice<'_>> = lengths.clone().map(piece).collect();
        sink.write_pieces(&mut pieces).unwrap();
        sink.write_pieces(&mut []).unwrap();
        sink.write_all(b"last").unwrap();
        sink.finish().unwrap();
    }
    let expected = [b"first", &bytes[..total], b"last"].concat();
    for path in [path, other, folder.path().join("c.bin")] {
        assert!(fs::read(&path).unwrap() == expected, "{}", path.display());
    }
    assert!(memory.bytes().unwrap() == expected);
}

#[test]
fn a_file_that_is_changed_is_locked_and_cut_again_unless_it_was_patched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.bin");
    fs::write(&path, b"old").unwrap();
    let mut sink = UpdateSink::open(&path).unwrap();
    assert_eq!(UpdateSink::open(&path).unwrap_err().kind, ErrorKind::Locked);
    sink.write_all(b" and new").unwrap();
    drop(sink);
    assert_eq!(fs::read(&path).unwrap(), b"old");
    let mut sink = Box::new(UpdateSink::open(&path).unwrap());
    sink.write_all(b" and new").unwrap();
    sink.patch(0, b"OLD").unwrap();
    sink.finish().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"OLD and new");
    let mut moved = Box::new(UpdateSink::open(&path).unwrap());
    moved.write_all(b", more").unwrap();
    fs::rename(&path, folder.path().join("c")).unwrap();
    assert_eq!(moved.finish().unwrap_err().kind, ErrorKind::Replaced);
    let mut replaced = Box::new(UpdateSink::open(folder.path().join("c")).unwrap());
    replaced.write_all(b", lost").unwrap();
    fs::write(&path, b"another").unwrap();
    fs::rename(&path, folder.path().join("c")).unwrap();
    assert_eq!(replaced.finish().unwrap_err().kind, ErrorKind::Replaced);
    assert_eq!(fs::read(folder.path().join("c")).unwrap(), b"another");
    assert_eq!(UpdateSink::open(folder.path()).unwrap_err().kind, ErrorKind::NotAFile);
    assert_eq!(UpdateSink::open(folder.path().join("b")).unwrap_err().kind, ErrorKind::NotFound);
}
