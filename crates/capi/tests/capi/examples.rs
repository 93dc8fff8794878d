//! The examples in C and C++ are compiled and run.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// Compiles an example and runs it; none without this compiler.
fn run(compiler: &str, standard: &str, example: &str, arguments: &[&str]) -> Option<Output> {
    if Command::new(compiler).arg("--version").output().is_err() {
        println!("skipped: {compiler} is not installed");
        return None;
    }
    let root = root();
    let library = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let folder = tempfile::tempdir().unwrap();
    let binary = folder.path().join("example");
    let built = Command::new(compiler)
        .args([standard, "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1"])
        .arg(root.join("examples/capi").join(example))
        .arg("-I")
        .arg(root.join("crates/capi/include"))
        .arg("-L")
        .arg(&library)
        .arg("-lforthwith_c")
        .arg(format!("-Wl,-rpath,{}", library.display()))
        .arg("-o")
        .arg(&binary)
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    Some(Command::new(&binary).args(arguments).current_dir(root.join("tests/data")).output().unwrap())
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(target_os = "linux")]
#[test]
fn cpp_sums_columns_of_many_files() {
    let Some(done) = run("c++", "-std=c++17", "sums.cpp", &["zmumu.root:events", "zmumu.root:events"]) else {
        return;
    };
    assert_eq!(text(&done.stderr), "");
    // By NumPy: 2431 entries with two muons or more in each of two equal files.
    assert_eq!(text(&done.stdout), "4862 entries, MET_pt 55854.349, leading Muon_pt 206723.480\n");
    let Some(done) = run("c++", "-std=c++17", "sums.cpp", &["missing.root"]) else { return };
    assert_eq!(done.status.code(), Some(1));
    assert!(text(&done.stderr).contains("missing.root"), "{}", text(&done.stderr));
}

#[cfg(target_os = "linux")]
#[test]
fn c_lists_columns_and_counts_rows_of_a_stream() {
    let Some(done) = run("cc", "-std=c11", "list.c", &["zmumu.root"]) else { return };
    let (out, errors) = (text(&done.stdout), text(&done.stderr));
    assert!(done.status.success() && out.starts_with("events (TTree)\n"), "{out}{errors}");
    assert!(out.contains("  MET_pt: float32\n  ") && out.contains("  Muon_pt: var * float32\n"), "{out}");
    assert!(out.contains("\n3600 rows in 4 batches\n"), "{out}");
    let Some(done) = run("cc", "-std=c11", "list.c", &["README.md"]) else { return };
    assert_eq!(done.status.code(), Some(1), "{}", text(&done.stderr));
}

#[test]
fn the_guide_shows_the_example() {
    let page = fs::read_to_string(root().join("docs/guide/from-c.md")).unwrap();
    for (language, example) in [("cpp", "sums.cpp"), ("c", "list.c")] {
        let source = fs::read_to_string(root().join("examples/capi").join(example)).unwrap();
        assert!(page.contains(&format!("```{language}\n{source}```\n")), "{example} differs from the page");
    }
}
