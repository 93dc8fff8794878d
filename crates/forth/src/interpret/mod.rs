//! The interpreters: tiers 0 and 1.

mod checked;
mod decode;
pub(crate) mod flat;
pub(crate) mod fused;
mod native;
mod read;
mod text;
mod unpack;

pub(crate) use decode::{decode, natural, to_stack, varint};
pub(crate) use text::first_of;
