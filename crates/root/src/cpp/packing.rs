//! Packing of `Float16_t` and `Double32_t` members, which their comments specify.

use forthwith_encode::{scaled, truncated};

/// Packing of a `Float16_t` or `Double32_t` member. By default, a `Double32_t` is an `f32`, and a `Float16_t`
/// has a mantissa of 12 bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Packing {
    /// A 32-bit integer, which is divided by `factor` and added to `min`.
    Range {
        /// Smallest value.
        min: f64,
        /// Largest value.
        max: f64,
        /// Factor by which the difference from `min` was multiplied.
        factor: f64,
    },
    /// One byte of exponent, then sign and mantissa in two bytes.
    Mantissa {
        /// Bits of the mantissa.
        bits: u32,
    },
}

impl Packing {
    /// Parses the packing in a member's comment: `[min,max]` or `[min,max,bits]`, after the counter's
    /// brackets if the member has one. Returns `None` if there is none, or if it packs nothing.
    #[must_use]
    pub fn from_comment(comment: &str) -> Option<Self> {
        let (inner, rest) = bracket(comment)?;
        // The first bracket may be a dimension.
        let inner = if inner.contains(',') { inner } else { bracket(rest)?.0 };
        let mut parts = inner.split(',');
        let (min, max) = (parts.next()?, parts.next()?);
        let bits =
            parts.next().and_then(leading_integer).filter(|bits| (2..=32).contains(bits)).unwrap_or(32);
        let (min, max) = (number(min), number(max));
        if min < max {
            let steps = if bits < 32 { f64::from(1_u32 << bits) } else { f64::from(u32::MAX) };
            Some(Self::Range { min, max, factor: steps / (max - min) })
        } else {
            (bits < 15).then_some(Self::Mantissa { bits })
        }
    }

    /// Returns the packing in a streamer element of version 3. Without a range, `min` is the number of bits
    /// plus 0.1. Returns `None` if the element has no packing.
    #[must_use]
    pub fn from_stored(min: f64, max: f64, factor: f64) -> Option<Self> {
        if factor > 0.0 {
            Some(Self::Range { min, max, factor })
        } else {
            (2.0..15.0).contains(&min).then_some(Self::Mantissa { bits: min as u32 })
        }
    }

    /// Returns the size of a packed number in bytes.
    #[must_use]
    pub const fn size(self) -> usize {
        match self {
            Self::Range { .. } => 4,
            Self::Mantissa { .. } => 3,
        }
    }

    /// Decodes a packed number from four bytes for a range, or three for a mantissa. Returns 0 for any other
    /// number of bytes.
    #[must_use]
    pub fn value(self, bytes: &[u8]) -> f64 {
        match (self, bytes) {
            (Self::Range { min, factor, .. }, &[a, b, c, d]) => {
                f64::from(u32::from_be_bytes([a, b, c, d])) / factor + min
            }
            (Self::Mantissa { bits }, &[exponent, high, low]) => {
                let stored = u32::from(u16::from_be_bytes([high, low]));
                // The sign is above the mantissa and a bit into which rounding may carry.
                let sign = 1 << (bits + 1);
                let mantissa = (stored & (sign - 1)) << (23 - bits);
                let value = f32::from_bits((u32::from(exponent) << 23) + mantissa);
                f64::from(if stored & sign == 0 { value } else { -value })
            }
            _ => 0.0,
        }
    }
}

impl Packing {
    /// Encodes a number as ROOT does, the opposite of [`value`](Self::value). `put` is called with its three
    /// or four bytes.
    pub fn append(self, value: f64, mut put: impl FnMut(&[u8])) {
        match self {
            Self::Mantissa { bits } => put(&truncated(value, bits)),
            Self::Range { min, max, factor } => put(&scaled(value, min, max, factor)),
        }
    }
}

/// Returns the inside of the first pair of brackets, and the text after it.
fn bracket(text: &str) -> Option<(&str, &str)> {
    text.split_once('[')?.1.split_once(']')
}

/// Parses a bound: a number, or a multiple or fraction of pi.
fn number(text: &str) -> f64 {
    use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI, TAU};
    let text: String = text.chars().filter(|c| *c != ' ').collect::<String>().to_lowercase();
    if !text.contains("pi") {
        return leading_number(&text);
    }
    let value = if ["2pi", "2*pi", "twopi"].iter().any(|form| text.contains(form)) {
        TAU
    } else if text.contains("pi/2") {
        FRAC_PI_2
    } else if text.contains("pi/4") {
        FRAC_PI_4
    } else {
        PI
    };
    if text.contains('-') { -value } else { value }
}

/// Returns the number with which a text begins, or 0 if there is none.
fn leading_number(text: &str) -> f64 {
    (1..=text.len())
        .rev()
        .filter_map(|end| text.get(..end))
        // `parse` would accept words such as `inf`.
        .filter(|text| text.ends_with(|c: char| c.is_ascii_digit() || c == '.'))
        .find_map(|text| text.parse().ok())
        .unwrap_or(0.0)
}

fn leading_integer(text: &str) -> Option<u32> {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::Packing;
    use std::f64::consts::PI;

    fn range(comment: &str) -> (f64, f64, f64) {
        match Packing::from_comment(comment) {
            Some(Packing::Range { min, max, factor }) => (min, max, factor),
            other => panic!("{comment}: {other:?}"),
        }
    }

    #[test]
    fn ranges() {
        assert_eq!(range("[0,10]"), (0.0, 10.0, 4_294_967_295.0 / 10.0));
        assert_eq!(range("[0, 10, 32] energy"), (0.0, 10.0, 4_294_967_295.0 / 10.0));
        assert_eq!(range("[-1.5e2,100,16]"), (-150.0, 100.0, 65536.0 / 250.0));
        assert_eq!(range("[-pi,pi,8]"), (-PI, PI, 256.0 / (2.0 * PI)));
        assert_eq!(range("[-pi/2,twopi]").0, -PI / 2.0);
        assert_eq!(range("[fN][0,1,10] fractions"), (0.0, 1.0, 1024.0));
        assert_eq!(range("[0,1,1]").2, 4_294_967_295.0, "a silly number of bits means 32");
    }

    #[test]
    fn values() {
        let range = Packing::Range { min: -1.0, max: 1.0, factor: 128.0 };
        assert_eq!(range.value(&[0, 0, 0, 192]), 0.5);
        let float16 = Packing::Mantissa { bits: 12 };
        assert_eq!(float16.value(&[127, 0, 0]), 1.0);
        assert_eq!(float16.value(&[128, 0x24, 0x00]), -2.5);
        assert_eq!(float16.value(&[1, 2]), 0.0);
    }

    #[test]
    fn mantissas_and_nothing() {
        assert_eq!(Packing::from_comment("[0,0,8]"), Some(Packing::Mantissa { bits: 8 }));
        assert_eq!(Packing::from_comment("[0,0,15]"), None);
        assert_eq!(Packing::from_comment("[0,0]"), None);
        assert_eq!(Packing::from_comment("[fN] no range"), None);
        assert_eq!(Packing::from_comment("] [ ,"), None);
        assert_eq!(Packing::from_stored(8.1, 0.0, 0.0), Some(Packing::Mantissa { bits: 8 }));
        assert_eq!(Packing::from_stored(0.0, 0.0, 0.0), None);
    }
}
