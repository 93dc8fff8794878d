//! Whole numbers of decimal digits in text, eight digits at once.

/// Digits of which any number fits into 63 bits.
pub const MOST: usize = 18;

/// Eight digits `0` as a word.
const ZEROS: u64 = 0x3030_3030_3030_3030;
/// Powers of ten by which numbers of at most [`MOST`] digits are shifted.
pub const POWERS: [u64; MOST + 1] = {
    let mut powers = [1; MOST + 1];
    let mut at = 1;
    while at < powers.len() {
        powers[at] = powers[at - 1] * 10;
        at += 1;
    }
    powers
};

/// The number that a text of at most [`MOST`] bytes is, if they all are digits; zero for an empty one. Zeros may stand before
/// others.
#[inline]
#[must_use]
pub fn number(text: &[u8]) -> Option<u64> {
    let length = text.len();
    if let (Some(first), Some(last)) = (text.first_chunk::<8>(), text.last_chunk::<8>()) {
        let first = eight(u64::from_le_bytes(*first))?;
        let more = length - 8;
        if more > 8 {
            return if length <= MOST { long(text) } else { None };
        }
        // Digits that the first word has as well become zeros, in the low bytes.
        let both = u64::MAX.checked_shr(8 * more as u32).unwrap_or(0);
        let last = eight(u64::from_le_bytes(*last) & !both | ZEROS & both)?;
        return Some(first * POWERS[more] + last);
    }
    if let (Some(first), Some(last)) = (text.first_chunk::<4>(), text.last_chunk::<4>()) {
        let missing = 8 * (8 - length);
        // Bytes that are in both words are equal.
        let word = u64::from(u32::from_le_bytes(*first)) << missing
            | u64::from(u32::from_le_bytes(*last)) << 32
            | ZEROS & ((1 << missing) - 1);
        return eight(word);
    }
    one_by_one(0, text)
}

/// A number of more than 16 digits.
fn long(text: &[u8]) -> Option<u64> {
    let (before, behind) = text.split_at(16);
    one_by_one(number(before)?, behind)
}

fn one_by_one(begin: u64, text: &[u8]) -> Option<u64> {
    let mut number = begin;
    for byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = 10 * number + u64::from(digit);
    }
    Some(number)
}

/// The number of eight digits, of which the first is in the lowest byte.
#[inline]
fn eight(word: u64) -> Option<u64> {
    let digits = word ^ ZEROS;
    // A byte above nine reaches the highest bit of its own or carries into the next, which then is not zero either.
    if (digits | digits.wrapping_add(0x7676_7676_7676_7676)) & 0x8080_8080_8080_8080 != 0 {
        return None;
    }
    // Numbers of two digits, in every other byte; then hundreds and ones of four, of which the high half has the sum.
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    let (outer, inner) = (pairs & 0xff_0000_00ff, (pairs >> 16) & 0xff_0000_00ff);
    let outer = outer.wrapping_mul(100 + (1_000_000 << 32));
    let inner = inner.wrapping_mul(1 + (10_000 << 32));
    Some(outer.wrapping_add(inner) >> 32)
}

#[cfg(test)]
mod tests {
    use super::{MOST, number};

    fn plain(text: &[u8]) -> Option<u64> {
        let all = text.len() <= MOST && text.iter().all(u8::is_ascii_digit);
        all.then(|| text.iter().fold(0, |number, byte| 10 * number + u64::from(byte - b'0')))
    }

    #[test]
    fn numbers_are_those_of_a_loop() {
        let mut seed = 7_u64;
        let mut next = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % below
        };
        for length in 0..MOST + 4 {
            for round in 0..if cfg!(miri) { 20 } else { 2000 } {
                let mut text: Vec<u8> = (0..length).map(|_| b'0' + next(10) as u8).collect();
                if round % 2 == 1 && length > 0 {
                    let at = next(length as u64) as usize;
                    text[at] = [b'/', b':', 0, 0x7f, 0x80, 0xff, b'.', next(256) as u8][next(8) as usize];
                }
                assert_eq!(number(&text), plain(&text), "{text:?}");
            }
            assert_eq!(number(&vec![b'9'; length]), plain(&vec![b'9'; length]));
        }
    }

    #[test]
    fn every_byte_at_every_place_is_told_from_digits() {
        for length in 1..=MOST {
            for at in 0..length {
                for byte in (0..=u8::MAX).step_by(if cfg!(miri) { 31 } else { 1 }) {
                    let mut text = vec![b'9'; length];
                    text[at] = byte;
                    assert_eq!(number(&text), plain(&text), "{text:?}");
                }
            }
        }
    }
}
