//! Exact values of numbers.

use crate::lexer::{Number, Result};
use forthwith_kernels::decimals::nearest;

/// Value of a number as a column stores it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Exact {
    Signed(i64),
    Unsigned(u64),
    Float(f64),
    /// Integer that neither 64 bits nor a float represent exactly.
    Huge,
}

/// Error for a number that rounds to infinity.
const BEYOND: &str = "a number beyond the range of floating-point numbers";

/// Number of decimal digits that always fit into an `i64`.
const SHORT: usize = 18;

/// Returns the value of a number. Non-integers are rounded to the nearest float.
///
/// # Errors
/// Returns an error if the number is outside the range of `f64`.
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
    // Rust formats all digits of a float.
    if number.is_whole && format!("{float:.0}") != number.text {
        return Ok(Exact::Huge);
    }
    Ok(Exact::Float(float))
}

/// Returns an integer in the range of `i64`; `None` for other numbers.
#[inline]
pub(crate) fn signed(number: &Number<'_>) -> Option<i64> {
    if number.count <= SHORT {
        let whole = number.digits as i64;
        return number.is_whole.then_some(if number.is_negative { -whole } else { whole });
    }
    if number.is_whole { number.text.parse().ok() } else { None }
}

/// Returns an integer in the range of `u64`; `None` for other numbers.
#[inline]
pub(crate) fn unsigned(number: &Number<'_>) -> Option<u64> {
    if number.count <= SHORT {
        return (number.is_whole && !number.is_negative).then_some(number.digits);
    }
    if number.is_whole { number.text.parse().ok() } else { None }
}

/// Returns the nearest `f64`, or an error if the number is out of range.
#[inline]
pub(crate) fn float(number: &Number<'_>) -> Result<f64> {
    if number.is_short()
        && let Some(float) = nearest(number.digits, number.exponent)
    {
        return Ok(if number.is_negative { -float } else { float });
    }
    let float: f64 = number.text.parse().map_err(|_| BEYOND)?;
    if float.is_finite() { Ok(float) } else { Err(BEYOND.into()) }
}

/// Returns the nearest `f32`, or an error if the number is out of range.
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
