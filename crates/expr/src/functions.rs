//! Names of functions.

use crate::syntax::{Binary as B, FormulaFunction as F, Reduction as R, Unary as U};
use forthwith_columns::DType;
use std::{borrow::Borrow, f64::consts};

/// Meaning of a function name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    Unary(U),
    Binary(B),
    Reduction(R),
    /// A reduction of one argument, or the minimum or maximum of two.
    Extreme(R, B),
    Where,
    Item,
    IsNone,
    Cast(DType),
    Round,
    /// Whether a value is in a list.
    IsIn,
    /// Whether text contains a text.
    Contains,
    Formula(F),
    /// A reduction of all items of an entry.
    ReduceEntry(R),
    /// A reduction of the items of an entry for which a condition holds.
    ReduceIf(R),
    Alternative,
    /// Whether integers are odd (`true`) or even (`false`).
    Parity(bool),
    Gaus,
}

impl Function {
    /// Returns the number of its arguments, for errors.
    pub(crate) const fn arity(self) -> &'static str {
        match self {
            Self::Unary(_)
            | Self::Reduction(_)
            | Self::Cast(_)
            | Self::IsNone
            | Self::Formula(_)
            | Self::ReduceEntry(_)
            | Self::Parity(_) => "1",
            Self::Extreme(..) | Self::Round => "1 or 2",
            Self::Binary(_)
            | Self::Item
            | Self::IsIn
            | Self::Contains
            | Self::ReduceIf(_)
            | Self::Alternative => "2",
            Self::Where => "3",
            Self::Gaus => "1 to 4",
        }
    }
}

/// Names from NumPy, Python, the C library and TTreeFormula, without their prefixes, that differ from the
/// operations' names in errors.
const OTHERS: &[(&str, Function)] = {
    use Function::{
        Alternative, Binary, Cast, Contains, Extreme, IsIn, IsNone, Item, ReduceEntry, ReduceIf, Reduction,
        Round, Unary, Where,
    };
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
        ("sq", Unary(U::Square)),
        ("round", Round),
        ("around", Round),
        ("int", Cast(DType::Int64)),
        ("float", Cast(DType::Float64)),
        ("isin", IsIn),
        ("strstr", Contains),
        ("Sum$", ReduceEntry(R::Sum)),
        ("Min$", ReduceEntry(R::Min)),
        ("Max$", ReduceEntry(R::Max)),
        ("Length$", ReduceEntry(R::Count)),
        ("MinIf$", ReduceIf(R::Min)),
        ("MaxIf$", ReduceIf(R::Max)),
        ("Alt$", Alternative),
        ("where", Where),
        ("item", Item),
        ("is_none", IsNone),
    ]
};

/// Names with another meaning in TTreeFormula's syntax.
const FORMULA: &[(&str, Function)] = &[
    ("sqrt", Function::Formula(F::Sqrt)),
    ("log", Function::Formula(F::Log)),
    ("log10", Function::Formula(F::Log10)),
    ("exp", Function::Formula(F::Exp)),
    ("asin", Function::Formula(F::Asin)),
    ("acos", Function::Formula(F::Acos)),
    ("acosh", Function::Formula(F::Acosh)),
    ("atanh", Function::Formula(F::Atanh)),
    ("sign", Function::Formula(F::Sign)),
    ("int", Function::Formula(F::Int)),
    ("round", Function::Formula(F::Round)),
];

/// Functions of `TMath` whose lower-case names are not listed above.
const TMATH: &[(&str, Function)] = &[
    ("ASin", Function::Unary(U::Arcsin)),
    ("ACos", Function::Unary(U::Arccos)),
    ("ATan", Function::Unary(U::Arctan)),
    ("ATan2", Function::Binary(B::Arctan2)),
    ("ASinH", Function::Unary(U::Arcsinh)),
    ("ACosH", Function::Unary(U::Arccosh)),
    ("ATanH", Function::Unary(U::Arctanh)),
    ("Power", Function::Binary(B::Power)),
    ("Sq", Function::Unary(U::Square)),
    ("Min", Function::Binary(B::Minimum)),
    ("Max", Function::Binary(B::Maximum)),
    ("Finite", Function::Unary(U::IsFinite)),
    ("Nint", Function::Unary(U::Rint)),
    ("FloorNint", Function::Unary(U::Floor)),
    ("CeilNint", Function::Unary(U::Ceil)),
    ("Sign", Function::Binary(B::CopySign)),
    ("Even", Function::Parity(false)),
    ("Odd", Function::Parity(true)),
    ("Gaus", Function::Gaus),
];

