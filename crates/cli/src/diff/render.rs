//! Formatting of differences.

use super::{Found, Report, Verdict};
use crate::{human, paint::Paint};
use forthwith::{ColumnDiff, FileDiff, ObjectDiff, SummaryDifference, SummaryOf, TableDiff};
use std::fmt::Write;

/// Maximum number of names and damaged ranges that are listed.
const LISTED: usize = 12;
/// Maximum number of characters of a value in a summary.
const SHOWN: usize = 60;

/// Writes a line to a `String`, which cannot fail.
macro_rules! line {
    ($text:expr, $($arg:tt)*) => {
        let _ = writeln!($text, $($arg)*);
    };
}

/// Returns the differences, with a summary line.
pub(super) fn text(report: &Report, paint: Paint) -> String {
    let mut text = String::new();
    let names = [&report.left, &report.right].map(|name| human::clean(name));
    match &report.found {
        Found::File(found) => file(found, &names, paint, &mut text),
        Found::Table(found) => table(found, &names, paint, "", &mut text),
        Found::Object(found) => object(found, paint, "", &mut text),
    }
    let verdict = match report.verdict {
        Verdict::Same => "same",
        Verdict::Different if report.found.has_stopped() => "different, with no look at the rest",
        Verdict::Different => "different",
        Verdict::Incomplete => "not everything could be compared",
    };
    line!(text, "{verdict}: {}", extent(&report.found));
    text
}

fn file(found: &FileDiff, names: &[String; 2], paint: Paint, text: &mut String) {
    only(&found.only, names, "", text);
    for (path, classes) in &found.classes {
        let [left, right] = classes.each_ref().map(|class| human::clean(class));
        line!(text, "{}: {left} and {right}", paint.strong(&human::clean(path)));
    }
    for (path, inner) in &found.tables {
        if !inner.is_same() || !inner.is_complete() {
            line!(text, "{}", paint.strong(&human::clean(path)));
            table(inner, names, paint, "  ", text);
        }
    }
    found.objects.iter().for_each(|inner| object(inner, paint, "", text));
}

fn table(found: &TableDiff, names: &[String; 2], paint: Paint, indent: &str, text: &mut String) {
    let [left, right] = found.entries.map(human::count);
    if left != right {
        line!(text, "{indent}entries: {left} and {right}");
    }
    only(&found.only, names, indent, text);
    let are_matched = found.unmatched.iter().any(|unmatched| unmatched.count > 0) && {
        let [left, right] = &found.unmatched;
        found.stopped
            || left.count + found.compared == found.entries[0]
                && right.count + found.compared == found.entries[1]
    };
    for (unmatched, name) in found.unmatched.iter().zip(names).filter(|(it, _)| are_matched && it.count > 0) {
        let first: Vec<String> = unmatched.first.iter().map(|entry| human::count(*entry)).collect();
        let more = if unmatched.count > first.len() as u64 { ", …" } else { "" };
        let count = human::counted(unmatched.count, "entry", "entries");
        line!(text, "{indent}only in {name}: {count} ({}{more})", first.join(", "));
    }
    for column in found.columns.iter().filter(|column| !column.is_same()) {
        self::column(column, paint, indent, text);
    }
    for (path, why) in &found.not_compared {
        line!(text, "{indent}{}: not compared: {}", paint.strong(&human::clean(path)), human::clean(why));
    }
    for damage in found.damage.iter().flatten().take(LISTED) {
        let entries = &damage.entries;
        let range = match entries.end.saturating_sub(entries.start) {
            0 => String::new(),
            1 => format!(" entry {}", human::count(entries.start)),
            _ => format!(" entries {} to {}", human::count(entries.start), human::count(entries.end - 1)),
        };
        let of = if damage.columns.is_empty() { "" } else { " of " };
        let error = damage.error.lines().map(|line| human::clean(line.trim())).collect::<Vec<_>>().join(", ");
        line!(text, "{indent}not read:{range}{of}{}: {error}", list(&damage.columns));
    }
    let more = found.damage.iter().flatten().count().saturating_sub(LISTED);
    if more > 0 {
        line!(text, "{indent}not read: {} more", human::count(more as u64));
    }
}

