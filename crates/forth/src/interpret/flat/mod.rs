//! Tier 1: flat code from the lowering, with fused instructions and native loops for recognised phrases; tier
//! 0 executes the remainder.

mod activation;
pub(super) mod code;
mod encode;
mod enter;
pub(super) mod fast_path;
pub(crate) mod items;
mod machine_code;
mod program;
mod run;
mod skip;

pub(crate) use enter::Ran;
pub(crate) use program::FlatCode;
