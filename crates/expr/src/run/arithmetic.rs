//! Arithmetic of single numbers, with the results of NumPy.

use crate::buffer::Item;

/// A number of any type.
pub(crate) trait Number: Item {
    const ZERO: Self;
    const ONE: Self;
    fn add(self, other: Self) -> Self;
    fn subtract(self, other: Self) -> Self;
    fn multiply(self, other: Self) -> Self;
    fn floor_divide(self, other: Self) -> Self;
    fn remainder(self, other: Self) -> Self;
    fn fmod(self, other: Self) -> Self;
    fn power(self, other: Self) -> Self;
    fn negative(self) -> Self;
    fn abs(self) -> Self;
    fn sign(self) -> Self;
    /// Whether an integer is negative, and therefore invalid as an exponent; `false` for floating-point
    /// numbers.
    fn is_below_zero(self) -> bool;
    fn is_nan(self) -> bool;

    /// Returns the smaller number; NaN if either number is NaN.
    fn minimum(self, other: Self) -> Self {
        if self <= other || self.is_nan() { self } else { other }
    }

    fn maximum(self, other: Self) -> Self {
        if self >= other || self.is_nan() { self } else { other }
    }
}

/// An integer.
pub(crate) trait Integer: Number {
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    fn not(self) -> Self;
    fn shift_left(self, by: Self) -> Self;
    fn shift_right(self, by: Self) -> Self;
}

macro_rules! integers {
    ($($number:ident)*) => {
        $(
            #[allow(unused_comparisons, reason = "unsigned numbers are never negative")]
            impl Number for $number {
                const ZERO: Self = 0;
                const ONE: Self = 1;
                #[inline(always)]
                fn add(self, other: Self) -> Self { self.wrapping_add(other) }
                #[inline(always)]
                fn subtract(self, other: Self) -> Self { self.wrapping_sub(other) }
                #[inline(always)]
                fn multiply(self, other: Self) -> Self { self.wrapping_mul(other) }
                #[inline(always)]
                fn floor_divide(self, other: Self) -> Self {
                    if other == 0 {
                        return 0;
                    }
                    let quotient = self.wrapping_div(other);
                    let down = self.wrapping_rem(other) != 0 && (self < 0) != (other < 0);
                    if down { quotient.wrapping_sub(1) } else { quotient }
                }
                #[inline(always)]
                fn remainder(self, other: Self) -> Self {
                    let rest = self.fmod(other);
                    if rest != 0 && (rest < 0) != (other < 0) { rest.wrapping_add(other) } else { rest }
                }
                #[inline(always)]
                fn fmod(self, other: Self) -> Self {
                    if other == 0 { 0 } else { self.wrapping_rem(other) }
                }
                fn power(self, exponent: Self) -> Self {
                    let (mut base, mut exponent, mut product): (Self, Self, Self) = (self, exponent, 1);
                    while exponent > 0 {
                        if exponent & 1 == 1 {
                            product = product.wrapping_mul(base);
                        }
                        base = base.wrapping_mul(base);
                        exponent >>= 1;
                    }
                    product
                }
                #[inline(always)]
                fn negative(self) -> Self { self.wrapping_neg() }
                #[inline(always)]
                fn abs(self) -> Self { if self < 0 { self.wrapping_neg() } else { self } }
                #[inline(always)]
                fn sign(self) -> Self {
                    if self > 0 { 1 } else { (0 as Self).wrapping_sub((self < 0) as Self) }
                }
                #[inline(always)]
                fn is_below_zero(self) -> bool { self < 0 }
                #[inline(always)]
                fn is_nan(self) -> bool { false }
            }

            #[allow(unused_comparisons, reason = "unsigned numbers are never negative")]
            impl Integer for $number {
                #[inline(always)]
                fn and(self, other: Self) -> Self { self & other }
                #[inline(always)]
                fn or(self, other: Self) -> Self { self | other }
                #[inline(always)]
                fn xor(self, other: Self) -> Self { self ^ other }
                #[inline(always)]
                fn not(self) -> Self { !self }
                #[inline(always)]
                fn shift_left(self, by: Self) -> Self {
                    // A negative shift count is treated as a very large one, as in C.
                    u32::try_from(by).ok().and_then(|by| self.checked_shl(by)).unwrap_or(0)
                }
                #[inline(always)]
                fn shift_right(self, by: Self) -> Self {
                    let beyond = if self < 0 { !0 } else { 0 };
                    u32::try_from(by).ok().and_then(|by| self.checked_shr(by)).unwrap_or(beyond)
                }
            }
        )*
    };
}

