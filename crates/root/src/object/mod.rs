//! Objects: the cursor they are read with, and the walker that reads any of them by its streamer info.

mod basket;
mod collections;
mod cursor;
mod frame;
mod items;
mod kind;
mod layout;
mod objects;
mod reader;
#[cfg(test)]
mod tests;
mod together;
mod walk;

pub use basket::{BasketHeader, EmbeddedBasket};
pub use cursor::Cursor;
pub use frame::{Frame, TObject, Tag, lossy, text};
pub use kind::Shape;
pub use objects::{Array, Base, Items, Leftover, List, Object, Objects, Packed, Value};
pub use walk::Walker;
