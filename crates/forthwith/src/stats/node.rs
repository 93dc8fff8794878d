//! Summaries of the nodes of a column's Form.

use super::{
    decimal::DecimalSummary,
    number::NumberSummary,
    options::StatsOptions,
    report::{ColumnStats, SummaryOf},
    text::TextSummary,
};
use forthwith_columns::{Array, Column, DType, Form, Invalid, LogicalType, Lookup, with_integer};
use std::{borrow::Cow, ops::Range};

/// Maximum depth of Forms.
const DEEPEST: u32 = 64;

/// Summary of a column.
#[derive(Debug)]
pub(super) struct Summary {
    path: String,
    top: Node,
}

/// Summary of a node of its Form.
#[derive(Debug)]
enum Node {
    /// Number of values of an unsupported type.
    Unknown(u64),
    Numbers(NumberSummary, Option<LogicalType>),
    Texts(TextSummary),
    Decimals(Box<DecimalSummary>),
    Lists(NumberSummary, Box<Self>),
    Records(Vec<(String, Self)>),
    Options(u64, Box<Self>),
    Unions(Vec<Self>),
}

impl Summary {
    pub(super) fn new(path: &str, form: &Form, distinct: usize) -> Self {
        Self { path: path.to_owned(), top: Node::new(form, distinct, 0) }
    }

    /// Adds all rows of an array of the column's Form.
    pub(super) fn add(&mut self, array: &Array) -> Result<(), Invalid> {
        let rows = Rows::Range(0..array.length);
        self.top.add(&Lookup::of(array), &array.form, &rows, 0)
    }

    pub(super) fn finish(self, options: &StatsOptions) -> Vec<ColumnStats> {
        let mut found = Vec::new();
        self.top.finish(self.path, SummaryOf::Values, 0, options, &mut found);
        found
    }
}

impl Node {
    fn new(form: &Form, distinct: usize, depth: u32) -> Self {
        let below = |form: &Form| Self::new(form, distinct, depth + 1);
        if depth > DEEPEST {
            return Self::Unknown(0);
        }
        match form {
            Form::Numpy { dtype, shape, .. } if shape.is_empty() => {
                Self::Numbers(NumberSummary::new(*dtype, distinct), None)
            }
            Form::String { binary, .. } => Self::Texts(TextSummary::new(*binary, distinct)),
            Form::Categorical { .. } => Self::Texts(TextSummary::new(false, distinct)),
            Form::Record { fields, contents, .. } => {
                let name = |at: usize| {
                    let name = fields.as_ref().and_then(|fields| fields.get(at).cloned());
                    name.unwrap_or_else(|| at.to_string())
                };
                Self::Records(contents.iter().enumerate().map(|(at, form)| (name(at), below(form))).collect())
            }
            Form::Option { content, .. } => Self::Options(0, Box::new(below(content))),
            Form::Union { contents, .. } => Self::Unions(contents.iter().map(below).collect()),
            Form::Logical { meaning, content } => match (meaning, below(content)) {
                // Half-precision numbers are floating-point numbers.
                (LogicalType::Half, Self::Numbers(..)) => {
                    Self::Numbers(NumberSummary::new(DType::Float32, distinct), Some(*meaning))
                }
                (LogicalType::Decimal { .. }, Self::Texts(_)) => {
                    Self::Decimals(Box::new(DecimalSummary::new(*meaning, distinct)))
                }
                (_, Self::Numbers(summary, None)) => Self::Numbers(summary, Some(*meaning)),
                (_, other) => other,
            },
            other => match items(other) {
                Some(content) => {
                    Self::Lists(NumberSummary::new(DType::UInt64, distinct), Box::new(below(&content)))
                }
                None => Self::Unknown(0),
            },
        }
    }

    /// Adds rows of a node with this Form.
    fn add(&mut self, lookup: &Lookup<'_>, form: &Form, rows: &Rows, depth: u32) -> Result<(), Invalid> {
        if depth > DEEPEST {
            return Err(Invalid::Deep);
        }
        match self {
            Self::Unknown(count) => *count += rows.len(),
            Self::Numbers(summary, meaning) => {
                let Form::Numpy { key, dtype, .. } = form.kept() else { return Ok(()) };
                let column = lookup.column(key, "data", *dtype, rows.end())?;
                add_numbers(summary, column, rows, *meaning == Some(LogicalType::Half));
            }
            Self::Texts(summary) => each_text(lookup, form.kept(), rows, |text| summary.add(text))?,
            Self::Decimals(summary) => each_text(lookup, form.kept(), rows, |bytes| summary.add(bytes))?,
            Self::Lists(lengths, content) => {
                let (found, inner) = lists(lookup, form, rows)?;
                lengths.add(&found);
                if let Some(form) = items(form) {
                    content.add(lookup, &form, &inner, depth + 1)?;
                }
            }
            Self::Records(fields) => {
                let Form::Record { contents, .. } = form.kept() else { return Ok(()) };
                for ((_, field), form) in fields.iter_mut().zip(contents) {
                    field.add(lookup, form, rows, depth + 1)?;
                }
            }
            Self::Options(missing, content) => {
                let Form::Option { key, content: form } = form else { return Ok(()) };
                let present = present(lookup, key, rows)?;
                *missing += rows.len() - present.len();
                content.add(lookup, form, &present, depth + 1)?;
            }
            Self::Unions(summaries) => {
                let Form::Union { key, contents } = form else { return Ok(()) };
                let alternatives = alternatives(lookup, key, rows, contents.len())?;
                for ((summary, form), rows) in summaries.iter_mut().zip(contents).zip(alternatives) {
                    summary.add(lookup, form, &rows, depth + 1)?;
                }
            }
        }
        Ok(())
    }

