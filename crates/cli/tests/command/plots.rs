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

#[test]
fn graphs_are_pictures_and_json() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("graphs.svg");
    let name = path.to_str().expect("UTF-8");
    for (objects, dots, legends) in [
        (&["points"][..], 4, &[][..]),
        (&["errors", "asymmetric"], 8, &["errors", "asymmetric"]),
        (&["bent"], 4, &[]),
        (&["many"], 4, &[]),
    ] {
        let files: Vec<String> =
            objects.iter().map(|object| file(&format!("histograms.root:{object}"))).collect();
        let mut line = vec!["plot", "-o", name, "--force"];
        line.extend(files.iter().map(String::as_str));
        output(&line);
        let picture = std::fs::read_to_string(&path).expect("a picture");
        assert!(picture.starts_with("<svg") && picture.matches('Z').count() == dots, "{picture}");
        assert!(legends.iter().all(|legend| picture.contains(&format!(">{legend}<"))), "{picture}");
        for file in &files {
            let json: serde_json::Value =
                serde_json::from_str(&output(&["plot", "--json", file])).expect("JSON");
            let graph = &json[0];
            let count = graph["x"].as_array().expect("points").len();
            assert_eq!(graph["y"].as_array().map(Vec::len), Some(count));
            let has_errors = objects != ["points"];
            assert_eq!(
                graph["y_errors"]["low"].as_array().map(Vec::len),
                has_errors.then_some(count),
                "{json}"
            );
        }
    }
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
        assert!(said.code == 2 && said.err.contains("invalid range"), "{range}: {}", said.err);
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
    assert!(said.code == 2 && said.err.contains("not a regular expression"), "{}", said.err);
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

/// A shell that finds the command.
fn with_command(shell: &str) -> Command {
    let binary = std::path::Path::new(env!("CARGO_BIN_EXE_forthwith"));
    let mut command = Command::new(shell);
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{}:{path}", binary.parent().expect("a folder").display()));
    command
}

#[test]
fn candidates_are_objects_and_columns_and_errors_are_silent() {
    let zmumu = file("zmumu.root");
    let lines = |args: &[&str]| output(args).lines().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(lines(&["__complete", &format!("{zmumu}:s")]), [format!("{zmumu}:skim/")]);
    assert_eq!(lines(&["__complete", &format!("{zmumu}:events/nM")]), [format!("{zmumu}:events/nMuon")]);
    assert_eq!(lines(&["__complete", "--of", &format!("{zmumu}:events"), "--", "nM"]), ["nMuon"]);
    for word in ["", ":", "a:b", "none.root:x", "https://host.invalid/a.root:x", "-:x", "\u{e9}:\u{e9}"] {
        assert_eq!(output(&["__complete", "--", word]), "", "{word}");
        assert_eq!(output(&["__complete", "--of", word, "--", word]), "", "{word}");
    }
    assert!(!output(&["--help"]).contains("__complete"));
}

