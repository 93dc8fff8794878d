//! Merging of `TParameter`.

use forthwith_plan::{Error, Result};

use crate::object::{Object, Value};
use crate::write::Edits;

/// A `TParameter` and its merge mode.
#[derive(Clone, Copy, Debug)]
pub(super) struct Number {
    value: Kind,
    bits: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Whole(i64),
    Float(f64),
    Bool(bool),
}

impl Number {
    pub(super) fn of(object: Object<'_>) -> Result<Self> {
        let value = match object.member("fVal") {
            Some(Value::Float(value)) => Kind::Float(value),
            Some(Value::Bool(value)) => Kind::Bool(value),
            Some(_) if let Some(value) = object.int("fVal") => Kind::Whole(value),
            _ => return Err(Error::unsupported(format!("adding objects of class {}", object.class()))),
        };
        Ok(Self { value, bits: object.int("fBits").unwrap_or(0).unsigned_abs() })
    }

    pub(super) fn write(self, edits: &mut Edits<'_>, object: Object<'_>) -> Result<()> {
        edits.number(object, "fBits", self.bits as i64)?;
        match self.value {
            Kind::Whole(value) => edits.number(object, "fVal", value),
            Kind::Float(value) => edits.float(object, "fVal", value),
            Kind::Bool(value) => edits.number(object, "fVal", value.into()),
        }
    }

    /// Merges by the mode bits of the first parameter: product, maximum, minimum, first, last, or sum;
    /// booleans by `and` or `or`.
    pub(super) fn add(&mut self, other: Self) {
        let has = |bit: u64| self.bits & bit != 0;
        let (own, more) = (self.value, other.value);
        self.value = match (own, more) {
            (Kind::Bool(one), Kind::Bool(two)) if has(MULTIPLY) || has(MIN) => Kind::Bool(one && two),
            (Kind::Whole(one), Kind::Whole(two)) if has(MULTIPLY) => Kind::Whole(one.wrapping_mul(two)),
            (Kind::Float(one), Kind::Float(two)) if has(MULTIPLY) => Kind::Float(one * two),
            (Kind::Whole(one), Kind::Whole(two)) if has(MAX) => Kind::Whole(one.max(two)),
            // A NaN in `two` is ignored, one in `one` remains.
            (Kind::Float(one), Kind::Float(two)) if has(MAX) => {
                Kind::Float(if two > one { two } else { one })
            }
            (Kind::Whole(one), Kind::Whole(two)) if has(MIN) => Kind::Whole(one.min(two)),
            (Kind::Float(one), Kind::Float(two)) if has(MIN) => {
                Kind::Float(if two < one { two } else { one })
            }
            (_, two) if has(LAST) => two,
            (Kind::Bool(one), Kind::Bool(two)) if has(MAX) => Kind::Bool(one || two),
            (one, _) if has(FIRST) => one,
            (Kind::Bool(one), Kind::Bool(two)) => Kind::Bool(one || two),
            (Kind::Whole(one), Kind::Whole(two)) => Kind::Whole(one.wrapping_add(two)),
            (Kind::Float(one), Kind::Float(two)) => Kind::Float(one + two),
            (one, _) => one,
        };
        if own != more {
            self.bits &= !CONSTANT;
        }
    }
}

/// Bits of `TParameter`: merge modes, and whether all values have been equal.
const MULTIPLY: u64 = 1 << 16;
const MAX: u64 = 1 << 17;
const MIN: u64 = 1 << 18;
const FIRST: u64 = 1 << 19;
const LAST: u64 = 1 << 20;
const CONSTANT: u64 = 1 << 21;
