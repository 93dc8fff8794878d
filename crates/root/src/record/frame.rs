//! Small structures that occur in every object.

use forthwith_plan::{Error, ErrorKind, Result};

use super::cursor::{BYTE_COUNT, Cursor};

/// Contents of a `TObject`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TObject {
    /// Number among referenced objects.
    pub unique_id: u32,
    /// Status bits. Some of them (`kIsOnHeap`, `kNotDeleted`) only concern the writing process.
    pub bits: u32,
    /// Index of the process id, if the object is referenced.
    pub process_id: Option<u16>,
}

/// Tag in place of a pointer to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag<'a> {
    /// Null pointer.
    Null,
    /// Pointer to the object of the record itself.
    Itself,
    /// Reference to an object in the record, by the position of its beginning.
    Reference(usize),
    /// New object of this class. Its contents follow.
    Object {
        /// The class name.
        class: &'a [u8],
        /// Offset of the object, by which references identify it.
        begin: usize,
        /// End of the object, if it has a byte count.
        end: Option<usize>,
    },
}

impl<'a> Cursor<'a> {
    /// Reads a `TObject` of any version.
    ///
    /// # Errors
    /// Returns an error if the frame ends early.
    pub fn tobject(&mut self) -> Result<TObject> {
        let version = self.i16()?;
        if version & 0x4000 != 0 {
            // In old files, this is the upper half of a byte count. Its lower half and the version follow.
            self.skip(4)?;
        }
        let unique_id = self.u32()?;
        let bits = self.u32()?;
        let process_id = if bits & IS_REFERENCED != 0 { Some(self.u16()?) } else { None };
        Ok(TObject { unique_id, bits, process_id })
    }

    /// Reads a `TNamed`: name and title.
    ///
    /// # Errors
    /// Returns an error if the frame ends early, or if the byte count is wrong.
    pub fn tnamed(&mut self) -> Result<(&'a [u8], &'a [u8])> {
        let frame = self.frame()?;
        self.tobject()?;
        let name = self.string()?;
        let title = self.string()?;
        self.leave(&frame);
        Ok((name, title))
    }

    /// Reads the beginning of ROOT's own collections, after the frame: a `TObject`, a name, and the number of
    /// objects.
    pub(crate) fn collection(&mut self, version: i16) -> Result<(&'a [u8], usize)> {
        if version > 2 {
            self.tobject()?;
        }
        let name = if version > 1 { self.string()? } else { &[] };
        let count = self.i32()?;
        Ok((name, self.count("number of objects in a collection", count, 4)?))
    }

    /// Skips the option that a `TList` has for each object.
    pub(crate) fn list_option(&mut self, version: i16) -> Result<()> {
        if version > 3 {
            // Only version 5 can have an option of 255 bytes or more.
            let length = match self.u8()? {
                255 if version > 4 => self.u32()?,
                short => u32::from(short),
            };
            self.skip(u64::from(length))?;
        }
        Ok(())
    }

    /// Reads the tag of a pointer to an object, up to the object's contents.
    ///
    /// References to classes are resolved by their position alone, so that objects may be read in any order.
    ///
    /// # Errors
    /// Returns an error if the bytes end early, if the byte count exceeds them, or if a class reference is
    /// invalid.
    pub fn tag(&mut self) -> Result<Tag<'a>> {
        let begin = self.position();
        let first = self.u32()?;
        if first == 0 {
            return Ok(Tag::Null);
        }
        let (tag, end) = if first & BYTE_COUNT == 0 || first == NEW_CLASS {
            (first, None)
        } else {
            let count = (first & !BYTE_COUNT) as usize;
            if count > self.remaining() {
                let limit = self.remaining() as i64;
                return Err(Error::out_of_range("byte count", count, limit).at_byte(begin as u64));
            }
            let end = self.position() + count;
            (self.u32()?, Some(end))
        };
        if tag & CLASS != 0 {
            let class = match tag {
                NEW_CLASS => self.cstring()?,
                // A name may lack its end.
                _ => self
                    .named(tag)
                    .filter(|&(position, _)| position < begin)
                    .and_then(|(_, mut there)| there.cstring().ok())
                    .ok_or_else(|| bad_reference(tag & !CLASS, begin))?,
            };
            if let Some(end) = end.filter(|&end| end < self.position()) {
                let (what, least) = ("end of an object before its class", self.position() as u64);
                let error = ErrorKind::Mismatch { what, expected: least, found: end as u64 };
                return Err(Error::new(error).at_byte(begin as u64));
            }
            return Ok(Tag::Object { class, begin, end });
        }
        if let Some(end) = end {
            // A reference has no contents, whatever its byte count is.
            self.seek(end)?;
        }
        match tag {
            0 => Ok(Tag::Null),
            1 => Ok(Tag::Itself),
            _ => match self.referred(tag) {
                Some(position) => Ok(Tag::Reference(position)),
                None => Err(bad_reference(tag, begin)),
            },
        }
    }

    /// Returns the position at which a class reference's class was first named, and a cursor before its name.
    fn named(&self, tag: u32) -> Option<(usize, Self)> {
        let position = self.referred(tag & !CLASS).filter(|_| tag & CLASS != 0)?;
        let mut there = Self::new(self.data());
        there.seek(position).ok()?;
        (there.u32().ok()? == NEW_CLASS).then_some((position, there))
    }

    /// Returns whether a tag names a class, or refers to a class name.
    pub(crate) fn names_class(&self, tag: u32) -> bool {
        tag == NEW_CLASS || self.named(tag).is_some()
    }

    /// Returns the position in the payload of a reference. It is shifted by two, since 0 and 1 have other
    /// meanings.
    fn referred(&self, reference: u32) -> Option<usize> {
        reference.checked_sub(self.origin())?.checked_sub(2).map(|position| position as usize)
    }
}

#[cold]
fn bad_reference(reference: u32, begin: usize) -> Error {
    Error::not_a(BEFORE, reference.to_string()).at_byte(begin as u64)
}

/// Returns whether an error is that of an invalid reference to a class or object.
pub(crate) fn is_bad_reference(error: &Error) -> bool {
    matches!(error.kind, ErrorKind::NotA { what: BEFORE, .. })
}

/// What the tag of a class or an object must be, in errors.
pub(crate) const BEFORE: &str = "a reference to something before";

/// Decodes text from a file: UTF-8 if it is valid, and otherwise Latin-1, so that different names stay
/// different.
///
/// The bytes are copied before they are validated, as another process may rewrite a mapped file in between,
/// which would invalidate a `str` over the bytes.
#[must_use]
pub fn text(bytes: &[u8]) -> String {
    match String::from_utf8(bytes.to_vec()) {
        Ok(text) => text,
        Err(error) => error.into_bytes().into_iter().map(char::from).collect(),
    }
}

/// Decodes text for messages: invalid UTF-8 is replaced. The bytes are copied first, as in [`text`].
#[must_use]
pub fn lossy(bytes: &[u8]) -> String {
    let copied = bytes.to_vec();
    String::from_utf8_lossy(&copied).into_owned()
}

/// Tag before a class name.
const NEW_CLASS: u32 = 0xFFFF_FFFF;
/// Bit of a tag that refers to an earlier class name.
const CLASS: u32 = 0x8000_0000;
/// Status bit of a `TObject` after which a process id follows.
pub(crate) const IS_REFERENCED: u32 = 0x10;
