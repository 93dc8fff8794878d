//! Typed schema → AwkwardForth program.
mod contract;
pub use contract::{Fault, OutputBinding, Program};
