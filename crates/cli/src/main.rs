//! The `forthwith` command.

use forthwith_cli::{Terminal, run, wants_color};
use std::{
    io::{self, BufWriter, IsTerminal},
    process::ExitCode,
};

fn main() -> ExitCode {
    let stdout = io::stdout();
    let terminal = terminal(stdout.is_terminal());
    // Output is buffered, since it consists of many small lines. The library flushes it before it waits or
    // reports errors.
    let mut out = BufWriter::new(stdout.lock());
    let code = run(std::env::args_os(), &mut out, &mut io::stderr().lock(), terminal);
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}

fn terminal(is_terminal: bool) -> Terminal {
    // Some terminals report a width of 0.
    let known = || terminal_size::terminal_size().filter(|(width, _)| width.0 > 0);
    let width = || known().map_or(100, |(width, _)| usize::from(width.0));
    let color = wants_color(is_terminal, |name| std::env::var_os(name));
    Terminal { width: is_terminal.then(width), color }
}
