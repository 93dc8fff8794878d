//! Merging, copying, splitting and compressing anew.

use crate::{file, forthwith, output};

fn at(folder: &tempfile::TempDir, name: &str) -> String {
    folder.path().join(name).to_str().expect("a UTF-8 path").to_owned()
}

fn head(target: &str, entries: &str) -> String {
    output(&["head", target, "-n", entries, "--jsonl"])
}

#[test]
fn files_are_merged_and_divided_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let (from, all, parts) = (file("zmumu.root"), at(&folder, "all.root"), at(&folder, "part-{}.root"));
    output(&["merge", &from, &from, &all]);
    let one = head(&file("zmumu.root:events"), "100000");
    assert!(head(&format!("{all}:events"), "100000") == format!("{one}{one}"));
    output(&["split", &format!("{all}:events"), &parts, "--files", "2"]);
    for part in [1, 2] {
        let part = at(&folder, &format!("part-{part}.root"));
        assert!(head(&part, "100000") == one);
        output(&["check", &part]);
    }
}

#[test]
fn branches_and_entries_are_chosen() {
    let folder = tempfile::tempdir().expect("a folder");
    let (from, to) = (file("zmumu.root:events"), at(&folder, "some.root"));
    output(&["cp", &from, &to, "--columns", "Muon_pt", "--entries", "10:30"]);
    let wanted = output(&["tail", &to, "-n", "1", "--jsonl", "-b", "Muon_pt"]);
    let before = output(&["head", &from, "-n", "30", "--jsonl", "-b", "Muon_pt"]);
    assert_eq!(before.lines().last(), wanted.lines().last());
    output(&["cp", &from, &to, "--where", "nMuon == 2", "--force"]);
    let kept = output(&["cat", &from, "--where", "nMuon == 2"]);
    assert!(output(&["cat", &to]) == kept);
}

#[test]
fn payloads_are_compressed_anew() {
    let folder = tempfile::tempdir().expect("a folder");
    let to = at(&folder, "plain.root");
    output(&["recompress", &file("zmumu.root"), &to, "--codec", "none"]);
    assert!(head(&format!("{to}:events"), "100000") == head(&file("zmumu.root:events"), "100000"));
    assert!(forthwith(&["recompress", &file("zmumu.root"), &to, "--codec", "best"]).code != 0);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let (from, to) = (file("zmumu.root"), at(&folder, "to.root"));
    output(&["cp", &from, &to]);
    let said = |args: &[&str]| {
        let said = forthwith(args);
        assert_ne!(said.code, 0, "{args:?}");
        said.err
    };
    assert!(said(&["cp", &from, &to]).contains("--force replaces it"));
    assert!(said(&["cp", &to, &to, "--force"]).contains("one of the input files"));
    assert!(said(&["cp", &from, &to, "-f", "--entries", "3"]).contains("100:200"));
    assert!(said(&["cp", &format!("{from}:nothing"), &to, "-f"]).contains("no object nothing"));
    assert!(
        said(&["cp", &from, &to, "-f", "--columns", "nothing*"]).contains("no branch of the tree was chosen")
    );
    let other = said(&["cp", &file("parquet/plain.parquet"), &at(&folder, "other.parquet")]);
    assert!(other.contains("copying the stored blocks of Parquet files"), "{other}");
    output(&["check", &to]);
}
