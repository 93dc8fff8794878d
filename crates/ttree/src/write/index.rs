//! Index of a tree: its entries sorted by one or two columns of integers.

use super::{
    TreeIndex,
    branch::Step,
    mapping::Branches,
    offsets::{Place, at},
    spelling::is_whole,
    without_nulls::changed,
};
use crate::copy::write_index;
use forthwith_columns::{Array, Form};
use forthwith_plan::{Error, Result};
use forthwith_root::write::Buffer;

/// Builder of an index, with the numbers of each entry.
#[derive(Debug)]
pub(super) struct Index {
    names: TreeIndex,
    major: usize,
    minor: Option<usize>,
    values: Vec<(i64, i64)>,
}

impl Index {
    /// Returns an empty index over columns with these names.
    ///
    /// # Errors
    /// Returns an error if a column does not exist or does not have one integer for each entry.
    pub(super) fn of(names: &TreeIndex, columns: &[(String, Form)]) -> Result<Self> {
        let column = |name: &str| {
            let Some(at) = columns.iter().position(|(column, _)| column == name) else {
                let what = format!("an index by the column {name:?}, which does not exist");
                return Err(Error::invalid(what));
            };
            let form = &columns[at].1;
            if !is_whole(form) {
                let what =
                    format!("an index of {}: it has a whole number for each entry", form.type_string());
                return Err(Error::unsupported(what).in_object(name));
            }
            Ok(at)
        };
        let major = column(&names.major)?;
        let minor = names.minor.as_deref().map(column).transpose()?;
        Ok(Self { names: names.clone(), major, minor, values: Vec::new() })
    }

    /// Appends the entries of a step, which begins at entry `begin`.
    ///
    /// # Errors
    /// Returns an error if a number exceeds `int64`.
    pub(super) fn extend(&mut self, arrays: &[Array], begin: u64) -> Result<()> {
        let whole = |column: usize, name: &str| -> Result<Vec<i64>> {
            let rows = numbers(&arrays[column])?.into_iter().enumerate();
            let row = rows.map(|(row, number)| {
                let what = "a number in an index that is beyond int64";
                let error = || Error::unsupported(what).in_object(name).at_entry(begin + row as u64);
                number.ok_or_else(error)
            });
            row.collect()
        };
        let majors = whole(self.major, &self.names.major)?;
        match (self.minor, &self.names.minor) {
            (Some(column), Some(name)) => {
                self.values.extend(majors.into_iter().zip(whole(column, name)?));
            }
            _ => self.values.extend(majors.into_iter().map(|major| (major, 0))),
        }
        Ok(())
    }

    /// Returns the major and minor number of each entry.
    pub(super) fn into_values(self) -> Vec<(i64, i64)> {
        self.values
    }

    /// Writes a `TTreeIndex` as an object of the tree. C++ ROOT evaluates its names as formulas, so they are
    /// those of leaves.
    pub(super) fn write(&self, b: &mut Buffer, branches: &Branches) {
        let numbered = self.values.iter().zip(0..);
        let values = numbered.map(|(&(major, minor), entry)| (major, minor, entry)).collect();
        // ROOT's spelling of a missing column.
        let minor = self.names.minor.as_deref().map_or("0", |minor| branches.leaf_name(minor));
        write_index(b, branches.leaf_name(&self.names.major), minor, values);
    }
}

/// Returns the integers of a column, with `None` for those beyond `int64`.
pub(super) fn numbers(array: &Array) -> Result<Vec<Option<i64>>> {
    numbers_at(array, &[])
}

/// Returns the integers at the end of a path, with `None` for those beyond `int64`.
pub(super) fn numbers_at(array: &Array, path: &[Step]) -> Result<Vec<Option<i64>>> {
    let Place { form, rows, .. } = at(array, path)?;
    let Form::Numpy { key, .. } = form else { return Err(changed()) };
    let column = array.column(&format!("{key}-data")).ok_or_else(changed)?;
    let rows = usize::try_from(rows).ok().filter(|rows| *rows <= column.len()).ok_or_else(changed)?;
    let number = |row| Ok(i64::try_from(column.integer(row).ok_or_else(changed)?).ok());
    (0..rows).map(number).collect()
}
