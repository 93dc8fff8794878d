//! Phrases of the program, and the number types of its outputs.

use crate::Command;
use crate::form::{Index, Primitive};
use crate::table::Columns;
use crate::typed::offers::Refusal;
use forthwith_columns::DType;

/// Returns the lines of one command.
pub(super) fn case(command: Command, lines: Vec<String>) -> Vec<String> {
    when(format!("command @ {} = if ( {} )", command as u8, command.name()), lines).collect()
}

/// Returns lines that select one of several cases by the argument.
pub(super) fn arguments_of(cases: Vec<(usize, Vec<String>)>) -> Vec<String> {
    let each = cases.into_iter().flat_map(|(at, lines)| when(format!("argument @ {at} = if"), lines));
    each.chain([refused(Refusal::Argument)]).collect()
}

/// Returns lines that are executed if a condition is true, and then exit.
fn when(begin: String, lines: Vec<String>) -> impl Iterator<Item = String> {
    let lines = lines.into_iter().map(|line| format!("  {line}"));
    std::iter::once(begin).chain(lines).chain(["exit then".into()])
}

pub(super) fn refused(refusal: Refusal) -> String {
    format!("{} error !", refusal as u8)
}

pub(super) fn refuse(refusal: Refusal) -> String {
    format!("if {} error ! exit then", refusal as u8)
}

/// Returns a check that the number of rows is below the maximum of an index; `None` for 64 bits.
pub(super) fn below(rows: &str, width: Index) -> Option<String> {
    (width != Index::I64).then(|| format!("{rows} @ {} >= {}", literal(width.most()), refuse(Refusal::Wide)))
}

/// Returns a check that `more` additional items do not exceed the maximum of the offsets.
pub(super) fn wide(more: &str, node: u32, width: Index) -> String {
    format!("{more} total{node} @ + {} > {}", literal(width.most()), refuse(Refusal::Wide))
}

/// Returns an expression for a number: literals of the language have 32 bits.
pub(super) fn literal(value: i64) -> String {
    if i32::try_from(value).is_ok() {
        return value.to_string();
    }
    let (high, middle, low) = (value >> 32, (value >> 16) & 0xffff, value & 0xffff);
    format!("{high} 16 lshift {middle} or 16 lshift {low} or")
}

/// Returns a path as the text of a comment.
pub(super) fn plain(path: &str) -> String {
    if path.is_empty() {
        return "-entries-".into();
    }
    path.chars().map(|c| if c.is_ascii_alphanumeric() || "[].|_".contains(c) { c } else { '?' }).collect()
}

/// Returns the type of the numbers in the output of a column, and the number of items for each value. Half
/// floats are output as float64, so that they are rounded only once.
pub(super) fn number(columns: &Columns) -> Option<(DType, usize)> {
    Some(match columns.primitive()? {
        Primitive::Float16 => (DType::Float64, 1),
        primitive => primitive.stored(),
    })
}

/// Returns the minimum and the maximum of a column of integers, unless it accepts every `i64`.
pub(super) fn range(columns: &Columns) -> Option<(i64, i64)> {
    let (low, high) = columns.range().filter(|(low, _)| *low != i64::MIN)?;
    Some((low, i64::try_from(high).unwrap_or(i64::MAX)))
}
