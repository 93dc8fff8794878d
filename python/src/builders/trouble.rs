//! Why a walk ended early.

use forthwith_builders::{BuildError, Fault, Step};
use pyo3::{prelude::*, types::PyDict};

mod classes {
    pyo3::import_exception!(forthwith._errors, BuilderError);
    pyo3::import_exception!(forthwith._errors, BuilderTypeError);
    pyo3::import_exception!(forthwith._errors, IntegerRangeError);
    pyo3::import_exception!(forthwith._errors, OutOfMemoryError);
}

/// A value that was refused, or an exception of Python code that was called on the way; with the place.
pub(super) enum Trouble {
    Refused(BuildError),
    Raised(Box<(PyErr, Vec<Step>)>),
}

pub(super) type Walked<T> = Result<T, Trouble>;

impl Trouble {
    pub(super) fn within(self, step: Step) -> Self {
        match self {
            Self::Refused(refused) => Self::Refused(refused.within(step)),
            Self::Raised(mut raised) => {
                raised.1.push(step);
                Self::Raised(raised)
            }
        }
    }

    /// The exception. One that is not ours is left as it is, with the place as a note.
    pub(super) fn into_exception(self, py: Python<'_>) -> PyErr {
        match self {
            Self::Refused(refused) => exception(py, &refused),
            Self::Raised(raised) => {
                let (error, place) = *raised;
                if !place.is_empty() {
                    let text: String = place.iter().rev().map(ToString::to_string).collect();
                    // A note that cannot be added is no reason to lose the exception.
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

/// The exception for something refused.
pub(super) fn exception(py: Python<'_>, refused: &BuildError) -> PyErr {
    let class = match refused.fault() {
        Fault::Expected { .. } => py.get_type::<classes::BuilderTypeError>(),
        Fault::TooLarge { .. } => py.get_type::<classes::IntegerRangeError>(),
        Fault::Memory { .. } => py.get_type::<classes::OutOfMemoryError>(),
        _ => py.get_type::<classes::BuilderError>(),
    };
    let place: String = refused.place().map(ToString::to_string).collect();
    let known = PyDict::new(py);
    let named = known.set_item("member", if place.is_empty() { None } else { Some(place) });
    let made = named.and_then(|()| class.call((refused.to_string(),), Some(&known)));
    made.map_or_else(|failure| failure, PyErr::from_value)
}
