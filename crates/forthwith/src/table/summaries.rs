//! Summaries of a table's columns that its file was given.

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

    /// Whether it has [columns of one value each](Self::with_constants) that are not the file's.
    #[must_use]
    pub fn has_constants(&self) -> bool {
        self.own.is_some()
    }

    /// Summaries of its columns, of all entries, that the [file was given](crate::File::with_stats).
    #[must_use]
    pub fn summaries(&self) -> Option<&TableSummaries> {
        self.summaries.as_deref()
    }

    /// Limits of the numbers of a field by the summaries that the file was given.
    pub(crate) fn known_limits(&self, field: u32) -> Result<Option<Limits>> {
        let Some(summaries) = &self.summaries else { return Ok(None) };
        let fields = self.fields()?;
        // Columns that are not the file's own have no summaries of it, whatever their names are.
        let is_own = (field as usize) < self.own_dataset().fields()?.len();
        let known = fields.get(field as usize).filter(|_| is_own);
        // Nor do columns that share a name: a cache has one summary for all of them.
        let is_unique = |path: &str| fields.iter().filter(|field| field.path == path).nth(1).is_none();
        let known = known.filter(|field| is_unique(&field.path));
        let found = known.and_then(|field| summaries.numbers(&field.path));
        Ok(found.and_then(|found| {
            let (least, greatest) = (limit(found.min.as_ref()?)?, limit(found.max.as_ref()?)?);
            Some(Limits { entries: 0..summaries.entries, least, greatest })
        }))
    }
}

/// A number of a summary as a limit.
fn limit(value: &Value) -> Option<Limit> {
    match value {
        Value::Bool(value) => Some(Limit::Integer(i128::from(*value))),
        Value::Int(value) => Some(Limit::Integer(i128::from(*value))),
        Value::UInt(value) => Some(Limit::Integer(i128::from(*value))),
        Value::Float32(value) => Some(Limit::Float(f64::from(*value))).filter(|_| !value.is_nan()),
        Value::Float64(value) => Some(Limit::Float(*value)).filter(|_| !value.is_nan()),
        // Texts are kept in part, and times as they are spelled.
        _ => None,
    }
}
