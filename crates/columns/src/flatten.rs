//! Rewriting of options and unions to the nesting that Awkward Array supports.
//!
//! A schema may nest them freely (`["null", "int", "string"]` is an option around a union). Awkward Array
//! restricts them: an option must not contain an option or a union; a union has at least two alternatives,
//! none of which is a union, and all or none of which are options. Chains that break these rules are resolved
//! row by row into one node that keeps them.

use crate::invalid::DEEPEST;
use crate::lookup::Lookup;
use crate::lookup::rows_of;
use crate::validate::{items, offsets_end, union_lengths};
use crate::{Array, Column, DType, Form, Invalid};
use std::borrow::Cow;

impl Form {
    /// Whether `ak.from_buffers` supports the nesting of all options and unions.
    #[must_use]
    pub fn fits_awkward(&self) -> bool {
        !self.nodes().any(Self::breaks_rules)
    }

    /// Returns the Form of the result of [`Array::for_awkward`].
    pub fn for_awkward(&self) -> Result<Self, Invalid> {
        rewrite(self, None, &mut Vec::new(), 0)
    }

    fn breaks_rules(&self) -> bool {
        match self {
            Self::Option { content, .. } => {
                matches!(**content, Self::Option { .. } | Self::Union { .. } | Self::Categorical { .. })
            }
            Self::Union { contents, .. } => {
                let options =
                    contents.iter().filter(|content| matches!(content, Self::Option { .. })).count();
                let unions = contents.iter().any(|content| matches!(content, Self::Union { .. }));
                contents.len() < 2 || unions || (options != 0 && options != contents.len())
            }
            _ => false,
        }
    }
}

impl Array {
    /// Rewrites options and unions to a nesting that `ak.from_buffers` supports. Data are never copied; the
    /// tags and indexes of rewritten nodes are computed, under keys that end in `-flat`. A union of one
    /// alternative becomes an option.
    pub fn for_awkward(&self) -> Result<Self, Invalid> {
        if self.form.fits_awkward() {
            return Ok(self.clone());
        }
        let mut columns = self.columns.clone();
        let form = rewrite(&self.form, Some((&Lookup::of(self), self.length)), &mut columns, 0)?;
        Ok(Self { form, length: self.length, columns })
    }
}

/// Buffers and number of rows of a node; `None` if only the Form is rewritten.
type Data<'a> = Option<(&'a Lookup<'a>, u64)>;

fn rewrite(
    form: &Form,
    data: Data<'_>,
    out: &mut Vec<(String, Column)>,
    depth: u32,
) -> Result<Form, Invalid> {
    if depth > DEEPEST {
        return Err(Invalid::Deep);
    }
    let mut below = |form: &Form, data: Data<'_>| rewrite(form, data, out, depth + 1);
    Ok(match form {
        Form::Empty | Form::Numpy { .. } | Form::String { .. } | Form::Categorical { .. } => form.clone(),
        Form::Option { key, content } if matches!(**content, Form::Categorical { .. }) => {
            categories(key, content, data, out)?
        }
        Form::List { key, content } => {
            let data = match data {
                Some((lookup, length)) => Some((lookup, offsets_end(lookup, key, length)?)),
                None => None,
            };
            Form::List { key: key.clone(), content: Box::new(below(content, data)?) }
        }
        Form::Regular { size, content } => {
            let data = match data {
                Some((lookup, length)) => Some((lookup, items(length, &[*size])?)),
                None => None,
            };
            Form::Regular { size: *size, content: Box::new(below(content, data)?) }
        }
        Form::Logical { meaning, content } => {
            Form::Logical { meaning: *meaning, content: Box::new(below(content, data)?) }
        }
        Form::Record { fields, contents, name } => {
            let contents = contents.iter().map(|content| below(content, data)).collect::<Result<_, _>>()?;
            Form::Record { fields: fields.clone(), contents, name: name.clone() }
        }
        Form::Option { key, .. } | Form::Union { key, .. } => {
            let chain = Chain::of(form, data, &mut 0, depth)?;
            if form.breaks_rules() {
                flatten(key, chain, data, out, depth)?
            } else {
                keep(form, chain, out, depth)?
            }
        }
    })
}

