//! Comparison of two objects, member by member.

use crate::{DiffOptions, ObjectDiff};
use forthwith_columns::safe_text;
use forthwith_root::{Object, Objects, Value, text};
use std::collections::HashSet;

/// Depth of nested objects to which members are compared.
const DEEPEST: usize = 64;
/// Number of characters of a value that are shown.
const SHOWN: usize = 60;

/// Compares all members of two objects, of their bases and of the objects that they point to. `fUniqueID` and
/// `fBits`, which describe an object in memory, are ignored.
pub(super) fn diff_objects(left: &Objects, right: &Objects, options: &DiffOptions) -> ObjectDiff {
    let payloads = [&left.payload()[..], &right.payload()[..]];
    let mut walk = Walk { options, payloads, found: ObjectDiff::default(), seen: HashSet::new() };
    walk.objects([left.top(), right.top()], "", 0);
    walk.found
}

struct Walk<'o> {
    options: &'o DiffOptions,
    payloads: [&'o [u8]; 2],
    found: ObjectDiff,
    /// Pairs of objects that were compared before, by their numbers.
    seen: HashSet<[u32; 2]>,
}

impl Walk<'_> {
    fn objects(&mut self, pair: [Object<'_>; 2], path: &str, depth: usize) {
        let [left, right] = pair;
        if !self.seen.insert(pair.map(Object::number)) {
            return;
        }
        if left.class() != right.class() {
            let path = if path.is_empty() { "class" } else { path };
            return self.differs(path, pair.map(|object| object.class().to_owned()));
        }
        if depth > DEEPEST {
            self.found.error.get_or_insert_with(|| format!("objects nested more than {DEEPEST} deep"));
            return;
        }
        if pair.iter().any(|object| object.is_opaque() || object.fault().is_some()) {
            return self.opaque(pair, path);
        }
        self.members(pair, path, depth);
        if let (Some(one), Some(other)) = (left.inner(), right.inner()) {
            self.values([one, other], path, depth);
        }
        let items = pair.map(Object::items);
        if items[0].len() != items[1].len() {
            return self.differs(path, items.map(|items| format!("{} objects", items.len())));
        }
        let [one, other] = items;
        for (at, pair) in one.zip(other).enumerate() {
            let values = [pair.0, pair.1].map(|item| item.map_or(Value::Null, Value::Object));
            self.values(values, &format!("{path}[{at}]"), depth);
        }
    }

    fn members(&mut self, pair: [Object<'_>; 2], path: &str, depth: usize) {
        let [left, right] = pair.map(|object| object.members().collect::<Vec<_>>());
        let same_names = left.iter().map(|(name, _)| name).eq(right.iter().map(|(name, _)| name));
        if !same_names {
            let names = |members: &[(&str, Value<'_>)]| {
                members.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
            };
            return self.differs(path, [names(&left), names(&right)]);
        }
        for ((name, one), (_, other)) in left.into_iter().zip(right) {
            if name == "fUniqueID" || name == "fBits" {
                continue;
            }
            let path = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
            self.values([one, other], &path, depth);
        }
    }

    fn values(&mut self, pair: [Value<'_>; 2], path: &str, depth: usize) {
        let same = match &pair {
            [Value::Null, Value::Null] => true,
            [Value::Bool(left), Value::Bool(right)] => left == right,
            [Value::Int(left), Value::Int(right)] => left == right,
            [Value::UInt(left), Value::UInt(right)] => left == right,
            [Value::Float(left), Value::Float(right)] => self.options.are_equal(*left, *right),
            [Value::Text(left), Value::Text(right)] => left == right,
            [Value::Skipped(left), Value::Skipped(right)] => left == right,
            [Value::Elsewhere(_), Value::Elsewhere(_)] => true,
            [Value::Object(left), Value::Object(right)] => {
                return self.objects([*left, *right], path, depth + 1);
            }
            [Value::Array(left), Value::Array(right)] if left.bytes == right.bytes => {
                left.basic == right.basic
            }
            [Value::Array(left), Value::Array(right)] => {
                return self.numbers([left.floats().collect(), right.floats().collect()], path);
            }
            [Value::Packed(left), Value::Packed(right)] => {
                return self.numbers([left.floats().collect(), right.floats().collect()], path);
            }
            [Value::List(left), Value::List(right)] if left.len() == right.len() => {
                for (at, (left, right)) in left.clone().zip(right.clone()).enumerate() {
                    self.values([left, right], &format!("{path}[{at}]"), depth + 1);
                }
                return;
            }
            [Value::Objects(left), Value::Objects(right)] if left.len() == right.len() => {
                for (at, (left, right)) in left.clone().zip(right.clone()).enumerate() {
                    let values = [left, right].map(|item| item.map_or(Value::Null, Value::Object));
                    self.values(values, &format!("{path}[{at}]"), depth + 1);
                }
                return;
            }
            _ => false,
        };
        if !same {
            self.differs(path, pair.map(shown));
        }
    }

    fn numbers(&mut self, pair: [Vec<f64>; 2], path: &str) {
        if pair[0].len() != pair[1].len() {
            return self.differs(path, pair.map(|numbers| format!("{} numbers", numbers.len())));
        }
        for (at, (left, right)) in pair[0].iter().zip(&pair[1]).enumerate() {
            if !self.options.are_equal(*left, *right) {
                self.differs(&format!("{path}[{at}]"), [left, right].map(ToString::to_string));
            }
        }
    }

    /// Compares objects that cannot be decoded by their bytes.
    fn opaque(&mut self, pair: [Object<'_>; 2], path: &str) {
        let [left, right] = self.payloads;
        let bytes = [left.get(pair[0].range()), right.get(pair[1].range())].map(Option::unwrap_or_default);
        if bytes[0] != bytes[1] {
            self.differs(path, bytes.map(|bytes| format!("{} bytes that are not understood", bytes.len())));
        }
    }

    fn differs(&mut self, path: &str, values: [String; 2]) {
        self.found.differing += 1;
        if self.found.first.len() < self.options.most {
            self.found.first.push((path.to_owned(), values.map(cut)));
        }
    }
}

fn shown(value: Value<'_>) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::UInt(value) => value.to_string(),
        Value::Float(value) => value.to_string(),
        Value::Text(bytes) => format!("'{}'", text(bytes)),
        Value::Array(array) => format!("{} numbers", array.len()),
        Value::Packed(packed) => format!("{} numbers", packed.len()),
        Value::List(list) => format!("{} values", list.len()),
        Value::Object(object) => object.class().to_owned(),
        Value::Objects(items) => format!("{} objects", items.len()),
        Value::Skipped(bytes) => format!("{} bytes that are not read", bytes.len()),
        _ => "a pointer".into(),
    }
}

fn cut(text: String) -> String {
    let text = safe_text(&text);
    if text.chars().count() <= SHOWN {
        return text.into_owned();
    }
    text.chars().take(SHOWN - 1).chain(['…']).collect()
}
