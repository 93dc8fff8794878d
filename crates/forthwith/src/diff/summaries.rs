//! Differences that are proved by cached summaries of columns, before values are read.
//!
//! If all values are equal, so are their number, extremes and distinct values. Equal summaries prove nothing.

use super::{DiffOptions, SummaryDifference, TableDiff, columns::ColumnPair};
use crate::{
    StatsCache, Table,
    stats::{ColumnStats, SummaryOf, summary_text},
};
use forthwith_columns::{DType, Form, Value};
use forthwith_plan::Result;

/// Reports the columns whose cached summaries differ, if both tables have summaries of the current state of
/// their files.
pub(super) fn compare_summaries(
    tables: [&Table; 2],
    pairs: &[ColumnPair],
    options: &DiffOptions,
    report: &mut TableDiff,
) -> Result<()> {
    let [Some(left), Some(right)] = tables.map(|table| table.summaries().filter(|_| are_current(table)))
    else {
        return Ok(());
    };
    if report.entries != [left.entries, right.entries] || report.damage.iter().any(|list| !list.is_empty()) {
        return Ok(());
    }
    for pair in pairs {
        let (mut paths, mut have_unions) = (Vec::new(), false);
        for (table, field) in tables.into_iter().zip(pair.fields) {
            let Some(found) = table.fields()?.get(field as usize) else { return Ok(()) };
            paths.push(found.path.as_str());
            // Equal values may have different alternatives.
            let reading = table.describe_first(field, 0)?.reading;
            have_unions |= reading.is_ok_and(|reading| has_unions(&reading.form));
        }
        let [own, other] = paths[..] else { return Ok(()) };
        let (Some(l), Some(r)) = (left.column(own, &[], 0), right.column(other, &[], 0)) else { continue };
        let Some(known) = report.columns.get_mut(pair.at).filter(|known| known.entries.is_none()) else {
            continue;
        };
        if !have_unions {
            known.summary = first_difference([(own, &l), (other, &r)], options);
        }
    }
    Ok(())
}

/// Whether the summaries are of the current state of the file, and of this version of the table.
fn are_current(table: &Table) -> bool {
    let file = table.file();
    let now = StatsCache::new(&**file.source());
    !table.has_constants() && file.stats().zip(now).is_some_and(|(kept, now)| kept.is_of_same_state(&now))
}

fn has_unions(form: &Form) -> bool {
    match form {
        Form::Union { .. } => true,
        Form::Option { content, .. } | Form::Logical { content, .. } => has_unions(content),
        Form::Record { contents, .. } => contents.iter().any(has_unions),
        Form::List { content, .. } => has_unions(content),
        other => other.fixed().is_some_and(|(_, content)| has_unions(&content)),
    }
}

/// Returns the first summary that differs, among the paths that both sides have.
fn first_difference(sides: [(&str, &[ColumnStats]); 2], options: &DiffOptions) -> Option<SummaryDifference> {
    let place = |side: usize, found: &ColumnStats| -> (String, SummaryOf) {
        let path = found.path.strip_prefix(sides[side].0).unwrap_or(&found.path);
        (path.to_owned(), found.of)
    };
    let only_one = |side: usize, wanted: &(String, SummaryOf)| {
        let mut found = sides[side].1.iter().filter(|found| place(side, found) == *wanted);
        found.next().filter(|_| found.next().is_none())
    };
    sides[0].1.iter().find_map(|found| {
        let wanted = place(0, found);
        let (own, other) = (only_one(0, &wanted)?, only_one(1, &wanted)?);
        let (what, values) = difference([own, other], options)?;
        Some(SummaryDifference { path: wanted.0, of: wanted.1, what: what.into(), values })
    })
}

/// Returns the first statistic of two summaries that proves that values differ.
fn difference(
    [left, right]: [&ColumnStats; 2],
    options: &DiffOptions,
) -> Option<(&'static str, [String; 2])> {
    let counts = [
        ("number of missing values", [left.missing, right.missing]),
        ("number of NaN", [left.nan.unwrap_or(0), right.nan.unwrap_or(0)]),
        ("number of values", [left.count, right.count]),
    ];
    if let Some((what, both)) = counts.into_iter().find(|(_, [left, right])| left != right) {
        return Some((what, both.map(|count| count.to_string())));
    }
    let have_floats = left.nan.is_some() || right.nan.is_some();
    if have_floats && (options.rtol > 0.0 || options.atol > 0.0) {
        return None;
    }
    for (what, own, other) in [("min", &left.min, &right.min), ("max", &left.max, &right.max)] {
        let (Some(own), Some(other)) = (own, other) else { continue };
        if are_unequal([(own, &left.kind), (other, &right.kind)]) {
            return Some((what, [own, other].map(summary_text)));
        }
    }
    if let (Some(own), Some(other)) = (left.distinct, right.distinct)
        && (own.is_exact && other.is_exact && own.count != other.count)
        && have_comparable_kinds([&left.kind, &right.kind])
    {
        return Some(("number of distinct values", [own, other].map(|counted| counted.count.to_string())));
    }
    let (Some(own), Some(other)) = (&left.mean, &right.mean) else { return None };
    let differ = match (own, other) {
        (Value::Logical(own), Value::Logical(other)) => left.kind == right.kind && own != other,
        // Decimals may be summed as floating-point numbers.
        (Value::Float64(own), Value::Float64(other))
            if are_numbers([&left.kind, &right.kind]) || [&left.kind, &right.kind] == ["bool"; 2] =>
        {
            (own - other).abs() > rounding([left, right], have_floats)?
        }
        _ => false,
    };
    differ.then(|| ("mean", [own, other].map(summary_text)))
}

