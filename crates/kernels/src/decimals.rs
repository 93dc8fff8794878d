//! Conversion of decimal numbers to floating-point numbers.

/// Powers of ten that an `f64` represents exactly.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

/// Powers of five that fit 64 bits.
const FIVES: [u64; 28] = {
    let mut powers = [1; 28];
    let mut at = 1;
    while at < powers.len() {
        powers[at] = powers[at - 1] * 5;
        at += 1;
    }
    powers
};

/// Returns the float nearest to `digits` times ten to the power of `exponent`; `None` if neither one exact
/// operation nor one division yields it, and the standard library has to be used.
#[inline]
#[must_use]
pub fn nearest(digits: u64, exponent: i64) -> Option<f64> {
    let power = POWERS.get(exponent.unsigned_abs() as usize);
    if let Some(power) = power.filter(|_| digits <= 1 << 53) {
        // Both operands are exact, so the one operation rounds correctly.
        return Some(if exponent < 0 { digits as f64 / power } else { digits as f64 * power });
    }
    if digits == 0 {
        return Some(0.0);
    }
    let five = usize::try_from(exponent.checked_neg()?).ok().and_then(|power| FIVES.get(power))?;
    Some(quotient(digits, *five, exponent as i32))
}

/// Returns the float nearest to `digits / divisor` times two to the power of `power`; both must be above
/// zero.
fn quotient(digits: u64, divisor: u64, power: i32) -> f64 {
    let (up, divisor_up) = (digits.leading_zeros(), divisor.leading_zeros());
    let dividend = u128::from(digits << up) << 63;
    let divisor = u128::from(divisor << divisor_up);
    // The quotient has 63 or 64 bits, since both numbers have their highest bit set before the dividend is
    // shifted.
    let (quotient, rest) = ((dividend / divisor) as u64, dividend % divisor);
    let shift = 11 - quotient.leading_zeros();
    let (mut whole, low) = (quotient >> shift, quotient & ((1 << shift) - 1));
    let half = 1 << (shift - 1);
    if low > half || low == half && (rest != 0 || whole & 1 == 1) {
        whole += 1;
    }
    let exponent = shift as i32 - 63 + divisor_up as i32 - up as i32 + power;
    // Both factors are exact: the exponent is far from the limits.
    whole as f64 * f64::from_bits(((exponent + 1023) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn floats_are_those_of_the_standard_library() {
        let (mut seed, mut found) = (11_u64, 0);
        for _ in 0..50_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (digits, exponent) = (seed >> (seed % 61), (seed >> 20) as i64 % 60 - 30);
            if let Some(float) = nearest(digits, exponent) {
                found += 1;
                let wanted: f64 = format!("{digits}e{exponent}").parse().expect("a number");
                assert_eq!(float.to_bits(), wanted.to_bits(), "{digits}e{exponent}");
            }
        }
        assert!(found > 25_000, "{found}");
        assert_eq!([nearest(0, -40), nearest(0, i64::MIN), nearest(1, 23)], [Some(0.0), Some(0.0), None]);
    }
}
