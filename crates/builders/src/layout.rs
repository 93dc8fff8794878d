//! Finished columns with their Form.

use crate::form::{Form, Index, Kind, Primitive};
use forthwith_columns::{Array, Column, Form as Plain};
use std::collections::HashMap;

/// Columns and their Form, with all node types of Awkward Array: the arguments of `ak.from_buffers`.
///
/// A complex number is stored as two items, dates and durations as int64, and half floats as uint16.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// Type, with keys.
    pub form: Form,
    /// Number of rows.
    pub length: u64,
    /// Buffers by name, such as `node0-offsets` and `node1-data`.
    pub columns: Vec<(String, Column)>,
}

/// Error for a [`Layout`] with a type that [`Array`] cannot represent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} cannot be told without Awkward Array")]
pub struct Untranslatable {
    /// Type that cannot be represented.
    pub what: String,
}

impl Layout {
    /// Returns the buffer named `key`.
    #[must_use]
    pub fn column(&self, key: &str) -> Option<&Column> {
        self.columns.iter().find(|(name, _)| name == key).map(|(_, column)| column)
    }

    /// Returns the size of all buffers in bytes.
    #[must_use]
    pub fn nbytes(&self) -> usize {
        self.columns.iter().map(|(_, column)| column.nbytes()).sum()
    }

    /// Converts to the array type of the other crates: masks become indexes, offsets and indexes 64-bit, and
    /// all parameters but the names of records are dropped. Buffers are shared if possible.
    ///
    /// # Errors
    /// Returns an error for complex numbers, half floats, dates, durations and indirections without nulls.
    pub fn to_array(&self) -> Result<Array, Untranslatable> {
        let columns = self.columns.iter().map(|(name, column)| (name.as_str(), column)).collect();
        let mut translation = Translation { columns, out: Vec::new() };
        let form = translation.node(&self.form, self.length as usize)?;
        Ok(Array { form, length: self.length, columns: translation.out })
    }
}

struct Translation<'a> {
    columns: HashMap<&'a str, &'a Column>,
    out: Vec<(String, Column)>,
}

impl Translation<'_> {
    fn column(&self, key: &str, part: &str) -> Result<Column, Untranslatable> {
        let found = self.columns.get(format!("{key}-{part}").as_str()).map(|column| (*column).clone());
        found.ok_or_else(|| Untranslatable { what: format!("a layout without a buffer {key}-{part}") })
    }

    /// Returns an offsets, index, starts or stops buffer as 64-bit integers.
    fn wide(&self, key: &str, part: &str, index: Index) -> Result<Column, Untranslatable> {
        let column = self.column(key, part)?;
        Ok(match index {
            Index::I64 => column,
            Index::I32 => widened::<i32>(&column, i64::from),
            Index::U32 => widened::<u32>(&column, i64::from),
        })
    }

    fn node(&mut self, form: &Form, length: usize) -> Result<Plain, Untranslatable> {
        let key = form.key.clone().unwrap_or_default();
        let refused = || Err(Untranslatable { what: form.type_string() });
        if let (Some(text), Some(content)) = (form.as_text(), form.contents().first()) {
            let binary = text == crate::Text::Bytes;
            let offsets = self.ends(&form.kind, &key, length)?;
            let bytes = self.column(content.key.as_deref().unwrap_or_default(), "data")?;
            self.out.extend([(format!("{key}-offsets"), offsets), (format!("{key}-data"), bytes)]);
            return Ok(Plain::String { key, binary });
        }
        Ok(match &form.kind {
            Kind::Empty => Plain::Empty,
            Kind::Numpy { primitive, shape } => {
                if matches!(
                    primitive,
                    Primitive::Float16 | Primitive::Datetime64(_) | Primitive::Timedelta64(_)
                ) || primitive.stored().1 != 1
                {
                    return refused();
                }
                let dtype = primitive.stored().0;
                self.out.push((format!("{key}-data"), self.column(&key, "data")?));
                Plain::Numpy { key, dtype, shape: shape.clone() }
            }
            Kind::Regular { size, content } => {
                let rows = length.saturating_mul(usize::try_from(*size).unwrap_or(usize::MAX));
                Plain::Regular { size: *size, content: Box::new(self.node(content, rows)?) }
            }
            Kind::ListOffset { content, .. } | Kind::List { content, .. } => {
                let offsets = self.ends(&form.kind, &key, length)?;
                let rows = offsets.item::<i64>(length).unwrap_or(0);
                self.out.push((format!("{key}-offsets"), offsets));
                Plain::List { key, content: Box::new(self.node(content, rows as usize)?) }
            }
            Kind::Record { fields, contents } => {
                let contents = contents.iter().map(|content| self.node(content, length));
                let contents = contents.collect::<Result<_, _>>()?;
                Plain::Record { fields: fields.clone(), contents, name: form.record_name().map(String::from) }
            }
            Kind::Indexed { .. } => return refused(),
            Kind::IndexedOption { index, content } => {
                let index = self.wide(&key, "index", *index)?;
                let rows = (0..length).filter_map(|row| index.item::<i64>(row)).fold(-1, i64::max) + 1;
                self.out.push((format!("{key}-index"), index));
                Plain::Option { key, content: Box::new(self.node(content, rows as usize)?) }
            }
            Kind::ByteMasked { valid_when, content } => {
                let mask = self.column(&key, "mask")?;
                // Mask items are booleans or integers of one byte.
                let mask = mask.as_bytes();
                let there = |row: usize| mask.get(row).is_some_and(|byte| (*byte != 0) == *valid_when);
                self.spread(&key, content, length, there)?
            }
            Kind::BitMasked { valid_when, lsb_order, content } => {
                let mask = self.column(&key, "mask")?;
                let there = |row: usize| {
                    let byte = mask.item::<u8>(row / 8).unwrap_or(0);
                    let bit = if *lsb_order { row % 8 } else { 7 - row % 8 };
                    (byte >> bit & 1 != 0) == *valid_when
                };
                self.spread(&key, content, length, there)?
            }
            Kind::Unmasked { content } => self.spread(&key, content, length, |_| true)?,
            Kind::Union { index, contents } => {
                let tags = self.column(&key, "tags")?;
                let index = self.wide(&key, "index", *index)?;
                let mut rows = vec![0; contents.len()];
                for row in 0..length {
                    let tag = tags.item::<i8>(row).and_then(|tag| rows.get_mut(usize::try_from(tag).ok()?));
                    if let (Some(rows), Some(at)) = (tag, index.item::<i64>(row)) {
                        *rows = at.saturating_add(1).max(*rows);
                    }
                }
                self.out.extend([(format!("{key}-tags"), tags), (format!("{key}-index"), index)]);
                let contents =
                    contents.iter().zip(rows).map(|(content, rows)| self.node(content, rows as usize));
                Plain::Union { key, contents: contents.collect::<Result<_, _>>()? }
            }
        })
    }

    /// Returns the offsets of lists. Lists with starts and stops are consecutive in layouts of this crate.
    fn ends(&self, kind: &Kind, key: &str, length: usize) -> Result<Column, Untranslatable> {
        let ends: Vec<i64> = match kind {
            Kind::ListOffset { offsets, .. } => return self.wide(key, "offsets", *offsets),
            Kind::List { starts: index, .. } => {
                let (starts, stops) = (self.wide(key, "starts", *index)?, self.wide(key, "stops", *index)?);
                let first = starts.item::<i64>(0).unwrap_or(0);
                let ends = (0..stops.len()).filter_map(|row| stops.item::<i64>(row));
                std::iter::once(first).chain(ends).collect()
            }
            Kind::Regular { size, .. } => {
                (0..=length as i64).map(|row| row.saturating_mul(*size as i64)).collect()
            }
            _ => Vec::new(), // never: nothing else is lists
        };
        Ok(Column::from_slice(&ends))
    }

    /// Converts a mask to an index.
    fn spread(
        &mut self,
        key: &str,
        content: &Form,
        length: usize,
        there: impl Fn(usize) -> bool,
    ) -> Result<Plain, Untranslatable> {
        let index = (0..length).map(|row| if there(row) { row as i64 } else { -1 });
        self.out.push((format!("{key}-index"), Column::from_slice(&index.collect::<Vec<_>>())));
        Ok(Plain::Option { key: key.into(), content: Box::new(self.node(content, length)?) })
    }
}

