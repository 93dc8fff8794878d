//! Writes the parts of envelopes: the opposite of [`Reader`](crate::frame::Reader).

use crate::blob::Envelope;
use crate::frame::{Link, Locator, Reader};
use forthwith_io::xxh3;
use forthwith_plan::Result;

/// Items of a list frame, as stored.
#[derive(Clone, Debug, Default)]
pub(crate) struct RawList {
    pub(crate) items: u32,
    pub(crate) bytes: Vec<u8>,
}

impl RawList {
    /// Reads a list frame.
    pub(crate) fn read(from: &mut Reader<'_>) -> Result<Self> {
        let mut list = from.list("a list", 0)?;
        let bytes = list.rest.bytes("a list", list.rest.left())?.to_vec();
        Ok(Self { items: list.items, bytes })
    }
}

/// Writer of an envelope.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    bytes: Vec<u8>,
}

impl Frames {
    pub(crate) fn u16(&mut self, number: u16) {
        self.bytes.extend(number.to_le_bytes());
    }

    pub(crate) fn u32(&mut self, number: u32) {
        self.bytes.extend(number.to_le_bytes());
    }

    pub(crate) fn u64(&mut self, number: u64) {
        self.bytes.extend(number.to_le_bytes());
    }

    pub(crate) fn i32(&mut self, number: i32) {
        self.bytes.extend(number.to_le_bytes());
    }

    pub(crate) fn i64(&mut self, number: i64) {
        self.bytes.extend(number.to_le_bytes());
    }

    /// Writes a string, which must be shorter than 4 GiB.
    pub(crate) fn text(&mut self, text: &str) {
        self.u32(text.len() as u32);
        self.bytes.extend(text.as_bytes());
    }

    /// Writes a string whose bytes need not be UTF-8.
    pub(crate) fn blob(&mut self, bytes: &[u8]) {
        self.u32(bytes.len() as u32);
        self.raw(bytes);
    }

    /// Writes bytes unchanged.
    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
    }

    /// Returns the written bytes.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Writes a record frame around the output of `body`.
    pub(crate) fn record(&mut self, body: impl FnOnce(&mut Self)) {
        let start = self.bytes.len();
        self.i64(0);
        body(self);
        self.close(start, 1);
    }

    /// Writes a list frame of items, each written by `item`.
    pub(crate) fn list<T>(&mut self, items: &[T], mut item: impl FnMut(&mut Self, &T)) {
        self.list_and(items, &mut item, |_| ());
    }

    /// Writes a list frame with further bytes after the items.
    pub(crate) fn list_and<T>(
        &mut self,
        items: &[T],
        mut item: impl FnMut(&mut Self, &T),
        behind: impl FnOnce(&mut Self),
    ) {
        let start = self.bytes.len();
        self.i64(0);
        self.u32(items.len() as u32);
        items.iter().for_each(|of| item(self, of));
        behind(self);
        self.close(start, -1);
    }

    /// Writes a list frame of stored items followed by new ones.
    pub(crate) fn list_behind<T>(
        &mut self,
        before: &RawList,
        items: &[T],
        mut item: impl FnMut(&mut Self, &T),
    ) {
        let start = self.bytes.len();
        self.i64(0);
        self.u32(before.items + items.len() as u32);
        self.bytes.extend(&before.bytes);
        items.iter().for_each(|of| item(self, of));
        self.close(start, -1);
    }

    /// Writes feature flags, none of which is set.
    pub(crate) fn features(&mut self) {
        self.u64(0);
    }

    pub(crate) fn locator(&mut self, locator: Locator) {
        match i32::try_from(locator.size) {
            Ok(size) => self.i32(size),
            Err(_) => {
                // 20 bytes, of type 1; the head is negated as a whole.
                self.i32(-(20 | 1 << 24));
                self.u64(locator.size);
            }
        }
        self.u64(locator.position);
    }

    pub(crate) fn link(&mut self, link: Link) {
        self.u64(link.length);
        self.locator(link.locator);
    }

    fn close(&mut self, start: usize, sign: i64) {
        let size = sign * (self.bytes.len() - start) as i64;
        self.bytes[start..start + 8].copy_from_slice(&size.to_le_bytes());
    }
}

/// Returns an envelope with its length and its checksum.
pub(crate) fn envelope(kind: Envelope, body: impl FnOnce(&mut Frames)) -> Vec<u8> {
    let mut frames = Frames::default();
    frames.u64(0);
    body(&mut frames);
    let mut bytes = frames.bytes;
    let word = kind as u64 | ((bytes.len() as u64 + 8) << 16);
    bytes[..8].copy_from_slice(&word.to_le_bytes());
    let hash = xxh3(&bytes);
    bytes.extend(hash.to_le_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_as_they_were_written() {
        let large = Locator { size: 1 << 40, position: 7 };
        let small = Locator { size: 12, position: 460 };
        let bytes = envelope(Envelope::Header, |frames| {
            frames.record(|frames| frames.text("naïve"));
            frames.list_and(&[small, large], |frames, locator| frames.locator(*locator), |f| f.i64(-5));
        });
        assert_eq!(bytes[..8], (1 | (bytes.len() as u64) << 16).to_le_bytes());
        let mut reader = Reader::new(&bytes[8..bytes.len() - 8], 8);
        assert_eq!(reader.record("a record").unwrap().text("a text").unwrap(), "naïve");
        let mut list = reader.list("a list", 12).unwrap();
        assert_eq!(list.items, 2);
        assert_eq!(list.rest.locator("small").unwrap(), small);
        assert_eq!(list.rest.locator("large").unwrap(), large);
        assert_eq!(list.rest.i64("behind").unwrap(), -5);
        assert_eq!((list.rest.left(), reader.left()), (0, 0));
    }
}
