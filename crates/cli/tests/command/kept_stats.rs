//! Summaries that `stats` keeps beside a file.

use crate::{file, forthwith, output};
use std::{
    fs,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

/// A copy of a bundled file, old enough to have a mark: a file that was changed just now has none.
fn settled(folder: &Path) -> (String, PathBuf) {
    let path = folder.join("data.root");
    fs::copy(file("zmumu.root"), &path).expect("a copy");
    thread::sleep(Duration::from_millis(80));
    let cache = folder.join("data.root.fws");
    (path.to_str().expect("a UTF-8 path").to_owned(), cache)
}

fn stats(path: &str, more: &[&str]) -> String {
    output(&[&["stats", &format!("{path}:events")], more].concat())
}

#[test]
fn summaries_are_kept_if_asked_for_and_then_used() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, cache) = settled(folder.path());
    let fresh = stats(&path, &[]);
    assert!(!cache.exists());
    assert_eq!(stats(&path, &["--cache", "-b", "MET_pt"]), stats(&path, &["-b", "MET_pt"]));
    let first = fs::read(&cache).expect("a cache");
    // Further columns are added; cached summaries equal computed ones.
    assert_eq!(stats(&path, &[]), fresh);
    let all = fs::read(&cache).expect("a cache");
    assert!(all.len() > first.len());
    for more in [&["--quantiles", "0.5"][..], &["--top", "1"], &["-b", "Muon_pt,dataset"], &["--json"]] {
        assert_eq!(stats(&path, more), stats(&path, &[more, &["--no-cache"]].concat()), "{more:?}");
    }
    assert_eq!(fs::read(&cache).expect("a cache"), all);
    // Others than whole columns are not kept.
    for more in
        [&["--where", "nMuon > 1"][..], &["-n", "100"], &["--compute", "two=2 * nMuon", "-b", "nMuon"]]
    {
        assert_eq!(stats(&path, more), stats(&path, &[more, &["--no-cache"]].concat()), "{more:?}");
        assert_eq!(fs::read(&cache).expect("a cache"), all, "{more:?}");
    }
    // Another request makes them anew.
    assert_eq!(
        stats(&path, &["--quantiles", "0.125"]),
        stats(&path, &["--quantiles", "0.125", "--no-cache"])
    );
    assert_ne!(fs::read(&cache).expect("a cache"), all);
}

#[test]
fn outdated_and_damaged_summaries_are_not_used() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, cache) = settled(folder.path());
    let fresh = stats(&path, &["--cache", "-b", "nMuon,MET_pt"]);
    let kept = fs::read(&cache).expect("a cache");
    // Damaged, cut off, empty, of another file.
    let mut damaged = kept.clone();
    damaged[kept.len() / 2] ^= 1;
    for bytes in [&damaged[..], &kept[..kept.len() / 2], &[], b"FWSTATS2 and more"] {
        fs::write(&cache, bytes).expect("a file");
        assert_eq!(stats(&path, &["-b", "nMuon,MET_pt"]), fresh);
        assert_eq!(fs::read(&cache).expect("a cache"), kept);
    }
    // The file is replaced by another one of the same size, which has other summaries.
    let other = folder.path().join("other.csv");
    let name = other.to_str().expect("a UTF-8 path");
    fs::write(&other, "x\n1\n2\n").expect("a file");
    thread::sleep(Duration::from_millis(80));
    let before = output(&["stats", name, "--cache"]);
    fs::write(&other, "x\n7\n9\n").expect("a file");
    let after = output(&["stats", name]);
    assert_ne!(before, after);
    assert_eq!(after, output(&["stats", name, "--no-cache"]));
    assert_eq!(output(&["cat", name, "--where", "x > 5"]).lines().count(), 2);
    thread::sleep(Duration::from_millis(80));
    assert_eq!(output(&["stats", name]), after);
}

#[test]
fn summaries_are_kept_beside_an_index() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, cache) = settled(folder.path());
    output(&["index", &path]);
    stats(&path, &["-b", "nMuon", "--no-cache"]);
    assert!(!cache.exists());
    stats(&path, &["-b", "nMuon"]);
    assert!(cache.exists());
}

