//! Arrays of a step whose types say the same in another way, or less, than what was announced.

use super::plain::changed;
use forthwith_columns::{Array, Column, Form, rows_of};
use forthwith_plan::Result;

/// An array without categories as one of a Form that was announced, if its values are of that. Lists without items may be of an
/// unknown type, lists and arrays of a fixed length stand for each other, and fields have any order.
pub(super) fn adapted(array: &Array, wanted: &Form) -> Result<Option<Array>> {
    let mut adapt = Adapt { array, out: Vec::new() };
    let Some(form) = adapt.node(&array.form, wanted, array.length)? else { return Ok(None) };
    Ok(Some(Array { form, length: array.length, columns: adapt.out }))
}

struct Adapt<'a> {
    array: &'a Array,
    out: Vec<(String, Column)>,
}

impl Adapt<'_> {
    /// The Form of a node of `rows` rows as it is wanted, and its columns; `None` if its values are others.
    fn node(&mut self, form: &Form, wanted: &Form, rows: u64) -> Result<Option<Form>> {
        Ok(match (form, wanted) {
            (Form::Empty, _) => (rows == 0).then(|| self.nothing(wanted)),
            (Form::Numpy { key, dtype, shape }, Form::Numpy { dtype: d, shape: s, .. })
                if dtype == d && shape == s =>
            {
                self.keep(key, "data")?;
                Some(form.clone())
            }
            (Form::String { key, binary }, Form::String { binary: b, .. }) if binary == b => {
                self.keep(key, "offsets")?;
                self.keep(key, "data")?;
                Some(form.clone())
            }
            (Form::Record { fields, contents, name }, Form::Record { fields: f, contents: c, .. })
                if contents.len() == c.len() =>
            {
                let Some(order) = order(fields.as_deref(), f.as_deref(), c.len()) else { return Ok(None) };
                let mut taken = Vec::with_capacity(c.len());
                for (at, wanted) in order.into_iter().zip(c) {
                    let Some(content) = self.node(&contents[at], wanted, rows)? else { return Ok(None) };
                    taken.push(content);
                }
                Some(Form::Record { fields: f.clone(), contents: taken, name: name.clone() })
            }
            (Form::List { key, content }, Form::List { content: c, .. }) => {
                let items = *self.offsets(key)?.last().ok_or_else(changed)?;
                self.keep(key, "offsets")?;
                let content = self.node(content, c, items.cast_unsigned())?;
                content.map(|content| Form::List { key: key.clone(), content: Box::new(content) })
            }
            (_, Form::Option { content, .. }) if let Form::Union { contents: wanted, .. } = &**content => {
                self.objects(form, wanted, rows)?
            }
            (Form::Union { key, contents }, Form::Union { contents: wanted, .. })
                if contents.len() == wanted.len() =>
            {
                let (tags, index) = self.tagged(key)?;
                self.keep(key, "tags")?;
                self.keep(key, "index")?;
                let mut taken = Vec::with_capacity(wanted.len());
                for (place, (content, wanted)) in contents.iter().zip(wanted).enumerate() {
                    let rows = rows_of_place(place, &tags, &index);
                    let Some(content) = self.node(content, wanted, rows)? else { return Ok(None) };
                    taken.push(content);
                }
                Some(Form::Union { key: key.clone(), contents: taken })
            }
            (Form::Option { key, content }, Form::Option { content: c, .. }) => {
                let rows = rows_of(self.integers(key, "index")?.into_iter());
                self.keep(key, "index")?;
                let content = self.node(content, c, rows)?;
                content.map(|content| Form::Option { key: key.clone(), content: Box::new(content) })
            }
            (_, Form::Option { content, .. }) => {
                let key = self.add("index", Column::from_vec((0..rows.cast_signed()).collect()));
                let content = self.node(form, content, rows)?;
                content.map(|content| Form::Option { key, content: Box::new(content) })
            }
            (_, Form::List { content, .. }) => {
                let Some((size, inner)) = form.fixed() else { return Ok(None) };
                let items = rows.checked_mul(size).ok_or_else(changed)?;
                let ends = (0..=rows).map(|row| (row * size).cast_signed()).collect();
                let key = self.add("offsets", Column::from_vec(ends));
                let content = self.node(&inner, content, items)?;
                content.map(|content| Form::List { key, content: Box::new(content) })
            }
            (_, Form::Regular { .. } | Form::Numpy { .. }) => {
                let Some((size, inner)) = wanted.fixed() else { return Ok(None) };
                let content = match form {
                    Form::List { key, content } => {
                        let offsets = self.offsets(key)?;
                        let steps = offsets.windows(2);
                        let is_fixed =
                            steps.clone().all(|pair| pair[1].wrapping_sub(pair[0]) == size.cast_signed());
                        if !is_fixed {
                            return Ok(None);
                        }
                        self.node(content, &inner, rows.checked_mul(size).ok_or_else(changed)?)?
                    }
                    _ => match form.fixed() {
                        Some((s, content)) if s == size => {
                            self.node(&content, &inner, rows.checked_mul(size).ok_or_else(changed)?)?
                        }
                        _ => None,
                    },
                };
                content.map(|content| match (content, wanted) {
                    (Form::Numpy { key, dtype, shape }, Form::Numpy { .. }) => {
                        Form::Numpy { key, dtype, shape: [vec![size], shape].concat() }
                    }
                    (content, _) => Form::Regular { size, content: Box::new(content) },
                })
            }
            _ => None,
        })
    }

    /// Objects of several classes, or none, as an option of a union: each goes to the class that has the name of its
    /// record. Without a name, it goes to the only alternative that it is a value of, or where there are as many, and
    /// all of other types, to that of its place; lists and what has no rows to the first.
    fn objects(&mut self, form: &Form, wanted: &[Form], rows: u64) -> Result<Option<Form>> {
        let mut arms = Vec::new();
        let chosen = self.choices(form, &mut arms)?;
        let mut places = Vec::with_capacity(arms.len());
        let mut counts = vec![0; arms.len()];
        let rows = 0..usize::try_from(rows).map_err(|_| changed())?;
        let picked = rows.map(|row| chosen.of(row)).collect::<Result<Vec<_>>>()?;
        for (arm, at) in picked.iter().flatten() {
            let count = counts.get_mut(*arm).ok_or_else(changed)?;
            *count = (*at as u64 + 1).max(*count);
        }
        for (at, arm) in arms.iter().enumerate() {
            let place = match record_name(arm) {
                Some(name) => wanted.iter().position(|class| record_name(class) == Some(name)),
                None => {
                    let fitting = self.fitting(arm, wanted, counts[at])?;
                    match fitting[..] {
                        [only] => Some(only),
                        _ if fitting.contains(&at) && arms.len() == wanted.len() && are_distinct(wanted) => {
                            Some(at)
                        }
                        [first, ..] if counts[at] == 0 || matches!(arm, Form::List { .. }) => Some(first),
                        _ => None,
                    }
                }
            };
            let Some(place) = place else { return Ok(None) };
            places.push(place);
        }
        let (mut outer, mut tags, mut index) = (Vec::new(), Vec::new(), Vec::new());
        // The arm of each alternative: two arms cannot be one.
        let mut taken: Vec<Option<usize>> = vec![None; wanted.len()];
        for (arm, place) in places.iter().enumerate() {
            if taken[*place].replace(arm).is_some() {
                return Ok(None);
            }
        }
        for row in picked {
            match row {
                None => outer.push(-1i64),
                Some((arm, at)) => {
                    outer.push(tags.len() as i64);
                    let place = *places.get(arm).ok_or_else(changed)?;
                    tags.push(i8::try_from(place).map_err(|_| changed())?);
                    index.push(at as i64);
                }
            }
        }
        let mut contents = Vec::with_capacity(wanted.len());
        for (place, (class, arm)) in wanted.iter().zip(taken).enumerate() {
            let rows = rows_of_place(place, &tags, &index);
            let content = match arm {
                Some(arm) => self.node(arms[arm], class, rows)?,
                None => Some(self.nothing(class)),
            };
            let Some(content) = content else { return Ok(None) };
            contents.push(content);
        }
        let option = self.add("index", Column::from_vec(outer));
        let union = self.add("index", Column::from_vec(index));
        self.out.push((format!("{union}-tags"), Column::from_vec(tags)));
        let union = Form::Union { key: union, contents };
        Ok(Some(Form::Option { key: option, content: Box::new(union) }))
    }

    /// The alternatives of which some rows of a Form are values.
    fn fitting(&mut self, form: &Form, wanted: &[Form], rows: u64) -> Result<Vec<usize>> {
        let mut fitting = Vec::new();
        for (place, class) in wanted.iter().enumerate() {
            let before = self.out.len();
            if self.node(form, class, rows)?.is_some() {
                fitting.push(place);
            }
            self.out.truncate(before);
        }
        Ok(fitting)
    }

    /// The ways through options and unions to what they hold, which is listed.
    fn choices<'f>(&self, form: &'f Form, arms: &mut Vec<&'f Form>) -> Result<Choices> {
        Ok(match form {
            Form::Option { key, content } => {
                Choices::Option(self.integers(key, "index")?, Box::new(self.choices(content, arms)?))
            }
            Form::Union { key, contents } => {
                let (tags, index) = self.tagged(key)?;
                let of = contents.iter().map(|content| self.choices(content, arms)).collect::<Result<_>>()?;
                Choices::Union(tags, index, of)
            }
            // It has no rows.
            Form::Empty => Choices::Nothing,
            form => {
                arms.push(form);
                Choices::Arm(arms.len() - 1)
            }
        })
    }

    /// A Form without any row, under keys that no node of the array has.
    fn nothing(&mut self, wanted: &Form) -> Form {
        let (mut form, mut numbers) = (wanted.clone(), self.out.len()..);
        form.rename_keys(&mut |_| format!("adapted{}", numbers.next().unwrap_or_default()));
        // Each of the keys has a column at least, so that they are not given again.
        let Array { form, columns, .. } = Array::empty(form);
        self.out.extend(columns);
        form
    }

    fn keep(&mut self, key: &str, part: &str) -> Result<()> {
        let name = format!("{key}-{part}");
        let column = self.array.column(&name).ok_or_else(changed)?.clone();
        self.out.push((name, column));
        Ok(())
    }

    /// A column under a key that no node of the array has.
    fn add(&mut self, part: &str, column: Column) -> String {
        let key = format!("adapted{}", self.out.len());
        self.out.push((format!("{key}-{part}"), column));
        key
    }

    fn offsets(&self, key: &str) -> Result<Vec<i64>> {
        self.integers(key, "offsets")
    }

    /// The alternatives of a union's rows, and their rows there.
    fn tagged(&self, key: &str) -> Result<(Vec<i8>, Vec<i64>)> {
        let tags = self.array.column(&format!("{key}-tags")).and_then(Column::as_i8);
        Ok((tags.ok_or_else(changed)?.to_vec(), self.integers(key, "index")?))
    }

    fn integers(&self, key: &str, part: &str) -> Result<Vec<i64>> {
        let column = self.array.column(&format!("{key}-{part}")).ok_or_else(changed)?;
        (0..column.len()).map(|row| column.item(row).ok_or_else(changed)).collect()
    }
}

