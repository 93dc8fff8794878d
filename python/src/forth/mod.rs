//! The AwkwardForth machine, for `forthwith.forth`.

mod inputs;
mod items;
mod machine;
mod slot;
mod ticker;

pub(crate) use inputs::Lent;
pub(crate) use items::Items;
pub(crate) use machine::Machine;
pub(crate) use ticker::{in_main_thread, known_as_main};
