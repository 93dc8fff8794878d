//! The examples in the help of commands do what they say.

use crate::{file, output};
use std::{fs, path::Path, process::Command};

/// Runs all examples of a command's help in a folder with the files that they name; `|` and quotes are the shell's.
#[cfg(unix)]
fn run_all(verb: &str, folder: &Path) {
    let help = output(&[verb, "--help"]);
    let examples = help.rsplit_once("Examples:\n").expect("examples").1;
    let examples: Vec<&str> =
        examples.lines().take_while(|line| line.starts_with("  ")).map(|line| line.trim()).collect();
    assert!(examples.len() > 1, "{help}");
    for example in examples {
        // Remarks stand behind several spaces.
        let line = example.split("   ").next().unwrap_or_default().replace("root:Events", "root:events");
        assert!(line.starts_with(&format!("forthwith {verb}")), "{line}");
        let program = Path::new(env!("CARGO_BIN_EXE_forthwith")).parent().expect("a folder");
        let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
        let said = Command::new("sh").args(["-c", &line]).current_dir(folder).env("PATH", path).output();
        let said = said.expect("a shell");
        let error = String::from_utf8_lossy(&said.stderr);
        let differs = verb == "diff" && said.status.code() == Some(1);
        assert!(said.status.success() || differs, "{line}: {error}");
        let may_remark = line.contains("--skip-unsupported") || verb == "bench";
        assert!(error.is_empty() || may_remark, "{line}: {error}");
    }
}

#[test]
#[cfg(unix)]
fn examples_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("a UTF-8 path").to_owned();
    for name in ["events.root", "copy.root", "run-a.root", "run-b.root"] {
        fs::copy(file("zmumu.root"), path(name)).expect("room");
    }
    fs::copy(file("histograms.root"), path("histograms.root")).expect("room");
    let events = file("zmumu.root:events");
    output(&["convert", &events, &path("events.parquet")]);
    output(&["cp", &events, &path("skim.root"), "--entries", ":500"]);
    fs::write(
        path("orders.jsonl"),
        "{\"status\": \"new\", \"amount\": 1}\n{\"status\": \"old\", \"amount\": 2}\n",
    )
    .expect("room");
    output(&["convert", &path("orders.jsonl"), &path("orders.avro")]);
    for folder in ["runs", "data"] {
        fs::create_dir(path(folder)).expect("room");
    }
    for side in ["old", "new"] {
        fs::create_dir(path(side)).expect("room");
        fs::copy(path("events.root"), path(&format!("{side}/events.root"))).expect("room");
    }
    for verb in ["diff", "stats", "freq", "sample", "sniff", "dump", "bench", "recover", "mcp", "plot"] {
        run_all(verb, folder.path());
    }
}