integers!(i8 i16 i32 i64 u8 u16 u32 u64);

macro_rules! floats {
    ($($number:ident)*) => {
        $(
            impl Number for $number {
                const ZERO: Self = 0.0;
                const ONE: Self = 1.0;
                #[inline(always)]
                fn add(self, other: Self) -> Self { self + other }
                #[inline(always)]
                fn subtract(self, other: Self) -> Self { self - other }
                #[inline(always)]
                fn multiply(self, other: Self) -> Self { self * other }
                fn floor_divide(self, other: Self) -> Self {
                    if other == 0.0 {
                        return self / other;
                    }
                    let rest = self % other;
                    let mut quotient = (self - rest) / other;
                    if rest != 0.0 && (other < 0.0) != (rest < 0.0) {
                        quotient -= 1.0;
                    }
                    if quotient == 0.0 {
                        return (0.0 as Self).copysign(self / other);
                    }
                    let floor = quotient.floor();
                    if quotient - floor > 0.5 { floor + 1.0 } else { floor }
                }
                fn remainder(self, other: Self) -> Self {
                    let rest = self % other;
                    if other == 0.0 {
                        return rest;
                    }
                    if rest == 0.0 {
                        return (0.0 as Self).copysign(other);
                    }
                    if (other < 0.0) != (rest < 0.0) { rest + other } else { rest }
                }
                #[inline(always)]
                fn fmod(self, other: Self) -> Self { self % other }
                #[inline(always)]
                fn power(self, other: Self) -> Self { self.powf(other) }
                #[inline(always)]
                fn negative(self) -> Self { -self }
                #[inline(always)]
                fn abs(self) -> Self { <$number>::abs(self) }
                #[inline(always)]
                fn sign(self) -> Self {
                    if self > 0.0 { 1.0 } else if self < 0.0 { -1.0 } else if self == 0.0 { 0.0 } else { self }
                }
                #[inline(always)]
                fn is_below_zero(self) -> bool { false }
                #[inline(always)]
                fn is_nan(self) -> bool { <$number>::is_nan(self) }
            }
        )*
    };
}

floats!(f32 f64);

/// Divides constants of an expression, rounding down.
pub(crate) fn floor_divide(x: f64, y: f64) -> f64 {
    Number::floor_divide(x, y)
}

/// Returns the remainder of constants of an expression.
pub(crate) fn remainder(x: f64, y: f64) -> f64 {
    Number::remainder(x, y)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn division_rounds_down_and_never_fails() {
        assert_eq!(Number::floor_divide(-7i32, 2), -4);
        assert_eq!(Number::remainder(-7i32, 2), 1);
        assert_eq!(Number::remainder(7i32, -2), -1);
        assert_eq!((Number::floor_divide(i8::MIN, -1), Number::remainder(i8::MIN, -1)), (i8::MIN, 0));
        assert_eq!((Number::floor_divide(3u8, 0), Number::remainder(3u8, 0)), (0, 0));
        assert_eq!(Number::floor_divide(-7.5f64, 2.0), -4.0);
        assert_eq!(Number::remainder(-7.5f64, 2.0), 0.5);
        assert!(Number::floor_divide(f64::INFINITY, 2.0).is_nan());
        assert!(Number::remainder(1.0f32, 0.0).is_nan());
    }

    #[test]
    fn shifts_beyond_the_width_leave_the_sign() {
        assert_eq!((1i8.shift_left(7), 1i8.shift_left(8), 1i8.shift_left(-1)), (-128, 0, 0));
        assert_eq!(((-1i8).shift_right(9), 1i8.shift_right(9), (-8i8).shift_right(1)), (-1, 0, -4));
        assert_eq!(Number::power(3i8, 5), -13);
    }
}
