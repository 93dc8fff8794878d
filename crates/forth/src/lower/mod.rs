//! Lowering of the structured program to code for the fast tiers.

mod build;
mod effects;
mod flow;
#[allow(dead_code, reason = "the tiers read different parts")]
pub(crate) mod ir;
#[allow(clippy::module_inception, reason = "the verb of its parent")]
mod lower;
mod show;
#[cfg(test)]
mod tests;
mod words;

pub(crate) use effects::{Effects, Miss, Static};
pub(crate) use lower::lower;
