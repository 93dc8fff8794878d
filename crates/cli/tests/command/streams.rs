//! Standard input, pipes, patterns and folders, in every command.

use crate::{file, output};
use std::{
    io::Write,
    path::Path,
    process::{Command, Output, Stdio},
};

/// Runs the program itself with something on standard input, from a folder.
fn piped(args: &[&str], typed: &[u8], folder: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_forthwith"));
    command.args(args).current_dir(folder);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program is built with its tests");
    let mut input = child.stdin.take().expect("a pipe");
    let typed = typed.to_owned();
    // A stream that is not read to its end breaks the pipe.
    let writer = std::thread::spawn(move || {
        let _ = input.write_all(&typed);
    });
    let output = child.wait_with_output().expect("the program ends");
    writer.join().expect("the writer ends");
    output
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Commands that take a file, as asked of one that is a table.
const ASKED: [&[&str]; 11] = [
    &["ls"],
    &["ls", "--long", "--json"],
    &["show"],
    &["show", "--json"],
    &["head", "-n", "3"],
    &["tail", "-n", "2", "--jsonl", "--nan", "null"],
    &["cat", "--nan", "null"],
    &["count"],
    &["schema"],
    &["schema", "--json"],
    &["explain"],
];

/// Tables of each format, with the object that is one.
const TABLES: [(&str, &str); 3] =
    [("zmumu.root", "events"), ("avro/codec-deflate.avro", ""), ("parquet/plain.parquet", "")];

#[test]
fn standard_input_is_a_file_in_every_command() {
    let here = crate::root();
    for (name, object) in TABLES {
        let path = file(name);
        let bytes = std::fs::read(&path).expect("a bundled file");
        let end = if object.is_empty() { String::new() } else { format!(":{object}") };
        // Checked are files of ROOT.
        let check: &[&str] = &["check"];
        let checked = if name.ends_with(".root") { &[check][..] } else { &[] };
        for &asked in ASKED.iter().chain(checked) {
            let end = if matches!(asked[0], "check" | "ls") { "" } else { &*end };
            let named = format!("{path}{end}");
            let mut args = asked.to_vec();
            args.push(&named);
            let expected = output(&args).replace(&path, "standard input");
            for stream in ["-", "/dev/stdin"].into_iter().filter(|name| *name == "-" || cfg!(unix)) {
                let typed = format!("{stream}{end}");
                let mut args = asked.to_vec();
                args.push(&typed);
                let said = piped(&args, &bytes, &here);
                let told = text(&said.stderr);
                assert!(said.status.success() && told.is_empty(), "{name} {args:?}: {told}");
                // The width of columns follows from names, such as that of the file.
                let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
                assert_eq!(words(&text(&said.stdout)), words(&expected), "{name} {args:?}");
            }
        }
        let folder = tempfile::tempdir().expect("a folder");
        let said = piped(&["convert", &format!("-{end}"), "a.jsonl", "--nan", "null"], &bytes, folder.path());
        assert!(said.status.success(), "{}", text(&said.stderr));
        let written = std::fs::read_to_string(folder.path().join("a.jsonl")).expect("a file");
        assert_eq!(written, output(&["cat", "--nan", "null", &format!("{path}{end}")]));
    }
}

/// A stream has its bytes once: looking at all files before the first is copied takes them.
#[test]
fn a_stream_beside_files_is_read_once() {
    let path = file("avro/codec-deflate.avro");
    let bytes = std::fs::read(&path).expect("a bundled file");
    let here = crate::root();
    let expected = output(&["cat", &path, &path]);
    for args in [["cat", "-", &path], ["cat", &path, "-"]] {
        let said = piped(&args, &bytes, &here);
        assert_eq!((text(&said.stdout), text(&said.stderr)), (expected.clone(), String::new()));
    }
    let said = piped(&["count", "-", &path], &bytes, &here);
    let entries = output(&["count", &path]).trim().to_owned();
    assert_eq!(text(&said.stdout), format!("{entries}\t-\n{entries}\t{path}\n"));
    // A second time there is nothing left of it.
    let said = piped(&["count", "-", "-"], &bytes, &here);
    assert_eq!((said.status.code(), text(&said.stdout)), (Some(1), format!("{entries}\t-\n")));
    assert!(text(&said.stderr).contains("standard input"), "{}", text(&said.stderr));
}

#[test]
fn an_empty_stream_is_named() {
    for args in [&["ls", "-"][..], &["head", "-"], &["check", "-"], &["cat", "-"]] {
        let said = piped(args, b"", &crate::root());
        let told = text(&said.stderr);
        assert!(!said.status.success(), "{args:?}");
        assert!(told.contains("standard input") && told.contains("empty"), "{args:?}: {told}");
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_with_a_name_is_read_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let pipe = folder.path().join("pipe.avro");
    let pipe = pipe.to_str().expect("UTF-8").to_owned();
    let path = file("avro/codec-deflate.avro");
    let bytes = std::fs::read(&path).expect("a bundled file");
    // A new pipe each time: a process that another test is starting may have the end of the last one that is read.
    let through = |args: &[&str]| {
        let _ = std::fs::remove_file(&pipe);
        let made = Command::new("mkfifo").arg(&pipe).status().expect("mkfifo, which POSIX has");
        assert!(made.success());
        let (to, bytes) = (pipe.clone(), bytes.clone());
        let writer = std::thread::spawn(move || std::fs::write(to, bytes).expect("somebody reads it"));
        let said = output(args);
        writer.join().expect("all was read");
        said
    };
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    for asked in ASKED {
        let with = |name| [asked, &[name][..]].concat();
        let expected = output(&with(&path)).replace(&path, &pipe);
        assert_eq!(words(&through(&with(&pipe))), words(&expected), "{asked:?}");
    }
    assert_eq!(through(&["cat", &pipe, &path]), output(&["cat", &path, &path]));
}

/// A folder of tables, and one beside it that is none.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("below")).expect("a folder");
    for (from, to) in [
        ("avro/codec-deflate.avro", "a.avro"),
        ("avro/codec-deflate.avro", "below/b.avro"),
        ("parquet/plain.parquet", "c.parquet"),
    ] {
        std::fs::copy(file(from), folder.path().join(to)).expect("room");
    }
    std::fs::write(folder.path().join("notes.txt"), "no table").expect("room");
    folder
}

/// A pattern that no shell has seen, and a folder, mean their files: as if these were typed one by one.
#[test]
fn patterns_and_folders_are_their_files_in_every_command() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let (a, b, c) = (at("a.avro"), at("below/b.avro"), at("c.parquet"));
    for (meant, files) in [
        (at("*.avro"), vec![&a]),
        (at("**/*.avro"), vec![&a, &b]),
        (at("[ac].*"), vec![&a, &c]),
        (at("below"), vec![&b]),
        (at(""), vec![&a, &b, &c]),
    ] {
        for asked in ASKED {
            if asked[0] == "cat" && files.contains(&&c) {
                // Tables of several columns do not follow each other.
                continue;
            }
            let named: Vec<&str> = files.iter().map(|file| file.as_str()).collect();
            let expected = output(&[asked, &named].concat());
            assert_eq!(output(&[asked, &[&*meant]].concat()), expected, "{asked:?} {meant}");
        }
    }
    let (to, expected) = (at("all.jsonl"), output(&["cat", &a, &b]));
    output(&["convert", &at("**/*.avro"), &to]);
    assert_eq!(std::fs::read_to_string(&to).expect("a file"), expected);
}

