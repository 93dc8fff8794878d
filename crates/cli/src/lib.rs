//! The `forthwith` command as a library. Flags are parsed and resolved into a request, which calls the
//! façade; results are printed as text or JSON.
//!
//! [`run`] is the entry point. It prints only to the given writers, so that tests see the same output as
//! users:
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
//! Internally, `flags` defines the command line and `meaning` resolves it. `opened` finds the tree and
//! branch. Each command has a module of the same name that collects a report and renders it.
#![deny(missing_docs)]
#![allow(clippy::disallowed_methods, reason = "only for systems with processes and clocks")]

mod bench;
mod binned;
mod browse;
mod cancellation;
mod candidates;
mod chain;
mod check;
mod choice;
mod completions;
mod console;
mod convert;
mod copy;
mod count;
mod demo;
mod destination;
mod diff;
mod document;
mod dump;
mod end;
mod explain;
mod failure;
mod flags;
mod forth;
mod freq;
mod generate;
mod graph;
mod head;
mod index;
mod interrupt;
mod kept_stats;
mod ls;
mod man;
mod mcp;
mod meaning;
mod object;
mod opened;
mod picture;
mod plot;
mod recover;
mod schema;
mod shape;
mod shorthand;
mod show;
mod sniff;
mod stats;
mod survey;
mod table;
mod target;
mod words;

pub use document::page;
pub use forth::Keyboard;
pub use forthwith_browse::paint::wants_color;

use cancellation::Cancellation;
use clap::{
    FromArgMatches,
    error::{ContextKind, ErrorKind},
};
use console::Console;
use failure::{Failure, Result};
use flags::Typed;
use forthwith::plan::similar_names;
use forthwith_browse::{glob, heat, histogram, human, numbers, paint};
use meaning::{Action, Asked};
use paint::Paint;
use shape::Shape;
use std::{ffi::OsString, io::Write};
use target::Target;

/// The terminal or file to which answers are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terminal {
    /// Width of a line in characters; `None` unless a terminal: lines are then not cut.
    pub width: Option<usize>,
    /// Whether colours are supported.
    pub color: bool,
}

/// Runs a command line, starting with the program's name, and returns the exit code. Input comes from
/// standard input.
pub fn run(
    args: impl IntoIterator<Item = OsString>,
    out: &mut dyn Write,
    err: &mut dyn Write,
    terminal: Terminal,
) -> i32 {
    run_with(args, &mut Keyboard::standard(), out, err, terminal)
}

/// Like [`run`], but reads from `keyboard` instead of standard input.
pub fn run_with(
    args: impl IntoIterator<Item = OsString>,
    keyboard: &mut Keyboard<'_>,
    out: &mut dyn Write,
    err: &mut dyn Write,
    terminal: Terminal,
) -> i32 {
    run_until(args, keyboard, out, err, terminal, None)
}

/// Like [`run_with`], but another thread may cancel it.
fn run_until(
    args: impl IntoIterator<Item = OsString>,
    keyboard: &mut Keyboard<'_>,
    out: &mut dyn Write,
    err: &mut dyn Write,
    terminal: Terminal,
    cancellation: Option<Cancellation>,
) -> i32 {
    let command = flags::command().term_width(terminal.width.unwrap_or(100).clamp(40, 120));
    let shown = command.get_subcommands().filter(|verb| !verb.is_hide_set());
    let verbs: Vec<&str> = shown.map(|verb| verb.get_name()).chain(["help"]).collect();
    let args = shorthand::expand(args.into_iter().collect(), &verbs, |path| path.exists());
    let verbs: Vec<String> = verbs.into_iter().map(str::to_owned).collect();
    let typed = command.try_get_matches_from(args).and_then(|matches| Typed::from_arg_matches(&matches));
    let typed = match typed {
        Ok(typed) => typed,
        Err(error) if error.kind() == ErrorKind::InvalidSubcommand => {
            let word = error.get(ContextKind::InvalidSubcommand).map(ToString::to_string).unwrap_or_default();
            let word = human::clean(&word);
            let here = ELSEWHERE.iter().find(|(elsewhere, _)| *elsewhere == word);
            let near = || similar_names(&word, verbs.iter().map(String::as_str)).into_iter().next();
            let here = match here {
                Some((_, instead)) => format!("\n  {instead}"),
                None => near().map_or_else(String::new, |verb| format!("\n  did you mean forthwith {verb}?")),
            };
            let verbs = human::wrap(&verbs, ", ", 100, 4);
            let what = format!(
                "there is no command and no file called {word}{here}\n  the commands are\n    {verbs}"
            );
            // Errors from a closed output are ignored.
            let _ = writeln!(err, "forthwith: {what}\n  forthwith --help says what they do");
            return 2;
        }
        Err(error) => return usage(&error, out, err, terminal),
    };
    let mut asked = Asked::from_typed(typed, terminal);
    if let Ok(asked) = &mut asked {
        asked.opening.cancellation = cancellation;
    }
    let paint = asked.as_ref().map_or(Paint { color: false }, |asked| asked.paint);
    let mut console = Console::new(out, err, terminal.width, paint);
    let done = asked.and_then(|asked| {
        if let [first, rest @ ..] = &asked.partial[..] {
            let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
            let first = human::clean(&first.to_string_lossy());
            console.note(&format!("left out, as unfinished or a backup by its name: {first}{more}"));
        }
        carry_out(&asked, keyboard, &mut console)
    });
    match done.and_then(|()| console.flush()) {
        Ok(()) => 0,
        Err(failure) => {
            let code = failure.code();
            if code != 0 && !matches!(failure, Failure::Told { .. }) {
                console.fail(&failure);
            }
            code
        }
    }
}

