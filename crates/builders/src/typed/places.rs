//! Places of a type at which a builder can be: the expected value and the following place. They are also the
//! states of the program.

use super::offers::Offer;
use crate::table::{Columns, Nodes};
use std::collections::BTreeSet;
use std::ops::Range;

/// Place of a value, or the place between the fields of a record.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) here: Here,
    /// Number of the field or slot.
    pub(super) field: u32,
    /// Selected alternative of a union.
    pub(super) tag: Option<u8>,
    /// Places of the alternatives that can be selected.
    pub(super) tags: Range<u32>,
    /// Commands that can begin a value.
    pub(super) offers: Box<[Offer]>,
}

/// Properties of a place that every command uses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Here {
    /// Node of the value; [`NOWHERE`] between the fields of a record.
    pub(super) node: u32,
    /// Enclosing list, tuple or record; [`NOWHERE`] for entries.
    pub(super) inside: u32,
    /// Place after the value.
    pub(super) next: u32,
    /// Whether a value can be appended by inspecting only its column.
    pub(super) quick: bool,
    /// Whether the number of items is limited, in lists of fixed size.
    pub(super) counted: bool,
    /// Whether the next value is always at this place, too.
    pub(super) stays: bool,
    /// Whether this is the place of a field or slot.
    pub(super) fills: bool,
}

/// All places of a type. Place 0 is that of entries.
#[derive(Debug)]
pub(super) struct Places {
    all: Vec<Place>,
    /// For each node, the place of its values: that of the outermost enclosing option or union, if any.
    outer: Vec<u32>,
    /// For each list, the place of its items; for each tuple and record, the place between its fields.
    inner: Vec<u32>,
}

pub(super) const NOWHERE: u32 = u32::MAX;

impl Places {
    pub(super) fn new(nodes: &Nodes) -> Self {
        let none = || nodes.numbers().map(|_| NOWHERE).collect();
        let mut places = Self { all: Vec::new(), outer: none(), inner: none() };
        places.value(nodes, [0, NOWHERE, 0], None);
        places
    }

    /// Adds the place of a value, and places for its alternatives.
    fn value(&mut self, nodes: &Nodes, [node, inside, field]: [u32; 3], next: Option<u32>) {
        let offers = nodes.offers(node);
        let tags: BTreeSet<u8> = offers.iter().filter_map(|offer| offer.tag).collect();
        let at = self.next();
        let counted = inside != NOWHERE && matches!(nodes.at(inside), Columns::Regular { .. });
        for tag in std::iter::once(None).chain(tags.iter().copied().map(Some)) {
            let meant = offers.iter().filter(|offer| tag.is_none() || offer.tag == tag).copied();
            let here = Here {
                node,
                inside,
                next: next.unwrap_or(at),
                quick: tag.is_none(),
                counted,
                stays: tag.is_none() && next.is_none() && !counted,
                fills: next.is_some(),
            };
            let tags = at + 1..at + 1 + tags.len() as u32;
            self.all.push(Place { here, field, tag, tags, offers: meant.collect() });
        }
        self.within(nodes, node, at);
    }

    /// Adds the places within the lists, tuples and records that can begin at a place.
    fn within(&mut self, nodes: &Nodes, node: u32, at: u32) {
        self.outer[node as usize] = at;
        match nodes.at(node) {
            Columns::List { content, .. } | Columns::Regular { content, .. } => {
                self.inner[node as usize] = self.next();
                self.value(nodes, [*content, node, 0], None);
            }
            Columns::Record(record) => {
                let between = self.next();
                self.inner[node as usize] = between;
                let (quick, counted, stays, fills) = (false, false, false, false);
                let here = Here { node: NOWHERE, inside: node, next: between, quick, counted, stays, fills };
                self.all.push(Place { here, field: 0, tag: None, tags: 0..0, offers: Box::default() });
                for (field, at) in record.fields.iter().zip(0..) {
                    self.value(nodes, [field.content, node, at], Some(between));
                }
            }
            _ => nodes.below(node, 0).into_iter().for_each(|(content, _)| self.within(nodes, content, at)),
        }
    }

    /// Returns the number of the next place to be added.
    fn next(&self) -> u32 {
        self.all.len() as u32 // not many more than there are nodes
    }

    pub(super) fn all(&self) -> &[Place] {
        &self.all
    }

    #[inline(always)]
    pub(super) fn at(&self, place: u32) -> &Place {
        &self.all[place as usize]
    }

    /// Returns the place of the values of a node.
    #[inline]
    pub(super) fn of(&self, node: u32) -> &Place {
        self.at(self.outer[node as usize])
    }

    /// Returns the number of the place after a list, tuple or record was begun.
    #[inline]
    pub(super) fn inside(&self, node: u32) -> u32 {
        self.inner[node as usize]
    }

    /// Returns the number of the place of the values of a node.
    #[inline]
    pub(super) fn number_of(&self, content: u32) -> u32 {
        self.outer[content as usize]
    }

    /// Returns the path of a place in an entry: `[].x` is the field `x` of an item of a list, `|1` is
    /// alternative 1 of a union.
    pub(super) fn path(&self, nodes: &Nodes, place: u32) -> String {
        let Place { here: Here { node, inside, .. }, field, tag, .. } = *self.at(place);
        let mut path = String::new();
        if inside != NOWHERE {
            path = self.path(nodes, self.outer[inside as usize]);
            match nodes.record(inside) {
                None => path.push_str("[]"),
                Some(record) if node != NOWHERE => path.extend([".", &record.name_of(field as usize)]),
                Some(_) => {}
            }
        }
        if let Some(tag) = tag {
            path.push_str(&format!("|{tag}"));
        }
        path
    }
}
