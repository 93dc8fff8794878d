//! Errors for outputs that are not the buffers of a type.

/// Error for outputs that are not the buffers of a type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Misfit {
    /// An output is missing, superfluous, or of another dtype.
    #[error(
        "{place} of {ty} needs {wanted}, but {found} (outputs belong to the type in the order of their declarations)"
    )]
    Output {
        /// Path in the type, such as `hits[].energy`.
        place: String,
        /// Type at the path.
        ty: String,
        /// Description of the outputs that are expected.
        wanted: String,
        /// Description of the output that was found.
        found: String,
    },
    /// Offsets are empty, or lengths contradict each other.
    #[error("{place}: {what}")]
    Length {
        /// Path in the type.
        place: String,
        /// Description of the fault.
        what: String,
    },
    /// An item is invalid for the type.
    #[error("item {item} of the output {output} is {found}, {what}")]
    Value {
        /// Name of the output.
        output: String,
        /// Index of the item.
        item: u64,
        /// The item.
        found: String,
        /// Description of the fault.
        what: String,
    },
    /// The type cannot be built from outputs.
    #[error("{place}: {ty} cannot be made of outputs; {instead}")]
    Unsupported {
        /// Path in the type.
        place: String,
        /// Type at the path.
        ty: String,
        /// Description of the types that can be built.
        instead: &'static str,
    },
}
