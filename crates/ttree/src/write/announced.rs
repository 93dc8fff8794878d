//! Casts the arrays of a step to the Forms of the writer.

use super::without_nulls::changed;
use forthwith_columns::{Array, CastReason, Form, NumberCast};
use forthwith_plan::Result;

/// Casts an array to the writer's Form. Returns `None` if its values have another type.
pub(super) fn adapted(array: &Array, wanted: &Form) -> Result<Option<Array>> {
    match array.cast(wanted, NumberCast::Same) {
        Ok(array) => Ok(Some(array)),
        Err(error) if matches!(error.reason, CastReason::Invalid(_)) => Err(changed()),
        Err(_) => Ok(None),
    }
}

/// Returns whether Forms differ only in the keys of their nodes.
pub(super) fn alike(one: &Form, other: &Form) -> bool {
    let is_same = match (one, other) {
        (Form::Numpy { dtype, shape, .. }, Form::Numpy { dtype: d, shape: s, .. }) => {
            dtype == d && shape == s
        }
        (Form::Regular { size, .. }, Form::Regular { size: s, .. }) => size == s,
        (Form::Record { fields, .. }, Form::Record { fields: f, .. }) => fields == f,
        // Record names distinguish classes.
        (Form::Union { contents, .. }, Form::Union { contents: c, .. }) => {
            contents.iter().map(Form::record_name).eq(c.iter().map(Form::record_name))
        }
        (Form::Logical { meaning, .. }, Form::Logical { meaning: m, .. }) => meaning == m,
        (one, other) => std::mem::discriminant(one) == std::mem::discriminant(other),
    };
    let (ones, others) = (one.contents(), other.contents());
    is_same && ones.len() == others.len() && ones.iter().zip(others).all(|(one, other)| alike(one, other))
}

/// Collects the names of records in unions, each once.
pub(super) fn classes<'f>(form: &'f Form, into: &mut Vec<&'f str>) {
    for content in form.contents() {
        if matches!(form, Form::Union { .. }) {
            into.extend(content.kept().record_name().filter(|name| !into.contains(name)));
        }
        classes(content, into);
    }
}
