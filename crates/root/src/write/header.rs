//! The header of a file that is written.

use super::key::LAST_SMALL;
use super::{Buffer, Uuid};

/// The parts of the header that are not known from elsewhere.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    pub(super) version: i32,
    pub(super) begin: u64,
    pub(super) name_len: u32,
    pub(super) compression: i32,
    pub(super) uuid: Option<Uuid>,
    /// The streamer record: first byte and length.
    pub(super) info: (u64, u32),
    /// The list of free parts, and how many they are.
    pub(super) free: (u64, u32),
    pub(super) free_count: u32,
}

impl Header {
    /// Its bytes for a file that ends here.
    pub(super) fn encode(&self, end: u64) -> Vec<u8> {
        let big = end > LAST_SMALL;
        let mut header = Buffer::default();
        header.extend(b"root");
        header.i32(self.version + if big { BIG } else { 0 });
        header.u32(self.begin as u32);
        header.seek(end, big);
        header.seek(self.free.0, big);
        header.u32(self.free.1);
        header.u32(self.free_count);
        header.u32(self.name_len);
        header.u8(if big { 8 } else { 4 });
        header.i32(self.compression);
        header.seek(self.info.0, big);
        header.u32(self.info.1);
        // Old files have other bytes there.
        header.uuid(self.uuid);
        header.into_bytes()
    }
}

/// What the versions of files above 2 GB are more.
pub(super) const BIG: i32 = 1_000_000;
