//! Element-wise operations: loops over slices that the compiler vectorizes.

use super::{
    arithmetic::{Integer, Number},
    special,
};
use crate::{
    buffer::{Buffer, Item, Slice, with_type},
    syntax::{Binary, Unary},
};
use forthwith_columns::DType;

/// A number for each item, or one number for all items.
#[derive(Clone, Copy)]
pub(super) enum Numbers<'a> {
    Many(Slice<'a>),
    One(Slice<'a>),
}

/// [`Numbers`] of a known type.
#[derive(Clone, Copy)]
enum Of<'a, T> {
    Many(&'a [T]),
    One(T),
}

impl<'a> Numbers<'a> {
    fn of<T: Item>(self) -> Of<'a, T> {
        match self {
            Self::Many(slice) => Of::Many(T::in_slice(slice)),
            Self::One(slice) => Of::One(T::in_slice(slice).first().copied().unwrap_or_default()),
        }
    }

    /// Returns the numbers as a slice, which has one number if it is for all items.
    pub(super) fn slice(self) -> Slice<'a> {
        match self {
            Self::Many(slice) | Self::One(slice) => slice,
        }
    }
}

/// Evaluates an expression with the Rust type of an integer type.
macro_rules! with_integer {
    ($dtype:expr, $number:ident => $body:expr) => {
        forthwith_columns::with_integer!($dtype, $number => $body,
            DType::Bool => {
                type $number = u8;
                $body
            }
            DType::Float32 | DType::Float64 => debug_assert!(false, "checked before"),
        )
    };
}

fn map<T: Item, R: Item>(x: Numbers<'_>, out: &mut Buffer, f: impl Fn(T) -> R) {
    let out = R::in_buffer(out);
    out.clear();
    out.extend(T::in_slice(x.slice()).iter().map(|x| f(*x)));
}

fn zip<T: Item, R: Item>(x: Numbers<'_>, y: Numbers<'_>, out: &mut Buffer, f: impl Fn(T, T) -> R) {
    zip_two(x, y, out, f);
}

/// Applies a function to pairs of numbers of two types.
fn zip_two<T: Item, U: Item, R: Item>(
    x: Numbers<'_>,
    y: Numbers<'_>,
    out: &mut Buffer,
    f: impl Fn(T, U) -> R,
) {
    let out = R::in_buffer(out);
    out.clear();
    match (x.of::<T>(), y.of::<U>()) {
        (Of::Many(x), Of::Many(y)) => out.extend(x.iter().zip(y).map(|(x, y)| f(*x, *y))),
        (Of::Many(x), Of::One(y)) => out.extend(x.iter().map(|x| f(*x, y))),
        (Of::One(x), Of::Many(y)) => out.extend(y.iter().map(|y| f(x, *y))),
        (Of::One(x), Of::One(y)) => out.push(f(x, y)),
    }
}

pub(super) fn unary(operation: Unary, dtype: DType, x: Numbers<'_>, out: &mut Buffer) {
    use Unary as U;
    match (operation, dtype) {
        (U::Not, _) => map::<u8, u8>(x, out, |x| u8::from(x == 0)),
        (U::Invert, _) => with_integer!(dtype, T => map::<T, T>(x, out, Integer::not)),
        (U::Negative, _) => with_type!(dtype, T => map::<T, T>(x, out, Number::negative)),
        (U::Abs, _) => with_type!(dtype, T => map::<T, T>(x, out, Number::abs)),
        (U::Sign, _) => with_type!(dtype, T => map::<T, T>(x, out, Number::sign)),
        (U::Square, _) => with_type!(dtype, T => map::<T, T>(x, out, |x| Number::multiply(x, x))),
        (_, DType::Float32) => float32(operation, x, out),
        _ => float64(operation, x, out),
    }
}

