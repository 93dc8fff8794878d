//! Parts of every record: a cursor for numbers, frames and references, the key, and the header of baskets.

mod basket;
mod cursor;
mod frame;
mod key;
#[cfg(test)]
mod tests;

pub use basket::{BasketHeader, EmbeddedBasket};
pub(crate) use cursor::BYTE_COUNT;
pub use cursor::{Cursor, Frame};
pub(crate) use frame::{BEFORE, IS_REFERENCED, is_bad_reference};
pub use frame::{TObject, Tag, lossy, text};
pub use key::{Datime, Key, KeyOf, RawKey};
