//! Files that are written: missing values in ROOT, tables without columns, names that are no text.

use crate::{file, forthwith, output};
use std::path::Path;

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

fn at(folder: &tempfile::TempDir, name: &str) -> String {
    folder.path().join(name).to_str().expect("a UTF-8 path").to_owned()
}

/// A file with missing values: of entries whose file lacks a column.
fn with_missing(folder: &tempfile::TempDir) -> String {
    let tree = file("zmumu.root:events");
    let (one, other, both) = (at(folder, "1.parquet"), at(folder, "2.parquet"), at(folder, "both.parquet"));
    output(&["convert", &tree, &one, "-c", "run,nMuon,Muon_pt,dataset", "-w", "nMuon > 4"]);
    output(&["convert", &tree, &other, "-c", "run", "-w", "nMuon > 4"]);
    output(&["convert", &one, &other, &both, "--missing", "null"]);
    both
}

#[test]
fn missing_values_become_a_number_in_a_tree_and_stay_missing_in_an_rntuple() {
    let folder = folder();
    let from = with_missing(&folder);
    let to = at(&folder, "all.root");
    let said = forthwith(&["convert", &from, &to]);
    assert_eq!(said.code, 4, "{}", said.err);
    for what in ["missing values in a tree", "tree/", "--nulls -1", "--as ntuple"] {
        assert!(said.err.contains(what), "{what}: {}", said.err);
    }
    assert!(!Path::new(&to).exists());
    let rows = |target: &str| -> Vec<serde_json::Value> {
        let text = output(&["cat", target, "-c", "run,nMuon,Muon_pt,dataset"]);
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    };
    let expected = rows(&from);
    output(&["convert", &from, &to, "--nulls", "-1"]);
    let found = rows(&to);
    assert_eq!(found.len(), expected.len());
    for (row, expected) in found.iter().zip(&expected) {
        assert_eq!(row["run"], expected["run"]);
        if expected["nMuon"].is_null() {
            assert!(row["nMuon"] == -1 && row["Muon_pt"] == serde_json::json!([]), "{row}");
            assert_eq!(row["dataset"], "");
        } else {
            assert_eq!(row, expected);
        }
    }
    output(&["convert", &from, &to, "--as", "ntuple", "--force"]);
    assert_eq!(rows(&to), expected);
    output(&["convert", &from, &to, "--as", "ntuple", "--force", "--nulls", "7"]);
    assert_eq!(rows(&to).last().expect("entries")["nMuon"], 7);
    // All digits of a whole number are kept, and a type that does not have it says so.
    let number = ["--nulls", "9007199254740993", "-c", "nMuon", "--force"];
    let said = forthwith(&[&["convert", &from, &to][..], &number].concat());
    assert_eq!(said.code, 4, "{}", said.err);
    for what in ["9007199254740993 in place of missing values of type int32", "nMuon"] {
        assert!(said.err.contains(what), "{what}: {}", said.err);
    }
    let long = at(&folder, "long.parquet");
    output(&["convert", &from, &long, "--compute", "n=int64(nMuon)", "-c", "nMuon"]);
    for kind in ["tree", "ntuple"] {
        let convert = |number: &str| {
            forthwith(&["convert", &long, &to, "-c", "n", "--as", kind, "--force", "--nulls", number])
        };
        for number in [9_007_199_254_740_993, i64::MIN] {
            let said = convert(&number.to_string());
            assert_eq!(said.code, 0, "{}", said.err);
            let found = output(&["cat", &to]);
            assert!(found.contains(&format!("{{\"n\":{number}}}")), "{number}");
        }
        let said = convert("9223372036854775808");
        assert_eq!(said.code, 4, "{}", said.err);
        for what in ["9223372036854775808 in place of missing values of type int64", "n"] {
            assert!(said.err.contains(what), "{what}: {}", said.err);
        }
    }
    assert_eq!(forthwith(&["convert", &from, &to, "--force", "--nulls", "none"]).code, 2);
    let said = forthwith(&["convert", &from, &at(&folder, "no.avro"), "--nulls", "0"]);
    assert!(said.code == 2 && said.err.contains("Avro files have missing values"), "{}", said.err);
}

