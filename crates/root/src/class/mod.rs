//! Classes of a file, for objects and columns: their members, and the classes with a custom streamer.

mod describe;
mod item;
mod kind;
mod layout;
mod layouts;
mod native;
mod own;

pub use describe::{describe, is_described, versions};
pub use item::{Item, Pair};
pub use kind::Native;
pub(crate) use layout::OLD_LOOPS;
pub use layout::{Base, Layout, Member, Numbers, StoredBase, Value, dimensions};
pub use layouts::Layouts;
pub use native::{known, native};
pub use own::ANY_VERSION;
