//! Arrays of a step whose types say the same in another way, or less, than what was announced.

use super::plain::changed;
use forthwith_columns::{Array, Column, DType, Form};
use forthwith_plan::Result;

/// An array without categories as one of a Form that was announced, if its values are of that: lists without items may be of an
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
            (Form::Option { key, content }, Form::Option { content: c, .. }) => {
                let rows = most(self.integers(key, "index")?.into_iter());
                self.keep(key, "index")?;
                let content = self.node(content, c, rows)?;
                content.map(|content| Form::Option { key: key.clone(), content: Box::new(content) })
            }
            (Form::Union { key, contents }, Form::Option { content, .. })
                if let Form::Union { contents: wanted, .. } = &**content
                    && wanted.len() == contents.len() =>
            {
                self.union_of_options((key, contents), wanted)?
            }
            (_, Form::Option { content, .. }) => {
                let key = self.add("index", Column::from_vec((0..rows.cast_signed()).collect()));
                let content = self.node(form, content, rows)?;
                content.map(|content| Form::Option { key, content: Box::new(content) })
            }
            (Form::Union { key, contents }, Form::Union { contents: c, .. }) if contents.len() == c.len() => {
                let index = self.integers(key, "index")?;
                let tags = self.array.column(&format!("{key}-tags")).and_then(Column::as_i8);
                let tags = tags.ok_or_else(changed)?.to_vec();
                self.keep(key, "tags")?;
                self.keep(key, "index")?;
                let mut taken = Vec::with_capacity(c.len());
                for (tag, (content, wanted)) in contents.iter().zip(c).enumerate() {
                    let own = tags.iter().zip(&index).filter(|(of, _)| usize::try_from(**of) == Ok(tag));
                    let rows = most(own.map(|(_, at)| *at));
                    let Some(content) = self.node(content, wanted, rows)? else { return Ok(None) };
                    taken.push(content);
                }
                Some(Form::Union { key: key.clone(), contents: taken })
            }
            (_, Form::List { content, .. }) => {
                let Some((size, inner)) = fixed(form) else { return Ok(None) };
                let items = rows.checked_mul(size).ok_or_else(changed)?;
                let ends = (0..=rows).map(|row| (row * size).cast_signed()).collect();
                let key = self.add("offsets", Column::from_vec(ends));
                let content = self.node(&inner, content, items)?;
                content.map(|content| Form::List { key, content: Box::new(content) })
            }
            (_, Form::Regular { .. } | Form::Numpy { .. }) => {
                let Some((size, inner)) = fixed(wanted) else { return Ok(None) };
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
                    _ => match fixed(form) {
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

    /// A union some of whose alternatives are options, as Awkward Array has them, as an option of a union.
    fn union_of_options(
        &mut self,
        (key, contents): (&str, &[Form]),
        wanted: &[Form],
    ) -> Result<Option<Form>> {
        let places = self.integers(key, "index")?;
        let tags = self.array.column(&format!("{key}-tags")).and_then(Column::as_i8).ok_or_else(changed)?;
        let mut options = Vec::with_capacity(contents.len());
        for content in contents {
            options.push(match content {
                Form::Option { key, .. } => Some(self.integers(key, "index")?),
                _ => None,
            });
        }
        let (mut outer, mut of, mut index) = (Vec::new(), Vec::new(), Vec::new());
        for (tag, at) in tags.iter().zip(places) {
            let option = usize::try_from(*tag).ok().and_then(|tag| options.get(tag)).ok_or_else(changed)?;
            let at = match (option, usize::try_from(at)) {
                (Some(rows), Ok(at)) => *rows.get(at).ok_or_else(changed)?,
                _ => at,
            };
            outer.push(if at < 0 { -1 } else { of.len() as i64 });
            if at >= 0 {
                of.push(*tag);
                index.push(at);
            }
        }
        let mut taken = Vec::with_capacity(wanted.len());
        for (tag, (content, wanted)) in contents.iter().zip(wanted).enumerate() {
            let content = if let Form::Option { content, .. } = content { content } else { content };
            let own = of.iter().zip(&index).filter(|(of, _)| usize::try_from(**of) == Ok(tag));
            let rows = most(own.map(|(_, at)| *at));
            let Some(content) = self.node(content, wanted, rows)? else { return Ok(None) };
            taken.push(content);
        }
        let option = self.add("index", Column::from_vec(outer));
        let union = self.add("index", Column::from_vec(index));
        self.out.push((format!("{union}-tags"), Column::from_vec(of)));
        let union = Form::Union { key: union, contents: taken };
        Ok(Some(Form::Option { key: option, content: Box::new(union) }))
    }

    /// A Form without any row.
    fn nothing(&mut self, wanted: &Form) -> Form {
        match wanted {
            Form::Numpy { dtype, shape, .. } => {
                let key = self.add("data", Column::from_bytes(*dtype, Vec::new().into()));
                Form::Numpy { key, dtype: *dtype, shape: shape.clone() }
            }
            Form::String { binary, .. } => {
                let key = self.add("offsets", Column::from_vec(vec![0i64]));
                self.out.push((format!("{key}-data"), Column::from_bytes(DType::UInt8, Vec::new().into())));
                Form::String { key, binary: *binary }
            }
            Form::List { content, .. } => {
                let key = self.add("offsets", Column::from_vec(vec![0i64]));
                Form::List { key, content: Box::new(self.nothing(content)) }
            }
            Form::Regular { size, content } => {
                Form::Regular { size: *size, content: Box::new(self.nothing(content)) }
            }
            Form::Option { content, .. } => {
                let key = self.add("index", Column::from_vec(Vec::<i64>::new()));
                Form::Option { key, content: Box::new(self.nothing(content)) }
            }
            Form::Union { contents, .. } => {
                let key = self.add("index", Column::from_vec(Vec::<i64>::new()));
                self.out.push((format!("{key}-tags"), Column::from_vec(Vec::<i8>::new())));
                let contents = contents.iter().map(|content| self.nothing(content)).collect();
                Form::Union { key, contents }
            }
            Form::Record { fields, contents, name } => {
                let contents = contents.iter().map(|content| self.nothing(content)).collect();
                Form::Record { fields: fields.clone(), contents, name: name.clone() }
            }
            other => other.clone(),
        }
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

    fn integers(&self, key: &str, part: &str) -> Result<Vec<i64>> {
        let column = self.array.column(&format!("{key}-{part}")).ok_or_else(changed)?;
        (0..column.len()).map(|row| column.item(row).ok_or_else(changed)).collect()
    }
}

/// The number of rows that an index names.
fn most(index: impl Iterator<Item = i64>) -> u64 {
    index.max().map_or(0, |last| u64::try_from(last).map_or(0, |last| last + 1))
}

/// The length of arrays that have one, and what they hold.
fn fixed(form: &Form) -> Option<(u64, Form)> {
    match form {
        Form::Regular { size, content } => Some((*size, (**content).clone())),
        Form::Numpy { key, dtype, shape } => {
            let (size, rest) = shape.split_first()?;
            Some((*size, Form::Numpy { key: key.clone(), dtype: *dtype, shape: rest.to_vec() }))
        }
        _ => None,
    }
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
