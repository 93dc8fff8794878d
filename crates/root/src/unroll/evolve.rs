//! Schema evolution: older versions of a class read as the latest one.

use forthwith_columns::Encoding;
use forthwith_program::{Layout, When};

/// Returns the layout that reads data of `from` and delivers them as `to` does; `None` if they cannot
/// be converted.
pub(super) fn read_as(from: &Layout, to: &Layout) -> Option<Layout> {
    if from == to {
        return Some(from.clone());
    }
    Some(match (from, to) {
        (Layout::Framed { shared, of }, to) => {
            // Text is delivered in the same form with and without a frame.
            let to = if let Layout::Framed { of, .. } = to { of } else { to };
            Layout::Framed { shared: *shared, of: Box::new(read_as(of, to)?) }
        }
        (from, Layout::Framed { of, .. }) => read_as(from, of)?,
        (Layout::Versioned(arms), to) => {
            let to = match to {
                Layout::Versioned(arms) => &arms.first()?.1,
                other => other,
            };
            let arms: Option<Vec<_>> =
                arms.iter().map(|(when, arm)| Some((*when, read_as(arm, to)?))).collect();
            Layout::Versioned(arms?)
        }
        (from, Layout::Versioned(arms)) => read_as(from, &arms.first()?.1)?,
        (Layout::Base(of), Layout::Base(to)) => Layout::Base(Box::new(read_as(of, to)?)),
        (Layout::Between(before, of, behind), Layout::Between(_, to, _)) => {
            Layout::Between(before.clone(), Box::new(read_as(of, to)?), behind.clone())
        }
        (Layout::Counter(slot, of), Layout::Counter(_, to)) if of == to => Layout::Counter(*slot, of.clone()),
        (Layout::Counter(slot, of), to) if **of == *to => Layout::Counter(*slot, of.clone()),
        (from, Layout::Counter(_, to)) => read_as(from, to)?,
        (Layout::Number(from), Layout::Number(to)) => number(*from, *to)?,
        (
            Layout::Number(from) | Layout::Mixed(from, _) | Layout::Converted(from, _),
            Layout::Mixed(_, dtype),
        ) => Layout::Mixed(*from, *dtype),
        (Layout::Absent(_), to) if weight(to) <= MOST_ABSENT => Layout::Absent(Box::new(to.clone())),
        (Layout::Text | Layout::LongText, Layout::Text | Layout::LongText) => from.clone(),
        (Layout::List(from), Layout::List(to)) => read_as(from, to)?.list(),
        (Layout::Columns(from), Layout::Columns(to) | Layout::List(to)) => {
            Layout::Columns(Box::new(read_as(from, to)?))
        }
        (Layout::Flagged(from), Layout::Flagged(to)) => Layout::Flagged(Box::new(read_as(from, to)?)),
        (Layout::Fixed(size, from), Layout::Fixed(other, to)) if size == other => {
            Layout::Fixed(*size, Box::new(read_as(from, to)?))
        }
        (Layout::Counted { slot, flag, of }, Layout::Counted { of: to, .. }) => {
            Layout::Counted { slot: *slot, flag: *flag, of: Box::new(read_as(of, to)?) }
        }
        (Layout::Tuple(from), Layout::Tuple(to)) if from.len() == to.len() => {
            let items: Option<Vec<_>> = from.iter().zip(to).map(|(from, to)| read_as(from, to)).collect();
            Layout::Tuple(items?)
        }
        (
            Layout::Record { name, fields } | Layout::Arranged { name, fields, .. },
            Layout::Record { fields: to, .. },
        ) => record(name.as_ref(), fields, to)?,
        _ => return None,
    })
}

/// Replaces the numbers of `to` that `from` packs differently, or lacks, by [`Layout::Mixed`], which keeps
/// the packing of each number. Returns whether there are any.
pub(super) fn mix(from: &Layout, to: &mut Layout) -> bool {
    if from == to {
        return false;
    }
    match (from, to) {
        (Layout::Number(from), to) if let Layout::Number(wire) = *to => {
            let mixes = *from != wire && (is_packed(*from) || is_packed(wire));
            if mixes {
                *to = Layout::Mixed(wire, wire.dtype());
            }
            mixes
        }
        (Layout::Framed { of, .. } | Layout::Base(of) | Layout::Between(_, of, _), to) => mix(of, to),
        (Layout::Versioned(arms), to) => arms.iter().fold(false, |mixed, (_, arm)| mix(arm, to) | mixed),
        (from, Layout::Framed { of, .. } | Layout::Base(of) | Layout::Between(_, of, _)) => mix(from, of),
        (from, Layout::Versioned(arms)) => first_changes(arms, |first| mix(from, first)),
        (Layout::Absent(_), to) => may_lack(to),
        (Layout::List(from) | Layout::Columns(from), Layout::List(to) | Layout::Columns(to))
        | (Layout::Fixed(_, from), Layout::Fixed(_, to))
        | (Layout::Flagged(from), Layout::Flagged(to))
        | (Layout::Counted { of: from, .. }, Layout::Counted { of: to, .. }) => mix(from, to),
        (Layout::Tuple(from), Layout::Tuple(to)) => {
            from.iter().zip(to).fold(false, |mixed, (from, to)| mix(from, to) | mixed)
        }
        (
            Layout::Record { fields, .. } | Layout::Arranged { fields, .. },
            Layout::Record { fields: to, .. },
        ) => to.iter_mut().filter(|(_, to)| !to.is_skipped()).fold(false, |mixed, (name, to)| {
            let same = fields.iter().find(|(known, field)| known == name && !field.is_skipped());
            let mixes = match same {
                Some((_, field)) => mix(field, to),
                None => may_lack(to),
            };
            mixes | mixed
        }),
        _ => false,
    }
}

