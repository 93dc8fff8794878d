//! The command line, for the script that the wheel installs.

use forthwith_cli::{Terminal, run, wants_color};
use pyo3::prelude::*;
use std::{
    borrow::Cow,
    ffi::OsString,
    io::{self, BufWriter},
};

/// Runs a command line with the streams of the process and returns the exit code.
#[pyfunction]
#[pyo3(signature = (args, width=None))]
pub(crate) fn command(py: Python<'_>, args: Vec<OsString>, width: Option<usize>) -> i32 {
    py.detach(|| {
        let color = wants_color(width.is_some(), |name| std::env::var_os(name));
        let stdout = io::stdout();
        // Many small lines become few system calls. The library flushes before it waits or prints an error.
        let mut out = BufWriter::new(stdout.lock());
        run(args, &mut out, &mut io::stderr().lock(), Terminal { width, color })
    })
}

/// Returns text of a file for display, with control characters and bidirectional marks escaped.
#[pyfunction]
pub(crate) fn safe_text(text: &str) -> Cow<'_, str> {
    forthwith::columns::safe_text(text)
}

/// Returns a text for display, with each line escaped as by `safe_text`.
#[pyfunction]
pub(crate) fn safe_lines(text: &str) -> Cow<'_, str> {
    forthwith::columns::safe_lines(text)
}