/// Prints a message of the parser: help and version to the output, errors to the error output.
fn usage(error: &clap::Error, out: &mut dyn Write, err: &mut dyn Write, terminal: Terminal) -> i32 {
    let text = error.render();
    let text = if terminal.color { text.ansi().to_string() } else { text.to_string() };
    // Hints for passing an unknown option as a value are removed; it is rarely meant as a file name.
    let text = match text.split_once("\n\n  ") {
        Some((before, rest)) if rest.contains(" as a value, use ") => {
            let after = rest.split_once('\n').map_or("", |(_, after)| after);
            format!("{before}\n{after}")
        }
        _ => text,
    };
    let answer = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    // Errors from a closed output are ignored.
    let _ = if answer {
        out.write_all(text.as_bytes()).and_then(|()| out.flush())
    } else {
        err.write_all(text.as_bytes())
    };
    if answer { 0 } else { 2 }
}

fn carry_out(asked: &Asked, keyboard: &mut Keyboard<'_>, console: &mut Console<'_>) -> Result<()> {
    match (&asked.verb, &asked.targets[..]) {
        (Action::Program(act), _) => forth::program(act, keyboard, console),
        (Action::Mcp(serving), _) => mcp::serve(serving, &asked.opening, keyboard.reader(), console),
        (Action::Completions(shell), _) => console.text(&completions::script(*shell, &flags::command())),
        (Action::Man(folder), _) => man::write(folder),
        (Action::Candidates { of, word }, _) => console.text(&candidates::lines(of.as_deref(), word)),
        (Action::Convert { choice, conversion }, targets) => {
            convert::convert(targets, choice, conversion, &asked.opening, console)
        }
        (Action::Diff(comparison), _) => diff::diff(comparison, asked.shape, &asked.opening, console),
        (Action::Copy(copying), targets) => copy::copy(targets, copying, &asked.opening, console),
        (Action::Count { cut, is_chain }, targets) => {
            let count = if *is_chain { count::count_chain } else { count::count };
            count(targets, cut.as_deref(), asked.shape, &asked.opening, console)
        }
        (Action::Schema { is_chain: true }, targets) => {
            schema::schema_of_chain(targets, asked.shape, &asked.opening, console)
        }
        (Action::Sniff, targets) => sniff::sniff(targets, asked.shape, &asked.opening, console),
        (Action::Index { to }, targets) => index::index(targets, to.as_deref(), &asked.opening, console),
        (Action::Recover(recovering), [target]) => {
            recover::recover(target, recovering, asked.shape, &asked.opening, console)
        }
        (Action::Plot(plotting), [_, _, ..]) if plotting.is_chain => {
            plot::chain(&asked.targets, plotting, asked.shape, &asked.opening, console)
        }
        (Action::Plot(plotting), [_, _, ..]) if plotting.is_together() => {
            plot::together(&asked.targets, plotting, asked.shape, &asked.opening, console)
        }
        (_, [target]) => one(asked, target, console),
        (_, targets) => several(asked, targets, console),
    }
}

/// Runs a command on several files in turn. A failure of one file does not stop the others; the first failure
/// determines the exit code.
fn several(asked: &Asked, targets: &[Target], console: &mut Console<'_>) -> Result<()> {
    let is_json = asked.shape == Shape::Json;
    let mut code = 0;
    for (at, target) in targets.iter().enumerate() {
        if is_json {
            console.text(if at == 0 { "[{\"file\": " } else { ",\n{\"file\": " })?;
            console.json_part(&target.uri)?;
            console.text(", \"answer\":\n")?;
        } else if asked.shape == Shape::Text {
            let gap = if at == 0 { "" } else { "\n" };
            let name = console.paint.strong(&human::clean(&target.typed()));
            console.line(&format!("{gap}{name}"))?;
        }
        console.forget();
        if let Err(failure) = one(asked, target, console) {
            if failure.code() == 0 {
                return Err(failure);
            }
            console.fail(&failure);
            code = if code == 0 { failure.code() } else { code };
        }
        if is_json {
            console.text(match (console.has_answered(), at + 1 == targets.len()) {
                (true, false) => "}",
                (true, true) => "}]\n",
                (false, false) => "null}",
                (false, true) => "null}]\n",
            })?;
        }
    }
    if code == 0 { Ok(()) } else { Err(Failure::Told { code }) }
}

