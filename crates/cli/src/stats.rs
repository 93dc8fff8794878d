//! `forthwith stats`: summarises columns.

use crate::{
    choice::{Choice, Chosen},
    console::{Console, bar},
    failure::{Failure, Result},
    flags::Summarised,
    human,
    kept_stats::KeptStats,
    opened::{Opening, Place, Values},
    paint::Style,
    shape::Shape,
    survey::Branch,
    table::{Align, Cell, Table},
    words::Counted as _,
};
use forthwith::{
    ColumnStats, Counted, StatsOptions, SummaryOf, TableStats,
    columns::{LogicalType, Value},
    summary_text,
};
use indicatif::ProgressBar;
use std::{ffi::OsString, slice};

/// Options of `stats`.
#[derive(Debug, PartialEq)]
pub(crate) struct Summary {
    choice: Choice,
    entries: u64,
    pub(crate) quantiles: Vec<f64>,
    pub(crate) top: usize,
    values: Values,
    /// Whether summaries are cached next to the file.
    pub(crate) is_kept: bool,
}

impl Summary {
    pub(crate) fn of(typed: Summarised, quantiles: Vec<f64>, top: usize) -> (Vec<OsString>, Box<Self>) {
        let choice = Choice::of(typed.branch, typed.filter, typed.computing);
        let (entries, values) = (typed.entries.unwrap_or(u64::MAX), typed.values.reading());
        (typed.targets, Box::new(Self { choice, entries, quantiles, top, values, is_kept: false }))
    }

    /// Sets whether summaries are cached next to the file.
    pub(crate) fn kept(self, is_kept: bool) -> Self {
        Self { is_kept, ..self }
    }

    /// Returns whether only whole columns of the file are summarised, without cuts, expressions or value
    /// options.
    pub(crate) fn is_of_whole_columns(&self) -> bool {
        let choice = &self.choice;
        self.entries == u64::MAX
            && self.values == Values::default()
            && choice.cut.is_none()
            && choice.aliases.is_empty()
            && choice.computed.is_empty()
    }

    /// Summarises the columns of a table. Damaged columns are reported on standard error; the others are
    /// still summarised.
    pub(crate) fn compute(
        &self,
        place: Place,
        options: &StatsOptions,
        console: &mut Console<'_>,
    ) -> Result<Computed> {
        let place = place.with_values(self.values);
        let names = self.names(&place, console)?;
        let bar = bar(None, BAR, console.width.is_some());
        let compute = |names: &[(String, Option<u32>)]| {
            let names: Vec<_> = names.iter().map(|(name, field)| (name.as_str(), *field)).collect();
            let selection = place.table.select_fields(&names, self.choice.expressions())?;
            forthwith::stats(&selection, ..self.entries, options, &mut progress(&bar))
        };
        let together = compute(&names);
        let computed = match together {
            Ok(found) => Ok(Computed { found, damage: None }),
            // A damaged block affects only its own column, except in row formats.
            Err(error) if error.is_damage() && names.len() > 1 && !place.table.words().rows => {
                one_by_one(&names, compute, console)
            }
            Err(error) => Err(error.into()),
        };
        bar.finish_and_clear();
        computed
    }

    /// Like [`compute`](Self::compute), but uses summaries cached next to the file.
    fn compute_kept(
        &self,
        place: Place,
        options: &StatsOptions,
        opening: &Opening,
        console: &mut Console<'_>,
    ) -> Result<Computed> {
        let kept = KeptStats::of(&place, self.is_kept, opening).filter(|_| self.is_of_whole_columns());
        let Some(kept) = kept else {
            if self.is_kept {
                console.note("the summaries are not kept: --cache is for whole columns of local files");
            }
            return self.compute(place, options, console);
        };
        let columns = self.readable(&place, console)?;
        let bar = bar(None, BAR, console.width.is_some());
        let found = kept.compute(&place, &columns, options, &mut progress(&bar), console);
        bar.finish_and_clear();
        match found {
            Err(Failure::File(error)) if error.is_damage() => self.compute(place, options, console),
            found => Ok(Computed { found: found?, damage: None }),
        }
    }

    /// Returns the named columns, or all readable ones.
    pub(crate) fn columns(&self, place: &Place) -> Result<Vec<Branch>> {
        let Chosen { branches, named } = self.choice.find(place, u64::MAX)?;
        Ok(branches.into_iter().filter(|branch| named || branch.is_readable()).collect())
    }

    /// Returns the maximum number of entries.
    pub(crate) const fn most(&self) -> u64 {
        self.entries
    }

