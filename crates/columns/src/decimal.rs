//! Conversion of decimals of any width to text.

/// Maximum length in bytes of a decimal that is converted to text, which is 157 827 digits. The work is
/// quadratic in the number of digits, so that the input must not decide it alone.
pub(crate) const MOST_BYTES: usize = 1 << 16;

/// Maximum number of zeros between the point and the first digit; beyond, an exponent is written. Such zeros
/// are due to the scale alone, which is only a number in a file. Decimals of Arrow, of at most 76 digits,
/// never have an exponent.
const MOST_ZEROS: usize = 100;

/// Formats a big-endian number in two's complement with its decimal point; `None` if it is longer than
/// [`MOST_BYTES`], apart from sign bytes that fit 128 bits.
pub(crate) fn of_bytes(bytes: &[u8], scale: u32) -> Option<String> {
    if let Some(bytes) = extend::<16>(bytes) {
        return Some(of_number(i128::from_be_bytes(bytes), scale));
    }
    (bytes.len() <= MOST_BYTES).then(|| {
        let negative = bytes.first().is_some_and(|first| *first >= 0x80);
        pointed(negative, &digits(bytes, negative), scale)
    })
}

/// Formats an unscaled value with its decimal point.
pub(crate) fn of_number(value: i128, scale: u32) -> String {
    pointed(value < 0, &value.unsigned_abs().to_string(), scale)
}

/// Whether a number in two's complement, most significant byte first, has at most `most` digits.
pub(crate) fn has_digits(bytes: &[u8], most: u32) -> bool {
    let negative = bytes.first().is_some_and(|first| *first >= 0x80);
    let fill = if negative { 0xff } else { 0 };
    let first = bytes.iter().position(|byte| *byte != fill).unwrap_or(bytes.len());
    // A byte has between 2.4 and 2.5 digits. Digits are only counted near the limit, and only of numbers that
    // are not longer than [`MOST_BYTES`].
    let bytes = &bytes[first.saturating_sub(1)..];
    let (count, most) = (bytes.len() as u64, u64::from(most));
    if count * 5 / 2 < most || count.saturating_sub(2) * 12 / 5 > most {
        return count * 5 / 2 < most;
    }
    bytes.len() > MOST_BYTES || digits(bytes, negative).len() as u64 <= most
}

/// Returns the unscaled value of a decimal, given in two's complement, most significant byte first; `None` if
/// it exceeds 64 bits.
#[must_use]
pub fn decimal_count(bytes: &[u8]) -> Option<i64> {
    extend(bytes).map(i64::from_be_bytes)
}

/// Sign-extends or shortens a big-endian number in two's complement to `N` bytes; `None` if it needs more.
pub(crate) fn extend<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
    let fill = if bytes.first().is_some_and(|first| *first >= 0x80) { 0xff } else { 0 };
    let mut out = [fill; N];
    let cut = bytes.len().saturating_sub(N);
    let (over, kept) = bytes.split_at(cut);
    out[N - kept.len()..].copy_from_slice(kept);
    // Dropped bytes must only repeat the sign.
    let same_sign = (out[0] >= 0x80) == (fill == 0xff);
    (over.iter().all(|byte| *byte == fill) && same_sign).then_some(out)
}

/// Returns the decimal digits of the absolute value, without leading zeros.
fn digits(bytes: &[u8], negative: bool) -> String {
    const NINE_DIGITS: u64 = 1_000_000_000;
    // The absolute value of a negative number is its complement plus one.
    let mut carry = u64::from(negative);
    let words: Vec<u32> = bytes
        .rchunks(4)
        .map(|chunk| {
            let fill = if negative { u32::MAX } else { 0 };
            let word = chunk.iter().fold(fill, |word, byte| word << 8 | u32::from(*byte));
            let word = u64::from(if negative { !word } else { word }) + carry;
            carry = word >> 32;
            word as u32
        })
        .collect();
    // Groups of nine digits, least significant first.
    let mut groups: Vec<u32> = Vec::new();
    for word in words.iter().rev() {
        let mut carry = u64::from(*word);
        for group in &mut groups {
            let value = (u64::from(*group) << 32) + carry;
            *group = (value % NINE_DIGITS) as u32;
            carry = value / NINE_DIGITS;
        }
        while carry > 0 {
            groups.push((carry % NINE_DIGITS) as u32);
            carry /= NINE_DIGITS;
        }
    }
    let mut rest = groups.iter().rev();
    let mut text = rest.next().unwrap_or(&0).to_string();
    for group in rest {
        text += &format!("{group:09}");
    }
    text
}

