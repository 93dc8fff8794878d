//! Serialisation of members by the layouts of their classes.

use forthwith_plan::Result;

use super::Given;
use super::place::{Place, whole};
use super::plain::{Values, expect, items};
use super::writer::Writer;
use crate::class::{Member, Numbers, Value};
use crate::write::STL_VERSION;
use forthwith_columns::DType;

impl Writer<'_> {
    /// Appends a member, which may be an array of fixed length.
    pub(super) fn value(&mut self, at: &Place<'_>, member: &Member, value: &Given) -> Result<()> {
        match member.array {
            None => self.one(at, &member.value, value),
            Some(length) => self.several(at, member, length as usize, value),
        }
    }

    pub(super) fn one(&mut self, at: &Place<'_>, how: &Value, value: &Given) -> Result<()> {
        match how {
            Value::Number(numbers) => self.stored(at, numbers, value),
            Value::Counted(..) | Value::CountedTexts(_) | Value::Loop { .. } => {
                self.counted(at, how, 1, value)
            }
            Value::Repeated(numbers, counter, times) => {
                let values = Values::of(value);
                expect(at, &values, at.count(counter)?.saturating_mul(*times as usize), counter)?;
                self.stored_numbers(at, numbers, &values)
            }
            Value::Sized(numbers) => {
                let values = Values::of(value);
                self.buffer.count(values.len());
                self.stored_numbers(at, numbers, &values)
            }
            Value::Triangle(numbers, counter) => self.triangle(at, numbers, at.count(counter)?, value),
            Value::Area(numbers, sides) => {
                let values = Values::of(value);
                let all = at.count(&sides[0])?.saturating_mul(at.count(&sides[1])?);
                expect(at, &values, all, &sides[0])?;
                self.stored_numbers(at, numbers, &values)
            }
            Value::Table(width) => {
                let texts = Values::of(value);
                let width = (*width).max(1) as usize;
                if !texts.len().is_multiple_of(width) {
                    return Err(at.invalid(format!("has {} texts, and rows are of {width}", texts.len())));
                }
                self.buffer.count(texts.len() / width);
                (0..texts.len()).try_for_each(|index| self.text(at, &texts.at(index)))
            }
            Value::Pointers(counter) => {
                let items = items(at, value)?;
                if items.len() != at.count(counter)? {
                    return Err(at.invalid(format!("has {} items, unlike {}", items.len(), counter.name)));
                }
                items.iter().try_for_each(|item| self.pointer(at, item))
            }
            Value::Bits => {
                let bits = whole(at, value)?;
                self.buffer.u32(bits as u32 & !crate::record::IS_REFERENCED);
                Ok(())
            }
            Value::Text => self.text(at, value),
            Value::LongText => self.long_text(at, value),
            Value::StdText => self.frame(STL_VERSION, |writer| writer.text(at, value)),
            Value::Container(item) => {
                self.frame(STL_VERSION, |writer| writer.item(at, item, &at.kind(), value))
            }
            Value::Whole(item) | Value::Bare(item) | Value::Item(item) => {
                self.item(at, item, &at.kind(), value)
            }
            Value::Array(array) => self.value(at, array, value),
            Value::TObject => self.in_place(at, "TObject", value),
            Value::Object(class) => self.in_place(at, class, value),
            Value::Pointer(_) => self.pointer(at, value),
            Value::Process => Err(at.unsupported("a reference to an object of a process")),
            Value::Rows(..) | Value::Seeks(_) => Err(at.unsupported("what only code of its class writes")),
            Value::Base(_) | Value::Only(..) | Value::Words(..) | Value::Framed | Value::Unsupported => {
                Err(at.unsupported("nothing says how it is stored"))
            }
        }
    }

    fn several(&mut self, at: &Place<'_>, member: &Member, length: usize, value: &Given) -> Result<()> {
        let how = &member.value;
        match (how, value) {
            (Value::Counted(..) | Value::CountedTexts(_) | Value::Loop { .. }, _) => {
                return self.counted(at, how, length, value);
            }
            (Value::Number(Numbers { basic: Some(DType::Int8 | DType::UInt8), .. }), Given::Text(text)) => {
                // An array of characters is padded with zeros.
                if text.len() > length {
                    return Err(at.invalid(format!("has {} letters, and room for {length}", text.len())));
                }
                self.buffer.extend(text.as_bytes());
                (text.len()..length).for_each(|_| self.buffer.u8(0));
                return Ok(());
            }
            (Value::Number(numbers), _) => {
                let values = Values::of(value);
                if values.len() != length {
                    let what = format!("has {} numbers instead of {length}", values.len());
                    return Err(at.invalid(what));
                }
                return self.stored_numbers(at, numbers, &values);
            }
            _ => {}
        }
        // An array of arrays is a list of lists.
        let mut all: Vec<&Given> = items(at, value)?.iter().collect();
        for _ in 1..member.dimensions.len() {
            let rows: Result<Vec<&[Given]>> = all.into_iter().map(|row| items(at, row)).collect();
            all = rows?.into_iter().flatten().collect();
        }
        if all.len() != length {
            return Err(at.invalid(format!("has {} items instead of {length}", all.len())));
        }
        match how {
            Value::Text | Value::StdText => {
                self.frame(STL_VERSION, |writer| all.iter().try_for_each(|item| writer.text(at, item)))
            }
            Value::Container(item) => self.frame(STL_VERSION, |writer| {
                all.iter().try_for_each(|value| writer.item(at, item, &at.kind(), value))
            }),
            how => all.iter().try_for_each(|value| self.one(at, how, value)),
        }
    }

    /// Appends an array of variable length, with as many items as the counter states, times the length of the
    /// fixed array in which there are several of it.
    fn counted(&mut self, at: &Place<'_>, how: &Value, times: usize, value: &Given) -> Result<()> {
        let (Value::Counted(_, counter) | Value::CountedTexts(counter) | Value::Loop { counter, .. }) = how
        else {
            return Err(at.unsupported("nothing counts it"));
        };
        let expected = at.count(counter)?.saturating_mul(times);
        let values = Values::of(value);
        match how {
            Value::Loop { class, pointers, .. } => {
                expect(at, &values, expected, counter)?;
                self.frame(STL_VERSION, |writer| {
                    (0..expected).try_for_each(|index| match pointers {
                        true => writer.pointer(at, &values.at(index)),
                        false => writer.in_place(at, class, &values.at(index)),
                    })
                })
            }
            // The array may be null, whatever its counter states.
            _ if *value == Given::Null => {
                self.buffer.bool(false);
                Ok(())
            }
            how => {
                expect(at, &values, expected, counter)?;
                self.buffer.bool(expected > 0);
                match how {
                    Value::Counted(numbers, _) => self.stored_numbers(at, numbers, &values),
                    _ => (0..expected).try_for_each(|index| self.long_text(at, &values.at(index))),
                }
            }
        }
    }

    /// Appends the upper right half of a square matrix, which is given as a whole or as that half.
    fn triangle(&mut self, at: &Place<'_>, numbers: &Numbers, rows: usize, value: &Given) -> Result<()> {
        let values = Values::of(value);
        let (all, half) = (rows.saturating_mul(rows), rows.saturating_mul(rows.saturating_add(1)) / 2);
        if values.len() == half {
            return self.stored_numbers(at, numbers, &values);
        }
        if values.len() != all {
            let what = format!(
                "has {} numbers, and a matrix of {rows} rows has {all} or half of them",
                values.len()
            );
            return Err(at.invalid(what));
        }
        let number = |place: usize| match &*values.at(place) {
            Given::Float(value) => Some(*value),
            Given::Int(value) => Some(*value as f64),
            Given::Unsigned(value) => Some(*value as f64),
            _ => None,
        };
        let is_equal = |row: usize, column: usize| {
            let pair = number(row * rows + column).zip(number(column * rows + row));
            pair.is_none_or(|(one, other)| one == other || (one.is_nan() && other.is_nan()))
        };
        if let Some(row) = (0..rows).find(|row| !(0..*row).all(|column| is_equal(*row, column))) {
            return Err(at.invalid(format!("is not symmetric: row {row} differs from column {row}")));
        }
        let mut places = (0..rows).flat_map(|row| (row..rows).map(move |column| row * rows + column));
        places.try_for_each(|place| self.stored(at, numbers, &values.at(place)))
    }
}
