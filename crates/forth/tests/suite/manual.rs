//! The manual is up to date, and all its programs do what it says.

use forthwith_forth::isa::{Op, Parser, Syntax};
use forthwith_forth::manual::{Example, examples, page};
use forthwith_forth::{W32, W64};

use super::support::TIERS;

#[track_caller]
fn check(text: &str) {
    let example = Example::parse(text).unwrap_or_else(|| panic!("no example: {text}"));
    for tier in TIERS {
        example.check::<W64>(tier).unwrap_or_else(|why| panic!("{tier:?}, 64 bits: {why}\n{text}"));
        example.check::<W32>(tier).unwrap_or_else(|why| panic!("{tier:?}, 32 bits: {why}\n{text}"));
    }
}

#[test]
fn every_word_has_an_example_that_runs_in_every_tier() {
    for op in Op::ALL {
        check(op.example());
        // The example is about the word.
        assert!(*op == Op::Literal || op.example().contains(op.word()), "{op:?}");
    }
    Syntax::ALL.iter().for_each(|syntax| check(syntax.example()));
    Parser::ALL.iter().for_each(|parser| check(parser.example()));
}

#[test]
#[cfg_attr(miri, ignore = "reads a file")]
fn the_page_is_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/details/forth.md");
    let found = std::fs::read_to_string(path).unwrap_or_default().replace("\r\n", "\n");
    assert!(
        found == page(),
        "docs/details/forth.md is out of step: cargo run -p forthwith-forth --example manual"
    );
}

#[test]
fn every_program_of_the_page_says_what_it_leaves() {
    let page = page();
    let blocks = page.matches("```forth\n").count();
    assert_eq!(examples(&page).count(), blocks);
    for block in page.split("```forth\n").skip(1) {
        check(block.split("```").next().unwrap().trim_end());
    }
    // All languages of code blocks are ours or none.
    assert_eq!(page.matches("```").count(), 2 * (blocks + page.matches("```text\n").count()));
}

#[test]
fn an_example_that_does_not_hold_is_noticed() {
    for wrong in [
        r"1 \ => 2",
        r"1 \ =>",
        r"1 \ => 1 ; paused",
        r"1 0 / \ => 1",
        r"1 . \ =>",
        r"output y int8 1 y <- stack \ =>",
        r"variable v \ => ; v = 1",
        r"input x \ x: 01 => ; x at 1",
        r"1 \ => 1 ; whatever",
    ] {
        assert!(Example::parse(wrong).unwrap().check::<W64>(TIERS[0]).is_err(), "{wrong}");
    }
    assert_eq!(Example::parse("1 2"), None);
    assert_eq!(Example::parse(r"1 \ x => 1"), None);
}
