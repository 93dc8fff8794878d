//! Objects of several files merged into one, by ROOT's own rules. The arithmetic of histograms is in `forthwith-hist`.

mod bins;
mod graph;
mod parameter;
mod sparse;
mod stored;
mod sum;

pub use sum::Sum;
