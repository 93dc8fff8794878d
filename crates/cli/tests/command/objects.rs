//! Objects that are no trees.

use crate::{file, forthwith, on, output, portable};
use forthwith_cli::Terminal;
use serde_json::Value;

#[test]
fn histograms_are_drawn() {
    insta::assert_snapshot!(portable(&output(&["show", &file("zmumu.root:mass")])), @r"
    mass TH1F: opposite-charge pairs in zmumu.root

        │                              ▅█
    400 ┤                              ██
        │                              ██
        │                              ██▂
        │                              ███
        │                             ▇███
    200 ┤                             ████
        │                             ████▁
        │                            ▃█████
        │                           ▄██████▄
        │                          ▂████████▅
        │▁▁▁▂▁▂▁▁▂▂▁▁▁▁▁▁▁▁▃▂▂▃▃▄▇▅██████████▆▄▄▄▂▂▃▂▁▁▁▁▁▁▁▁▁▁▁▁▁▁
      0 └┬───────────────────┬───────────────────┬───────────────────
         60                 80                  100                 120
                               m(#mu#mu) [GeV]

    3,248 entries, mean 90.59, std dev 6.478 (by bins), integral 2,304, 896 below, 48 above
    ");
    insta::assert_snapshot!(portable(&output(&["show", &file("histograms.root:two")])), @r"
    two TH2F: two in histograms.root

     2 ┤▒▒▒▒▒▒▒▒▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▒▒▒▒▒▒▒▒
     0 ┤▒▒▒▒▒▒▒▒████████████████▒▒▒▒▒▒▒▒
    -2 ┤░░░░░░░░▒▒▒▒▒▒▒▒▓▓▓▓▓▓▓▓░░░░░░░░
       └┬───────────────┬───────────────
        -2              0               2

    ░ from 0  ▒ from 7.250  ▓ from 14.50  █ from 21.75

    200 entries, integral 169
    ");
    insta::assert_snapshot!(portable(&output(&["show", &file("histograms.root:labels")])), @r"
    labels TH1D: labels in histograms.root

    3 ┤                ████████
      │                ████████
      │                ████████
      │                ████████
    2 ┤        ████████████████
      │        ████████████████
      │        ████████████████
      │        ████████████████
    1 ┤████████████████████████
      │████████████████████████
      │████████████████████████
      │████████████████████████
    0 └┬───────────────┬───────
       0               2


    bins: 1 red, 2 green, 3 blue
    3 entries, mean 1.833, std dev 0.7454 (by bins), integral 6, 0 below, 0 above
    ");
    let three = output(&["show", &file("histograms.root:three")]);
    assert!(three.contains("sums along the third axis"), "{three}");
}

/// Two dimensions are drawn as two: what is drawn of the projection differs.
#[test]
fn two_dimensions_are_no_projection() {
    for name in ["two", "profile2"] {
        let drawn = output(&["show", &file(&format!("histograms.root:{name}"))]);
        assert!(drawn.contains('░') && drawn.contains('█') && drawn.contains("from"), "{drawn}");
        assert!(drawn.lines().filter(|line| line.contains(['░', '▒', '▓', '█'])).count() >= 3, "{drawn}");
    }
}

/// Buffered entries are drawn in their bins, unless ROOT's rule for the range of the axes is not known.
#[test]
fn buffered_entries_are_in_their_bins() {
    let keys: Value = serde_json::from_str(&output(&["ls", "--json", &file("buffered.root")])).expect("JSON");
    let keys = keys.as_array().expect("an array");
    assert_eq!(keys.len(), 41);
    for key in keys {
        let path = key["path"].as_str().expect("a text");
        let drawn = output(&["show", &file(&format!("buffered.root:{path}"))]);
        let note = "buffered entries are not in the bins: ROOT makes the y axis infinite\n";
        assert_eq!(drawn.ends_with(note), path == "endless", "{path}: {drawn}");
    }
    let drawn = output(&["show", &file("buffered.root:oneI")]);
    assert!(drawn.contains("\n64 entries, mean 0.02041, std dev 1.053 (by bins)"), "{drawn}");
}

#[test]
fn other_objects_are_their_members() {
    insta::assert_snapshot!(portable(&output(&["show", &file("histograms.root:listed")])), @r"
    listed TList: Doubly linked list in histograms.root

    [0]              TNamed
      fUniqueID        0
      fBits            0
      fName            'shared'
      fTitle           'one object'
    [1]              TObjString
      fUniqueID        0
      fBits            0
      fString          'text'
    [2]              TNamed
      fUniqueID        0
      fBits            0
      fName            'shared'
      fTitle           'one object'
    ");
    let json: Value =
        serde_json::from_str(&output(&["show", "--json", &file("histograms.root:points")])).expect("JSON");
    assert_eq!((&json["class"], &json["members"]["fNpoints"]), (&"TGraph".into(), &4.into()));
    assert_eq!(json["members"]["fX"].as_array().map(Vec::len), Some(4));
}

/// Every object of the test files: a picture, members, or an error; at any width, as text and as JSON.
#[test]
fn every_object_is_shown() {
    let folder = crate::root().join("tests/data");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).expect("the test data").filter_map(Result::ok) {
        let name = entry.file_name().into_string().expect("UTF-8");
        if !name.ends_with(".root") {
            continue;
        }
        let keys: Value = serde_json::from_str(&output(&["ls", "-r", "--json", &file(&name)])).expect("JSON");
        for key in keys.as_array().expect("an array") {
            if key["is_table"] == true || key["is_directory"] == true {
                continue;
            }
            let target = format!("{}:{}", file(&name), key["path"].as_str().expect("a path"));
            for width in [40, 120] {
                let said = on(Terminal { width: Some(width), color: false }, &["show", &target]);
                assert!(said.code == 0 || said.code == 4 || said.code == 1, "{target}: {}", said.err);
            }
            let said = forthwith(&["show", "--json", &target]);
            if said.code == 0 {
                serde_json::from_str::<Value>(&said.out).expect("JSON");
                seen += 1;
            }
        }
    }
    assert!(seen > 100, "{seen}");
}

#[test]
fn commands_for_tables_say_how_to_see_an_object() {
    for verb in ["head", "explain", "count", "tail"] {
        let said = forthwith(&[verb, &file("zmumu.root:mass")]);
        assert!(said.code == 2 && said.err.contains("forthwith show"), "{}", said.err);
    }
    let said = output(&["demo", &file("buffered.root")]);
    assert!(said.contains("Histogram ") && said.contains('└'), "{said}");
}
