//! The engine against a format made for the purpose: blocks are a count, bounds if the group has them, and a
//! payload.
#![allow(clippy::unwrap_used, reason = "tests")]

mod chosen;
mod failures;
mod made;
mod memory;
mod several_files;
mod sources;
mod thread_determinism;
mod writing;