/// Entries without columns are counted and said, and are no crash.
#[test]
fn a_table_without_columns_is_said() {
    let folder = folder();
    let from = at(&folder, "nothing.avro");
    let header = b"Obj\x01\x02\x16avro.schema\x50{\"type\":\"record\",\"name\":\"r\",\"fields\":[]}\0";
    let marker = [7u8; 16];
    // Three entries of no bytes.
    let bytes = [&header[..], &marker, &[6, 0], &marker].concat();
    std::fs::write(&from, bytes).expect("room");
    assert!(output(&["count", &from]).contains('3'));
    for args in
        [&["cat", &from][..], &["cat", &from, "--format", "csv"], &["convert", &from, &at(&folder, "x.root")]]
    {
        let said = forthwith(args);
        let what = "nothing.avro has 3 entries and no columns, so that there is nothing to write";
        assert!(
            said.code == 2 && said.err.contains(what) && said.out.is_empty(),
            "{} {}",
            said.code,
            said.err
        );
    }
    assert_eq!(output(&["head", &from, "--jsonl"]), "{}\n{}\n{}\n");
    assert_eq!(output(&["head", &from, "--jsonl", "-n", "2"]), "{}\n{}\n");
    assert_eq!(output(&["head", &from]).lines().count(), 4);
}

/// Names that are no text are those of files: to be read, and to be written.
#[cfg(target_os = "linux")]
#[test]
fn names_need_not_be_text() {
    use std::{ffi::OsString, os::unix::ffi::OsStringExt};
    let folder = folder();
    let name = |text: &[u8]| folder.path().join(OsString::from_vec(text.to_vec()));
    let run = |args: &[&OsString]| {
        let line = std::iter::once(OsString::from("forthwith")).chain(args.iter().map(|arg| (*arg).clone()));
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let code = forthwith_cli::run(line, &mut out, &mut err, forthwith_cli::Terminal::default());
        (code, String::from_utf8_lossy(&out).into_owned(), String::from_utf8_lossy(&err).into_owned())
    };
    let word = |text: &str| OsString::from(text);
    let (tree, root) = (word(&file("zmumu.root:events")), word(&file("zmumu.root")));
    let parquet = name(b"caf\xe9.parquet").into_os_string();
    let (columns, run_number) = (word("-c"), word("run"));
    let (code, out, err) = run(&[&word("convert"), &tree, &parquet, &columns, &run_number]);
    assert!(code == 0 && out.contains("3,600 entries"), "{err}");
    assert!(Path::new(&parquet).is_file());
    let (code, _, err) = run(&[&word("convert"), &tree, &parquet, &columns, &run_number]);
    assert!(code == 2 && err.contains("exists; --force replaces it"), "{err}");
    let (code, out, _) = run(&[&word("count"), &parquet]);
    assert!(code == 0 && out.contains("3600"), "{out}");
    for verb in ["merge", "cp"] {
        let to = name(format!("{verb}-").as_bytes()).into_os_string().into_vec();
        let to = OsString::from_vec([&to[..], b"\xff.root"].concat());
        let (code, _, err) = run(&[&word(verb), &root, &to]);
        assert!(code == 0 && Path::new(&to).is_file(), "{verb}: {err}");
    }
    let (code, _, err) =
        run(&[&word("split"), &root, &word("--files"), &word("2"), &name(b"\xff.root").into()]);
    assert!(code == 2 && err.contains("not UTF-8"), "{err}");
}

/// A column behind a slash is told where it belongs.
#[test]
fn what_is_in_a_file_stands_behind_a_colon() {
    let target = file("avro/codec-deflate.avro");
    let said = forthwith(&["forth", &format!("{target}/x")]);
    let what = format!("{target} is a file: what is in it is named behind a colon, as in {target}:x");
    assert!(said.code != 0 && said.err.contains(&what), "{}", said.err);
    let root = file("zmumu.root");
    let said = forthwith(&["forth", &format!("{root}/events/Muon_pt")]);
    assert!(said.err.contains(&format!("as in {root}:events/Muon_pt")), "{}", said.err);
    let said = forthwith(&["count", &file("nowhere.root/x")]);
    assert!(said.code == 3 && !said.err.contains("colon"), "{}", said.err);
}