/// The completions of Bash, where it is installed: words that must be there, and words that must not.
#[test]
fn bash_completes() {
    let script = output(&["completions", "bash"]);
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("anfile.root"), b"").expect("a file");
    std::fs::copy(file("zmumu.root"), folder.path().join("z m.root")).expect("a file");
    std::fs::copy(file("zmumu.root"), folder.path().join("z.root")).expect("a file");
    for (words, wanted, unwanted) in [
        (&["he"][..], &["head", "help"][..], &["ls"][..]),
        (&[""], &["head", "anfile.root"], &[]),
        (&["ls", "--rec"], &["--recursive"], &[]),
        (&["--th"], &["--threads"], &[]),
        (&["ls", "--color", "a"], &["auto", "always"], &["anfile.root"]),
        (&["ls", "--color", "=", "a"], &["auto", "always"], &["anfile.root"]),
        (&["ls", "--color", "="], &["auto", "always"], &["anfile.root"]),
        (&["completions", "z"], &["zsh"], &[]),
        (&["completions", "a"], &[], &["anfile.root"]),
        (&["help", ""], &["convert"], &["anfile.root"]),
        (&["forth", "st"], &["step"], &[]),
        (&["forth", "a"], &["anfile.root"], &[]),
        (&["forth", "run", "--t"], &["--tier", "--threads"], &["--recursive"]),
        (&["forth", "run", "-i", "x", "--t"], &["--tier"], &[]),
        // Options with values before, between and behind.
        (&["--threads", "2", "he"], &["head"], &["anfile.root"]),
        (&["--threads", "2", "head", "--j"], &["--json", "--jsonl"], &[]),
        (&["--color", "never", "head", "--j"], &["--json", "--jsonl"], &[]),
        (&["--color", "=", "never", "head", "--j"], &["--json", "--jsonl"], &[]),
        (&["--color", "head", "he"], &["head"], &[]),
        (&["head", "-n", "3", "a"], &["anfile.root"], &["auto"]),
        (&["head", "-b", "ls", "a"], &["anfile.root"], &[]),
        (&["head", "--color", "never", "a"], &["anfile.root"], &["auto"]),
        (&["convert", "--codec", "zstd", "anfile.root", "--fo"], &["--format", "--force"], &[]),
        (&["head", "anfile.root", "--j"], &["--json"], &[]),
        // Bash divides words at colons.
        (&["head", "z.root", ":"], &["events", "skim/"], &["anfile.root"]),
        (&["head", "z.root", ":", "ev"], &["events"], &["skim"]),
        (&["head", "z.root", ":", "events/MET_p"], &["events/MET_pt", "events/MET_phi"], &["events/nMuon"]),
        (&["head", "z\\ m.root", ":", "ev"], &["events"], &["skim"]),
        (&["head", "z.root:ev"], &["z.root:events"], &[]),
        (&["head", "anfile.root", ":", "ev"], &[], &["events"]),
        (&["head", "none.root", ":", "ev"], &[], &["events"]),
        (&["head", "z.root", ":", "events", "-b", "MET"], &["MET_pt", "MET_phi"], &["nMuon", "anfile.root"]),
        (&["head", "-n", "3", "z.root", "--branch", "nM"], &["nMuon"], &[]),
        (&["cat", "z.root", ":", "events", "-c", "nM"], &["nMuon"], &["anfile.root"]),
        (&["diff", "z.root", ":", "events", "x.root", "--on", "lum"], &[], &["anfile.root"]),
        (&["stats", "z.root", "-f", "nM"], &["nMuon"], &["anfile.root"]),
        (&["stats", "z.root", "-c", "nMuon,MET_p"], &["nMuon,MET_pt", "nMuon,MET_phi"], &["anfile.root"]),
        (&["convert", "z.root", "--columns", "=", "nM"], &["nMuon"], &["anfile.root"]),
        (&["streamers", "z.root", "-f", "nM"], &[], &["nMuon"]),
    ] {
        let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
        let line = format!(
            "{script}\nCOMP_WORDS=(forthwith {}); COMP_CWORD={}; _forthwith; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            quoted.join(" "),
            words.len()
        );
        let Ok(done) = with_command("bash").args(["-c", &line]).current_dir(folder.path()).output() else {
            return;
        };
        let found = String::from_utf8_lossy(&done.stdout);
        for word in wanted {
            assert!(found.lines().any(|line| line == *word), "{words:?}: {found}{done:?}");
        }
        for word in unwanted {
            assert!(found.lines().all(|line| line != *word), "{words:?}: {found}{done:?}");
        }
    }
}

/// The completions of fish, where it is installed.
#[test]
fn fish_completes() {
    let script = output(&["completions", "fish"]);
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::copy(file("zmumu.root"), folder.path().join("z.root")).expect("a file");
    std::fs::write(folder.path().join("forthwith.fish"), script).expect("a file");
    for (line, wanted) in [
        ("forthwith he", "head"),
        ("forthwith ls --color a", "always"),
        ("forthwith forth ru", "run"),
        ("forthwith head z.root:ev", "z.root:events"),
        ("forthwith head z.root:events -b nM", "nMuon"),
        ("forthwith cat z.root:events -c nMuon,MET_p", "nMuon,MET_phi"),
        ("forthwith convert z.root:events --columns=nM", "--columns=nMuon"),
    ] {
        let asked = format!("source forthwith.fish; complete -C '{line}'");
        let mut shell = with_command("fish");
        shell.args(["--no-config", "-c", &asked]).current_dir(folder.path()).env("HOME", folder.path());
        let Ok(done) = shell.output() else { return };
        let found = String::from_utf8_lossy(&done.stdout);
        let is_there = found.lines().any(|found| found.split('\t').next() == Some(wanted));
        assert!(is_there, "{line}: {found}{done:?}");
    }
}

