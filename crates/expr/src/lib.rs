//! Expressions over columns: `(Muon_pt > 20) & (abs(Muon_eta) < 2.4)`.
//!
//! An [`Expression`] is a parsed text. A [`Program`] is one or several of them with resolved names: types are
//! checked when it is made, before any data are read, and an [`Error`] has the position in the text.
//! [`Program::run`] computes arrays from arrays. This crate does not access files.
//!
//! The syntax is that of Python over whole arrays, as described in `docs/details/expressions.md`. Results
//! have NumPy's types; lists are combined with lists and numbers as in Awkward Array.
//!
//! # How it is computed
//!
//! The syntax tree is a list of nodes in which operands precede their users, so that no traversal recurses.
//! Type checking lowers it to distinct steps (`Step`), each a single operation of one type. A step belongs to
//! a *space*: the entries, or the items of certain lists. Columns whose lists must have equal lengths start
//! with different spaces; a step compares these, which are one space from there on.
//!
//! Steps run over a few thousand entries at a time, so that intermediate results stay in the cache. Each step
//! is a loop over slices of one type.
#![deny(missing_docs)]

mod buffer;
mod compile;
mod error;
mod expression;
mod functions;
mod interval;
mod lexer;
mod parser;
mod program;
mod run;
mod scalar;
mod syntax;
#[cfg(test)]
mod tests;
mod types;

pub use error::Error;
pub use expression::{Expression, Named};
pub use interval::Interval;
pub use program::Program;
pub use run::holding;
pub use syntax::Spelling;