fn widened<T: forthwith_columns::Native>(column: &Column, wide: impl Fn(T) -> i64) -> Column {
    let items = (0..column.len()).filter_map(|at| column.item::<T>(at)).map(wide);
    Column::from_slice(&items.collect::<Vec<i64>>())
}

/// Returns the bits of the nearest half float; ties are rounded to even, and numbers out of range become
/// infinity.
pub(crate) fn half(value: f64) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 48) as u16 & 0x8000;
    let exponent = (bits >> 52 & 0x7ff) as i64 - 1023;
    let mantissa = bits & ((1 << 52) - 1);
    if exponent == 1024 {
        return sign | 0x7c00 | if mantissa != 0 { 0x200 | (mantissa >> 42) as u16 } else { 0 };
    }
    if exponent > 15 {
        return sign | 0x7c00;
    }
    if exponent < -25 {
        return sign;
    }
    // Eleven bits including the leading one; fewer for subnormal numbers.
    let full = mantissa | 1 << 52;
    let drop = if exponent < -14 { 42 + (-14 - exponent) as u64 } else { 42 };
    let kept = full >> drop;
    let rest = full & ((1 << drop) - 1);
    let middle = 1 << (drop - 1);
    let up = u64::from(rest > middle || (rest == middle && kept & 1 == 1));
    // A carry correctly increments the exponent.
    let base = if exponent < -14 { 0 } else { ((exponent + 14) as u64) << 10 };
    sign | (base + kept + up) as u16
}

#[cfg(test)]
mod tests {
    use super::half;

    #[test]
    fn halves_are_rounded_once() {
        for (value, bits) in [
            (0.0, 0),
            (-0.0, 0x8000),
            (1.0, 0x3c00),
            (-2.0, 0xc000),
            (65504.0, 0x7bff),
            (65519.9, 0x7bff),
            (65520.0, 0x7c00),
            (1e300, 0x7c00),
            (f64::NEG_INFINITY, 0xfc00),
            (0.000_061_035_156_25, 0x400),
            (5.960_464_477_539_063e-8, 1),
            (2.980_232_238_769_531_3e-8, 0),
            (2.980_232_238_769_532e-8, 1),
            (1.0 + f64::powi(2.0, -11), 0x3c00),
            (1.0 + 3.0 * f64::powi(2.0, -11), 0x3c02),
            (1.0 + f64::powi(2.0, -11) + f64::powi(2.0, -50), 0x3c01),
        ] {
            assert_eq!(half(value), bits, "{value}");
        }
        assert_eq!(half(f64::NAN) & 0x7c00, 0x7c00);
        assert_ne!(half(f64::NAN) & 0x3ff, 0);
    }
}
