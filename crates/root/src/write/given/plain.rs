//! Serialisation of numbers and strings.

use std::borrow::Cow;

use forthwith_plan::Result;

use super::Given;
use super::place::{Place, fit, flag, float};
use super::writer::Writer;
use crate::class::Numbers;
use crate::cpp::Packing;
use crate::streamer::Counter;
use forthwith_columns::{DType, with_integer};

/// Flattened values of an array.
pub(super) enum Values<'g> {
    Floats(&'g [f64]),
    Integers(&'g [i64]),
    Each(Vec<Cow<'g, Given>>),
}

impl<'g> Values<'g> {
    /// Flattens a value, and lists within lists, in row-major order.
    pub(super) fn of(value: &'g Given) -> Self {
        match value {
            Given::Numbers(values) => Self::Floats(values),
            Given::Integers(values) => Self::Integers(values),
            Given::Null => Self::Integers(&[]),
            value => {
                let mut all = Vec::new();
                // A loop rather than recursion: the nesting depth of lists is not bounded here.
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
    /// Appends numbers of one type.
    pub(super) fn numbers(&mut self, at: &Place<'_>, basic: DType, values: &Values<'_>) -> Result<()> {
        (0..values.len()).try_for_each(|index| self.number(at, basic, &values.at(index)))
    }

    /// Appends numbers in the stored form of a member, which may be packed.
    pub(super) fn stored_numbers(
        &mut self,
        at: &Place<'_>,
        numbers: &Numbers,
        values: &Values<'_>,
    ) -> Result<()> {
        (0..values.len()).try_for_each(|index| self.stored(at, numbers, &values.at(index)))
    }

    /// Appends a number in the stored form of a member, which may be packed.
    pub(super) fn stored(&mut self, at: &Place<'_>, numbers: &Numbers, value: &Given) -> Result<()> {
        match numbers.basic {
            Some(basic) => self.number(at, basic, value),
            None => self.packed(at, numbers.packing(), value),
        }
    }

    pub(super) fn packed(&mut self, at: &Place<'_>, packing: Packing, value: &Given) -> Result<()> {
        packing.append(float(at, value)?, |bytes| self.buffer.extend(bytes));
        Ok(())
    }

    pub(super) fn number(&mut self, at: &Place<'_>, basic: DType, value: &Given) -> Result<()> {
        with_integer!(basic, T => self.buffer.extend(&fit::<T>(at, value)?.to_be_bytes()),
            DType::Bool => self.buffer.bool(flag(at, value)?),
            DType::Float32 => self.buffer.f32(float(at, value)? as f32),
            DType::Float64 => self.buffer.f64(float(at, value)?),
        );
        Ok(())
    }

    /// Appends a string after its length, which has one byte, or five if it is long.
    pub(super) fn text(&mut self, at: &Place<'_>, value: &Given) -> Result<()> {
        let Given::Text(text) = value else { return Err(at.wrong("a text", value)) };
        self.buffer.string(text);
        Ok(())
    }

    /// Appends a string after its length, which has four bytes.
    pub(super) fn long_text(&mut self, at: &Place<'_>, value: &Given) -> Result<()> {
        let text = match value {
            Given::Text(text) => text,
            Given::Null => "",
            other => return Err(at.wrong("a text", other)),
        };
        self.buffer.count(text.len());
        self.buffer.extend(text.as_bytes());
        Ok(())
    }
}

/// Checks that the number of values equals the count of a counter.
pub(super) fn expect(at: &Place<'_>, values: &Values<'_>, expected: usize, counter: &Counter) -> Result<()> {
    if values.len() == expected {
        return Ok(());
    }
    let what = format!("has {} numbers, and {} says {expected}", values.len(), counter.name);
    Err(at.invalid(what))
}

/// Returns the items of a list.
pub(super) fn items<'g>(at: &Place<'_>, value: &'g Given) -> Result<&'g [Given]> {
    match value {
        Given::List(items) => Ok(items),
        other => Err(at.wrong("a list", other)),
    }
}