/// The way to what a row is.
enum Choices {
    Nothing,
    Arm(usize),
    Option(Vec<i64>, Box<Self>),
    Union(Vec<i8>, Vec<i64>, Vec<Self>),
}

impl Choices {
    /// The arm of a row and its row there; `None` if it is missing.
    fn of(&self, row: usize) -> Result<Option<(usize, usize)>> {
        match self {
            Self::Nothing => Err(changed()),
            Self::Arm(arm) => Ok(Some((*arm, row))),
            Self::Option(index, of) => match usize::try_from(*index.get(row).ok_or_else(changed)?) {
                Ok(at) => of.of(at),
                Err(_) => Ok(None),
            },
            Self::Union(tags, index, of) => {
                let tag = tags.get(row).and_then(|tag| usize::try_from(*tag).ok());
                let at = index.get(row).and_then(|at| usize::try_from(*at).ok());
                let (tag, at) = tag.zip(at).ok_or_else(changed)?;
                of.get(tag).ok_or_else(changed)?.of(at)
            }
        }
    }
}

pub(super) fn record_name(form: &Form) -> Option<&str> {
    if let Form::Record { name, .. } = form { name.as_deref() } else { None }
}

/// The names of records that are alternatives of others, each once.
pub(super) fn classes<'f>(form: &'f Form, into: &mut Vec<&'f str>) {
    for content in form.contents() {
        if matches!(form, Form::Union { .. }) {
            into.extend(record_name(content.kept()).filter(|name| !into.contains(name)));
        }
        classes(content, into);
    }
}

fn are_distinct(forms: &[Form]) -> bool {
    let types: Vec<String> = forms.iter().map(Form::type_string).collect();
    types.iter().enumerate().all(|(at, one)| !types[..at].contains(one))
}

/// The number of rows of an alternative that a union names.
fn rows_of_place(place: usize, tags: &[i8], index: &[i64]) -> u64 {
    let own = tags.iter().zip(index).filter(|(tag, _)| usize::try_from(**tag) == Ok(place));
    rows_of(own.map(|(_, at)| *at))
}

/// The places of wanted fields among those that are there.
fn order(fields: Option<&[String]>, wanted: Option<&[String]>, count: usize) -> Option<Vec<usize>> {
    match (fields, wanted) {
        (None, None) => Some((0..count).collect()),
        (Some(fields), Some(wanted)) => {
            wanted.iter().map(|name| fields.iter().position(|field| field == name)).collect()
        }
        _ => None,
    }
}
