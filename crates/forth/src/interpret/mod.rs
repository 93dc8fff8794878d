//! The tiers that interpret.

mod bulk;
mod checked;
pub(crate) mod flat;
pub(crate) mod fused;
mod read;
pub(crate) mod settled;
mod text;

pub(crate) use read::{decode, natural, to_stack, varint};
