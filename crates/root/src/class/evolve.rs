//! One version of a class read as another.

use forthwith_columns::Wire;
use forthwith_program::Schema;

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
        (Schema::Text | Schema::LongText, Schema::Text | Schema::LongText) => from.clone(),
        (Schema::List(from), Schema::List(to)) => read_as(from, to)?.list(),
        (Schema::Columns(from), Schema::Columns(to) | Schema::List(to)) => {
            Schema::Columns(Box::new(read_as(from, to)?))
        }
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

fn number(from: Wire, to: Wire) -> Option<Schema> {
    let packed = |wire| matches!(wire, Wire::Scaled { .. } | Wire::Truncated { .. });
    match (packed(from), packed(to)) {
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
