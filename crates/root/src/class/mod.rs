//! Classes as files describe them, for objects and columns alike: what their members are, and which classes code of their
//! own streams.

mod describe;
mod layout;
mod native;
mod own;

pub use describe::{describe, is_described, versions};
pub use layout::{Member, Value};
pub use native::{Native, known, native};
pub use own::ANY_VERSION;
