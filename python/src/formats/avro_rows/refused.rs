//! Errors of encoding, with their place.

use super::nodes::{Nodes, Of};
use crate::builders::described;
use pyo3::{prelude::*, types::PyAny};
use std::fmt::Write;

mod classes {
    pyo3::import_exception!(forthwith._errors, RequestTypeError);
}

pub(super) type Walked<T> = Result<T, Trouble>;

/// Errors that end an encoding.
pub(super) enum Trouble {
    /// A value does not match its type. Other branches of a union are tried.
    Refused(Box<Refused>),
    /// An error that ends the encoding of the row: too much nesting or ambiguity, or an exception of Python
    /// code.
    Ended(Box<(Ended, Vec<Step>)>),
}

pub(super) struct Refused {
    /// The number of the type.
    pub(super) node: usize,
    pub(super) why: Why,
    place: Vec<Step>,
}

/// Reasons why a value does not match a type. Their text is created for reported errors only, as most
/// mismatches are those of other branches.
pub(super) enum Why {
    /// The value has another type.
    Type(Py<PyAny>),
    /// The value is out of range.
    Range(Py<PyAny>),
    /// A record lacks a field, given by its position.
    Missing(usize),
    /// A record has an unknown field.
    Extra(Py<PyAny>),
    /// A key of a map is not text.
    Key(Py<PyAny>),
    /// Any other reason.
    Other(String),
}

pub(super) enum Ended {
    Deep,
    Ambiguous,
    Raised(PyErr),
}

/// A step from a value to a nested value.
pub(super) enum Step {
    /// A field: number of the type, and position of the field.
    Field(usize, usize),
    Item(usize),
    Key(String),
}

impl Trouble {
    pub(super) fn refused(node: usize, why: Why) -> Self {
        Self::Refused(Box::new(Refused { node, why, place: Vec::new() }))
    }

    pub(super) fn ended(why: Ended) -> Self {
        Self::Ended(Box::new((why, Vec::new())))
    }

    #[must_use]
    pub(super) fn within(mut self, step: Step) -> Self {
        match &mut self {
            Self::Refused(refused) => refused.place.push(step),
            Self::Ended(ended) => ended.1.push(step),
        }
        self
    }

    /// Returns the exception, which names row and column. An exception of Python code is unchanged, with the
    /// place as a note.
    pub(super) fn into_exception(self, py: Python<'_>, nodes: &Nodes, row: usize) -> PyErr {
        let (text, place) = match self {
            Self::Refused(refused) => (refused.text(py, nodes), refused.place),
            Self::Ended(ended) => match *ended {
                (Ended::Raised(error), place) => {
                    let place = spelled(nodes, row, &place);
                    // Failure to add a note must not replace the exception.
                    let _ = error.value(py).call_method1("add_note", (format!("at {place} of what is written"),));
                    return error;
                }
                (Ended::Deep, place) => (format!("values within values, more than {DEEPEST} levels deep"), place),
                (Ended::Ambiguous, place) => {
                    ("too many branches of unions within unions may be meant; hints as (name, value) say which".into(), place)
                }
            },
        };
        classes::RequestTypeError::new_err(format!("{}: {text}", spelled(nodes, row, &place)))
    }
}

impl<E> From<E> for Trouble
where
    PyErr: From<E>,
{
    fn from(error: E) -> Self {
        Self::ended(Ended::Raised(error.into()))
    }
}

impl Refused {
    /// Whether the mismatch is in a nested value, or other than of type. The branch of the union is then
    /// probably the intended one.
    pub(super) fn is_near(&self) -> bool {
        !self.place.is_empty() || !matches!(self.why, Why::Type(_))
    }

    fn text(&self, py: Python<'_>, nodes: &Nodes) -> String {
        let (node, of) = (nodes.get(self.node), &nodes.get(self.node).described);
        match &self.why {
            Why::Type(value) if value.is_none(py) => format!("None cannot be written as {of}"),
            Why::Type(value) => format!("{} cannot be written as {of}", described(value.bind(py))),
            Why::Range(value) => format!("{} is not within {of}", described(value.bind(py))),
            Why::Missing(field) => {
                let name = match &node.of {
                    Of::Record(members) => members.get(*field).map_or("", |member| &member.name),
                    _ => "",
                };
                format!("{name} is specified by {of} but missing from the row, and may not be left out")
            }
            Why::Extra(key) => format!("{of} has no field for {}", described(key.bind(py))),
            Why::Key(key) => format!("{} is no text, as keys of {of} are", described(key.bind(py))),
            Why::Other(text) => text.clone(),
        }
    }
}

/// Describes a place: the row, and the column with the path in it.
fn spelled(nodes: &Nodes, row: usize, place: &[Step]) -> String {
    let mut path = String::new();
    for step in place.iter().rev() {
        // Writes to a `String` do not fail.
        let _ = match step {
            Step::Field(node, at) => {
                let name = match &nodes.get(*node).of {
                    Of::Record(members) => members.get(*at).map_or("", |member| &member.name),
                    _ => "",
                };
                write!(path, "{}{name}", if path.is_empty() { "" } else { "." })
            }
            Step::Item(at) => write!(path, "[{at}]"),
            Step::Key(key) => write!(path, "[{key:?}]"),
        };
    }
    match path.as_str() {
        "" => format!("row {row}"),
        path => format!("row {row}, column '{path}'"),
    }
}

/// Maximum depth of nesting. Python lists may contain themselves, and types may be recursive.
pub(super) const DEEPEST: usize = 256;
