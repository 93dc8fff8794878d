//! Operator precedence: that of Python, and that of TTreeFormula, which splits a text at one operator after
//! another.

use crate::syntax::{Binary, Spelling};

/// Precedence of an operator; larger numbers bind more tightly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Binding {
    pub(super) level: u8,
    /// Minimum level of operators in the right operand.
    pub(super) right: u8,
}

pub(super) const CHOICE: u8 = 1;
/// Level of Python's `not`.
pub(super) const NOT: u8 = 4;
/// Level of Python's comparisons.
pub(super) const COMPARISON: u8 = 5;
/// Level of Python's signs.
const SIGN: u8 = 12;
/// Level above all binary operators.
const TIGHTEST: u8 = 20;

/// Returns the precedence of a binary operator.
pub(super) const fn binding(binary: Binary, spelling: Spelling) -> Binding {
    match spelling {
        Spelling::Python => python(binary),
        Spelling::TTreeFormula => formula(binary),
    }
}

/// Returns the minimum level of operators in the operand of a sign.
pub(super) const fn of_sign(spelling: Spelling) -> u8 {
    match spelling {
        Spelling::Python => SIGN,
        Spelling::TTreeFormula => formula(Binary::Subtract).right,
    }
}

/// Returns the minimum level of operators in the operand of `!` or `~`.
pub(super) const fn of_prefix(spelling: Spelling) -> u8 {
    match spelling {
        Spelling::Python => SIGN,
        Spelling::TTreeFormula => TIGHTEST,
    }
}

const fn python(binary: Binary) -> Binding {
    let level = match binary {
        Binary::Or => 2,
        Binary::And => 3,
        Binary::BitOr => 6,
        Binary::BitXor => 7,
        Binary::BitAnd => 8,
        Binary::ShiftLeft | Binary::ShiftRight => 9,
        Binary::Add | Binary::Subtract => 10,
        Binary::Multiply | Binary::Divide | Binary::FloorDivide | Binary::Remainder => 11,
        // Right-associative: 2**3**2 is 2**9.
        Binary::Power => return Binding { level: 13, right: SIGN },
        _ => COMPARISON,
    };
    Binding { level, right: level + 1 }
}

/// Each operator of TTreeFormula has its own level, and some are right-associative: `a*b*c` is `a*(b*c)`.
const fn formula(binary: Binary) -> Binding {
    let (level, from_the_left) = match binary {
        Binary::Or => (2, false),
        Binary::And => (3, false),
        Binary::BitOr => (4, false),
        Binary::BitAnd => (5, false),
        Binary::Less => (6, false),
        Binary::Greater => (7, false),
        Binary::LessEqual => (8, false),
        Binary::GreaterEqual => (9, false),
        Binary::Equal => (10, false),
        Binary::NotEqual => (11, false),
        Binary::Add => (12, true),
        Binary::Subtract => (13, true),
        Binary::Remainder => (14, false),
        Binary::ShiftRight => (15, false),
        Binary::ShiftLeft => (16, false),
        Binary::Multiply => (17, false),
        Binary::Divide | Binary::FloorDivide => (18, true),
        _ => (19, true),
    };
    Binding { level, right: if from_the_left { level + 1 } else { level } }
}
