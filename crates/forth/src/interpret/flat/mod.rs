//! Tier 1: flat code from the lowering, with fused instructions, native loops for what is recognised, and
//! tier 0 for all else.

mod activation;
pub(super) mod code;
mod encode;
mod enter;
pub(super) mod fast_path;
pub(crate) mod items;
mod machine_code;
mod run;
mod skip;

pub(crate) use code::FlatCode;
pub(crate) use enter::Ran;
