//! Serialisation of a file's header.

use super::Buffer;
use super::key::LAST_SMALL;
use crate::file::Header;

impl Header {
    /// Serialises the header of a file that ends at `end`. [`version`](Self::version) has to be without the
    /// million that large files add; it is added here.
    pub(super) fn encode(&self, end: u64) -> Vec<u8> {
        let big = end > LAST_SMALL;
        let mut header = Buffer::default();
        header.extend(b"root");
        // A negative version would stay below the million, which means 32-bit pointers.
        header.i32(if big { self.version.max(0) + BIG } else { self.version });
        header.u32(self.begin as u32);
        header.seek(end, big);
        header.seek(self.seek_free, big);
        header.u32(self.nbytes_free);
        header.u32(self.nfree);
        header.u32(self.nbytes_name);
        header.u8(if big { 8 } else { 4 });
        header.i32(self.compression);
        header.seek(self.seek_info, big);
        header.u32(self.nbytes_info);
        // Old files without a UUID have unused bytes in its place, which remain.
        header.uuid(self.uuid);
        header.into_bytes()
    }
}

/// Offset of the version of files with 64-bit pointers.
pub(super) const BIG: i32 = 1_000_000;
