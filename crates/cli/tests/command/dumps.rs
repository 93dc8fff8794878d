//! `dump` and `bench`.

use crate::{file, forthwith, output};
use serde_json::Value;

#[test]
fn objects_and_entries_are_printed_with_their_types() {
    let said = output(&["dump", &file("zmumu.root"), "-n", "1", "-c", "run,Muon_pt,Muon_charge"]);
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines.contains(&"mass;2 TH1F") && lines.contains(&"skim;1 TDirectory"), "{said}");
    insta::assert_snapshot!(said.split_once("events: 3,600").map_or("", |(_, rest)| rest.split_once("skim").map_or("", |(first, _)| first)), @r"
     entries
      run: uint32
      Muon_pt: var * float32
      Muon_charge: var * int32
    [0] run: 316000
    [0] Muon_pt: [53.28125, 42.875]
    [0] Muon_charge: [-1, 1]
    ");
    let all = output(&["dump", &file("zmumu.root:events"), "-c", "run"]);
    assert_eq!(all.lines().filter(|line| line.starts_with('[')).count(), 3600);
    // All items, however many.
    let histogram = output(&["dump", &file("zmumu.root:mass")]);
    assert!(!histogram.contains('…') && histogram.contains("(62 numbers)"), "{histogram}");
}

#[test]
fn dumps_are_lines_of_json() {
    let said = output(&["dump", &file("zmumu.root"), "-n", "2", "--json", "-c", "run"]);
    let rows: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let entries = rows.iter().filter(|row| row["path"] == "events" && row["values"]["run"] == 316_000);
    assert_eq!(entries.count(), 2);
    assert_eq!(rows.iter().filter(|row| row["class"] == "TH1F" && row["members"].is_object()).count(), 2);
    let one = output(&["dump", &file("avro/nested.avro"), "-n", "3", "--json"]);
    assert_eq!(one.lines().count(), 3);
    assert_eq!(forthwith(&["dump", &file("zmumu.root:nothing")]).code, 3);
}

#[test]
fn parts_of_reading_are_measured() {
    for (target, parts) in [("zmumu.root:events", 6), ("avro/nested.avro", 0)] {
        let said = output(&["bench", &file(target), "--rounds", "1", "--json"]);
        let report: Value = serde_json::from_str(&said).expect("JSON");
        let found = report["parts"].as_array().expect("an array");
        assert!(parts == 0 || found.len() == parts, "{said}");
        let arrays: Vec<&Value> = found.iter().filter(|part| part["part"] == "all together").collect();
        assert!(arrays.len() == 2 && arrays[0]["bytes"] == arrays[1]["bytes"], "{said}");
        assert!(found.iter().all(|part| part["bytes_per_second"].as_f64() >= Some(0.0)), "{said}");
    }
    assert_eq!(forthwith(&["bench", &file("zmumu.root:events"), "-b", "nothing"]).code, 3);
}
