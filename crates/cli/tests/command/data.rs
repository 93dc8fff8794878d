//! Every command on a file of collisions.

use crate::{file, forthwith, on, output, portable};
use forthwith_cli::Terminal;
use serde_json::Value;

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&output(args)).expect("--json prints JSON")
}

#[test]
fn ls_lists_objects() {
    insta::assert_snapshot!(output(&["ls", &file("zmumu.root")]), @r"
        name      class        stored  title
        mass;2    TH1F          447 B  opposite-charge pairs
        mass;1    TH1F          439 B  opposite-charge pairs
        events;1  TTree       2.88 kB  simulated collisions
        skim/     TDirectory    124 B  events with two muons
        ");
    insta::assert_snapshot!(output(&["ls", "-rl", &file("zmumu.root")]), @r"
        name           class        stored  decompressed  entries  title
        mass;2         TH1F          447 B         817 B           opposite-charge pairs
        mass;1         TH1F          439 B         817 B           opposite-charge pairs
        events;1       TTree       2.88 kB       12.3 kB    3,600  simulated collisions
        skim/          TDirectory    124 B          60 B           events with two muons
        skim/events;1  TTree         851 B       4.45 kB      694  simulated collisions
        ");
}

#[test]
fn ls_lists_one_directory_or_one_object() {
    let listed = json(&["ls", "--json", "-l", &file("zmumu.root:skim")]);
    assert_eq!(listed[0]["path"], "events");
    assert_eq!(listed[0]["entries"], 694);
    let one = json(&["ls", "--json", &file("zmumu.root:mass;1")]);
    assert_eq!((&one[0]["cycle"], &one[0]["class"]), (&1.into(), &"TH1F".into()));
    assert_eq!(one.as_array().map(Vec::len), Some(1));
    assert!(one[0].get("entries").is_none(), "trees are opened only in the long form");
}

#[test]
fn show_lists_branches() {
    insta::assert_snapshot!(portable(&output(&["show", &file("zmumu.root:events"), "-f", "Muon_*", "-f", "Track_*"])), @r"
        events 3,600 entries in zmumu.root

        branch          type                                          decoder  baskets   stored  decompressed  ratio
        Muon_pt         float[nMuon]                                  kernel         9  23.7 kB       40.3 kB   1.70
        Muon_eta        float[nMuon]                                  kernel         9  25.3 kB       40.3 kB   1.59
        Muon_phi        float[nMuon]                                  kernel         9  25.1 kB       40.3 kB   1.61
        Muon_charge     int32_t[nMuon]                                kernel         9  9.40 kB       40.3 kB   4.29
        Muon_tightId    bool[nMuon]                                   kernel         6  7.81 kB       21.2 kB   2.72
        Track_hits      std::vector<std::vector<float>>               program        7  49.3 kB        177 kB   3.58
        Track_clusters  std::vector<std::vector<std::vector<float>>>  program        9   102 kB        297 kB   2.92

        7 branches: 5 by kernels, 2 by programs
        242 kB stored, 656 kB decompressed, ratio 2.71
        ");
    let shown = json(&["show", "--json", &file("zmumu.root:events")]);
    assert_eq!(shown["entries"], 3600);
    let branches = shown["branches"].as_array().expect("an array");
    assert_eq!(branches.len(), 21);
    let hits = branches.iter().find(|b| b["path"] == "Track_hits").expect("the branch");
    assert_eq!(hits["decoder"], "program");
    assert_eq!(hits["array"], "var * var * float32");
}

#[test]
fn show_of_a_branch_is_that_branch() {
    let shown = json(&["show", "--json", &file("zmumu.root:events/nPV")]);
    assert_eq!(shown["branches"].as_array().map(Vec::len), Some(1));
}

#[test]
fn head_prints_entries() {
    let target = file("zmumu.root:events");
    insta::assert_snapshot!(output(&["head", &target, "-n", "3", "-b", "run,nMuon,Muon_pt", "-b", "dataset"]), @r"
        entry     run  nMuon  Muon_pt               dataset
            0  316000      2  [53.28125, 42.875]    'DYJetsToLL_M-50'
            1  316000      0  []                    'MinBias'
            2  316000      2  [46.90625, 46.84375]  'DYJetsToLL_M-50'
        ");
    insta::assert_snapshot!(output(&["head", &target, "-n", "2", "-f", "Muon_[pe]*", "--jsonl"]), @r#"
        {"Muon_pt":[53.28125,42.875],"Muon_eta":[-0.8076172,-1.1435547],"Muon_phi":[0.58203125,-1.8974609]}
        {"Muon_pt":[],"Muon_eta":[],"Muon_phi":[]}
        "#);
    assert_eq!(
        json(&["head", &target, "-n", "2", "-b", "nMuon", "--json"]),
        serde_json::json!([{"nMuon": 2}, {"nMuon": 0}])
    );
    assert_eq!(
        json(&["head", &file("zmumu.root:skim/events/nMuon"), "--json", "-n", "0"]),
        serde_json::json!([])
    );
}

#[test]
fn head_stops_where_the_tree_does() {
    let lines = output(&["head", &file("zmumu.root:skim/events/nMuon"), "-n", "1000000", "--jsonl"]);
    assert_eq!(lines.lines().count(), 694);
}

#[test]
fn head_fits_a_terminal_and_says_what_it_leaves_out() {
    let said =
        on(Terminal { width: Some(72), color: false }, &["head", &file("zmumu.root:events"), "-n", "2"]);
    assert_eq!(said.code, 0);
    assert!(said.out.lines().all(|line| line.chars().count() <= 72), "{}", said.out);
    assert!(said.err.contains("of 21 branches shown"), "{}", said.err);
    let piped = forthwith(&["head", &file("zmumu.root:events"), "-n", "2"]);
    assert_eq!(piped.err, "");
    assert!(piped.out.contains("generator"), "without a terminal nothing is left out");
}

#[test]
fn explain_says_how_and_why() {
    insta::assert_snapshot!(output(&["explain", &file("zmumu.root:events/Track_hits")]), @r"
        Track_hits  std::vector<std::vector<float>>
          decoder  program (AwkwardForth, 19 lines)
          because  byte counts and lists
          array    var * var * float32
          columns  node0-offsets int64, node1-offsets int64, node2-data float32
          plan     3,600 entries: 7 tasks, 49.3 kB stored, 177 kB decompressed
        ");
    let explained = json(&["explain", "--json", &file("zmumu.root:events"), "-f", "Muon_pt"]);
    assert_eq!(explained[0]["decoder"], "kernel");
    assert_eq!(explained[0]["columns"][0]["dtype"], "int64");
    assert_eq!(explained[0]["plan"]["entries"], 3600);
}

#[test]
fn forth_prints_a_program_and_nothing_else() {
    let target = file("zmumu.root:events/Track_hits");
    let program = output(&["forth", &target]);
    assert!(forthwith::forth::Compiled::new(&program).is_ok());
    let explained = output(&["forth", &target, "--explain"]);
    let remarks = explained.strip_prefix(&program).expect("the program comes first");
    assert!(!remarks.is_empty() && remarks.lines().all(|line| line.starts_with('\\')), "{remarks}");
    assert!(forthwith::forth::Compiled::new(&explained).is_ok(), "explanations are comments");
}

#[test]
fn demo_shows_the_peak() {
    let said = forthwith(&["demo", &file("zmumu.root"), "--threads", "1"]);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    for part in [
        "Tree events\n  3,600 entries, 21 branches",
        "A list an entry: Muon_pt\n  in file   float[nMuon]\n  array     3600 * var * float32",
        "Nested data: Track_hits",
        "output node2-data float32",
        "mass of 3,248 pairs of muons of opposite charge",
        "mass of two muons [GeV]",
        "the Z boson",
        "21 branches (16 by kernels, 5 by programs), all of 3,600 entries, 1 thread\n",
        "/s of stored bytes",
    ] {
        assert!(said.out.contains(part), "{part} is not in\n{}", said.out);
    }
}

#[test]
fn demo_takes_the_tree_it_is_told() {
    let out = output(&["demo", &file("zmumu.root:skim/events"), "--limit", "0"]);
    assert!(out.contains("Tree skim/events\n  694 entries"), "{out}");
    assert!(out.contains("stopped after"), "{out}");
}

#[test]
fn colours_are_only_colours() {
    let args = ["show", &file("zmumu.root:events"), "--color", "always"];
    let coloured = output(&args);
    assert!(coloured.contains("\u{1b}[32mkernel\u{1b}[0m"));
    let mut plain = String::new();
    let mut rest = coloured.as_str();
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        plain.push_str(before);
        rest = after.split_once('m').expect("a whole escape sequence").1;
    }
    assert_eq!(plain + rest, output(&["show", &file("zmumu.root:events")]));
}