macro_rules! float_functions {
    ($($name:ident $number:ident;)*) => {
        $(
            fn $name(operation: Unary, x: Numbers<'_>, out: &mut Buffer) {
                use Unary as U;
                type T = $number;
                match operation {
                    U::Sqrt => map::<T, T>(x, out, T::sqrt),
                    U::Cbrt => map::<T, T>(x, out, T::cbrt),
                    U::Exp => map::<T, T>(x, out, T::exp),
                    U::Exp2 => map::<T, T>(x, out, T::exp2),
                    U::Expm1 => map::<T, T>(x, out, T::exp_m1),
                    U::Log => map::<T, T>(x, out, T::ln),
                    U::Log2 => map::<T, T>(x, out, T::log2),
                    U::Log10 => map::<T, T>(x, out, T::log10),
                    U::Log1p => map::<T, T>(x, out, T::ln_1p),
                    U::Sin => map::<T, T>(x, out, T::sin),
                    U::Cos => map::<T, T>(x, out, T::cos),
                    U::Tan => map::<T, T>(x, out, T::tan),
                    U::Arcsin => map::<T, T>(x, out, T::asin),
                    U::Arccos => map::<T, T>(x, out, T::acos),
                    U::Arctan => map::<T, T>(x, out, T::atan),
                    U::Sinh => map::<T, T>(x, out, T::sinh),
                    U::Cosh => map::<T, T>(x, out, T::cosh),
                    U::Tanh => map::<T, T>(x, out, T::tanh),
                    U::Arcsinh => map::<T, T>(x, out, T::asinh),
                    U::Arccosh => map::<T, T>(x, out, T::acosh),
                    U::Arctanh => map::<T, T>(x, out, T::atanh),
                    U::Degrees => map::<T, T>(x, out, |x| x * (180.0 / std::f64::consts::PI) as T),
                    U::Radians => map::<T, T>(x, out, |x| x * (std::f64::consts::PI / 180.0) as T),
                    U::Floor => map::<T, T>(x, out, T::floor),
                    U::Ceil => map::<T, T>(x, out, T::ceil),
                    U::Trunc => map::<T, T>(x, out, T::trunc),
                    U::Rint => map::<T, T>(x, out, T::round_ties_even),
                    U::Erf => map::<T, T>(x, out, |x| special::erf(f64::from(x)) as T),
                    U::Erfc => map::<T, T>(x, out, |x| special::erfc(f64::from(x)) as T),
                    U::IsNan => map::<T, u8>(x, out, |x| u8::from(T::is_nan(x))),
                    U::IsInf => map::<T, u8>(x, out, |x| u8::from(x.is_infinite())),
                    U::IsFinite => map::<T, u8>(x, out, |x| u8::from(x.is_finite())),
                    U::Negative | U::Positive | U::Invert | U::Not | U::Abs | U::Sign | U::Square => {
                        debug_assert!(false, "of all types");
                    }
                }
            }
        )*
    };
}

float_functions! {
    float32 f32;
    float64 f64;
}

/// Computes an operation of two operands of one type. Returns the position of a negative exponent of integers
/// as an error.
pub(super) fn binary(
    operation: Binary,
    dtype: DType,
    x: Numbers<'_>,
    y: Numbers<'_>,
    out: &mut Buffer,
) -> Result<(), usize> {
    use Binary as B;
    match operation {
        B::Add => with_type!(dtype, T => zip::<T, T>(x, y, out, Number::add)),
        B::Subtract => with_type!(dtype, T => zip::<T, T>(x, y, out, Number::subtract)),
        B::Multiply => with_type!(dtype, T => zip::<T, T>(x, y, out, Number::multiply)),
        B::FloorDivide => with_type!(dtype, T => zip::<T, T>(x, y, out, Number::floor_divide)),
        B::Remainder => with_type!(dtype, T => zip::<T, T>(x, y, out, Number::remainder)),
        B::Fmod => with_type!(dtype, T => zip::<T, T>(x, y, out, Number::fmod)),
        B::Minimum => with_type!(dtype, T => zip::<T, T>(x, y, out, Number::minimum)),
        B::Maximum => with_type!(dtype, T => zip::<T, T>(x, y, out, Number::maximum)),
        B::Power => return power(dtype, x, y, out),
        B::BitAnd | B::And => with_integer!(dtype, T => zip::<T, T>(x, y, out, Integer::and)),
        B::BitOr | B::Or => with_integer!(dtype, T => zip::<T, T>(x, y, out, Integer::or)),
        B::BitXor | B::Xor => with_integer!(dtype, T => zip::<T, T>(x, y, out, Integer::xor)),
        B::ShiftLeft => with_integer!(dtype, T => zip::<T, T>(x, y, out, Integer::shift_left)),
        B::ShiftRight => with_integer!(dtype, T => zip::<T, T>(x, y, out, Integer::shift_right)),
        B::Less => with_type!(dtype, T => zip::<T, u8>(x, y, out, |x, y| u8::from(x < y))),
        B::LessEqual => with_type!(dtype, T => zip::<T, u8>(x, y, out, |x, y| u8::from(x <= y))),
        B::Greater => with_type!(dtype, T => zip::<T, u8>(x, y, out, |x, y| u8::from(x > y))),
        B::GreaterEqual => with_type!(dtype, T => zip::<T, u8>(x, y, out, |x, y| u8::from(x >= y))),
        B::Equal => with_type!(dtype, T => zip::<T, u8>(x, y, out, |x, y| u8::from(x == y))),
        B::NotEqual => with_type!(dtype, T => zip::<T, u8>(x, y, out, |x, y| u8::from(x != y))),
        B::Divide | B::Arctan2 | B::Hypot | B::CopySign if dtype == DType::Float32 => {
            of_float32(operation, x, y, out);
        }
        B::Divide | B::Arctan2 | B::Hypot | B::CopySign => of_float64(operation, x, y, out),
    }
    Ok(())
}

