//! Appends rows of arrays to columns.

use super::describe::Node;
use super::elements::changed;
use super::page::Pages;
use forthwith_columns::{Array, Column, Form};
use forthwith_plan::{Error, Result};
use std::borrow::Cow;
use std::ops::Range;

/// Rows of a node in order. Adjacent rows are one range.
pub(crate) type Rows = Vec<Range<usize>>;

/// Appends rows of an array to the columns of a node. The array was validated, but another thread may change
/// its memory, so that all values are checked again.
pub(crate) fn fill<'a>(
    node: &Node,
    array: &'a Array,
    form: &Form,
    rows: &[Range<usize>],
    pages: &mut Pages<'_, 'a>,
) -> Result<()> {
    let form = match (node, form) {
        (Node::Variants { .. }, Form::Option { .. }) | (_, Form::Empty) => form,
        (_, form) => form.kept(),
    };
    match (node, form) {
        (Node::Nothing, _) => Ok(()),
        (_, Form::Empty) if rows.iter().all(Range::is_empty) => Ok(()),
        (Node::Numbers { column, size, each }, Form::Numpy { key, .. }) => {
            let data = buffer(array, key, "data")?;
            let (bytes, width) = (data.as_bytes(), size * each);
            rows.iter().try_for_each(|rows| pages.append(*column, data, within(bytes, rows, width)?))
        }
        (Node::Text { ends, bytes }, Form::String { key, .. }) => {
            let items = lists(array, key, rows, *ends, pages)?;
            let data = buffer(array, key, "data")?;
            let text = data.as_bytes();
            items.iter().try_for_each(|items| pages.append(*bytes, data, within(text, items, 1)?))
        }
        (Node::Categories { ends, bytes } | Node::Text { ends, bytes }, Form::Categorical { key, .. }) => {
            let index = buffer(array, key, "index")?;
            let offsets = integers(buffer(array, key, "offsets")?);
            let text = buffer(array, key, "data")?.as_bytes();
            for row in rows.iter().cloned().flatten() {
                let at = index.item::<i32>(row).and_then(|at| usize::try_from(at).ok());
                let bounds = at.and_then(|at| offsets.get(at..)?.first_chunk::<2>());
                let &[from, to] = bounds.ok_or_else(changed)?;
                let range = usize::try_from(from).ok().zip(usize::try_from(to).ok());
                let (from, to) = range.ok_or_else(changed)?;
                let text = text.get(from..to).ok_or_else(changed)?;
                pages.end(*ends, text.len() as u64)?;
                pages.append_copied(*bytes, text)?;
            }
            Ok(())
        }
        (Node::Lists { ends, content }, Form::String { .. }) => {
            let Node::Numbers { column, size: 1, each: 1 } = **content else { return Err(changed()) };
            fill(&Node::Text { ends: *ends, bytes: column }, array, form, rows, pages)
        }
        (Node::Lists { ends, content }, Form::List { key, content: form }) => {
            let items = lists(array, key, rows, *ends, pages)?;
            fill(content, array, form, &items, pages)
        }
        // Dimensions of numbers are lists of fixed size.
        (Node::Fixed { size, content }, Form::Regular { .. } | Form::Numpy { .. }) => {
            let (_, form) = form.fixed().ok_or_else(changed)?;
            fill(content, array, &form, &items_of(rows, *size)?, pages)
        }
        (Node::Numbers { column, size, each }, Form::Regular { size: items, content: form }) => {
            let items = usize::try_from(*items).map_err(|_| changed())?;
            let inner = Node::Numbers { column: *column, size: *size, each: each / items.max(1) };
            fill(&inner, array, form, &items_of(rows, items)?, pages)
        }
        (Node::Empty { ends }, _) => rows.iter().cloned().flatten().try_for_each(|_| pages.end(*ends, 0)),
        (Node::Fields(nodes), Form::Record { contents, .. }) => {
            nodes.iter().zip(contents).try_for_each(|(node, form)| fill(node, array, form, rows, pages))
        }
        (Node::Options { ends, content }, Form::Option { key, content: form }) => {
            let index = integers(buffer(array, key, "index")?);
            let mut picked = Rows::new();
            for rows in rows {
                let index = index.get(rows.clone()).ok_or_else(changed)?;
                pages.ends(*ends, index.len(), |at| index.get(at).is_some_and(|row| *row >= 0).into())?;
                index
                    .iter()
                    .filter_map(|row| usize::try_from(*row).ok())
                    .for_each(|row| add_row(&mut picked, row));
            }
            fill(content, array, form, &picked, pages)
        }
        (Node::Filled { filling, content }, Form::Option { key, content: form }) => {
            let index = integers(buffer(array, key, "index")?);
            let mut picked = Rows::new();
            for row in rows.iter().cloned().flatten() {
                if let Ok(row) = usize::try_from(*index.get(row).ok_or_else(changed)?) {
                    add_row(&mut picked, row);
                    continue;
                }
                // Rows and nulls are appended in their order.
                fill(content, array, form, &std::mem::take(&mut picked), pages)?;
                match &**content {
                    Node::Numbers { column, .. } => pages.append_copied(*column, filling)?,
                    Node::Text { ends, .. } | Node::Lists { ends, .. } => pages.end(*ends, 0)?,
                    _ => return Err(changed()),
                }
            }
            fill(content, array, form, &picked, pages)
        }
        (Node::Variants { switch, contents }, form) => variants(*switch, contents, array, form, rows, pages),
        // The array is not optional, so no values are missing.
        (Node::Options { ends, content }, form) => {
            rows.iter().try_for_each(|rows| pages.ends(*ends, rows.len(), |_| 1))?;
            fill(content, array, form, rows, pages)
        }
        (Node::Filled { content, .. }, form) => fill(content, array, form, rows, pages),
        (node, Form::Option { key, content: form }) => {
            let index = integers(buffer(array, key, "index")?);
            let mut picked = Rows::new();
            for row in rows.iter().cloned().flatten() {
                let row = usize::try_from(*index.get(row).ok_or_else(changed)?);
                add_row(&mut picked, row.map_err(|_| changed())?);
            }
            fill(node, array, form, &picked, pages)
        }
        _ => Err(Error::invalid("an array of another type than was announced")),
    }
}

