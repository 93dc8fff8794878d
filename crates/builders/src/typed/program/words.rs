//! Phrases of the program, and the numbers of columns as it declares them.

use crate::Command;
use crate::form::Index;
use crate::table::Columns;
use crate::typed::offers::Refusal;
use forthwith_columns::DType;

/// The lines of one command.
pub(super) fn case(command: Command, lines: Vec<String>) -> Vec<String> {
    let begin = format!("command @ {} = if ( {} )", command as u8, command.name());
    let lines = lines.into_iter().map(|line| format!("  {line}"));
    std::iter::once(begin).chain(lines).chain(["exit then".into()]).collect()
}

/// One of several lists of lines, by the argument.
pub(super) fn arguments_of(cases: Vec<(usize, Vec<String>)>) -> Vec<String> {
    let each = cases.into_iter().flat_map(|(argument, lines)| {
        let lines = lines.into_iter().map(|line| format!("  {line}"));
        std::iter::once(format!("argument @ {argument} = if")).chain(lines).chain(["exit then".into()])
    });
    each.chain([refused(Refusal::Argument)]).collect()
}

pub(super) fn refused(refusal: Refusal) -> String {
    format!("{} error !", refusal as u8)
}

pub(super) fn refuse(refusal: Refusal) -> String {
    format!("if {} error ! exit then", refusal as u8)
}

/// Refuses more rows than an index counts.
pub(super) fn below(rows: &str, width: Index) -> Option<String> {
    (width != Index::I64).then(|| format!("{rows} @ {} >= {}", literal(width.most()), refuse(Refusal::Wide)))
}

/// The same for lists and texts, which add more than one row.
pub(super) fn wide(more: &str, node: u32, width: Index) -> String {
    format!("{more} total{node} @ + {} > {}", literal(width.most()), refuse(Refusal::Wide))
}

/// Literals of the language have 32 bits.
pub(super) fn literal(value: i64) -> String {
    if i32::try_from(value).is_ok() {
        return value.to_string();
    }
    let (high, middle, low) = (value >> 32, (value >> 16) & 0xffff, value & 0xffff);
    format!("{high} 16 lshift {middle} or 16 lshift {low} or")
}

/// A path as a comment: no words of its own.
pub(super) fn plain(path: &str) -> String {
    if path.is_empty() {
        return "-entries-".into();
    }
    path.chars().map(|c| if c.is_ascii_alphanumeric() || "[].|_".contains(c) { c } else { '?' }).collect()
}

/// The type of the numbers in the output of a column, and how many there are for each value. Half floats wait
/// in full precision, so that they are rounded once.
pub(super) fn number(columns: &Columns) -> Option<(DType, usize)> {
    Some(match columns {
        Columns::Boolean(_) => (DType::Bool, 1),
        Columns::Int8(_) => (DType::Int8, 1),
        Columns::Int16(_) => (DType::Int16, 1),
        Columns::Int32(_) => (DType::Int32, 1),
        Columns::Int64(_) | Columns::Time { .. } => (DType::Int64, 1),
        Columns::UInt8(_) => (DType::UInt8, 1),
        Columns::UInt16(_) => (DType::UInt16, 1),
        Columns::UInt32(_) => (DType::UInt32, 1),
        Columns::UInt64(_) => (DType::UInt64, 1),
        Columns::Float32(_) => (DType::Float32, 1),
        Columns::Float16(_) | Columns::Float64(_) => (DType::Float64, 1),
        Columns::Complex64(_) => (DType::Float32, 2),
        Columns::Complex128(_) => (DType::Float64, 2),
        _ => return None,
    })
}

/// The least and the greatest integer of a column, where not every `i64` fits.
pub(super) fn range(columns: &Columns) -> Option<(i64, i64)> {
    Some(match columns {
        Columns::Int8(_) => (i8::MIN.into(), i8::MAX.into()),
        Columns::Int16(_) => (i16::MIN.into(), i16::MAX.into()),
        Columns::Int32(_) => (i32::MIN.into(), i32::MAX.into()),
        Columns::UInt8(_) => (0, u8::MAX.into()),
        Columns::UInt16(_) => (0, u16::MAX.into()),
        Columns::UInt32(_) => (0, u32::MAX.into()),
        Columns::UInt64(_) => (0, i64::MAX),
        _ => return None,
    })
}