/// Rewrites an option of categories to an option of the texts of the categories.
fn categories(
    key: &str,
    content: &Form,
    data: Data<'_>,
    out: &mut Vec<(String, Column)>,
) -> Result<Form, Invalid> {
    let Form::Categorical { key: inner, .. } = content else { return Ok(content.clone()) };
    let flat = format!("{key}-flat");
    if let Some((lookup, length)) = data {
        let index = lookup.integers(key, "index", length)?;
        let numbers = lookup.column(inner, "index", DType::Int32, rows_of(index.iter().copied()))?;
        let number = |at: &i64| match usize::try_from(*at) {
            Ok(at) => numbers.item::<i32>(at).map_or(-1, i64::from),
            Err(_) => -1,
        };
        out.push((format!("{flat}-index"), Column::from_vec(index.iter().map(number).collect())));
    }
    let texts = Form::String { key: inner.clone(), binary: false };
    Ok(Form::Option { key: flat, content: Box::new(texts) })
}

/// Keeps a valid option or union, and rewrites its contents.
fn keep(form: &Form, chain: Chain<'_>, out: &mut Vec<(String, Column)>, depth: u32) -> Result<Form, Invalid> {
    Ok(match (form, chain) {
        (Form::Option { key, content }, Chain::Option { inner, .. }) => {
            let content = rewrite(content, inner.data(), out, depth + 1)?;
            Form::Option { key: key.clone(), content: Box::new(content) }
        }
        (Form::Union { key, contents }, Chain::Union { inner, .. }) => {
            let both = contents.iter().zip(&inner);
            let contents = both.map(|(content, inner)| rewrite(content, inner.data(), out, depth + 1));
            Form::Union { key: key.clone(), contents: contents.collect::<Result<_, _>>()? }
        }
        (form, _) => form.clone(), // never: the chain is made from the form
    })
}

fn flatten(
    key: &str,
    chain: Chain<'_>,
    data: Data<'_>,
    out: &mut Vec<(String, Column)>,
    depth: u32,
) -> Result<Form, Invalid> {
    let mut leaves = Vec::new();
    chain.leaves(&mut leaves);
    let key = format!("{key}-flat");
    let optional = chain.optional() || leaves.len() < 2;
    let mut tags = Vec::new();
    let mut index = Vec::new();
    let mut rows = vec![0i64; leaves.len()];
    if let Some((_, length)) = data {
        for row in 0..length {
            let (tag, at) = chain.resolve(row).ok_or_else(|| Invalid::Range { key: key.clone(), row })?;
            if let Some(rows) = rows.get_mut(tag) {
                *rows = (*rows).max(at.saturating_add(1));
            }
            tags.push(tag as i8); // checked to fit below
            index.push(at);
        }
    }
    if i8::try_from(leaves.len()).is_err() {
        return Err(Invalid::Range { key: format!("{key}-tags"), row: 0 });
    }
    let mut contents = Vec::with_capacity(leaves.len());
    for (leaf, rows) in leaves.iter().zip(&rows) {
        let below = data.map(|(lookup, _)| (lookup, rows.unsigned_abs()));
        contents.push(rewrite(leaf, below, out, depth + 1)?);
    }
    let mut give = |key: &str, part: &str, column: Column| {
        if data.is_some() {
            out.push((format!("{key}-{part}"), column));
        }
    };
    if leaves.len() < 2 {
        give(&key, "index", Column::from_slice(&index));
        let content = contents.pop().unwrap_or(Form::Empty);
        return Ok(Form::Option { key, content: Box::new(content) });
    }
    if optional {
        // Nulls are an additional row of the first alternative.
        for at in index.iter_mut().filter(|at| **at < 0) {
            *at = rows[0];
        }
        for (tag, content) in contents.iter_mut().enumerate() {
            let inner = format!("{key}-{tag}");
            let all = (0..rows[tag]).chain((tag == 0).then_some(-1));
            give(&inner, "index", Column::from_slice(&all.collect::<Vec<_>>()));
            let content_of = std::mem::replace(content, Form::Empty);
            *content = Form::Option { key: inner, content: Box::new(content_of) };
        }
    }
    give(&key, "tags", Column::from_slice(&tags));
    give(&key, "index", Column::from_slice(&index));
    Ok(Form::Union { key, contents })
}

