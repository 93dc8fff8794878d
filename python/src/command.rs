//! The command, for the script that the wheel installs.

use forthwith_cli::{Terminal, run, wants_color};
use pyo3::prelude::*;
use std::{
    borrow::Cow,
    ffi::OsString,
    io::{self, BufWriter},
};

/// Carries out a command line and returns the exit code. Prints to the process's own streams.
#[pyfunction]
#[pyo3(signature = (args, width=None))]
pub(crate) fn command(py: Python<'_>, args: Vec<OsString>, width: Option<usize>) -> i32 {
    py.detach(|| {
        let color = wants_color(width.is_some(), |name| std::env::var_os(name));
        let stdout = io::stdout();
        // Many small lines, one system call; the library flushes before it falls silent or complains.
        let mut out = BufWriter::new(stdout.lock());
        run(args, &mut out, &mut io::stderr().lock(), Terminal { width, color })
    })
}

/// Text of a file as it may be shown: control characters and marks of direction escaped.
#[pyfunction]
pub(crate) fn safe_text(text: &str) -> Cow<'_, str> {
    forthwith::columns::safe_text(text)
}

/// As `safe_text` for each line of a text.
#[pyfunction]
pub(crate) fn safe_lines(text: &str) -> Cow<'_, str> {
    forthwith::columns::safe_lines(text)
}
