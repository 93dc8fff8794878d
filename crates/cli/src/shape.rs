//! Output formats.

/// Format of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Text for people.
    Text,
    /// A single JSON value.
    Json,
    /// One JSON value per line.
    JsonLines,
}
