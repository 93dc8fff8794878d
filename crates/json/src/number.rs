//! The values of numbers, exactly as they are spelled.

use crate::lexer::{Number, Result};

/// A number as a column holds it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Exact {
    Signed(i64),
    Unsigned(u64),
    Float(f64),
    /// A whole number that neither 64 bits nor a float hold.
    Huge,
}

/// The reason for refusing a number that rounds to infinity.
const BEYOND: &str = "a number beyond the range of floating-point numbers";

/// Digits that any 64 bits hold.
const SHORT: usize = 18;

/// Powers of ten that a float equals.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

/// The value of a number. Floats are correctly rounded; beyond their range is an error.
pub(crate) fn exact(number: &Number<'_>) -> Result<Exact> {
    if number.is_whole {
        if let Some(whole) = signed(number) {
            return Ok(Exact::Signed(whole));
        }
        if let Ok(whole) = number.text.parse() {
            return Ok(Exact::Unsigned(whole));
        }
    }
    let float = float(number)?;
    // Rust writes all digits of a float.
    if number.is_whole && format!("{float:.0}") != number.text {
        return Ok(Exact::Huge);
    }
    Ok(Exact::Float(float))
}

/// A whole number that a signed one of 64 bits holds.
#[inline]
pub(crate) fn signed(number: &Number<'_>) -> Option<i64> {
    if number.count <= SHORT {
        let whole = number.digits as i64;
        return number.is_whole.then_some(if number.is_negative { -whole } else { whole });
    }
    if number.is_whole { number.text.parse().ok() } else { None }
}

/// A whole number that one of 64 bits without a sign holds.
#[inline]
pub(crate) fn unsigned(number: &Number<'_>) -> Option<u64> {
    if number.count <= SHORT {
        return (number.is_whole && !number.is_negative).then_some(number.digits);
    }
    if number.is_whole { number.text.parse().ok() } else { None }
}

/// The nearest float.
#[inline]
pub(crate) fn float(number: &Number<'_>) -> Result<f64> {
    let power = POWERS.get(number.exponent.unsigned_abs() as usize);
    if let Some(power) = power.filter(|_| number.is_short() && number.digits <= 1 << 53) {
        // Both are exact, so that the one operation rounds correctly.
        let digits = number.digits as f64;
        let float = if number.exponent < 0 { digits / power } else { digits * power };
        return Ok(if number.is_negative { -float } else { float });
    }
    if number.is_short() && number.digits == 0 {
        return Ok(if number.is_negative { -0.0 } else { 0.0 });
    }
    let power = usize::try_from(-number.exponent).ok().and_then(|power| FIVES.get(power));
    if let Some(power) = power.filter(|_| number.is_short()) {
        let float = quotient(number.digits, *power, number.exponent as i32);
        return Ok(if number.is_negative { -float } else { float });
    }
    let float: f64 = number.text.parse().map_err(|_| BEYOND)?;
    if float.is_finite() { Ok(float) } else { Err(BEYOND.into()) }
}

/// Powers of five that 64 bits hold.
const FIVES: [u64; 28] = {
    let mut powers = [1; 28];
    let mut at = 1;
    while at < powers.len() {
        powers[at] = powers[at - 1] * 5;
        at += 1;
    }
    powers
};

/// The float nearest to a quotient of whole numbers above zero, times a power of two.
fn quotient(digits: u64, divisor: u64, power: i32) -> f64 {
    let (up, divisor_up) = (digits.leading_zeros(), divisor.leading_zeros());
    let dividend = u128::from(digits << up) << 63;
    let divisor = u128::from(divisor << divisor_up);
    // Of 63 or 64 bits, since both have their highest bit set before the dividend is shifted.
    let (quotient, rest) = ((dividend / divisor) as u64, dividend % divisor);
    let shift = 11 - quotient.leading_zeros();
    let (mut whole, low) = (quotient >> shift, quotient & ((1 << shift) - 1));
    let half = 1 << (shift - 1);
    if low > half || low == half && (rest != 0 || whole & 1 == 1) {
        whole += 1;
    }
    let exponent = shift as i32 - 63 + divisor_up as i32 - up as i32 + power;
    // Neither is rounded: the exponent is far from the limits.
    whole as f64 * f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// The nearest float of 32 bits.
pub(crate) fn float32(number: &Number<'_>) -> Result<f32> {
    let float: f32 = number.text.parse().map_err(|_| BEYOND)?;
    if float.is_finite() { Ok(float) } else { Err("a number beyond the range of float32".into()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexer::{Lexer, Token};

    fn number(text: &str) -> Number<'_> {
        let Ok(Token::Number(number)) = Lexer::new(text, true).token() else { panic!("{text}") };
        number
    }

    #[test]
    fn floats_are_those_of_the_standard_library() {
        let mut seed = 11_u64;
        for _ in 0..50_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let exponent = (seed >> 20) as i64 % 60 - 30;
            let digits = seed >> (seed % 61);
            let texts = [
                format!("{digits}.{}", seed >> 40),
                format!("-{digits}e{exponent}"),
                format!("0.{digits:022}"),
            ];
            for text in &texts {
                let wanted: f64 = text.parse().expect("a number");
                assert_eq!(float(&number(text)).expect("finite").to_bits(), wanted.to_bits(), "{text}");
            }
        }
        assert!(float(&number("1e309")).is_err() && float32(&number("1e39")).is_err());
        assert_eq!(float(&number("1e-99999999999999")), Ok(0.0));
        for exponent in 0..40 {
            assert_eq!(float(&number(&format!("0e-{exponent}"))), Ok(0.0));
        }
    }

    #[test]
    fn whole_numbers_are_exact() {
        assert_eq!(exact(&number("-9223372036854775808")), Ok(Exact::Signed(i64::MIN)));
        assert_eq!(exact(&number("18446744073709551615")), Ok(Exact::Unsigned(u64::MAX)));
        assert_eq!(exact(&number("18446744073709551616")), Ok(Exact::Float(18_446_744_073_709_551_616.0)));
        assert_eq!(exact(&number("18446744073709551617")), Ok(Exact::Huge));
        assert_eq!(exact(&number("-0")), Ok(Exact::Float(-0.0)));
        assert_eq!((signed(&number("1.0")), unsigned(&number("-1"))), (None, None));
    }
}
