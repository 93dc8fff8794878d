//! The alternatives of a union, in layouts and in Forms.

use crate::layout::Layout;
use forthwith_columns::Form;

/// The member that an alternative is named by in errors.
pub(super) fn arm_member(alternatives: &[Layout], number: usize, member: &str) -> String {
    let several = alternatives.iter().filter(|a| **a != Layout::Null).count() > 1;
    if several { format!("{member}<{number}>") } else { member.to_owned() }
}

/// The node whose tags a union writes.
pub(super) fn union_key(form: &Form) -> Option<&str> {
    match form {
        Form::Option { key, .. } | Form::Union { key, .. } => Some(key),
        _ => None,
    }
}

/// The Form of an alternative within that of its union.
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
        // An option: the only alternative there is.
        content => (before == 0).then_some(content),
    }
}
