//! Keys of written records.

use forthwith_plan::{Error, Result};

use super::Buffer;
use crate::record::Datime;

/// Texts of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyText<'a> {
    /// Class name of the object.
    pub class: &'a str,
    /// Name of the object.
    pub name: &'a str,
    /// Title of the object.
    pub title: &'a str,
}

/// Kind of a record, which determines the form of its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyKind {
    /// An object. The key's offsets have 64 bits if the record begins after byte 2 000 000 000.
    Object,
    /// A part of a table without a name. The key's offsets always have 64 bits.
    Blob,
    /// A basket, whose header follows the texts as a part of the key. The key's offsets always have 64 bits.
    Basket {
        /// Index of the basket in its branch, of which the key contains the lower 16 bits.
        number: u32,
        /// Basket header at the end of the key.
        header: [u8; BASKET_HEADER],
        /// Number of process ids that the file had before those of the basket's references.
        processes: u16,
    },
}

impl KeyKind {
    /// A placeholder for a basket, to compute the length of its key.
    pub const BASKET: Self = Self::Basket { number: 0, header: [0; BASKET_HEADER], processes: 0 };
}

/// Position of a written record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordPlace {
    /// Byte offset of the record in the file.
    pub position: u64,
    /// Length of the key in bytes. Offsets in the payload are counted from the first byte of the key.
    pub key_len: u16,
    /// Number of bytes after the key.
    pub stored_len: u64,
    /// Cycle among objects of the same name; 1 for a record that no directory lists, and the lower 16 bits of
    /// the index for a basket.
    pub cycle: u16,
}

impl RecordPlace {
    /// Returns the length of the record in bytes, with its key.
    #[must_use]
    pub const fn length(&self) -> u64 {
        self.key_len as u64 + self.stored_len
    }
}

/// Size of a basket's header in bytes: version, buffer size, size or number of entries, number of entries,
/// end of the last entry, flag.
pub(crate) const BASKET_HEADER: usize = 19;

/// Largest offset that ROOT stores with 32 bits in keys and directories.
pub(super) const LAST_SMALL: u64 = 2_000_000_000;

impl KeyText<'_> {
    /// Returns the length in bytes of a key of this kind at a position of the file.
    ///
    /// # Errors
    /// Returns an error if the texts are too long for a key.
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

/// Returns the number of bytes of a string with its length.
pub(super) fn string_length(text: &str) -> usize {
    text.len() + if text.len() < 255 { 1 } else { 5 }
}

/// Longest key: ROOT reads the length as a signed number.
const LONGEST: u16 = i16::MAX as u16;

/// Numbers of a key.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyNumbers {
    pub(super) stored_len: u64,
    pub(super) object_len: u32,
    pub(super) time: Datime,
    pub(super) cycle: u16,
    pub(super) position: u64,
    pub(super) directory: u64,
}

/// Serialises a key.
///
/// # Errors
/// Returns an error if the texts are too long for a key, or the record for its length.
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
