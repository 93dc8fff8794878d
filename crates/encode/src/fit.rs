//! Ranking of layouts by how well the type of a column fits them.

use crate::numbers::{converts, whole};
use forthwith_columns::{DType, Form, LogicalType};
use forthwith_program::Layout;

/// Maximum depth of nested types.
pub(crate) const DEEPEST: usize = 128;

/// Returns the cost of encoding a column of this Form in `layout`: 0 if they match exactly, more if a
/// conversion is needed, and `None` if their types do not fit.
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
        // A plain column for a logical layout, or a logical column for a plain layout.
        (Layout::Logical(_, of), form) => below(of, form)? + 2,
        (Layout::Union(union), Form::Option { content, .. }) => {
            // Null is required only if values are missing, which the type alone does not tell.
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

/// Returns the index of the column for a field: by name, or by position in a tuple, which has no `names`.
pub(crate) fn place(names: Option<&[String]>, field: &str, at: usize) -> Option<usize> {
    match names {
        Some(names) => names.iter().position(|name| name == field),
        None => Some(at),
    }
}

/// Returns a NumPy Form of several dimensions as fixed-size lists of one dimension less, and `None` for other
/// Forms.
pub(crate) fn as_lists(form: &Form) -> Option<Form> {
    let (size, content) = form.fixed().filter(|_| matches!(form, Form::Numpy { .. }))?;
    Some(Form::Regular { size, content: Box::new(content.into_owned()) })
}

/// Returns whether `content` has the integers of a decimal or the bits of half-precision floats.
pub(crate) fn bare(meaning: LogicalType, content: &Form) -> bool {
    matches!(meaning, LogicalType::Decimal { .. } | LogicalType::Half)
        && matches!(content, Form::Numpy { .. })
}

/// Returns whether a field has no column of its own: it is a base class, or stepped over.
pub(crate) const fn is_flattened(layout: &Layout) -> bool {
    matches!(layout, Layout::Base(_) | Layout::Passed(_))
}

/// Returns whether stored values of the logical type `found` are also those of `wanted`.
pub(crate) fn same(wanted: LogicalType, found: LogicalType) -> bool {
    match (wanted, found) {
        (
            LogicalType::Decimal { precision, scale },
            LogicalType::Decimal { precision: digits, scale: behind },
        ) => scale == behind && digits <= precision,
        (wanted, found) => wanted.is_alike(found),
    }
}
