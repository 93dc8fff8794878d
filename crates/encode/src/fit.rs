//! Whether a column can be written as a type, by their types alone.

use crate::numbers::{converts, whole};
use forthwith_columns::{DType, Form, LogicalType};
use forthwith_program::Layout;

/// Types within types.
pub(crate) const DEEPEST: usize = 128;

/// How well a column fits: exactly, by a conversion that keeps its values, or not at all. Smaller is better.
pub(crate) fn fit(layout: &Layout, form: &Form, depth: usize) -> Option<u32> {
    if depth > DEEPEST {
        return None;
    }
    let below = |layout: &Layout, form: &Form| fit(layout, form, depth + 1);
    if let Some(lists) = as_lists(form) {
        return fit(layout, &lists, depth);
    }
    let lossless = |found: DType, wanted: DType| {
        if found == wanted { Some(0) } else { converts(found, wanted).then_some(8) }
    };
    Some(match (layout, form) {
        (_, Form::Empty) => 0,
        (Layout::Logical(wanted, of), Form::Logical { meaning, content }) => {
            if !same(*wanted, *meaning) {
                return None;
            }
            match (meaning, &**content, &**of) {
                (LogicalType::Decimal { .. }, Form::Numpy { shape, .. }, of) if shape.is_empty() => {
                    match of {
                        Layout::Bytes => 0,
                        Layout::Opaque(_) => 1,
                        _ => return None,
                    }
                }
                (_, content, of) => below(of, content)?,
            }
        }
        (layout, Form::Union { contents, .. }) if !matches!(layout, Layout::Union(_)) => {
            contents.iter().map(|content| below(layout, content)).sum::<Option<u32>>()? + 1
        }
        // Bare numbers or bytes for something that means more, and the other way round.
        (Layout::Logical(_, of), form) => below(of, form)? + 2,
        (Layout::Union(union), Form::Option { content, .. }) => {
            // Without null it is as good if nothing is missing.
            let null = union.alternatives.contains(&Layout::Null);
            below(layout, content)? + if null { 0 } else { 16 }
        }
        (Layout::Union(_), Form::Union { contents, .. }) => {
            contents.iter().map(|content| below(layout, content)).sum::<Option<u32>>()?
        }
        (Layout::Union(union), form) => {
            union.alternatives.iter().filter_map(|layout| below(layout, form)).min()? + 1
        }
        (Layout::Null, Form::Option { content, .. }) if **content == Form::Empty => 0,
        (layout, Form::Option { content, .. }) => below(layout, content)? + 16,
        (Layout::Number(wire), Form::Logical { meaning: LogicalType::Half, .. }) => {
            lossless(DType::Float32, wire.dtype())?
        }
        (_, Form::Logical { meaning, content }) if bare(*meaning, content) => return None,
        (layout, Form::Logical { content, .. }) => below(layout, content)? + 2,
        (Layout::Varint(wanted), Form::Numpy { dtype, shape, .. }) if shape.is_empty() && whole(*dtype) => {
            let small = dtype.size() < wanted.size() || *dtype == *wanted;
            if *dtype == *wanted {
                0
            } else if small {
                1
            } else {
                8
            }
        }
        (Layout::Number(wire), Form::Numpy { dtype, shape, .. }) if shape.is_empty() => {
            lossless(*dtype, wire.dtype())?
        }
        (Layout::Text, Form::String { binary: false, .. })
        | (Layout::Bytes, Form::String { binary: true, .. }) => 0,
        (Layout::Text | Layout::Bytes, Form::String { .. }) => 4,
        (Layout::Opaque(_), Form::String { binary, .. }) => {
            if *binary {
                1
            } else {
                5
            }
        }
        (Layout::Enum { symbols, .. }, Form::Categorical { categories, .. }) => {
            if categories.iter().all(|name| symbols.contains(name)) { 0 } else { 3 }
        }
        (Layout::Text | Layout::Bytes, Form::Categorical { .. }) => 4,
        (Layout::Enum { .. }, Form::String { binary: false, .. }) => 3,
        (Layout::List(item), Form::List { content, .. } | Form::Regular { content, .. }) => {
            below(item, content)?
        }
        (Layout::Fixed(size, item), Form::Regular { size: found, content }) if size == found => {
            below(item, content)?
        }
        (Layout::Map(value), Form::List { content, .. }) => match &**content {
            Form::Record { contents, .. } if contents.len() == 2 => {
                below(&Layout::Text, &contents[0])? + below(value, &contents[1])?
            }
            _ => return None,
        },
        (
            Layout::Record { name, fields } | Layout::Arranged { name, fields, .. },
            Form::Record { fields: names, contents, name: found },
        ) => {
            if fields.len() != contents.len() {
                return None;
            }
            let mut sum = u32::from(found.is_some() && found != name);
            for (at, (field, layout)) in fields.iter().enumerate() {
                sum += below(layout, contents.get(place(names.as_deref(), field, at)?)?)?;
            }
            sum
        }
        _ => return None,
    })
}

/// The column of a field; slots have no names, and follow each other.
pub(crate) fn place(names: Option<&[String]>, field: &str, at: usize) -> Option<usize> {
    match names {
        Some(names) => names.iter().position(|name| name == field),
        None => Some(at),
    }
}

/// Numbers with inner dimensions as lists of one length, of numbers with one dimension less.
pub(crate) fn as_lists(form: &Form) -> Option<Form> {
    let (size, content) = form.fixed().filter(|_| matches!(form, Form::Numpy { .. }))?;
    Some(Form::Regular { size, content: Box::new(content.into_owned()) })
}

/// Whether these are the integers of decimals, or the bits of halves.
pub(crate) fn bare(meaning: LogicalType, content: &Form) -> bool {
    matches!(meaning, LogicalType::Decimal { .. } | LogicalType::Half)
        && matches!(content, Form::Numpy { .. })
}

/// Whether a field has no column of its own.
pub(crate) const fn is_flattened(layout: &Layout) -> bool {
    matches!(layout, Layout::Base(_) | Layout::Passed(_))
}

/// Whether values of one meaning are written as the other as they are.
pub(crate) fn same(wanted: LogicalType, found: LogicalType) -> bool {
    match (wanted, found) {
        (
            LogicalType::Decimal { precision, scale },
            LogicalType::Decimal { precision: digits, scale: behind },
        ) => scale == behind && digits <= precision,
        (wanted, found) => wanted.is_alike(found),
    }
}
