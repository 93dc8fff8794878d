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

#[test]
fn a_name_of_another_format_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let from = file("zmumu.root");
    for ending in ["parquet", "avro", "csv", "arrow", "jsonl", "PARQUET"] {
        let to = at(&folder, &format!("x.{ending}"));
        for args in [
            &["cp", &from, &to][..],
            &["merge", &from, &from, &to],
            &["merge", &from, "-o", &to],
            &["recompress", &from, &to, "--codec", "zstd"],
            &["split", &format!("{from}:events"), &to, "--files", "2"],
            &["index", &from, "--to", &to],
        ] {
            let said = forthwith(args);
            assert_eq!(said.code, 2, "{args:?}: {}", said.err);
            assert!(said.err.contains("the ending of the name"), "{}", said.err);
        }
    }
    let said = forthwith(&["cp", &from, &at(&folder, "x.parquet")]);
    assert!(said.err.contains("forthwith convert writes"), "{}", said.err);
    let other = at(&folder, "x.parquet");
    let said = forthwith(&["convert", &format!("{from}:events"), &other, "--format", "avro"]);
    assert_eq!(said.code, 2, "{}", said.err);
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
}

#[test]
fn an_input_is_not_replaced_in_the_order_of_hadd() {
    let folder = tempfile::tempdir().expect("a folder");
    let (first, second, sum) = (at(&folder, "a.root"), at(&folder, "b.root"), at(&folder, "sum.root"));
    std::fs::copy(file("zmumu.root"), &first).expect("copied");
    std::fs::copy(file("zmumu.root"), &second).expect("copied");
    output(&["merge", &first, &second, "-o", &sum]);
    let before = std::fs::read(&second).expect("a file");
    let said = forthwith(&["merge", "-f", &sum, &first, &second]);
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(said.err.contains("--output"), "{}", said.err);
    assert!(std::fs::read(&second).expect("a file") == before);
    // The result of before is larger than its inputs, and as new.
    let said = forthwith(&["merge", "-f", &first, &second, &sum]);
    assert_eq!((said.code, said.err.contains("replaced ")), (0, true), "{}", said.err);
    for args in [&["merge", "-f", "-o", &sum, &first, &second][..], &["merge", &first, &second, "-fo", &sum]]
    {
        let said = forthwith(args);
        assert_eq!(said.code, 0, "{}", said.err);
    }
    assert_eq!(forthwith(&["merge", "-o", &sum, &first, &second]).code, 2);
    assert_eq!(forthwith(&["cp", &first, &second, "-o", &sum, "-f"]).code, 2);
    output(&["cp", &first, "-f", "-o", &sum]);
}

#[test]
fn a_file_that_was_cut_off_is_read_with_recover() {
    let folder = tempfile::tempdir().expect("a folder");
    let (whole, cut) = (std::fs::read(file("zmumu.root")).expect("a file"), at(&folder, "cut.root"));
    std::fs::write(&cut, &whole[..whole.len() * 9 / 10]).expect("written");
    let said = forthwith(&["ls", &cut]);
    assert_eq!(said.code, 1, "{}", said.err);
    assert!(said.err.contains("the file was cut off: ") && said.err.contains("--recover"), "{}", said.err);
    for args in [&["ls", &cut][..], &["ls", "-rl", &cut], &["cp", &cut, &at(&folder, "saved.root")]] {
        let said = forthwith(&[args, &["--recover"]].concat());
        assert_eq!(said.code, 0, "{args:?}: {}", said.err);
        assert!(said.err.contains("was read from record to record"), "{}", said.err);
    }
}
