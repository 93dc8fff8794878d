//! Columns that are filled with the values of cells.

use crate::{
    plain::Cell,
    types::{CellType, boolean, day, float, integer, moment, time, unsigned},
};
use forthwith_columns::{Column, DType, Form};
use forthwith_plan::Error;
use serde::{Deserialize, Serialize};

/// A requested column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Requested {
    /// Index of its cell in a record.
    pub at: usize,
    pub name: String,
    #[serde(rename = "type")]
    pub cell_type: CellType,
    pub is_optional: bool,
}

impl Requested {
    /// Returns the Form of the column.
    pub(crate) fn form(&self) -> Form {
        self.cell_type.form(self.at, self.is_optional)
    }
}

/// A column that is being filled.
pub(crate) struct Filled {
    values: Values,
    /// Index of an optional column: the position of the value of each row, or -1.
    index: Option<Vec<i64>>,
    present: i64,
}

/// Values of a column, by their type.
enum Values {
    Bools(Vec<u8>),
    Integers(Vec<i64>),
    Unsigned(Vec<u64>),
    Floats(Vec<f64>),
    Days(Vec<i32>),
    Texts { offsets: Vec<i64>, bytes: Vec<u8> },
}

/// A cell that is not valid for the type of its column.
pub(crate) struct Misfit {
    /// Index of the cell among those passed to [`Filled::extend`].
    pub row: u64,
    text: Vec<u8>,
}

impl Misfit {
    /// Returns the error of this cell.
    pub(crate) fn error(&self, column: &Requested) -> Error {
        let text = String::from_utf8_lossy(&self.text[..self.text.len().min(40)]);
        let what = match column.cell_type {
            CellType::String => format!("{text:?} is not valid UTF-8"),
            other => format!("{text:?} is not of type {}", other.name()),
        };
        Error::fault(what).in_object(&column.name)
    }
}

impl Filled {
    pub(crate) fn new(column: &Requested) -> Self {
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

    /// Appends the values of cells.
    pub(crate) fn extend<'a>(
        &mut self,
        cells: impl IntoIterator<Item = Cell<'a>>,
        column: &Requested,
    ) -> Result<(), Misfit> {
        let presence = &mut Presence { index: self.index.as_mut(), present: &mut self.present };
        let cells = cells.into_iter();
        match (&mut self.values, column.cell_type) {
            (Values::Bools(to), _) => parsed(cells, presence, to, |cell| boolean(cell).map(u8::from)),
            (Values::Integers(to), CellType::Timestamp { nano, utc }) => {
                parsed(cells, presence, to, |cell| time(moment(cell)?, nano, utc))
            }
            (Values::Integers(to), _) => parsed(cells, presence, to, integer),
            (Values::Unsigned(to), _) => parsed(cells, presence, to, unsigned),
            (Values::Floats(to), _) => parsed(cells, presence, to, |cell| {
                // Columns of floats may contain integers.
                float(cell).or_else(|| integer(cell).map(|value| value as f64))
            }),
            (Values::Days(to), _) => parsed(cells, presence, to, |cell| day(moment(cell)?)),
            (Values::Texts { offsets, bytes }, _) => texts(cells, presence, offsets, bytes),
        }
    }

    pub(crate) fn finish(self, at: usize) -> Vec<(String, Column)> {
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

/// Index of the present cells of a column, and their number.
struct Presence<'a> {
    index: Option<&'a mut Vec<i64>>,
    present: &'a mut i64,
}

impl Presence<'_> {
    /// Adds a cell to the index. Returns whether it has a value; always `true` for columns that are not
    /// optional.
    #[inline]
    fn take(&mut self, is_missing: bool) -> bool {
        if let Some(index) = &mut self.index {
            index.push(if is_missing { -1 } else { *self.present });
            if is_missing {
                return false;
            }
        }
        *self.present += 1;
        true
    }

    /// Returns the number of cells.
    fn rows(&self) -> u64 {
        self.index.as_ref().map_or(*self.present as u64, |index| index.len() as u64)
    }

    /// Returns the index of the cell of a value.
    fn row_of(&self, value: usize) -> u64 {
        let row = self.index.as_ref().and_then(|index| index.iter().position(|at| *at == value as i64));
        row.unwrap_or(value) as u64
    }
}

/// Parses the cells that are not missing.
#[inline]
fn parsed<'a, T>(
    cells: impl Iterator<Item = Cell<'a>>,
    presence: &mut Presence<'_>,
    to: &mut Vec<T>,
    parse: impl Fn(&[u8]) -> Option<T>,
) -> Result<(), Misfit> {
    for (row, cell) in (0..).zip(cells) {
        // A quoted empty cell is missing, too.
        if presence.take(cell.text.is_empty()) {
            to.push(parse(cell.text).ok_or_else(|| Misfit { row, text: cell.text.to_vec() })?);
        }
    }
    Ok(())
}

/// Appends texts and validates them after copying: their concatenation has to be UTF-8, and none may start
/// within a character.
fn texts<'a>(
    cells: impl Iterator<Item = Cell<'a>>,
    presence: &mut Presence<'_>,
    offsets: &mut Vec<i64>,
    bytes: &mut Vec<u8>,
) -> Result<(), Misfit> {
    let (first, begin, row) = (offsets.len(), bytes.len(), presence.rows());
    for cell in cells {
        if presence.take(cell.is_missing()) {
            bytes.extend_from_slice(cell.text);
            offsets.push(bytes.len() as i64);
        }
    }
    let added = &bytes[begin..];
    let text = std::str::from_utf8(added).unwrap_or_default();
    let ends = offsets[first..].iter().map(|end| *end as usize - begin);
    if text.len() == added.len() && ends.clone().all(|end| text.is_char_boundary(end)) {
        return Ok(());
    }
    let mut start = 0;
    for (text, end) in (first - 1..).zip(ends) {
        if std::str::from_utf8(&added[start..end]).is_err() {
            return Err(Misfit { row: presence.row_of(text) - row, text: added[start..end].to_vec() });
        }
        start = end;
    }
    Ok(())
}