#[test]
fn nothing_is_read_where_no_value_can_pass() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, _) = settled(folder.path());
    stats(&path, &["--cache", "-b", "MET_pt,nMuon,Muon_pt"]);
    let count = |cut: &str, more: &[&str]| {
        let events = format!("{path}:events");
        output(&[&["cat", &events, "-c", "MET_pt,nMuon", "--where", cut], more].concat()).lines().count()
    };
    for cut in [
        "MET_pt > 1e9",
        "nMuon > 6",
        "nMuon >= 6",
        "nMuon < 0 or MET_pt > 20",
        "any(Muon_pt > 102)",
        "any(Muon_pt >= 102)",
        "not (nMuon > 6)",
        "max(Muon_pt) > 50 and nMuon == 2",
    ] {
        assert_eq!(count(cut, &[]), count(cut, &["--no-cache"]), "{cut}");
    }
}

#[test]
fn damage_is_not_met_where_no_value_can_pass() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, _) = settled(folder.path());
    let mut bytes = fs::read(&path).expect("a file");
    let name = b"\x07TBasket\x05nMuon";
    let places: Vec<usize> =
        (0..bytes.len() - name.len()).filter(|at| bytes[*at..].starts_with(name)).collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at + 60..at + 90].fill(0);
    }
    fs::write(&path, &bytes).expect("a file");
    thread::sleep(Duration::from_millis(80));
    stats(&path, &["--cache", "-b", "MET_pt"]);
    let events = format!("{path}:events");
    let cat = |more: &[&str]| {
        forthwith(&[&["cat", &events, "-c", "run", "--where", "nMuon > 1 and MET_pt > 1e9"], more].concat())
    };
    assert_ne!(cat(&["--no-cache"]).code, 0);
    let said = cat(&[]);
    assert_eq!((said.code, said.out.as_str()), (0, ""), "{}", said.err);
}

#[test]
fn pictures_have_the_range_of_all_values() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, _) = settled(folder.path());
    let plot =
        |more: &[&str]| output(&[&["plot", &format!("{path}:events/MET_pt"), "--json"], more].concat());
    let before = plot(&[]);
    stats(&path, &["--cache", "-b", "MET_pt"]);
    let after = plot(&[]);
    // All values are read in the first step, so that the range is nearly the same.
    let edges = |text: &str| -> (f64, f64) {
        let found: serde_json::Value = serde_json::from_str(text).expect("JSON");
        let edges = found[0]["edges"].as_array().or_else(|| found[0]["axes"][0]["edges"].as_array());
        let edges = edges.expect("edges");
        (edges[0].as_f64().expect("a number"), edges[edges.len() - 1].as_f64().expect("a number"))
    };
    let ((low, high), (kept_low, kept_high)) = (edges(&before), edges(&after));
    assert!(
        (low - kept_low).abs() < 1.0 && (high - kept_high).abs() < 1.0,
        "{low} {high} {kept_low} {kept_high}"
    );
    assert_eq!(plot(&["--no-cache"]), before);
}

#[cfg(unix)]
#[test]
fn a_folder_that_is_read_only_keeps_nothing() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a folder");
    let (path, cache) = settled(folder.path());
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o555)).expect("permissions");
    // A privileged user writes in spite of that.
    let is_privileged = fs::write(folder.path().join("probe"), "").is_ok();
    let said = forthwith(&["stats", &format!("{path}:events"), "-b", "nMuon", "--cache"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.contains("3,600 entries"));
    assert!(
        is_privileged || said.err.contains("the summaries are not kept") && !cache.exists(),
        "{}",
        said.err
    );
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("permissions");
}

#[test]
fn columns_that_share_a_name_have_no_cached_summaries() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("two.csv");
    let name = path.to_str().expect("a UTF-8 path");
    fs::write(&path, "x,x\n1,10\n2,20\n3,30\n4,40\n").expect("a file");
    thread::sleep(Duration::from_millis(80));
    let fresh = (output(&["count", name, "-w", "x < 5"]), output(&["stats", name]));
    assert_eq!(output(&["stats", name, "--cache"]), fresh.1);
    assert_eq!((output(&["count", name, "-w", "x < 5"]), output(&["stats", name])), fresh);
    assert!(!folder.path().join("two.csv.fws").exists());
}

