//! Converting, and what is refused.

use crate::{file, forthwith, output};
use ::forthwith::{
    columns::{Array, Column, DType, Form},
    plan::WriteOptions,
};
use serde_json::Value;
use std::path::{Path, PathBuf};

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

fn at(folder: &tempfile::TempDir, name: &str) -> String {
    folder.path().join(name).to_str().expect("a UTF-8 path").to_owned()
}

fn names(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect()
}

fn rows(target: &str) -> Vec<Value> {
    let text = output(&["head", target, "-n", "100000", "--jsonl"]);
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn a_root_file_has_a_tree_or_an_rntuple() {
    let folder = folder();
    let (tree, ntuple) = (at(&folder, "tree.root"), at(&folder, "ntuple.root"));
    let from = file("zmumu.root:events");
    let columns = ["--columns", "Muon_pt,nMuon"];
    output(&[&["convert", &from, &tree][..], &columns].concat());
    output(
        &[&["convert", &from, &ntuple, "--as", "ntuple", "--block-entries", "1000"][..], &columns].concat(),
    );
    assert!(output(&["ls", &tree]).contains("TTree"));
    let listed = output(&["ls", &ntuple]);
    assert!(listed.contains("RNTuple") && listed.contains("ntuple"), "{listed}");
    let parquet = at(&folder, "events.parquet");
    output(&[&["convert", &from, &parquet][..], &columns].concat());
    assert!(rows(&ntuple) == rows(&parquet));
    assert_eq!(rows(&ntuple).len(), 3600);
    // What a tree has no place for is asked of the RNTuple.
    let mixed = at(&folder, "mixed.root");
    output(&["convert", &file("rntuple/kinds-zstd.root"), &mixed, "--as", "ntuple", "--skip-unsupported"]);
    for (to, kind, what) in [
        ("x.root", "table", "ROOT files have tree and ntuple"),
        ("x.parquet", "ntuple", "Parquet files have one kind"),
    ] {
        let to = at(&folder, to);
        let said = forthwith(&["convert", &from, &to, "--as", kind]);
        assert!(said.code == 2 && said.err.contains(what), "{} {}", said.code, said.err);
        assert!(!Path::new(&to).exists());
    }
}

#[test]
fn options_stand_anywhere_among_the_files() {
    let folder = folder();
    let from = file("zmumu.root:events");
    let (first, second) = (at(&folder, "a.parquet"), at(&folder, "b.parquet"));
    output(&["convert", &from, &first, "-c", "nMuon"]);
    output(&["convert", &from, "-c", "nMuon", &second, "--force"]);
    assert!(rows(&first) == rows(&second));
    let merged = at(&folder, "merged.root");
    output(&["merge", &file("zmumu.root"), "-c", "nMuon", &file("zmumu.root"), "--force", &merged]);
    assert!(output(&["count", &format!("{merged}:events")]).contains("7200"));
    for command in ["convert", "merge"] {
        let said = forthwith(&[command, &from, "-c", "nMuon"]);
        assert!(said.code == 2 && said.err.contains("the file to write is missing"), "{}", said.err);
    }
    assert_eq!(names(folder.path()).len(), 3);
}

#[test]
fn a_tree_becomes_parquet() {
    let folder = folder();
    let to = at(&folder, "events.parquet");
    let line =
        ["convert", &file("zmumu.root:events"), &to, "--step", "20000", "--columns", "Muon_*,Track_*,nMuon"];
    let said = output(&line);
    assert!(said.contains("3,600 entries of 8 columns"), "{said}");
    assert_eq!(names(folder.path()).len(), 1);
    let from = output(&[
        "head",
        &file("zmumu.root:events"),
        "-n",
        "100000",
        "--jsonl",
        "-f",
        "Muon_*",
        "-f",
        "Track_*",
        "-f",
        "nMuon",
    ]);
    let from: Vec<Value> = from.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(rows(&to), from);
    // And Parquet becomes Parquet, with another codec and smaller row groups.
    let again = at(&folder, "again.parquet");
    output(&["convert", &to, &again, "--codec", "gzip:1", "--block-entries", "1000"]);
    assert_eq!(rows(&again), from);
    let shown: Value = serde_json::from_str(&output(&["show", "--json", &again])).expect("JSON");
    assert_eq!(shown["branches"][0]["decoder"], "format");
}

#[test]
fn avro_becomes_parquet_and_arrow() {
    let folder = folder();
    let from = file("avro/nested.avro");
    let to = at(&folder, "nested.parquet");
    let said = forthwith(&["convert", &from, &to, "--skip-unsupported"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let arrow = at(&folder, "nested.arrow");
    assert_eq!(forthwith(&["convert", &to, &arrow]).code, 0);
    assert!(std::fs::read(arrow).expect("a file").starts_with(b"ARROW1"));
}

#[test]
fn nothing_is_replaced_unasked() {
    let folder = folder();
    let to = at(&folder, "a.parquet");
    std::fs::write(&to, "mine").expect("a file");
    let line = ["convert", &file("zmumu.root:skim/events"), &to, "-c", "nMuon"];
    let said = forthwith(&line);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("--force"), "{}", said.err);
    assert_eq!(std::fs::read(&to).expect("a file"), b"mine");
    assert_eq!(forthwith(&[&line[..], &["--force"]].concat()).code, 0);
    assert_eq!(rows(&to).len(), 694);
    let said = forthwith(&["convert", &to, &to, "--force"]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("would overwrite its own input"), "{}", said.err);
}

#[test]
fn what_cannot_be_converted_is_named() {
    let folder = folder();
    let refused = |from: &str, to: &str, more: &[&str]| {
        let to = at(&folder, to);
        let said = forthwith(&[&["convert", from, &to], more].concat());
        assert!(names(folder.path()).is_empty(), "something was left behind");
        (said.code, said.err)
    };
    let tree = file("zmumu.root:events");
    let (code, said) = refused(&tree, "a.txt", &[]);
    assert!(code == 2 && said.contains("no format has the ending of this name"), "{code} {said}");
    let (code, said) = refused(&tree, "a.root", &["--codec", "snappy"]);
    assert!(code == 2 && said.contains("codec \"snappy\""), "{code} {said}");
    let (code, said) = refused(&tree, "a.parquet", &["--codec", "lzo"]);
    assert!(code == 2 && said.contains("unknown codec \"lzo\""), "{code} {said}");
    let (code, said) = refused(&tree, "a.parquet", &["--codec", "snappy:3"]);
    assert!(code == 2 && said.contains("no levels"), "{code} {said}");
    let (code, said) = refused(&tree, "a.parquet", &["--columns", "nothing*"]);
    assert!(code == 3 && said.contains("no branch of events matches nothing*"), "{code} {said}");
    let (code, said) = refused(&file("avro/unions.avro"), "a.parquet", &[]);
    assert!(code == 4 && said.contains("unions in Parquet (column"), "{code} {said}");
    let (code, said) = refused(&file("no-such.root"), "a.parquet", &[]);
    assert!(code == 3, "{code} {said}");
}

#[test]
fn a_table_becomes_lines_of_text() {
    let folder = folder();
    let lines = at(&folder, "nested.jsonl");
    let from = file("avro/nested.avro");
    output(&["convert", &from, &lines]);
    let written = std::fs::read_to_string(&lines).expect("a file");
    let written: Vec<Value> = written.lines().map(|l| serde_json::from_str(l).expect("JSON")).collect();
    assert!(!written.is_empty());
    assert_eq!(written, rows(&from));

    let csv = at(&folder, "skim.csv");
    output(&["convert", &file("zmumu.root:skim/events"), &csv, "-c", "nMuon"]);
    let written = std::fs::read_to_string(&csv).expect("a file");
    assert_eq!(written.lines().next(), Some("nMuon"));
    assert_eq!(written.lines().count(), 695);
    let said = forthwith(&["convert", &from, &at(&folder, "nested.csv")]);
    assert!(said.code == 4 && said.err.contains("in CSV (column"), "{} {}", said.code, said.err);
    assert_eq!(names(folder.path()).len(), 2);
}

/// JSON has no numbers that are none: what becomes of them is said, or an error.
#[test]
fn what_is_no_number_is_not_null_unless_it_is_said() {
    let folder = folder();
    let source = at(&folder, "numbers.avro");
    let form = |key: &str, dtype| Form::Numpy { key: key.into(), dtype, shape: vec![] };
    let list = |content| Form::List { key: "l".into(), content: Box::new(content) };
    let fields =
        [("x".to_owned(), form("x", DType::Float64)), ("y".to_owned(), list(form("y", DType::Float32)))];
    let offsets = Column::from_slice(&[0i64, 1, 1, 3]);
    let x = Column::from_slice(&[0.5f64, f64::NAN, 1.5]);
    let y = Column::from_slice(&[1f32, f32::INFINITY, f32::NEG_INFINITY]);
    let columns =
        [vec![("x-data".to_owned(), x)], vec![("l-offsets".to_owned(), offsets), ("y-data".to_owned(), y)]];
    let arrays = fields.iter().zip(columns);
    let arrays: Vec<Array> =
        arrays.map(|((_, form), columns)| Array { form: form.clone(), length: 3, columns }).collect();
    let mut writer = ::forthwith::create(&source, &fields, &WriteOptions::default()).expect("a file");
    writer.write(&arrays).expect("room");
    writer.finish().expect("room");

    let lines = at(&folder, "numbers.jsonl");
    let said = forthwith(&["convert", &source, &lines, "--nan", "error"]);
    assert!(said.code == 2, "{} {}", said.code, said.err);
    for what in ["no number NaN (column \"x\")", "--nan null or --nan string", "entry 1"] {
        assert!(said.err.contains(what), "{}", said.err);
    }
    let said = forthwith(&["convert", &source, &lines, "-c", "y", "--nan", "error"]);
    assert!(
        said.err.contains("no number Infinity (column \"y\")") && said.err.contains("entry 2"),
        "{}",
        said.err
    );
    assert_eq!(names(folder.path()), [PathBuf::from(&source)]);
    for (nan, expected) in [
        ("null", "{\"x\":0.5,\"y\":[1.0]}\n{\"x\":null,\"y\":[]}\n{\"x\":1.5,\"y\":[null,null]}\n"),
        (
            "string",
            "{\"x\":0.5,\"y\":[1.0]}\n{\"x\":\"NaN\",\"y\":[]}\n{\"x\":1.5,\"y\":[\"Infinity\",\"-Infinity\"]}\n",
        ),
    ] {
        output(&["convert", &source, &lines, "--nan", nan, "--force"]);
        assert_eq!(std::fs::read_to_string(&lines).expect("a file"), expected);
    }
    let by_default = output(&["cat", &source]);
    assert_eq!(by_default, output(&["cat", &source, "--nan", "null"]));
    assert_eq!(by_default, output(&["head", &source, "--jsonl"]));
    // The same flags do the same for a look at the first entries.
    for shape in ["--json", "--jsonl"] {
        let said = forthwith(&["head", &source, shape, "--nan", "error"]);
        assert!(said.code == 2 && said.out.is_empty(), "{} {}", said.code, said.err);
        for what in ["no number NaN (column \"x\")", "--nan null or --nan string", "numbers.avro, entry 1"] {
            assert!(said.err.contains(what), "{}", said.err);
        }
        assert_eq!(forthwith(&["head", &source, shape, "-n", "1", "--nan", "error"]).code, 0);
    }
    assert_eq!(
        output(&["head", &source, "--jsonl", "--nan", "string"]),
        std::fs::read_to_string(&lines).expect("a file")
    );
    assert!(output(&["head", &source]).contains("nan"));
    let csv = at(&folder, "numbers.csv");
    output(&["convert", &source, &csv, "-c", "x"]);
    assert_eq!(std::fs::read_to_string(&csv).expect("a file"), "x\n0.5\nNaN\n1.5\n");
}

/// Text that is none is an error, unless it is wanted.
#[test]
fn text_is_looked_at_unless_told() {
    let folder = folder();
    let source = at(&folder, "text.avro");
    let form = Form::String { key: "s".into(), binary: false };
    let text = Array {
        form: form.clone(),
        length: 2,
        columns: vec![
            ("s-offsets".to_owned(), Column::from_slice(&[0i64, 3, 7])),
            ("s-data".to_owned(), Column::from_slice(b"abcwxyz")),
        ],
    };
    let mut writer =
        ::forthwith::create(&source, &[("s".to_owned(), form)], &WriteOptions::default()).expect("a file");
    writer.write(&[text]).expect("room");
    writer.finish().expect("room");
    let mut bytes = std::fs::read(&source).expect("a file");
    let at_text = bytes.windows(4).position(|four| four == b"wxyz").expect("the text");
    bytes[at_text + 1] = 0xff;
    std::fs::write(&source, &bytes).expect("room");
    let said = forthwith(&["head", &source, "-b", "s"]);
    assert!(said.code == 1 && said.err.contains("not UTF-8"), "{} {}", said.code, said.err);
    assert!(output(&["head", &source, "-b", "s", "--no-check-text"]).contains("w\u{fffd}yz"));
    let copy = at(&folder, "copy.avro");
    assert_eq!(forthwith(&["convert", &source, &copy]).code, 1);
    output(&["convert", &source, &copy, "--no-check-text"]);
    let copied = std::fs::read(&copy).expect("a file");
    assert!(copied.windows(4).any(|four| four == b"w\xffyz"));
}

/// Nothing is left of a file that was stopped half way.
#[test]
#[cfg(unix)]
fn what_was_stopped_leaves_nothing_behind() {
    use std::process::{Command, Stdio};
    // The blocks of a small file, thousands of times: seconds of work. Every block ends in the marker that
    // the header ends in.
    let small = std::fs::read(file("avro/nested.avro")).expect("a file");
    let marker = &small[small.len() - 16..];
    let header = small.windows(16).position(|bytes| bytes == marker).expect("a marker") + 16;
    let sources = folder();
    let long = at(&sources, "long.avro");
    std::fs::write(&long, [&small[..header], &small[header..].repeat(4_000)].concat()).expect("room");

    let folder = folder();
    let to = at(&folder, "slow.jsonl");
    let mut child = Command::new(env!("CARGO_BIN_EXE_forthwith"))
        .args(["convert", &long, &to, "--step", "10"])
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command");
    while names(folder.path()).is_empty() && child.try_wait().expect("a child").is_none() {
        std::thread::yield_now();
    }
    let pid = child.id().to_string();
    // Not Ctrl-C's signal, which a test runner in the background may have told all of its children to ignore.
    assert!(Command::new("kill").args(["-TERM", &pid]).status().expect("kill").success());
    let said = child.wait_with_output().expect("an end");
    assert_eq!(said.status.code(), Some(130), "{}", String::from_utf8_lossy(&said.stderr));
    assert!(names(folder.path()).is_empty(), "something was left behind");
}

/// The rows of a small Avro file many times. Every block ends in the marker that the header ends in.
#[cfg(unix)]
fn long(folder: &tempfile::TempDir, times: usize) -> String {
    let small = std::fs::read(file("avro/nested.avro")).expect("a file");
    let marker = &small[small.len() - 16..];
    let header = small.windows(16).position(|bytes| bytes == marker).expect("a marker") + 16;
    let path = at(folder, "long.avro");
    std::fs::write(&path, [&small[..header], &small[header..].repeat(times)].concat()).expect("room");
    path
}

#[test]
fn standard_output_has_what_a_file_would_have() {
    let folder = folder();
    for (from, format) in [
        ("avro/nested.avro", "jsonl"),
        ("parquet/plain.parquet", "jsonl"),
        ("zmumu.root:skim/events/nMuon", "csv"),
    ] {
        let to = at(&folder, &format!("out.{format}"));
        output(&["convert", &file(from), &to, "--force", "--nan", "null"]);
        let expected = std::fs::read_to_string(&to).expect("a file");
        let said = forthwith(&["convert", &file(from), "-", "--format", format, "--nan", "null"]);
        assert_eq!((said.code, said.err.as_str()), (0, ""));
        assert!(said.out == expected, "{from}");
        assert!(output(&["cat", &file(from), "--format", format, "--nan", "null"]) == expected, "{from}");
    }
    let said = forthwith(&["convert", &file("avro/nested.avro"), "-"]);
    assert!(said.code == 2 && said.err.contains("--format"), "{}", said.err);
    let said = forthwith(&["cat", &file("avro/nested.avro"), "--format", "txt"]);
    assert!(said.code == 2 && said.err.contains("no format txt"), "{}", said.err);
    let terminal = forthwith_cli::Terminal { width: Some(80), color: false };
    let said = crate::on(terminal, &["convert", &file("avro/nested.avro"), "-", "--format", "avro"]);
    assert!(said.code == 2 && said.out.is_empty(), "{}", said.err);
}

/// Whole files of any format go through a pipe, too.
#[test]
#[cfg(unix)]
fn other_formats_go_to_standard_output() {
    let folder = folder();
    for format in ["avro", "parquet", "arrow"] {
        let to = at(&folder, &format!("piped.{format}"));
        let out = std::fs::File::create(&to).expect("a file");
        let status = std::process::Command::new(env!("CARGO_BIN_EXE_forthwith"))
            .args(["convert", &file("zmumu.root:events"), "-", "--format", format, "-c", "Muon_pt,run"])
            .stdout(out)
            .status();
        assert!(status.expect("the command").success());
        if format != "arrow" {
            assert_eq!(rows(&to).len(), 3600, "{format}");
        }
    }
}

/// A stream: its first line is there long before its end, memory does not grow with it, and a reader that
/// leaves ends it quietly.
#[test]
#[cfg(target_os = "linux")]
fn a_stream_begins_at_once_and_stays_small() {
    use std::{
        io::{BufRead, BufReader, Read},
        process::{Command, Stdio},
    };
    let folder = folder();
    let long = long(&folder, 4_000);
    let start = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_forthwith"));
        command.args(["cat", &long, "--threads", "2"]).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the command");
        let out = BufReader::new(child.stdout.take().expect("its output"));
        (child, out)
    };
    let (mut child, mut out) = start();
    let mut line = String::new();
    out.read_line(&mut line).expect("a line");
    assert!(line.starts_with('{'), "{line}");
    // The pipe holds less than there is: it is still at work.
    assert!(child.try_wait().expect("a child").is_none(), "the first line came last");
    let peak = |pid: u32| -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.split_whitespace().next()?.parse().ok())
    };
    let (mut text, mut most, mut buffer) = (line.len() as u64, 0, vec![0; 1 << 20]);
    loop {
        let read = out.read(&mut buffer).expect("a pipe");
        if read == 0 {
            break;
        }
        text += read as u64;
        most = most.max(peak(child.id()).unwrap_or(0));
    }
    assert!(child.wait().expect("an end").success());
    assert!(text > 20 << 20, "{text} bytes are too few to tell");
    assert!(most > 0 && most < 256 << 10, "{most} KiB for {text} bytes of text");

    let (child, mut out) = start();
    out.read_line(&mut line).expect("a line");
    drop(out);
    let said = child.wait_with_output().expect("an end");
    assert_eq!((said.status.code(), &*String::from_utf8_lossy(&said.stderr)), (Some(0), ""));
}