fn column(column: &ColumnDiff, paint: Paint, indent: &str, text: &mut String) {
    let path = paint.strong(&human::clean(&column.path));
    if column.types_differ {
        let [left, right] = column.types.each_ref().map(|kind| human::clean(kind));
        line!(text, "{indent}{path}: {left} and {right}, not compared");
    }
    if let Some([left, right]) = column.entries.as_ref().filter(|[left, right]| left != right) {
        line!(
            text,
            "{indent}{path}: has entries {} to {} and {} to {}",
            left.start,
            left.end,
            right.start,
            right.end
        );
    }
    if let Some(found) = &column.summary {
        line!(text, "{indent}{path}{}", summary(found));
    }
    if column.differing == 0 {
        return;
    }
    let differ = if column.differing == 1 { "entry differs" } else { "entries differ" };
    let largest = column.largest.map_or(String::new(), |largest| format!(", numbers by up to {largest}"));
    line!(text, "{indent}{path}: {} {differ}{largest}", human::count(column.differing));
    for difference in &column.first {
        let [left, right] = difference.entries;
        let entry = if left == right { human::count(left) } else { format!("{left} and {right}") };
        let place = if difference.path.is_empty() {
            String::new()
        } else {
            format!(" {}", human::clean(&difference.path))
        };
        let [left, right] = difference.values.each_ref().map(|value| human::clean(value));
        line!(text, "{indent}  entry {entry}{place}: {left} and {right}");
    }
    if column.first.len() as u64 > 0 && column.differing > column.first.len() as u64 {
        line!(text, "{indent}  …");
    }
}

/// Returns the text after the path of a column whose summaries differ.
fn summary(found: &SummaryDifference) -> String {
    let [left, right] = found.values.each_ref().map(|value| human::cut(&human::clean(value), SHOWN));
    let of = match found.of {
        SummaryOf::Values => "",
        SummaryOf::Items => " of items",
        SummaryOf::Lengths => " of lengths",
    };
    format!("{}: {}{of} is {left} and {right}, by their summaries", human::clean(&found.path), found.what)
}

fn object(found: &ObjectDiff, paint: Paint, indent: &str, text: &mut String) {
    let path = paint.strong(&human::clean(&found.path));
    if let Some(error) = &found.error {
        line!(text, "{indent}{path}: not compared: {}", human::clean(error));
    }
    if found.differing == 0 {
        return;
    }
    let members = human::counted(found.differing, "value", "values");
    line!(text, "{indent}{path}: {} differs in {members}", human::clean(&found.class));
    for (member, values) in &found.first {
        let [left, right] = values.each_ref().map(|value| human::clean(value));
        line!(text, "{indent}  {}: {left} and {right}", human::clean(member));
    }
}

fn only(only: &[Vec<String>; 2], names: &[String; 2], indent: &str, text: &mut String) {
    for (paths, name) in only.iter().zip(names).filter(|(paths, _)| !paths.is_empty()) {
        line!(text, "{indent}only in {name}: {}", list(paths));
    }
}

fn list(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(LISTED).map(|name| human::clean(name)).collect();
    let more = names.len() - shown.len();
    let more = if more > 0 { format!(" and {} more", human::count(more as u64)) } else { String::new() };
    shown.join(", ") + &more
}

/// Returns the number of tables, columns, entries and objects that were compared.
fn extent(found: &Found) -> String {
    let tables = match found {
        Found::File(found) => found.tables.iter().map(|(_, table)| table).collect(),
        Found::Table(found) => vec![found],
        Found::Object(_) => return "1 object".into(),
    };
    let compared = |column: &&ColumnDiff| !column.types_differ;
    let columns = tables.iter().map(|table| table.columns.iter().filter(compared).count() as u64).sum();
    let entries = tables.iter().map(|table| table.compared).sum();
    let mut parts =
        vec![human::counted(columns, "column", "columns"), human::counted(entries, "entry", "entries")];
    if let Found::File(found) = found {
        parts.insert(0, human::counted(found.tables.len() as u64, "table", "tables"));
        parts.push(human::counted(found.objects.len() as u64, "object", "objects"));
    }
    parts.join(", ")
}