#[cfg(unix)]
#[test]
fn links_and_pipes_are_no_caches() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, cache) = settled(folder.path());
    let fresh = stats(&path, &["-b", "nMuon"]);
    let target = folder.path().join("target");
    fs::write(&target, "mine").expect("a file");
    std::os::unix::fs::symlink(&target, &cache).expect("a link");
    for more in [&["-b", "nMuon"][..], &["-b", "nMuon", "--cache"]] {
        assert!(stats(&path, more).starts_with(&fresh));
        assert_eq!(fs::read(&target).expect("a file"), b"mine");
    }
    fs::remove_file(&cache).expect("a link");
    let made = std::process::Command::new("mkfifo").arg(&cache).status();
    if made.is_ok_and(|status| status.success()) {
        assert_eq!(stats(&path, &["-b", "nMuon"]), fresh);
    }
}

/// Writes two files, and keeps summaries of both.
fn summarised(folder: &Path, texts: [&str; 2]) -> [String; 2] {
    let paths = ["a.csv", "b.csv"].map(|name| folder.join(name).to_str().expect("a UTF-8 path").to_owned());
    for (path, text) in paths.iter().zip(texts) {
        fs::write(path, text).expect("a file");
    }
    thread::sleep(Duration::from_millis(80));
    paths.iter().for_each(|path| drop(output(&["stats", "--cache", path])));
    paths
}

#[test]
fn a_brief_diff_ends_with_summaries_that_differ() {
    let folder = tempfile::tempdir().expect("a folder");
    let [a, b] = summarised(folder.path(), ["x,y\n1,a\n2,b\n3,c\n", "x,y\n1,a\n4,b\n3,c\n"]);
    let said = forthwith(&["diff", "--brief", &a, &b]);
    assert_eq!(said.code, 1);
    assert_eq!(
        said.out,
        "x: max is 3 and 4, by their summaries\ndifferent, with no look at the rest: 2 columns, 0 entries\n"
    );
    let said = forthwith(&["diff", "--brief", "--quiet", &a, &b]);
    assert_eq!((said.code, said.out.as_str()), (1, ""));
    // Without the summaries, values are compared up to the first difference.
    let said = forthwith(&["diff", "--brief", "--no-cache", &a, &b]);
    assert_eq!(said.code, 1);
    assert!(said.out.contains("entry 1: 2 and 4"), "{}", said.out);
    // All differences are only known by values.
    assert!(forthwith(&["diff", &a, &b]).out.contains("entry 1: 2 and 4"));
    // Tolerances are for floating-point numbers; those of the column are not compared if others are chosen.
    assert_eq!(forthwith(&["diff", "--brief", "--atol", "9", &a, &b]).code, 1);
    assert_eq!(forthwith(&["diff", "--brief", "-c", "y", &a, &b]).code, 0);
}

#[test]
fn equal_or_outdated_summaries_are_no_answer() {
    let folder = tempfile::tempdir().expect("a folder");
    let [a, b] = summarised(folder.path(), ["x\n1\n2\n3\n", "x\n2\n1\n3\n"]);
    let said = forthwith(&["diff", "--brief", &a, &b]);
    assert_eq!(said.code, 1);
    assert!(said.out.contains("entry 0: 1 and 2"), "{}", said.out);
    // The files differed when they were summarised.
    let [a, b] = summarised(folder.path(), ["x\n1\n2\n3\n", "x\n1\n2\n9\n"]);
    assert_eq!(forthwith(&["diff", "--brief", &a, &b]).code, 1);
    fs::write(&b, "x\n1\n2\n3\n").expect("a file");
    assert_eq!(forthwith(&["diff", "--brief", &a, &b]).code, 0);
    thread::sleep(Duration::from_millis(80));
    assert_eq!(forthwith(&["diff", "--brief", &a, &b]).code, 0);
}