/// Two signals, the second of which ends the process while it is at work: nothing is left behind then either.
#[test]
#[cfg(unix)]
fn a_second_signal_leaves_nothing_behind() {
    use std::process::{Command, Stdio};
    let (sources, folder) = (folder(), folder());
    let long = long(&sources, 4_000);
    let to = at(&folder, "slow.parquet");
    // One step of all: the first signal is looked at late.
    let mut child = Command::new(env!("CARGO_BIN_EXE_forthwith"))
        .args(["convert", &long, &to, "--skip-unsupported", "--threads", "1", "--step", "100000000000"])
        .stderr(Stdio::null())
        .spawn()
        .expect("the command");
    while names(folder.path()).is_empty() && child.try_wait().expect("a child").is_none() {
        std::thread::yield_now();
    }
    let pid = child.id().to_string();
    for _ in 0..2 {
        assert!(Command::new("kill").args(["-TERM", &pid]).status().expect("kill").success());
    }
    child.wait().expect("an end");
    assert!(names(folder.path()).is_empty(), "something was left behind");
}

/// How long it takes from Ctrl-C to the end, of text, which is slow to make.
#[test]
#[cfg(unix)]
fn text_is_stopped_soon() {
    use std::{
        process::{Command, Stdio},
        time::{Duration, Instant},
    };
    let (sources, folder) = (folder(), folder());
    let long = long(&sources, 4_000);
    let to = at(&folder, "slow.jsonl");
    let mut child = Command::new(env!("CARGO_BIN_EXE_forthwith"))
        .args(["convert", &long, &to])
        .stderr(Stdio::null())
        .spawn()
        .expect("the command");
    while names(folder.path()).is_empty() && child.try_wait().expect("a child").is_none() {
        std::thread::yield_now();
    }
    std::thread::sleep(Duration::from_millis(50));
    let pid = child.id().to_string();
    let asked = Instant::now();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().expect("kill").success());
    assert_eq!(child.wait().expect("an end").code(), Some(130));
    // A tenth of a second when built for use; this build is many times slower, and the machine may be busy.
    assert!(asked.elapsed() < Duration::from_secs(3), "{:?}", asked.elapsed());
    assert!(names(folder.path()).is_empty(), "something was left behind");
}

