//! Columns that are computed and entries that are chosen, by the command.

use crate::{file, forthwith, output};
use serde_json::Value;

fn rows(args: &[&str]) -> Vec<Value> {
    output(args).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn cat_prints_entries_that_pass_with_what_is_computed() {
    let events = file("zmumu.root:events");
    let all = rows(&["cat", &events, "-c", "nMuon,Muon_pt,MET_pt"]);
    let computing = [
        "--where",
        "nMuon > 1 and any(high)",
        "--alias",
        "high=Muon_pt > 30",
        "--compute",
        "n=count(Muon_pt)",
    ];
    let some = rows(&[&["cat", &events, "-c", "MET_pt"], &computing[..]].concat());
    let numbers = |row: &Value| row["Muon_pt"].as_array().expect("a list").clone();
    let passing: Vec<&Value> = all
        .iter()
        .filter(|row| row["nMuon"].as_i64() > Some(1))
        .filter(|row| numbers(row).iter().any(|pt| pt.as_f64() > Some(30.0)))
        .collect();
    assert!(!passing.is_empty() && passing.len() < all.len());
    assert_eq!(some.len(), passing.len());
    for (row, whole) in some.iter().zip(passing) {
        assert_eq!(row["MET_pt"], whole["MET_pt"]);
        assert_eq!(row["n"].as_u64(), Some(numbers(whole).len() as u64));
    }
    assert_eq!(output(&["cat", &events, "-c", "MET_pt", "-w", "MET_pt < 0"]), "");
}

#[test]
fn convert_writes_entries_that_pass() {
    let folder = tempfile::tempdir().expect("a folder");
    let to = folder.path().join("pairs.parquet");
    let to = to.to_str().expect("a name");
    let said = output(&[
        "convert",
        &file("zmumu.root:events"),
        to,
        "--columns",
        "nMuon",
        "--where",
        "nMuon == 2",
        "--compute",
        "pt2=Muon_pt**2",
    ]);
    let rows = rows(&["cat", to]);
    assert!(rows.iter().all(|row| row["nMuon"] == 2 && row["pt2"].as_array().map(Vec::len) == Some(2)));
    assert!(said.contains(&format!("{} entries", rows.len())) || rows.len() > 999, "{said}");
}

#[test]
fn plot_draws_what_is_computed() {
    let drawn =
        output(&["plot", &file("zmumu.root:events"), "--compute", "lead=max(Muon_pt)", "-w", "nMuon > 1"]);
    assert!(drawn.starts_with("lead of "), "{drawn}");
}

#[test]
fn what_is_wrong_is_said_before_anything_is_printed() {
    let events = file("zmumu.root:events");
    for (args, wanted) in [
        (["--where", "nMuon >"], "a value is expected where the end stands"),
        (["--where", "Muon_pt > 1"], "not one true or false: reduce it by any"),
        (["--where", "nMuons > 1"], "there is no column"),
        (["--compute", "x=MET_pt & 1"], "& of float32"),
        (["--compute", "x"], "a name and an expression"),
        (["--compute", "MET_pt=1"], "is the name of a column"),
    ] {
        let said = forthwith(&[&["cat", &events][..], &args].concat());
        assert_ne!(said.code, 0, "{args:?}");
        assert_eq!(said.out, "", "{args:?}");
        assert!(said.err.contains(wanted), "{args:?}: {}", said.err);
    }
}
