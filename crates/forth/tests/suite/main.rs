//! Behaviour of the language and the machine, seen from outside.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod bytecode;
mod compile_errors;
mod driving;
mod equality;
mod programs;
mod quirks;
mod support;
mod words;