#[test]
fn several_files_become_one() {
    let folder = folder();
    let tree = file("zmumu.root:events");
    let (first, second, third) = (at(&folder, "1.parquet"), at(&folder, "2.avro"), at(&folder, "3.parquet"));
    output(&["convert", &tree, &first, "-c", "run,Muon_pt,dataset"]);
    output(&["convert", &tree, &second, "-c", "run,Muon_pt,dataset"]);
    output(&["convert", &tree, &third, "-c", "run,nMuon,Muon_pt"]);
    let all = at(&folder, "all.jsonl");
    let said = output(&["convert", &first, &first, &all]);
    assert!(said.contains("7,200 entries of 3 columns"), "{said}");
    let lines = |path: &str| -> Vec<Value> {
        let text = std::fs::read_to_string(path).expect("a file");
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    };
    let one = rows(&first);
    assert_eq!(lines(&all), [&one[..], &one].concat());
    assert_eq!(output(&["cat", &first, &first]), std::fs::read_to_string(&all).expect("a file"));

    let refused = |args: &[&str], what: &[&str]| {
        let to = at(&folder, "no.jsonl");
        let said = forthwith(&[&["convert"], args, &[&to]].concat());
        assert_eq!(said.code, 2, "{}", said.err);
        what.iter().for_each(|what| assert!(said.err.contains(what), "{what}: {}", said.err));
        assert!(!Path::new(&to).exists());
    };
    refused(&[&first, &third], &["3.parquet has no column dataset", "1.parquet", "--missing null"]);
    refused(&[&third, &first], &["1.parquet has no column nMuon", "3.parquet", "--missing null"]);
    output(&["convert", &first, &third, &all, "--force", "-c", "run,Muon_pt"]);
    assert_eq!(lines(&all).len(), 7200);
    let other = rows(&third);
    for format in ["jsonl", "parquet", "avro"] {
        let all = at(&folder, &format!("with-nulls.{format}"));
        output(&["convert", &first, &third, &first, &all, "--missing", "null"]);
        let together = if format == "jsonl" { lines(&all) } else { rows(&all) };
        assert_eq!(together.len(), 3 * 3600);
        for (at, row) in together.iter().enumerate() {
            let source = if (3600..7200).contains(&at) { &other } else { &one };
            let own = &source[at % 3600];
            for name in ["run", "Muon_pt", "dataset", "nMuon"] {
                assert_eq!(row[name], own[name], "{format}: {name} of entry {at}");
            }
        }
    }
    let wrong = at(&folder, "wrong.csv");
    let said = forthwith(&["convert", &first, "no-such-file.root", &wrong, "-c", "run"]);
    assert!(said.code == 3 && !Path::new(&wrong).exists(), "{}", said.err);
}

