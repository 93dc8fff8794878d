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
    forthwith: there is no command and no file called schema.root
      the commands are
        ls, browse, view, show, head, tail, cat, dump, count, stats, freq, sample, sniff, schema, diff,
        gen, convert, merge, cp, split, recompress, recover, explain, forth, check, index, plot,
        streamers, demo, mcp, bench, completions, man, help
      forthwith --help says what they do
    ");
    assert_eq!((said.code, said.out.as_str()), (2, ""));
    assert_eq!(output(&["help", "tail"]), output(&["tail", "--help"]));
}

#[test]
fn names_of_other_tools_lead_to_commands() {
    for (elsewhere, here) in [("hadd", "merge"), ("rootls", "ls"), ("scan", "head"), ("meta", "schema")] {
        let said = forthwith(&[elsewhere, "a.root", "b.root"]);
        assert_eq!(said.code, 2);
        assert!(said.err.contains(&format!("\n  it is forthwith {here}\n")), "{}", said.err);
        assert!(output(&["help", here]).contains("Usage: forthwith"));
    }
}

#[test]
fn schemas_are_printed() {
    let avro: serde_json::Value =
        serde_json::from_str(&output(&["schema", &file("avro/nested.avro")])).expect("JSON");
    assert_eq!(avro["type"], "record");
    let lines = output(&["schema", &file("zmumu.root:events")]);
    assert!(lines.contains("Muon_pt: var * float32\n"), "{lines}");
    let rows: serde_json::Value =
        serde_json::from_str(&output(&["schema", "--json", &file("parquet/plain.parquet")])).expect("JSON");
    assert!(rows.as_array().is_some_and(|rows| rows.iter().any(|row| row["array"] == "int32")), "{rows}");
}

/// Names that are no text, and schemes that there are none of.
#[test]
#[cfg(target_os = "linux")]
fn any_name_of_a_file_will_do() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt, process::Command};
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(OsStr::from_bytes(b"not \xff text.root"));
    std::fs::copy(file("zmumu.root"), &path).expect("room");
    for verb in [&["ls"][..], &["check"], &["demo", "--limit", "1"], &[]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_forthwith"));
        let said = command.args(verb).arg(&path).output().expect("the command");
        assert!(said.status.success(), "{verb:?}: {}", String::from_utf8_lossy(&said.stderr));
    }
    let said = forthwith(&["ls", "nowhere://example.org/a.root"]);
    assert!(said.code == 4 && said.err.contains("nowhere"), "{}", said.err);
}

#[test]
fn several_files_are_answered_for_one_by_one() {
    let (root, avro) = (file("zmumu.root:events"), file("avro/nested.avro"));
    for verb in ["show", "head", "explain", "schema"] {
        let said = output(&[verb, &root, &avro]);
        for (target, first) in [(&root, true), (&avro, false)] {
            let alone = output(&[verb, target]);
            assert!(said.contains(&format!("{target}\n{alone}")), "{verb} {first}:\n{said}");
        }
        if verb == "schema" {
            continue;
        }
        let json: serde_json::Value =
            serde_json::from_str(&output(&[verb, "--json", &root, &avro])).expect("JSON");
        assert_eq!((json[0]["file"].is_string(), json.as_array().map(Vec::len)), (true, Some(2)));
        let alone: serde_json::Value = serde_json::from_str(&output(&[verb, "--json", &avro])).expect("JSON");
        assert_eq!(json[1]["answer"], alone, "{verb}");
    }
    // One that is not there does not keep the other from being looked at.
    let said = forthwith(&["check", "no-such-file.root", &file("zmumu.root")]);
    assert!(said.code == 3 && said.out.contains("sound"), "{} {}", said.code, said.out);
    let said = forthwith(&["ls", "--json", "no-such-file.root", &avro]);
    let json: serde_json::Value = serde_json::from_str(&said.out).expect("JSON all the same");
    assert!(said.code == 3 && json[0]["answer"].is_null() && json[1]["answer"].is_array(), "{json}");
    assert_eq!(output(&["count", &root, &avro]), format!("3600\t{root}\n60\t{avro}\n"));
    assert_eq!(output(&["count", &root]), "3600\n");
}