#[test]
fn an_object_is_looked_for_in_all_files_of_a_pattern() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["1.root", "2.root"] {
        std::fs::copy(file("zmumu.root"), folder.path().join(name)).expect("room");
    }
    let at = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let said = output(&["count", &at("*.root:events")]);
    let entries = output(&["count", &file("zmumu.root:events")]).trim().to_owned();
    assert_eq!(said, format!("{entries}\t{}\n{entries}\t{}\n", at("1.root:events"), at("2.root:events")));
    assert_eq!(output(&["count", &format!("{}:events", folder.path().display())]), said);
    let said = crate::forthwith(&["forth", &at("*.root:events/Muon_pt")]);
    assert_eq!((said.code, said.out.as_str()), (2, ""), "{}", said.err);
    assert!(said.err.contains("one branch, not of 2 files"), "{}", said.err);
}

#[test]
fn patterns_and_folders_of_nothing_are_errors() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    for asked in ASKED {
        let said = crate::forthwith(&[asked, &[&*at("*.avro")]].concat());
        assert_eq!((said.code, said.err), (3, format!("forthwith: no such file: {}\n", at("*.avro"))));
        let said = crate::forthwith(&[asked, &[&*at("")]].concat());
        assert_eq!(said.code, 2, "{asked:?}");
        assert!(said.err.contains("the folder has no file that is"), "{}", said.err);
    }
}
