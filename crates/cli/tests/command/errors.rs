//! Errors, and how they are told.

use crate::{file, forthwith, on, portable};
use forthwith_cli::{Terminal, run};
use std::{
    fs,
    io::{self, Write},
    path::Path,
};

fn complaint(args: &[&str]) -> String {
    let said = forthwith(args);
    assert_eq!(said.out, "", "{args:?}");
    format!("{} {}", said.code, portable(&said.err))
}

#[test]
fn names_that_do_not_exist() {
    insta::assert_snapshot!(complaint(&["ls", &file("zmuu.root")]), @"3 forthwith: no such file: zmuu.root");
    insta::assert_snapshot!(complaint(&["show", &file("zmumu.root:evnts")]), @r#"
        3 forthwith: no object named "evnts"; did you mean events?
          in zmumu.root
        "#);
    insta::assert_snapshot!(complaint(&["head", &file("zmumu.root:run")]), @r#"
        3 forthwith: no object named "run"; there are mass, events and skim
          in zmumu.root
          events has a branch of that name: zmumu.root:events/run
        "#);
    insta::assert_snapshot!(complaint(&["ls", &file("zmumu.root:events;9")]), @r#"
        3 forthwith: no cycle named "events;9"; did you mean events;1?
          in zmumu.root
        "#);
    insta::assert_snapshot!(complaint(&["head", &file("zmumu.root:events/Muon_p")]), @r#"
        3 forthwith: no branch named "Muon_p"; did you mean Muon_phi, Muon_pt?
          in zmumu.root:events
        "#);
    insta::assert_snapshot!(complaint(&["head", &file("zmumu.root:events"), "-b", "nMuon,qqqqqqqq"]), @r#"
        3 forthwith: no branch named "qqqqqqqq"; there are run, luminosityBlock, event, weight, MET_pt, MET_phi, PV_xyz, nPV, HLT_IsoMu24, HLT_Mu17_Mu8 and 11 more
          in zmumu.root:events
        "#);
    insta::assert_snapshot!(complaint(&["show", &file("zmumu.root:events"), "-f", "Tau_*"]), @"3 forthwith: no branch of events matches Tau_*");
    insta::assert_snapshot!(complaint(&["show", &file("zmumu.root:events"), "-f", "muon_p?"]), @r"
    3 forthwith: no branch of events matches muon_p?
      capital letters count, as in Muon_pt; a /regex/i ignores them
    ");
}

#[test]
fn objects_of_another_kind() {
    insta::assert_snapshot!(complaint(&["head", &file("zmumu.root:mass")]), @r"
    2 forthwith: mass is a TH1F, not a tree
      forthwith show zmumu.root:mass shows it
    ");
    insta::assert_snapshot!(complaint(&["head", &file("zmumu.root:skim")]), @r"
    2 forthwith: skim is a TDirectory, not a tree
      forthwith ls zmumu.root:skim lists it
    ");
    insta::assert_snapshot!(complaint(&["forth", &file("zmumu.root:events")]), @r"
        2 forthwith: name a branch: zmumu.root:events/BRANCH
          forthwith show zmumu.root:events lists those there are
        ");
    insta::assert_snapshot!(complaint(&["forth", &file("zmumu.root:events/nMuon")]), @"3 forthwith: nMuon has no program: it is read by a kernel (numbers of one size)");
}

#[test]
fn several_trees_are_not_guessed_at() {
    insta::assert_snapshot!(complaint(&["show", &file("zmumu.root")]), @r"
        2 forthwith: several trees in zmumu.root; name one of them:
          zmumu.root:events
          zmumu.root:skim/events
        ");
}

#[test]
fn files_that_are_none() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    fs::write(path("text.root"), "hello, this is no such file").expect("written");
    fs::write(path("empty.root"), "").expect("written");
    for verb in ["ls", "show", "head", "explain", "demo"] {
        // A folder means the files in it, each of which is told; the program of one branch is of one file.
        let said = forthwith(&[verb, &path("")]);
        assert_eq!(said.code, 1, "{verb}: {}", said.err);
        let told: Vec<bool> =
            ["text.root", "empty.root"].iter().map(|name| said.err.contains(&path(name))).collect();
        assert_eq!((told, said.err.matches("forthwith: ").count()), (vec![true, true], 2), "{}", said.err);
    }
    assert_eq!(forthwith(&["forth", &path("")]).code, 2);
    for name in ["text.root", "empty.root"] {
        for verb in ["ls", "show", "head", "explain", "forth", "demo"] {
            let said = forthwith(&[verb, &path(name)]);
            assert_eq!((said.code, said.out.as_str()), (1, ""), "{verb} {name}: {}", said.err);
            assert!(said.err.starts_with("forthwith: ") && said.err.contains(&path(name)), "{}", said.err);
        }
    }
}

#[test]
fn a_colon_in_a_file_name_is_no_separator() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("run:7.root");
    fs::copy(file("zmumu.root"), &path).expect("copied");
    let path = path.to_str().expect("UTF-8");
    assert_eq!(forthwith(&["ls", path]).code, 0);
    assert_eq!(forthwith(&["head", &format!("{path}:events/nMuon")]).code, 0);
}

/// Cuts and flips must lead to an answer or a complaint, never to anything else.
#[test]
fn damaged_files_are_complained_about() {
    let whole = fs::read(file("zmumu.root")).expect("the test file");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("damaged.root");
    let target = path.to_str().expect("UTF-8");
    let try_all = |what: &str| {
        for args in [
            &["ls", "-rl", target][..],
            &["show", &format!("{target}:events")],
            &["head", &format!("{target}:events"), "-n", "2"],
            &["explain", &format!("{target}:events"), "-f", "Muon_*"],
            &["demo", target, "--limit", "1", "--threads", "1"],
        ] {
            let said = forthwith(args);
            assert!((0..=4).contains(&said.code), "{what}: {args:?} {}", said.code);
            assert!(said.code == 0 || said.err.starts_with("forthwith: "), "{what}: {args:?} {}", said.err);
        }
    };
    for eighth in 0..8 {
        fs::write(&path, &whole[..whole.len() * eighth / 8]).expect("written");
        try_all(&format!("cut to {eighth}/8"));
    }
    let mut state = 1_u32;
    for round in 0..6 {
        let mut bytes = whole.clone();
        for _ in 0..40 {
            // Any sequence will do that is the same every time.
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let at = state as usize % bytes.len();
            bytes[at] ^= 1 << (state >> 29);
        }
        fs::write(&path, &bytes).expect("written");
        try_all(&format!("flipped, round {round}"));
    }
}

/// The other side went away, as `head` does.
struct Closed;

impl Write for Closed {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::BrokenPipe.into())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Full;

impl Write for Full {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::StorageFull.into())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_closed_pipe_is_success_and_a_full_disk_is_not() {
    let target = file("zmumu.root:events");
    for args in
        [&["show", &target][..], &["head", &target, "--json"], &["head", &target, "--jsonl"], &["--help"]]
    {
        let line = || std::iter::once("forthwith").chain(args.iter().copied()).map(Into::into);
        let mut err = Vec::new();
        assert_eq!(run(line(), &mut Closed, &mut err, Terminal::default()), 0, "{args:?}");
        assert!(err.is_empty(), "{}", String::from_utf8_lossy(&err));
    }
    let line = ["forthwith", "show", &target].map(Into::into);
    let mut err = Vec::new();
    assert_eq!(run(line, &mut Full, &mut err, Terminal::default()), 1);
    assert!(String::from_utf8_lossy(&err).starts_with("forthwith: cannot write the output: "));
}

/// Real damaged files, where the collection of them is at hand.
#[test]
fn the_corpus_of_damaged_files() {
    let corpus = std::env::var_os("FORTHWITH_CORPUS")
        .map_or_else(|| crate::root().join("../shared/corpus"), Into::into);
    let Ok(files) = fs::read_dir(Path::new(&corpus).join("bad")) else { return };
    for path in files.filter_map(Result::ok).map(|entry| entry.path()) {
        if path.extension().is_none_or(|extension| extension == "json") {
            continue;
        }
        let Some(target) = path.to_str() else { continue };
        for args in [
            &["ls", "-rl", target][..],
            &["show", target],
            &["head", target],
            &["demo", target, "--limit", "1"],
        ] {
            let said = on(Terminal { width: Some(80), color: true }, args);
            assert!((0..=4).contains(&said.code), "{args:?}: {}", said.code);
        }
    }
}

#[test]
fn commands_that_do_not_exist_are_answered_by_those_that_do() {
    for (word, answer) in [
        ("conevrt", "did you mean forthwith convert?"),
        ("hadd", "it is forthwith merge"),
        ("rootdiff", "it is forthwith diff"),
        ("summarize", "it is forthwith stats"),
        ("rootbrowse", "it is forthwith browse"),
    ] {
        let said = forthwith(&[word, "a.root"]);
        assert!(said.code == 2 && said.err.contains(answer), "{word}: {}", said.err);
    }
}
