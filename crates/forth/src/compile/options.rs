//! The options of the compiler.

/// Number of bits that a literal in the text may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LiteralWidth {
    /// 32 bits, as in Awkward Array's machines of either width: longer literals are truncated (see
    /// [`Program::cut_literals`](crate::Program::cut_literals)).
    #[default]
    Bits32,
    /// 64 bits: literals are not truncated. Literals that exceed 32 bits compile to
    /// [`WIDE_LITERAL`](crate::isa::WIDE_LITERAL).
    Bits64,
}

/// The options of the compiler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Options {
    /// The width of literals.
    pub literal_width: LiteralWidth,
}

impl Options {
    /// Sets the width of literals.
    #[must_use]
    pub const fn literal_width(mut self, width: LiteralWidth) -> Self {
        self.literal_width = width;
        self
    }
}
