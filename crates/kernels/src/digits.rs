//! Parsing of decimal digits in text, eight at a time.

/// Maximum number of digits: any number of that many fits 63 bits.
pub const MOST: usize = 18;

/// Eight digits `0` as a word.
const ZEROS: u64 = 0x3030_3030_3030_3030;
/// Powers of ten up to that of [`MOST`].
pub const POWERS: [u64; MOST + 1] = {
    let mut powers = [1; MOST + 1];
    let mut at = 1;
    while at < powers.len() {
        powers[at] = powers[at - 1] * 10;
        at += 1;
    }
    powers
};

/// Parses a text of at most [`MOST`] digits; `None` if it is longer or has another byte, zero if it is empty.
/// Leading zeros are allowed.
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
        // Digits that are also in the first word, in the low bytes, are replaced by zeros.
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

/// Parses a text of 17 or 18 digits.
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

/// Returns the number of eight digits, the first of them in the lowest byte; `None` if there is another byte.
#[inline]
fn eight(word: u64) -> Option<u64> {
    (leading(word) == 8).then(|| number_of_eight(word))
}

/// Returns how many of eight bytes, from the lowest, are digits before the first other byte.
#[inline]
#[must_use]
pub const fn leading(eight: u64) -> usize {
    const HIGH: u64 = 0xf0f0_f0f0_f0f0_f0f0;
    // Adding six carries out of the low half of a byte if that is above nine. A carry out of a byte can only
    // affect bytes after a byte that is not a digit.
    let others = ((eight & HIGH) ^ ZEROS) | ((eight.wrapping_add(0x0606_0606_0606_0606) & HIGH) ^ ZEROS);
    others.trailing_zeros() as usize / 8
}

/// Returns the number of eight digits, the first of them in the lowest byte; zero bytes count as zeros.
#[inline]
#[must_use]
pub const fn number_of_eight(eight: u64) -> u64 {
    let ones = eight & 0x0f0f_0f0f_0f0f_0f0f;
    let tens = ones.wrapping_mul(10).wrapping_add(ones >> 8) & 0x00ff_00ff_00ff_00ff;
    let hundreds = tens.wrapping_mul(100).wrapping_add(tens >> 16) & 0x0000_ffff_0000_ffff;
    hundreds.wrapping_mul(10_000).wrapping_add(hundreds >> 32) & 0xffff_ffff
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
