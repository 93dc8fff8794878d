//! Behaviour of the crate: files that are cut, schemas of readers, and files that cannot be written.

mod cut;
mod resolve;
mod write;