    /// Returns the named columns, or all readable ones. A note reports how many are unreadable.
    fn readable(&self, place: &Place, console: &mut Console<'_>) -> Result<Vec<Branch>> {
        let Chosen { branches, named } = self.choice.find(place, u64::MAX)?;
        let before = branches.len();
        let columns: Vec<Branch> =
            branches.into_iter().filter(|branch| named || branch.is_readable()).collect();
        if columns.len() < before {
            let missing = (before - columns.len()) as u64;
            let are = if missing == 1 { "is" } else { "are" };
            let missing = place.words.columns(missing);
            console.note(&format!("{missing} {are} left out as unsupported; forthwith explain says why"));
        }
        Ok(columns)
    }

    /// Returns the names of the columns to summarise, with their field indexes. If only computed columns are
    /// named, returns only those.
    fn names(&self, place: &Place, console: &mut Console<'_>) -> Result<Vec<(String, Option<u32>)>> {
        let choice = &self.choice;
        let names_none = choice.names.is_empty() && choice.filter.is_empty() && place.branch.is_none();
        let mut columns = Vec::new();
        if !names_none || choice.computed.is_empty() {
            columns = self.readable(place, console)?;
        }
        let computed = choice.computed.iter().map(|name| (name.clone(), None));
        let fields = columns.into_iter().map(|branch| (branch.field.path, Some(branch.index)));
        Ok(fields.chain(computed).collect())
    }
}

/// Summaries, and the exit code if some columns were unreadable.
pub(crate) struct Computed {
    pub(crate) found: TableStats,
    damage: Option<i32>,
}

impl Computed {
    /// Returns the exit code for damage already reported.
    ///
    /// # Errors
    /// Some columns were damaged.
    pub(crate) const fn end(&self) -> Result<()> {
        match self.damage {
            Some(code) => Err(Failure::Told { code }),
            None => Ok(()),
        }
    }
}

/// Summarises each column separately, and reports the damaged ones.
fn one_by_one(
    names: &[(String, Option<u32>)],
    compute: impl Fn(&[(String, Option<u32>)]) -> forthwith::plan::Result<TableStats>,
    console: &mut Console<'_>,
) -> Result<Computed> {
    let mut computed = Computed { found: TableStats::default(), damage: None };
    for name in names {
        match compute(slice::from_ref(name)) {
            Ok(found) => {
                computed.found.entries = computed.found.entries.max(found.entries);
                computed.found.columns.extend(found.columns);
            }
            Err(error) if error.is_damage() => {
                let failure = Failure::from(error);
                console.fail(&failure);
                computed.damage = computed.damage.or_else(|| Some(failure.code()));
            }
            Err(error) => return Err(error.into()),
        }
    }
    match computed.damage {
        Some(code) if computed.found.columns.is_empty() => Err(Failure::Told { code }),
        _ => Ok(computed),
    }
}

pub(crate) fn stats(
    place: Place,
    summary: &Summary,
    shape: Shape,
    opening: &Opening,
    console: &mut Console<'_>,
) -> Result<()> {
    let options = StatsOptions {
        quantiles: summary.quantiles.clone(),
        top: summary.top,
        threads: opening.threads,
        ..StatsOptions::default()
    };
    let computed = summary.compute_kept(place, &options, opening, console)?;
    let found = &computed.found;
    if shape == Shape::Json {
        console.json(found)?;
        return computed.end();
    }
    let text = render(found, &options).render(console.width, console.paint);
    console.text(&text)?;
    let entries = human::counted(found.entries, "entry", "entries");
    console.line(&console.paint.faint(&entries))?;
    computed.end()
}

/// Returns a callback that updates a progress bar.
fn progress(bar: &ProgressBar) -> impl FnMut(u64, u64) -> bool + '_ {
    |done, total| {
        bar.set_length(total);
        bar.set_position(done);
        true
    }
}

fn render(found: &TableStats, options: &StatsOptions) -> Table {
    let quantiles: Vec<String> = options.quantiles.iter().map(|fraction| name(*fraction)).collect();
    let mut headings = vec![
        ("column", Align::Name),
        ("of", Align::Left),
        ("type", Align::Left),
        ("count", Align::Right),
        ("missing", Align::Right),
        ("NaN", Align::Right),
        ("min", Align::Right),
    ];
    headings.extend(quantiles.iter().map(|name| (name.as_str(), Align::Spare)));
    headings.extend([
        ("max", Align::Right),
        ("mean", Align::Right),
        ("std", Align::Right),
        ("distinct", Align::Spare),
        ("most frequent", Align::Left),
    ]);
    let mut table = Table::new(&headings);
    for column in &found.columns {
        table.row(row(column, options.quantiles.len()));
    }
    table
}

