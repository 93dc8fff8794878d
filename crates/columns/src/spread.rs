//! Arrays of optional values: insertion of missing rows, and arrays without present rows.

use crate::lookup::Lookup;
use crate::text::texts;
use crate::{Array, Column, DType, Form, Invalid};

/// Key of the option that is added.
const KEY: &str = "missing";

impl Form {
    /// Wraps the Form in an option, unless it is one.
    #[must_use]
    pub fn optional(self) -> Self {
        if matches!(self, Self::Option { .. }) {
            return self;
        }
        let known = self.keys();
        let others = (2..).map(|number| format!("{KEY}{number}"));
        let mut keys = std::iter::once(KEY.to_owned()).chain(others);
        let key = keys.find(|key| !known.contains(key.as_str())).unwrap_or_default();
        Self::Option { key, content: Box::new(self) }
    }
}

impl Array {
    /// Distributes the rows, in order, to the positions where `there` is true; the others are missing. The
    /// Form becomes [`Form::optional`].
    ///
    /// # Errors
    /// [`Invalid::Range`] if the number of rows differs from that of true positions, and other [`Invalid`]
    /// for an array that contradicts itself.
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

    /// Wraps the array in an option without missing rows, unless it is an option.
    ///
    /// # Errors
    /// Errors of [`spread`](Self::spread).
    pub fn present(self) -> Result<Self, Invalid> {
        if matches!(self.form, Form::Option { .. }) {
            return Ok(self);
        }
        let rows = usize::try_from(self.length)
            .map_err(|_| Invalid::Range { key: "rows".into(), row: self.length })?;
        self.spread(&vec![true; rows])
    }

    /// Makes `length` missing rows of [`Form::optional`] of a Form.
    #[must_use]
    pub fn nulls(form: &Form, length: u64) -> Self {
        let mut nulls = Self::empty(form.clone().optional());
        if let Form::Option { key, .. } = &nulls.form {
            let name = format!("{key}-index");
            nulls.columns.retain(|(known, _)| *known != name);
            nulls.columns.push((name, Column::from_vec((0..length).map(|_| -1i64).collect())));
        }
        Self { length, ..nulls }
    }

    /// Makes an array without rows.
    #[must_use]
    pub fn empty(form: Form) -> Self {
        let mut columns = Vec::new();
        for node in form.nodes() {
            let mut add = |key: &str, part: &str, dtype| {
                // An empty column can be viewed as any type.
                let none = Column::from_slice::<u8>(&[]);
                columns.push((format!("{key}-{part}"), none.view(dtype).unwrap_or(none)));
            };
            match node {
                Form::Numpy { key, dtype, .. } => add(key, "data", *dtype),
                Form::String { key, .. } => add(key, "data", DType::UInt8),
                Form::Option { key, .. } => add(key, "index", DType::Int64),
                Form::Union { key, .. } => {
                    add(key, "tags", DType::Int8);
                    add(key, "index", DType::Int64);
                }
                Form::Categorical { key, categories } => {
                    add(key, "index", DType::Int32);
                    columns.extend(texts(key, categories));
                }
                Form::Empty
                | Form::List { .. }
                | Form::Regular { .. }
                | Form::Record { .. }
                | Form::Logical { .. } => {}
            }
            if let Form::String { key, .. } | Form::List { key, .. } = node {
                columns.push((format!("{key}-offsets"), Column::from_slice(&[0i64])));
            }
        }
        Self { form, length: 0, columns }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn nothing_but_missing_values_has_the_type_of_others() {
        let list = Form::List { key: "l".into(), content: Box::new(numbers("x").form) };
        let text = Form::String { key: "s".into(), binary: false };
        let record = Form::Record { fields: None, contents: vec![list, text.clone().optional()], name: None };
        for form in [record.clone(), record.optional(), text, Form::Empty] {
            let nulls = Array::nulls(&form, 2);
            assert_eq!(lines(&nulls), ["None", "None"]);
            assert_eq!(nulls.form, form.optional());
            assert_eq!(lines(&Array::nulls(&nulls.form, 0)), Vec::<String>::new());
        }
        let present = numbers("x").present().expect("present");
        assert_eq!(present.form, Array::nulls(&numbers("x").form, 1).form);
        assert_eq!(lines(&present.present().expect("again")), ["1", "2", "3"]);
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