/// Constants that are functions without arguments in `TMath`.
const TMATH_CONSTANTS: &[(&str, f64)] = &[
    ("Pi", consts::PI),
    ("TwoPi", consts::TAU),
    ("PiOver2", consts::FRAC_PI_2),
    ("PiOver4", consts::FRAC_PI_4),
    ("InvPi", consts::FRAC_1_PI),
    ("E", consts::E),
    ("Sqrt2", consts::SQRT_2),
    ("Ln10", consts::LN_10),
    ("LogE", consts::LOG10_E),
    ("DegToRad", consts::PI / 180.0),
    ("RadToDeg", 180.0 / consts::PI),
    ("Infinity", f64::INFINITY),
    ("QuietNaN", f64::NAN),
    ("C", 299_792_458.0),
];

/// Module prefixes that are ignored.
const PREFIXES: [&str; 7] = ["np.", "numpy.", "ak.", "awkward.", "math.", "std::", "TMath::"];

/// Returns the function of a name, in TTreeFormula's or Python's syntax.
pub(crate) fn function(name: &str, formula: bool) -> Option<Function> {
    if formula && let Some((_, function)) = FORMULA.iter().find(|(known, _)| *known == name) {
        return Some(*function);
    }
    let prefix = PREFIXES.iter().find(|prefix| name.starts_with(**prefix));
    let plain = prefix.map_or(name, |prefix| &name[prefix.len()..]);
    if prefix == Some(&"TMath::") {
        if let Some((_, function)) = TMATH.iter().find(|(known, _)| *known == plain) {
            return Some(*function);
        }
        return named(&plain.to_ascii_lowercase())
            .filter(|f| matches!(f, Function::Unary(_) | Function::Binary(_)));
    }
    named(plain)
}

/// Returns the value of a function of `TMath` without arguments.
pub(crate) fn tmath_constant(name: &str) -> Option<f64> {
    let plain = name.strip_prefix("TMath::")?;
    TMATH_CONSTANTS.iter().find(|(known, _)| *known == plain).map(|(_, value)| *value)
}

/// Returns the reason why a name of TTreeFormula is unsupported.
pub(crate) fn refused(name: &str) -> Option<&'static str> {
    match name {
        "rndm" | "rndm$" => Some("random numbers would differ at each reading"),
        _ => None,
    }
}

fn named(name: &str) -> Option<Function> {
    functions().find(|(known, _)| *known == name).map(|(_, function)| function)
}

/// Iterates over all names of functions with their meanings.
fn functions() -> impl Iterator<Item = (&'static str, Function)> {
    let unary = U::ALL.iter().map(|unary| (unary.word(), Function::Unary(*unary)));
    let binary = B::ALL.iter().map(|binary| (binary.word(), Function::Binary(*binary)));
    // Operators are not names.
    let is_name = |(word, _): &(&str, _)| {
        word.starts_with(char::is_alphabetic) && !matches!(*word, "not" | "and" | "or")
    };
    // Minimum and maximum are in the other list, as they have another meaning with two arguments.
    let reductions = R::ALL.iter().filter(|reduction| !matches!(reduction, R::Min | R::Max));
    let reductions = reductions.map(|reduction| (reduction.word(), Function::Reduction(*reduction)));
    let casts = DType::ALL.iter().map(|dtype| (dtype.name(), Function::Cast(*dtype)));
    unary.chain(binary).filter(is_name).chain(reductions).chain(casts).chain(OTHERS.iter().copied())
}

/// Returns the names that are most similar to one.
pub(crate) fn similar(name: &str) -> Vec<&'static str> {
    let small = name.rsplit(['.', ':']).next().unwrap_or(name).to_ascii_lowercase();
    let near = |known: &&str| {
        let known = known.to_ascii_lowercase();
        known.starts_with(&small) || (known.len() > 2 && small.starts_with(known.trim_end_matches('$')))
    };
    functions().map(|(known, _)| known).filter(near).take(3).collect()
}

