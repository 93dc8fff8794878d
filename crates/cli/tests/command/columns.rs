//! Which columns a command line means.

use crate::{file, forthwith, on, output};
use ::forthwith::{
    columns::{Array, Column, DType, Form},
    plan::WriteOptions,
};
use forthwith_cli::Terminal;

/// Every command that chooses columns, for a table of a format.
fn choosing(flag: &str, name: &str, target: &str) -> Vec<(String, i32, String)> {
    let folder = tempfile::tempdir().expect("a folder");
    let to = folder.path().join("out.jsonl");
    let to = to.to_str().expect("UTF-8");
    let lines: &[&[&str]] = match flag {
        "name" => &[&["head", target, "-b", name], &["head", target, "-n", "1", "-b", name, "--jsonl"]],
        _ => &[
            &["head", target, "-f", name],
            &["show", target, "-f", name],
            &["explain", target, "-f", name],
            &["convert", target, to, "-c", name],
        ],
    };
    let said = lines.iter().map(|line| (line[0].to_owned(), forthwith(line)));
    said.map(|(verb, said)| (verb, said.code, said.err)).collect()
}

#[test]
fn a_name_that_is_not_there_is_an_error_in_every_command() {
    for (target, near) in
        [("zmumu.root:events", "Muon_pt"), ("avro/nested.avro", ""), ("parquet/plain.parquet", "")]
    {
        let target = file(target);
        let first = output(&["head", &target, "-n", "1", "--jsonl"]);
        let first: serde_json::Value = serde_json::from_str(&first).expect("JSON");
        let there = first.as_object().and_then(|row| row.keys().next()).expect("a column").clone();
        for (flag, name) in [("pattern", "Muon_p"), ("name", "Muon_p")] {
            for (verb, code, err) in choosing(flag, name, &target) {
                assert!(code == 3 && err.contains("\"Muon_p\""), "{verb} {flag} {target}: {code} {err}");
                assert!(err.contains(near), "{verb}: {err}");
            }
        }
        // Beside one that is there, too, and one of a list.
        let both = format!("{there},nope");
        let folder = tempfile::tempdir().expect("a folder");
        let to = folder.path().join("out.jsonl");
        let said = forthwith(&["convert", &target, to.to_str().expect("UTF-8"), "-c", &both]);
        assert!(said.code == 3 && said.err.contains("nope") && !to.exists(), "{}", said.err);
        let said = forthwith(&["head", &target, "-b", &both]);
        assert!(said.code == 3 && said.err.contains("nope"), "{}", said.err);
        let said = forthwith(&["show", &target, "-f", &there, "-f", "nope"]);
        assert!(said.code == 3 && said.err.contains("nope"), "{}", said.err);
    }
}

#[test]
fn a_name_asked_for_twice_is_an_error() {
    let target = file("zmumu.root:events");
    for line in [
        &["head", &target, "-b", "nMuon", "-b", "nMuon", "--jsonl"][..],
        &["head", &target, "-b", "run,nMuon,run"],
        &["show", &target, "-f", "run", "-f", "run"],
        &["convert", &target, "nowhere.jsonl", "-c", "run,run"],
        &["head", &format!("{target}/run"), "-b", "run"],
    ] {
        let said = forthwith(line);
        assert!(said.code == 2 && said.err.contains("is asked for twice"), "{line:?} {}", said.err);
    }
    // A column that several patterns match is there once.
    let row = output(&["head", &target, "-n", "1", "-f", "nMu*", "-f", "nMuon", "--jsonl"]);
    assert_eq!(row.matches("nMuon").count(), 1);
}

#[test]
fn a_pattern_given_as_a_name_chooses_what_a_filter_would() {
    let target = file("zmumu.root:events");
    let named = output(&["head", &target, "-b", "Muon_*"]);
    assert_eq!(named, output(&["head", &target, "-f", "Muon_*"]));
    assert!(named.contains("Muon_pt") && !named.contains("MET_pt"), "{named}");
}

