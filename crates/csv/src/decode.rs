//! Decoding of the requested columns of a block of records.

use crate::{
    cells::Records,
    fill::{Filled, Requested},
    plain::Plain,
};
use forthwith_columns::{Array, Form};
use forthwith_plan::{
    BlockColumns, BlockFormat, Columns, Decoder, Error, Group, Result, Scratch, Task, append,
};
use serde::{Deserialize, Serialize};

/// The [`BlockFormat`] of CSV files, whose blocks are sequences of records.
#[derive(Clone, Copy, Debug, Default)]
pub struct CsvFormat;

/// Number of records that are divided before their cells are parsed, so that these are still in the
/// processor's caches.
const FEW: usize = 1 << 10;

/// Description of the requested columns in a plan, by which blocks are decoded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Recipe {
    pub separator: u8,
    /// Number of cells of a record.
    pub width: usize,
    /// The requested columns.
    pub columns: Vec<Requested>,
}

impl Recipe {
    /// Returns the Form of a record of all requested columns.
    pub(crate) fn form(&self) -> Form {
        Form::Record {
            fields: Some(self.columns.iter().map(|column| column.name.clone()).collect()),
            contents: self.columns.iter().map(Requested::form).collect(),
            name: None,
        }
    }

    fn decode(&self, text: &[u8], first: u64) -> Result<Array> {
        let mut records = Records::new(self.separator);
        records.take_empty_lines(self.width == 1);
        let mut filled: Vec<Filled> = self.columns.iter().map(Filled::new).collect();
        let mut plain = Plain::new(self.width);
        let mut rows = 0;
        for piece in [text, &[]] {
            let mut at = 0;
            records.begin(piece);
            loop {
                at = records.read_plain(piece, at, FEW, &mut plain);
                self.fill(&mut filled, piece, &plain, first + rows)?;
                rows += plain.len() as u64;
                if plain.len() == FEW {
                    continue;
                }
                let (next, complete) = records.read(piece, at)?;
                at = next;
                if !complete {
                    break;
                }
                let record = records.record(piece);
                let here = |error: Error| error.at_entry(first + rows);
                if record.len() != self.width {
                    let (expected, found) = (self.width as u64, record.len() as u64);
                    return Err(here(Error::mismatch("the number of cells", expected, found)));
                }
                for (filled, column) in filled.iter_mut().zip(&self.columns) {
                    let added = filled.extend([record.cell(column.at)], column);
                    added.map_err(|misfit| here(misfit.error(column)))?;
                }
                rows += 1;
                records.clear();
            }
        }
        let columns =
            filled.into_iter().zip(&self.columns).flat_map(|(filled, column)| filled.finish(column.at));
        Ok(Array { form: self.form(), length: rows, columns: columns.collect() })
    }

    /// Appends the cells of plain records, column by column. Returns the error of the first invalid record.
    fn fill(&self, filled: &mut [Filled], piece: &[u8], plain: &Plain, first: u64) -> Result<()> {
        let misfits = filled.iter_mut().zip(&self.columns).filter_map(|(filled, column)| {
            let cells = plain.column(piece, 0..plain.len(), column.at);
            filled.extend(cells, column).err().map(|misfit| (misfit, column))
        });
        match misfits.min_by_key(|(misfit, _)| misfit.row) {
            None => Ok(()),
            Some((misfit, column)) => Err(misfit.error(column).at_entry(first + misfit.row)),
        }
    }
}

impl BlockFormat for CsvFormat {
    fn id(&self) -> &'static str {
        "csv"
    }

    fn unit(&self) -> &'static str {
        "block of records"
    }

    fn decode(
        &self,
        group: &Group,
        task: &Task,
        stored: &[u8],
        _: &mut Scratch,
        columns: &mut dyn Columns,
    ) -> Result<()> {
        let Decoder::Format(text) = &group.decoder else { return Err(foreign()) };
        let recipe: Recipe = serde_json::from_str(text).map_err(|_| foreign())?;
        let parts = BlockColumns::of(&group.form);
        if recipe.form() != group.form || !parts.specs().eq(&group.columns) {
            return Err(foreign());
        }
        let array = recipe.decode(stored, task.entries.start)?;
        let expected = task.entries.end.saturating_sub(task.entries.start);
        if array.length != expected {
            return Err(Error::fault(format!("a block of {expected} records has {} now", array.length)));
        }
        let first = task.entries.start;
        let rows = task.wanted.start.saturating_sub(first)..task.wanted.end.saturating_sub(first);
        let part = array.part(rows).map_err(|error| Error::fault(error.to_string()))?;
        append(&part, &parts, columns)?.map_err(Error::fault)
    }
}

fn foreign() -> Error {
    Error::invalid("the plan is not one of CSV")
}
