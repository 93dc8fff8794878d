//! From what is typed to files: lists, patterns, folders, pipes, and paths within files.
#![allow(clippy::disallowed_methods, reason = "tests and examples run where there are processes and clocks")]

use forthwith::{
    File,
    files::{Place, expand, expand_telling, locate, stream},
    io,
    plan::ErrorKind,
};
use std::{
    fs,
    path::{Path, PathBuf},
};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data").join(name)
}

/// A folder of its own for a test, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, files: &[&str]) -> Self {
        let path = std::env::temp_dir().join(format!("forthwith-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        for file in files {
            let file = path.join(file);
            fs::create_dir_all(file.parent().expect("it is in the folder")).expect("a folder");
            fs::write(file, b"PAR1").expect("a file");
        }
        Self(path)
    }

    /// The files that a name in the folder stands for, by paths from there.
    fn expand(&self, names: &[&str]) -> Result<String, ErrorKind> {
        let names: Vec<PathBuf> = names.iter().map(|name| self.0.join(name)).collect();
        let found = expand(&names).map_err(|error| error.kind)?;
        let inner = |path: &PathBuf| path.strip_prefix(&self.0).expect("in the folder").display().to_string();
        Ok(found.iter().map(inner).collect::<Vec<_>>().join(" "))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn folders_have_the_files_of_known_formats() {
    let folder = Folder::new(
        "folders",
        &[
            "b/part-1.parquet",
            "b/part-0.parquet",
            "a.root",
            "no-ending",
            "notes.txt",
            "table.csv",
            ".hidden.root",
            ".git/x.root",
            "_temporary/0.parquet",
            "_metadata.parquet",
            "c.parquet.part",
            "d.parquet.tmp",
            "e.parquet~",
        ],
    );
    fs::write(folder.0.join("notes.txt"), "nothing of interest").expect("a file");
    let found = |names: &[&str]| folder.expand(names).expect("there are files");
    assert_eq!(found(&[""]), "a.root b/part-0.parquet b/part-1.parquet no-ending");
    assert_eq!(found(&["b", "a.root"]), "b/part-0.parquet b/part-1.parquet a.root");
    let empty = Folder::new("empty", &["notes.csv"]);
    assert!(matches!(empty.expand(&[""]), Err(ErrorKind::Invalid { .. })));
}

#[test]
fn patterns_mean_what_matches_and_names_themselves() {
    let names = [
        "x1.root",
        "x2.root",
        "x10.root",
        "[a].root",
        "d/e/x3.root",
        "d/x4.root",
        ".x5.root",
        "x6.root.part",
    ];
    let folder = Folder::new("patterns", &names);
    let found = |pattern: &str| folder.expand(&[pattern]).expect("something matches");
    assert_eq!(found("x*.root"), "x1.root x10.root x2.root");
    assert_eq!(found("x?.root"), "x1.root x2.root");
    assert_eq!(found("x[2-9].root"), "x2.root");
    assert_eq!(found("*/x*"), "d/x4.root");
    assert_eq!(found("**/x*.root"), "d/e/x3.root d/x4.root x1.root x10.root x2.root");
    assert_eq!(found("x*"), "x1.root x10.root x2.root");
    assert_eq!(found(".x*"), ".x5.root");
    assert_eq!(found("x*.part"), "x6.root.part");
    // A file of that very name is meant, not those that match.
    assert_eq!(found("[a].root"), "[a].root");
    // A name without a pattern is left to `open`, whose error names it.
    assert_eq!(found("missing.root"), "missing.root");
    for nothing in ["y*.root", "*/*/*/*/x", "missing/*.root"] {
        match folder.expand(&[nothing]) {
            Err(ErrorKind::Source(error)) => assert_eq!(error.kind, io::ErrorKind::NotFound),
            other => panic!("{nothing}: {other:?}"),
        }
    }
    assert_eq!(expand(&["-", "https://host/*.root"]).expect("themselves").len(), 2);
}

#[test]
fn what_is_left_out_as_unfinished_is_told() {
    let names =
        ["a.root", "a.root.bak", "b/c.root.part", "b/c.root~", ".d.root.part", "_e.bak", "f.tmp/g.root"];
    let folder = Folder::new("partial", &names);
    let told = |name: &str| {
        let expanded = expand_telling(&[folder.0.join(name)]).expect("there are files");
        let within =
            |path: &PathBuf| path.strip_prefix(&folder.0).expect("of the folder").display().to_string();
        expanded.partial.iter().map(within).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(told(""), "a.root.bak b/c.root.part b/c.root~");
    assert_eq!(told("*"), "_e.bak a.root.bak");
    assert_eq!(told("a.*"), "a.root.bak");
    assert_eq!(told("*.root"), "");
    assert_eq!(told("a.root"), "");
}

#[cfg(unix)]
#[test]
fn folders_that_cannot_be_read_are_errors_that_name_them() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("locked", &["a.root", "d/b.root", "e/c.root"]);
    let locked = folder.0.join("e");
    let allow =
        |mode| fs::set_permissions(&locked, fs::Permissions::from_mode(mode)).expect("one's own folder");
    allow(0);
    // The superuser reads it all the same.
    if fs::read_dir(&locked).is_err() {
        for name in ["", "**/*.root", "*/*.root", "[e]/c.root", "*/c.root"] {
            match folder.expand(&[name]) {
                Err(ErrorKind::Source(error)) => assert!(error.to_string().contains("/e"), "{name}: {error}"),
                other => panic!("{name}: {other:?}"),
            }
        }
    }
    allow(0o700);
    assert_eq!(folder.expand(&[""]).expect("files"), "a.root d/b.root e/c.root");
}

#[cfg(unix)]
#[test]
fn links_to_files_that_are_away_are_not_left_out() {
    let folder = Folder::new("links", &["a.root", "d/c.root"]);
    let link = |from: &str, to: &str| {
        std::os::unix::fs::symlink(folder.0.join(from), folder.0.join(to)).expect("a link");
    };
    link("a.root", "b.root");
    link("away.root", "lost.root");
    link("away.root", "d/lost.root");
    link("away.txt", "lost.txt");
    link("d", "e.root");
    let found = |name: &str| folder.expand(&[name]).expect("there are files");
    assert_eq!(found(""), "a.root b.root d/c.root d/lost.root lost.root");
    assert_eq!(found("*.root"), "a.root b.root lost.root");
    assert_eq!(found("[d]/lost.root"), "d/lost.root");
    assert_eq!(found("[a-z]/*.root"), "d/c.root d/lost.root");
    assert!(matches!(folder.expand(&["*/away.root"]), Err(ErrorKind::Source(_))));
}

#[test]
fn a_stream_is_recognised_by_its_contents() {
    for name in ["zmumu.root", "parquet/plain.parquet"] {
        let bytes = fs::read(data(name)).expect("a bundled file");
        let source = stream(&mut &bytes[..]).expect("room");
        assert_eq!(source.uri(), "standard input");
        let engine = forthwith::Engine::new(forthwith::Options::default());
        let file = File::from_source(source, engine.into()).expect("a file");
        assert_eq!(file.format(), File::open(data(name)).expect("a file").format());
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_with_a_name_is_read() {
    let folder = Folder::new("pipe", &["other"]);
    let pipe = folder.0.join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo");
    assert!(made.success());
    let bytes = fs::read(data("zmumu.root")).expect("a bundled file");
    let writer = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::write(pipe, bytes)
    });
    let file = File::open(&pipe).expect("a file");
    writer.join().expect("no panic").expect("all is read");
    assert_eq!(file.table("events").and_then(|table| table.entries()).expect("a table"), 3600);
}

#[test]
fn a_path_in_a_file_is_an_object_or_goes_on_to_a_field() {
    let file = File::open(data("zmumu.root")).expect("a bundled file");
    assert!(matches!(locate(&file, "events"), Ok(Place::Table(table)) if table.path() == "events"));
    assert!(matches!(locate(&file, "skim"), Ok(Place::Object(key)) if key.is_directory));
    for path in ["events/MET_pt", "skim/events/nMuon"] {
        let Ok(Place::Field { table, field, named: true }) = locate(&file, path) else { panic!("{path}") };
        assert_eq!(
            format!("{}/{}", table.path(), table.fields().expect("fields")[field as usize].path),
            path
        );
    }
    // There are two tables: a field alone says not of which.
    for missing in ["MET_pt", "events/MET_py", "nothing/at/all"] {
        let error = locate(&file, missing).expect_err(missing);
        assert!(matches!(error.kind, ErrorKind::NotFound { .. }), "{missing}: {error}");
    }
    let file = File::open(data("parquet/plain.parquet")).expect("a bundled file");
    let table = file.table("").expect("a table");
    for (number, field) in table.fields().expect("fields").iter().enumerate() {
        match locate(&file, &field.path) {
            Ok(Place::Field { field, named: false, .. }) => assert_eq!(field as usize, number),
            other => panic!("{}: {other:?}", field.path),
        }
    }
    let error = locate(&file, "no such field").expect_err("it is not there");
    assert!(matches!(error.kind, ErrorKind::NotFound { what: "branch", .. }), "{error}");
}
