//! Behaviour of the language and the machine, seen from outside.
#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(unsafe_code, reason = "memory of the caller is part of what is tested")]
#![allow(clippy::disallowed_methods, reason = "tests and examples run where there are processes and clocks")]

mod bytecode;
mod compile_errors;
mod driving;
mod equality;
mod general;
mod hostile;
mod idioms;
mod inline_runs;
mod interrupted;
mod manual;
mod programs;
mod quirks;
mod rewritten;
mod skipping;
mod spec;
mod stepped_over;
mod stepping;
mod support;
mod to_end;
mod words;
