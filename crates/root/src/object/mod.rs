//! Objects: the reader that follows streamer infos, and the objects that it returns.

mod collections;
mod entry;
mod items;
mod marks;
mod member_wise;
mod objects;
mod reader;
mod steps;
mod values;
mod walk;

pub use entry::{EntryValue, names_class};
pub(crate) use marks::{Marks, Spot, SpotKind, may_point};
pub use objects::{Array, Base, Items, Leftover, List, Object, Objects, Packed, Shape, Value};
pub use walk::Walker;
