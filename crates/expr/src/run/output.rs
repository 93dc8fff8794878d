//! From registers to arrays.

use super::{Run, input::Prepared};
use crate::{
    buffer::Buffer,
    program::{CONSTANT, Output, Program, Space, SpaceId},
};
use forthwith_columns::{Array, Column, DType};
use std::ops::Range;

/// The values that were computed so far.
pub(super) struct Outputs<'p> {
    program: &'p Program,
    made: Vec<Made>,
    length: usize,
}

/// One expression's values.
struct Made {
    data: Buffer,
    valid: Vec<u8>,
    /// The offsets of each level that has any.
    levels: Vec<Level>,
}

enum Level {
    /// They are those of a column.
    Column(Column),
    /// They come with the values.
    Growing(Vec<i64>),
    None,
}

impl<'p> Outputs<'p> {
    /// `whole` are the items of each space in all entries.
    pub(super) fn new(
        program: &'p Program,
        inputs: &[Prepared<'_>],
        whole: &[Range<usize>],
        length: usize,
    ) -> Self {
        let made = program.outputs.iter().map(|output| match output {
            Output::Column(_) => Made { data: Buffer::UInt8(vec![]), valid: vec![], levels: vec![] },
            Output::Numbers { dtype, path, .. } => {
                let deepest = path.last().map_or(length, |space| whole[*space as usize].len());
                let levels = path.iter().map(|space| level(program, inputs, whole, *space)).collect();
                Made { data: Buffer::new(*dtype, deepest), valid: Vec::new(), levels }
            }
        });
        Self { program, made: made.collect(), length }
    }

    /// Takes over what was computed of some entries.
    pub(super) fn append(&mut self, run: &Run<'_>) {
        for (made, output) in self.made.iter_mut().zip(&self.program.outputs) {
            let Output::Numbers { values, valid, path, .. } = output else { continue };
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
            for (level, space) in made.levels.iter_mut().zip(path) {
                if let Level::Growing(offsets) = level {
                    let base = offsets.last().copied().unwrap_or(0);
                    offsets.extend(run.kept[*space as usize].iter().skip(1).map(|end| base + end));
                }
            }
        }
    }

    pub(super) fn finish(self, columns: &[&Array]) -> Vec<Array> {
        let length = self.length as u64;
        let mut arrays = Vec::with_capacity(self.made.len());
        for (made, output) in self.made.into_iter().zip(&self.program.outputs) {
            arrays.push(match output {
                // As many as there are inputs were given.
                Output::Column(input) => columns[*input as usize].clone(),
                Output::Numbers { dtype, valid, path, .. } => {
                    let form = self.program.numbers_form(*dtype, valid.is_some(), path);
                    array(form, made, *dtype, valid.is_some(), length)
                }
            });
        }
        arrays
    }
}

fn array(form: forthwith_columns::Form, made: Made, dtype: DType, lacking: bool, length: u64) -> Array {
    let mut columns = Vec::new();
    let deepest = made.levels.len();
    for (at, level) in made.levels.into_iter().enumerate() {
        let key = format!("node{at}-offsets");
        match level {
            Level::Column(column) => columns.push((key, column)),
            Level::Growing(offsets) => columns.push((key, Column::from_vec(offsets))),
            Level::None => {}
        }
    }
    columns.push((format!("node{deepest}-data"), made.data.into_column(dtype)));
    if lacking {
        let index = made.valid.iter().enumerate().map(|(at, valid)| if *valid != 0 { at as i64 } else { -1 });
        columns.push((format!("node{}-index", deepest + 1), Column::from_vec(index.collect())));
    }
    Array { form, length, columns }
}

fn level(program: &Program, inputs: &[Prepared<'_>], whole: &[Range<usize>], space: SpaceId) -> Level {
    match &program.spaces[space as usize] {
        Space::Lists { parent, input, level } => {
            let range = whole[*parent as usize].clone();
            let levels = &inputs[*input as usize].levels;
            let Some(Some(offsets)) = levels.get(*level as usize) else { return Level::None };
            let wanted = &offsets.items[range.start..=range.end];
            match wanted.first() {
                Some(0) => Level::Column(offsets.column.slice(range.start..range.end + 1)),
                first => {
                    let first = first.copied().unwrap_or(0);
                    Level::Column(Column::from_vec(wanted.iter().map(|end| end - first).collect()))
                }
            }
        }
        Space::Kept { .. } => Level::Growing(vec![0]),
        Space::Regular { .. } | Space::Constant | Space::Entries => Level::None,
    }
}

/// The rows of a column of booleans that are true: a missing one is not. `None` if it is no such column.
#[must_use]
pub fn holding(array: &Array) -> Option<Vec<u64>> {
    use forthwith_columns::Form;
    let (form, index) = match &array.form {
        Form::Option { key, content } => (&**content, Some(array.column(&format!("{key}-index"))?.as_i64()?)),
        other => (other, None),
    };
    let Form::Numpy { key, dtype: DType::Bool, shape } = form else { return None };
    if !shape.is_empty() {
        return None;
    }
    let data = array.column(&format!("{key}-data"))?.as_bytes();
    let holds = |row: usize| data.get(row).is_some_and(|byte| *byte != 0);
    let length = usize::try_from(array.length).ok()?;
    let rows = (0..length).filter(|row| match index {
        None => holds(*row),
        Some(index) => index.get(*row).and_then(|at| usize::try_from(*at).ok()).is_some_and(holds),
    });
    Some(rows.map(|row| row as u64).collect())
}