/// A hint that says how a branch is typed is followed, for every format.
#[test]
fn hints_can_be_typed() {
    for (name, branch) in [
        ("zmumu.root:events", "MET_pt"),
        ("codec-zstd.root", "noise"),
        ("avro/types.avro", "b"),
        ("parquet/brotli.parquet", "bool"),
        ("ntuple.root", ""),
    ] {
        let target = file(name);
        let said = forthwith(&["plot", &target]);
        assert_eq!(said.code, 2, "{}", said.err);
        let first = said.err.lines().next().expect("a line");
        let (_, typed) =
            first.split_once(": name a ").and_then(|(_, told)| told.split_once(": ")).expect("a hint");
        let placeholder = typed.rsplit([':', '/']).next().expect("a placeholder");
        let shown = said.err.lines().nth(1).and_then(|line| line.trim().strip_prefix("forthwith show "));
        let shown = shown.and_then(|line| line.strip_suffix(" lists those there are")).expect("a hint");
        let listed = output(&["show", "--json", shown]);
        let listed: serde_json::Value = serde_json::from_str(&listed).expect("JSON");
        let branches = listed["branches"].as_array().expect("branches");
        let names = branches.iter().filter_map(|branch| branch["name"].as_str().or(branch["path"].as_str()));
        let names: Vec<&str> = names.collect();
        assert!(branch.is_empty() || names.contains(&branch), "{names:?}");
        let drawn = names.iter().filter(|name| {
            let said = forthwith(&["plot", &typed.replace(placeholder, name), "-n", "100"]);
            assert!(!said.err.contains("no object") && !said.err.contains("named"), "{typed}: {}", said.err);
            said.code == 0
        });
        assert!(drawn.count() > 0, "{name}");
    }
}

/// Steps of nothing that could be drawn are counted, not kept.
#[test]
fn values_that_are_no_numbers_are_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("nan.avro");
    let values = (0..1_200_000).map(|at| match at {
        1_199_999 => 2.0,
        at if at % 3 == 0 => f64::INFINITY,
        _ => f64::NAN,
    });
    std::fs::write(&path, avro(&values.collect::<Vec<_>>())).expect("a file");
    let target = format!("{}:x", path.display());
    let said = output(&["plot", &target]);
    let outside = "400,000 above, 799,999 not a number";
    assert!(said.starts_with(&format!("x of 1,200,000 entries; not shown: {outside}\n")), "{said}");
    let said = output(&["plot", &target, "-n", "1000"]);
    let outside = "334 above, 666 not a number";
    assert_eq!(said, format!("x of 1,000 entries has no values to draw: {outside}\n"));
}

/// An Avro file of a column `x`, a hundred thousand entries a block.
fn avro(values: &[f64]) -> Vec<u8> {
    let length = |count: usize| {
        let (mut left, mut bytes) = (2 * count, Vec::new());
        while left > 0x7f {
            bytes.push((left & 0x7f) as u8 | 0x80);
            left >>= 7;
        }
        bytes.push(left as u8);
        bytes
    };
    let schema = r#"{"type": "record", "name": "r", "fields": [{"name": "x", "type": "double"}]}"#;
    let marker = [7; 16];
    let mut file = b"Obj\x01\x02\x16avro.schema".to_vec();
    file.extend(length(schema.len()));
    file.extend(schema.as_bytes());
    file.push(0);
    file.extend(marker);
    for block in values.chunks(100_000) {
        file.extend(length(block.len()));
        file.extend(length(8 * block.len()));
        file.extend(block.iter().flat_map(|value| value.to_le_bytes()));
        file.extend(marker);
    }
    file
}

#[test]
fn a_picture_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("met.svg");
    let name = path.to_str().expect("UTF-8");
    let said = output(&["plot", &file("zmumu.root:events/MET_pt"), "-o", name]);
    assert!(said.starts_with("MET_pt of 3,600 entries") && said.trim_end().ends_with("met.svg"), "{said}");
    let picture = std::fs::read_to_string(&path).expect("a picture");
    assert!(picture.starts_with("<svg ") && picture.contains(">MET_pt<"), "{picture}");
    let png = folder.path().join("met.PNG");
    output(&["plot", &file("zmumu.root:events/MET_pt"), "--out", png.to_str().expect("UTF-8")]);
    assert!(std::fs::read(&png).expect("a picture").starts_with(b"\x89PNG\r\n"));
    // Histograms, in place of a picture only if that is said.
    let refused = forthwith(&["plot", &file("histograms.root:h1d"), "-o", name]);
    assert!(refused.code == 2 && refused.err.contains("--force"), "{}", refused.err);
    assert_eq!(std::fs::read_to_string(&path).expect("a picture"), picture);
    output(&["plot", &file("histograms.root:h1d"), "-o", name, "--force"]);
    assert_ne!(std::fs::read_to_string(&path).expect("a picture"), picture);

    for (line, what) in [
        (&["plot", &file("zmumu.root:events/MET_pt"), "-o", "x.pdf"][..], "neither .svg nor .png"),
        (&["plot", &file("histograms.root:formula"), "-o", "x.svg"], "formula is a TF1"),
        (&["plot", &file("histograms.root:points"), "-o", "x.svg", "--density"], "are for histograms"),
        (
            &["plot", &file("histograms.root:points"), &file("histograms.root:h1d"), "-o", "x.svg"],
            "histograms or graphs",
        ),
        (&["plot", &file("zmumu.root:events/MET_pt"), "-o", "x.svg", "--log", "w"], "letters x, y and z"),
        (&["plot", &file("zmumu.root:events/MET_pt"), "-o", "x.svg", "--ratio"], "two histograms"),
        (&["plot", &file("zmumu.root:events/MET_pt"), "--y-range", "0,1"], "--y"),
        (&["plot", &file("zmumu.root:events/MET_pt"), "--log", "x", "--range", "0,1"], "above zero"),
        (&["plot", &file("zmumu.root:events"), "MET_pt", "dataset"], "dataset has no numbers"),
        (&["plot", &file("zmumu.root:events"), "Muon_pt", "Track_hits"], "two dimensions need"),
        (&["plot", &file("zmumu.root:events/MET_pt"), "--force"], "--output"),
    ] {
        let said = forthwith(line);
        assert!(said.code == 2 && said.err.contains(what), "{line:?}: {}", said.err);
    }
}

