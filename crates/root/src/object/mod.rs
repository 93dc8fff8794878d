//! Objects: the walker that reads any of them by its streamer info, and what it has read.

mod collections;
mod items;
mod kind;
mod layout;
mod objects;
mod reader;
mod together;
mod walk;

pub use kind::Shape;
pub use objects::{Array, Base, Items, Leftover, List, Object, Objects, Packed, Value};
pub use walk::Walker;
