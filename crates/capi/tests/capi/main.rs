//! The interface as C calls it.
#![allow(unsafe_code)] // callers of C functions
#![allow(clippy::undocumented_unsafe_blocks, clippy::unwrap_used, clippy::print_stdout)] // tests

mod examples;
mod header;
mod misuse;
mod random;
