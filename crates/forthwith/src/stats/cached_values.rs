//! Serialisation of summaries. Parsing validates all bytes.

use super::report::{ColumnStats, Counted, FrequentValue, Quantile, SummaryOf};
use forthwith_columns::Value;

/// Summaries of a column.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CachedColumn {
    /// Fractions of the quantiles of numbers.
    pub(super) quantiles: Vec<f64>,
    /// Requested number of most frequent values.
    pub(super) top: u64,
    pub(super) summaries: Vec<ColumnStats>,
}

pub(super) fn put_text(bytes: &mut Vec<u8>, text: &str) {
    put_bytes(bytes, text.as_bytes());
}

fn put_bytes(bytes: &mut Vec<u8>, part: &[u8]) {
    bytes.extend((part.len() as u32).to_le_bytes());
    bytes.extend(part);
}

fn put_option<T>(bytes: &mut Vec<u8>, value: Option<T>, put: impl FnOnce(&mut Vec<u8>, T)) {
    bytes.push(value.is_some().into());
    if let Some(value) = value {
        put(bytes, value);
    }
}

fn put_f64(bytes: &mut Vec<u8>, number: f64) {
    bytes.extend(number.to_bits().to_le_bytes());
}

fn put_value(bytes: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Bool(value) => bytes.extend([1, u8::from(*value)]),
        Value::Int(value) => {
            bytes.push(2);
            bytes.extend(value.to_le_bytes());
        }
        Value::UInt(value) => {
            bytes.push(3);
            bytes.extend(value.to_le_bytes());
        }
        Value::Float32(value) => {
            bytes.push(4);
            bytes.extend(value.to_bits().to_le_bytes());
        }
        Value::Float64(value) => {
            bytes.push(5);
            put_f64(bytes, *value);
        }
        Value::String(value) => {
            bytes.push(6);
            put_text(bytes, value);
        }
        Value::Bytes(value) => {
            bytes.push(7);
            put_bytes(bytes, value);
        }
        Value::Logical(value) => {
            bytes.push(8);
            put_text(bytes, value);
        }
        // Summaries have no other values.
        _ => bytes.push(0),
    }
}

pub(super) fn put_column(bytes: &mut Vec<u8>, name: &str, column: &CachedColumn) {
    put_text(bytes, name);
    bytes.extend(column.top.to_le_bytes());
    bytes.extend((column.quantiles.len() as u32).to_le_bytes());
    column.quantiles.iter().for_each(|fraction| put_f64(bytes, *fraction));
    bytes.extend((column.summaries.len() as u32).to_le_bytes());
    for summary in &column.summaries {
        put_summary(bytes, summary);
    }
}

fn put_summary(bytes: &mut Vec<u8>, summary: &ColumnStats) {
    put_text(bytes, &summary.path);
    bytes.push(match summary.of {
        SummaryOf::Values => 0,
        SummaryOf::Items => 1,
        SummaryOf::Lengths => 2,
    });
    put_text(bytes, &summary.kind);
    bytes.extend(summary.count.to_le_bytes());
    bytes.extend(summary.missing.to_le_bytes());
    put_option(bytes, summary.nan, |bytes, nan| bytes.extend(nan.to_le_bytes()));
    put_option(bytes, summary.min.as_ref(), put_value);
    put_option(bytes, summary.max.as_ref(), put_value);
    put_option(bytes, summary.mean.as_ref(), put_value);
    put_option(bytes, summary.deviation, put_f64);
    bytes.extend((summary.quantiles.len() as u32).to_le_bytes());
    for quantile in &summary.quantiles {
        put_f64(bytes, quantile.fraction);
        put_value(bytes, &quantile.value);
    }
    bytes.push(summary.quantiles_are_exact.into());
    put_option(bytes, summary.distinct, |bytes, distinct| {
        bytes.extend(distinct.count.to_le_bytes());
        bytes.push(distinct.is_exact.into());
    });
    bytes.extend((summary.frequent.len() as u32).to_le_bytes());
    for frequent in &summary.frequent {
        put_value(bytes, &frequent.value);
        bytes.extend(frequent.count.to_le_bytes());
    }
    bytes.push(summary.frequent_is_exact.into());
}

/// Reader of the remaining bytes.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(length)?;
        self.bytes = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.first_chunk().copied()
    }

    fn flag(&mut self) -> Option<bool> {
        match self.array()? {
            [0] => Some(false),
            [1] => Some(true),
            _ => None,
        }
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn f64(&mut self) -> Option<f64> {
        self.u64().map(f64::from_bits)
    }

    fn part(&mut self) -> Option<&'a [u8]> {
        let length = u32::from_le_bytes(self.array()?);
        self.take(length as usize)
    }

    pub(super) fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.part()?).ok()
    }

    /// Reads the number of items that follow, each of at least `least` bytes; `None` if the bytes cannot hold
    /// as many.
    pub(super) fn count(&mut self, least: usize) -> Option<usize> {
        let count = u32::from_le_bytes(self.array()?) as usize;
        (count <= self.bytes.len() / least).then_some(count)
    }

    fn option<T>(&mut self, take: impl FnOnce(&mut Self) -> Option<T>) -> Option<Option<T>> {
        if self.flag()? { take(self).map(Some) } else { Some(None) }
    }

    fn list<T>(&mut self, least: usize, mut take: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        (0..self.count(least)?).map(|_| take(self)).collect()
    }

    fn value(&mut self) -> Option<Value> {
        let [kind] = self.array()?;
        Some(match kind {
            0 => Value::Null,
            1 => Value::Bool(self.flag()?),
            2 => Value::Int(i64::from_le_bytes(self.array()?)),
            3 => Value::UInt(self.u64()?),
            4 => Value::Float32(f32::from_bits(u32::from_le_bytes(self.array()?))),
            5 => Value::Float64(self.f64()?),
            6 => Value::String(self.text()?.to_owned()),
            7 => Value::Bytes(self.part()?.to_vec()),
            8 => Value::Logical(self.text()?.to_owned()),
            _ => return None,
        })
    }

    fn summary(&mut self) -> Option<ColumnStats> {
        Some(ColumnStats {
            path: self.text()?.to_owned(),
            of: match self.array()? {
                [0] => SummaryOf::Values,
                [1] => SummaryOf::Items,
                [2] => SummaryOf::Lengths,
                _ => return None,
            },
            kind: self.text()?.to_owned(),
            count: self.u64()?,
            missing: self.u64()?,
            nan: self.option(Self::u64)?,
            min: self.option(Self::value)?,
            max: self.option(Self::value)?,
            mean: self.option(Self::value)?,
            deviation: self.option(Self::f64)?,
            quantiles: self
                .list(9, |reader| Some(Quantile { fraction: reader.f64()?, value: reader.value()? }))?,
            quantiles_are_exact: self.flag()?,
            distinct: self
                .option(|reader| Some(Counted { count: reader.u64()?, is_exact: reader.flag()? }))?,
            frequent: self
                .list(9, |reader| Some(FrequentValue { value: reader.value()?, count: reader.u64()? }))?,
            frequent_is_exact: self.flag()?,
        })
    }
}

/// Reads the name of a column, and its summaries.
pub(super) fn take_column(reader: &mut Reader<'_>) -> Option<(String, CachedColumn)> {
    let (name, top) = (reader.text()?.to_owned(), reader.u64()?);
    let quantiles = reader.list(8, Reader::f64)?;
    let summaries = reader.list(30, Reader::summary)?;
    Some((name, CachedColumn { quantiles, top, summaries }))
}