/// The same name with another type is an error that says both.
#[test]
fn types_that_differ_are_told() {
    let folder = folder();
    let write = |name: &str, column: Column| {
        let path = at(&folder, name);
        let form = Form::Numpy { key: "x".into(), dtype: column.dtype(), shape: vec![] };
        let length = column.len() as u64;
        let array = Array { form: form.clone(), length, columns: vec![("x-data".to_owned(), column)] };
        let fields = [("x".to_owned(), form)];
        let mut writer = ::forthwith::create(&path, &fields, &WriteOptions::default()).expect("a file");
        writer.write(&[array]).expect("room");
        writer.finish().expect("room");
        path
    };
    let (whole, truth) = (
        write("a.parquet", Column::from_slice(&[1i64])),
        write("b.parquet", Column::from_slice(&[1u8]).view(DType::Bool).expect("a byte each")),
    );
    for missing in [&[][..], &["--missing", "null"]] {
        let to = at(&folder, "c.parquet");
        let said = forthwith(&[&["convert", &whole, &truth, &to], missing].concat());
        assert_eq!(said.code, 2);
        for what in ["column x has type bool in", "b.parquet", "int64 in", "a.parquet"] {
            assert!(said.err.contains(what), "{}", said.err);
        }
    }
}

#[test]
fn columns_that_hold_nothing_are_left_out_of_formats_without_them() {
    let folder = folder();
    // Records without fields, lists of them, and a column of numbers.
    let nothing = Form::Record { fields: Some(vec![]), contents: vec![], name: None };
    let list = Form::List { key: "l".into(), content: Box::new(nothing.clone()) };
    let number = Form::Numpy { key: "n".into(), dtype: DType::Int64, shape: vec![] };
    let named = [("nothing", &nothing), ("list", &list), ("number", &number)];
    let fields: Vec<(String, Form)> =
        named.iter().map(|(name, form)| ((*name).to_owned(), (*form).clone())).collect();
    let columns = [
        vec![],
        vec![("l-offsets".to_owned(), Column::from_slice(&[0i64, 2]))],
        vec![("n-data".to_owned(), Column::from_slice(&[7i64]))],
    ];
    let arrays = named.iter().zip(columns);
    let arrays: Vec<Array> =
        arrays.map(|((_, form), columns)| Array { form: (*form).clone(), length: 1, columns }).collect();
    let (from, to) = (at(&folder, "hollow.avro"), at(&folder, "a.parquet"));
    let mut writer = ::forthwith::create(&from, &fields, &WriteOptions::default()).expect("a file");
    writer.write(&arrays).expect("room");
    writer.finish().expect("room");
    let said = forthwith(&["convert", &from, &to]);
    assert_eq!(said.code, 0, "{}", said.err);
    let line = "forthwith: left out 2 columns that hold nothing but lengths";
    assert_eq!(said.err, format!("{line} (-v lists them)\n"));
    assert_eq!(rows(&to), [serde_json::json!({"number": 7})]);
    let said = forthwith(&["convert", &from, &to, "--force", "-v"]);
    assert_eq!(said.err, format!("{line}:\n  nothing\n  list\nforthwith: replaced {to}\n"));
    assert_eq!(output(&["cat", &from]), "{\"nothing\":{},\"list\":[{},{}],\"number\":7}\n");
    let quiet = forthwith(&["convert", &file("avro/unions.avro"), &to, "--force", "--skip-unsupported"]);
    assert!(quiet.err.lines().count() <= 2, "{}", quiet.err);
    let said = forthwith(&["convert", &file("avro/unions.avro"), &to, "--force", "--skip-unsupported", "-v"]);
    assert!(said.err.lines().count() > quiet.err.lines().count(), "{}", said.err);
}

