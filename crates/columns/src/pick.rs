//! Projection of an array to one field of its records.

use crate::invalid::DEEPEST;
use crate::lookup::Lookup;
use crate::{Array, Column, DType, Form, Invalid};

impl Form {
    /// Returns the Form of the result of [`Array::pick`], or `None` if the field is missing.
    #[must_use]
    pub fn pick(&self, path: &[String]) -> Option<Self> {
        pick(self, path, Vec::new(), &mut Vec::new(), 0)
    }
}

impl Array {
    /// Extracts a field of the records in the array: it stays in the lists around the records, and is missing
    /// where one of the options around it is. The path leads from record to record, through lists and
    /// options. Columns are shared, not copied.
    ///
    /// # Errors
    /// [`Invalid::Missing`] if the field is missing, and other [`Invalid`] for an array that contradicts
    /// itself.
    pub fn pick(&self, path: &[String]) -> Result<Self, Invalid> {
        let mut chains = Vec::new();
        let form = pick(&self.form, path, Vec::new(), &mut chains, 0);
        let form = form.ok_or_else(|| Invalid::Missing { key: path.join("/") })?;
        let lookup = Lookup::of(self);
        let mut merged = Vec::new();
        for chain in &chains {
            if let [_, .., last] = chain[..] {
                merged.push((format!("{last}-index"), merge(&lookup, chain)?));
            }
        }
        let keys = form.keys();
        let mine = self.columns.iter().filter(|(name, _)| {
            name.rsplit_once('-').is_some_and(|(key, _)| keys.contains(key))
                && merged.iter().all(|(other, _)| other != name)
        });
        let mut columns: Vec<_> = mine.cloned().collect();
        columns.extend(merged);
        Ok(Self { form, length: self.length, columns })
    }
}

/// Returns the Form of a field. `around` are the keys of the options since the last list, outermost first: a
/// value is present if it is in all of them. `chains` collects those that become one option, with the key of
/// the innermost.
fn pick<'f>(
    form: &'f Form,
    path: &[String],
    mut around: Vec<&'f str>,
    chains: &mut Vec<Vec<&'f str>>,
    depth: u32,
) -> Option<Form> {
    if depth > DEEPEST {
        return None;
    }
    match (form, path) {
        (Form::Option { key, content }, _) => {
            around.push(key);
            match path {
                [] => Some(option(around, (**content).clone(), chains)),
                path => pick(content, path, around, chains, depth + 1),
            }
        }
        (form, []) => Some(option(around, form.clone(), chains)),
        (Form::Record { fields: Some(names), contents, .. }, [first, rest @ ..]) => {
            let at = names.iter().position(|name| name == first)?;
            pick(contents.get(at)?, rest, around, chains, depth + 1)
        }
        (Form::List { key, content }, path) => {
            let list = pick(content, path, Vec::new(), chains, depth + 1)?;
            let list = Form::List { key: key.clone(), content: Box::new(list) };
            Some(option(around, list, chains))
        }
        (Form::Regular { size, content }, path) => {
            let list = pick(content, path, Vec::new(), chains, depth + 1)?;
            let list = Form::Regular { size: *size, content: Box::new(list) };
            Some(option(around, list, chains))
        }
        _ => None,
    }
}

/// Wraps a value in one option for all that are around it.
fn option<'f>(around: Vec<&'f str>, content: Form, chains: &mut Vec<Vec<&'f str>>) -> Form {
    match around.last() {
        Some(key) => {
            let form = Form::Option { key: (*key).to_owned(), content: Box::new(content) };
            chains.push(around);
            form
        }
        None => content,
    }
}

/// Composes the indexes of nested options.
fn merge(lookup: &Lookup<'_>, chain: &[&str]) -> Result<Column, Invalid> {
    let index = |key: &str| {
        let rows = lookup.column(key, "index", DType::Int64, 0)?.len() as u64;
        lookup.integers(key, "index", rows)
    };
    let mut merged: Option<Vec<i64>> = None;
    for key in chain {
        let inner = index(key)?;
        merged = Some(match merged {
            None => inner.into_owned(),
            Some(outer) => {
                let at = |(row, at): (usize, &i64)| match usize::try_from(*at) {
                    Err(_) => Ok(-1),
                    Ok(at) => inner
                        .get(at)
                        .copied()
                        .ok_or_else(|| Invalid::Range { key: format!("{key}-index"), row: row as u64 }),
                };
                outer.iter().enumerate().map(at).collect::<Result<_, _>>()?
            }
        });
    }
    Ok(Column::from_vec(merged.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_around_records_and_in_them_are_one() {
        let text = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let numbers = |key: &str| Form::Numpy { key: key.into(), dtype: DType::Int32, shape: vec![] };
        let option = |key: &str, content| Form::Option { key: key.into(), content: Box::new(content) };
        let record =
            |a, b| Form::Record { fields: Some(text(&["a", "b"])), contents: vec![a, b], name: None };
        // ?{a: ?int32, b: var * ?{a: int32, b: int32}}
        let items = Form::List {
            key: "l".into(),
            content: Box::new(option("i", record(numbers("x"), numbers("y")))),
        };
        let array = Array {
            form: option("o", record(option("p", numbers("n")), items)),
            length: 4,
            columns: vec![
                ("o-index".into(), Column::from_slice(&[0i64, -1, 1, 2])),
                ("p-index".into(), Column::from_slice(&[-1i64, 0, 1])),
                ("n-data".into(), Column::from_slice(&[5i32, 6])),
                ("l-offsets".into(), Column::from_slice(&[0i64, 2, 2, 3])),
                ("i-index".into(), Column::from_slice(&[0i64, -1, 1])),
                ("x-data".into(), Column::from_slice(&[7i32, 8])),
                ("y-data".into(), Column::from_slice(&[9i32, 10])),
            ],
        };
        for (path, expected) in [
            (&["a"][..], ["None", "None", "5", "6"]),
            (&["b", "b"], ["[9, None]", "None", "[]", "[10]"]),
            (&["b", "a"], ["[7, None]", "None", "[]", "[8]"]),
        ] {
            let picked = array.pick(&text(path)).unwrap();
            assert_eq!(Some(&picked.form), array.form.pick(&text(path)).as_ref());
            picked.validate().unwrap();
            assert_eq!(picked.preview(0..4, 40).lines().unwrap(), expected);
        }
        assert_eq!(array.pick(&[]).unwrap().preview(1..2, 40).lines().unwrap(), ["None"]);
        assert!(array.pick(&text(&["c"])).is_err() && array.pick(&text(&["a", "a"])).is_err());
    }
}
