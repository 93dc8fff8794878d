//! Matches the parts of a layout with the parts of its Form.

use super::{Unsupported, literal};
use crate::layout::Layout;
use forthwith_columns::{Encoding, Form};
use std::borrow::Cow;

pub(super) fn first_key(form: &Form) -> Option<&str> {
    match form {
        Form::Numpy { key, .. }
        | Form::String { key, .. }
        | Form::List { key, .. }
        | Form::Option { key, .. }
        | Form::Union { key, .. } => Some(key),
        Form::Regular { content, .. } | Form::Logical { content, .. } => first_key(content),
        Form::Record { contents, .. } => contents.iter().find_map(first_key),
        _ => None,
    }
}

/// Returns the count, encoding and node of numbers that one word can read, or `None` for other values.
pub(super) fn numbers<'f>(layout: &Layout, form: &'f Form) -> Option<(u64, Encoding, &'f str)> {
    match (layout, form.kept()) {
        (Layout::Number(wire), Form::Numpy { key, .. }) => Some((1, *wire, key)),
        (Layout::Fixed(size, of), Form::Regular { content, .. }) => {
            let (inner, wire, key) = numbers(of, content)?;
            Some((inner.checked_mul(*size)?, wire, key))
        }
        _ => None,
    }
}

/// Returns the words that multiply a count of items by the count of numbers in each.
pub(super) fn times(each: u64, member: &str) -> Result<String, Unsupported> {
    Ok(if each == 1 { String::new() } else { format!("{} * ", literal(each, member)?) })
}

/// Returns the Form of each field of a record, in the order of the bytes; `None` for fields that are not
/// read.
pub(super) fn forms<'f>(
    record: &Layout,
    fields: &[(String, Layout)],
    contents: &'f [Form],
) -> Vec<Option<Cow<'f, Form>>> {
    let mut found: Vec<Option<Cow<'f, Form>>> = vec![None; fields.len()];
    let plain: Vec<u32>;
    let order = match record {
        Layout::Arranged { order, .. } => order,
        _ => {
            let kept = (0u32..).zip(fields).filter(|(_, (_, field))| !field.is_skipped());
            plain = kept.map(|(at, _)| at).collect();
            &plain
        }
    };
    let mut rest = contents;
    for at in order {
        let at = *at as usize;
        let Some((_, field)) = fields.get(at) else { continue };
        let width = if let Layout::Base(of) = field { width(of) } else { 1 };
        let Some((these, others)) = rest.split_at_checked(width) else { break };
        rest = others;
        found[at] = match (field, these) {
            (Layout::Base(_), these) => {
                Some(Cow::Owned(Form::Record { fields: None, contents: these.to_vec(), name: None }))
            }
            (_, [only]) => Some(Cow::Borrowed(only)),
            _ => None,
        };
    }
    found
}

/// Returns the number of columns of the fields of a base class.
fn width(layout: &Layout) -> usize {
    let one = |field: &Layout| match field {
        Layout::Base(of) => width(of),
        field if field.is_skipped() => 0,
        _ => 1,
    };
    match layout {
        Layout::Framed { of, .. } | Layout::Base(of) | Layout::Absent(of) | Layout::Between(_, of, _) => {
            width(of)
        }
        Layout::Versioned(arms) => arms.first().map_or(0, |(_, first)| width(first)),
        Layout::Record { fields, .. } => fields.iter().map(|(_, field)| one(field)).sum(),
        Layout::Arranged { fields, order, .. } => {
            order.iter().filter_map(|at| fields.get(*at as usize)).map(|(_, field)| one(field)).sum()
        }
        _ => 1,
    }
}