/// Returns whether pages borrow the memory of arrays of this Form, except at the ends of a step.
pub(crate) fn is_lent(form: &Form) -> bool {
    let is_kept =
        |node: &Form| !matches!(node, Form::Option { .. } | Form::Union { .. } | Form::Categorical { .. });
    form.nodes().all(is_kept)
}

/// Returns the items of rows with `size` items each.
fn items_of(rows: &[Range<usize>], size: usize) -> Result<Rows> {
    let items = |rows: &Range<usize>| Some(rows.start.checked_mul(size)?..rows.end.checked_mul(size)?);
    rows.iter().map(items).collect::<Option<_>>().ok_or_else(changed)
}

/// Appends rows of a union, which may be in an option, and whose alternatives may be options.
fn variants<'a>(
    switch: usize,
    nodes: &[Node],
    array: &'a Array,
    form: &Form,
    rows: &[Range<usize>],
    pages: &mut Pages<'_, 'a>,
) -> Result<()> {
    let (outer, form) = match form {
        Form::Option { key, content } => (Some(integers(buffer(array, key, "index")?)), &**content),
        form => (None, form),
    };
    let Form::Union { key, contents } = form else { return Err(changed()) };
    let tags = buffer(array, key, "tags")?.as_i8().ok_or_else(changed)?;
    let index = integers(buffer(array, key, "index")?);
    // For each alternative, the rows of its values.
    let mut picked: Vec<Rows> = vec![Rows::new(); contents.len()];
    let mut inner = Vec::with_capacity(contents.len());
    for content in contents {
        inner.push(match content {
            Form::Option { key, content } => (Some(integers(buffer(array, key, "index")?)), &**content),
            content => (None, content),
        });
    }
    for row in rows.iter().cloned().flatten() {
        let row = match &outer {
            Some(outer) => usize::try_from(*outer.get(row).ok_or_else(changed)?).ok(),
            None => Some(row),
        };
        let found = row.map(|row| {
            let tag = usize::try_from(*tags.get(row)?).ok()?;
            let at = usize::try_from(*index.get(row)?).ok()?;
            let (index, _) = inner.get(tag)?;
            Some(match index {
                Some(index) => usize::try_from(*index.get(at)?).ok().map(|at| (tag, at)),
                None => Some((tag, at)),
            })
        });
        match found {
            Some(None) => return Err(changed()),
            None | Some(Some(None)) => pages.switch(switch, None)?,
            Some(Some(Some((tag, at)))) => {
                pages.switch(switch, Some(tag))?;
                add_row(picked.get_mut(tag).ok_or_else(changed)?, at);
            }
        }
    }
    let each = nodes.iter().zip(&inner).zip(&picked);
    each.into_iter().try_for_each(|((node, (_, form)), picked)| fill(node, array, form, picked, pages))
}

