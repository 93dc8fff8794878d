//! Conversion of dates, times, halves and decimals to NumPy's types.

use crate::decimal::decimal_count;
use crate::lookup::Lookup;
use crate::lookup::rows_of;
use crate::{Array, Column, DType, Form, Invalid, LogicalType, TimeUnit};

impl LogicalType {
    /// Returns NumPy's array-interface type string for numbers of this logical type, such as `<M8[us]`: for
    /// times that are stored in 64 bits, and for halves. `None` for others, including decimals, for which
    /// NumPy has no type.
    #[must_use]
    pub const fn typestr(self, dtype: DType) -> Option<&'static str> {
        const LITTLE: bool = cfg!(target_endian = "little");
        macro_rules! native {
            ($little:literal, $big:literal) => {
                Some(if LITTLE { $little } else { $big })
            };
        }
        match (self, dtype) {
            (Self::Half, DType::UInt16) => native!("<f2", ">f2"),
            (Self::Date, DType::Int64) => native!("<M8[D]", ">M8[D]"),
            (Self::Timestamp { unit, .. }, DType::Int64) => match unit {
                TimeUnit::Second => native!("<M8[s]", ">M8[s]"),
                TimeUnit::Milli => native!("<M8[ms]", ">M8[ms]"),
                TimeUnit::Micro => native!("<M8[us]", ">M8[us]"),
                TimeUnit::Nano => native!("<M8[ns]", ">M8[ns]"),
            },
            (Self::Time(unit) | Self::Duration(unit), DType::Int64) => match unit {
                TimeUnit::Second => native!("<m8[s]", ">m8[s]"),
                TimeUnit::Milli => native!("<m8[ms]", ">m8[ms]"),
                TimeUnit::Micro => native!("<m8[us]", ">m8[us]"),
                TimeUnit::Nano => native!("<m8[ns]", ">m8[ns]"),
            },
            _ => None,
        }
    }

    /// Returns Awkward Array's name for the NumPy type, such as `datetime64[us]`; `None` if NumPy has no
    /// type.
    #[must_use]
    pub fn primitive(self, dtype: DType) -> Option<String> {
        let (kind, unit) = self.typestr(dtype)?.get(1..)?.split_at(2);
        Some(match kind {
            "M8" => format!("datetime64{unit}"),
            "m8" => format!("timedelta64{unit}"),
            _ => "float16".into(),
        })
    }

    /// Whether NumPy's type represents the logical type fully: a time of day becomes a timedelta, and a zone
    /// is lost.
    #[must_use]
    pub const fn is_typed(self) -> bool {
        matches!(self, Self::Half | Self::Date | Self::Duration(_) | Self::Timestamp { zone: None, .. })
    }
}

/// Number of decimal digits that always fit an int64.
const DIGITS: u32 = 18;

impl Form {
    /// Returns the Form of the result of [`Array::logical`].
    #[must_use]
    pub fn logical(&self) -> Self {
        self.changed(true)
    }

    fn changed(&self, numbers: bool) -> Self {
        let mut changed = self.clone();
        changed.change(&mut |node| {
            let Self::Logical { meaning, content } = node else { return };
            if let Some((_, key)) = change(*meaning, content, numbers) {
                let key = format!("{key}{SUFFIX}");
                **content = Self::Numpy { key, dtype: DType::Int64, shape: Vec::new() };
            }
        });
        changed
    }
}

impl Array {
    /// Converts values to types that NumPy has: days and milliseconds of a day to 64 bits, and decimals of up
    /// to 18 digits in bytes to their unscaled int64. Other columns are shared, not copied; decimals of more
    /// digits stay byte strings. The types are those of [`LogicalType::typestr`]; the Arrow export needs the
    /// original array.
    ///
    /// # Errors
    /// [`Invalid`] buffers, and [`Invalid::Range`] for a decimal that 64 bits cannot hold.
    pub fn logical(&self) -> Result<Self, Invalid> {
        self.changed(true)
    }