macro_rules! float_operations {
    ($($name:ident $number:ident;)*) => {
        $(
            fn $name(operation: Binary, x: Numbers<'_>, y: Numbers<'_>, out: &mut Buffer) {
                type T = $number;
                match operation {
                    Binary::Divide => zip::<T, T>(x, y, out, |x, y| x / y),
                    Binary::Arctan2 => zip::<T, T>(x, y, out, T::atan2),
                    Binary::Hypot => zip::<T, T>(x, y, out, T::hypot),
                    _ => zip::<T, T>(x, y, out, T::copysign),
                }
            }
        )*
    };
}

float_operations! {
    of_float32 f32;
    of_float64 f64;
}

fn power(dtype: DType, x: Numbers<'_>, y: Numbers<'_>, out: &mut Buffer) -> Result<(), usize> {
    // Exponents for which NumPy does not compute a general power.
    macro_rules! simple {
        ($number:ident) => {{
            type T = $number;
            match y.of::<T>() {
                Of::One(y) if y == 2.0 => return Ok(map::<T, T>(x, out, |x| x * x)),
                Of::One(y) if y == 1.0 => return Ok(map::<T, T>(x, out, |x| x)),
                Of::One(y) if y == 0.5 => return Ok(map::<T, T>(x, out, T::sqrt)),
                Of::One(y) if y == -1.0 => return Ok(map::<T, T>(x, out, |x| 1.0 / x)),
                _ => {}
            }
        }};
    }
    match dtype {
        DType::Float32 => simple!(f32),
        DType::Float64 => simple!(f64),
        _ => {}
    }
    with_type!(dtype, T => {
        let negative = match y.of::<T>() {
            Of::Many(y) => y.iter().position(|y| y.is_below_zero()),
            Of::One(y) => y.is_below_zero().then_some(0),
        };
        if let Some(at) = negative {
            return Err(at);
        }
        match y.of::<T>() {
            Of::One(y) if y == T::ONE.add(T::ONE) => map::<T, T>(x, out, |x| Number::multiply(x, x)),
            _ => zip::<T, T>(x, y, out, Number::power),
        }
    });
    Ok(())
}

/// Compares signed with unsigned integers by their mathematical values.
pub(super) fn mixed(operation: Binary, signed: Numbers<'_>, unsigned: Numbers<'_>, out: &mut Buffer) {
    zip_two(signed, unsigned, out, |x: i64, y: u64| {
        let ordering = u64::try_from(x).map_or(std::cmp::Ordering::Less, |x| x.cmp(&y));
        u8::from(operation.holds(ordering))
    });
}

pub(super) fn choose(dtype: DType, condition: Numbers<'_>, x: Numbers<'_>, y: Numbers<'_>, out: &mut Buffer) {
    with_type!(dtype, T => {
        let out = T::in_buffer(out);
        out.clear();
        // Selects without a branch, which would often be mispredicted.
        let pick = |holds: u8, x: T, y: T| [y, x][usize::from(holds != 0)];
        match (condition.of::<u8>(), x.of::<T>(), y.of::<T>()) {
            (Of::Many(c), Of::Many(x), Of::Many(y)) => {
                out.extend(c.iter().zip(x).zip(y).map(|((c, x), y)| pick(*c, *x, *y)));
            }
            (Of::Many(c), Of::Many(x), Of::One(y)) => out.extend(c.iter().zip(x).map(|(c, x)| pick(*c, *x, y))),
            (Of::Many(c), Of::One(x), Of::Many(y)) => out.extend(c.iter().zip(y).map(|(c, y)| pick(*c, x, *y))),
            (Of::Many(c), Of::One(x), Of::One(y)) => out.extend(c.iter().map(|c| pick(*c, x, y))),
            (Of::One(c), Of::Many(x), Of::Many(y)) => out.extend(x.iter().zip(y).map(|(x, y)| pick(c, *x, *y))),
            (Of::One(c), Of::Many(x), Of::One(y)) => out.extend(x.iter().map(|x| pick(c, *x, y))),
            (Of::One(c), Of::One(x), Of::Many(y)) => out.extend(y.iter().map(|y| pick(c, x, *y))),
            (Of::One(c), Of::One(x), Of::One(y)) => out.push(pick(c, x, y)),
        }
    });
}

pub(super) fn cast(from: DType, to: DType, x: Numbers<'_>, out: &mut Buffer) {
    with_type!(from, F => {
        if to == DType::Bool {
            map::<F, u8>(x, out, |x| u8::from(x != F::ZERO));
        } else {
            with_type!(to, T => map::<F, T>(x, out, |x| x as T));
        }
    });
}
