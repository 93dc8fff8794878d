//! `head`, `tail`, and what is typed for short.

use crate::{file, forthwith, output};

#[test]
fn tail_is_the_end_of_what_head_prints() {
    for (target, column) in
        [("zmumu.root:events", "nMuon"), ("avro/nested.avro", "*"), ("parquet/plain.parquet", "*")]
    {
        let target = file(target);
        let args = ["-f", column, "--jsonl", "--nan", "null"];
        let all = output(&[&["head", &target, "-n", "1000000"][..], &args].concat());
        let lines: Vec<&str> = all.lines().collect();
        for n in [0, 1, 3, lines.len() + 5] {
            let last = output(&[&["tail", &target, "-n", &n.to_string()][..], &args].concat());
            let expected = &lines[lines.len() - n.min(lines.len())..];
            assert_eq!(last.lines().collect::<Vec<_>>(), expected, "{target} {n}");
        }
    }
    insta::assert_snapshot!(output(&["tail", &file("zmumu.root:events"), "-2", "-b", "run,nMuon"]), @r"
    entry     run  nMuon
    3,598  316002      2
    3,599  316002      2
    ");
}

/// A tree whose first entries were dropped begins where its baskets do.
#[test]
fn entries_that_begin_late_are_the_first() {
    let said = output(&["head", &file("layout.root:first"), "-1"]);
    assert!(said.lines().nth(1).is_some_and(|line| line.trim_start().starts_with("1,000 ")), "{said}");
}

#[test]
fn numbers_of_entries_are_typed_for_short() {
    let target = file("zmumu.root:events/nMuon");
    assert_eq!(output(&["head", "-3", &target]), output(&["head", "-n", "3", &target]));
    for args in [&["head", "-n", "-3", &target][..], &["head", "-n-3", &target]] {
        let said = forthwith(args);
        assert!(said.code == 2 && said.err.contains("forthwith tail"), "{}", said.err);
    }
}

#[test]
fn a_file_alone_is_listed() {
    let target = file("zmumu.root");
    assert_eq!(output(&[&target]), output(&["ls", &target]));
    assert_eq!(output(&[&format!("{target}:skim")]), output(&["ls", &format!("{target}:skim")]));
    let said = forthwith(&["schema.root"]);
    insta::assert_snapshot!(said.err, @r"
    forthwith: no command and no file is called schema.root
      the commands are ls, show, head, tail, cat, count, convert, explain, forth, check, demo, help
      forthwith --help says what they do
    ");
    assert_eq!((said.code, said.out.as_str()), (2, ""));
    assert_eq!(output(&["help", "tail"]), output(&["tail", "--help"]));
}