/// What can be read of a damaged file, with a line that says what was lost.
#[test]
fn damaged_entries_are_left_out_if_that_is_said() {
    let folder = folder();
    let (whole, cut) = (at(&folder, "whole.avro"), at(&folder, "cut.avro"));
    output(&["convert", &file("zmumu.root:events"), &whole, "-c", "run,nMuon", "--block-entries", "500"]);
    let bytes = std::fs::read(&whole).expect("a file");
    std::fs::write(&cut, &bytes[..bytes.len() - 20]).expect("room");
    let expected = output(&["cat", &whole]);
    let sound: String = expected.split_inclusive('\n').take(3500).collect();
    assert_ne!(forthwith(&["cat", &cut]).code, 0);
    assert_ne!(forthwith(&["cat", &cut, "--errors", "raise"]).code, 0);
    let said = forthwith(&["cat", &cut, "--errors", "skip"]);
    assert!(said.code == 0 && said.out == sound, "{}", said.err);
    for what in ["left out of", "cut.avro: 1 block with an unknown number of entries", "needs"] {
        assert!(said.err.contains(what), "{what}: {}", said.err);
    }
    // A file that cannot be opened has no columns that are known: it is no entry that is left out.
    let nothing = at(&folder, "nothing.avro");
    std::fs::write(&nothing, b"nothing").expect("room");
    let said = forthwith(&["cat", &whole, &nothing, "--errors", "skip"]);
    assert!(said.code != 0 && said.err.contains("nothing.avro"), "{}", said.err);
    let to = at(&folder, "all.parquet");
    let said = forthwith(&["convert", &cut, &whole, &to, "--errors", "skip", "-w", "nMuon > 1"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let passing = |text: &str| {
        text.lines().filter(|line| !line.contains("\"nMuon\":1}") && !line.contains("\"nMuon\":0}")).count()
    };
    assert_eq!(output(&["cat", &to]).lines().count(), passing(&sound) + passing(&expected));
    // A basket of a tree whose bytes are wrong: its entries are lost, in all columns.
    let broken = at(&folder, "broken.root");
    let mut bytes = std::fs::read(file("zmumu.root")).expect("a file");
    bytes[150_000..150_200].fill(0);
    std::fs::write(&broken, bytes).expect("room");
    let target = format!("{broken}:events");
    assert_ne!(forthwith(&["cat", &target, "-c", "run,Muon_eta"]).code, 0);
    let said = forthwith(&["cat", &target, "-c", "run,Muon_eta", "--errors", "skip"]);
    let left = said.out.lines().count();
    assert!(said.code == 0 && left > 0 && left < 3600, "{left} {}", said.err);
    assert!(said.err.contains(&format!("{} entries in 1 piece", 3600 - left)), "{}", said.err);
    let all: Vec<String> = output(&["cat", &file("zmumu.root:events"), "-c", "run,Muon_eta"])
        .lines()
        .map(str::to_owned)
        .collect();
    assert!(said.out.lines().all(|line| all.iter().any(|known| known == line)));
    assert_eq!(output(&["cat", &whole, "--errors", "skip"]), expected);
}

#[test]
fn tables_of_a_file_go_to_a_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let to = folder.path().join("tables/");
    let to = to.to_str().expect("a UTF-8 path");
    let said = forthwith(&["convert", &file("zmumu.root"), &format!("{to}/"), "--format", "parquet"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.err.contains("left out 2 objects that are no tables"), "{}", said.err);
    for (path, name) in [("events", "events.parquet"), ("skim/events", "skim/events.parquet")] {
        let table = file(&format!("zmumu.root:{path}"));
        let copy = format!("{to}/{name}");
        assert!(output(&["diff", &table, &copy, "--same-content"]).starts_with("same: "), "{name}");
    }
    for args in [&["--format", "parquet"][..], &[]] {
        let said = forthwith(&[&["convert", &file("zmumu.root"), to], args].concat());
        assert_eq!(said.code, 2, "{}", said.err);
    }
}

#[test]
fn whole_files_are_converted_with_their_objects() {
    let folder = folder();
    let (ntuples, trees) = (at(&folder, "ntuples.root"), at(&folder, "trees.root"));
    output(&["convert", &file("zmumu.root"), &ntuples, "--as", "ntuple"]);
    output(&["convert", &ntuples, &trees, "--as", "tree"]);
    let keys = |name: &str| output(&["ls", "-r", name]);
    assert_eq!(keys(&ntuples).matches("ROOT::RNTuple").count(), 2, "{}", keys(&ntuples));
    assert_eq!(keys(&ntuples).matches("TH1F").count(), 1);
    assert_eq!(keys(&trees).matches("TTree").count(), 2);
    // The counters of lists are columns of trees.
    for copy in [&ntuples, &trees] {
        let said = forthwith(&["diff", &file("zmumu.root"), copy, "--same-content", "--common"]);
        assert_eq!(said.code, 0, "{}{}", said.out, said.err);
        assert!(said.out.contains("2 tables, 29 columns") && said.out.contains("1 object"), "{}", said.out);
    }
    let said = forthwith(&["convert", &file("zmumu.root"), &ntuples, "--as", "ntuple"]);
    assert!(said.code == 2 && said.err.contains("--force"), "{}", said.err);
    let said = forthwith(&["convert", &file("zmumu.root"), &at(&folder, "x.root"), "--as", "branches"]);
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(!Path::new(&at(&folder, "x.root")).exists());
}
