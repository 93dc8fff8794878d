//! The command, as a user sees it: what it prints, where, and with which exit code.
#![allow(clippy::disallowed_methods, reason = "tests and examples run where there are processes and clocks")]

mod chains;
mod check;
mod columns;
mod convert;
mod copies;
mod data;
mod diff;
mod dumps;
mod entries;
mod errors;
mod examples;
mod expressions;
mod forth;
mod generated;
mod help;
mod kept_stats;
mod made;
mod objects;
mod page;
mod plots;
mod safe;
mod streams;
mod summaries;
mod together;
mod written;

use forthwith_cli::{Keyboard, Terminal, run_with};
use std::path::PathBuf;

/// The result of a command line.
struct Said {
    code: i32,
    out: String,
    err: String,
}

/// Runs `forthwith ARGS…` without a terminal.
fn forthwith(args: &[&str]) -> Said {
    on(Terminal::default(), args)
}

fn on(terminal: Terminal, args: &[&str]) -> Said {
    typing(terminal, args, "", false)
}

/// With something to read from standard input: piped, or typed by a person.
fn typing(terminal: Terminal, args: &[&str], typed: &str, is_person: bool) -> Said {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let line = std::iter::once("forthwith").chain(args.iter().copied()).map(Into::into);
    let mut keyboard = Keyboard::new(typed.as_bytes(), is_person);
    let code = run_with(line, &mut keyboard, &mut out, &mut err, terminal);
    let text = |bytes| String::from_utf8(bytes).expect("the command prints UTF-8");
    Said { code, out: text(out), err: text(err) }
}

/// Of a command that must succeed: its output.
fn output(args: &[&str]) -> String {
    let said = forthwith(args);
    assert_eq!(said.code, 0, "{args:?}: {}", said.err);
    said.out
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// `tests/data/NAME`, with what follows a colon left as it is.
fn file(target: &str) -> String {
    root().join("tests/data").join(target).to_str().expect("the checkout has a UTF-8 path").to_owned()
}

/// The file's own path would differ from machine to machine.
fn portable(text: &str) -> String {
    text.replace(&file(""), "")
}
