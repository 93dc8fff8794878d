//! Keys, as they are written.

use forthwith_plan::{Error, Result};

use super::Buffer;
use crate::record::Datime;

/// The texts of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyText<'a> {
    /// Class of the object.
    pub class: &'a str,
    /// Its name.
    pub name: &'a str,
    /// Its title.
    pub title: &'a str,
}

/// The purpose of a record, as far as its key tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyKind {
    /// An object; its pointers have 64 bits if it stands behind byte 2 000 000 000.
    Object,
    /// A part of a table without a name; its pointers always have 64 bits.
    Blob,
    /// A basket: what it says of itself follows the texts, and belongs to the key. Its pointers always have 64 bits.
    Basket {
        /// Its number in the branch; the key has the lower 16 bits.
        number: u32,
        /// The header that ends the key.
        header: [u8; BASKET_HEADER],
        /// The number that its references count process ids from.
        processes: u16,
    },
}

impl KeyKind {
    /// A basket of which nothing is known but how long its key is.
    pub const BASKET: Self = Self::Basket { number: 0, header: [0; BASKET_HEADER], processes: 0 };
}

/// The place of a record that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordPlace {
    /// Its first byte in the file.
    pub position: u64,
    /// Length of its key. Positions in the payload are counted from the first byte of the key.
    pub key_len: u16,
    /// Bytes behind the key.
    pub stored_len: u64,
    /// Its number among objects of the same name, if a directory lists it.
    pub cycle: u16,
}

impl RecordPlace {
    /// Length of the record with its key.
    #[must_use]
    pub const fn length(&self) -> u64 {
        self.key_len as u64 + self.stored_len
    }
}

/// Bytes of what a basket says of itself: version, size of the buffer, size or number of entries, entries, end of the last, flag.
pub(crate) const BASKET_HEADER: usize = 19;

/// The last byte whose position has 32 bits in keys and directories, for ROOT.
pub(super) const LAST_SMALL: u64 = 2_000_000_000;

impl KeyText<'_> {
    /// The length of a key of this kind at this position.
    ///
    /// # Errors
    /// The texts are longer than a key can be.
    pub fn length(&self, kind: KeyKind, position: u64) -> Result<u16> {
        let fixed = if is_big(kind, position) { 34 } else { 26 };
        let texts = [self.class, self.name, self.title].iter().map(|text| string_length(text)).sum::<usize>();
        let behind = if matches!(kind, KeyKind::Basket { .. }) { BASKET_HEADER } else { 0 };
        let length = fixed + texts + behind;
        u16::try_from(length).ok().filter(|&length| length <= LONGEST).ok_or_else(|| {
            let what =
                format!("name and title of an object have {texts} bytes, and a key has room for {LONGEST}");
            Error::invalid(what).in_object(self.name.get(..80).unwrap_or("…"))
        })
    }
}

fn is_big(kind: KeyKind, position: u64) -> bool {
    kind != KeyKind::Object || position > LAST_SMALL
}

/// Bytes of a string with its length.
pub(super) fn string_length(text: &str) -> usize {
    text.len() + if text.len() < 255 { 1 } else { 5 }
}

/// ROOT takes the length of a key for a signed number.
const LONGEST: u16 = i16::MAX as u16;

/// The numbers of a key.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyNumbers {
    pub(super) stored_len: u64,
    pub(super) object_len: u32,
    pub(super) time: Datime,
    pub(super) cycle: u16,
    pub(super) position: u64,
    pub(super) directory: u64,
}

/// A key.
///
/// # Errors
/// The texts, or the record, are longer than a key has room for.
pub(super) fn encode(text: &KeyText<'_>, kind: KeyKind, numbers: KeyNumbers) -> Result<Buffer> {
    let KeyNumbers { stored_len, object_len, time, cycle, position, directory } = numbers;
    let key_len = text.length(kind, position)?;
    let nbytes = i32::try_from(u64::from(key_len) + stored_len).map_err(|_| {
        let what = format!("a record of {stored_len} bytes, and ROOT's have 2 GB at most");
        Error::invalid(what).in_object(text.name)
    })?;
    let big = is_big(kind, position);
    let mut key = Buffer::default();
    key.i32(nbytes);
    key.i16(if big { 1004 } else { 4 });
    key.u32(object_len);
    key.u32(time.0);
    key.u16(key_len);
    key.u16(cycle);
    [position, directory].into_iter().for_each(|seek| key.seek(seek, big));
    [text.class, text.name, text.title].into_iter().for_each(|text| key.string(text));
    if let KeyKind::Basket { header, .. } = kind {
        key.extend(&header);
    }
    Ok(key)
}
