//! Tier 1: flat code from the lowering, with fused instructions, native loops for what is recognised, and
//! tier 0 for all else.

mod activation;
mod code;
mod encode;
mod enter;
pub(crate) mod items;
mod machine_code;
mod run;

pub(crate) use code::FlatCode;
pub(crate) use enter::Ran;
