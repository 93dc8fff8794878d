//! Common type of a column of several tables.

use crate::{DType, Form};
use std::collections::{HashMap, HashSet};

/// Two Forms without a common type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unlike {
    /// Position of the first one.
    pub first: usize,
    /// Position of the other one.
    pub other: usize,
}

impl Form {
    /// Returns the common type: numbers are promoted as NumPy does, booleans only unite with booleans, an
    /// option in any Form makes the result an option, [`Form::Empty`] unites with any type, and categories
    /// are the union of all. Names of records and the order of fields are those of the first Form. Without
    /// Forms, the result is [`Form::Empty`]. Unless all Forms are equal, keys are new.
    ///
    /// # Errors
    /// [`Unlike`] if the structures differ.
    ///
    /// ```
    /// use forthwith_columns::{DType, Form};
    ///
    /// let number = |dtype| Form::Numpy { key: "node0".into(), dtype, shape: vec![] };
    /// let (small, large) = (number(DType::Int32).optional(), number(DType::UInt32));
    /// assert_eq!(Form::unite(&[&small, &large]).expect("a common type").type_string(), "?int64");
    /// ```
    pub fn unite(forms: &[&Self]) -> Result<Self, Unlike> {
        match forms {
            [first, others @ ..] if others.iter().all(|other| other == first) => Ok((*first).clone()),
            _ => {
                let numbered: Numbered = forms.iter().map(|form| (*form).clone()).enumerate().collect();
                unite(&numbered).map(Self::with_own_keys)
            }
        }
    }

    /// Renumbers the keys in the order of the nodes, so that no two nodes share one.
    #[must_use]
    pub fn with_own_keys(mut self) -> Self {
        let mut numbers = 0..;
        self.rename_keys(&mut |_| format!("node{}", numbers.next().unwrap_or(0)));
        self
    }

    /// Removes all options.
    #[must_use]
    pub fn without_options(mut self) -> Self {
        self.change(&mut |node| {
            while let Self::Option { content, .. } = node {
                *node = std::mem::replace(content, Self::Empty);
            }
        });
        self
    }
}

/// Forms and their positions.
type Numbered = Vec<(usize, Form)>;

fn unite(forms: &[(usize, Form)]) -> Result<Form, Unlike> {
    let mut may_lack = false;
    let mut known = Numbered::new();
    for (at, form) in forms {
        let mut form = form;
        while let Form::Option { content, .. } = form {
            may_lack = true;
            form = content;
        }
        if !matches!(form, Form::Empty) {
            known.push((*at, form.clone()));
        }
    }
    let Some((_, first)) = known.first() else {
        return Ok(if may_lack { Form::Empty.optional() } else { Form::Empty });
    };
    let united = match first {
        Form::Numpy { key, shape, .. } if shape.is_empty() => {
            Form::Numpy { key: key.clone(), dtype: number(&known)?, shape: Vec::new() }
        }
        Form::Numpy { .. } | Form::Regular { .. } => {
            let size = first.fixed().map(|(size, _)| size);
            let content = contents(&known, |form| {
                let (found, content) = form.fixed()?;
                (Some(found) == size).then(|| vec![content.into_owned()])
            })?;
            content.into_iter().fold(Form::Empty, |_, content| content.repeated(size.unwrap_or(0)))
        }
        Form::List { key, .. } => {
            let content = contents(&known, |form| match form {
                Form::List { content, .. } => Some(vec![(**content).clone()]),
                _ => None,
            })?;
            Form::List {
                key: key.clone(),
                content: Box::new(content.into_iter().next().unwrap_or(Form::Empty)),
            }
        }
        Form::Record { fields, name, .. } => {
            let contents = contents(&known, |form| in_order(form, fields.as_deref()))?;
            Form::Record { fields: fields.clone(), contents, name: name.clone() }
        }
        Form::Union { key, .. } => {
            let contents = contents(&known, |form| match form {
                Form::Union { contents, .. } => Some(contents.clone()),
                _ => None,
            })?;
            Form::Union { key: key.clone(), contents }
        }
        Form::Logical { meaning, .. } => {
            let content = contents(&known, |form| match form {
                Form::Logical { meaning: other, content } if other == meaning => {
                    Some(vec![(**content).clone()])
                }
                _ => None,
            })?;
            let content = Box::new(content.into_iter().next().unwrap_or(Form::Empty));
            Form::Logical { meaning: *meaning, content }
        }
        Form::Categorical { key, .. } => {
            let mut all = Vec::new();
            let mut known_texts = HashSet::new();
            contents(&known, |form| {
                let Form::Categorical { categories, .. } = form else { return None };
                all.extend(categories.iter().filter(|text| known_texts.insert((*text).clone())).cloned());
                Some(Vec::new())
            })?;
            Form::Categorical { key: key.clone(), categories: all }
        }
        Form::String { .. } | Form::Empty | Form::Option { .. } => {
            contents(&known, |form| (form.type_string() == first.type_string()).then(Vec::new))?;
            first.clone()
        }
    };
    Ok(if may_lack { united.optional() } else { united })
}

