//! Arrays of a step that are cast to the Forms that the writer was made with.

use super::without_nulls::changed;
use forthwith_columns::{Array, CastReason, Form, NumberCast};
use forthwith_plan::Result;

/// An array as one of a Form that was announced; `None` if its values are of another type.
pub(super) fn adapted(array: &Array, wanted: &Form) -> Result<Option<Array>> {
    match array.cast(wanted, NumberCast::Same) {
        Ok(array) => Ok(Some(array)),
        Err(error) if matches!(error.reason, CastReason::Invalid(_)) => Err(changed()),
        Err(_) => Ok(None),
    }
}

/// Whether Forms are the same but for the keys of their nodes.
pub(super) fn alike(one: &Form, other: &Form) -> bool {
    let is_same = match (one, other) {
        (Form::Numpy { dtype, shape, .. }, Form::Numpy { dtype: d, shape: s, .. }) => {
            dtype == d && shape == s
        }
        (Form::Regular { size, .. }, Form::Regular { size: s, .. }) => size == s,
        (Form::Record { fields, .. }, Form::Record { fields: f, .. }) => fields == f,
        // Classes are told by the names of their records.
        (Form::Union { contents, .. }, Form::Union { contents: c, .. }) => {
            contents.iter().map(Form::record_name).eq(c.iter().map(Form::record_name))
        }
        (Form::Logical { meaning, .. }, Form::Logical { meaning: m, .. }) => meaning == m,
        (one, other) => std::mem::discriminant(one) == std::mem::discriminant(other),
    };
    let (ones, others) = (one.contents(), other.contents());
    is_same && ones.len() == others.len() && ones.iter().zip(others).all(|(one, other)| alike(one, other))
}

/// The names of records that are alternatives of others, each once.
pub(super) fn classes<'f>(form: &'f Form, into: &mut Vec<&'f str>) {
    for content in form.contents() {
        if matches!(form, Form::Union { .. }) {
            into.extend(content.kept().record_name().filter(|name| !into.contains(name)));
        }
        classes(content, into);
    }
}
