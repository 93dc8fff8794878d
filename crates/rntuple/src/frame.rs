//! Parts of envelopes: little-endian numbers, strings, and frames with their sizes.

use forthwith_plan::{Error, Result};

/// Reader of an envelope.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Offset of the bytes in their envelope, for errors.
    origin: usize,
}

/// List frame: the number of items, and their bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct List<'a> {
    pub(crate) items: u32,
    pub(crate) rest: Reader<'a>,
}

/// Position and size of bytes in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Locator {
    /// Size as stored, in bytes.
    pub(crate) size: u64,
    pub(crate) position: u64,
}

/// Position and length of an envelope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    /// Length in bytes, decompressed.
    pub(crate) length: u64,
    pub(crate) locator: Locator,
}

impl<'a> Reader<'a> {
    pub(crate) const fn new(bytes: &'a [u8], origin: usize) -> Self {
        Self { bytes, at: 0, origin }
    }

    /// Returns the offset in the envelope of the next byte.
    pub(crate) const fn position(&self) -> u64 {
        (self.origin + self.at) as u64
    }

    /// Returns the number of remaining bytes.
    pub(crate) const fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    pub(crate) fn bytes(&mut self, what: &'static str, count: usize) -> Result<&'a [u8]> {
        let found = self.at.checked_add(count).and_then(|end| self.bytes.get(self.at..end));
        let Some(found) = found else {
            return Err(self.error(Error::truncated(what, count, self.left())));
        };
        self.at += count;
        Ok(found)
    }

    fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N]> {
        let bytes = self.bytes(what, N)?;
        // `bytes` has returned `N` bytes.
        Ok(bytes.first_chunk().copied().unwrap_or([0; N]))
    }

    pub(crate) fn u16(&mut self, what: &'static str) -> Result<u16> {
        Ok(u16::from_le_bytes(self.array(what)?))
    }

    pub(crate) fn u32(&mut self, what: &'static str) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array(what)?))
    }

    pub(crate) fn u64(&mut self, what: &'static str) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array(what)?))
    }

    pub(crate) fn i32(&mut self, what: &'static str) -> Result<i32> {
        Ok(i32::from_le_bytes(self.array(what)?))
    }

    pub(crate) fn i64(&mut self, what: &'static str) -> Result<i64> {
        Ok(i64::from_le_bytes(self.array(what)?))
    }

    pub(crate) fn f64(&mut self, what: &'static str) -> Result<f64> {
        Ok(f64::from_le_bytes(self.array(what)?))
    }

    /// Reads a string: its length and its bytes. Invalid UTF-8 is replaced, as in other names of ROOT files.
    pub(crate) fn text(&mut self, what: &'static str) -> Result<String> {
        let length = self.u32(what)? as usize;
        Ok(forthwith_root::text(self.bytes(what, length)?))
    }