/// Applies a change to the first of several versions, and converts the others to it if it changed. Versions
/// that cannot be converted are removed. Returns whether the first changed.
fn first_changes(arms: &mut Vec<(When, Layout)>, change: impl FnOnce(&mut Layout) -> bool) -> bool {
    let Some((_, first)) = arms.first_mut() else { return false };
    if !change(first) {
        return false;
    }
    let first = first.clone();
    let others = arms.split_off(1).into_iter();
    arms.extend(others.filter_map(|(when, arm)| Some((when, read_as(&arm, &first)?))));
    true
}

/// Replaces numbers packed by a range by [`Layout::Mixed`], for versions that lack them: zero may not be
/// within the range. Returns whether there are any.
fn may_lack(schema: &mut Layout) -> bool {
    match schema {
        Layout::Number(wire @ Encoding::Scaled { .. }) => {
            *schema = Layout::Mixed(*wire, wire.dtype());
            true
        }
        Layout::Framed { of, .. }
        | Layout::Base(of)
        | Layout::Between(_, of, _)
        | Layout::Absent(of)
        | Layout::Fixed(_, of)
        | Layout::Flagged(of) => may_lack(of),
        Layout::Versioned(arms) => first_changes(arms, may_lack),
        Layout::Tuple(items) => items.iter_mut().fold(false, |mixed, item| may_lack(item) | mixed),
        Layout::Record { fields, .. } | Layout::Arranged { fields, .. } => {
            fields.iter_mut().fold(false, |mixed, (_, field)| may_lack(field) | mixed)
        }
        _ => false,
    }
}

const fn is_packed(wire: Encoding) -> bool {
    matches!(wire, Encoding::Scaled { .. } | Encoding::Truncated { .. })
}

fn number(from: Encoding, to: Encoding) -> Option<Layout> {
    match (is_packed(from), is_packed(to)) {
        (false, false) if from.dtype() == to.dtype() => Some(Layout::Number(from)),
        (false, false) => Some(Layout::Converted(from, to.dtype())),
        _ => None,
    }
}

/// Matches the fields of two versions by name. Fields that `to` lacks are skipped; those that `from` lacks
/// become zero or empty.
fn record(name: Option<&String>, from: &[(String, Layout)], to: &[(String, Layout)]) -> Option<Layout> {
    let mut fields: Vec<(String, Layout)> = Vec::with_capacity(from.len());
    for (name, field) in from {
        let wanted = to.iter().find(|(known, _)| known == name).filter(|(_, field)| !field.is_skipped());
        let field = match wanted {
            _ if field.is_skipped() => field.clone(),
            Some((_, to)) => read_as(field, to)?,
            None => Layout::Skipped(Box::new(field.clone())),
        };
        fields.push((name.clone(), field));
    }
    let mut order = Vec::with_capacity(to.len());
    for (name, field) in to {
        if field.is_skipped() {
            continue;
        }
        let at = fields.iter().position(|(known, field)| known == name && !field.is_skipped());
        // Absent values take no bytes in the file, so an object must not get many of them.
        if at.is_none() && weight(field) > MOST_ABSENT {
            return None;
        }
        let at = at.unwrap_or_else(|| {
            let absent = match field {
                Layout::Base(of) => Layout::Base(Box::new(Layout::Absent(of.clone()))),
                other => Layout::Absent(Box::new(other.clone())),
            };
            fields.push((name.clone(), absent));
            fields.len() - 1
        });
        order.push(at as u32);
    }
    Some(Layout::Arranged { name: name.cloned(), fields, order })
}

/// Returns the number of numbers that are delivered for an absent value.
fn weight(schema: &Layout) -> u64 {
    let all = |fields: &[(String, Layout)]| {
        fields.iter().map(|(_, field)| weight(field)).fold(0, u64::saturating_add)
    };
    match schema {
        Layout::Fixed(size, of) => size.saturating_mul(weight(of)),
        Layout::Record { fields, .. } | Layout::Arranged { fields, .. } => all(fields),
        Layout::Framed { of, .. } | Layout::Base(of) | Layout::Absent(of) | Layout::Between(_, of, _) => {
            weight(of)
        }
        Layout::Versioned(arms) => arms.first().map_or(0, |(_, first)| weight(first)),
        Layout::Tuple(items) => items.iter().map(weight).fold(0, u64::saturating_add),
        _ => 1,
    }
}

/// Upper bound on the numbers that are delivered for an absent member.
const MOST_ABSENT: u64 = 256;
