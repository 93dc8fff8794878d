//! Errors of a conversion.

use forthwith_builders::{BuildError, CommandError, CommandErrorKind, Fault, Step};
use pyo3::{
    prelude::*,
    types::{PyDict, PyType},
};

pub(super) mod classes {
    pyo3::import_exception!(forthwith._errors, BuilderError);
    pyo3::import_exception!(forthwith._errors, BuilderTypeError);
    pyo3::import_exception!(forthwith._errors, IntegerRangeError);
    pyo3::import_exception!(forthwith._errors, OutOfMemoryError);
}

/// A refused value or command, or an exception of Python code called meanwhile, with its place in the data.
pub(super) enum Trouble {
    Refused(BuildError),
    /// Includes its place.
    Command(CommandError),
    Raised(Box<(PyErr, Vec<Step>)>),
}

pub(super) type Walked<T> = Result<T, Trouble>;

impl Trouble {
    pub(super) fn within(self, step: Step) -> Self {
        match self {
            Self::Refused(refused) => Self::Refused(refused.within(step)),
            Self::Command(refused) => Self::Command(refused),
            Self::Raised(mut raised) => {
                raised.1.push(step);
                Self::Raised(raised)
            }
        }
    }

    /// Returns the exception. An exception of Python code is unchanged, with the place as a note.
    pub(super) fn into_exception(self, py: Python<'_>) -> PyErr {
        match self {
            Self::Refused(refused) => exception(py, &refused),
            Self::Command(refused) => refused_command(py, &refused),
            Self::Raised(raised) => {
                let (error, place) = *raised;
                if !place.is_empty() {
                    let text: String = place.iter().rev().map(ToString::to_string).collect();
                    // Failure to add a note must not replace the exception.
                    let _ = error.value(py).call_method1("add_note", (format!("at {text} of the data"),));
                }
                error
            }
        }
    }
}

impl From<BuildError> for Trouble {
    fn from(refused: BuildError) -> Self {
        Self::Refused(refused)
    }
}

impl From<CommandError> for Trouble {
    fn from(refused: CommandError) -> Self {
        Self::Command(refused)
    }
}

impl From<Fault> for Trouble {
    fn from(fault: Fault) -> Self {
        Self::Refused(fault.into())
    }
}

impl From<PyErr> for Trouble {
    fn from(error: PyErr) -> Self {
        Self::Raised(Box::new((error, Vec::new())))
    }
}

/// Returns the exception for a refused value.
pub(super) fn exception(py: Python<'_>, refused: &BuildError) -> PyErr {
    let class = match refused.fault() {
        Fault::Expected { .. } => py.get_type::<classes::BuilderTypeError>(),
        Fault::TooLarge(_) => py.get_type::<classes::IntegerRangeError>(),
        Fault::Memory(_) => py.get_type::<classes::OutOfMemoryError>(),
        _ => py.get_type::<classes::BuilderError>(),
    };
    let place: String = refused.place().map(ToString::to_string).collect();
    made(&class, refused.to_string(), None, &place)
}

/// Returns the exception for a refused command.
#[cold]
pub(super) fn refused_command(py: Python<'_>, refused: &CommandError) -> PyErr {
    let class = match refused.kind() {
        CommandErrorKind::Range(_) => py.get_type::<classes::IntegerRangeError>(),
        CommandErrorKind::OutOfMemory | CommandErrorKind::Broken => {
            py.get_type::<classes::OutOfMemoryError>()
        }
        _ => py.get_type::<classes::BuilderError>(),
    };
    made(&class, refused.to_string(), Some(refused.entry()), refused.path())
}

fn made(class: &Bound<'_, PyType>, text: String, entry: Option<u64>, member: &str) -> PyErr {
    let known = PyDict::new(class.py());
    let named = known
        .set_item("entry", entry)
        .and_then(|()| known.set_item("member", (!member.is_empty()).then_some(member)));
    let made = named.and_then(|()| class.call((text,), Some(&known)));
    made.map_or_else(|failure| failure, PyErr::from_value)
}
