//! Objects: the cursor they are read with, and the walker that reads any of them by its streamer info.

mod basket;
mod collections;
mod cursor;
mod frame;
mod layout;
mod native;
mod objects;
mod reader;
#[cfg(test)]
mod tests;
mod walk;

pub use basket::{BasketHeader, EmbeddedBasket};
pub use cursor::Cursor;
pub use frame::{Frame, TObject, Tag, text};
pub use layout::Basic;
pub use objects::{Array, Items, Object, Objects, Value};
pub use walk::Walker;
