//! Checksums of file formats.

use std::hash::Hasher;

use twox_hash::{XxHash3_64, XxHash64};

/// Returns the 64-bit xxHash (XXH64, seed 0) of `bytes`, which formats store with LZ4 blocks.
#[must_use]
pub fn xxh64(bytes: &[u8]) -> u64 {
    XxHash64::oneshot(0, bytes)
}

/// Returns the 64-bit XXH3 (seed 0) of `bytes`, which RNTuple stores after envelopes and pages.
#[must_use]
pub fn xxh3(bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot(bytes)
}

/// Incremental [`xxh3`], for bytes that arrive in parts.
#[derive(Clone)]
pub struct Xxh3(XxHash3_64);

impl Xxh3 {
    /// Creates the hash of an empty sequence of bytes.
    #[must_use]
    pub fn new() -> Self {
        Self(XxHash3_64::new())
    }

    /// Adds `bytes` to the hash.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    /// Returns the hash of all bytes that were added.
    #[must_use]
    pub fn digest(&self) -> u64 {
        self.0.finish()
    }
}

impl Default for Xxh3 {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for Xxh3 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Xxh3").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn pieces_have_the_hash_of_all_bytes() {
        let bytes: Vec<u8> = (0..5000u32).map(|at| (at * at % 251) as u8).collect();
        for length in [0, 1, 63, 64, 240, 241, 256, 257, 1024, 5000] {
            for piece in [1, 64, 100, 256, 999, 5000] {
                let mut hash = super::Xxh3::default();
                bytes[..length].chunks(piece).for_each(|piece| hash.update(piece));
                assert_eq!(hash.digest(), super::xxh3(&bytes[..length]), "{length} bytes by {piece}");
            }
        }
    }

    #[test]
    fn known_values() {
        // From the xxHash reference implementation's documentation.
        assert_eq!(super::xxh64(b""), 0xEF46_DB37_51D8_E999);
        assert_eq!(super::xxh64(b"abc"), 0x44BC_2CF5_AD77_0999);
        assert_eq!(super::xxh3(b""), 0x2D06_8005_38D3_94C2);
        assert_eq!(super::xxh3(b"abc"), 0x78AF_5F94_892F_3950);
    }
}