    /// Converts times like [`logical`](Self::logical), but keeps decimals in bytes as byte strings.
    ///
    /// # Errors
    /// [`Invalid`] buffers.
    pub fn logical_times(&self) -> Result<Self, Invalid> {
        self.changed(false)
    }

    fn changed(&self, numbers: bool) -> Result<Self, Invalid> {
        let meant = self.form.nodes().filter_map(|node| match node {
            Form::Logical { meaning, content } => change(*meaning, content, numbers),
            _ => None,
        });
        let changes: Vec<_> = meant.collect();
        if changes.is_empty() {
            return Ok(self.clone());
        }
        let lookup = Lookup::of(self);
        let mut made: Vec<(String, Column)> = Vec::with_capacity(changes.len());
        for (change, key) in changes {
            let name = format!("{key}{SUFFIX}-data");
            if made.iter().any(|(known, _)| *known == name) {
                continue;
            }
            let column = match change {
                Change::Widen => widened(lookup.column(key, "data", DType::Int32, 0)?),
                Change::Decimal => decimals(&lookup, key)?,
            };
            made.push((name, column));
        }
        let form = self.form.changed(numbers);
        let keys = form.keys();
        let kept = |name: &str| name.rsplit_once('-').is_none_or(|(key, _)| keys.contains(key));
        let columns = self.columns.iter().filter(|(name, _)| kept(name)).cloned().chain(made);
        let columns = columns.collect();
        Ok(Self { form, length: self.length, columns })
    }
}

/// Suffix of the keys of converted nodes.
const SUFFIX: &str = "-logical";

#[derive(Clone, Copy)]
enum Change {
    Widen,
    Decimal,
}

/// Returns the conversion of a node and its key, or `None` if it needs none; decimals in bytes are only
/// converted with `numbers`.
fn change(meaning: LogicalType, content: &Form, numbers: bool) -> Option<(Change, &str)> {
    match (meaning, content) {
        (LogicalType::Date | LogicalType::Time(_), Form::Numpy { key, dtype: DType::Int32, shape }) => {
            shape.is_empty().then_some((Change::Widen, key))
        }
        (LogicalType::Decimal { precision, .. }, Form::String { key, .. })
            if numbers && precision <= DIGITS =>
        {
            Some((Change::Decimal, key))
        }
        _ => None,
    }
}

fn widened(column: &Column) -> Column {
    let values = (0..column.len()).filter_map(|at| column.item::<i32>(at)).map(i64::from);
    Column::from_vec(values.collect())
}

