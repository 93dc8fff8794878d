//! C++ spelling of Forms.

use forthwith_columns::{DType, Form, MAP};
use forthwith_plan::{Error, Result};
use forthwith_root::Number;

/// Returns whether a column has one integer for each entry.
pub(super) fn is_whole(form: &Form) -> bool {
    matches!(form.kept(), Form::Numpy { dtype, shape, .. }
        if shape.is_empty() && !matches!(dtype, DType::Float32 | DType::Float64))
}

/// Returns the type and the dimensions of numbers, or `None` for other Forms.
pub(super) fn numbers(form: &Form) -> Option<(DType, Vec<u64>)> {
    match form {
        Form::Numpy { dtype, shape, .. } => Some((*dtype, shape.clone())),
        Form::Regular { size, content } => {
            let (dtype, mut shape) = numbers(content)?;
            shape.insert(0, *size);
            Some((dtype, shape))
        }
        Form::Logical { content, .. } => numbers(content),
        _ => None,
    }
}

pub(super) fn product(shape: &[u64]) -> Result<u32> {
    let all = shape.iter().try_fold(1u64, |all, size| all.checked_mul(*size));
    match all.and_then(|all| i32::try_from(all).ok()) {
        Some(all) if all > 0 => Ok(all.cast_unsigned()),
        _ => Err(Error::unsupported(format!("arrays of dimensions {shape:?} in a tree"))),
    }
}

/// Returns whether a list is written as a map: pairs that are named as such, or pairs whose first item is
/// text.
pub(super) fn is_map(content: &Form) -> bool {
    let Form::Record { fields: None, contents, name } = content.kept() else { return false };
    let [key, value] = &contents[..] else { return false };
    let keyed = name.as_deref() == Some(MAP) || matches!(key.kept(), Form::String { .. });
    let simple = matches!(key.kept(), Form::String { .. } | Form::Numpy { .. });
    keyed
        && simple
        && cpp(key).is_ok()
        && cpp(value).is_ok()
        && numbers(value).is_none_or(|(_, shape)| shape.is_empty())
}

/// Returns the C++ type of a value in a vector.
pub(super) fn cpp(form: &Form) -> Result<String> {
    Ok(match form {
        Form::Numpy { dtype, shape, .. } => vectors(Number::of(*dtype).cpp(), shape.len()),
        Form::String { .. } => "string".into(),
        Form::List { content, .. } | Form::Regular { content, .. } => vectors(&cpp(content)?, 1),
        Form::Logical { content, .. } => cpp(content)?,
        Form::Empty => return Err(Error::unsupported("lists of items of no known type in a tree")),
        other => return Err(Error::unsupported(format!("lists of {} in a tree", other.type_string()))),
    })
}

/// Returns the spelling of nested vectors in ROOT.
pub(super) fn vectors(item: &str, depth: usize) -> String {
    (0..depth).fold(item.to_owned(), |item, _| {
        let blank = if item.ends_with('>') { " " } else { "" };
        format!("vector<{item}{blank}>")
    })
}
