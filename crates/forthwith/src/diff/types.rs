//! Comparison of types of columns.

use forthwith_columns::Form;

/// Whether values of two types can be compared: numbers of any types, lists of variable and fixed length,
/// text and categories, values and optional values, and records with the same fields.
pub(super) fn are_comparable(left: &Form, right: &Form) -> bool {
    match (left, right) {
        (Form::Option { content, .. }, other) | (other, Form::Option { content, .. }) => {
            are_comparable(content, other)
        }
        (Form::Empty, _) | (_, Form::Empty) => true,
        // Alternatives are compared value by value.
        (Form::Union { contents, .. }, other) | (other, Form::Union { contents, .. }) => {
            matches!(other, Form::Union { .. })
                || contents.iter().any(|content| are_comparable(content, other))
        }
        (Form::Logical { meaning, content }, Form::Logical { meaning: other, content: c }) => {
            let are_alike =
                meaning.is_alike(*other) || std::mem::discriminant(meaning) == std::mem::discriminant(other);
            let is_decimal = matches!(meaning, forthwith_columns::LogicalType::Decimal { .. });
            (meaning.is_alike(*other) || are_alike && !is_decimal) && are_comparable(content, c)
        }
        (Form::Logical { content, .. }, other) | (other, Form::Logical { content, .. }) => {
            are_comparable(content, other)
        }
        (Form::Record { fields, contents, .. }, Form::Record { fields: others, contents: c, .. }) => {
            contents.len() == c.len()
                && (0..).zip(contents).all(|(at, content)| {
                    let other = match (fields, others) {
                        (Some(names), Some(others)) => {
                            others.iter().position(|other| Some(other) == names.get(at))
                        }
                        _ => Some(at),
                    };
                    other.and_then(|at| c.get(at)).is_some_and(|other| are_comparable(content, other))
                })
        }
        (Form::String { .. } | Form::Categorical { .. }, Form::String { .. } | Form::Categorical { .. }) => {
            true
        }
        (Form::Numpy { shape: l, .. }, Form::Numpy { shape: r, .. }) if l.is_empty() && r.is_empty() => true,
        _ => {
            let (Some((size, items)), Some((s, i))) = (list(left), list(right)) else { return false };
            size.is_none_or(|size| s.is_none_or(|s| size == s)) && are_comparable(&items, &i)
        }
    }
}

/// Returns the fixed length of lists, if they have one, and their items; `None` for other Forms.
fn list(form: &Form) -> Option<(Option<u64>, Form)> {
    match form {
        Form::List { content, .. } => Some((None, (**content).clone())),
        other => other.fixed().map(|(size, content)| (Some(size), content.into_owned())),
    }
}
