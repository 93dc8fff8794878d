//! Objects: the cursor they are read with, and the walker that reads any of them by its streamer info.

mod cursor;
mod frame;

pub use cursor::Cursor;
pub(crate) use cursor::out_of_range;
pub use frame::{Frame, TObject, Tag, text};
