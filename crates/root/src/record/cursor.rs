//! The reader that every ROOT structure is read through.

use forthwith_plan::{Error, Result};

/// The beginning of a framed object: its byte count and version. From [`Cursor::frame`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Offset of the object: its byte count, or its version if it has none.
    pub begin: usize,
    /// Offset of its contents.
    pub body: usize,
    /// Its end, if it has a byte count.
    pub end: Option<usize>,
    /// The end of the frame around it.
    pub outer: usize,
    /// The class version. 0 or less for a class without one of its own: the checksum then tells which it is.
    pub version: i16,
    /// Items of a collection are stored member by member.
    pub member_wise: bool,
    /// The class checksum, if the version is 0 or less.
    pub checksum: Option<u32>,
}

impl Frame {
    /// That of an object that has none.
    pub(crate) fn none(cursor: &Cursor<'_>) -> Self {
        Self {
            begin: cursor.position(),
            body: cursor.position(),
            end: None,
            outer: cursor.end(),
            version: 0,
            member_wise: false,
            checksum: None,
        }
    }
}

/// Reads big-endian values from the payload of one record, and cannot leave the frame it is in.
///
/// Positions are counted from the first byte of the payload. ROOT counts references from the first byte of
/// the record, so the cursor also knows the length of the key before the payload ([`origin`](Self::origin)).
///
/// ```
/// use forthwith_root::Cursor;
///
/// let mut cursor = Cursor::new(&[0, 7, 5, b'h', b'e', b'l', b'l', b'o']);
/// assert_eq!(cursor.u16()?, 7);
/// assert_eq!(cursor.string()?, b"hello");
/// assert!(cursor.u8().is_err());
/// # Ok::<(), forthwith_plan::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    data: &'a [u8],
    position: usize,
    end: usize,
    origin: u32,
}

macro_rules! numbers {
    ($($name:ident),*) => {$(
        #[doc = concat!("Reads a big-endian `", stringify!($name), "`.")]
        ///
        /// # Errors
        /// The frame ends before.
        #[inline]
        pub fn $name(&mut self) -> Result<$name> {
            Ok($name::from_be_bytes(*self.array()?))
        }
    )*};
}

impl<'a> Cursor<'a> {
    /// A cursor over bytes that no key precedes.
    #[must_use]
    pub fn new(data: &'a [u8]) -> Self {
        Self::with_origin(data, 0)
    }

    /// A cursor over a payload that a key of `origin` bytes precedes.
    #[must_use]
    pub fn with_origin(data: &'a [u8], origin: u32) -> Self {
        Self { data, position: 0, end: data.len(), origin }
    }

    numbers!(u8, i8, u16, i16, u32, i32, u64, i64, f32, f64);

