//! The hashes that files ask a reader to check.

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

#[cfg(test)]
mod tests {
    #[test]
    fn known_values() {
        // From the xxHash reference implementation's documentation.
        assert_eq!(super::xxh64(b""), 0xEF46_DB37_51D8_E999);
        assert_eq!(super::xxh64(b"abc"), 0x44BC_2CF5_AD77_0999);
        assert_eq!(super::xxh3(b""), 0x2D06_8005_38D3_94C2);
        assert_eq!(super::xxh3(b"abc"), 0x78AF_5F94_892F_3950);
    }
}