/// Several columns, files and objects are in one picture, with a legend.
#[test]
fn histograms_are_drawn_over_each_other() {
    let events = file("zmumu.root:events");
    let svg = |args: &[&str]| output(&[&["plot", "-o", "-"], args].concat());
    let said = svg(&[&events, "-b", "MET_pt,nMuon", "--ratio", "--stats"]);
    for word in
        [">MET_pt</text>", ">nMuon</text>", ">Ratio</text>", ">Std Dev</text>", ">MET_pt, nMuon</text>"]
    {
        assert!(said.contains(word), "{word}: {said}");
    }
    let said = svg(&[&file("histograms.root:h1d"), &file("histograms.root:h1f")]);
    assert!(said.contains(">h1d</text>") && said.contains(">h1f</text>"), "{said}");
    let folder = tempfile::tempdir().expect("a folder");
    let copy = folder.path().join("copy.root");
    std::fs::copy(file("zmumu.root"), &copy).expect("room");
    let said = svg(&[&events, &format!("{}:events", copy.display()), "-b", "MET_pt"]);
    assert!(said.contains("copy.root</text>"), "{said}");
    // In text, one after the other with the same bins.
    let said = output(&["plot", &events, "-b", "MET_pt,nMuon", "--overlay", "--stats"]);
    let axes: Vec<&str> = said.lines().filter(|line| line.contains('└')).collect();
    assert!(axes.len() == 2 && axes[0].trim_start() == axes[1].trim_start(), "{said}");
    assert!(said.contains("3,600 entries, mean "), "{said}");
    let many = ["Muon_pt"; 11].join(",");
    let said = forthwith(&["plot", &events, "--compute", "x=1*nMuon", "-b", &many, "-o", "-"]);
    assert_eq!(said.code, 2, "{}", said.err);
}

#[test]
fn two_columns_are_drawn_in_shades() {
    let events = file("zmumu.root:events");
    let said = output(&["plot", &events, "Muon_eta", "Muon_pt"]);
    assert!(said.starts_with("Muon_eta × Muon_pt of 3,600 entries; not shown: "), "{said}");
    assert!(said.contains('█') && said.contains("Muon_eta →  Muon_pt ↑"), "{said}");
    let flags = ["-b", "Muon_eta", "--y", "Muon_pt"];
    assert_eq!(output(&[&["plot", &events], &flags[..]].concat()), said);
    // Each number of an entry stands for all items of its list.
    let said = output(&["plot", &events, "nMuon", "Muon_pt", "--json", "--bins", "2", "--range", "-1,1000"]);
    let found: serde_json::Value = serde_json::from_str(&said).expect("JSON");
    assert_eq!(found[0]["entries"], 6287.0, "{said}");
    assert_eq!(found[0]["x"]["edges"].as_array().map(Vec::len), Some(3), "{said}");
    let said = output(&["plot", &file("histograms.root:two"), "-o", "-"]);
    assert!(said.starts_with("<svg ") && said.contains("crispEdges"), "{said}");
}

#[test]
fn branches_may_be_a_list() {
    for command in ["show", "explain"] {
        let said = output(&[command, &file("zmumu.root:events"), "-b", "MET_pt,nMuon"]);
        assert!(said.contains("MET_pt") && said.contains("nMuon") && !said.contains("Muon_eta"), "{said}");
    }
}

#[test]
fn a_branch_is_not_listed_as_an_object() {
    let said = forthwith(&["ls", &file("zmumu.root:events/MET_pt")]);
    assert!(said.code == 3 && said.err.contains("is a branch of a tree"), "{}", said.err);
    let listed = output(&["ls", "-l", &file("zmumu.root")]);
    assert_eq!(output(&["-l", &file("zmumu.root")]), listed);
}