fn row(column: &ColumnStats, quantiles: usize) -> Vec<Cell> {
    let of = match column.of {
        SummaryOf::Values => "",
        SummaryOf::Items => "items",
        SummaryOf::Lengths => "lengths",
    };
    let some = |number: u64| if number == 0 { String::new() } else { human::count(number) };
    let extreme = |value: &Option<Value>| value.as_ref().map_or_else(String::new, short);
    let mut cells: Vec<Cell> = vec![
        Cell::new(Style::Plain, &column.path),
        Cell::new(Style::Faint, of),
        column.kind.as_str().into(),
        human::count(column.count).into(),
        some(column.missing).into(),
        some(column.nan.unwrap_or(0)).into(),
        extreme(&column.min).into(),
    ];
    let sign = about(column.quantiles_are_exact);
    cells.extend(column.quantiles.iter().map(|quantile| format!("{sign}{}", short(&quantile.value)).into()));
    cells.resize(7 + quantiles, Cell::default());
    let sign = about(column.frequent_is_exact);
    let frequent = column.frequent.iter();
    let frequent = frequent.map(|found| {
        let width = if matches!(found.value, Value::Logical(_)) { LONGEST } else { SHOWN };
        let value = human::cut(&human::clean(&summary_text(&found.value)), width);
        format!("{value} ({sign}{})", human::count(found.count))
    });
    cells.extend([
        extreme(&column.max).into(),
        extreme(&column.mean).into(),
        deviation(column).into(),
        column.distinct.map_or(String::new(), estimated).into(),
        frequent.collect::<Vec<_>>().join(", ").into(),
    ]);
    cells
}

/// Formats a number that may be an estimate.
pub(crate) fn estimated(number: Counted) -> String {
    format!("{}{}", about(number.is_exact), human::count(number.count))
}

/// Returns `~` for estimates.
pub(crate) const fn about(is_exact: bool) -> &'static str {
    if is_exact { "" } else { "~" }
}

/// Returns the name of a quantile: `median`, `q25`, `q99.9`.
fn name(fraction: f64) -> String {
    if fraction == 0.5 {
        return "median".into();
    }
    let percent = format!("{:.4}", fraction * 100.0);
    format!("q{}", percent.trim_end_matches('0').trim_end_matches('.'))
}

/// Formats the standard deviation, with a unit for dates and times.
fn deviation(column: &ColumnStats) -> String {
    let unit = match LogicalType::parse(&column.kind) {
        Some(LogicalType::Date) => " days",
        Some(LogicalType::Time(_) | LogicalType::Timestamp { .. } | LogicalType::Duration(_)) => " s",
        _ => "",
    };
    column.deviation.map_or_else(String::new, |number| digits(number) + unit)
}

/// Formats a value in few characters.
fn short(value: &Value) -> String {
    match value {
        Value::Logical(text) => human::cut(text, LONGEST),
        Value::Float32(number) => digits(f64::from(*number)),
        Value::Float64(number) => digits(*number),
        other => human::cut(&human::clean(&summary_text(other)), SHOWN),
    }
}

/// Formats a number with six significant digits.
fn digits(number: f64) -> String {
    if number == 0.0 || !number.is_finite() {
        return format!("{number}");
    }
    let magnitude = number.abs().log10().floor() as i32;
    if !(-5..=11).contains(&magnitude) {
        return format!("{number:.5e}");
    }
    let text = format!("{number:.*}", usize::try_from(5 - magnitude).unwrap_or(0));
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Maximum number of characters of a value.
const SHOWN: usize = 24;
/// Maximum number of characters of times and decimals; larger because values may differ only in the last
/// characters.
const LONGEST: usize = 40;

/// Template of the progress bar.
const BAR: &str = "{wide_bar} {percent:>3} %  {human_pos} entries  {eta}";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_six_digits() {
        let cases = [
            (0.0, "0"),
            (1.0 / 3.0, "0.333333"),
            (123_456.789, "123457"),
            (-2.5, "-2.5"),
            (1e-9, "1.00000e-9"),
            (12_345_678.0, "12345678"),
            (f64::INFINITY, "inf"),
        ];
        for (number, text) in cases {
            assert_eq!(digits(number), text);
        }
        assert_eq!((name(0.5), name(0.25), name(0.999)), ("median".into(), "q25".into(), "q99.9".into()));
    }
}
