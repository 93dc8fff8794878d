//! Trees copied from files that other processes change meanwhile.

use forthwith_columns::{Array, Column, DType, Form};
use forthwith_io::{MemorySink, open, open_unmapped};
use forthwith_plan::OneThread;
use forthwith_root::{
    RootFile,
    write::{Compression, FileSettings, FileWriter},
};
use forthwith_ttree::{
    Tree,
    copy::{CopyOptions, Processes, TreeCopy},
    write::{TreeOptions, TreeWriter},
};
use std::{
    fs::{self, File, OpenOptions},
    io::Write,
    path::Path,
    time::{Duration, SystemTime},
};

/// Numbers of 4 MB, so that they are copied in several windows.
const ROWS: u64 = 500_000;

/// A file with a tree, which was changed so long ago that another change shows.
fn made(path: &Path) {
    let sink = MemorySink::new("made.root");
    let settings = FileSettings { compression: Compression::NONE, ..FileSettings::default() };
    let mut file = FileWriter::create(Box::new(sink.clone()), settings).unwrap();
    let form = Form::Numpy { key: "x".into(), dtype: DType::Float64, shape: vec![] };
    let columns = [("x".to_owned(), form.clone())];
    let mut tree = TreeWriter::new(&mut file, "t", &columns, TreeOptions::default()).unwrap();
    let data = Column::from_vec((0..ROWS).map(|row| row as f64).collect());
    let array = Array { form, length: ROWS, columns: vec![("x-data".into(), data)] };
    tree.extend(&mut file, &[array]).unwrap();
    tree.finish(&mut file).unwrap();
    file.finish().unwrap();
    fs::write(path, sink.bytes().unwrap()).unwrap();
    std::thread::sleep(Duration::from_millis(100));
}

/// Copies the tree, and calls `meanwhile` when its first baskets were written.
fn copied(path: &Path, map: bool, meanwhile: impl Fn()) -> forthwith_plan::Result<u64> {
    let source = if map { open } else { open_unmapped }(path.to_str().unwrap()).unwrap();
    let file = RootFile::open(source).unwrap();
    let found = file.find("t").unwrap();
    let mut writer =
        FileWriter::create(Box::new(MemorySink::new("copied.root")), FileSettings::default()).unwrap();
    let top = writer.directory("").unwrap();
    let mut copy = TreeCopy::new(&file, &found, top, "t", &|_| true, CopyOptions::default())?;
    let mut calls = 0;
    let mut progress = |_| {
        if calls == 0 {
            meanwhile();
        }
        calls += 1;
        true
    };
    copy.add(
        &mut writer,
        (&file, &found),
        None,
        &Processes::default(),
        &OneThread::default(),
        &mut progress,
    )?;
    assert!(calls > 2, "{calls} windows");
    copy.finish(&mut writer)
}

#[test]
fn a_file_that_changes_while_its_baskets_are_copied_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.root");
    made(&path);
    assert_eq!(copied(&path, true, || ()).unwrap(), ROWS);
    let change = |how: &dyn Fn(File)| how(OpenOptions::new().append(true).open(&path).unwrap());
    let appended = |mut file: File| file.write_all(b"more").unwrap();
    // The time of the last change of contents can be set to anything, that of the file's state cannot.
    let touched = |file: File| file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
    let cut = |file: File| file.set_len(path.metadata().unwrap().len() / 2).unwrap();
    for how in [&appended as &dyn Fn(File), &touched, &cut] {
        let error = copied(&path, true, || change(how)).unwrap_err().to_string();
        let told =
            error.contains("the file changed since it was opened") || error.contains("the file shrank");
        assert!(told && error.contains("in.root"), "{error}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn a_file_without_views_is_copied_as_it_was_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.root");
    made(&path);
    let append = || OpenOptions::new().append(true).open(&path).unwrap().write_all(b"more").unwrap();
    assert_eq!(copied(&path, false, append).unwrap(), ROWS);
    // One that was changed a moment ago is read, since the next change might not show.
    let now = || File::options().append(true).open(&path).unwrap().write_all(b"more").unwrap();
    now();
    assert_eq!(copied(&path, true, || ()).unwrap(), ROWS);
    assert!(Tree::open(&RootFile::open(open(path.to_str().unwrap()).unwrap()).unwrap(), "t").is_ok());
}
