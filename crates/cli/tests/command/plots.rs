//! Pictures of branches, the classes of a file, completions, and regular expressions in filters.

use crate::{file, forthwith, output};
use std::process::Command;

#[test]
fn branches_are_drawn_with_what_is_outside() {
    let said = output(&["plot", &file("zmumu.root:events/MET_pt"), "--bins", "20", "--range", "0,30"]);
    assert!(said.starts_with("MET_pt of 3,600 entries; not shown: "), "{said}");
    assert!(said.contains(" above"), "{said}");
    assert!(said.lines().count() > 16, "{said}");
    // All values, whatever the lists around them.
    let lists = output(&["plot", &file("zmumu.root:events"), "-b", "Track_hits,nMuon", "-n", "100"]);
    assert!(lists.contains("Track_hits of 100 entries") && lists.contains("nMuon of 100 entries"), "{lists}");
}

#[test]
fn every_value_is_counted() {
    let said = output(&["plot", &file("zmumu.root:events/nMuon"), "--bins", "1", "--range", "-1,1000"]);
    assert!(said.starts_with("nMuon of 3,600 entries\n"), "{said}");
}

#[test]
fn objects_are_drawn_as_by_show() {
    for object in ["histograms.root:h1d", "efficiencies.root"] {
        let name =
            if object.contains(':') { object.to_owned() } else { format!("{object}:{}", first(object)) };
        assert_eq!(output(&["plot", &file(&name)]), output(&["show", &file(&name)]));
    }
}

#[test]
fn graphs_and_efficiencies_are_drawn() {
    let graph = output(&["show", &file("histograms.root:points")]);
    assert!(graph.contains('•') && graph.contains("4 points"), "{graph}");
    let efficiency = output(&["show", &file("histograms.root:efficiency")]);
    assert!(efficiency.contains('█') && efficiency.contains('└'), "{efficiency}");
    // Members are there for programs.
    assert!(output(&["show", "--json", &file("histograms.root:points")]).contains("fX"));
}

/// The name of the first object of a file.
fn first(name: &str) -> String {
    let listed = output(&["ls", "--json", &file(name)]);
    let keys: serde_json::Value = serde_json::from_str(&listed).expect("JSON");
    keys[0]["path"].as_str().expect("a path").to_owned()
}

#[test]
fn what_has_no_numbers_is_said() {
    let said = forthwith(&["plot", &file("zmumu.root:events/dataset")]);
    assert_eq!((said.code, said.out.as_str()), (2, ""));
    assert!(said.err.contains("dataset has no numbers to draw"), "{}", said.err);
    let said = forthwith(&["plot", &file("zmumu.root:events")]);
    assert_eq!(said.code, 2, "{}", said.err);
    for range in ["5,1", "nan,1", "1", "0,inf"] {
        let said = forthwith(&["plot", &file("zmumu.root:events/MET_pt"), "--range", range]);
        assert!(said.code == 2 && said.err.contains("no range"), "{range}: {}", said.err);
    }
    for flags in [&["-b", "nothing"][..], &["-f", "*"], &["--bins", "3"], &["-n", "3"], &["--range", "0,1"]] {
        let said = forthwith(&[&["plot", &file("zmumu.root:mass")], flags].concat());
        assert!(said.code == 2 && said.err.contains("mass is a TH1F: -b"), "{flags:?}: {}", said.err);
    }
}

#[test]
fn classes_are_listed_with_their_members() {
    let said = output(&["streamers", &file("objects.root"), "-f", "/T(Named|Object)$/"]);
    assert!(said.contains("TNamed version 1, checksum 0xdfb74a3c\n  TObject"), "{said}");
    assert!(said.contains("TString  fName"), "{said}");
    let listed = output(&["streamers", "--json", &file("objects.root")]);
    let classes: serde_json::Value = serde_json::from_str(&listed).expect("JSON");
    let named = classes.as_array().expect("an array").iter().find(|class| class["class"] == "TNamed");
    assert_eq!(named.expect("TNamed")["members"][0]["is_base"], true);
    let said = forthwith(&["streamers", &file("parquet/empty.parquet")]);
    assert!(said.code == 4 || said.code == 3, "{}", said.err);
}

#[test]
fn filters_take_regular_expressions() {
    let names = |filter: &str| {
        let said = output(&["show", "--json", &file("zmumu.root:events"), "-f", filter]);
        let tree: serde_json::Value = serde_json::from_str(&said).expect("JSON");
        tree["branches"].as_array().expect("branches").len()
    };
    assert_eq!(names("/Muon_(pt|eta)$/"), 2);
    assert_eq!(names("/muon_/i"), names("Muon_*"));
    let said = forthwith(&["show", &file("zmumu.root:events"), "-f", "/(/"]);
    assert!(said.code == 2 && said.err.contains("no regular expression"), "{}", said.err);
    let said = forthwith(&["show", &file("zmumu.root:events"), "-f", "/nothing/"]);
    assert_eq!(said.code, 3, "{}", said.err);
}

#[test]
fn completions_know_every_command() {
    let help = output(&["--help"]);
    let verbs = help.lines().skip_while(|line| !line.starts_with("Commands:")).skip(1);
    let verbs: Vec<&str> = verbs
        .take_while(|line| !line.is_empty())
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(verbs.len() > 12, "{help}");
    for shell in ["bash", "zsh", "fish"] {
        let script = output(&["completions", shell]);
        for verb in &verbs {
            assert!(script.contains(verb), "{shell}: {verb}");
        }
        assert!(script.contains("block-entries"), "{shell}");
    }
}

/// What bash completes, where there is one.
#[test]
fn bash_completes() {
    let script = output(&["completions", "bash"]);
    for (words, wanted) in [
        (&["forthwith", "he"][..], &["head", "help"][..]),
        (&["forthwith", "ls", "--rec"], &["--recursive"]),
        (&["forthwith", "ls", "--color", "a"], &["auto", "always"]),
        (&["forthwith", "completions", "z"], &["zsh"]),
        (&["forthwith", "forth", "st"], &["step"]),
    ] {
        let line = format!(
            "{script}\ncd /; COMP_WORDS=({}); COMP_CWORD={}; _forthwith; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            words.join(" "),
            words.len() - 1
        );
        let Ok(done) = Command::new("bash").args(["-u", "-c", &line]).output() else { return };
        let found = String::from_utf8_lossy(&done.stdout);
        for word in wanted {
            assert!(found.lines().any(|line| line == *word), "{words:?}: {found}{done:?}");
        }
    }
}