/// Returns the suggestion of similar names, or an empty text if there are none.
pub(crate) fn suggested<S: Borrow<str>>(near: &[S]) -> String {
    if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(", ")) }
}

/// Returns the value of a constant, for a name that is not a column.
pub(crate) fn constant(name: &str) -> Option<f64> {
    let plain = PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name);
    match plain {
        "pi" => Some(consts::PI),
        "e" if plain != name => Some(consts::E),
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
        let function = |name| function(name, false);
        assert_eq!(function("TMath::Abs"), function("abs"));
        assert_eq!(function("np.arctan2"), function("TMath::ATan2"));
        assert_eq!(function("TMath::Sum"), None);
        assert_eq!(function("TMath::Erf"), Some(Function::Unary(U::Erf)));
        assert_eq!(function("ak.sum"), Some(Function::Reduction(R::Sum)));
        for (at, (name, _)) in functions().enumerate() {
            assert!(functions().take(at).all(|(other, _)| other != name), "{name} twice");
        }
    }

    const BEGIN: &str =
        "<!-- functions, from the table in code: FORTHWITH_UPDATE=1 cargo test -p forthwith-expr -->\n";
    const END: &str = "<!-- end of functions -->\n";

    /// The rows of the table in the documentation.
    fn documented() -> String {
        let names = |is: &dyn Fn(Function) -> bool| -> Vec<&str> {
            functions().filter(|(_, function)| is(*function)).map(|(name, _)| name).collect()
        };
        let others = OTHERS.iter().map(|(name, _)| *name).collect::<Vec<_>>();
        let item_by_item = |f: Function| {
            matches!(
                f,
                Function::Unary(_)
                    | Function::Binary(_)
                    | Function::Extreme(..)
                    | Function::Where
                    | Function::Round
            )
        };
        let mut lists =
            names(&|f| matches!(f, Function::Reduction(_) | Function::Extreme(..) | Function::Item));
        lists.sort_unstable();
        let plain = names(&item_by_item)
            .into_iter()
            .filter(|name| !others.contains(name) || matches!(*name, "where" | "round"));
        let more = names(&item_by_item)
            .into_iter()
            .filter(|name| others.contains(name) && !matches!(*name, "where" | "round"));
        let formula =
            names(&|f| matches!(f, Function::ReduceEntry(_) | Function::ReduceIf(_) | Function::Alternative));
        let variables = ["Entry$", "LocalEntry$", "Iteration$", "Length$"];
        let rows = [
            ("item by item", plain.collect::<Vec<_>>()),
            ("other names of these", more.collect()),
            ("of lists", lists),
            ("conversion", names(&|f| matches!(f, Function::Cast(_)))),
            (
                "presence and text",
                names(&|f| matches!(f, Function::IsNone | Function::IsIn | Function::Contains)),
            ),
            ("of all items of an entry", formula),
            ("variables", variables.to_vec()),
            ("`TMath::` besides the same names", TMATH.iter().map(|(name, _)| *name).collect()),
            ("`TMath::` without arguments", TMATH_CONSTANTS.iter().map(|(name, _)| *name).collect()),
        ];
        let mut text = "| | |\n| --- | --- |\n".to_owned();
        for (what, names) in rows {
            text += &format!("| {what} | `{}` |\n", names.join("` `"));
        }
        text
    }

    #[test]
    fn the_documentation_lists_all_functions() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/details/expressions.md");
        let page = std::fs::read_to_string(path).expect("the page on expressions");
        let (before, rest) = page.split_once(BEGIN).expect("the beginning of the table");
        let (_, after) = rest.split_once(END).expect("the end of the table");
        let wanted = format!("{before}{BEGIN}{}{END}{after}", documented());
        if std::env::var_os("FORTHWITH_UPDATE").is_some() {
            std::fs::write(path, &wanted).expect("the page on expressions");
        } else {
            assert!(
                page == wanted,
                "docs/details/expressions.md is not of this table: FORTHWITH_UPDATE=1 writes it"
            );
        }
    }
}