/// Upper bound on the difference of two means of the same numbers. Those of floating-point numbers depend on the steps in which
/// they were summed: each sum of a step and each update by it is off by a few roundings of the largest number.
fn rounding(sides: [&ColumnStats; 2], have_floats: bool) -> Option<f64> {
    if !have_floats {
        // Sums of integers are exact.
        return Some(0.0);
    }
    let mut largest = 0.0_f64;
    for side in sides {
        for extreme in [&side.min, &side.max] {
            let number = match extreme.as_ref()? {
                Value::Float32(number) => f64::from(*number),
                Value::Float64(number) => *number,
                Value::Int(number) => *number as f64,
                Value::UInt(number) => *number as f64,
                _ => return None,
            };
            largest = largest.max(number.abs());
        }
    }
    let bound = 8.0 * (sides[0].count as f64 + 4096.0) * f64::EPSILON * largest;
    // Sums of the largest numbers may overflow, and a rounding of subnormal numbers is not relative to them.
    (bound.is_finite() && (1e-290..1e290).contains(&largest)).then_some(bound)
}

/// Whether values of these types are compared by the numbers or text that summaries have.
fn have_comparable_kinds(kinds: [&str; 2]) -> bool {
    kinds[0] == kinds[1] || are_numbers(kinds)
}

fn are_numbers(kinds: [&str; 2]) -> bool {
    kinds.iter().all(|kind| DType::from_name(kind).is_some_and(|dtype| dtype != DType::Bool))
}

/// Whether two values certainly differ.
fn are_unequal([(left, kind), (right, other)]: [(&Value, &str); 2]) -> bool {
    if !have_comparable_kinds([kind, other]) {
        return false;
    }
    match (left, right) {
        (Value::Bool(left), Value::Bool(right)) => left != right,
        (Value::String(left), Value::String(right)) | (Value::Logical(left), Value::Logical(right)) => {
            left != right
        }
        (Value::Bytes(left), Value::Bytes(right)) => left != right,
        _ => match (whole(left), whole(right)) {
            (Some(left), Some(right)) => left != right,
            (Some(whole), None) => is_other_float(right, whole),
            (None, Some(whole)) => is_other_float(left, whole),
            (None, None) => float(left)
                .zip(float(right))
                .is_some_and(|(left, right)| left.partial_cmp(&right).is_some_and(std::cmp::Ordering::is_ne)),
        },
    }
}

const fn whole(value: &Value) -> Option<i128> {
    match value {
        Value::Int(number) => Some(*number as i128),
        Value::UInt(number) => Some(*number as i128),
        _ => None,
    }
}

fn float(value: &Value) -> Option<f64> {
    match value {
        Value::Float32(number) => Some(f64::from(*number)),
        Value::Float64(number) => Some(*number),
        _ => None,
    }
}

