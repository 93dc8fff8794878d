//! The tiers that interpret.

mod checked;
pub(crate) mod fused;
mod read;
mod text;

pub(crate) use read::{decode, natural, varint};
