//! The names of functions.

use crate::syntax::{Binary as B, Reduction as R, Unary as U};
use forthwith_columns::DType;

/// The meaning of a function's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    Unary(U),
    Binary(B),
    Reduction(R),
    /// A reduction of one argument, or the smaller or larger of two.
    Extreme(R, B),
    Where,
    Item,
    IsNone,
    Cast(DType),
}

/// Names of NumPy, of Python, of C's library, and of TTreeFormula, without their prefixes.
const FUNCTIONS: &[(&str, Function)] = {
    use Function::{Binary, Cast, Extreme, IsNone, Item, Reduction, Unary, Where};
    &[
        ("abs", Unary(U::Abs)),
        ("absolute", Unary(U::Abs)),
        ("fabs", Unary(U::Abs)),
        ("negative", Unary(U::Negative)),
        ("positive", Unary(U::Positive)),
        ("invert", Unary(U::Invert)),
        ("logical_not", Unary(U::Not)),
        ("sqrt", Unary(U::Sqrt)),
        ("cbrt", Unary(U::Cbrt)),
        ("square", Unary(U::Square)),
        ("exp", Unary(U::Exp)),
        ("exp2", Unary(U::Exp2)),
        ("expm1", Unary(U::Expm1)),
        ("log", Unary(U::Log)),
        ("log2", Unary(U::Log2)),
        ("log10", Unary(U::Log10)),
        ("log1p", Unary(U::Log1p)),
        ("sin", Unary(U::Sin)),
        ("cos", Unary(U::Cos)),
        ("tan", Unary(U::Tan)),
        ("arcsin", Unary(U::Arcsin)),
        ("asin", Unary(U::Arcsin)),
        ("arccos", Unary(U::Arccos)),
        ("acos", Unary(U::Arccos)),
        ("arctan", Unary(U::Arctan)),
        ("atan", Unary(U::Arctan)),
        ("sinh", Unary(U::Sinh)),
        ("cosh", Unary(U::Cosh)),
        ("tanh", Unary(U::Tanh)),
        ("arcsinh", Unary(U::Arcsinh)),
        ("asinh", Unary(U::Arcsinh)),
        ("arccosh", Unary(U::Arccosh)),
        ("acosh", Unary(U::Arccosh)),
        ("arctanh", Unary(U::Arctanh)),
        ("atanh", Unary(U::Arctanh)),
        ("degrees", Unary(U::Degrees)),
        ("rad2deg", Unary(U::Degrees)),
        ("radians", Unary(U::Radians)),
        ("deg2rad", Unary(U::Radians)),
        ("floor", Unary(U::Floor)),
        ("ceil", Unary(U::Ceil)),
        ("trunc", Unary(U::Trunc)),
        ("rint", Unary(U::Rint)),
        ("sign", Unary(U::Sign)),
        ("isnan", Unary(U::IsNan)),
        ("isinf", Unary(U::IsInf)),
        ("isfinite", Unary(U::IsFinite)),
        ("add", Binary(B::Add)),
        ("subtract", Binary(B::Subtract)),
        ("multiply", Binary(B::Multiply)),
        ("divide", Binary(B::Divide)),
        ("true_divide", Binary(B::Divide)),
        ("floor_divide", Binary(B::FloorDivide)),
        ("mod", Binary(B::Remainder)),
        ("remainder", Binary(B::Remainder)),
        ("fmod", Binary(B::Fmod)),
        ("power", Binary(B::Power)),
        ("pow", Binary(B::Power)),
        ("bitwise_and", Binary(B::BitAnd)),
        ("bitwise_or", Binary(B::BitOr)),
        ("bitwise_xor", Binary(B::BitXor)),
        ("left_shift", Binary(B::ShiftLeft)),
        ("right_shift", Binary(B::ShiftRight)),
        ("logical_and", Binary(B::And)),
        ("logical_or", Binary(B::Or)),
        ("logical_xor", Binary(B::Xor)),
        ("arctan2", Binary(B::Arctan2)),
        ("atan2", Binary(B::Arctan2)),
        ("hypot", Binary(B::Hypot)),
        ("copysign", Binary(B::CopySign)),
        ("minimum", Binary(B::Minimum)),
        ("maximum", Binary(B::Maximum)),
        ("min", Extreme(R::Min, B::Minimum)),
        ("max", Extreme(R::Max, B::Maximum)),
        ("sum", Reduction(R::Sum)),
        ("prod", Reduction(R::Prod)),
        ("any", Reduction(R::Any)),
        ("all", Reduction(R::All)),
        ("count", Reduction(R::Count)),
        ("num", Reduction(R::Count)),
        ("len", Reduction(R::Count)),
        ("first", Reduction(R::First)),
        ("firsts", Reduction(R::First)),
        ("Sum$", Reduction(R::Sum)),
        ("Min$", Reduction(R::Min)),
        ("Max$", Reduction(R::Max)),
        ("Length$", Reduction(R::Count)),
        ("where", Where),
        ("item", Item),
        ("is_none", IsNone),
        ("bool", Cast(DType::Bool)),
        ("int8", Cast(DType::Int8)),
        ("int16", Cast(DType::Int16)),
        ("int32", Cast(DType::Int32)),
        ("int64", Cast(DType::Int64)),
        ("uint8", Cast(DType::UInt8)),
        ("uint16", Cast(DType::UInt16)),
        ("uint32", Cast(DType::UInt32)),
        ("uint64", Cast(DType::UInt64)),
        ("float32", Cast(DType::Float32)),
        ("float64", Cast(DType::Float64)),
    ]
};

