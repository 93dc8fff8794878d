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

/// Paragraphs are wrapped at the width of the terminal, and not also where the source has ends of lines.
#[test]
fn paragraphs_of_help_fill_their_lines() {
    for width in [80, 100, 120] {
        for verb in ["stats", "diff", "convert", "bench", "check"] {
            let said = on(Terminal { width: Some(width), color: false }, &[verb, "--help"]).out;
            let lines: Vec<&str> = said.lines().collect();
            let begin = lines.iter().rposition(|line| *line == "Common options:").expect("options");
            for pair in lines[begin..].windows(2).filter(|pair| !pair.iter().any(|line| line.is_empty())) {
                let is_text = pair.iter().all(|line| !line.starts_with(' '));
                let next = pair[1].split(' ').next().expect("a word");
                let is_full = pair[0].chars().count() + 1 + next.chars().count() > width;
                assert!(!is_text || is_full, "{verb} {width}: {pair:?}");
                assert!(pair[0].chars().count() <= width, "{pair:?}");
            }
        }
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
