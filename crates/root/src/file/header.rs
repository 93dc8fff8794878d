//! The file header.

use forthwith_plan::{Error, Result};

use crate::record::Cursor;

/// Header at the beginning of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Version of ROOT that wrote the file: 63202 is 6.32/02. Files with 64-bit pointers add a million, which
    /// [`root_version`](Self::root_version) subtracts. Some files have a negative version, which C++ ROOT
    /// reads as one with 32-bit pointers.
    pub version: i32,
    /// Offset of the first record.
    pub begin: u64,
    /// End of the file when it was closed.
    pub end: u64,
    /// Offset of the record of free segments, 0 if there is none.
    pub seek_free: u64,
    /// Length of that record.
    pub nbytes_free: u32,
    /// Number of free segments.
    pub nfree: u32,
    /// Length of the first record's key, name and title, after which is the top directory.
    pub nbytes_name: u32,
    /// Size of a pointer in bytes, 4 or 8.
    pub units: u8,
    /// Compression setting: 100 times the algorithm, plus the level. It is the last setting of the writer;
    /// each block has its own codec.
    pub compression: i32,
    /// Offset of the record of streamer infos, 0 if there is none.
    pub seek_info: u64,
    /// Length of that record.
    pub nbytes_info: u32,
    /// UUID of the file.
    pub uuid: Option<[u8; 16]>,
}

impl Header {
    /// Maximum length of the header.
    pub const MAX_LENGTH: usize = 75;

    /// Parses a header.
    ///
    /// # Errors
    /// Returns an error if the bytes are not a ROOT file, or end in the header.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let mut cursor = Cursor::new(bytes);
        let not_root = || Err(Error::not_a("a ROOT file", format!("{:02x?}", &bytes[..bytes.len().min(12)])));
        if !bytes.starts_with(b"root") {
            return not_root();
        }
        cursor.skip(4)?;
        let version = cursor.i32()?;
        let wide = version >= WIDE;
        let begin = u64::from(cursor.u32()?);
        // ROOT accepts any version. A text may begin with the same four letters; in `root:x:0:0:root`, the
        // letters in place of the offset exceed a billion.
        if !(LEAST_BEGIN..=MOST_BEGIN).contains(&begin) {
            return not_root();
        }
        Ok(Self {
            version,
            begin,
            end: cursor.pointer(wide)?,
            seek_free: cursor.pointer(wide)?,
            nbytes_free: cursor.u32()?,
            nfree: cursor.u32()?,
            nbytes_name: cursor.u32()?,
            units: cursor.u8()?,
            compression: cursor.i32()?,
            seek_info: cursor.pointer(wide)?,
            nbytes_info: cursor.u32()?,
            // Files before version 4 have no UUID, and unused bytes in its place.
            uuid: match cursor.u16() {
                Ok(1) => cursor.take(16).ok().and_then(|bytes| bytes.try_into().ok()),
                _ => None,
            },
        })
    }

    /// Returns the version of ROOT that wrote the file: major, minor and patch.
    #[must_use]
    pub fn root_version(&self) -> (i32, i32, i32) {
        let version = self.version.rem_euclid(WIDE);
        (version / 10_000, version / 100 % 100, version % 100)
    }

    /// Returns position and length of the record of streamer infos, if there is one.
    pub(super) fn info(&self) -> Option<(u64, u32)> {
        Some((self.seek_info, self.nbytes_info)).filter(|&(at, nbytes)| at != 0 && nbytes != 0)
    }

    /// Returns position and length of the record of free segments, if there is one.
    pub(super) fn free(&self) -> Option<(u64, u32)> {
        Some((self.seek_free, self.nbytes_free)).filter(|&(at, nbytes)| at != 0 && nbytes != 0)
    }

    /// Returns whether the header's pointers have 64 bits.
    #[must_use]
    pub fn is_wide(&self) -> bool {
        self.version >= WIDE
    }
}

/// Offset of the version of files with 64-bit pointers.
const WIDE: i32 = 1_000_000;
/// Bounds of the offset of the first record, which is soon after the header. ROOT puts it at byte 64 or 100.
const LEAST_BEGIN: u64 = 45;
const MOST_BEGIN: u64 = 1 << 16;
