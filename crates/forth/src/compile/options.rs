//! The options of the compiler.

/// How many bits a literal in the text may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LiteralWidth {
    /// 32, as in awkward's machine of either width: more are cut (see
    /// [`Program::cut_literals`](crate::Program::cut_literals)).
    #[default]
    Bits32,
    /// 64: nothing is cut. Literals that do not fit 32 bits compile to
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
    /// With literals of another width.
    #[must_use]
    pub const fn literal_width(mut self, width: LiteralWidth) -> Self {
        self.literal_width = width;
        self
    }
}
