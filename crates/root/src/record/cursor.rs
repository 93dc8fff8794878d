//! Reader of ROOT's structures.

use forthwith_plan::{Error, Result};

/// Beginning of a framed object: its byte count and version. Returned by [`Cursor::frame`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Offset of the object's byte count, or of its version if it has none.
    pub begin: usize,
    /// Offset of the object's contents.
    pub body: usize,
    /// End of the object, if it has a byte count.
    pub end: Option<usize>,
    /// End of the enclosing frame.
    pub outer: usize,
    /// Version of the class. 0 or less if it has none of its own, in which case the checksum identifies it.
    pub version: i16,
    /// Whether the items of a collection are stored member-wise.
    pub member_wise: bool,
    /// Checksum of the class, if the version is 0 or less.
    pub checksum: Option<u32>,
}

impl Frame {
    /// Returns the frame of an object that has none.
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

/// Reader of big-endian values in the payload of one record, which cannot leave its current frame.
///
/// Positions count from the first byte of the payload. ROOT's references count from the first byte of the
/// record, so the cursor has the length of the key before the payload ([`origin`](Self::origin)).
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
    /// Returns a cursor over bytes without a key.
    #[must_use]
    pub fn new(data: &'a [u8]) -> Self {
        Self::with_origin(data, 0)
    }

    /// Returns a cursor over a payload after a key of `origin` bytes.
    #[must_use]
    pub fn with_origin(data: &'a [u8], origin: u32) -> Self {
        Self { data, position: 0, end: data.len(), origin }
    }

    numbers!(u8, i8, u16, i16, u32, i32, u64, i64, f32, f64);

    /// Returns the next `length` bytes.
    ///
    /// # Errors
    /// Returns an error if the frame ends early.
    #[inline]
    pub fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        if length > self.remaining() {
            return Err(self.short(length as u64));
        }
        let start = self.position;
        self.position += length;
        Ok(&self.data[start..self.position])
    }

    /// Skips the next `length` bytes.
    ///
    /// # Errors
    /// Returns an error if the frame ends early.
    #[inline]
    pub fn skip(&mut self, length: u64) -> Result<()> {
        if length > self.remaining() as u64 {
            return Err(self.short(length));
        }
        self.position += length as usize;
        Ok(())
    }

    /// Reads an offset in the file, of 64 bits if `wide` and otherwise of 32.
    ///
    /// # Errors
    /// Returns an error if the frame ends early.
    #[inline]
    pub fn pointer(&mut self, wide: bool) -> Result<u64> {
        if wide { self.u64() } else { self.u32().map(u64::from) }
    }

    /// Reads a string, after a length of one byte, or of 255 and four bytes.
    ///
    /// # Errors
    /// Returns an error if the frame ends early.
    #[inline]
    pub fn string(&mut self) -> Result<&'a [u8]> {
        let length = match self.u8()? {
            255 => self.u32()? as usize,
            short => usize::from(short),
        };
        self.take(length)
    }

    /// Reads a string that ends at a zero byte.
    ///
    /// # Errors
    /// Returns an error if there is no zero byte in the frame.
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

    /// Reads the byte count and version with which most objects begin, and enters the object: until
    /// [`leave`](Self::leave), no bytes after its end can be read.
    ///
    /// Bit 30 of the first four bytes tells whether there is a byte count. A version of 0 or less is followed
    /// by a class checksum, if the byte count leaves space for one.
    ///
    /// # Errors
    /// Returns an error if the bytes end early, or if the byte count exceeds them.
    pub fn frame(&mut self) -> Result<Frame> {
        self.enter(true)
    }

    /// Reads a frame as [`frame`](Self::frame) does, for a class whose version was set to 0: no checksum
    /// follows.
    ///
    /// # Errors
    /// Returns an error if the bytes end early, or if the byte count exceeds them.
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

    /// Leaves the object of `frame`, and moves to its end if that is known. Returns the number of its bytes
    /// that were not read, which is 0 if its layout was understood.
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

    /// Returns a cursor over the next `length` bytes, which this one skips.
    ///
    /// # Errors
    /// Returns an error if the frame ends early.
    pub fn carve(&mut self, length: usize) -> Result<Self> {
        let mut inner = *self;
        self.take(length)?;
        inner.end = self.position;
        Ok(inner)
    }

    /// Moves to a position of the payload, forwards or backwards.
    ///
    /// # Errors
    /// Returns an error if the position is after the frame's end.
    pub fn seek(&mut self, position: usize) -> Result<()> {
        if position > self.end {
            return Err(Error::out_of_range("position", position, self.end));
        }
        self.position = position;
        Ok(())
    }

    /// Checks that `count` items of at least `size` bytes can follow, so that memory for them may be
    /// allocated.
    ///
    /// # Errors
    /// Returns an error if the count is negative, or exceeds the remaining bytes.
    pub fn count(&self, what: &'static str, count: i32, size: usize) -> Result<usize> {
        let limit = self.remaining() / size.max(1);
        match usize::try_from(count) {
            Ok(count) if count <= limit => Ok(count),
            _ => Err(Error::out_of_range(what, count, limit).at_byte(self.position as u64)),
        }
    }

    /// Returns the bytes up to the frame's end, without moving.
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        &self.data[self.position..self.end]
    }

    /// Returns the whole payload.
    #[must_use]
    pub fn data(&self) -> &'a [u8] {
        self.data
    }

    /// Returns the position of the cursor, from the first byte of the payload.
    #[inline]
    #[must_use]
    pub fn position(&self) -> usize {
        self.position
    }

    /// Returns the end of the current frame.
    #[inline]
    #[must_use]
    pub fn end(&self) -> usize {
        self.end
    }

    /// Returns the number of bytes left in the current frame.
    #[inline]
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.end - self.position
    }

    /// Returns the length of the key before the payload.
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

/// Bit of a byte count, which distinguishes it from a version.
pub(crate) const BYTE_COUNT: u32 = 0x4000_0000;
/// Bit in the version of a collection whose items are stored member-wise.
const MEMBER_WISE: i16 = 0x4000;
