//! Expressions over columns: `(Muon_pt > 20) & (abs(Muon_eta) < 2.4)`.
//!
//! An [`Expression`] is a text that was read. A [`Program`] is one or several of them with what their names stand for:
//! types are checked when it is made, before there is any data, and an [`Error`] points at the characters that it is
//! about. [`Program::run`] computes arrays from arrays. Nothing here knows of files.
//!
//! The spelling is Python's over whole arrays, and `docs/details/expressions.md` describes it. Results have the types
//! that NumPy gives them; lists meet lists and numbers as in Awkward Array.
//!
//! # How it is computed
//!
//! Syntax is a list of nodes in which operands stand before what uses them, so that nothing recurses over it. Checking
//! makes steps of it (`Step`), one operation of one type each, and each different one once. A step
//! belongs to a *space*: the entries, or the items of certain lists. Columns whose lists must be equally long have
//! different spaces with a step that compares them, and are one space from there on.
//!
//! Steps run over a few thousand entries at a time, so that everything between a column and the result stays in the
//! cache. Each step is a loop over slices of one type.
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