/// A destination that is a link is written where it leads to, whether or not there is a file yet, and stays a
/// link.
#[cfg(unix)]
#[test]
fn links_lead_to_the_destination() {
    let folder = folder();
    let from = file("avro/codec-deflate.avro");
    let (link, there) = (folder.path().join("link.jsonl"), folder.path().join("there.jsonl"));
    std::os::unix::fs::symlink("there.jsonl", &link).expect("room");
    let to = link.to_str().expect("UTF-8");
    let expected = output(&["cat", &from]);
    // A name without a file: there is nothing to replace, so no question is asked.
    output(&["convert", &from, to]);
    let is_link = || std::fs::symlink_metadata(&link).expect("a link").is_symlink();
    assert!(is_link() && std::fs::read_to_string(&there).expect("a file") == expected);
    // Now there is.
    let said = forthwith(&["convert", &from, to]);
    assert_eq!((said.code, said.err), (2, format!("forthwith: {to} exists; --force replaces it\n")));
    std::fs::write(&there, "old").expect("room");
    output(&["convert", &from, to, "--force"]);
    assert!(is_link() && std::fs::read_to_string(&there).expect("a file") == expected);
    // Links that lead nowhere, or round in a circle, are errors that leave nothing behind.
    for (target, named) in [("no-folder/there.jsonl", "no-folder"), ("link.jsonl", "link.jsonl")] {
        std::fs::remove_file(&link).expect("a link");
        std::os::unix::fs::symlink(target, &link).expect("room");
        let before = names(folder.path()).len();
        let said = forthwith(&["convert", &from, to]);
        assert!(said.code != 0 && said.err.contains(named), "{target}: {} {}", said.code, said.err);
        assert!(is_link() && names(folder.path()).len() == before);
    }
}
