//! Bytes as a stream that answers a few of them at a time.

use crate::Rng;
use bytes::Bytes;
use forthwith::io::{Source, StreamSource};
use std::{io::Read, sync::Arc};

struct Dripping {
    bytes: Bytes,
    rng: Rng,
}

impl Read for Dripping {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let most = 1 + if self.rng.one_in(4) { self.rng.below(1 << 16) } else { self.rng.below(40) };
        let part = self.bytes.split_to(self.bytes.len().min(into.len()).min(most));
        into[..part.len()].copy_from_slice(&part);
        Ok(part.len())
    }
}

/// A stream of these bytes, which keeps next to nothing of what was released.
#[must_use]
pub fn dripping(bytes: &Bytes, rng: &mut Rng) -> Arc<dyn Source> {
    let stream = Dripping { bytes: bytes.clone(), rng: Rng::new(rng.bits()) };
    Arc::new(StreamSource::new("stream", stream, rng.below(100), || true))
}
