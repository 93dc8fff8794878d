//! Classes as files describe them, for objects and columns alike: what their members are, and which classes code of their
//! own streams.

mod layout;
pub(crate) mod native;

pub(crate) use layout::{Member, Value};