/// Converts big-endian numbers in two's complement to int64.
fn decimals(lookup: &Lookup<'_>, key: &str) -> Result<Column, Invalid> {
    let offsets = lookup.column(key, "offsets", DType::Int64, 1)?;
    let offsets = lookup.integers(key, "offsets", offsets.len() as u64)?;
    let data =
        lookup.column(key, "data", DType::UInt8, rows_of(offsets.iter().map(|end| end - 1)))?.as_bytes();
    let number = |(row, ends): (u64, &[i64])| {
        let range = usize::try_from(ends[0]).ok().zip(usize::try_from(ends[1]).ok());
        let bytes = range.and_then(|(start, end)| data.get(start..end));
        let value = bytes.and_then(decimal_count);
        value.ok_or_else(|| Invalid::Range { key: format!("{key}-data"), row })
    };
    let values = (0..).zip(offsets.windows(2)).map(number).collect::<Result<Vec<_>, _>>()?;
    Ok(Column::from_vec(values))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meant(meaning: LogicalType, content: Form) -> Form {
        Form::Logical { meaning, content: Box::new(content) }
    }

    fn numbers(key: &str, dtype: DType) -> Form {
        Form::Numpy { key: key.into(), dtype, shape: vec![] }
    }

    fn decimal(precision: u32) -> Form {
        meant(LogicalType::Decimal { precision, scale: 2 }, Form::String { key: "d".into(), binary: true })
    }

    fn of_bytes(precision: u32, items: &[&[u8]]) -> Array {
        let ends = items.iter().scan(0, |end, item| {
            *end += item.len() as i64;
            Some(*end)
        });
        let offsets: Vec<i64> = std::iter::once(0).chain(ends).collect();
        Array {
            form: decimal(precision),
            length: items.len() as u64,
            columns: vec![
                ("d-offsets".into(), Column::from_vec(offsets)),
                ("d-data".into(), Column::from_slice(&items.concat())),
            ],
        }
    }

    #[test]
    fn days_and_milliseconds_are_widened_wherever_they_stand() {
        let date = meant(LogicalType::Date, numbers("a", DType::Int32));
        let time = meant(LogicalType::Time(TimeUnit::Milli), numbers("b", DType::Int32));
        let record = Form::Record { fields: None, contents: vec![date, time], name: None };
        let option = Form::Option { key: "o".into(), content: Box::new(record) };
        let array = Array {
            form: Form::List { key: "l".into(), content: Box::new(option) },
            length: 1,
            columns: vec![
                ("l-offsets".into(), Column::from_slice(&[0i64, 2])),
                ("o-index".into(), Column::from_slice(&[0i64, -1])),
                ("a-data".into(), Column::from_slice(&[-1i32])),
                ("b-data".into(), Column::from_slice(&[5i32])),
            ],
        };
        let logical = array.logical().unwrap();
        logical.validate().unwrap();
        assert_eq!(logical.column("a-logical-data").unwrap().as_i64(), Some(&[-1][..]));
        assert_eq!(logical.column("b-logical-data").unwrap().as_i64(), Some(&[5][..]));
        assert_eq!(logical.columns.len(), 4);
        assert_eq!(logical.form, array.form.logical());
        assert_eq!(logical.preview(0..1, 80).lines().unwrap(), array.preview(0..1, 80).lines().unwrap());
        // Once more changes nothing.
        assert_eq!(logical.logical().unwrap(), logical);
    }

    #[test]
    fn decimals_in_bytes_are_exact() {
        let items: [&[u8]; 4] = [&[0x04, 0xd2], &[0xff, 0xff, 0xfe], &[], &[0x80]];
        let logical = of_bytes(9, &items).logical().unwrap();
        logical.validate().unwrap();
        assert_eq!(logical.column("d-logical-data").unwrap().as_i64(), Some(&[1234, -2, 0, -128][..]));
        assert_eq!(logical.preview(0..2, 40).lines().unwrap(), ["12.34", "-0.02"]);
        // More digits than a number has room for: as they are.
        let long = of_bytes(19, &items);
        assert_eq!(long.logical().unwrap(), long);
        // More than the digits that were said.
        let error = of_bytes(18, &[&[1], &[1; 9]]).logical();
        assert_eq!(error, Err(Invalid::Range { key: "d-data".into(), row: 1 }));
    }

    #[test]
    fn every_meaning_of_64_bits_has_a_type() {
        let stamp = LogicalType::Timestamp { unit: TimeUnit::Micro, zone: Some(crate::Zone::UTC) };
        assert_eq!(stamp.primitive(DType::Int64).as_deref(), Some("datetime64[us]"));
        assert_eq!(LogicalType::Date.primitive(DType::Int64).as_deref(), Some("datetime64[D]"));
        let time = LogicalType::Time(TimeUnit::Nano);
        assert_eq!(time.primitive(DType::Int64).as_deref(), Some("timedelta64[ns]"));
        assert_eq!(LogicalType::Half.primitive(DType::UInt16).as_deref(), Some("float16"));
        assert_eq!(LogicalType::Date.typestr(DType::Int32), None);
        assert_eq!(LogicalType::Decimal { precision: 4, scale: 1 }.typestr(DType::Int64), None);
    }
}
