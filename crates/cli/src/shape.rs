//! The forms of answers.

/// The form of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// For people.
    Text,
    /// One JSON value.
    Json,
    /// One JSON value a line.
    JsonLines,
}
