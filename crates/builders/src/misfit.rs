//! Why outputs are not the buffers of a type.

/// Outputs that are not the buffers of a type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Misfit {
    /// One output is missing, too many, or of another dtype.
    #[error(
        "{place} of {ty} needs {wanted}, but {found} (outputs belong to the type in the order of their declarations)"
    )]
    Output {
        /// The place in the type: `hits[].energy`, or nothing for the type itself.
        place: String,
        /// The type there.
        ty: String,
        /// Which outputs would do.
        wanted: String,
        /// The type it has instead.
        found: String,
    },
    /// Offsets that do not begin with 0, or lengths that contradict each other.
    #[error("{place}: {what}")]
    Length {
        /// The place in the type.
        place: String,
        /// The fault, as a phrase.
        what: String,
    },
    /// An item that means nothing where the type has it.
    #[error("item {item} of the output {output} is {found}, {what}")]
    Value {
        /// The output.
        output: String,
        /// The item's number, from 0.
        item: u64,
        /// The item.
        found: String,
        /// The fault, as a phrase.
        what: String,
    },
    /// A type that no outputs can be.
    #[error("{place}: {ty} cannot be made of outputs; {instead}")]
    Unsupported {
        /// The place in the type.
        place: String,
        /// The type there.
        ty: String,
        /// The types that can be.
        instead: &'static str,
    },
}
