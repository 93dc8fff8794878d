//! Parser of Thrift's compact protocol, as far as footers and page headers use it. Unknown fields are
//! skipped.

use forthwith_plan::{Error, Result};

/// Upper bound on the nesting of structures; regular headers have three levels.
const DEEPEST: u32 = 16;
pub(crate) struct Compact<'a> {
    bytes: &'a [u8],
    pub(crate) at: usize,
}

impl<'a> Compact<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    #[cold]
    fn cut(&self) -> Error {
        Error::truncated("a header", self.bytes.len() + 1, self.bytes.len())
    }

    #[cold]
    pub(crate) fn odd(&self, found: impl Into<String>) -> Error {
        Error::not_a("a header", found).at_byte(self.at as u64)
    }

    pub(crate) fn byte(&mut self) -> Result<u8> {
        let byte = *self.bytes.get(self.at).ok_or_else(|| self.cut())?;
        self.at += 1;
        Ok(byte)
    }

    fn varint(&mut self) -> Result<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(self.odd("a number of more than ten bytes"))
    }

    pub(crate) fn integer(&mut self) -> Result<i64> {
        let raw = self.varint()?;
        Ok((raw >> 1) as i64 ^ -((raw & 1) as i64))
    }

    fn skip_bytes(&mut self, count: u64) -> Result<()> {
        let left = self.bytes.len() - self.at;
        let count = usize::try_from(count).ok().filter(|count| *count <= left).ok_or_else(|| self.cut())?;
        self.at += count;
        Ok(())
    }

    /// Reads the item type and the size of a list.
    pub(crate) fn list(&mut self) -> Result<(u8, u64)> {
        let head = self.byte()?;
        let size = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
        Ok((head & 15, size))
    }

    /// Reads each item of a list. `odd` is the error if they are not of type `wanted`.
    pub(crate) fn items(
        &mut self,
        wanted: u8,
        odd: &'static str,
        mut read: impl FnMut(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let (item, size) = self.list()?;
        (0..size).try_for_each(|_| if item == wanted { read(self) } else { Err(self.odd(odd)) })
    }

    pub(crate) fn skip(&mut self, kind: u8, depth: u32) -> Result<()> {
        if depth > DEEPEST {
            return Err(self.odd("structures too deep"));
        }
        match kind {
            1 | 2 => {}
            3 => self.skip_bytes(1)?,
            4..=6 => drop(self.varint()?),
            7 => self.skip_bytes(8)?,
            8 => {
                let length = self.varint()?;
                self.skip_bytes(length)?;
            }
            9 | 10 => {
                let (item, size) = self.list()?;
                for _ in 0..size {
                    // Booleans in a list have one byte, so no item is empty.
                    if matches!(item, 1 | 2) { self.skip_bytes(1)? } else { self.skip(item, depth + 1)? }
                }
            }
            11 => {
                let size = self.varint()?;
                if size > 0 {
                    let kinds = self.byte()?;
                    for _ in 0..size {
                        for kind in [kinds >> 4, kinds & 15] {
                            if matches!(kind, 1 | 2) {
                                self.skip_bytes(1)?
                            } else {
                                self.skip(kind, depth + 1)?
                            }
                        }
                    }
                }
            }
            13 => self.skip_bytes(16)?,
            12 => self.fields(&mut |this, _, kind| this.skip(kind, depth + 1))?,
            other => return Err(self.odd(format!("a field of type {other}"))),
        }
        Ok(())
    }

    /// Calls `field` with the number and the type of each field of a structure. It has to read or skip the
    /// field.
    pub(crate) fn fields(&mut self, field: &mut dyn FnMut(&mut Self, i64, u8) -> Result<()>) -> Result<()> {
        let mut number = 0;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Ok(());
            }
            number = if head >> 4 == 0 { self.integer()? } else { number.wrapping_add((head >> 4).into()) };
            field(self, number, head & 15)?;
        }
    }

    pub(crate) fn number(&mut self, kind: u8, into: &mut i64) -> Result<()> {
        match kind {
            3 => *into = i64::from(self.byte()? as i8),
            4..=6 => *into = self.integer()?,
            _ => self.skip(kind, 0)?,
        }
        Ok(())
    }

    /// Reads an optional number.
    pub(crate) fn optional(&mut self, kind: u8, into: &mut Option<i64>) -> Result<()> {
        let mut number = 0;
        self.number(kind, &mut number)?;
        if matches!(kind, 3..=6) {
            *into = Some(number);
        }
        Ok(())
    }

    /// Reads a boolean, which is encoded in the type of its field.
    pub(crate) fn flag(&mut self, kind: u8, into: &mut bool) -> Result<()> {
        match kind {
            1 | 2 => {
                *into = kind == 1;
                Ok(())
            }
            _ => self.skip(kind, 0),
        }
    }

    /// Reads bytes that are preceded by their length.
    pub(crate) fn bytes(&mut self) -> Result<&'a [u8]> {
        let length = self.varint()?;
        let start = self.at;
        self.skip_bytes(length)?;
        Ok(&self.bytes[start..self.at])
    }

    /// Reads text; invalid UTF-8 is replaced.
    pub(crate) fn text(&mut self) -> Result<String> {
        Ok(String::from_utf8_lossy(self.bytes()?).into_owned())
    }
}
