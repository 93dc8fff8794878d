//! Conversion of registers to arrays.

use super::{input::Prepared, state::Run};
use crate::{
    buffer::Buffer,
    program::{CONSTANT, Output, Program, Space, SpaceId},
};
use forthwith_columns::{Array, Column, DType, Form};
use std::ops::Range;

/// The values that were computed so far.
pub(super) struct Outputs<'p> {
    program: &'p Program,
    /// The program whose Forms the arrays have: `program` itself, or the general program if `program` is its
    /// variant for inputs without missing values.
    promised: &'p Program,
    made: Vec<Made>,
}

/// Values of one expression.
struct Made {
    data: Buffer,
    valid: Vec<u8>,
    /// Offsets of each level of lists.
    levels: Vec<Level>,
    /// Validity of the lists of each level, if they are optional.
    there: Vec<Vec<u8>>,
}

enum Level {
    /// The offsets are those of a column.
    Column(Column),
    /// The offsets are computed with the values.
    Growing(Vec<i64>),
    None,
}

impl<'p> Outputs<'p> {
    /// Creates empty outputs. `rows` are the items of each space in all entries, for capacities.
    pub(super) fn new(program: &'p Program, promised: &'p Program, rows: &[Range<usize>]) -> Self {
        let made = program.outputs.iter().map(|output| match output {
            Output::Column(_) => {
                Made { data: Buffer::UInt8(vec![]), valid: vec![], levels: vec![], there: vec![] }
            }
            Output::Numbers { dtype, path, .. } => {
                let outermost = rows[crate::program::ENTRIES as usize].len();
                let deepest = path.last().map_or(outermost, |space| rows[*space as usize].len());
                let level = |space: &SpaceId| match program.spaces[*space as usize] {
                    Space::Kept { .. } | Space::Flat { .. } => Level::Growing(vec![0]),
                    _ => Level::None,
                };
                let levels = path.iter().map(level).collect();
                let there = vec![Vec::new(); path.len()];
                Made { data: Buffer::new(*dtype, deepest), valid: Vec::new(), levels, there }
            }
        });
        Self { program, promised, made: made.collect() }
    }

    /// Appends the values of the following entries.
    pub(super) fn extend(&mut self, others: Self) {
        for (made, other) in self.made.iter_mut().zip(others.made) {
            made.data.extend(other.data.slice());
            made.valid.extend(other.valid);
            for (there, other) in made.there.iter_mut().zip(other.there) {
                there.extend(other);
            }
            for (level, other) in made.levels.iter_mut().zip(other.levels) {
                if let (Level::Growing(offsets), Level::Growing(other)) = (level, other) {
                    append(offsets, &other);
                }
            }
        }
    }

    /// Appends the values of the entries that were just computed.
    pub(super) fn append(&mut self, run: &Run<'_>) {
        for (made, output) in self.made.iter_mut().zip(&self.program.outputs) {
            let Output::Numbers { values, valid, path, lists, .. } = output else { continue };
            let space = self.program.steps[*values as usize].space;
            let slice = run.numbers(*values).slice();
            if space == CONSTANT {
                made.data.repeat(slice, run.ranges[crate::program::ENTRIES as usize].len());
                continue;
            }
            made.data.extend(slice);
            if let Some(valid) = valid {
                made.valid.extend_from_slice(run.booleans(*valid));
            }
            for (there, register) in made.there.iter_mut().zip(lists) {
                if let Some(register) = register {
                    there.extend_from_slice(run.booleans(*register));
                }
            }
            for (level, space) in made.levels.iter_mut().zip(path) {
                if let Level::Growing(offsets) = level {
                    append(offsets, &run.kept[*space as usize]);
                }
            }
        }
    }

