//! Exact numbers that are independent of a column type.

use forthwith_columns::DType;
use std::{fmt, str::FromStr};

/// A sentinel for missing values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// An integer.
    Whole(i128),
    /// A floating-point number.
    Real(f64),
}

impl Number {
    /// Returns the bytes of the number as `dtype` in native order; `None` if the type cannot represent it.
    /// Integers have to be exact; floating-point numbers may be rounded to `Float32`.
    ///
    /// ```
    /// use forthwith_columns::DType;
    /// use forthwith_plan::Number;
    ///
    /// assert_eq!(Number::Whole(-2).bytes(DType::Int16), Some((-2i16).to_ne_bytes().to_vec()));
    /// assert_eq!(Number::Whole(-2).bytes(DType::UInt16), None);
    /// ```
    #[must_use]
    pub fn bytes(self, dtype: DType) -> Option<Vec<u8>> {
        macro_rules! whole {
            ($ty:ty) => {
                <$ty>::try_from(self.whole()?).ok().map(|number| number.to_ne_bytes().to_vec())
            };
        }
        match dtype {
            DType::Bool => match self.whole()? {
                0 => Some(vec![0]),
                1 => Some(vec![1]),
                _ => None,
            },
            DType::Int8 => whole!(i8),
            DType::Int16 => whole!(i16),
            DType::Int32 => whole!(i32),
            DType::Int64 => whole!(i64),
            DType::UInt8 => whole!(u8),
            DType::UInt16 => whole!(u16),
            DType::UInt32 => whole!(u32),
            DType::UInt64 => whole!(u64),
            DType::Float32 => {
                let single = match self {
                    Self::Whole(number) => Some(number as f32).filter(|single| *single as i128 == number)?,
                    Self::Real(number) => {
                        Some(number as f32).filter(|single| single.is_finite() || !number.is_finite())?
                    }
                };
                Some(single.to_ne_bytes().to_vec())
            }
            DType::Float64 => {
                let double = match self {
                    Self::Whole(number) => Some(number as f64).filter(|double| *double as i128 == number)?,
                    Self::Real(number) => number,
                };
                Some(double.to_ne_bytes().to_vec())
            }
        }
    }

    /// Returns the number as an integer; `None` if it has a fraction or exceeds all integer types.
    fn whole(self) -> Option<i128> {
        match self {
            Self::Whole(number) => Some(number),
            // Larger numbers exceed all integer types.
            Self::Real(number) => {
                (number.fract() == 0.0 && number.abs() < 2f64.powi(65)).then_some(number as i128)
            }
        }
    }
}

impl Default for Number {
    fn default() -> Self {
        Self::Whole(0)
    }
}

impl From<f64> for Number {
    fn from(number: f64) -> Self {
        Self::Real(number)
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(number) => number.fmt(f),
            Self::Real(number) => number.fmt(f),
        }
    }
}

impl FromStr for Number {
    type Err = std::num::ParseFloatError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.parse() {
            // Only floating-point types have a negative zero.
            Ok(0) if text.starts_with('-') => Ok(Self::Real(-0.0)),
            Ok(number) => Ok(Self::Whole(number)),
            Err(_) => text.parse().map(Self::Real),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_a_type_or_none() {
        for dtype in DType::ALL {
            let has = |number: f64| Number::Real(number).bytes(*dtype).is_some();
            let zero = Number::Real(0.0).bytes(*dtype).map(|bytes| bytes.len());
            assert_eq!(zero, Some(dtype.size()), "{dtype}");
            let real = matches!(dtype, DType::Float32 | DType::Float64);
            for number in [0.5, f64::NAN, f64::INFINITY] {
                assert_eq!(has(number), real, "{number} as {dtype}");
            }
            let signed = real || dtype.name().starts_with("int");
            assert_eq!(has(-9.0), signed, "{dtype}");
            let wide = dtype.size() > 1;
            assert_eq!(has(300.0), wide, "{dtype}");
            assert_eq!(has(1e300), *dtype == DType::Float64, "{dtype}");
            for number in [0, 1, -9, 300] {
                let (whole, real) = (Number::Whole(number), Number::Real(number as f64));
                assert_eq!(whole.bytes(*dtype), real.bytes(*dtype), "{number} as {dtype}");
            }
        }
        assert_eq!(Number::Real(-2.0).bytes(DType::Int16), Some((-2i16).to_ne_bytes().to_vec()));
        assert_eq!(Number::Real(1.0).bytes(DType::Bool), Some(vec![1]));
    }

    #[test]
    fn whole_numbers_keep_their_digits() {
        let of = |text: &str, dtype| text.parse::<Number>().expect("a number").bytes(dtype);
        let long = |number: i64| Some(number.to_ne_bytes().to_vec());
        assert_eq!(of("9007199254740993", DType::Int64), long(9_007_199_254_740_993));
        assert_eq!(of("-9223372036854775808", DType::Int64), long(i64::MIN));
        assert_eq!(of("9007199254740993", DType::Float64), None);
        assert_eq!(of("16777217", DType::Float32), None);
        assert_eq!(of("18446744073709551615", DType::UInt64), Some(vec![255; 8]));
        for text in ["9223372036854775808", "9.223372036854775808e18", "1e30", "-1e300"] {
            assert_eq!(of(text, DType::Int64), None, "{text}");
        }
        assert_eq!(of("18446744073709551616", DType::UInt64), None);
        assert_eq!(of("-1", DType::UInt8), None);
        assert_eq!(of("1e3", DType::UInt16), Some(1000u16.to_ne_bytes().to_vec()));
        assert_eq!(of("-0", DType::Float64), Some((-0.0f64).to_ne_bytes().to_vec()));
        assert_eq!(of("-0", DType::Int8), Some(vec![0]));
        assert!("x".parse::<Number>().is_err() && "".parse::<Number>().is_err());
    }
}
