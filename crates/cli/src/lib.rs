//! The `forthwith` command as a library: flags become meaning, meaning becomes calls of the façade, and answers become text or JSON.
//!
//! [`run`] is all of it. It prints nowhere but to the writers it is given, so that tests see what a user sees:
//!
//! ```
//! use forthwith_cli::{Terminal, run};
//!
//! let (mut out, mut err) = (Vec::new(), Vec::new());
//! let line = ["forthwith", "ls", "no-such-file.root"].map(Into::into);
//! let code = run(line, &mut out, &mut err, Terminal::default());
//! assert_eq!(code, 3);
//! assert!(String::from_utf8(err)?.starts_with("forthwith: "));
//! # Ok::<(), std::string::FromUtf8Error>(())
//! ```
//!
//! Inside, `flags` says what can be typed and `meaning` what it means; `opened` finds the tree and branch; each command has a file of
//! its own name that gathers a report and renders it.
#![deny(missing_docs)]

mod check;
mod choice;
mod console;
mod convert;
mod demo;
mod document;
mod explain;
mod failure;
mod flags;
mod forth;
mod glob;
mod head;
mod histogram;
mod human;
mod interrupt;
mod ls;
mod meaning;
mod opened;
mod paint;
mod shorthand;
mod show;
mod survey;
mod table;
mod target;
mod words;

pub use document::page;
pub use forth::Keyboard;

use clap::{
    CommandFactory, FromArgMatches,
    error::{ContextKind, ErrorKind},
};
use console::Console;
use failure::Result;
use flags::Typed;
use meaning::{Action, Asked};
use std::{ffi::OsString, io::Write};

/// What answers are printed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terminal {
    /// Characters in a line; `None` if it is no terminal: nothing is then cut to fit.
    pub width: Option<usize>,
    /// Whether it shows colours.
    pub color: bool,
}

/// Carries out a command line (the program's name first) and returns the exit code. What is read from standard input is read
/// from there.
pub fn run(
    args: impl IntoIterator<Item = OsString>,
    out: &mut dyn Write,
    err: &mut dyn Write,
    terminal: Terminal,
) -> i32 {
    run_with(args, &mut Keyboard::standard(), out, err, terminal)
}

/// As [`run`], reading from somewhere else than standard input.
pub fn run_with(
    args: impl IntoIterator<Item = OsString>,
    keyboard: &mut Keyboard<'_>,
    out: &mut dyn Write,
    err: &mut dyn Write,
    terminal: Terminal,
) -> i32 {
    let command = Typed::command().term_width(terminal.width.unwrap_or(100).clamp(40, 120));
    let verbs: Vec<&str> = command.get_subcommands().map(|verb| verb.get_name()).chain(["help"]).collect();
    let args = shorthand::expand(args.into_iter().collect(), &verbs, |path| path.is_file());
    let verbs = verbs.join(", ");
    let typed = command.try_get_matches_from(args).and_then(|matches| Typed::from_arg_matches(&matches));
    let typed = match typed {
        Ok(typed) => typed,
        Err(error) if error.kind() == ErrorKind::InvalidSubcommand => {
            let word = error.get(ContextKind::InvalidSubcommand).map(ToString::to_string).unwrap_or_default();
            let word = human::clean(&word);
            let what = format!("no command and no file is called {word}\n  the commands are {verbs}");
            // Nobody reading is no reason to complain about it.
            let _ = writeln!(err, "forthwith: {what}\n  forthwith --help says what they do");
            return 2;
        }
        Err(error) => return usage(&error, out, err, terminal),
    };
    let asked = Asked::from_typed(typed, terminal);
    let mut console = Console::new(out, err, terminal.width, asked.paint);
    match carry_out(&asked, keyboard, &mut console).and_then(|()| console.flush()) {
        Ok(()) => 0,
        Err(failure) => {
            let code = failure.code();
            if code != 0 {
                console.fail(&failure);
            }
            code
        }
    }
}

/// Help and version are answers, everything else is a complaint.
fn usage(error: &clap::Error, out: &mut dyn Write, err: &mut dyn Write, terminal: Terminal) -> i32 {
    let text = error.render();
    let text = if terminal.color { text.ansi().to_string() } else { text.to_string() };
    let answer = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    // Nobody reading is no reason to complain about it.
    let _ = if answer {
        out.write_all(text.as_bytes()).and_then(|()| out.flush())
    } else {
        err.write_all(text.as_bytes())
    };
    if answer { 0 } else { 2 }
}

fn carry_out(asked: &Asked, keyboard: &mut Keyboard<'_>, console: &mut Console<'_>) -> Result<()> {
    if let Action::Program(act) = &asked.verb {
        return forth::program(act, keyboard, console);
    }
    let file = opened::file(&asked.target, asked.threads)?;
    let object = asked.target.object.as_str();
    match &asked.verb {
        Action::Ls { recursive, long, shape } => ls::ls(&file, object, *recursive, *long, *shape, console),
        Action::Show { filter, shape } => {
            show::show(&place(&file, object, console)?, filter, *shape, console)
        }
        Action::Head { end, choice, shape, not_numbers, no_check_text } => {
            let place = place(&file, object, console)?.with_unchecked_text(*no_check_text);
            head::head(&place, *end, choice, *shape, *not_numbers, console)
        }
        Action::Convert { choice, conversion, no_check_text } => {
            let place = place(&file, object, console)?.with_unchecked_text(*no_check_text);
            convert::convert(&place, choice, conversion, asked.threads, console)
        }
        Action::Explain { filter, shape } => {
            explain::explain(&place(&file, object, console)?, filter, *shape, console)
        }
        Action::Check { strict, shape } => check::check(&file, *strict, *shape, console),
        Action::Forth { explain } => forth::forth(&opened::place(&file, object)?, *explain, console),
        // Carried out above.
        Action::Program(_) => Ok(()),
        Action::Demo { limit } => demo::demo(&file, object, asked.threads, *limit, console),
    }
}

/// The tree and branch, with a remark if the tree was not named.
fn place(file: &forthwith::File, object: &str, console: &mut Console<'_>) -> Result<opened::Place> {
    let place = opened::place(file, object)?;
    if console.width.is_some()
        && let Some(note) = place.note()
    {
        console.note(&note);
    }
    Ok(place)
}
