//! Every command on every file of tests/data: an answer for all.

use crate::{file, forthwith, root};
use serde_json::Value;
use std::fs;

fn files() -> Vec<String> {
    let entries = fs::read_dir(root().join("tests/data")).expect("the test data");
    let mut names: Vec<_> = entries.filter_map(|e| e.ok()?.file_name().into_string().ok()).collect();
    names.retain(|name| name.ends_with(".root"));
    names.sort();
    names
}

fn trees(name: &str) -> Vec<String> {
    let said = forthwith(&["ls", "-r", "--json", &file(name)]);
    assert_eq!(said.code, 0, "{name}: {}", said.err);
    let keys: Value = serde_json::from_str(&said.out).expect("JSON");
    let keys = keys.as_array().expect("an array");
    let trees = keys.iter().filter(|k| k["is_table"] == true).filter_map(|k| k["path"].as_str());
    trees.map(|path| format!("{}:{path}", file(name))).collect()
}

#[test]
fn every_tree_is_shown_explained_and_printed() {
    let mut seen = 0;
    for tree in files().iter().flat_map(|name| trees(name)) {
        seen += 1;
        let shown = forthwith(&["show", "--json", &tree]);
        let head = forthwith(&["head", "--json", "--nan", "null", &tree, "-n", "2"]);
        let explained = forthwith(&["explain", "--json", &tree]);
        for said in [&shown, &head, &explained] {
            assert_eq!(said.code, 0, "{tree}: {}", said.err);
            serde_json::from_str::<Value>(&said.out).expect("JSON");
        }
        // Whatever is read by a program has one to print.
        let explained: Value = serde_json::from_str(&explained.out).expect("JSON");
        let programs = explained.as_array().expect("an array").iter().filter(|b| b["decoder"] == "program");
        for path in programs.filter_map(|b| b["path"].as_str()).take(5) {
            let said = forthwith(&["forth", &format!("{tree}/{path}")]);
            assert_eq!(said.code, 0, "{tree}/{path}: {}", said.err);
        }
    }
    assert!(seen >= 4, "only {seen} trees in tests/data");
}

#[test]
fn every_file_can_be_demonstrated() {
    for name in files() {
        let said = forthwith(&["demo", &file(&name), "--threads", "2"]);
        assert_eq!(said.code, 0, "{name}: {}", said.err);
        assert!(
            said.out.contains("\nEverything\n") || said.out.contains("no tree in this file"),
            "{name}:\n{}",
            said.out
        );
    }
}
