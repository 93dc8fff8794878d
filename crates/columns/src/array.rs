//! An array: a Form with its columns.

use crate::{Column, Form, Invalid};
use std::collections::HashMap;

/// Columns and the [`Form`] that describes their structure: the arguments of `ak.from_buffers`.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// The structure.
    pub form: Form,
    /// Number of rows.
    pub length: u64,
    /// The buffers by name: `node0-offsets`, `node1-data`.
    pub columns: Vec<(String, Column)>,
}

impl Array {
    /// Returns the buffer named `key`, or `None` if it is missing.
    #[must_use]
    pub fn column(&self, key: &str) -> Option<&Column> {
        self.columns.iter().find(|(name, _)| name == key).map(|(_, column)| column)
    }

    /// Splits a record into one array for each field; any other array is returned as the only one. Columns
    /// are shared, not copied.
    #[must_use]
    pub fn into_fields(self) -> Vec<Self> {
        let Form::Record { contents, .. } = &self.form else { return vec![self] };
        let mut fields_of: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, form) in contents.iter().enumerate() {
            for key in form.keys() {
                fields_of.entry(key).or_default().push(at);
            }
        }
        let of = |form: &Form| Self { form: form.clone(), length: self.length, columns: Vec::new() };
        let mut fields: Vec<Self> = contents.iter().map(of).collect();
        for (name, column) in &self.columns {
            let fields_of_key = name.rsplit_once('-').and_then(|(key, _)| fields_of.get(key));
            for at in fields_of_key.into_iter().flatten() {
                fields[*at].columns.push((name.clone(), column.clone()));
            }
        }
        fields
    }

    /// Joins two parts of the same rows. Their Forms must be equal, except that a [`Form::Empty`] in one is
    /// replaced by the other's content, and that records may have different fields; fields that only `other`
    /// has are appended. Buffers that both parts have must be equal, and are kept once.
    ///
    /// # Errors
    /// [`Invalid::Unlike`] if the lengths, the structures or the contents of a common buffer differ.
    pub fn join(mut self, other: Self) -> Result<Self, Invalid> {
        if self.length != other.length {
            return Err(Invalid::Unlike { key: String::new() });
        }
        join(&mut self.form, other.form)?;
        for (name, column) in other.columns {
            match self.columns.iter().find(|(known, _)| *known == name) {
                None => self.columns.push((name, column)),
                Some((_, known)) if known.as_bytes() == column.as_bytes() => {}
                Some(_) => return Err(Invalid::Unlike { key: name }),
            }
        }
        Ok(self)
    }

    /// Bytes in all buffers.
    #[must_use]
    pub fn nbytes(&self) -> usize {
        self.columns.iter().map(|(_, column)| column.nbytes()).sum()
    }
}

/// Joins two Forms. The recursion is as deep as the Forms, whose depth is limited when they are made from a
/// schema.
fn join(form: &mut Form, other: Form) -> Result<(), Invalid> {
    match (form, other) {
        (Form::List { key, content }, Form::List { key: k, content: c })
        | (Form::Option { key, content }, Form::Option { key: k, content: c })
            if *key == k =>
        {
            join(content, *c)
        }
        (Form::Regular { size, content }, Form::Regular { size: s, content: c }) if *size == s => {
            join(content, *c)
        }
        (Form::Record { fields, contents, .. }, Form::Record { fields: names, contents: others, .. })
            if *fields == names && contents.len() == others.len() =>
        {
            contents.iter_mut().zip(others).try_for_each(|(content, other)| join(content, other))
        }
        (
            Form::Record { fields: Some(fields), contents, .. },
            Form::Record { fields: Some(names), contents: others, .. },
        ) => names.into_iter().zip(others).try_for_each(|(name, other)| {
            // Parts arrive in order, so an unfinished field is the last one of its name.
            match fields.iter().rposition(|known| *known == name).and_then(|at| contents.get_mut(at)) {
                Some(content) => join(content, other),
                None => {
                    fields.push(name);
                    contents.push(other);
                    Ok(())
                }
            }
        }),
        (form @ Form::Empty, other) => {
            *form = other;
            Ok(())
        }
        (_, Form::Empty) => Ok(()),
        _ => Err(Invalid::Unlike { key: String::new() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DType;

    fn array(field: &str, offsets: &[i64], data: &[i32]) -> Array {
        let content = |name: &str| match name == field {
            true => Form::Numpy { key: field.into(), dtype: DType::Int32, shape: vec![] },
            false => Form::Empty,
        };
        let fields = Some(vec!["a".into(), "b".into()]);
        let record = Form::Record { fields, contents: vec![content("a"), content("b")], name: None };
        Array {
            form: Form::List { key: "l".into(), content: Box::new(record) },
            length: offsets.len() as u64 - 1,
            columns: vec![
                ("l-offsets".into(), Column::from_slice(offsets)),
                (format!("{field}-data"), Column::from_slice(data)),
            ],
        }
    }

    #[test]
    fn parts_are_joined_under_equal_lists() {
        let joined = array("a", &[0, 2, 3], &[1, 2, 3]).join(array("b", &[0, 2, 3], &[4, 5, 6])).unwrap();
        assert_eq!(joined.form.type_string(), "var * {a: int32, b: int32}");
        assert_eq!(joined.columns.len(), 3);
        assert_eq!(joined.preview(0..1, 60).lines().unwrap(), ["[{a: 1, b: 4}, {a: 2, b: 5}]"]);
        // Parts need not name the fields that they do not have.
        let alone = |field: &str, data: &[i32]| {
            let mut array = array(field, &[0, 2, 3], data);
            let number = Form::Numpy { key: field.into(), dtype: DType::Int32, shape: vec![] };
            let record =
                Form::Record { fields: Some(vec![field.into()]), contents: vec![number], name: None };
            array.form = Form::List { key: "l".into(), content: Box::new(record) };
            array
        };
        assert_eq!(alone("a", &[1, 2, 3]).join(alone("b", &[4, 5, 6])).unwrap(), joined);
        let unlike = array("a", &[0, 2, 3], &[1, 2, 3]).join(array("b", &[0, 1, 3], &[4, 5, 6]));
        assert_eq!(unlike, Err(Invalid::Unlike { key: "l-offsets".into() }));
    }
}
