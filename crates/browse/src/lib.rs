//! Patterns for names, and values as text and pictures, for people at a terminal.
#![deny(missing_docs)]

pub mod glob;
pub mod histogram;
pub mod human;
pub mod numbers;
pub mod paint;
