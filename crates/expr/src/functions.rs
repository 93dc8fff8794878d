//! The names of functions.

use crate::syntax::{Binary as B, Reduction as R, Unary as U};
use forthwith_columns::DType;
use std::borrow::Borrow;

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

/// Names of NumPy, of Python, of C's library, and of TTreeFormula, without their prefixes, where they are not the words that
/// operations have in errors.
const OTHERS: &[(&str, Function)] = {
    use Function::{Binary, Extreme, IsNone, Item, Reduction, Unary, Where};
    &[
        ("absolute", Unary(U::Abs)),
        ("fabs", Unary(U::Abs)),
        ("negative", Unary(U::Negative)),
        ("positive", Unary(U::Positive)),
        ("invert", Unary(U::Invert)),
        ("logical_not", Unary(U::Not)),
        ("asin", Unary(U::Arcsin)),
        ("acos", Unary(U::Arccos)),
        ("atan", Unary(U::Arctan)),
        ("asinh", Unary(U::Arcsinh)),
        ("acosh", Unary(U::Arccosh)),
        ("atanh", Unary(U::Arctanh)),
        ("rad2deg", Unary(U::Degrees)),
        ("deg2rad", Unary(U::Radians)),
        ("add", Binary(B::Add)),
        ("subtract", Binary(B::Subtract)),
        ("multiply", Binary(B::Multiply)),
        ("divide", Binary(B::Divide)),
        ("true_divide", Binary(B::Divide)),
        ("floor_divide", Binary(B::FloorDivide)),
        ("mod", Binary(B::Remainder)),
        ("remainder", Binary(B::Remainder)),
        ("power", Binary(B::Power)),
        ("pow", Binary(B::Power)),
        ("bitwise_and", Binary(B::BitAnd)),
        ("bitwise_or", Binary(B::BitOr)),
        ("bitwise_xor", Binary(B::BitXor)),
        ("left_shift", Binary(B::ShiftLeft)),
        ("right_shift", Binary(B::ShiftRight)),
        ("logical_and", Binary(B::And)),
        ("logical_or", Binary(B::Or)),
        ("atan2", Binary(B::Arctan2)),
        ("min", Extreme(R::Min, B::Minimum)),
        ("max", Extreme(R::Max, B::Maximum)),
        ("num", Reduction(R::Count)),
        ("len", Reduction(R::Count)),
        ("firsts", Reduction(R::First)),
        ("Sum$", Reduction(R::Sum)),
        ("Min$", Reduction(R::Min)),
        ("Max$", Reduction(R::Max)),
        ("Length$", Reduction(R::Count)),
        ("where", Where),
        ("item", Item),
        ("is_none", IsNone),
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
    functions().find(|(known, _)| *known == name).map(|(_, function)| function)
}

/// All names of functions with what they mean.
fn functions() -> impl Iterator<Item = (&'static str, Function)> {
    let unary = U::ALL.iter().map(|unary| (unary.word(), Function::Unary(*unary)));
    let binary = B::ALL.iter().map(|binary| (binary.word(), Function::Binary(*binary)));
    // Operators are no names.
    let is_name = |(word, _): &(&str, _)| {
        word.starts_with(char::is_alphabetic) && !matches!(*word, "not" | "and" | "or")
    };
    // Those of extremes are among the others, as they have another meaning with two arguments.
    let reductions = R::ALL.iter().filter(|reduction| !matches!(reduction, R::Min | R::Max));
    let reductions = reductions.map(|reduction| (reduction.word(), Function::Reduction(*reduction)));
    let casts = DType::ALL.iter().map(|dtype| (dtype.name(), Function::Cast(*dtype)));
    unary.chain(binary).filter(is_name).chain(reductions).chain(casts).chain(OTHERS.iter().copied())
}

/// The names that are most like one.
pub(crate) fn similar(name: &str) -> Vec<&'static str> {
    let small = name.rsplit(['.', ':']).next().unwrap_or(name).to_ascii_lowercase();
    let near = |known: &&str| {
        let known = known.to_ascii_lowercase();
        known.starts_with(&small) || small.starts_with(known.trim_end_matches('$'))
    };
    functions().map(|(known, _)| known).filter(near).take(3).collect()
}

/// The question whether one of some names was meant, if there are any.
pub(crate) fn suggested<S: Borrow<str>>(near: &[S]) -> String {
    if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(", ")) }
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
        for (at, (name, _)) in functions().enumerate() {
            assert!(functions().take(at).all(|(other, _)| other != name), "{name} twice");
        }
        for (_, ours) in TMATH {
            assert!(named(ours).is_some(), "{ours}");
        }
    }
}
