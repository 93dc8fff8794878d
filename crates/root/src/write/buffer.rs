//! The buffer that one object is serialised to.

use std::collections::HashMap;

use crate::record::BYTE_COUNT;

/// Payload of one record, serialised as big-endian bytes. A [`Cursor`](crate::Cursor) reads it.
///
/// Class tags and references contain offsets from the first byte of the record's key, so the buffer stores
/// the key's length. Its methods do not fail: [`is_too_long`](Self::is_too_long) tells afterwards whether a
/// length did not fit its field.
#[derive(Debug, Default)]
pub struct Buffer {
    bytes: Vec<u8>,
    /// Length of the key before the payload, in bytes.
    origin: u32,
    /// Offset of the first tag of each class, counted from the first byte of the key.
    classes: HashMap<Box<str>, u32>,
    too_long: bool,
}

macro_rules! numbers {
    ($($name:ident),*) => {$(
        #[doc = concat!("Appends a `", stringify!($name), "`.")]
        pub fn $name(&mut self, value: $name) {
            self.bytes.extend(value.to_be_bytes());
        }
    )*};
}

impl Buffer {
    /// Creates an empty payload that follows a key of `key_len` bytes.
    #[must_use]
    pub fn new(key_len: u16) -> Self {
        Self { origin: key_len.into(), ..Self::default() }
    }

    /// Creates a part of a payload that begins at `offset`, counted from the first byte of the key.
    #[must_use]
    pub fn at(offset: u32) -> Self {
        Self { origin: offset, ..Self::default() }
    }

    numbers!(u8, i8, u16, i16, u32, i32, u64, i64, f32, f64);

    /// Returns the bytes appended so far.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the offset of the buffer's first byte, counted from the first byte of the key: the key's
    /// length, unless the buffer is a [part](Self::at) of a payload.
    #[must_use]
    pub fn origin(&self) -> u32 {
        self.origin
    }

    /// Whether a length exceeded its field, or the payload exceeds the 1 GiB that a byte count can express.
    #[must_use]
    pub fn is_too_long(&self) -> bool {
        self.too_long || self.bytes.len() >= LONGEST
    }

    /// Appends bytes unchanged.
    pub fn extend(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
    }

    /// Returns the appended bytes, without a copy.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Appends an offset in the file, with 64 bits if `big` and otherwise 32.
    pub(super) fn seek(&mut self, position: u64, big: bool) {
        if big {
            self.u64(position);
        } else {
            // Callers pass `big` for offsets above `LAST_SMALL`.
            self.u32(position as u32);
        }
    }

    /// Appends a `TUUID`: its version, and the 16 bytes. Appends nothing for `None`.
    pub(super) fn uuid(&mut self, uuid: Option<[u8; 16]>) {
        if let Some(uuid) = uuid {
            self.u16(1);
            self.extend(&uuid);
        }
    }

    /// Appends a boolean as one byte.
    pub fn bool(&mut self, value: bool) {
        self.u8(value.into());
    }

    /// Appends a string after its length: a `TString`, or the text of a `std::string`.
    pub fn string(&mut self, text: impl AsRef<[u8]>) {
        let text = text.as_ref();
        match u8::try_from(text.len()) {
            Ok(short) if short < 255 => self.u8(short),
            _ => {
                self.u8(255);
                let length = i32::try_from(text.len());
                self.too_long |= length.is_err();
                self.i32(length.unwrap_or(0));
            }
        }
        self.extend(text);
    }

    /// Appends a byte count, a class version, and the bytes that `body` appends.
    pub fn frame<R>(&mut self, version: i16, body: impl FnOnce(&mut Self) -> R) -> R {
        self.counted(|buffer| {
            buffer.i16(version);
            body(buffer)
        })
    }

    /// Appends an object of a class without a version: a byte count, the version 0, the class's checksum, and
    /// the bytes that `body` appends.
    pub fn unversioned<R>(&mut self, checksum: u32, body: impl FnOnce(&mut Self) -> R) -> R {
        self.frame(0, |buffer| {
            buffer.u32(checksum);
            body(buffer)
        })
    }

    /// Appends an object as the target of a pointer: a byte count, the class tag, and the bytes that `body`
    /// appends, which begin with a frame. Returns the number to pass to [`reference`](Self::reference) for
    /// further pointers to the object.
    pub fn object(&mut self, class: &str, body: impl FnOnce(&mut Self)) -> u32 {
        let reference = self.place() + 2;
        self.counted(|buffer| {
            buffer.class(class);
            body(buffer);
        });
        reference
    }

    /// Appends the class tag of an object: the class name the first time, its offset afterwards.
    pub(super) fn class(&mut self, class: &str) {
        match self.classes.get(class) {
            Some(place) => self.u32(KNOWN_CLASS | (place + 2)),
            None => {
                let place = self.place();
                self.classes.insert(class.into(), place);
                self.u32(NEW_CLASS);
                self.extend(class.as_bytes());
                self.u8(0);
            }
        }
    }

    /// Appends a pointer to an object of the same payload; [`object`](Self::object) returned its `number`.
    pub fn reference(&mut self, number: u32) {
        self.u32(number);
    }

