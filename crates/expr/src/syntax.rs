//! Syntax trees of expressions, as nodes in an arena: operands precede their users, so that no traversal
//! recurses.

use crate::error::Span;
use forthwith_columns::DType;
use std::cmp::Ordering;

/// Syntax of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spelling {
    /// Python's syntax over whole arrays, with TTreeFormula's additions.
    #[default]
    Python,
    /// TTreeFormula's syntax: its operator precedence; `^` is power, `x[0]` is an item, and numbers are
    /// doubles.
    TTreeFormula,
}

/// Number of a node.
pub(crate) type Id = u32;

/// A node and its position in the text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) kind: Kind,
    pub(crate) at: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Int(i128),
    Float(f64),
    Bool(bool),
    Text(String),
    /// A column, an alias or a constant; `quoted` ones are never constants.
    Name {
        name: String,
        quoted: bool,
    },
    Unary(Unary, Id),
    Binary(Binary, Id, Id),
    /// Items of lists for which a condition holds.
    Filter {
        items: Id,
        condition: Id,
    },
    /// The second operand where the first is true, and the third elsewhere.
    Where(Id, Id, Id),
    Cast(DType, Id),
    /// Reduction of each list, along an axis if it is given.
    Reduce {
        by: Reduction,
        items: Id,
        axis: Option<i64>,
    },
    /// Whether values are missing, or lists along an outer axis.
    IsNone {
        x: Id,
        axis: Option<i64>,
    },
    /// Item at a position of each list.
    Item {
        items: Id,
        position: i64,
    },
    /// Items of lists by their positions, one selector for each level.
    Subscript {
        items: Id,
        selectors: Vec<Selector>,
        /// Whether the selectors are those of the innermost levels rather than of the outermost.
        innermost: bool,
    },
    /// Rounds to a number of decimal digits.
    Round {
        x: Id,
        digits: i64,
    },
    /// Whether text contains a text.
    Contains {
        text: Id,
        part: Id,
    },
    /// Reduction of all items of an entry, at any depth; 0 if there are none.
    ReduceEntry {
        by: Reduction,
        items: Id,
    },
    /// Items of an entry for which a condition holds. The condition has one value for each item, or one for
    /// all.
    FilterEntry {
        items: Id,
        condition: Id,
    },
    /// The first operand where it is present, and the second elsewhere.
    Alternative(Id, Id),
    /// Position of each item in its entry, or the number of items, in the lists of the expression.
    Iteration {
        length: bool,
    },
    /// A function of TTreeFormula that is defined outside its mathematical domain.
    Formula(FormulaFunction, Id),
}

impl Kind {
    /// Returns its operands.
    pub(crate) fn operands(&self) -> Vec<Id> {
        match self {
            Self::Int(_)
            | Self::Float(_)
            | Self::Bool(_)
            | Self::Text(_)
            | Self::Name { .. }
            | Self::Iteration { .. } => vec![],
            Self::Unary(_, x)
            | Self::Cast(_, x)
            | Self::Reduce { items: x, .. }
            | Self::IsNone { x, .. }
            | Self::Item { items: x, .. }
            | Self::Subscript { items: x, .. }
            | Self::Round { x, .. }
            | Self::ReduceEntry { items: x, .. }
            | Self::Formula(_, x) => vec![*x],
            Self::Binary(_, x, y)
            | Self::Filter { items: x, condition: y }
            | Self::Contains { text: x, part: y }
            | Self::FilterEntry { items: x, condition: y }
            | Self::Alternative(x, y) => vec![*x, *y],
            Self::Where(condition, x, y) => vec![*condition, *x, *y],
        }
    }
}

/// A selection of items of lists by position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Selector {
    /// All items.
    All,
    /// The item at a position, which counts from the end if it is negative.
    At(i64),
    /// The items of a slice, as in Python.
    Slice { start: Option<i64>, stop: Option<i64>, step: i64 },
}

/// Functions that are specific to TTreeFormula, or that it defines on a larger domain than the C library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FormulaFunction {
    Sqrt,
    Log,
    Log10,
    Exp,
    Asin,
    Acos,
    Acosh,
    Atanh,
    Sign,
    Int,
    Round,
}

macro_rules! operations {
    ($(#[doc = $doc:literal])* $name:ident: $($variant:ident $word:literal,)*) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub(crate) enum $name { $($variant,)* }

        impl $name {
            /// All of them.
            pub(crate) const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Returns its name in errors.
            pub(crate) const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }
        }
    };
}

operations! {
    /// One operand, item by item.
    Unary:
    Negative "-", Positive "+", Invert "~", Not "not", Abs "abs", Sqrt "sqrt", Cbrt "cbrt", Square "square",
    Exp "exp", Exp2 "exp2", Expm1 "expm1", Log "log", Log2 "log2", Log10 "log10", Log1p "log1p",
    Sin "sin", Cos "cos", Tan "tan", Arcsin "arcsin", Arccos "arccos", Arctan "arctan",
    Sinh "sinh", Cosh "cosh", Tanh "tanh", Arcsinh "arcsinh", Arccosh "arccosh", Arctanh "arctanh",
    Degrees "degrees", Radians "radians", Floor "floor", Ceil "ceil", Trunc "trunc", Rint "rint", Sign "sign",
    IsNan "isnan", IsInf "isinf", IsFinite "isfinite", Erf "erf", Erfc "erfc",
}

operations! {
    /// Two operands, item by item.
    Binary:
    Add "+", Subtract "-", Multiply "*", Divide "/", FloorDivide "//", Remainder "%", Power "**",
    BitAnd "&", BitOr "|", BitXor "^", ShiftLeft "<<", ShiftRight ">>",
    Less "<", LessEqual "<=", Greater ">", GreaterEqual ">=", Equal "==", NotEqual "!=",
    And "and", Or "or", Xor "logical_xor",
    Arctan2 "arctan2", Hypot "hypot", Minimum "minimum", Maximum "maximum", Fmod "fmod", CopySign "copysign",
}

impl Binary {
    pub(crate) const fn is_comparison(self) -> bool {
        use Binary::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
        matches!(self, Less | LessEqual | Greater | GreaterEqual | Equal | NotEqual)
    }

    /// Whether a comparison is true for two values in this order.
    pub(crate) const fn holds(self, ordering: Ordering) -> bool {
        match self {
            Self::Less => ordering.is_lt(),
            Self::LessEqual => ordering.is_le(),
            Self::Greater => ordering.is_gt(),
            Self::GreaterEqual => ordering.is_ge(),
            Self::Equal => ordering.is_eq(),
            _ => ordering.is_ne(),
        }
    }

    /// Returns the comparison with exchanged operands.
    pub(crate) const fn mirrored(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::LessEqual => Self::GreaterEqual,
            Self::Greater => Self::Less,
            Self::GreaterEqual => Self::LessEqual,
            other => other,
        }
    }
}

operations! {
    /// From lists to one value each.
    Reduction:
    Sum "sum", Prod "prod", Any "any", All "all", Min "min", Max "max", Count "count", First "first",
    Argmin "argmin", Argmax "argmax", Mean "mean", Var "var", Std "std",
}
