//! Translates layouts of record-oriented formats to decoders: a [`Layout`] and a [`Dialect`] become a
//! [`Program`].
//!
//! A record-oriented format describes its entries as a [`Layout`] and its encoding of counts, text and entry
//! frames as a [`Dialect`]. [`translate`] turns both into AwkwardForth source and the
//! [`Form`](forthwith_columns::Form) of its outputs. The source is the interface: the machine runs it,
//! `explain` shows it, and it is the key under which compiled programs are cached. A new format of this kind
//! only has to make layouts of its schemas.
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