    /// Appends a null pointer.
    pub fn null(&mut self) {
        self.u32(0);
    }

    /// Appends a `TObject`. Of the status bits, pass only those with a meaning outside the writing process.
    /// `kIsReferenced` is cleared, because a process id would have to follow it.
    pub fn tobject(&mut self, unique_id: u32, bits: u32) {
        self.i16(1);
        self.u32(unique_id);
        self.u32(bits & !crate::record::IS_REFERENCED);
    }

    /// Appends a `TNamed`.
    pub fn tnamed(&mut self, bits: u32, name: impl AsRef<[u8]>, title: impl AsRef<[u8]>) {
        self.frame(1, |buffer| {
            buffer.tobject(0, bits);
            buffer.string(name);
            buffer.string(title);
        });
    }

    /// Appends a `TList`, or a `THashList`, which is stored like it. `each` appends the object with a given
    /// index, by [`object`](Self::object).
    pub fn tlist(&mut self, name: &str, count: usize, mut each: impl FnMut(&mut Self, usize)) {
        self.frame(5, |buffer| {
            buffer.tobject(0, 0);
            buffer.string(name);
            buffer.count(count);
            for index in 0..count {
                each(buffer, index);
                // The object's draw option.
                buffer.string("");
            }
        });
    }

    /// Appends a `TObjArray`. `each` appends the object with a given index, by [`object`](Self::object),
    /// [`reference`](Self::reference) or [`null`](Self::null).
    pub fn tobjarray(&mut self, bits: u32, count: usize, mut each: impl FnMut(&mut Self, usize)) {
        self.frame(3, |buffer| {
            buffer.tobject(0, bits);
            buffer.string("");
            buffer.count(count);
            buffer.i32(0);
            for index in 0..count {
                each(buffer, index);
            }
        });
    }

    /// Appends a number of items as an `i32`.
    pub fn count(&mut self, count: usize) {
        let short = i32::try_from(count);
        self.too_long |= short.is_err();
        self.i32(short.unwrap_or(0));
    }

    /// Returns the offset of the next byte, counted from the first byte of the key.
    pub(super) fn place(&self) -> u32 {
        // A payload whose length wraps here is reported by `is_too_long`.
        self.origin.wrapping_add(self.bytes.len() as u32)
    }

    pub(super) fn counted<R>(&mut self, body: impl FnOnce(&mut Self) -> R) -> R {
        let at = self.begin_count();
        let result = body(self);
        self.end_count(at);
        result
    }

    /// Reserves the four bytes of a byte count, and returns their offset in the buffer.
    pub(super) fn begin_count(&mut self) -> usize {
        let at = self.bytes.len();
        self.u32(0);
        at
    }

    /// Sets the byte count that was reserved at `at` to the number of bytes after it.
    pub(super) fn end_count(&mut self, at: usize) {
        let count = self.bytes.len() - at - 4;
        self.too_long |= count >= LONGEST;
        // The mask only removes bits of a count that is too long, which is reported later.
        self.bytes[at..at + 4].copy_from_slice(&(BYTE_COUNT | count as u32 & !BYTE_COUNT).to_be_bytes());
    }
}

/// Limit of byte counts, which have 30 bits.
const LONGEST: usize = BYTE_COUNT as usize;
const NEW_CLASS: u32 = 0xFFFF_FFFF;
const KNOWN_CLASS: u32 = 0x8000_0000;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a test fails by panicking

    use super::*;
    use crate::{Cursor, Tag};

    #[test]
    fn what_is_written_is_read() {
        let mut buffer = Buffer::new(70);
        let mut first = 0;
        buffer.frame(7, |buffer| {
            buffer.string("x".repeat(254));
            buffer.string("y".repeat(255));
            first = buffer.object("TNamed", |buffer| buffer.tnamed(8, "name", "title"));
            buffer.object("TNamed", |buffer| buffer.tnamed(0, "other", ""));
            buffer.reference(first);
            buffer.null();
        });
        assert!(!buffer.is_too_long());
        let mut cursor = Cursor::with_origin(buffer.bytes(), 70);
        let frame = cursor.frame().unwrap();
        assert_eq!((frame.version, frame.end), (7, Some(buffer.bytes().len())));
        assert_eq!(cursor.string().unwrap().len(), 254);
        assert_eq!(cursor.string().unwrap().len(), 255);
        let Tag::Object { class: b"TNamed", begin, .. } = cursor.tag().unwrap() else { panic!("no object") };
        assert_eq!(cursor.tnamed().unwrap(), (&b"name"[..], &b"title"[..]));
        assert!(matches!(cursor.tag().unwrap(), Tag::Object { class: b"TNamed", .. }));
        assert_eq!(cursor.tnamed().unwrap().0, b"other");
        assert_eq!(cursor.tag().unwrap(), Tag::Reference(begin));
        assert_eq!(first as usize, begin + 70 + 2);
        assert_eq!(cursor.tag().unwrap(), Tag::Null);
        assert_eq!(cursor.remaining(), 0);
    }
}