#[test]
fn a_column_needs_no_table_where_there_is_one() {
    let folder = tempfile::tempdir().expect("a folder");
    for (target, column) in
        [("avro/nested.avro", None), ("parquet/plain.parquet", None), ("codec-zlib.root", None::<&str>)]
    {
        let target = file(target);
        let row = output(&["head", &target, "-n", "1", "--jsonl", "--nan", "null"]);
        let row: serde_json::Value = serde_json::from_str(&row).expect("JSON");
        let keys: Vec<String> = row.as_object().expect("an object").keys().cloned().collect();
        let column = column.map_or_else(|| keys[keys.len() - 1].clone(), str::to_owned);
        let short = format!("{target}:{column}");
        for verb in ["head", "show", "explain"] {
            let said = forthwith(&[verb, &short]);
            assert!(said.code == 0 && said.out.contains(&column), "{verb} {short}: {}", said.err);
        }
        let to = folder.path().join("column.parquet");
        let said = forthwith(&["convert", &short, to.to_str().expect("UTF-8"), "--force"]);
        assert!(said.code == 0 && said.out.contains("1 column"), "{short}: {} {}", said.out, said.err);
        let said = forthwith(&["head", &format!("{target}:no-such-column")]);
        assert_eq!(said.code, 3, "{}", said.err);
    }
}

#[test]
fn a_format_in_rows_has_no_sizes_of_columns() {
    let said = output(&["show", &file("avro/nested.avro")]);
    assert!(said.contains("column") && !said.contains("baskets") && !said.contains("ratio"), "{said}");
    assert!(said.contains("blocks, codec ") || said.contains("block, codec "), "{said}");
    let json: serde_json::Value =
        serde_json::from_str(&output(&["show", "--json", &file("avro/nested.avro")])).expect("JSON");
    assert!(json["branches"][0].get("stored_bytes").is_none() && json["blocks"]["number"].is_u64());
}

/// Numbers in a column that none of its readers can be sure of: the block is damaged.
#[test]
fn a_table_whose_only_column_is_damaged_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("damaged.parquet");
    let path = path.to_str().expect("UTF-8");
    let form = Form::Numpy { key: "x".into(), dtype: DType::Int64, shape: vec![] };
    let numbers: Vec<i64> = (0..1000).map(|n| n * 1_000_003 % 977).collect();
    let columns = vec![("x-data".to_owned(), Column::from_vec(numbers))];
    let array = Array { form: form.clone(), length: 1000, columns };
    let options = WriteOptions { codec: Some("zstd".into()), ..WriteOptions::default() };
    let mut writer = ::forthwith::create(path, &[("x".to_owned(), form)], &options).expect("a file");
    writer.write(&[array]).expect("room");
    writer.finish().expect("room");
    let mut bytes = std::fs::read(path).expect("a file");
    bytes[4..200].fill(0xff);
    std::fs::write(path, bytes).expect("room");
    for line in [&["head", path][..], &["head", path, "--jsonl"], &["head", path, "-b", "x"]] {
        let said = forthwith(line);
        assert!(said.code == 1 && said.out.is_empty(), "{line:?}: {} {} {}", said.code, said.out, said.err);
    }
}

/// Whatever the width: no line is longer, and no column is all dots.
#[test]
fn head_is_cropped_to_the_terminal() {
    let names = ["zmumu.root:events", "avro/nested.avro", "parquet/plain.parquet", "parquet/delta.parquet"];
    for target in names
        .map(file)
        .iter()
        .filter(|target| std::path::Path::new(target.split(":events").next().unwrap_or_default()).exists())
    {
        for width in [60, 80, 100, 120] {
            for more in [&[][..], &["-f", "*a*"], &["-f", "*"]] {
                let args = [&["head", target][..], more].concat();
                let said = on(Terminal { width: Some(width), color: false }, &args);
                if said.code == 3 {
                    continue;
                }
                assert_eq!(said.code, 0, "{}", said.err);
                for line in said.out.lines() {
                    assert!(line.chars().count() <= width, "{target} {width}: {line}");
                }
                for line in said.out.lines().skip(1) {
                    assert!(!line.split("  ").any(|cell| cell.trim() == "..."), "{target} {width}: {line}");
                }
            }
        }
    }
}

