//! Lookup of the alternatives of a union in layouts and Forms.

use crate::layout::Layout;
use forthwith_columns::Form;

/// Returns the path of an alternative in errors: `member<number>`, or `member` if it is the only one besides
/// null.
pub(super) fn arm_member(alternatives: &[Layout], number: usize, member: &str) -> String {
    let several = alternatives.iter().filter(|a| **a != Layout::Null).count() > 1;
    if several { format!("{member}<{number}>") } else { member.to_owned() }
}

/// Returns the key of the node whose tags a union writes, or `None` if `form` is neither an option nor a
/// union.
pub(super) fn union_key(form: &Form) -> Option<&str> {
    match form {
        Form::Option { key, .. } | Form::Union { key, .. } => Some(key),
        _ => None,
    }
}

/// Returns the Form of an alternative within that of its union.
pub(super) fn alternative<'f>(alternatives: &[Layout], tag: u32, form: &'f Form) -> Option<&'f Form> {
    if alternatives.len() == 1 {
        return Some(form);
    }
    let tag = tag as usize;
    let before = alternatives.get(..tag)?.iter().filter(|a| **a != Layout::Null).count();
    let inner = match form {
        Form::Option { content, .. } => content,
        other => other,
    };
    match inner {
        Form::Union { contents, .. } => contents.get(before),
        // An option has only one alternative besides null.
        content => (before == 0).then_some(content),
    }
}
