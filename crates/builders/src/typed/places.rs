//! The places of a type at which a builder can be: what is expected there, and what comes next. They are the
//! states of its program, too.

use super::offers::Offer;
use crate::table::{Columns, Nodes};
use std::collections::BTreeSet;
use std::ops::Range;

/// The place of a value, or the one between the fields of a record.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) here: Here,
    /// The number of the field or slot.
    pub(super) field: u32,
    /// The alternative of a union that was chosen.
    pub(super) tag: Option<u8>,
    /// The places of the alternatives that can be chosen.
    pub(super) tags: Range<u32>,
    /// The ways to tell a value.
    pub(super) offers: Box<[Offer]>,
}

/// What is asked of a place with every command.
#[derive(Clone, Copy, Debug)]
pub(super) struct Here {
    /// The node of the value; [`NOWHERE`] between the fields of a record.
    pub(super) node: u32,
    /// The list, tuple or record in which it is; [`NOWHERE`] for entries.
    pub(super) inside: u32,
    /// The place after the value.
    pub(super) next: u32,
    /// Whether a value may be appended without more than a look at its column.
    pub(super) quick: bool,
    /// Whether there may be all items already: in lists of one length.
    pub(super) counted: bool,
    /// Whether the next value is at this place, too, whatever is appended.
    pub(super) stays: bool,
    /// Whether it is that of a field or slot.
    pub(super) fills: bool,
}

/// All places. That of entries is number 0.
#[derive(Debug)]
pub(super) struct Places {
    all: Vec<Place>,
    /// Of each node, the place of its values: its own, or that of the options and unions around it.
    outer: Vec<u32>,
    /// Of each list the place of its items; of each tuple and record the one between its fields.
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

    /// A place with the alternatives there are.
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

    /// The places within the lists, tuples and records that may be begun at a place.
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

    /// The number of the place that is added next.
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

    /// The place of the values of a node.
    #[inline]
    pub(super) fn of(&self, node: u32) -> &Place {
        self.at(self.outer[node as usize])
    }

    /// The place at which a builder is after a list, tuple or record was begun.
    #[inline]
    pub(super) fn inside(&self, node: u32) -> u32 {
        self.inner[node as usize]
    }

    /// The number of that place.
    #[inline]
    pub(super) fn number_of(&self, content: u32) -> u32 {
        self.outer[content as usize]
    }

    /// Where it is in an entry: `[].x` is the field `x` of an item of a list, `|1` the alternative 1 of a
    /// union.
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
