//! Decoding: some columns of a block of records.

use crate::{
    cells::{Cell, Records},
    types::{CellType, boolean, day, float, integer, moment, time, unsigned},
};
use forthwith_columns::{Array, Column, DType, Form};
use forthwith_plan::{
    BlockColumns, BlockFormat, Columns, Decoder, Error, Group, Result, Scratch, Task, append,
};
use serde::{Deserialize, Serialize};

/// The [`BlockFormat`] of CSV files: a block is a number of records.
#[derive(Clone, Copy, Debug, Default)]
pub struct CsvFormat;

/// The part of a plan that tells how blocks are decoded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Recipe {
    pub separator: u8,
    /// Cells of a record.
    pub width: usize,
    /// The requested columns.
    pub columns: Vec<Requested>,
}

/// A column of which cells are read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Requested {
    /// Its number among the cells of a record.
    pub at: usize,
    pub name: String,
    #[serde(rename = "type")]
    pub cell_type: CellType,
    pub is_optional: bool,
}

impl Requested {
    /// The Form of the column.
    pub(crate) fn form(&self) -> Form {
        self.cell_type.form(self.at, self.is_optional)
    }
}

impl Recipe {
    /// The record of all requested columns.
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
        let mut rows = 0;
        for piece in [text, &[]] {
            let mut at = 0;
            records.begin(piece);
            loop {
                let (next, complete) = records.read(piece, at)?;
                at = next;
                if !complete {
                    break;
                }
                let record = records.record(piece);
                if record.len() != self.width {
                    let (expected, found) = (self.width as u64, record.len() as u64);
                    return Err(
                        Error::mismatch("the number of cells", expected, found).at_entry(first + rows)
                    );
                }
                for (filled, column) in filled.iter_mut().zip(&self.columns) {
                    filled
                        .push(record.cell(column.at), column)
                        .map_err(|error| error.at_entry(first + rows))?;
                }
                rows += 1;
                records.clear();
            }
        }
        let columns =
            filled.into_iter().zip(&self.columns).flat_map(|(filled, column)| filled.finish(column.at));
        Ok(Array { form: self.form(), length: rows, columns: columns.collect() })
    }
}

/// Values of a column.
enum Values {
    Bools(Vec<u8>),
    Integers(Vec<i64>),
    Unsigned(Vec<u64>),
    Floats(Vec<f64>),
    Days(Vec<i32>),
    Texts { offsets: Vec<i64>, bytes: Vec<u8> },
}

/// A column that is being filled.
struct Filled {
    values: Values,
    /// For optional columns, where the value of each row is, or -1.
    index: Option<Vec<i64>>,
    present: i64,
}

impl Filled {
    fn new(column: &Requested) -> Self {
        let values = match column.cell_type {
            CellType::Bool => Values::Bools(Vec::new()),
            CellType::Int64 | CellType::Timestamp { .. } => Values::Integers(Vec::new()),
            CellType::UInt64 => Values::Unsigned(Vec::new()),
            CellType::Float64 => Values::Floats(Vec::new()),
            CellType::Date => Values::Days(Vec::new()),
            CellType::String => Values::Texts { offsets: vec![0], bytes: Vec::new() },
        };
        Self { values, index: column.is_optional.then(Vec::new), present: 0 }
    }

    fn push(&mut self, cell: Cell<'_>, column: &Requested) -> Result<()> {
        let is_missing = column.cell_type.is_missing(cell);
        let cell = cell.text;
        if let Some(index) = &mut self.index {
            index.push(if is_missing { -1 } else { self.present });
            if is_missing {
                return Ok(());
            }
        }
        self.present += 1;
        let done = match (&mut self.values, column.cell_type) {
            (Values::Bools(to), _) => boolean(cell).map(|value| to.push(value.into())),
            (Values::Integers(to), CellType::Timestamp { nano, utc }) => {
                moment(cell).and_then(|moment| time(moment, nano, utc)).map(|value| to.push(value))
            }
            (Values::Integers(to), _) => integer(cell).map(|value| to.push(value)),
            (Values::Unsigned(to), _) => unsigned(cell).map(|value| to.push(value)),
            (Values::Floats(to), _) => {
                // Whole numbers among floats.
                float(cell).or_else(|| integer(cell).map(|value| value as f64)).map(|value| to.push(value))
            }
            (Values::Days(to), _) => moment(cell).and_then(day).map(|value| to.push(value)),
            (Values::Texts { offsets, bytes }, _) => std::str::from_utf8(cell).ok().map(|text| {
                bytes.extend_from_slice(text.as_bytes());
                offsets.push(bytes.len() as i64);
            }),
        };
        done.ok_or_else(|| {
            let text = String::from_utf8_lossy(&cell[..cell.len().min(40)]).into_owned();
            let what = match column.cell_type {
                CellType::String => format!("{text:?} is not valid UTF-8"),
                other => format!("{text:?} is not of type {}", other.name()),
            };
            Error::fault(what).in_object(&column.name)
        })
    }

    fn finish(self, at: usize) -> Vec<(String, Column)> {
        let index = self.index.map(|index| (format!("o{at}-index"), Column::from_vec(index)));
        let data = format!("c{at}-data");
        let mut columns: Vec<_> = index.into_iter().collect();
        match self.values {
            Values::Bools(bytes) => columns.push((data, Column::from_bytes(DType::Bool, bytes.into()))),
            Values::Integers(items) => columns.push((data, Column::from_vec(items))),
            Values::Unsigned(items) => columns.push((data, Column::from_vec(items))),
            Values::Floats(items) => columns.push((data, Column::from_vec(items))),
            Values::Days(items) => columns.push((data, Column::from_vec(items))),
            Values::Texts { offsets, bytes } => {
                columns.push((format!("c{at}-offsets"), Column::from_vec(offsets)));
                columns.push((data, Column::from_vec(bytes)));
            }
        }
        columns
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