    /// Reads the bytes of a string that need not be text.
    pub(crate) fn blob(&mut self, what: &'static str) -> Result<&'a [u8]> {
        let length = self.u32(what)? as usize;
        self.bytes(what, length)
    }

    /// Reads a record frame, and returns a reader of its contents.
    pub(crate) fn record(&mut self, what: &'static str) -> Result<Self> {
        let begin = *self;
        let size = self.i64(what)?;
        if size < 8 {
            return Err(begin.error(Error::out_of_range("the size of a record frame", size, i64::MAX)));
        }
        self.frame(what, size - 8)
    }

    /// Reads a list frame. `least` is the minimum number of bytes of an item.
    pub(crate) fn list(&mut self, what: &'static str, least: usize) -> Result<List<'a>> {
        let begin = *self;
        let size = self.i64(what)?;
        let Some(size) = size.checked_neg().filter(|size| *size >= 12) else {
            return Err(begin.error(Error::out_of_range("the size of a list frame", size, -12)));
        };
        let items = self.u32(what)?;
        let rest = self.frame(what, size - 12)?;
        if (items as usize).checked_mul(least).is_none_or(|bytes| bytes > rest.left()) {
            let needed = u64::from(items).saturating_mul(least as u64);
            return Err(begin.error(Error::truncated(what, needed, rest.left())));
        }
        Ok(List { items, rest })
    }

    fn frame(&mut self, what: &'static str, size: i64) -> Result<Self> {
        let origin = self.origin + self.at;
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        Ok(Self::new(self.bytes(what, size)?, origin))
    }

    pub(crate) fn locator(&mut self, what: &'static str) -> Result<Locator> {
        let begin = *self;
        let head = self.i32(what)?;
        if let Ok(size) = u64::try_from(head) {
            return Ok(Locator { size, position: self.u64(what)? });
        }
        let head = head.unsigned_abs();
        let (size, kind) = (head as usize & 0xffff, head >> 24);
        let mut body = Self::new(self.bytes(what, size.saturating_sub(4))?, self.origin);
        if kind != 1 {
            let what = format!("a locator of type {kind}, which is no place in the file");
            return Err(begin.error(Error::unsupported(what)));
        }
        Ok(Locator { size: body.u64(what)?, position: body.u64(what)? })
    }

    pub(crate) fn link(&mut self, what: &'static str) -> Result<Link> {
        Ok(Link { length: self.u64(what)?, locator: self.locator(what)? })
    }

    /// Reads feature flags. Returns an error if any is set, as none is supported.
    pub(crate) fn features(&mut self) -> Result<()> {
        let mut bit = 0;
        loop {
            let begin = *self;
            let word = self.i64("feature flags")?;
            let set = word as u64 & !(1 << 63);
            if set != 0 {
                let bit = bit + set.trailing_zeros();
                let name = if bit == 0 { " (nested deferred columns)" } else { "" };
                let what = format!("an RNTuple with feature {bit}{name}");
                return Err(begin.error(Error::unsupported(what)));
            }
            if word >= 0 {
                return Ok(());
            }
            bit += 64;
        }
    }

    /// Adds the current position to an error.
    #[cold]
    pub(crate) fn error(&self, error: Error) -> Error {
        error.at_byte(self.position())
    }
}

impl Locator {
    /// Returns the range in the file, or an error if its end exceeds 63 bits.
    pub(crate) fn range(&self) -> Result<std::ops::Range<u64>> {
        let end = self.position.checked_add(self.size);
        let end = end
            .filter(|end| i64::try_from(*end).is_ok())
            .ok_or_else(|| Error::out_of_range("the position in a locator", self.position, i64::MAX))?;
        Ok(self.position..end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_cannot_claim_more_items_than_it_has_bytes_for() {
        let mut bytes = (-20i64).to_le_bytes().to_vec();
        bytes.extend(3u32.to_le_bytes());
        bytes.extend([0; 8]);
        let error = Reader::new(&bytes, 100).list("pages", 4).unwrap_err();
        assert_eq!(error.to_string(), "pages needs 12 bytes, 8 are left\n  in byte 0x64");
        assert_eq!(Reader::new(&bytes, 0).list("pages", 2).unwrap().items, 3);
    }

    #[test]
    fn large_locators_have_their_head_negated_as_a_whole() {
        let mut bytes = vec![0xec, 0xff, 0xff, 0xfe];
        bytes.extend(5u64.to_le_bytes());
        bytes.extend(7u64.to_le_bytes());
        bytes.push(9);
        let mut reader = Reader::new(&bytes, 0);
        assert_eq!(reader.locator("pages").unwrap(), Locator { size: 5, position: 7 });
        assert_eq!(reader.left(), 1);
        bytes[3] = 0xfd;
        let error = Reader::new(&bytes, 0).locator("pages").unwrap_err().to_string();
        assert!(error.starts_with("not supported yet: a locator of type 2"), "{error}");
    }

    #[test]
    fn unknown_features_are_named_by_their_bit() {
        let mut bytes = i64::MIN.to_le_bytes().to_vec();
        bytes.extend(4u64.to_le_bytes());
        let error = Reader::new(&bytes, 0).features().unwrap_err().to_string();
        assert!(error.starts_with("not supported yet: an RNTuple with feature 66"), "{error}");
    }
}