/// Appends the ends of lists. Returns the rows of their items.
fn lists<'a>(
    array: &'a Array,
    key: &str,
    rows: &[Range<usize>],
    ends: usize,
    pages: &mut Pages<'_, 'a>,
) -> Result<Rows> {
    let of = buffer(array, key, "offsets")?;
    let offsets = of.as_bytes().as_chunks::<8>().0;
    let mut picked = Rows::new();
    for rows in rows {
        let last = rows.end.checked_add(1).ok_or_else(changed)?;
        let offsets = offsets.get(rows.start..last).ok_or_else(changed)?;
        let (Some(&from), Some(&to)) = (offsets.first(), offsets.last()) else { return Err(changed()) };
        let (from, to) = (i64::from_ne_bytes(from), i64::from_ne_bytes(to));
        let end = pages.ends_of(ends, of, offsets)?;
        // The offsets that were written must agree with the range of items.
        if end != to {
            return Err(changed());
        }
        let range = usize::try_from(from).ok().zip(usize::try_from(to).ok());
        let (from, to) = range.filter(|(from, to)| from <= to).ok_or_else(changed)?;
        add(&mut picked, from..to);
    }
    Ok(picked)
}

fn add_row(rows: &mut Rows, row: usize) {
    add(rows, row..row.saturating_add(1));
}

/// Appends a range of rows, which extends the last range if they are adjacent.
pub(super) fn add<T: PartialOrd>(rows: &mut Vec<Range<T>>, more: Range<T>) {
    match rows.last_mut() {
        _ if more.is_empty() => {}
        Some(last) if last.end == more.start => last.end = more.end,
        _ => rows.push(more),
    }
}

fn buffer<'a>(array: &'a Array, key: &str, part: &str) -> Result<&'a Column> {
    let missing = || Error::invalid(format!("there is no buffer {key}-{part}"));
    array.column(&format!("{key}-{part}")).ok_or_else(missing)
}

/// Returns 64-bit integers, copied only if they are not aligned.
fn integers(column: &Column) -> Cow<'_, [i64]> {
    match column.as_i64() {
        Some(items) => Cow::Borrowed(items),
        None => (0..column.len()).filter_map(|at| column.item(at)).collect::<Vec<_>>().into(),
    }
}

fn within<'a>(bytes: &'a [u8], rows: &Range<usize>, width: usize) -> Result<&'a [u8]> {
    let range = rows.start.checked_mul(width).zip(rows.end.checked_mul(width));
    range.and_then(|(from, to)| bytes.get(from..to)).ok_or_else(changed)
}
