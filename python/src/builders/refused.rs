//! Commands that were refused, as exceptions.

use forthwith_builders::{CommandError, CommandErrorKind};
use pyo3::{prelude::*, types::PyDict};

pub(super) mod classes {
    pyo3::import_exception!(forthwith._errors, BuilderError);
    pyo3::import_exception!(forthwith._errors, IntegerRangeError);
    pyo3::import_exception!(forthwith._errors, OutOfMemoryError);
}

/// The exception for a command that was refused.
#[cold]
pub(super) fn exception(py: Python<'_>, error: &CommandError) -> PyErr {
    let class = match error.kind() {
        CommandErrorKind::Range { .. } => py.get_type::<classes::IntegerRangeError>(),
        CommandErrorKind::OutOfMemory | CommandErrorKind::Broken => {
            py.get_type::<classes::OutOfMemoryError>()
        }
        _ => py.get_type::<classes::BuilderError>(),
    };
    let known = PyDict::new(py);
    let named = known
        .set_item("entry", error.entry())
        .and_then(|()| known.set_item("member", (!error.path().is_empty()).then(|| error.path())));
    let made = named.and_then(|()| class.call((error.to_string(),), Some(&known)));
    made.map_or_else(|failure| failure, PyErr::from_value)
}