/// Long names that differ at their end can be told apart.
#[test]
fn names_are_not_all_alike() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("long.parquet");
    let path = path.to_str().expect("UTF-8");
    let names: Vec<String> =
        (0..8).map(|n| format!("AnalysisElectronsAuxDyn.core_pt_with_a_long_name_indeed_{n}000")).collect();
    let form = Form::Numpy { key: "x".into(), dtype: DType::Float32, shape: vec![] };
    let fields: Vec<(String, Form)> = names.iter().map(|name| (name.clone(), form.clone())).collect();
    let array = || Array {
        form: form.clone(),
        length: 1,
        columns: vec![("x-data".to_owned(), Column::from_slice(&[1f32]))],
    };
    let mut writer = ::forthwith::create(path, &fields, &WriteOptions::default()).expect("a file");
    writer.write(&names.iter().map(|_| array()).collect::<Vec<_>>()).expect("room");
    writer.finish().expect("room");
    for width in [60, 80, 100] {
        let said = on(Terminal { width: Some(width), color: false }, &["show", path]);
        assert!(said.out.lines().all(|line| line.chars().count() <= width), "{}", said.out);
        for n in 0..8 {
            assert!(said.out.contains(&format!("{n}000")), "{width}:\n{}", said.out);
        }
    }
}

/// An output without a choice has no remark about one.
#[test]
fn the_only_table_is_not_announced_where_there_can_be_but_one() {
    for target in ["avro/nested.avro", "parquet/plain.parquet"] {
        for verb in ["show", "head", "explain"] {
            for terminal in [Terminal::default(), Terminal { width: Some(200), color: false }] {
                let said = on(terminal, &[verb, &file(target), "-f", "*"]);
                assert!(!said.err.contains("the only"), "{}", said.err);
            }
        }
    }
    let target = file("codec-zlib.root");
    assert_eq!(forthwith(&["show", &target]).err, "");
    let said = on(Terminal { width: Some(200), color: false }, &["show", &target]);
    assert!(said.err.contains("the only tree is"), "{}", said.err);
}

/// Each command takes columns by the options of the others.
#[test]
fn columns_are_asked_for_by_the_same_options_everywhere() {
    let target = file("zmumu.root:events");
    for command in [&["head", "--jsonl"][..], &["tail", "--jsonl"], &["cat"], &["show"], &["explain"]] {
        let answers: Vec<String> =
            ["-b", "-c", "-f", "--branch", "--branches", "--column", "--columns", "--filter"]
                .iter()
                .map(|option| output(&[&[command[0], &target, option, "Muon_p*"], &command[1..]].concat()))
                .collect();
        assert!(
            answers.iter().all(|answer| *answer == answers[0] && answer.contains("Muon_pt")),
            "{command:?}"
        );
    }
    let by_list = output(&["head", &target, "--jsonl", "-c", "run,Muon_p*"]);
    assert!(by_list.contains("\"run\"") && by_list.contains("Muon_phi"), "{by_list}");
}

#[test]
fn entries_are_limited_and_counted_by_conditions() {
    let target = file("zmumu.root:events");
    let all = output(&["cat", &target, "-c", "run,nMuon"]);
    let first = |text: &str, count: usize| {
        text.lines().take(count).map(|line| format!("{line}\n")).collect::<String>()
    };
    assert_eq!(output(&["cat", &target, "-c", "run,nMuon", "-n", "3"]), first(&all, 3));
    let passing = output(&["cat", &target, "-c", "run,nMuon", "-w", "nMuon == 2"]);
    assert_eq!(
        output(&["cat", &target, "-c", "run,nMuon", "-w", "nMuon == 2", "-n", "3"]),
        first(&passing, 3)
    );
    assert_eq!(output(&["cat", &target, &target, "-c", "run,nMuon", "-n", "100000"]), format!("{all}{all}"));
    assert_eq!(output(&["cat", &target, "-n", "0"]), "");
    let csv = output(&["cat", &target, "--format", "csv", "-c", "run,nMuon"]);
    for args in [&["--csv"][..], &["--format", "csv"]] {
        let head = output(&[&["head", &target, "-b", "run,nMuon", "-n", "2"], args].concat());
        assert_eq!(head, first(&csv, 3));
        let tail = output(&[&["tail", &target, "-b", "run,nMuon", "-n", "2"], args].concat());
        assert_eq!(
            tail.lines().skip(1).collect::<Vec<_>>(),
            csv.lines().rev().take(2).collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>()
        );
    }
    assert_eq!(output(&["head", &target, "--format", "jsonl"]), output(&["head", &target, "--jsonl"]));
    assert_eq!(forthwith(&["head", &target, "--csv", "--json"]).code, 2);
    let counted = output(&["count", &target, "--where", "nMuon == 2"]);
    assert_eq!(counted.trim(), passing.lines().count().to_string());
}
