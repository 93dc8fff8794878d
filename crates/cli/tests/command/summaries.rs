//! `stats`, `freq`, `sample` and `sniff`.

use crate::{file, forthwith, output};
use serde_json::Value;
use std::{collections::BTreeSet, fs};

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&output(args)).expect("JSON")
}

#[test]
fn columns_are_summarised_by_values_items_and_lengths() {
    let events = file("zmumu.root:events");
    insta::assert_snapshot!(output(&["stats", &events, "-b", "nMuon,Muon_pt,dataset", "--top", "1"]), @r"
    column   of       type     count              min      q25   median      q75      max     mean      std  distinct  most frequent
    nMuon             int32    3,600                0        1        2        2        6  1.74639  1.02949         7  2 (1,729)
    Muon_pt  lengths  uint64   3,600                0        1        2        2        6  1.74639  1.02949         7  2 (1,729)
    Muon_pt  items    float32  6,287          2.94922  18.2109  35.8125  43.8906      102  31.9359  16.8418     2,713  42.625 (17)
    dataset           string   3,600  DYJetsToLL_M-50                             MinBias                           2  DYJetsToLL_M-50 (2,845)
    3,600 entries
    ");
    let found =
        json(&["stats", &events, "-b", "MET_pt", "--json", "--where", "nMuon > 1", "--quantiles", "0,1"]);
    let column = &found["columns"][0];
    assert_eq!((&found["entries"], &column["count"]), (&2431.into(), &2431.into()));
    assert_eq!(column["quantiles"][1]["value"].as_f64(), Some(39.375));
    assert_eq!(column["max"].as_f64(), Some(39.375));
    let computed = json(&["stats", &events, "--compute", "leading=max(Muon_pt)", "--json"]);
    assert_eq!(computed["columns"].as_array().map(Vec::len), Some(1));
    assert_eq!(computed["columns"][0]["missing"], 580);
    assert_eq!(forthwith(&["stats", &events, "--quantiles", "2"]).code, 2);
}

#[test]
fn missing_values_and_nan_are_counted_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.csv");
    fs::write(&path, "x,name\n1.5,a\nNaN,\n,b\n-0.0,\"\u{202e}\"\n0.0,b\n").expect("room");
    let path = path.to_str().expect("a UTF-8 path");
    insta::assert_snapshot!(output(&["stats", path]), @r"
    column  type     count  missing  NaN  min  q25  median   q75       max  mean       std  distinct  most frequent
    x       float64      3        1    1    0    0       0  0.75       1.5   0.5  0.707107         2  0 (2), 1.5 (1)
    name    string       4        1         a                     \u{202e}                         3  b (2), a (1), \u{202e} (1)
    5 entries
    ");
    insta::assert_snapshot!(output(&["freq", path, "-b", "x"]), @r"
    value    count      %
    0            2  40.00
    1.5          1  20.00
    NaN          1  20.00
    missing      1  20.00
    ");
}

#[test]
fn values_are_counted() {
    let events = file("zmumu.root:events");
    insta::assert_snapshot!(output(&["freq", &events, "-b", "nMuon", "--top", "3"]), @r"
    value       count      %
    2           1,729  48.03
    1             589  16.36
    3             584  16.22
    others (4)    698  19.39
    ");
    let found = json(&["freq", &events, "--compute", "pairs=nMuon // 2", "--json"]);
    let counts =
        found[0]["values"].as_array().expect("an array").iter().filter_map(|value| value["count"].as_u64());
    assert_eq!(counts.sum::<u64>(), 3600);
}

#[test]
fn samples_are_the_same_each_time() {
    let events = file("zmumu.root:events");
    let drawn = |seed: &str, more: &[&str]| {
        output(&[&["sample", &events, "-n", "7", "--seed", seed, "-c", "event,nMuon"], more].concat())
    };
    let (one, other) = (drawn("1", &[]), drawn("2", &[]));
    assert_eq!((one.lines().count(), &one), (7, &drawn("1", &["--threads", "1"])));
    assert_ne!(one, other);
    let all: BTreeSet<String> =
        output(&["cat", &events, "-c", "event,nMuon"]).lines().map(str::to_owned).collect();
    assert!(one.lines().chain(other.lines()).all(|line| all.contains(line)));
    let cut = drawn("1", &["--where", "nMuon == 5"]);
    assert!(cut.lines().count() == 7 && cut.lines().all(|line| line.ends_with("\"nMuon\":5}")), "{cut}");
    assert_eq!(output(&["sample", &events, "-n", "5000", "-c", "run"]).lines().count(), 3600);
    assert_eq!(output(&["sample", &events, "-n", "2", "-c", "run", "--format", "csv"]).lines().count(), 3);
}

/// Damaged columns are named, the others are summarised.
#[test]
fn damage_of_one_column_leaves_the_others() {
    let mut bytes = fs::read(file("zmumu.root")).expect("the file");
    let name = b"\x07TBasket\x06MET_pt";
    let at = bytes.windows(name.len()).position(|window| window == name).expect("a basket");
    bytes[at + 60..at + 90].fill(0);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("damaged.root");
    fs::write(&path, bytes).expect("a file");
    let table = format!("{}:events", path.to_str().expect("a UTF-8 path"));
    for line in [&["stats", &table][..], &["stats", &table, "--cache"], &["freq", &table]] {
        let said = forthwith(line);
        assert_eq!(said.code, 1, "{line:?}");
        assert!(said.err.contains("events/MET_pt, basket 0"), "{}", said.err);
        assert!(said.out.contains("MET_phi") && !said.out.contains("MET_pt"), "{}", said.out);
    }
    let said = forthwith(&["stats", &table, "-b", "MET_pt,nMuon", "--json"]);
    assert_eq!(said.code, 1);
    let found: Value = serde_json::from_str(&said.out).expect("JSON");
    assert_eq!((&found["entries"], found["columns"].as_array().map(Vec::len)), (&3600.into(), Some(1)));
    let said = forthwith(&["stats", &table, "-b", "MET_pt"]);
    assert_eq!((said.code, said.out.as_str()), (1, ""));
}

#[test]
fn files_are_described_in_a_line() {
    let said = output(&["sniff", &file("zmumu.root"), &file("parquet/plain.parquet")]);
    insta::assert_snapshot!(crate::portable(&said), @r"
    zmumu.root: ROOT 6.40/00; ZSTD level 5; 395 kB; TTree events: 3,600 entries, 21 columns in 12 blocks, ratio 3.13; TTree skim/events: 694 entries, 8 columns in 2 blocks, ratio 2.15; 2 objects
    parquet/plain.parquet: Parquet 2; none; 106 kB; table: 300 entries, 29 columns in 9 blocks, ratio 1.00
    ");
    let found = json(&["sniff", "--json", &file("avro/nested.avro")]);
    assert_eq!((&found[0]["format"], &found[0]["layout"][0]["entries"]), (&"Avro".into(), &60.into()));
    assert_eq!(forthwith(&["sniff", "nowhere.root"]).code, 3);
    assert_eq!(forthwith(&["sniff", &file("zmumu.root:events")]).code, 2);
}
