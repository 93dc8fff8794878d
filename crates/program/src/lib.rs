//! The narrow waist of forthwith: a layout and a wire dialect become a [`Program`].
//!
//! A record-oriented format describes its entries as a [`Layout`] and its habits (how counts and text are
//! written, what frames an entry) as a [`Dialect`]; [`translate`] turns both into AwkwardForth text with the
//! [`Form`](forthwith_columns::Form) of what it writes. The text is the interface: it is what the machine
//! runs, what `explain` shows, and the key under which compiled programs are cached. A new format of this
//! kind makes layouts of its layouts and nothing else.
#![deny(missing_docs)]

mod contract;
mod layout;
mod translate;

#[cfg(test)]
mod tagged_tests;
#[cfg(test)]
mod tests;

pub use forthwith_columns::Finisher;
pub use forthwith_forth::{CompileError, RunError, idioms::Idiom};

pub use contract::{ASKED_OUTPUTS, Fault, Member, OutputBinding, Program};
pub use layout::{
    Count, Delivered, Dialect, EncodedValue, Entry, Extent, Frame, Layout, Presence, Rival, Symbols, Tagged,
    TaggedField, TextLength, Union, When, Words,
};
pub use translate::{MAX_DEPTH, Unsupported, check_words, translate, translate_checking};
