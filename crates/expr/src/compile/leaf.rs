//! Types of the values of a column, and of the lists that contain them.

use crate::program::Kind;
use forthwith_columns::{DType, Form, LogicalType};

/// A level of lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Level {
    /// Common length of the lists; `None` if it varies.
    pub(crate) size: Option<u64>,
    /// Whether lists may be missing.
    pub(crate) lacking: bool,
}

/// The values of a column.
#[derive(PartialEq, Eq)]
pub(crate) struct Leaf {
    /// Levels of lists, outermost first.
    pub(crate) levels: Vec<Level>,
    /// Kind of the values, or the reason why only their validity can be used.
    pub(crate) kind: Result<Kind, String>,
    /// Whether values may be missing.
    pub(crate) lacking: bool,
}

impl Leaf {
    pub(crate) fn of(form: &Form) -> Self {
        let (mut levels, mut form, mut lacking) = (Vec::new(), form, false);
        loop {
            form = match form {
                Form::List { content, .. } => {
                    levels.push(Level { size: None, lacking: std::mem::take(&mut lacking) });
                    content
                }
                Form::Regular { size, content } => {
                    levels.push(Level { size: Some(*size), lacking: std::mem::take(&mut lacking) });
                    content
                }
                Form::Option { content, .. } if is_list(content) => {
                    lacking = true;
                    content
                }
                _ => break,
            };
        }
        let (inner, lacking) = match form {
            Form::Option { content, .. } => (&**content, true),
            other => (other, false),
        };
        let kind = match inner {
            Form::Numpy { dtype, shape, .. } if shape.is_empty() || !lacking => {
                levels.extend(shape.iter().map(|size| Level { size: Some(*size), lacking: false }));
                Ok(Kind::Number(*dtype))
            }
            Form::String { binary: false, .. } | Form::Categorical { .. } => Ok(Kind::Text),
            Form::String { .. } => Err("bytes cannot be computed with".into()),
            Form::Record { .. } => Err("a record is computed with by its fields, as in a.b".into()),
            Form::Union { .. } => Err("values of several types cannot be computed with".into()),
            Form::Logical { meaning, content } => match (meaning, &**content) {
                (
                    LogicalType::Date | LogicalType::Timestamp { .. } | LogicalType::Decimal { .. },
                    Form::Numpy { dtype: dtype @ (DType::Int32 | DType::Int64), shape, .. },
                ) if shape.is_empty() => Ok(Kind::Time(*dtype, *meaning)),
                (LogicalType::Decimal { .. }, Form::String { binary: true, .. }) => {
                    Ok(Kind::Time(DType::Int64, *meaning))
                }
                (LogicalType::Decimal { .. }, _) => {
                    Err(format!("a {meaning} of this kind cannot be computed with"))
                }
                _ => Err(format!("a {meaning} cannot be computed with")),
            },
            Form::Empty => Err("nothing is known of its type".into()),
            _ => Err("arrays of a fixed length that may be missing cannot be computed with".into()),
        };
        Self { levels, kind, lacking }
    }
}

/// Whether values are lists of any type, optional or not.
pub(crate) fn is_list(form: &Form) -> bool {
    match form {
        Form::List { .. } | Form::Regular { .. } => true,
        Form::Option { content, .. } => is_list(content),
        _ => false,
    }
}

/// Whether values or lists of a column may be missing.
pub(super) fn has_options(form: &Form) -> bool {
    match form {
        Form::Option { .. } => true,
        Form::List { content, .. } | Form::Regular { content, .. } => has_options(content),
        _ => false,
    }
}

/// Returns the Form without options.
pub(super) fn without_options(form: Form) -> Form {
    match form {
        Form::Option { content, .. } => without_options(*content),
        Form::List { key, content } => Form::List { key, content: Box::new(without_options(*content)) },
        Form::Regular { size, content } => {
            Form::Regular { size, content: Box::new(without_options(*content)) }
        }
        other => other,
    }
}
