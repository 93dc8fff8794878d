//! Summaries of a table's columns, which were given to its file.

use super::Table;
use crate::TableSummaries;
use forthwith_columns::Value;
use forthwith_plan::{Limit, Limits, Result};
use std::sync::Arc;

impl Table {
    pub(crate) fn with_summaries(mut self, summaries: Option<Arc<TableSummaries>>) -> Self {
        self.summaries = summaries;
        self
    }

    /// Whether the table has [constant columns](Self::with_constants), which are not stored in the file.
    #[must_use]
    pub fn has_constants(&self) -> bool {
        self.own.is_some()
    }

    /// Returns the summaries of the table's columns over all entries that were [given to the
    /// file](crate::File::with_stats).
    #[must_use]
    pub fn summaries(&self) -> Option<&TableSummaries> {
        self.summaries.as_deref()
    }

    /// Returns the bounds of a field's numbers by the summaries that were given to the file.
    pub(crate) fn known_limits(&self, field: u32) -> Result<Option<Limits>> {
        let Some(summaries) = &self.summaries else { return Ok(None) };
        let fields = self.fields()?;
        // Constant columns have no summaries, even if a column of the file has the same name.
        let is_own = (field as usize) < self.own_dataset().fields()?.len();
        let known = fields.get(field as usize).filter(|_| is_own);
        // The summaries have one value per path, which is ambiguous for columns with the same path.
        let is_unique = |path: &str| fields.iter().filter(|field| field.path == path).nth(1).is_none();
        let known = known.filter(|field| is_unique(&field.path));
        let found = known.and_then(|field| summaries.numbers(&field.path));
        Ok(found.and_then(|found| {
            let (least, greatest) = (limit(found.min.as_ref()?)?, limit(found.max.as_ref()?)?);
            Some(Limits { entries: 0..summaries.entries, least, greatest })
        }))
    }
}

/// Converts a number of a summary to a bound; `None` for NaN and for other types.
fn limit(value: &Value) -> Option<Limit> {
    match value {
        Value::Bool(value) => Some(Limit::Integer(i128::from(*value))),
        Value::Int(value) => Some(Limit::Integer(i128::from(*value))),
        Value::UInt(value) => Some(Limit::Integer(i128::from(*value))),
        Value::Float32(value) => Some(Limit::Float(f64::from(*value))).filter(|_| !value.is_nan()),
        Value::Float64(value) => Some(Limit::Float(*value)).filter(|_| !value.is_nan()),
        // Summaries have only prefixes of texts, and times as formatted text.
        _ => None,
    }
}
