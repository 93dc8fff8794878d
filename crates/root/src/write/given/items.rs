//! Serialisation of the items of standard library containers.

use std::borrow::Cow;

use forthwith_plan::Result;

use super::Given;
use super::place::Place;
use super::plain::Values;
use super::writer::Writer;
use crate::class::Item;
use crate::cpp::{CppType, MANTISSA, Number, Packing};

impl Writer<'_> {
    /// Appends an item, or a container as its count and items. `kind` is the type.
    pub(super) fn item(&mut self, at: &Place<'_>, item: &Item, kind: &CppType, value: &Given) -> Result<()> {
        match item {
            Item::Number(of) => match of.basic {
                Some(basic) => self.number(at, basic, value),
                None => self.packed(at, Packing::Mantissa { bits: MANTISSA.into() }, value),
            },
            Item::Text => self.text(at, value),
            Item::LongText => self.long_text(at, value),
            Item::Pointer(_) => self.pointer(at, value),
            Item::Class(class) => self.in_place(at, class, value),
            Item::Unknown(name) | Item::Memberless(name) => {
                Err(at.unsupported(&format!("items of class {name}, which the file does not describe")))
            }
            Item::List(_, inner) => self.list(at, inner, kind, value),
            Item::Map(_, pair) => {
                let types = halves(kind);
                let entries = entries(at, value)?;
                self.buffer.count(entries.len());
                for [key, value] in entries {
                    self.item(at, &pair.items[0], types[0], &key)?;
                    self.item(at, &pair.items[1], types[1], &value)?;
                }
                Ok(())
            }
            Item::Pair(pair) => {
                let values = Values::of_row(value);
                let [first, second] = values.as_slice() else {
                    return Err(at.wrong("a list of two values", value));
                };
                let types = halves(kind);
                self.described(at, kind, |writer| {
                    writer.value(&at.part(types[0]), &pair.members[0], first)?;
                    writer.value(&at.part(types[1]), &pair.members[1], second)
                })
            }
            Item::Array(array) => {
                let mut inner = kind;
                while let CppType::Array(of, _) = inner {
                    inner = of;
                }
                let part = at.part(inner);
                self.described(at, kind, |writer| writer.value(&part, array, value))
            }
        }
    }

    fn list(&mut self, at: &Place<'_>, item: &Item, kind: &CppType, value: &Given) -> Result<()> {
        let inner = match kind {
            CppType::Sequence(_, inner) | CppType::Array(inner, _) => inner,
            kind => kind,
        };
        match (item, value) {
            (Item::Number(Number { basic: Some(basic), .. }), Given::Numbers(_) | Given::Integers(_)) => {
                let values = Values::of(value);
                self.buffer.count(values.len());
                self.numbers(at, *basic, &values)
            }
            (_, Given::List(_) | Given::Numbers(_) | Given::Integers(_)) => {
                let items = Values::of_row(value);
                self.buffer.count(items.len());
                items.iter().try_for_each(|value| self.item(at, item, inner, value))
            }
            (_, other) => Err(at.wrong("a list", other)),
        }
    }

    /// Appends a pair or array as an object of the class that the file describes for its type.
    fn described(
        &mut self,
        at: &Place<'_>,
        kind: &CppType,
        body: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let streamers = self.layouts.streamers();
        let info = match streamers.spelled(kind) {
            Some(name) => streamers.latest(name)?,
            None => None,
        };
        let Some(info) = info else {
            let what = format!("items of type {}, which the file does not describe", kind.spelling());
            return Err(at.unsupported(&what));
        };
        self.framed(&info, body)
    }
}

impl<'g> Values<'g> {
    /// Returns the items of a list or of numbers; an empty list for other values.
    fn of_row(value: &'g Given) -> Vec<Cow<'g, Given>> {
        match value {
            Given::List(items) => items.iter().map(Cow::Borrowed).collect(),
            Given::Numbers(row) => row.iter().map(|&of| Cow::Owned(Given::Float(of))).collect(),
            Given::Integers(row) => row.iter().map(|&of| Cow::Owned(Given::Int(of))).collect(),
            _ => Vec::new(),
        }
    }
}

/// Returns the keys and values of a map.
fn entries<'g>(at: &Place<'_>, value: &'g Given) -> Result<Vec<[Cow<'g, Given>; 2]>> {
    let named =
        |(key, value): (&String, &'g Given)| [Cow::Owned(Given::Text(key.clone())), Cow::Borrowed(value)];
    match value {
        Given::Named(entries) => Ok(entries.iter().map(named).collect()),
        Given::List(entries) => {
            let pair = |entry: &'g Given| <[_; 2]>::try_from(Values::of_row(entry)).ok();
            let pairs: Option<_> = entries.iter().map(pair).collect();
            pairs.ok_or_else(|| at.invalid("has entries that are no lists of key and value".into()))
        }
        Given::Numbers(values) if values.is_empty() => Ok(Vec::new()),
        Given::Integers(values) if values.is_empty() => Ok(Vec::new()),
        other => Err(at.wrong("a map, or a list of keys and values", other)),
    }
}

/// Returns the two types of a pair or map.
fn halves(kind: &CppType) -> [&CppType; 2] {
    match kind {
        CppType::Map(_, first, second) | CppType::Pair(first, second) => [first, second],
        kind => [kind; 2],
    }
}