    /// Returns the arrays. `whole` are the items of each space in all entries.
    pub(super) fn finish(
        self,
        columns: &[&Array],
        inputs: &[Prepared<'_>],
        whole: &[Range<usize>],
        length: usize,
    ) -> Vec<Array> {
        let mut arrays = Vec::with_capacity(self.made.len());
        let outputs = self.program.outputs.iter().zip(&self.promised.outputs);
        for (mut made, (output, promised)) in self.made.into_iter().zip(outputs) {
            if let Output::Numbers { path, .. } = output {
                for (found, space) in made.levels.iter_mut().zip(path) {
                    if let Level::None = found {
                        *found = level(self.program, inputs, whole, *space);
                    }
                }
            }
            arrays.push(match promised {
                // The number of columns is that of the inputs, which was checked.
                Output::Column(input) => columns[*input as usize].clone(),
                Output::Numbers { .. } => array(self.promised, promised, made, length),
            });
        }
        arrays
    }
}

/// Appends the offsets of further lists.
fn append(offsets: &mut Vec<i64>, more: &[i64]) {
    let base = offsets.last().copied().unwrap_or(0);
    offsets.extend(more.iter().skip(1).map(|end| base + end));
}

fn array(program: &Program, output: &Output, made: Made, length: usize) -> Array {
    let Output::Numbers { dtype, valid, path, lists, .. } = output else {
        return Array { form: Form::Empty, length: 0, columns: Vec::new() };
    };
    let form = program.numbers_form(*dtype, valid.is_some(), path, lists);
    let (mut columns, mut rows) = (Vec::new(), length);
    let deepest = path.len();
    for (at, level) in made.levels.into_iter().enumerate() {
        if lists.get(at).is_some_and(Option::is_some) {
            let there = made.there.get(at).map_or(&[][..], Vec::as_slice);
            columns.push((format!("node{}-index", deepest + 2 + at), index(there, rows)));
        }
        let offsets = match level {
            Level::Column(column) => column,
            Level::Growing(offsets) => Column::from_vec(offsets),
            Level::None => {
                if let Space::Regular { size, .. } = program.spaces[path[at] as usize] {
                    rows *= size as usize;
                }
                continue;
            }
        };
        rows = offsets.item::<i64>(rows).map_or(0, |end| end as usize);
        columns.push((format!("node{at}-offsets"), offsets));
    }
    columns.push((format!("node{deepest}-data"), made.data.into_column(*dtype)));
    if valid.is_some() {
        columns.push((format!("node{}-index", deepest + 1), index(&made.valid, rows)));
    }
    Array { form, length: length as u64, columns }
}

/// Returns the index of an option from the validity of its rows, where valid rows refer to themselves. Rows
/// without known validity are valid.
fn index(there: &[u8], rows: usize) -> Column {
    let place = |row: usize| match there.get(row) {
        Some(0) => -1,
        _ => row as i64,
    };
    Column::from_vec((0..rows).map(place).collect())
}

fn level(program: &Program, inputs: &[Prepared<'_>], whole: &[Range<usize>], space: SpaceId) -> Level {
    match &program.spaces[space as usize] {
        Space::Lists { parent, input, level } => {
            let range = whole[*parent as usize].clone();
            let levels = &inputs[*input as usize].levels;
            let Some(Some(offsets)) = levels.get(*level as usize) else { return Level::None };
            let wanted = &offsets.items[range.start..=range.end];
            match (wanted.first(), offsets.column) {
                (Some(0), Some(column)) => Level::Column(column.slice(range.start..range.end + 1)),
                (first, _) => {
                    let first = first.copied().unwrap_or(0);
                    Level::Column(Column::from_vec(wanted.iter().map(|end| end - first).collect()))
                }
            }
        }
        Space::Kept { .. }
        | Space::Flat { .. }
        | Space::Regular { .. }
        | Space::Constant
        | Space::Entries => Level::None,
    }
}

/// Returns the ranges of rows in which a boolean column is true. Missing values are not true. Returns `None`
/// for columns of other types.
#[must_use]
pub fn holding(array: &Array) -> Option<Vec<Range<u64>>> {
    let (form, index) = match &array.form {
        Form::Option { key, content } => (&**content, Some(array.column(&format!("{key}-index"))?.as_i64()?)),
        other => (other, None),
    };
    let Form::Numpy { key, dtype: DType::Bool, shape } = form else { return None };
    if !shape.is_empty() {
        return None;
    }
    let length = usize::try_from(array.length).ok()?;
    let data = array.column(&format!("{key}-data"))?.as_bytes();
    Some(match index {
        None => runs(data.iter().take(length).map(|byte| *byte != 0)),
        Some(index) => {
            let holds =
                |at: &i64| usize::try_from(*at).is_ok_and(|at| data.get(at).is_some_and(|byte| *byte != 0));
            runs(index.iter().take(length).map(holds))
        }
    })
}

/// Returns the ranges of consecutive rows that are true.
fn runs(rows: impl Iterator<Item = bool>) -> Vec<Range<u64>> {
    let mut found: Vec<Range<u64>> = Vec::new();
    let (mut before, mut end) = (false, 0);
    for (row, holds) in (0..).zip(rows) {
        end = row + 1;
        if holds != before {
            match found.last_mut() {
                Some(last) if before => last.end = row,
                _ => found.push(row..row),
            }
            before = holds;
        }
    }
    if before && let Some(last) = found.last_mut() {
        last.end = end;
    }
    found
}
