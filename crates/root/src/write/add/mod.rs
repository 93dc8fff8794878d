//! Merging of objects of several files by ROOT's rules. The arithmetic of histograms is in `forthwith-hist`.

mod bins;
mod graph;
mod parameter;
mod sparse;
mod stored;
mod sum;

pub use sum::Sum;
