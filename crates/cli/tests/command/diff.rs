//! `diff`: files, tables, objects and folders, and its exit codes.

use crate::{Said, file, forthwith, on, output};
use forthwith_cli::Terminal;
use serde_json::Value;
use std::{fs, path::Path};

/// A folder with files made of lines of JSON.
fn made(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, lines) in files {
        fs::write(folder.path().join(name), lines).expect("room");
    }
    folder
}

fn within(folder: &tempfile::TempDir, name: &str) -> String {
    folder.path().join(name).to_str().expect("a UTF-8 path").to_owned()
}

/// Without the folder's own name.
fn said(folder: &tempfile::TempDir, args: &[&str]) -> (i32, String) {
    let Said { code, out, err } = forthwith(args);
    let all = (out + &err).replace(&format!("{}/", within(folder, "")).replace("//", "/"), "");
    (code, all)
}

const LEFT: &str = concat!(
    r#"{"run": 1, "x": 1.5, "items": [1, 2, 3], "text": "a", "old": 1}"#,
    "\n",
    r#"{"run": 2, "x": null, "items": [], "text": "b", "old": 1}"#,
    "\n",
    r#"{"run": 3, "x": 3.5, "items": [{}], "text": "c", "old": 1}"#,
    "\n"
);

#[test]
fn differences_are_named_with_entry_and_place() {
    let left = LEFT.replace("[{}]", "[4]");
    let right = left.replace("1.5", "1.25").replace("[1, 2, 3]", "[1, 5, 3]").replace("null", "2.0");
    let right =
        right.replace("\"b\"", "\"\\u001b[2J\"").replace("\"old\"", "\"new\"").replace("[4]", "[4, 5]");
    let folder = made(&[("a.jsonl", &left), ("b.jsonl", &right)]);
    let (a, b) = (within(&folder, "a.jsonl"), within(&folder, "b.jsonl"));
    let (code, text) = said(&folder, &["diff", &a, &b]);
    insta::assert_snapshot!(text, @r"
    only in a.jsonl: old
    only in b.jsonl: new
    x: ?float64 and float64, not compared
    items: 2 entries differ, numbers by up to 3
      entry 0 [1]: 2 and 5
      entry 2: 1 item: [4] and 2 items: [4, 5]
    text: 1 entry differs
      entry 1: 'b' and '\u{1b}[2J'
    different: 3 columns, 3 entries
    ");
    assert_eq!(code, 1);
    let (code, text) =
        said(&folder, &["diff", &a, &b, "--same-content", "--common", "--atol", "0.3", "-c", "x"]);
    insta::assert_snapshot!(text, @r"
    x: 1 entry differs
      entry 1: None and 2
    different: 1 column, 3 entries
    ");
    assert_eq!(code, 1);
    let (code, text) = said(&folder, &["diff", &a, &b, "-q"]);
    assert_eq!((code, text.as_str()), (1, ""));
    assert_eq!(output(&["diff", &a, &b, "-c", "run"]), "same: 1 column, 3 entries\n");
    let found: Value = serde_json::from_str(&forthwith(&["diff", "--json", &a, &b]).out).expect("JSON");
    assert_eq!((&found["verdict"], &found["table"]["compared"]), (&"different".into(), &3.into()));
}

#[test]
fn entries_are_matched_by_keys() {
    let rows = |runs: &[u32]| -> String {
        runs.iter().map(|run| format!("{{\"run\": {run}, \"x\": [{}]}}\n", run * 10)).collect()
    };
    let right = rows(&[5, 3, 1, 9]).replace("[30]", "[31]");
    let folder = made(&[("a.jsonl", &rows(&[1, 2, 3, 5])), ("b.jsonl", &right)]);
    let (a, b) = (within(&folder, "a.jsonl"), within(&folder, "b.jsonl"));
    let (code, text) = said(&folder, &["diff", &a, &b, "--on", "run"]);
    insta::assert_snapshot!(text, @r"
    only in a.jsonl: 1 entry (1)
    only in b.jsonl: 1 entry (3)
    x: 1 entry differs, numbers by up to 1
      entry 2 and 1 [0]: 30 and 31
    different: 2 columns, 3 entries
    ");
    assert_eq!(code, 1);
    let (code, text) = said(&folder, &["diff", &a, &b, "--on", "x"]);
    assert_eq!(code, 2);
    assert!(text.contains("x is var * int64: keys are numbers or text"), "{text}");
    assert_eq!(forthwith(&["diff", &a, &b, "--on", "rum"]).code, 2);
}

/// Damage is named, and everything else is compared.
#[test]
fn damage_is_named() {
    let mut bytes = fs::read(file("zmumu.root")).expect("the file");
    let middle = bytes.len() / 2;
    bytes[middle..middle + 40].iter_mut().for_each(|byte| *byte ^= 0x5a);
    let folder = tempfile::tempdir().expect("a folder");
    let damaged = within(&folder, "damaged.root");
    fs::write(&damaged, bytes).expect("room");
    let found = forthwith(&["diff", &file("zmumu.root"), &damaged]);
    assert_eq!(found.code, 2, "{}", found.out);
    assert!(
        found.out.contains("not read: entries 1,000 to 1,999 of triggers: the zstd block is corrupt"),
        "{}",
        found.out
    );
    let column =
        forthwith(&["diff", &file("zmumu.root:events"), &format!("{damaged}:events"), "-c", "Muon_*"]);
    assert_eq!(column.code, 0, "{}", column.out);
}

#[test]
fn objects_are_compared_by_their_members() {
    let (one, other) = (file("histograms.root:h1d"), file("histograms.root:h1f"));
    assert_eq!(output(&["diff", &one, &one]), "same: 1 object\n");
    let found = forthwith(&["diff", &one, &other]);
    assert_eq!(found.code, 1);
    assert!(found.out.contains("class: TH1D and TH1F"), "{}", found.out);
    let found = forthwith(&["diff", &other, &file("histograms.root:weighted")]);
    assert!(found.code == 1 && found.out.contains("fName: 'h1f' and 'weighted'"), "{}", found.out);
    assert_eq!(forthwith(&["diff", &one, &file("zmumu.root:events")]).code, 2);
}

#[test]
fn the_same_content_is_found_in_other_formats() {
    let folder = tempfile::tempdir().expect("a folder");
    let events = file("zmumu.root:events");
    for name in ["a.parquet", "a.avro", "a.arrow", "a.root"] {
        let copy = within(&folder, name);
        let words = ["convert", &events, &copy, "--as", "ntuple"];
        output(&words[..if name == "a.root" { 5 } else { 3 }]);
        assert_eq!(
            output(&["diff", &events, &copy, "--same-content"]),
            "same: 21 columns, 3,600 entries\n",
            "{name}"
        );
    }
}

#[test]
fn folders_are_compared_file_by_file() {
    let (one, other) = (made(&[]), made(&[]));
    let copy = |folder, name, from: &str| fs::copy(file(from), within(folder, name)).expect("room");
    for (folder, names) in [(&one, ["a.root", "b.root", "c.root"]), (&other, ["a.root", "b.root", "d.root"])]
    {
        for name in names {
            copy(folder, name, "codec-zlib.root");
        }
    }
    copy(&one, "b.root", "vectors.root");
    let [left, right] = [&one, &other].map(|folder| within(folder, ""));
    let found = forthwith(&["diff", &left, &right]);
    assert_eq!(found.code, 1);
    let text =
        found.out.replace(left.trim_end_matches('/'), "LEFT").replace(right.trim_end_matches('/'), "RIGHT");
    insta::assert_snapshot!(text, @r"
    b.root
    only in LEFT/b.root: one, two, deep
    only in RIGHT/b.root: events, h
    different: 0 tables, 0 columns, 0 entries, 0 objects
    only in LEFT/: c.root
    only in RIGHT/: d.root
    1 of 2 files differ
    ");
    let json: Value = serde_json::from_str(&forthwith(&["diff", &left, &right, "--json"]).out).expect("JSON");
    assert_eq!(json["files"].as_array().map(Vec::len), Some(2));
    // A file is compared with that of its name.
    assert_eq!(forthwith(&["diff", &within(&one, "b.root"), &right]).code, 1);
    assert_eq!(
        output(&["diff", &left, &within(&other, "a.root")]),
        "same: 1 table, 5 columns, 400 entries, 1 object\n"
    );
}

#[test]
fn what_cannot_be_compared_is_exit_code_2() {
    let events = file("zmumu.root:events");
    for args in [
        &[&events[..], "nowhere.root"][..],
        &[&events, &file("zmumu.root:nothing")],
        &[&events, &events, "-c", "nothing"],
        &[&events, &events, "--rtol", "-1"],
        &[&events],
    ] {
        let found = forthwith(&[&["diff"], args].concat());
        assert_eq!(found.code, 2, "{args:?}: {}", found.out);
        assert!(found.out.is_empty() && !found.err.is_empty());
    }
    let terminal = on(Terminal { width: Some(80), color: true }, &["diff", &events, &events]);
    assert_eq!((terminal.code, terminal.err.as_str()), (0, ""));
    assert!(Path::new(&file("zmumu.root")).exists());
}

/// Files of a side follow each other as one table, wherever they begin and end.
#[test]
fn several_files_of_each_side_are_compared() {
    let line = |at: u32| format!("{{\"x\": {at}, \"items\": [{}]}}\n", ["1", "1, 2", ""][at as usize % 3]);
    let lines = |entries: std::ops::Range<u32>| entries.map(line).collect::<String>();
    let changed = lines(13..30).replace("\"x\": 20", "\"x\": 21");
    let folder = made(&[
        ("a1.jsonl", &lines(0..7)),
        ("a2.jsonl", &lines(7..9)),
        ("a3.jsonl", &lines(9..30)),
        ("b1.jsonl", &lines(0..13)),
        ("b2.jsonl", &lines(13..30)),
        ("c2.jsonl", &changed),
        ("d2.jsonl", &lines(13..28)),
        ("e2.jsonl", &lines(13..30).replace("\"x\"", "\"y\"")),
    ]);
    let name = |file: &str| within(&folder, file);
    let own = ["a1.jsonl", "a2.jsonl", "a3.jsonl"].map(name);
    let against = |others: &[&str], more: &[&str]| {
        let others: Vec<String> = others.iter().map(|other| name(other)).collect();
        let words = [&["diff"], more].concat();
        let words = words.into_iter().chain(own.iter().map(String::as_str)).chain(["--"]);
        said(&folder, &words.chain(others.iter().map(String::as_str)).collect::<Vec<_>>())
    };
    let all = "same: 2 columns, 30 entries\n".to_owned();
    assert_eq!(against(&["b1.jsonl", "b2.jsonl"], &[]), (0, all.clone()));
    assert_eq!(said(&folder, &["diff", &name("a*.jsonl"), &name("b*.jsonl")]), (0, all));
    let (code, text) = against(&["b1.jsonl", "c2.jsonl"], &[]);
    assert!(code == 1 && text.contains("entry 20: 20 and 21"), "{text}");
    let (code, text) = against(&["b1.jsonl", "d2.jsonl"], &["--json"]);
    let found: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!((code, &found["table"]["entries"]), (1, &serde_json::json!([30, 28])));
    assert_eq!(found["table"]["unmatched"][0]["first"], serde_json::json!([28, 29]));
    let (code, text) = against(&["b1.jsonl", "e2.jsonl"], &[]);
    assert!(code == 1 && text.contains(": x\n") && text.contains(": y\n"), "{text}");
    let (code, text) = against(&["b1.jsonl", "b2.jsonl"], &["--on", "x"]);
    assert!(code == 2 && text.contains("not supported yet: matching entries of several files"), "{text}");
    // A brief comparison ends at the numbers of entries, before columns are looked at.
    for (columns, expected) in [("x", 1), ("items", 1), ("nothing", 2)] {
        for more in
            [&["-c", columns][..], &["-c", columns, "--brief"], &["-c", columns, "--brief", "--common"]]
        {
            let (code, text) = against(&["b1.jsonl", "d2.jsonl"], more);
            assert_eq!(code, expected, "{more:?}: {text}");
        }
    }
    for few in [&["diff", "a.root"][..], &["diff", "a", "b", "c"], &["diff", "a", "--"], &["diff", "--", "a"]]
    {
        let (code, text) = said(&folder, few);
        assert!(code == 2 && text.contains("between those of the two sides"), "{text}");
    }
}