/// Functions of `TMath`, where their names are not those above in small letters.
const TMATH: &[(&str, &str)] = &[
    ("ASin", "arcsin"),
    ("ACos", "arccos"),
    ("ATan", "arctan"),
    ("ATan2", "arctan2"),
    ("ASinH", "arcsinh"),
    ("ACosH", "arccosh"),
    ("ATanH", "arctanh"),
    ("Power", "power"),
    ("Sq", "square"),
    ("Min", "minimum"),
    ("Max", "maximum"),
    ("IsNaN", "isnan"),
    ("Finite", "isfinite"),
    ("RadToDeg", "degrees"),
    ("DegToRad", "radians"),
];

/// Modules whose functions are meant as they are.
const PREFIXES: [&str; 7] = ["np.", "numpy.", "ak.", "awkward.", "math.", "std::", "TMath::"];

/// The function of a name.
pub(crate) fn function(name: &str) -> Option<Function> {
    let prefix = PREFIXES.iter().find(|prefix| name.starts_with(**prefix));
    let plain = prefix.map_or(name, |prefix| &name[prefix.len()..]);
    if prefix == Some(&"TMath::") {
        let small = plain.to_ascii_lowercase();
        let known =
            TMATH.iter().find(|(theirs, _)| *theirs == plain).map_or(small.as_str(), |(_, ours)| ours);
        return named(known).filter(|f| matches!(f, Function::Unary(_) | Function::Binary(_)));
    }
    named(plain)
}

fn named(name: &str) -> Option<Function> {
    FUNCTIONS.iter().find(|(known, _)| *known == name).map(|(_, function)| *function)
}

/// The names that are most like one.
pub(crate) fn similar(name: &str) -> Vec<&'static str> {
    let small = name.rsplit(['.', ':']).next().unwrap_or(name).to_ascii_lowercase();
    let near = |known: &&str| {
        let known = known.to_ascii_lowercase();
        known.starts_with(&small) || small.starts_with(known.trim_end_matches('$'))
    };
    FUNCTIONS.iter().map(|(known, _)| *known).filter(near).take(3).collect()
}

/// Names of constants, where there is no column of that name.
pub(crate) fn constant(name: &str) -> Option<f64> {
    let plain = PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name);
    match plain {
        "pi" => Some(std::f64::consts::PI),
        "e" if plain != name => Some(std::f64::consts::E),
        "inf" => Some(f64::INFINITY),
        "nan" => Some(f64::NAN),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_with_their_modules() {
        assert_eq!(function("TMath::Abs"), function("abs"));
        assert_eq!(function("np.arctan2"), function("TMath::ATan2"));
        assert_eq!(function("TMath::Sum"), None);
        assert_eq!(function("ak.sum"), Some(Function::Reduction(R::Sum)));
        for (at, (name, _)) in FUNCTIONS.iter().enumerate() {
            assert!(FUNCTIONS[..at].iter().all(|(other, _)| other != name), "{name} twice");
        }
        for (_, ours) in TMATH {
            assert!(named(ours).is_some(), "{ours}");
        }
    }
}
