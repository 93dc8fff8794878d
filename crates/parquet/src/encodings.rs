//! Names of encodings.

/// Returns the names of the encodings in a bit set.
pub(crate) fn encodings(bits: u32) -> Vec<String> {
    let name = |number: u32| match ENCODINGS.get(number as usize) {
        Some(name) if !name.is_empty() => (*name).to_owned(),
        _ => format!("encoding {number}"),
    };
    (0..32).filter(|number| bits >> number & 1 == 1).map(name).collect()
}

/// Names of encodings by number.
const ENCODINGS: [&str; 10] = [
    "PLAIN",
    "",
    "PLAIN_DICTIONARY",
    "RLE",
    "BIT_PACKED",
    "DELTA_BINARY_PACKED",
    "DELTA_LENGTH_BYTE_ARRAY",
    "DELTA_BYTE_ARRAY",
    "RLE_DICTIONARY",
    "BYTE_STREAM_SPLIT",
];