/// Whether a floating-point number differs from an integer.
fn is_other_float(value: &Value, whole: i128) -> bool {
    float(value).is_some_and(|float| {
        let rounded = whole as f64;
        rounded as i128 != whole || rounded < float || rounded > float
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Counted;

    fn summary(kind: &str, extremes: [Value; 2], mean: f64) -> ColumnStats {
        let is_float = kind.starts_with("float");
        ColumnStats {
            path: "x".into(),
            of: SummaryOf::Values,
            kind: kind.into(),
            count: 10,
            missing: 1,
            nan: is_float.then_some(2),
            min: Some(extremes[0].clone()),
            max: Some(extremes[1].clone()),
            mean: Some(Value::Float64(mean)),
            deviation: None,
            quantiles: Vec::new(),
            quantiles_are_exact: true,
            distinct: Some(Counted { count: 7, is_exact: true }),
            frequent: Vec::new(),
            frequent_is_exact: true,
        }
    }

    fn floats(low: f64, high: f64, mean: f64) -> ColumnStats {
        summary("float64", [Value::Float64(low), Value::Float64(high)], mean)
    }

    fn integers(low: i64, high: i64, mean: f64) -> ColumnStats {
        summary("int64", [Value::Int(low), Value::Int(high)], mean)
    }

    fn what(left: &ColumnStats, right: &ColumnStats, options: &DiffOptions) -> Option<&'static str> {
        let found = difference([left, right], options).map(|(what, _)| what);
        let reverse = difference([right, left], options).map(|(what, _)| what);
        assert_eq!(found, reverse);
        found
    }

    #[test]
    fn a_summary_differs_only_if_values_must() {
        let defaults = DiffOptions::default();
        let base = floats(-1.0, 4.0, 1.5);
        assert_eq!(what(&base, &base, &defaults), None);
        assert_eq!(what(&base, &floats(-1.0, 5.0, 1.5), &defaults), Some("max"));
        assert_eq!(what(&base, &floats(-1.0, 4.0, 1.6), &defaults), Some("mean"));
        // Means of equal numbers depend on the steps they are summed in.
        assert_eq!(what(&base, &floats(-1.0, 4.0, 1.5 + 1e-14), &defaults), None);
        assert_eq!(what(&floats(0.0, 4.0, 1.5), &floats(-0.0, 4.0, 1.5), &defaults), None);
        let close = DiffOptions { atol: 1e-3, ..DiffOptions::default() };
        assert_eq!(what(&base, &floats(-1.0, 5.0, 2.0), &close), None);
        let fewer = ColumnStats { nan: Some(1), ..base.clone() };
        assert_eq!(what(&base, &fewer, &close), Some("number of NaN"));
        let missing = ColumnStats { missing: 0, ..base.clone() };
        assert_eq!(what(&base, &missing, &close), Some("number of missing values"));
        let distinct =
            |count, is_exact| ColumnStats { distinct: Some(Counted { count, is_exact }), ..base.clone() };
        assert_eq!(what(&base, &distinct(8, true), &defaults), Some("number of distinct values"));
        assert_eq!(what(&base, &distinct(8, false), &defaults), None);
        // Infinite and the largest numbers.
        let infinite = floats(-1.0, f64::INFINITY, f64::INFINITY);
        assert_eq!(what(&infinite, &floats(-1.0, f64::INFINITY, f64::NAN), &defaults), None);
        assert_eq!(what(&floats(-1e308, 1e308, 5.0), &floats(-1e308, 1e308, 9.0), &defaults), None);
        // The smallest ones.
        let tiny = |mean| floats(5e-324, 1e-322, mean);
        assert_eq!(what(&tiny(3e-323), &tiny(4e-323), &defaults), None);
        assert_eq!(
            what(&floats(-1e-280, 1e-280, 0.0), &floats(-1e-280, 1e-280, 1e-285), &defaults),
            Some("mean")
        );
    }

    #[test]
    fn values_of_different_types_are_compared_as_numbers() {
        let defaults = DiffOptions::default();
        let whole = integers(-1, 4, 1.5);
        let base = ColumnStats { nan: Some(0), ..floats(-1.0, 4.0, 1.5) };
        assert_eq!(what(&whole, &base, &defaults), None);
        assert_eq!(what(&whole, &integers(-1, 4, 1.5000000000000002), &defaults), Some("mean"));
        assert_eq!(
            what(&whole, &ColumnStats { nan: Some(0), ..floats(-1.5, 4.0, 1.5) }, &defaults),
            Some("min")
        );
        let large = (1_i64 << 53) + 1;
        let rounded = ColumnStats { nan: Some(0), ..floats(-1.0, large as f64, 1.5) };
        assert_eq!(what(&integers(-1, large, 1.5), &rounded, &defaults), Some("max"));
        let unsigned = summary("uint64", [Value::UInt(1), Value::UInt(u64::MAX)], 1.5);
        assert_eq!(what(&unsigned, &integers(1, -1, 1.5), &defaults), Some("max"));
        // Spelled in different units, or by different rules.
        let time = |kind: &str, text: &str| {
            summary(kind, [Value::Logical(text.into()), Value::Logical(text.into())], 1.5)
        };
        let (seconds, millis) = (time("timestamp[s]", "2026-01-01"), time("timestamp[ms]", "2026-01-01.000"));
        assert_eq!(what(&seconds, &millis, &defaults), None);
        assert_eq!(what(&seconds, &time("timestamp[s]", "2026-01-02"), &defaults), Some("min"));
        let truths = summary("bool", [Value::Bool(false), Value::Bool(true)], 0.5);
        assert_eq!(what(&truths, &integers(0, 2, 0.7), &defaults), None);
    }
}
