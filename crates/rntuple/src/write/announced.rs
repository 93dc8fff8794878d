//! Compares the arrays of a step with the Forms of the writer.

use forthwith_columns::{Array, DType, Form};

/// Returns whether an array can be written as a Form of the writer. Keys of nodes and categories may differ,
/// an option without missing values may be written as its content and the reverse, and an array without
/// values may have any type.
pub(crate) fn is_of(announced: &Form, array: &Array) -> bool {
    alike(announced, &array.form, array)
}

fn alike(one: &Form, other: &Form, array: &Array) -> bool {
    if let (Some((contents, may_be_null)), Some((others, _))) = (union_of(one), union_of(other)) {
        return contents.len() == others.len()
            && (may_be_null
                || !has_null(other, array) && !others.iter().any(|other| has_null(other, array)))
            && contents.iter().zip(others).all(|(one, other)| alike(present(one), present(other), array));
    }
    match (one, other) {
        (_, Form::Empty) | (Form::Categorical { .. }, Form::Categorical { .. }) => true,
        (Form::String { binary, .. }, Form::Categorical { .. }) => !binary,
        (Form::Numpy { dtype, shape, .. }, Form::Numpy { dtype: d, shape: s, .. }) => {
            dtype == d && shape == s
        }
        (Form::String { binary, .. }, Form::String { binary: b, .. }) => binary == b,
        (Form::List { content, .. }, Form::List { content: c, .. })
        | (Form::Option { content, .. }, Form::Option { content: c, .. }) => alike(content, c, array),
        (Form::Option { content, .. }, other) => alike(content, other, array),
        (one, Form::Option { content, .. }) => !has_null(other, array) && alike(one, content, array),
        // Binary strings are read as lists of bytes.
        (Form::List { content, .. }, Form::String { binary: true, .. }) => {
            matches!(&**content, Form::Numpy { dtype: DType::UInt8, shape, .. } if shape.is_empty())
        }
        // Dimensions of numbers are lists of fixed size.
        (Form::Numpy { .. } | Form::Regular { .. }, Form::Numpy { .. } | Form::Regular { .. }) => {
            match (one.fixed(), other.fixed()) {
                (Some((size, one)), Some((s, other))) => size == s && alike(&one, &other, array),
                _ => false,
            }
        }
        (Form::Logical { meaning, content }, Form::Logical { meaning: m, content: c }) => {
            meaning == m && alike(content, c, array)
        }
        // Times are stored as these numbers.
        (Form::Logical { meaning, content }, Form::Numpy { .. }) if meaning.is_time() => {
            alike(content, other, array)
        }
        (Form::Record { fields, contents, .. }, Form::Record { fields: f, contents: c, .. }) => {
            are_alike(fields.as_deref(), f.as_deref())
                && contents.len() == c.len()
                && contents.iter().zip(c).all(|(one, other)| alike(one, other, array))
        }
        _ => false,
    }
}

/// Returns the alternatives of a union, which may be in an option, and whether a value can be null.
fn union_of(form: &Form) -> Option<(&[Form], bool)> {
    match form {
        Form::Union { contents, .. } => {
            Some((contents, contents.iter().any(|content| matches!(content, Form::Option { .. }))))
        }
        Form::Option { content, .. } => match &**content {
            Form::Union { contents, .. } => Some((contents, true)),
            _ => None,
        },
        _ => None,
    }
}

/// Returns whether fields have the same names. In a file, a tuple with records in it is a record of `_0`,
/// `_1` and so on.
fn are_alike(one: Option<&[String]>, other: Option<&[String]>) -> bool {
    match (one, other) {
        (Some(names), None) | (None, Some(names)) => {
            names.iter().enumerate().all(|(at, name)| name.strip_prefix('_') == Some(&*at.to_string()))
        }
        (one, other) => one == other,
    }
}

/// Returns the content of an option, and other Forms unchanged.
fn present(form: &Form) -> &Form {
    match form {
        Form::Option { content, .. } => content,
        form => form,
    }
}

/// Returns whether an option has a null.
fn has_null(form: &Form, array: &Array) -> bool {
    let Form::Option { key, .. } = form else { return false };
    let Some(index) = array.column(&format!("{key}-index")) else { return true };
    match index.as_i64() {
        Some(items) => items.iter().any(|row| *row < 0),
        None => (0..index.len()).any(|at| index.item::<i64>(at).is_none_or(|row| row < 0)),
    }
}