/// Directly nested options and unions, and the leaves below.
enum Chain<'a> {
    Leaf { tag: usize, form: &'a Form, data: Data<'a> },
    Option { index: Cow<'a, [i64]>, data: Data<'a>, inner: Box<Self> },
    Union { tags: &'a [i8], index: Cow<'a, [i64]>, data: Data<'a>, inner: Vec<Self> },
}

impl<'a> Chain<'a> {
    fn of(form: &'a Form, data: Data<'a>, leaves: &mut usize, depth: u32) -> Result<Self, Invalid> {
        if depth > DEEPEST {
            return Err(Invalid::Deep);
        }
        Ok(match form {
            Form::Option { key, content } => {
                let index = match data {
                    Some((lookup, length)) => lookup.integers(key, "index", length)?,
                    None => Cow::Borrowed(&[][..]),
                };
                let below = data.map(|(lookup, _)| (lookup, rows_of(index.iter().copied())));
                let inner = Box::new(Self::of(content, below, leaves, depth + 1)?);
                Self::Option { index, data, inner }
            }
            Form::Union { key, contents } => {
                let (tags, index, lengths) = match data {
                    Some((lookup, length)) => (
                        lookup.tags(key, length)?,
                        lookup.integers(key, "index", length)?,
                        union_lengths(lookup, key, contents.len(), length)?,
                    ),
                    None => (&[][..], Cow::Borrowed(&[][..]), vec![0; contents.len()]),
                };
                let inner = contents.iter().zip(lengths).map(|(content, rows)| {
                    Self::of(content, data.map(|(lookup, _)| (lookup, rows)), leaves, depth + 1)
                });
                Self::Union { tags, index, data, inner: inner.collect::<Result<_, _>>()? }
            }
            form => {
                *leaves += 1;
                Self::Leaf { tag: *leaves - 1, form, data }
            }
        })
    }

    fn data(&self) -> Data<'a> {
        match self {
            Self::Leaf { data, .. } | Self::Option { data, .. } | Self::Union { data, .. } => *data,
        }
    }

    fn leaves(&self, out: &mut Vec<&'a Form>) {
        match self {
            Self::Leaf { form, .. } => out.push(form),
            Self::Option { inner, .. } => inner.leaves(out),
            Self::Union { inner, .. } => inner.iter().for_each(|inner| inner.leaves(out)),
        }
    }

    fn optional(&self) -> bool {
        match self {
            Self::Leaf { .. } => false,
            Self::Option { .. } => true,
            Self::Union { inner, .. } => inner.iter().any(Self::optional),
        }
    }

    /// Returns the leaf of a row and the row within it; a null is row -1 of the first leaf.
    fn resolve(&self, row: u64) -> Option<(usize, i64)> {
        let at = usize::try_from(row).ok()?;
        match self {
            Self::Leaf { tag, .. } => Some((*tag, i64::try_from(row).ok()?)),
            Self::Option { index, inner, .. } => match u64::try_from(*index.get(at)?) {
                Ok(row) => inner.resolve(row),
                Err(_) => Some((0, -1)),
            },
            Self::Union { tags, index, inner, .. } => {
                let alternative = inner.get(usize::try_from(*tags.get(at)?).ok()?)?;
                alternative.resolve(u64::try_from(*index.get(at)?).ok()?)
            }
        }
    }
}
