//! Objects of several files made one, by ROOT's own rules.

mod axis;
mod bins;
mod graph;
mod numbers;
mod sparse;
mod sum;

pub use sum::Sum;
