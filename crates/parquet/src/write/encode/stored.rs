//! Encoded pages: own bytes, and values that are written from the buffers of arrays.

use arrow_buffer::Buffer;
use forthwith_plan::{Error, ErrorKind, Result};

/// Encoded pages.
#[derive(Debug, Default)]
pub(crate) struct StoredPages {
    own: Vec<u8>,
    /// Shared values, with the number of own bytes before them.
    shared: Vec<(usize, Buffer)>,
    length: usize,
}

impl StoredPages {
    /// Creates an empty list that reuses a buffer.
    pub(crate) fn new(own: Vec<u8>) -> Self {
        Self { own, ..Self::default() }
    }

    /// Returns the total length in bytes.
    pub(crate) const fn len(&self) -> usize {
        self.length
    }

    /// Appends bytes.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.own.try_reserve(bytes.len()).map_err(|_| no_memory(bytes.len()))?;
        self.own.extend_from_slice(bytes);
        self.length += bytes.len();
        Ok(())
    }

    /// Appends values of an array without a copy.
    pub(crate) fn share(&mut self, values: Buffer) {
        self.length += values.len();
        self.shared.push((self.own.len(), values));
    }

    /// Copies the shared values.
    pub(crate) fn detach(&mut self) -> Result<()> {
        if self.shared.is_empty() {
            return Ok(());
        }
        let mut own = Vec::new();
        own.try_reserve(self.length).map_err(|_| no_memory(self.length))?;
        self.pieces().for_each(|piece| own.extend_from_slice(piece));
        *self = Self { length: own.len(), own, shared: Vec::new() };
        Ok(())
    }

    /// Iterates over all bytes in order.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.shared.iter().map(|(end, _)| *end));
        let ends = self.shared.iter().map(|(end, values)| (*end, values.as_slice()));
        let pieces = starts.zip(ends.chain(std::iter::once((self.own.len(), &[][..]))));
        pieces.flat_map(|(start, (end, values))| [&self.own[start..end], values])
    }

    /// Returns the buffer for reuse.
    pub(crate) fn into_memory(self) -> Vec<u8> {
        self.own
    }
}

#[cold]
fn no_memory(bytes: usize) -> Error {
    Error::new(ErrorKind::OutOfMemory { what: "the pages of a column", bytes: bytes as u64 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_values_are_where_they_were_appended() {
        let mut pages = StoredPages::new(Vec::with_capacity(9));
        pages.share(Buffer::from(b"one"));
        pages.append(b"two").unwrap();
        pages.append(b"three").unwrap();
        pages.share(Buffer::from(b"four"));
        pages.share(Buffer::from(b"five"));
        pages.append(b"six").unwrap();
        let wanted = b"onetwothreefourfivesix";
        assert_eq!(
            (pages.pieces().collect::<Vec<_>>().concat(), pages.len()),
            (wanted.to_vec(), wanted.len())
        );
        pages.detach().unwrap();
        assert_eq!(pages.into_memory(), wanted);
    }
}