fn pointed(negative: bool, digits: &str, scale: u32) -> String {
    let scale = scale as usize;
    let sign = if negative { "-" } else { "" };
    if scale == 0 {
        return format!("{sign}{digits}");
    }
    let zeros = (scale + 1).saturating_sub(digits.len());
    if zeros > MOST_ZEROS {
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        return format!("{sign}{first}{point}{rest}E-{}", scale - rest.len());
    }
    let digits = format!("{}{digits}", "0".repeat(zeros));
    let (whole, rest) = digits.split_at(digits.len() - scale);
    format!("{sign}{whole}.{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The number by adding up its bits, digit by digit.
    fn slowly(bytes: &[u8]) -> (bool, String) {
        let mut digits = vec![0u8];
        let twice = |digits: &mut Vec<u8>, mut carry: u8| {
            for digit in digits.iter_mut() {
                let value = *digit * 2 + carry;
                *digit = value % 10;
                carry = value / 10;
            }
            if carry > 0 {
                digits.push(carry);
            }
        };
        let negative = bytes.first().is_some_and(|first| *first >= 0x80);
        // Of a negative number: one more than that of the bits that are not set.
        for byte in bytes {
            let byte = if negative { !*byte } else { *byte };
            (0..8).rev().for_each(|bit| twice(&mut digits, byte >> bit & 1));
        }
        if negative {
            let nines = digits.iter().take_while(|digit| **digit == 9).count();
            digits[..nines].fill(0);
            match digits.get_mut(nines) {
                Some(digit) => *digit += 1,
                None => digits.push(1),
            }
        }
        (negative, digits.iter().rev().map(|digit| char::from(b'0' + digit)).collect())
    }

    proptest! {
        #[test]
        fn decimals_of_any_width_have_all_their_digits(
            mut bytes in proptest::collection::vec(any::<u8>(), 0..80),
            fill in prop_oneof![Just(None), (0usize..80).prop_map(Some)],
            scale in 0u32..120,
        ) {
            // Runs of one byte are where carries go far.
            if let (Some(from), Some(first)) = (fill, bytes.first().copied()) {
                let from = from.min(bytes.len());
                bytes[from..].fill(if first < 0x80 { 0xff } else { 0 });
            }
            let (negative, digits) = slowly(&bytes);
            let text = of_bytes(&bytes, scale).unwrap();
            prop_assert_eq!(text.starts_with('-'), negative);
            let (plain, exponent) = text.split_once('E').unwrap_or((&text, "0"));
            let exponent: i64 = exponent.parse().unwrap();
            let behind = plain.split_once('.').map_or(0, |(_, rest)| rest.len() as i64);
            prop_assert_eq!(behind - exponent, i64::from(scale));
            let found: String = plain.chars().filter(char::is_ascii_digit).collect();
            let found = found.trim_start_matches('0');
            prop_assert_eq!(found, digits.trim_start_matches('0'));
        }
    }

    #[test]
    fn a_scale_alone_makes_no_long_text() {
        assert_eq!(of_number(-5, 100).len(), 103);
        assert_eq!(of_number(-5, 101), "-5E-101");
        assert_eq!(of_number(1234, u32::MAX), "1.234E-4294967292");
        assert_eq!(of_number(0, 70_000), "0E-70000");
        assert_eq!(of_bytes(&[], 2).as_deref(), Some("0.00"));
    }

    #[test]
    fn bytes_beyond_the_most_are_not_spelled() {
        assert_eq!(of_bytes(&[0x7f; MOST_BYTES], 0).map(|text| text.len()), Some(157_827));
        assert_eq!(of_bytes(&[0x7f; MOST_BYTES + 1], 0), None);
        assert_eq!(of_bytes(&[0; MOST_BYTES + 1], 0).as_deref(), Some("0"));
        assert_eq!(of_bytes(&[0xff; MOST_BYTES + 1], 1).as_deref(), Some("-0.1"));
    }

    #[test]
    fn numbers_are_not_cut() {
        assert_eq!(extend::<2>(&[0xff, 0x80, 0]), Some([0x80, 0]));
        assert_eq!(extend::<2>(&[0, 0x80, 0]), None);
        assert_eq!(extend::<2>(&[1, 0, 0]), None);
    }
}
