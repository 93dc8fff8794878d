//! Numbers of any kind as members have them.

use std::borrow::Cow;

use forthwith_plan::Result;

use super::Given;
use super::object::Writer;
use super::value::Place;
use crate::class::Numbers;
use crate::cpp::Basic;
use crate::write::Buffer;

/// Numbers one after the other.
pub(super) enum Values<'g> {
    Floats(&'g [f64]),
    Integers(&'g [i64]),
    Each(Vec<Cow<'g, Given>>),
}

impl<'g> Values<'g> {
    /// All that is in a value and in lists in it, row by row.
    pub(super) fn of(value: &'g Given) -> Self {
        match value {
            Given::Numbers(values) => Self::Floats(values),
            Given::Integers(values) => Self::Integers(values),
            Given::Null => Self::Integers(&[]),
            value => {
                let mut all = Vec::new();
                // Lists are as deep as the binding or a caller's stack allows; this needs no stack.
                let mut rest = vec![value];
                while let Some(value) = rest.pop() {
                    match value {
                        Given::List(items) => rest.extend(items.iter().rev()),
                        Given::Numbers(row) => all.extend(row.iter().map(|&of| Cow::Owned(Given::Float(of)))),
                        Given::Integers(row) => all.extend(row.iter().map(|&of| Cow::Owned(Given::Int(of)))),
                        value => all.push(Cow::Borrowed(value)),
                    }
                }
                Self::Each(all)
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Floats(values) => values.len(),
            Self::Integers(values) => values.len(),
            Self::Each(values) => values.len(),
        }
    }

    pub(super) fn at(&self, index: usize) -> Cow<'_, Given> {
        match self {
            Self::Floats(values) => Cow::Owned(Given::Float(values[index])),
            Self::Integers(values) => Cow::Owned(Given::Int(values[index])),
            Self::Each(values) => Cow::Borrowed(&*values[index]),
        }
    }
}

impl Writer<'_> {
    /// Numbers of one kind.
    pub(super) fn numbers(
        &self,
        buffer: &mut Buffer,
        at: &Place<'_>,
        basic: Basic,
        values: &Values<'_>,
    ) -> Result<()> {
        (0..values.len()).try_for_each(|index| number(buffer, at, basic, &values.at(index)))
    }

    /// Numbers as a member has them, packed or not.
    pub(super) fn stored_numbers(
        &self,
        buffer: &mut Buffer,
        at: &Place<'_>,
        numbers: &Numbers,
        values: &Values<'_>,
    ) -> Result<()> {
        (0..values.len()).try_for_each(|index| stored(buffer, at, numbers, &values.at(index)))
    }
}

/// A number as a member has it, packed or not.
pub(super) fn stored(buffer: &mut Buffer, at: &Place<'_>, numbers: &Numbers, value: &Given) -> Result<()> {
    match numbers.basic {
        Some(basic) => number(buffer, at, basic, value),
        None => {
            numbers.packing().append(float(at, value)?, |bytes| buffer.extend(bytes));
            Ok(())
        }
    }
}

pub(super) fn number(buffer: &mut Buffer, at: &Place<'_>, basic: Basic, value: &Given) -> Result<()> {
    macro_rules! write {
        ($type:ident) => {
            buffer.$type(fit::<$type>(at, value)?)
        };
    }
    match basic {
        Basic::I8 => write!(i8),
        Basic::I16 => write!(i16),
        Basic::I32 => write!(i32),
        Basic::I64 => write!(i64),
        Basic::U8 => write!(u8),
        Basic::U16 => write!(u16),
        Basic::U32 => write!(u32),
        Basic::U64 => write!(u64),
        Basic::Bool => buffer.bool(flag(at, value)?),
        Basic::F32 => buffer.f32(float(at, value)? as f32),
        Basic::F64 => buffer.f64(float(at, value)?),
    }
    Ok(())
}

pub(super) fn whole(at: &Place<'_>, value: &Given) -> Result<i64> {
    fit(at, value)
}

/// A truth value: any number but 0.
pub(super) fn flag(at: &Place<'_>, value: &Given) -> Result<bool> {
    Ok(whole(at, value)? != 0)
}

/// A whole number of a type that has room for it.
fn fit<T: TryFrom<i128>>(at: &Place<'_>, value: &Given) -> Result<T> {
    let given = match *value {
        Given::Int(value) => i128::from(value),
        Given::Unsigned(value) => i128::from(value),
        Given::Float(value) if value.fract() == 0.0 && value.abs() < 2e19 => value as i128,
        ref other => return Err(at.wrong("a whole number", other)),
    };
    T::try_from(given).map_err(|_| at.no_room(given))
}

pub(super) fn float(at: &Place<'_>, value: &Given) -> Result<f64> {
    match *value {
        Given::Int(value) => Ok(value as f64),
        Given::Unsigned(value) => Ok(value as f64),
        Given::Float(value) => Ok(value),
        ref other => Err(at.wrong("a number", other)),
    }
}
