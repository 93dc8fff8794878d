//! One version of a class read as another.

use forthwith_columns::Wire;
use forthwith_program::{Schema, When};

/// Data of the schema `from`, delivered as `to` would be; `None` if they cannot be.
pub(super) fn read_as(from: &Schema, to: &Schema) -> Option<Schema> {
    if from == to {
        return Some(from.clone());
    }
    Some(match (from, to) {
        (Schema::Framed { shared, of }, Schema::Framed { of: to, .. }) => {
            Schema::Framed { shared: *shared, of: Box::new(read_as(of, to)?) }
        }
        // Text is delivered the same whether it has a frame or not.
        (Schema::Framed { shared, of }, to) => {
            Schema::Framed { shared: *shared, of: Box::new(read_as(of, to)?) }
        }
        (from, Schema::Framed { of, .. }) => read_as(from, of)?,
        (Schema::Versioned(arms), to) => {
            let to = match to {
                Schema::Versioned(arms) => &arms.first()?.1,
                other => other,
            };
            let arms: Option<Vec<_>> =
                arms.iter().map(|(when, arm)| Some((*when, read_as(arm, to)?))).collect();
            Schema::Versioned(arms?)
        }
        (from, Schema::Versioned(arms)) => read_as(from, &arms.first()?.1)?,
        (Schema::Base(of), Schema::Base(to)) => Schema::Base(Box::new(read_as(of, to)?)),
        (Schema::Between(before, of, behind), Schema::Between(_, to, _)) => {
            Schema::Between(before.clone(), Box::new(read_as(of, to)?), behind.clone())
        }
        (Schema::Counter(slot, of), Schema::Counter(_, to)) if of == to => Schema::Counter(*slot, of.clone()),
        (Schema::Counter(slot, of), to) if **of == *to => Schema::Counter(*slot, of.clone()),
        (from, Schema::Counter(_, to)) => read_as(from, to)?,
        (Schema::Number(from), Schema::Number(to)) => number(*from, *to)?,
        (
            Schema::Number(from) | Schema::Mixed(from, _) | Schema::Converted(from, _),
            Schema::Mixed(_, dtype),
        ) => Schema::Mixed(*from, *dtype),
        (Schema::Absent(_), to) if weight(to) <= MOST_ABSENT => Schema::Absent(Box::new(to.clone())),
        (Schema::Text | Schema::LongText, Schema::Text | Schema::LongText) => from.clone(),
        (Schema::List(from), Schema::List(to)) => read_as(from, to)?.list(),
        (Schema::Columns(from), Schema::Columns(to) | Schema::List(to)) => {
            Schema::Columns(Box::new(read_as(from, to)?))
        }
        (Schema::Flagged(from), Schema::Flagged(to)) => Schema::Flagged(Box::new(read_as(from, to)?)),
        (Schema::Fixed(size, from), Schema::Fixed(other, to)) if size == other => {
            Schema::Fixed(*size, Box::new(read_as(from, to)?))
        }
        (Schema::Counted { slot, flag, of }, Schema::Counted { of: to, .. }) => {
            Schema::Counted { slot: *slot, flag: *flag, of: Box::new(read_as(of, to)?) }
        }
        (Schema::Tuple(from), Schema::Tuple(to)) if from.len() == to.len() => {
            let items: Option<Vec<_>> = from.iter().zip(to).map(|(from, to)| read_as(from, to)).collect();
            Schema::Tuple(items?)
        }
        (
            Schema::Record { name, fields } | Schema::Arranged { name, fields, .. },
            Schema::Record { fields: to, .. },
        ) => record(name.as_ref(), fields, to)?,
        _ => return None,
    })
}

