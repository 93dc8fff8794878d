//! Rows with missing values between them.

use crate::lookup::Lookup;
use crate::{Array, Column, Form, Invalid};
use std::collections::HashSet;

/// The buffer that says which values are there.
const KEY: &str = "missing";

impl Form {
    /// The same values, any of which may be missing.
    #[must_use]
    pub fn optional(self) -> Self {
        if matches!(self, Self::Option { .. }) {
            return self;
        }
        let mut known = HashSet::new();
        self.keys(&mut known);
        let others = (2..).map(|number| format!("{KEY}{number}"));
        let mut keys = std::iter::once(KEY.to_owned()).chain(others);
        let key = keys.find(|key| !known.contains(key.as_str())).unwrap_or_default();
        Self::Option { key, content: Box::new(self) }
    }
}

impl Array {
    /// The rows in their order where `there` is true, and missing values elsewhere; the Form is
    /// [`Form::optional`] of this one's.
    ///
    /// # Errors
    /// Not as many rows as are to be there, or an array that contradicts itself.
    pub fn spread(self, there: &[bool]) -> Result<Self, Invalid> {
        let count = there.iter().filter(|there| **there).count() as u64;
        if count != self.length {
            return Err(Invalid::Range { key: "rows".into(), row: count });
        }
        let mut row = 0usize;
        let mut next = |there: &bool| {
            let here = there.then_some(row);
            row += usize::from(*there);
            here
        };
        let length = there.len() as u64;
        let form = self.form.clone().optional();
        let Form::Option { key, .. } = &form else { return Err(Invalid::Unlike { key: String::new() }) };
        let name = format!("{key}-index");
        let index: Vec<i64> = if matches!(self.form, Form::Option { .. }) {
            let known = Lookup::of(&self).integers(key, "index", self.length)?.into_owned();
            there
                .iter()
                .map(|there| next(there).and_then(|row| known.get(row)).map_or(-1, |at| *at))
                .collect()
        } else {
            there.iter().map(|there| next(there).map_or(-1, |row| row as i64)).collect()
        };
        let mut columns: Vec<_> = self.columns.into_iter().filter(|(known, _)| *known != name).collect();
        columns.push((name, Column::from_vec(index)));
        Ok(Self { form, length, columns })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DType;

    fn numbers(key: &str) -> Array {
        Array {
            form: Form::Numpy { key: key.into(), dtype: DType::Int32, shape: vec![] },
            length: 3,
            columns: vec![(format!("{key}-data"), Column::from_slice(&[1i32, 2, 3]))],
        }
    }

    fn lines(array: &Array) -> Vec<String> {
        array.validate().expect("valid");
        let lines = array.preview(0..array.length, 60).lines().expect("lines");
        lines.into_iter().map(|line| line.to_string()).collect()
    }

    #[test]
    fn rows_are_spread_among_missing_ones() {
        for key in ["x", "missing"] {
            let once = numbers(key).spread(&[false, true, true, false, true]).expect("spread");
            assert_eq!(lines(&once), ["None", "1", "2", "None", "3"]);
            let twice = once.spread(&[true, true, false, true, true, true]).expect("spread again");
            assert_eq!(lines(&twice), ["None", "1", "None", "2", "None", "3"]);
            assert_eq!(twice.form.type_string(), "?int32");
        }
        assert_eq!(lines(&numbers("x").spread(&[true; 3]).expect("all")), ["1", "2", "3"]);
    }

    #[test]
    fn the_number_of_rows_has_to_be_right() {
        assert!(numbers("x").spread(&[true, true]).is_err());
        assert!(numbers("x").spread(&[true; 4]).is_err());
        let mut bad = numbers("x").spread(&[true, false, true, true]).expect("spread");
        bad.columns.retain(|(name, _)| !name.ends_with("-index"));
        assert!(bad.spread(&[true; 4]).is_err());
    }
}