    /// Takes the next `length` bytes.
    ///
    /// # Errors
    /// The frame ends before.
    #[inline]
    pub fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        if length > self.remaining() {
            return Err(self.short(length as u64));
        }
        let start = self.position;
        self.position += length;
        Ok(&self.data[start..self.position])
    }

    /// Passes over the next `length` bytes.
    ///
    /// # Errors
    /// The frame ends before.
    #[inline]
    pub fn skip(&mut self, length: u64) -> Result<()> {
        if length > self.remaining() as u64 {
            return Err(self.short(length));
        }
        self.position += length as usize;
        Ok(())
    }

    /// Reads an offset in the file, of 64 or 32 bits.
    ///
    /// # Errors
    /// The frame ends before.
    #[inline]
    pub fn pointer(&mut self, wide: bool) -> Result<u64> {
        if wide { self.u64() } else { self.u32().map(u64::from) }
    }

    /// Reads a string: one byte of length, or 255 and four bytes of length.
    ///
    /// # Errors
    /// The frame ends before.
    #[inline]
    pub fn string(&mut self) -> Result<&'a [u8]> {
        let length = match self.u8()? {
            255 => self.u32()? as usize,
            short => usize::from(short),
        };
        self.take(length)
    }

    /// Reads a string that a zero byte ends.
    ///
    /// # Errors
    /// No zero byte before the frame's end.
    pub fn cstring(&mut self) -> Result<&'a [u8]> {
        let rest = &self.data[self.position..self.end];
        match rest.iter().position(|&byte| byte == 0) {
            Some(length) => {
                self.position += length + 1;
                Ok(&rest[..length])
            }
            None => Err(self.short(rest.len() as u64 + 1)),
        }
    }

    /// Reads the byte count and version that most objects begin with, and enters the object: until
    /// [`leave`](Self::leave) nothing behind its end can be read.
    ///
    /// ROOT decides by bit 30 of the first four bytes whether there is a byte count. A version of 0 or less
    /// has a class checksum behind it, provided the byte count leaves room for one.
    ///
    /// # Errors
    /// The bytes end before, or the byte count exceeds what is left.
    pub fn frame(&mut self) -> Result<Frame> {
        self.enter(true)
    }

    /// As [`frame`](Self::frame), for a class whose version is 0 because it has said so: no checksum follows.
    ///
    /// # Errors
    /// The bytes end before, or the byte count exceeds what is left.
    pub fn frame_without_checksum(&mut self) -> Result<Frame> {
        self.enter(false)
    }

    fn enter(&mut self, checksum: bool) -> Result<Frame> {
        let (begin, outer) = (self.position, self.end);
        let entered = self.enter_from(begin, outer, checksum);
        if entered.is_err() {
            (self.position, self.end) = (begin, outer);
        }
        entered
    }

    #[inline]
    fn enter_from(&mut self, begin: usize, outer: usize, checksum: bool) -> Result<Frame> {
        let mut end = None;
        if self.remaining() >= 4 && self.data[begin] & 0x40 != 0 {
            let count = self.u32()? & !BYTE_COUNT;
            let limit = self.remaining();
            if count as usize > limit {
                return Err(Error::out_of_range("byte count", count, limit).at_byte(begin as u64));
            }
            self.end = self.position + count as usize;
            end = Some(self.end);
        }
        let raw = self.i16()?;
        // Bit 14 of a negative version is part of the number.
        let member_wise = raw > 0 && raw & MEMBER_WISE != 0;
        let version = if member_wise { raw & !MEMBER_WISE } else { raw };
        let has_checksum = version <= 0 && end.is_some() && checksum && self.remaining() >= 4;
        let checksum = if has_checksum { Some(self.u32()?) } else { None };
        Ok(Frame { begin, body: self.position, end, outer, version, member_wise, checksum })
    }

    /// Leaves the object that `frame` began, and goes to its end if that is known. Answers how many of its
    /// bytes had not been read: 0 if its layout was understood.
    pub fn leave(&mut self, frame: &Frame) -> usize {
        self.end = frame.outer;
        match frame.end {
            Some(end) => {
                let unread = end.saturating_sub(self.position);
                self.position = end;
                unread
            }
            None => 0,
        }
    }

    /// A cursor over the next `length` bytes alone, which this one passes over.
    ///
    /// # Errors
    /// The frame ends before.
    pub fn carve(&mut self, length: usize) -> Result<Self> {
        let mut inner = *self;
        self.take(length)?;
        inner.end = self.position;
        Ok(inner)
    }

    /// Goes to a position of the payload, forwards or backwards.
    ///
    /// # Errors
    /// The position is behind the frame's end.
    pub fn seek(&mut self, position: usize) -> Result<()> {
        if position > self.end {
            return Err(Error::out_of_range("position", position, self.end));
        }
        self.position = position;
        Ok(())
    }

    /// Checks that `count` items of at least `size` bytes can still follow, so that room for them may be
    /// made.
    ///
    /// # Errors
    /// The count is negative, or more than the bytes left can hold.
    pub fn count(&self, what: &'static str, count: i32, size: usize) -> Result<usize> {
        let limit = self.remaining() / size.max(1);
        match usize::try_from(count) {
            Ok(count) if count <= limit => Ok(count),
            _ => Err(Error::out_of_range(what, count, limit).at_byte(self.position as u64)),
        }
    }

    /// The bytes from here to the frame's end, without moving.
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        &self.data[self.position..self.end]
    }

    /// The whole payload.
    #[must_use]
    pub fn data(&self) -> &'a [u8] {
        self.data
    }

    /// The position of the cursor, from the first byte of the payload.
    #[inline]
    #[must_use]
    pub fn position(&self) -> usize {
        self.position
    }

    /// The end of the present frame.
    #[inline]
    #[must_use]
    pub fn end(&self) -> usize {
        self.end
    }

    /// Bytes left in the present frame.
    #[inline]
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.end - self.position
    }

    /// Length of the key before the payload.
    #[must_use]
    pub fn origin(&self) -> u32 {
        self.origin
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Result<&'a [u8; N]> {
        match self.data[self.position..self.end].first_chunk() {
            Some(bytes) => {
                self.position += N;
                Ok(bytes)
            }
            None => Err(self.short(N as u64)),
        }
    }

    #[cold]
    fn short(&self, needed: u64) -> Error {
        Error::truncated("the record", needed, self.remaining()).at_byte(self.position as u64)
    }
}

/// Set in a byte count, so that it cannot be taken for a version.
pub(crate) const BYTE_COUNT: u32 = 0x4000_0000;
/// Set in the version of a collection whose items are stored member by member.
const MEMBER_WISE: i16 = 0x4000;