    fn finish(
        self,
        path: String,
        of: SummaryOf,
        missing: u64,
        options: &StatsOptions,
        found: &mut Vec<ColumnStats>,
    ) {
        match self {
            Self::Unknown(_) => {}
            Self::Numbers(summary, meaning) => {
                let shown = meaning.filter(|meaning| *meaning != LogicalType::Half);
                let mut stats = summary.finish(path, of, shown, missing, options);
                if let Some(meaning) = meaning {
                    stats.kind = meaning.to_string();
                }
                found.push(stats);
            }
            Self::Texts(summary) => found.push(summary.finish(path, of, missing, options)),
            Self::Decimals(summary) => found.push(summary.finish(path, of, missing, options)),
            Self::Lists(lengths, content) => {
                found.push(lengths.finish(path.clone(), SummaryOf::Lengths, None, missing, options));
                content.finish(path, SummaryOf::Items, 0, options, found);
            }
            Self::Records(fields) => {
                for (name, field) in fields {
                    field.finish(format!("{path}.{name}"), of, missing, options, found);
                }
            }
            Self::Options(own, content) => content.finish(path, of, missing + own, options, found),
            Self::Unions(summaries) => {
                for (at, summary) in summaries.into_iter().enumerate() {
                    let missing = if at == 0 { missing } else { 0 };
                    summary.finish(path.clone(), of, missing, options, found);
                }
            }
        }
    }
}

/// Rows of a node.
#[derive(Clone, Debug)]
enum Rows {
    /// Consecutive rows.
    Range(Range<u64>),
    /// Rows in any order.
    List(Vec<u64>),
}

impl Rows {
    fn len(&self) -> u64 {
        match self {
            Self::Range(range) => range.end - range.start,
            Self::List(rows) => rows.len() as u64,
        }
    }

    /// Returns the end of the last row.
    fn end(&self) -> u64 {
        match self {
            Self::Range(range) => range.end,
            Self::List(rows) => rows.iter().max().map_or(0, |row| row + 1),
        }
    }

    fn iter(&self) -> Box<dyn Iterator<Item = u64> + '_> {
        match self {
            Self::Range(range) => Box::new(range.clone()),
            Self::List(rows) => Box::new(rows.iter().copied()),
        }
    }

    /// Makes a range of consecutive rows, else a list.
    fn of(rows: Vec<u64>) -> Self {
        match (rows.first(), rows.last()) {
            (None, _) | (_, None) => Self::Range(0..0),
            (Some(first), Some(last)) if rows.windows(2).all(|pair| pair[0] + 1 == pair[1]) => {
                Self::Range(*first..last + 1)
            }
            _ => Self::List(rows),
        }
    }
}

/// Returns the Form of the items of lists of variable or fixed length.
fn items(form: &Form) -> Option<Cow<'_, Form>> {
    match form.kept() {
        Form::List { content, .. } => Some(Cow::Borrowed(content)),
        other => other.fixed().map(|(_, content)| content),
    }
}

fn add_numbers(summary: &mut NumberSummary, column: &Column, rows: &Rows, are_halves: bool) {
    let column = match rows {
        Rows::Range(range) => column.slice(range.start as usize..range.end as usize),
        Rows::List(_) => column.clone(),
    };
    if are_halves {
        let half = |at: usize| LogicalType::half(column.item(at).unwrap_or(0));
        let halves: Vec<f32> = match rows {
            Rows::Range(_) => (0..column.len()).map(half).collect(),
            Rows::List(rows) => rows.iter().map(|row| half(*row as usize)).collect(),
        };
        return summary.add(&halves);
    }
    macro_rules! typed {
        ($number:ty) => {
            match (column.items::<$number>(), rows) {
                (Some(items), Rows::Range(_)) => summary.add(items),
                (None, Rows::Range(_)) => {
                    let items: Vec<$number> = (0..column.len()).filter_map(|at| column.item(at)).collect();
                    summary.add(&items);
                }
                (_, Rows::List(rows)) => {
                    let items: Vec<$number> =
                        rows.iter().filter_map(|row| column.item(*row as usize)).collect();
                    summary.add(&items);
                }
            }
        };
    }
    with_integer!(column.dtype(), T => typed!(T),
        DType::Bool => {
            let truth = |at: usize| column.as_bytes().get(at).map(|byte| u8::from(*byte != 0));
            let truths: Vec<u8> = match rows {
                Rows::Range(_) => (0..column.len()).filter_map(truth).collect(),
                Rows::List(rows) => rows.iter().filter_map(|row| truth(*row as usize)).collect(),
            };
            summary.add(&truths);
        },
        DType::Float32 => typed!(f32),
        DType::Float64 => typed!(f64),
    );
}

