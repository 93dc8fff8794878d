//! Keys, with which records begin.

use forthwith_plan::{Error, Result};

use super::{Cursor, text};

/// Key with texts borrowed from the file.
pub type RawKey<'a> = KeyOf<&'a [u8]>;

/// Key with owned texts.
pub type Key = KeyOf<Box<str>>;

/// Label of a record: its contents and position. Every record begins with a key, and a directory lists those
/// of its objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyOf<Text> {
    /// Length of the record with its key. Negative for a deleted record, whose bytes are free.
    pub nbytes: i32,
    /// Version of the key; above 1000, pointers have 64 bits.
    pub version: i16,
    /// Decompressed length of the payload.
    pub objlen: u32,
    /// Time of writing.
    pub datime: Datime,
    /// Length of the key.
    pub keylen: u16,
    /// Number among objects of the same name.
    pub cycle: u16,
    /// Offset of the record in the file.
    pub seek: u64,
    /// Offset of the directory's record.
    pub seek_directory: u64,
    /// Class of the object.
    pub class_name: Text,
    /// Name of the object.
    pub name: Text,
    /// Title of the object.
    pub title: Text,
}

impl<Text> KeyOf<Text> {
    #[inline]
    fn parse_by<'a>(cursor: &mut Cursor<'a>, text: impl Fn(&'a [u8]) -> Text) -> Result<Self> {
        let nbytes = cursor.i32()?;
        let version = cursor.i16()?;
        let wide = version > 1000;
        Ok(Self {
            nbytes,
            version,
            objlen: cursor.u32()?,
            datime: Datime(cursor.u32()?),
            keylen: cursor.u16()?,
            cycle: cursor.u16()?,
            seek: cursor.pointer(wide)?,
            // The upper 16 of 64 bits are the offset of process ids.
            seek_directory: cursor.pointer(wide)? & 0x0000_FFFF_FFFF_FFFF,
            class_name: text(cursor.string()?),
            name: text(cursor.string()?),
            title: text(cursor.string()?),
        })
    }
}

impl<Text> KeyOf<Text> {
    /// Returns whether this can be the key of the record at a byte of a file that ends at `end`, if `parsed`
    /// of its bytes were parsed.
    pub(crate) fn is_plausible(&self, at: u64, end: u64, parsed: u64) -> bool {
        let keylen = u64::from(self.keylen);
        let fits = u64::try_from(self.nbytes).is_ok_and(|nbytes| keylen <= nbytes && nbytes <= end - at);
        // The header of a basket belongs to its key.
        fits && self.seek == at && (parsed..=parsed + MOST_BEHIND).contains(&keylen)
    }
}

impl<'a> RawKey<'a> {
    /// Parses a key as [`Key::parse`] does. Inlined, because every basket has one.
    ///
    /// # Errors
    /// Returns an error if the bytes end early.
    #[inline]
    pub fn parse(cursor: &mut Cursor<'a>) -> Result<Self> {
        Self::parse_by(cursor, |bytes| bytes)
    }
}

impl Key {
    /// Number of bytes before those whose form depends on the version.
    pub(crate) const FIXED: u64 = 18;

    /// Parses a key, after which the cursor stands. In a list of keys, its length need not be `keylen`.
    ///
    /// # Errors
    /// Returns an error if the bytes end early.
    pub fn parse(cursor: &mut Cursor<'_>) -> Result<Self> {
        Self::parse_by(cursor, |bytes| text(bytes).into())
    }

    /// Returns whether the object is a directory.
    #[must_use]
    pub fn is_directory(&self) -> bool {
        matches!(&*self.class_name, "TDirectory" | "TDirectoryFile")
    }

    /// Returns whether both keys have the same class. In old files, the record of a listed `TDirectoryFile`
    /// has the class `TDirectory`.
    pub(crate) fn is_same_class(&self, other: &Self) -> bool {
        self.class_name == other.class_name || (self.is_directory() && other.is_directory())
    }

    /// Returns whether the key was renamed in its directory after the record was written, which ROOT allows.
    pub(crate) fn is_renamed(&self, record: &Self) -> bool {
        let same = self.is_same_class(record) && (self.cycle, self.datime) == (record.cycle, record.datime);
        self.name != record.name && same
    }

    /// Checks that the record at the position of a listed key is that object, by the record's own key.
    pub(crate) fn compare(&self, record: &Self) -> Result<()> {
        let lengths = [
            ("the length of the key in the record", u64::from(self.keylen), u64::from(record.keylen)),
            ("the length of the object in the record", u64::from(self.objlen), u64::from(record.objlen)),
        ];
        let is_named = self.name == record.name || self.is_renamed(record);
        if !(is_named && self.is_same_class(record)) {
            return Err(Error::not_a(
                "the object that the directory lists here",
                format!("{} of class {}", record.label(), record.class_name),
            )
            .at_byte(self.seek));
        }
        match lengths.into_iter().find(|(_, listed, stored)| listed != stored) {
            None => Ok(()),
            Some((what, expected, found)) => Err(Error::mismatch(what, expected, found).at_byte(self.seek)),
        }
    }

