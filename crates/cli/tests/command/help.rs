//! Help and usage errors.

use crate::{forthwith, on};
use forthwith_cli::Terminal;

#[test]
fn help_is_an_answer() {
    for args in [&["--help"][..], &["ls", "--help"], &["demo", "-h"], &["--version"]] {
        let said = forthwith(args);
        assert_eq!((said.code, said.err.as_str()), (0, ""), "{args:?}");
        assert!(!said.out.is_empty());
    }
}

#[test]
fn every_command_has_examples() {
    for verb in ["ls", "show", "head", "explain", "forth", "check", "demo"] {
        let said = forthwith(&[verb, "--help"]);
        assert!(said.out.contains(&format!("  forthwith {verb} ")), "{verb}");
    }
}

#[test]
fn wrong_usage_goes_to_standard_error_with_code_2() {
    for args in [
        &[][..],
        &["frobnicate"],
        &["ls"],
        &["demo", "a", "b"],
        &["head", "a", "--json", "--jsonl"],
        &["ls", "a", "--threads", "0"],
    ] {
        let said = forthwith(args);
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{args:?}");
        assert!(said.err.contains("Usage: forthwith") || said.err.contains("--help"), "{}", said.err);
    }
}

#[test]
fn help_is_coloured_only_on_a_terminal_that_shows_it() {
    let plain = on(Terminal { width: Some(80), color: false }, &["--help"]);
    assert!(!plain.out.contains('\u{1b}'));
    let coloured = on(Terminal { width: Some(80), color: true }, &["--help"]);
    assert!(coloured.out.contains('\u{1b}'));
}
