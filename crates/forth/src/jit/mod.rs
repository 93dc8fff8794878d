//! Tier 2: the flat code of [`crate::lower`] as machine code.
//!
//! Every function of the IR becomes one that tier 0 enters at one of its entries and, if other functions call it, one that is
//! called natively. Inputs are read with a comparison each, outputs are appended to by moving a pointer, runs of items are
//! moved by the kernels of tier 1. Nothing grows, fails or prints in machine code: whatever is not the common case leaves at
//! its point, and tier 0 does that word. So there is one way out, it is shared by the instructions of a body, and the code
//! stays small.
//!
//! Compiling takes about a millisecond for ten fields. It is done once for each program and width, and shared.

#[cfg(all(feature = "jit", any(target_arch = "x86_64", target_arch = "aarch64"), target_pointer_width = "64", target_endian = "little", not(miri)))]
#[path = "enabled.rs"]
mod tier;
#[cfg(not(all(feature = "jit", any(target_arch = "x86_64", target_arch = "aarch64"), target_pointer_width = "64", target_endian = "little", not(miri))))]
#[path = "disabled.rs"]
mod tier;

pub(crate) use tier::Jit;

/// Why there is no machine code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Built without the code generator, or for a processor it does not know.
    NotBuilt,
    /// The system does not give out executable memory.
    NoExecutableMemory,
    /// The code generator does not know this processor or refused the program.
    NotSupported,
    /// Compiling would take too long.
    TooLarge,
}

impl Refusal {
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::NotBuilt => "no code generator for this build",
            Self::NoExecutableMemory => "the system refuses executable memory",
            Self::NotSupported => "the code generator refuses it",
            Self::TooLarge => "too large to compile",
        }
    }
}
