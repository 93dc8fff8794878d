//! Results of summaries.

use forthwith_columns::Value;
use serde::Serialize;

/// Summaries of the columns of a table.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TableStats {
    /// Number of summarised entries.
    pub entries: u64,
    /// Summaries, in the order of the columns.
    pub columns: Vec<ColumnStats>,
}

/// Summaries of the columns of a table, grouped by column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StatsByColumn {
    /// Number of summarised entries.
    pub entries: u64,
    /// Selected columns with their summaries.
    pub columns: Vec<(String, Vec<ColumnStats>)>,
}

/// Kind of values that a summary describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SummaryOf {
    /// The values of entries.
    Values,
    /// The items of lists.
    Items,
    /// The lengths of lists.
    Lengths,
}

/// Summary of one kind of values of a column.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ColumnStats {
    /// Name of the column, followed by the fields of records.
    pub path: String,
    /// Kind of the values.
    pub of: SummaryOf,
    /// Type of the values.
    #[serde(rename = "type")]
    pub kind: String,
    /// Number of values, without missing ones and NaN.
    pub count: u64,
    /// Number of missing values.
    pub missing: u64,
    /// Number of NaN values, for floating-point numbers.
    pub nan: Option<u64>,
    /// The smallest value.
    pub min: Option<Value>,
    /// The largest value.
    pub max: Option<Value>,
    /// The mean, of numbers and times.
    pub mean: Option<Value>,
    /// Population standard deviation: the root of the mean squared deviation from the mean. In days for
    /// dates, and in seconds for times and durations.
    pub deviation: Option<f64>,
    /// Quantiles of numbers and times.
    pub quantiles: Vec<Quantile>,
    /// Whether the quantiles are exact, and not those of a sample.
    pub quantiles_are_exact: bool,
    /// Number of distinct values.
    pub distinct: Option<Counted>,
    /// The most frequent values.
    pub frequent: Vec<FrequentValue>,
    /// Whether the frequent values were counted, and not estimated from a sample.
    pub frequent_is_exact: bool,
}

/// A count that may be an estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Counted {
    /// The count.
    pub count: u64,
    /// Whether it is exact.
    pub is_exact: bool,
}

/// A quantile.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Quantile {
    /// Fraction of values that are smaller.
    pub fraction: f64,
    /// Value: a floating-point number, or a time as text.
    pub value: Value,
}

/// A value and its number of occurrences.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FrequentValue {
    /// The value.
    pub value: Value,
    /// Number of occurrences.
    pub count: u64,
}

/// Formats a value of a summary; bytes as hexadecimal digits.
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
