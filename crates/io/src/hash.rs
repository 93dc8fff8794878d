//! The hashes that files ask a reader to check.

use xxhash_rust::xxh3::Xxh3Default;

/// The 64-bit xxHash (seed 0) of `bytes`, which formats store beside LZ4 blocks.
#[must_use]
pub fn xxh64(bytes: &[u8]) -> u64 {
    xxhash_rust::xxh64::xxh64(bytes, 0)
}

/// The 64-bit XXH3 (seed 0) of `bytes`, which RNTuple stores behind envelopes and pages.
#[must_use]
pub fn xxh3(bytes: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(bytes)
}

/// The hash of [`xxh3`] of bytes that come in pieces.
#[derive(Clone)]
pub struct Xxh3(Xxh3Default);

impl Xxh3 {
    /// Of no bytes.
    #[must_use]
    pub const fn new() -> Self {
        Self(Xxh3Default::new())
    }

    /// Goes on with further bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The hash of the bytes so far.
    #[must_use]
    pub fn digest(&self) -> u64 {
        self.0.digest()
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
