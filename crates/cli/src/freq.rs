//! `forthwith freq`: frequencies of values.

use crate::{
    console::Console,
    failure::Result,
    human,
    opened::{Opening, Place},
    paint::Style,
    shape::Shape,
    stats::{Summary, about, estimated},
    table::{Align, Cell, Table},
};
use forthwith::{ColumnStats, Counted, FrequentValue, StatsOptions, SummaryOf, summary_text};
use serde::Serialize;

/// Maximum number of distinct values of a column that are counted.
const MOST: usize = 1 << 22;

/// Frequencies of one column.
#[derive(Debug, Serialize)]
struct Report<'a> {
    path: &'a str,
    of: SummaryOf,
    count: u64,
    missing: u64,
    nan: Option<u64>,
    distinct: Option<Counted>,
    is_exact: bool,
    values: &'a [FrequentValue],
}

pub(crate) fn freq(
    place: Place,
    summary: &Summary,
    shape: Shape,
    opening: &Opening,
    console: &mut Console<'_>,
) -> Result<()> {
    let options =
        StatsOptions { quantiles: Vec::new(), top: summary.top, distinct: MOST, threads: opening.threads };
    let computed = summary.compute(place, &options, console)?;
    // Lengths of lists are summarised by the expression count(x).
    let columns: Vec<&ColumnStats> =
        computed.found.columns.iter().filter(|column| column.of != SummaryOf::Lengths).collect();
    if shape == Shape::Json {
        console.json(&columns.iter().map(|column| report(column)).collect::<Vec<_>>())?;
        return computed.end();
    }
    for (at, column) in columns.iter().enumerate() {
        if columns.len() > 1 {
            let gap = if at == 0 { "" } else { "\n" };
            console.line(&format!("{gap}{}", console.paint.strong(&human::clean(&column.path))))?;
        }
        let text = render(column).render(console.width, console.paint);
        console.text(&text)?;
    }
    computed.end()
}

fn report(column: &ColumnStats) -> Report<'_> {
    Report {
        path: &column.path,
        of: column.of,
        count: column.count,
        missing: column.missing,
        nan: column.nan,
        distinct: column.distinct,
        is_exact: column.frequent_is_exact,
        values: &column.frequent,
    }
}

fn render(column: &ColumnStats) -> Table {
    let mut table = Table::new(&[("value", Align::Left), ("count", Align::Right), ("%", Align::Right)]);
    let nan = column.nan.unwrap_or(0);
    let all = column.count + column.missing + nan;
    let sign = about(column.frequent_is_exact);
    let mut row = |style, value: &str, count: u64, sign: &str| {
        let percent = format!("{:.2}", 100.0 * count as f64 / (all as f64).max(1.0));
        table.row([Cell::new(style, value), format!("{sign}{}", human::count(count)).into(), percent.into()]);
    };
    for found in &column.frequent {
        row(Style::Plain, &summary_text(&found.value), found.count, sign);
    }
    for (name, count) in [("NaN", nan), ("missing", column.missing)] {
        if count > 0 {
            row(Style::Faint, name, count, "");
        }
    }
    let shown: u64 = column.frequent.iter().map(|found| found.count).sum();
    let others = column.count.saturating_sub(shown);
    if others > 0 {
        let distinct = column.distinct.map(|distinct| Counted {
            count: distinct.count.saturating_sub(column.frequent.len() as u64),
            ..distinct
        });
        let name = format!("others ({})", distinct.map_or_else(String::new, estimated));
        row(Style::Faint, &name, others, sign);
    }
    table
}