/// Numbers of `to` that `from` packs otherwise, or does not have, become such as are stored in several ways. Whether there were any.
pub(super) fn mix(from: &Schema, to: &mut Schema) -> bool {
    if from == to {
        return false;
    }
    match (from, to) {
        (Schema::Number(from), to) if let Schema::Number(wire) = *to => {
            let mixes = *from != wire && (is_packed(*from) || is_packed(wire));
            if mixes {
                *to = Schema::Mixed(wire, wire.dtype());
            }
            mixes
        }
        (Schema::Framed { of, .. } | Schema::Base(of) | Schema::Between(_, of, _), to) => mix(of, to),
        (Schema::Versioned(arms), to) => arms.iter().fold(false, |mixed, (_, arm)| mix(arm, to) | mixed),
        (from, Schema::Framed { of, .. } | Schema::Base(of) | Schema::Between(_, of, _)) => mix(from, of),
        (from, Schema::Versioned(arms)) => first_changes(arms, |first| mix(from, first)),
        (Schema::Absent(_), to) => may_lack(to),
        (Schema::List(from) | Schema::Columns(from), Schema::List(to) | Schema::Columns(to))
        | (Schema::Fixed(_, from), Schema::Fixed(_, to))
        | (Schema::Flagged(from), Schema::Flagged(to))
        | (Schema::Counted { of: from, .. }, Schema::Counted { of: to, .. }) => mix(from, to),
        (Schema::Tuple(from), Schema::Tuple(to)) => {
            from.iter().zip(to).fold(false, |mixed, (from, to)| mix(from, to) | mixed)
        }
        (
            Schema::Record { fields, .. } | Schema::Arranged { fields, .. },
            Schema::Record { fields: to, .. },
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

/// The others of several versions deliver what the first does, also if that changes.
fn first_changes(arms: &mut Vec<(When, Schema)>, change: impl FnOnce(&mut Schema) -> bool) -> bool {
    let Some((_, first)) = arms.first_mut() else { return false };
    if !change(first) {
        return false;
    }
    let first = first.clone();
    let others = arms.split_off(1).into_iter();
    arms.extend(others.filter_map(|(when, arm)| Some((when, read_as(&arm, &first)?))));
    true
}

/// Numbers that may be nowhere: of those within a range, no stored one is sure to mean zero.
fn may_lack(schema: &mut Schema) -> bool {
    match schema {
        Schema::Number(wire @ Wire::Scaled { .. }) => {
            *schema = Schema::Mixed(*wire, wire.dtype());
            true
        }
        Schema::Framed { of, .. }
        | Schema::Base(of)
        | Schema::Between(_, of, _)
        | Schema::Absent(of)
        | Schema::Fixed(_, of)
        | Schema::Flagged(of) => may_lack(of),
        Schema::Versioned(arms) => first_changes(arms, may_lack),
        Schema::Tuple(items) => items.iter_mut().fold(false, |mixed, item| may_lack(item) | mixed),
        Schema::Record { fields, .. } | Schema::Arranged { fields, .. } => {
            fields.iter_mut().fold(false, |mixed, (_, field)| may_lack(field) | mixed)
        }
        _ => false,
    }
}

const fn is_packed(wire: Wire) -> bool {
    matches!(wire, Wire::Scaled { .. } | Wire::Truncated { .. })
}

fn number(from: Wire, to: Wire) -> Option<Schema> {
    match (is_packed(from), is_packed(to)) {
        (false, false) if from.dtype() == to.dtype() => Some(Schema::Number(from)),
        (false, false) => Some(Schema::Converted(from, to.dtype())),
        _ => None,
    }
}

/// Members by their names: what is not wanted is stepped over, what is not there is zero or empty.
fn record(name: Option<&String>, from: &[(String, Schema)], to: &[(String, Schema)]) -> Option<Schema> {
    let mut fields: Vec<(String, Schema)> = Vec::with_capacity(from.len());
    for (name, field) in from {
        let wanted = to.iter().find(|(known, _)| known == name).filter(|(_, field)| !field.is_skipped());
        let field = match wanted {
            _ if field.is_skipped() => field.clone(),
            Some((_, to)) => read_as(field, to)?,
            None => Schema::Skipped(Box::new(field.clone())),
        };
        fields.push((name.clone(), field));
    }
    let mut order = Vec::with_capacity(to.len());
    for (name, field) in to {
        if field.is_skipped() {
            continue;
        }
        let at = fields.iter().position(|(known, field)| known == name && !field.is_skipped());
        // What every object gets for nothing must not be more than a small multiple of its bytes.
        if at.is_none() && weight(field) > MOST_ABSENT {
            return None;
        }
        let at = at.unwrap_or_else(|| {
            let absent = match field {
                Schema::Base(of) => Schema::Base(Box::new(Schema::Absent(of.clone()))),
                other => Schema::Absent(Box::new(other.clone())),
            };
            fields.push((name.clone(), absent));
            fields.len() - 1
        });
        order.push(at as u32);
    }
    Some(Schema::Arranged { name: name.cloned(), fields, order })
}

/// How many numbers stand for a value that is not there.
fn weight(schema: &Schema) -> u64 {
    let all = |fields: &[(String, Schema)]| {
        fields.iter().map(|(_, field)| weight(field)).fold(0, u64::saturating_add)
    };
    match schema {
        Schema::Fixed(size, of) => size.saturating_mul(weight(of)),
        Schema::Record { fields, .. } | Schema::Arranged { fields, .. } => all(fields),
        Schema::Framed { of, .. } | Schema::Base(of) | Schema::Absent(of) | Schema::Between(_, of, _) => {
            weight(of)
        }
        Schema::Versioned(arms) => arms.first().map_or(0, |(_, first)| weight(first)),
        Schema::Tuple(items) => items.iter().map(weight).fold(0, u64::saturating_add),
        _ => 1,
    }
}

/// Numbers that stand for a member that is not there, at most.
const MOST_ABSENT: u64 = 256;
