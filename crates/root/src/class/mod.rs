//! Classes as files describe them, for objects and columns alike: what their members are, and which classes code of their
//! own streams.

mod layout;
mod native;

pub use layout::{Member, Value};
pub use native::{Native, known, native, symmetric};
