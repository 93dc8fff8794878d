//! The result of a summary.

use forthwith_columns::Value;
use serde::Serialize;

/// The summaries of the columns of a table.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TableStats {
    /// Entries that were summarised.
    pub entries: u64,
    /// The summaries, in the order of the columns.
    pub columns: Vec<ColumnStats>,
}

/// The summaries of the columns of a table, those of each column by its name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StatsByColumn {
    /// Entries that were summarised.
    pub entries: u64,
    /// The columns that were selected, with their summaries.
    pub columns: Vec<(String, Vec<ColumnStats>)>,
}

/// The values that a summary is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SummaryOf {
    /// One for each entry.
    Values,
    /// The items of lists.
    Items,
    /// The lengths of lists.
    Lengths,
}

/// The summary of one kind of values of a column.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ColumnStats {
    /// The name of the column, with the fields of records behind it.
    pub path: String,
    /// The values.
    pub of: SummaryOf,
    /// Their type.
    #[serde(rename = "type")]
    pub kind: String,
    /// How many there are, without missing ones and NaN.
    pub count: u64,
    /// Missing values.
    pub missing: u64,
    /// NaN, of floating-point numbers.
    pub nan: Option<u64>,
    /// The smallest value.
    pub min: Option<Value>,
    /// The largest value.
    pub max: Option<Value>,
    /// The mean, of numbers and times.
    pub mean: Option<Value>,
    /// The standard deviation of the values as they are: the root of the mean square of deviations from the mean. That of dates is
    /// in days, of times and lengths of time in seconds.
    pub deviation: Option<f64>,
    /// Quantiles, of numbers and times.
    pub quantiles: Vec<Quantile>,
    /// Whether these are of all values, and not of a sample.
    pub quantiles_are_exact: bool,
    /// Distinct values.
    pub distinct: Option<Counted>,
    /// The most frequent values.
    pub frequent: Vec<FrequentValue>,
    /// Whether these were counted, and not estimated by a sample.
    pub frequent_is_exact: bool,
}

/// A number that may be an estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Counted {
    /// The number.
    pub count: u64,
    /// Whether it was counted.
    pub is_exact: bool,
}

/// A quantile.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Quantile {
    /// The fraction of values that are smaller.
    pub fraction: f64,
    /// The value: a floating-point number, or a time as text.
    pub value: Value,
}

/// A value and how often it occurs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FrequentValue {
    /// The value.
    pub value: Value,
    /// How often.
    pub count: u64,
}

/// A value of a summary as text: bytes as hexadecimal digits.
#[must_use]
pub fn summary_text(value: &Value) -> String {
    match value {
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::UInt(value) => value.to_string(),
        Value::Float32(value) => value.to_string(),
        Value::Float64(value) => value.to_string(),
        Value::String(text) | Value::Logical(text) => text.clone(),
        Value::Bytes(bytes) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        _ => String::new(),
    }
}