/// Runs a command on one file.
fn one(asked: &Asked, target: &Target, console: &mut Console<'_>) -> Result<()> {
    // `check` reads the whole file, some parts twice.
    let reads_all = matches!(asked.verb, Action::Check { .. });
    let whole = match asked.verb {
        Action::Check { .. } => Some("check reads"),
        Action::Streamers { .. } => Some("streamers lists the classes of"),
        _ => None,
    };
    if let (Some(does), false) = (whole, target.object.is_empty()) {
        let (object, uri) = (&target.object, &target.uri);
        return Err(Failure::misuse(format!("{does} a whole file: leave out :{object}, as in {uri}")));
    }
    let file = if reads_all { opened::whole_file } else { opened::file }(target, &asked.opening)?;
    opened::tell_of_recovery(&file, console);
    let (object, shape) = (target.object.as_str(), asked.shape);
    match &asked.verb {
        Action::Ls { recursive, long } => ls::ls(&file, object, *recursive, *long, shape, console),
        Action::Show { filter } => match place(&file, target, console) {
            Err(Failure::WrongObject { key, .. }) if !key.is_directory => {
                object::show(&file, &key, shape, console)
            }
            place => show::show(&place?, filter, shape, console),
        },
        Action::Browse(asking) => browse::browse(&file, target, asking, &asked.opening, console),
        Action::Plot(plotting) => plot::plot(&file, target, plotting, shape, console),
        Action::Streamers { filter } => object::streamers(&file, filter, shape, console),
        Action::Head { end, choice, not_numbers, values } => {
            let place = place(&file, target, console)?.with_values(*values);
            head::head(&place, *end, choice, shape, *not_numbers, console)
        }
        Action::Stats { summary } => {
            stats::stats(place(&file, target, console)?, summary, shape, &asked.opening, console)
        }
        Action::Freq { summary } => {
            freq::freq(place(&file, target, console)?, summary, shape, &asked.opening, console)
        }
        Action::Dump(dump) => dump::dump(&file, target, dump, shape, console),
        Action::Bench { summary, rounds } => bench::bench(
            &place(&file, target, console)?,
            summary,
            *rounds,
            shape,
            asked.opening.threads,
            console,
        ),
        Action::Gen(language) => generate::generate(&place(&file, target, console)?, *language, console),
        Action::Schema { .. } => schema::schema(&place(&file, target, console)?, shape, console),
        Action::Explain { filter } => {
            explain::explain(&place(&file, target, console)?, filter, shape, console)
        }
        Action::Check { strict } => check::check(&file, *strict, shape, console),
        Action::Forth { explain } => forth::forth(&opened::place(&file, object)?, *explain, console),
        Action::Demo { limit } => demo::demo(&file, object, asked.opening.threads, *limit, console),
        // Commands on all files together, or without files.
        Action::Convert { .. }
        | Action::Copy(_)
        | Action::Recover(_)
        | Action::Mcp(_)
        | Action::Diff(_)
        | Action::Count { .. }
        | Action::Index { .. }
        | Action::Sniff
        | Action::Program(_)
        | Action::Candidates { .. }
        | Action::Man(_)
        | Action::Completions(_) => Ok(()),
    }
}

/// Returns the tree and branch, with a note if the tree was not named.
fn place(file: &forthwith::File, target: &Target, console: &mut Console<'_>) -> Result<opened::Place> {
    let place = opened::place_in(file, target)?;
    place.tell(console);
    Ok(place)
}

/// Names of commands in ROOT, groot, parquet-tools and VisiData, each with its equivalent here.
const ELSEWHERE: [(&str, &str); 22] = [
    ("hadd", "it is forthwith merge"),
    ("rootls", "it is forthwith ls"),
    ("rootcp", "it is forthwith cp"),
    ("rootmerge", "it is forthwith merge"),
    ("rootprint", "it is forthwith plot"),
    ("rootbrowse", "it is forthwith browse"),
    ("rootdiff", "it is forthwith diff"),
    ("copy", "it is forthwith cp"),
    ("compare", "it is forthwith diff"),
    ("draw", "it is forthwith plot"),
    ("rootreadspeed", "it is forthwith bench"),
    ("info", "it is forthwith ls"),
    ("meta", "it is forthwith schema"),
    ("print", "it is forthwith head"),
    ("rowcount", "it is forthwith count"),
    ("scan", "it is forthwith head"),
    ("statistics", "it is forthwith stats"),
    ("describe", "it is forthwith stats"),
    ("summarize", "it is forthwith stats"),
    ("frequency", "it is forthwith freq"),
    ("value_counts", "it is forthwith freq"),
    ("file", "it is forthwith sniff"),
];
