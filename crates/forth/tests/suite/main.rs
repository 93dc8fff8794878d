//! Behaviour of the language and the machine, seen from outside.
#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(unsafe_code, reason = "memory of the caller is part of what is tested")]

mod bulk;
mod bytecode;
mod compile_errors;
mod driving;
mod equality;
mod general;
mod hostile;
mod idioms;
mod interrupted;
mod manual;
mod passed;
mod programs;
mod quirks;
mod rewritten;
mod seen;
mod short;
mod spec;
mod support;
mod to_end;
mod words;