fn each_text(
    lookup: &Lookup<'_>,
    form: &Form,
    rows: &Rows,
    mut add: impl FnMut(&[u8]),
) -> Result<(), Invalid> {
    match form {
        Form::Categorical { key, categories } => {
            let index = lookup.column(key, "index", DType::Int32, rows.end())?;
            for row in rows.iter() {
                let at = index.item::<i32>(row as usize).and_then(|at| usize::try_from(at).ok());
                let text = at.and_then(|at| categories.get(at));
                let text = text.ok_or_else(|| Invalid::Range { key: format!("{key}-index"), row })?;
                add(text.as_bytes());
            }
        }
        Form::String { key, .. } => {
            let offsets = offsets(lookup, key, rows.end())?;
            let bytes = lookup.any(key, "data")?.as_bytes();
            for row in rows.iter() {
                let (from, to) = bounds(&offsets, key, row)?;
                let short =
                    || Invalid::Short { key: format!("{key}-data"), found: bytes.len() as u64, needed: to };
                add(bytes.get(from as usize..to as usize).ok_or_else(short)?);
            }
        }
        _ => {}
    }
    Ok(())
}

/// Returns the lengths of some lists, and their items.
fn lists(lookup: &Lookup<'_>, form: &Form, rows: &Rows) -> Result<(Vec<u64>, Rows), Invalid> {
    let Form::List { key, .. } = form.kept() else {
        let size = form.kept().fixed().map_or(0, |(size, _)| size);
        let end = rows.end();
        end.checked_mul(size).ok_or(Invalid::Overflow { rows: end, each: size })?;
        let lengths = vec![size; rows.len() as usize];
        return Ok(match rows {
            Rows::Range(range) => (lengths, Rows::Range(range.start * size..range.end * size)),
            Rows::List(rows) => {
                (lengths, Rows::of(rows.iter().flat_map(|row| row * size..(row + 1) * size).collect()))
            }
        });
    };
    let offsets = offsets(lookup, key, rows.end())?;
    let mut lengths = Vec::with_capacity(rows.len() as usize);
    let mut all = Vec::new();
    for row in rows.iter() {
        let (from, to) = bounds(&offsets, key, row)?;
        lengths.push(to - from);
        if matches!(rows, Rows::List(_)) {
            all.extend(from..to);
        }
    }
    let inner = match rows {
        Rows::Range(range) if range.is_empty() => Rows::Range(0..0),
        Rows::Range(range) => {
            Rows::Range(bounds(&offsets, key, range.start)?.0..bounds(&offsets, key, range.end - 1)?.1)
        }
        Rows::List(_) => Rows::of(all),
    };
    Ok((lengths, inner))
}

fn offsets<'a>(lookup: &Lookup<'a>, key: &str, end: u64) -> Result<Cow<'a, [i64]>, Invalid> {
    let count = end.checked_add(1).ok_or(Invalid::Overflow { rows: end, each: 1 })?;
    lookup.integers(key, "offsets", if end == 0 { 0 } else { count })
}

fn bounds(offsets: &[i64], key: &str, row: u64) -> Result<(u64, u64), Invalid> {
    let at = |row: u64| offsets.get(row as usize).and_then(|offset| u64::try_from(*offset).ok());
    match (at(row), at(row + 1)) {
        (Some(from), Some(to)) if from <= to => Ok((from, to)),
        _ => Err(Invalid::Backwards { key: format!("{key}-offsets"), row }),
    }
}

/// Returns the rows of the content of an option that are present.
fn present(lookup: &Lookup<'_>, key: &str, rows: &Rows) -> Result<Rows, Invalid> {
    if lookup.column(key, "index", DType::Int64, rows.end())?.counts_up() {
        return Ok(rows.clone());
    }
    let index = lookup.integers(key, "index", rows.end())?;
    let there = rows.iter().filter_map(|row| index.get(row as usize).and_then(|at| u64::try_from(*at).ok()));
    Ok(Rows::of(there.collect()))
}

/// Returns the rows of each alternative of a union.
fn alternatives(lookup: &Lookup<'_>, key: &str, rows: &Rows, count: usize) -> Result<Vec<Rows>, Invalid> {
    let tags = lookup.column(key, "tags", DType::Int8, rows.end())?;
    let index = lookup.column(key, "index", DType::Int64, rows.end())?;
    let mut found: Vec<Vec<u64>> = vec![Vec::new(); count];
    for row in rows.iter() {
        let wrong = |part| Invalid::Range { key: format!("{key}-{part}"), row };
        let tag = tags.item::<i8>(row as usize).and_then(|tag| usize::try_from(tag).ok());
        let list = tag.and_then(|tag| found.get_mut(tag)).ok_or_else(|| wrong("tags"))?;
        let at = index.item::<i64>(row as usize).and_then(|at| u64::try_from(at).ok());
        list.push(at.ok_or_else(|| wrong("index"))?);
    }
    Ok(found.into_iter().map(Rows::of).collect())
}
