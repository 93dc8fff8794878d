//! The header of a file that is written.

use super::Uuid;
use super::key::{LAST_SMALL, pointer};

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
        let mut bytes = b"root".to_vec();
        bytes.extend((self.version + if big { BIG } else { 0 }).to_be_bytes());
        bytes.extend((self.begin as u32).to_be_bytes());
        pointer(&mut bytes, end, big);
        pointer(&mut bytes, self.free.0, big);
        bytes.extend(self.free.1.to_be_bytes());
        bytes.extend(self.free_count.to_be_bytes());
        bytes.extend(self.name_len.to_be_bytes());
        bytes.push(if big { 8 } else { 4 });
        bytes.extend(self.compression.to_be_bytes());
        pointer(&mut bytes, self.info.0, big);
        bytes.extend(self.info.1.to_be_bytes());
        // Old files have other bytes there.
        if let Some(uuid) = self.uuid {
            bytes.extend(1_u16.to_be_bytes());
            bytes.extend(uuid.0);
        }
        bytes
    }
}

/// What the versions of files above 2 GB are more.
pub(super) const BIG: i32 = 1_000_000;
