//! Text from a file cannot steer the terminal, whichever way it is printed.

use crate::{forthwith, on};
use ::forthwith::{
    columns::{Array, Column, Form, is_unsafe_to_show},
    plan::WriteOptions,
};
use forthwith_cli::Terminal;

/// An escape sequence, the C1 character that begins one, line separators, marks of direction.
const HOSTILE: &str = "a\u{1b}[2J\u{9b}31m\u{7f}\u{85}\u{61c}\u{200e}\u{2028}\u{202e}\u{2066}z";

#[test]
fn names_and_values_are_escaped_in_every_answer() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("hostile.parquet");
    let path = path.to_str().expect("UTF-8");
    let form = Form::String { key: "s".into(), binary: false };
    let columns = vec![
        ("s-offsets".to_owned(), Column::from_slice(&[0i64, HOSTILE.len() as i64])),
        ("s-data".to_owned(), Column::from_slice(HOSTILE.as_bytes())),
    ];
    let array = Array { form: form.clone(), length: 1, columns };
    let mut writer =
        ::forthwith::create(path, &[(HOSTILE.to_owned(), form)], &WriteOptions::default()).expect("a file");
    writer.write(&[array]).expect("room");
    writer.finish().expect("room");
    for args in [
        &["ls", path][..],
        &["ls", "--json", path],
        &["show", path],
        &["show", "--json", path],
        &["head", path],
        &["head", "--json", path],
        &["head", "--jsonl", path],
        &["explain", path],
        &["explain", "--json", path],
        &["demo", path, "--limit", "1"],
        &["head", path, "-b", HOSTILE, "-b", "\u{9b}"],
        &["show", path, "-f", "\u{9b}"],
        &["ls", "no\u{9b}file"],
    ] {
        for terminal in [Terminal::default(), Terminal { width: Some(80), color: false }] {
            let said = on(terminal, args);
            for c in said.out.chars().chain(said.err.chars()) {
                assert!(c == '\n' || !is_unsafe_to_show(c), "{args:?} printed {c:?}");
            }
        }
    }
    for format in ["csv", "jsonl"] {
        let person = on(Terminal { width: Some(80), color: false }, &["cat", path, "--format", format]);
        assert!(person.out.lines().count() > 0, "{}", person.err);
        for c in person.out.chars() {
            assert!(c == '\n' || !is_unsafe_to_show(c), "{format} printed {c:?}");
        }
    }
    // A program gets the bytes as they are.
    assert!(forthwith(&["cat", path, "--format", "csv"]).out.contains(HOSTILE));
    // Escaped, the values are the same.
    let said = forthwith(&["head", "--jsonl", path]);
    let row: serde_json::Value = serde_json::from_str(&said.out).expect("JSON");
    assert_eq!(row[HOSTILE], HOSTILE);
}
