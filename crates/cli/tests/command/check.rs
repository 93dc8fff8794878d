//! `forthwith check`.

use crate::{file, forthwith, output};

#[test]
fn sound_files_pass() {
    let said = forthwith(&["check", &file("zmumu.root")]);
    assert_eq!((said.code, &*said.err), (0, ""), "{}", said.out);
    assert!(said.out.starts_with("sound: "), "{}", said.out);
    let report: serde_json::Value =
        serde_json::from_str(&output(&["check", "--json", &file("zmumu.root")])).expect("JSON");
    assert_eq!(report["verdict"], "sound");
    assert_eq!(report["findings"].as_array().map(Vec::len), Some(0));
    assert!(report["branches"].as_u64() > Some(5));
}

#[test]
fn damage_is_named_and_gives_another_exit_code() {
    let whole = std::fs::read(file("zmumu.root")).expect("a bundled file");
    let folder = tempfile::tempdir().expect("a folder for the test");
    let path = folder.path().join("cut.root");
    std::fs::write(&path, &whole[..whole.len() / 2]).expect("room for it");
    let path = path.to_str().expect("a UTF-8 path");
    let said = forthwith(&["check", path]);
    assert_eq!(said.code, 1, "{}", said.out);
    assert!(said.out.contains("damage: header at byte"), "{}", said.out);
    assert!(said.err.contains("did not pass the check"), "{}", said.err);
    let said = forthwith(&["check", "--json", path]);
    let report: serde_json::Value = serde_json::from_str(&said.out).expect("JSON");
    assert_eq!((said.code, &report["verdict"]), (1, &"damaged".into()));
}

#[test]
fn parts_are_counted_in_words() {
    let said = output(&["check", &file("avro/nested.avro")]);
    assert!(
        said.starts_with("sound: 1 block, 60 entries, 13 columns, ") && !said.contains("decompressed"),
        "{said}"
    );
}

#[test]
fn objects_are_not_checked_alone() {
    for verb in ["check", "streamers"] {
        let said = forthwith(&[verb, &file("zmumu.root:events")]);
        assert!(said.code == 2 && said.err.contains("a whole file: leave out :events"), "{}", said.err);
    }
}

#[test]
fn files_that_are_one_table_are_checked() {
    for (name, part) in [("parquet/checksums.parquet", "row groups"), ("avro/codec-snappy.avro", "blocks")] {
        let said = forthwith(&["check", &file(name)]);
        assert_eq!((said.code, &*said.err), (0, ""), "{}", said.out);
        assert!(said.out.starts_with("sound: ") && said.out.contains(part), "{}", said.out);
    }
    let mut bytes = std::fs::read(file("parquet/checksums.parquet")).expect("a bundled file");
    bytes[100] ^= 1;
    let folder = tempfile::tempdir().expect("a folder for the test");
    let path = folder.path().join("damaged.parquet");
    std::fs::write(&path, bytes).expect("room for it");
    let said = forthwith(&["check", path.to_str().expect("a UTF-8 path")]);
    assert_eq!(said.code, 1, "{}", said.out);
    assert!(said.out.starts_with("damage: "), "{}", said.out);
}

#[test]
fn other_exit_codes() {
    assert_eq!(forthwith(&["check", "no-such-file.root"]).code, 3);
    assert_eq!(forthwith(&["check"]).code, 2);
    assert_eq!(forthwith(&["check", &file("canonical.py")]).code, 3);
}