    /// Returns the key of an uncompressed object at a byte of the file, in a directory.
    /// [`with_payload`](Self::with_payload) sets its lengths.
    #[must_use]
    pub fn of_stored(class_name: &str, name: &str, seek: u64, seek_directory: u64) -> Self {
        Self {
            nbytes: 0,
            version: 1004,
            objlen: 0,
            datime: Datime(0),
            keylen: 0,
            cycle: 1,
            seek,
            seek_directory,
            class_name: class_name.into(),
            name: name.into(),
            title: "".into(),
        }
    }

    /// Returns a record of this key and an uncompressed payload, for which it sets the lengths.
    #[must_use]
    pub fn with_payload(mut self, payload: &[u8]) -> Vec<u8> {
        let keylen = self.to_bytes().len();
        self.keylen = u16::try_from(keylen).unwrap_or(u16::MAX);
        self.objlen = u32::try_from(payload.len()).unwrap_or(u32::MAX);
        self.nbytes = i32::try_from(keylen + payload.len()).unwrap_or(i32::MAX);
        let mut bytes = self.to_bytes();
        bytes.extend(payload);
        bytes
    }

    /// Returns the encoded key.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let is_wide = self.version > 1000;
        let mut bytes = Vec::with_capacity(usize::from(self.keylen));
        bytes.extend(self.nbytes.to_be_bytes());
        bytes.extend(self.version.to_be_bytes());
        bytes.extend(self.objlen.to_be_bytes());
        bytes.extend(self.datime.0.to_be_bytes());
        bytes.extend(self.keylen.to_be_bytes());
        bytes.extend(self.cycle.to_be_bytes());
        for seek in [self.seek, self.seek_directory] {
            let all = seek.to_be_bytes();
            bytes.extend(if is_wide { &all[..] } else { &all[4..] });
        }
        for text in [&self.class_name, &self.name, &self.title] {
            match u8::try_from(text.len()) {
                Ok(length) if length < u8::MAX => bytes.push(length),
                _ => {
                    bytes.push(u8::MAX);
                    bytes.extend((text.len() as u32).to_be_bytes());
                }
            }
            bytes.extend(text.as_bytes());
        }
        bytes
    }

    /// Returns the number of fields in which another key differs.
    pub(crate) fn differences(&self, other: &Self) -> usize {
        let numbers = |key: &Self| {
            [
                i64::from(key.nbytes),
                key.objlen.into(),
                key.keylen.into(),
                key.cycle.into(),
                key.datime.0.into(),
                key.seek.cast_signed(),
            ]
        };
        let numbers =
            numbers(self).into_iter().zip(numbers(other)).filter(|(one, other)| one != other).count();
        let texts = [self.name != other.name, self.title != other.title, !self.is_same_class(other)];
        numbers + texts.into_iter().filter(|differs| *differs).count()
    }

    /// Returns whether the record is deleted.
    #[must_use]
    pub fn is_deleted(&self) -> bool {
        self.nbytes < 0
    }

    /// Returns the range of the stored payload in the file.
    ///
    /// # Errors
    /// Returns an error if the key's lengths are inconsistent.
    pub fn stored(&self) -> Result<std::ops::Range<u64>> {
        let nbytes = u64::try_from(self.nbytes).ok().filter(|&nbytes| nbytes >= u64::from(self.keylen));
        let range = nbytes.and_then(|nbytes| {
            let end = self.seek.checked_add(nbytes)?;
            Some(self.seek + u64::from(self.keylen)..end)
        });
        range.ok_or_else(|| Error::out_of_range("key length", self.keylen, self.nbytes))
    }

    /// Returns `name;cycle`, as ROOT lists the key.
    #[must_use]
    pub fn label(&self) -> String {
        format!("{};{}", self.name, self.cycle)
    }
}

/// Maximum number of bytes of a key after its texts: the header of a basket, with a reserve for later
/// versions.
const MOST_BEHIND: u64 = 64;

/// A date and time in 32 bits: seconds and minutes 6 bits each, hour and day 5, month 4, years since 1995 6.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Datime(pub u32);

impl Datime {
    /// Returns year, month and day.
    #[must_use]
    pub fn date(self) -> (u32, u32, u32) {
        ((self.0 >> 26) + 1995, self.0 >> 22 & 0xF, self.0 >> 17 & 0x1F)
    }

    /// Returns hour, minute and second.
    #[must_use]
    pub fn time(self) -> (u32, u32, u32) {
        (self.0 >> 12 & 0x1F, self.0 >> 6 & 0x3F, self.0 & 0x3F)
    }
}

impl std::fmt::Display for Datime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ((year, month, day), (hour, minute, second)) = (self.date(), self.time());
        write!(f, "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
    }
}