/// Returns the promoted type of plain numbers, or of booleans.
fn number(known: &[(usize, Form)]) -> Result<DType, Unlike> {
    let mut types = Vec::with_capacity(known.len());
    contents(known, |form| match form {
        Form::Numpy { dtype, shape, .. } if shape.is_empty() => {
            types.push(*dtype);
            let is_alike = (*dtype == DType::Bool) == (types.first() == Some(&DType::Bool));
            is_alike.then(Vec::new)
        }
        _ => None,
    })?;
    Ok(DType::promote(types).unwrap_or(DType::Bool))
}

/// Unites the contents, which `of` returns, of Forms of one structure; they must be equally many.
fn contents(
    known: &[(usize, Form)],
    mut of: impl FnMut(&Form) -> Option<Vec<Form>>,
) -> Result<Vec<Form>, Unlike> {
    let first = known.first().map_or(0, |(at, _)| *at);
    let mut columns: Vec<Numbered> = Vec::new();
    for (number, (at, form)) in known.iter().enumerate() {
        let found = of(form).ok_or(Unlike { first, other: *at })?;
        if number == 0 {
            columns = vec![Numbered::new(); found.len()];
        }
        if found.len() != columns.len() {
            return Err(Unlike { first, other: *at });
        }
        columns.iter_mut().zip(found).for_each(|(column, form)| column.push((*at, form)));
    }
    columns.iter().map(|column| unite(column)).collect()
}

/// Returns the contents of a record in the order of the fields `wanted`, if it has exactly these fields.
fn in_order(form: &Form, wanted: Option<&[String]>) -> Option<Vec<Form>> {
    let Form::Record { fields, contents, .. } = form else { return None };
    field_order(fields.as_deref(), wanted, contents.len())?
        .into_iter()
        .map(|at| contents.get(at).cloned())
        .collect()
}

/// Returns the positions of the fields `wanted` in a record of `count` fields; `None` unless both have the
/// same fields, without duplicates. Slots of tuples have no names and keep their order.
pub(crate) fn field_order(
    fields: Option<&[String]>,
    wanted: Option<&[String]>,
    count: usize,
) -> Option<Vec<usize>> {
    match (fields, wanted) {
        (None, None) => Some((0..count).collect()),
        (Some(fields), Some(wanted)) if fields == wanted => Some((0..count).collect()),
        (Some(fields), Some(wanted)) if fields.len() == wanted.len() => {
            let known: HashMap<&str, usize> = fields.iter().map(String::as_str).zip(0..).collect();
            let order: Vec<usize> =
                wanted.iter().filter_map(|name| known.get(name.as_str()).copied()).collect();
            (known.len() == fields.len() && order.len() == wanted.len()).then_some(order)
        }
        _ => None,
    }
}
