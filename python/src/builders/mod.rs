//! Builders: one file for each kind, and what they share to walk over Python objects.

mod arrays;
mod discover;
mod kinds;
mod times;
mod trouble;
mod walk;

pub(crate) use discover::{ArrayBuilder, Snapshot};
