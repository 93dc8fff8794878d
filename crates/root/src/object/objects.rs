//! Objects that were read: by number in a few flat tables, and the views of them.

mod arrays;
mod labels;

pub(super) use arrays::number;

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use forthwith_plan::{Error, ErrorKind, Result};

use super::marks::{Marks, SpotKind};
use super::steps::{COUNTED, Steps};
use crate::class::Numbers;
use crate::record::{Cursor, text};
use forthwith_columns::DType;

/// The object of a record with everything it points to.
///
/// Objects are numbers into shared tables, text and arrays are ranges of the payload: a tree with thousands
/// of branches is a handful of allocations, and pointers that lead in a circle are nothing special.
#[derive(Debug, Default)]
pub struct Objects {
    pub(super) payload: Bytes,
    pub(super) origin: u32,
    pub(super) nodes: Vec<Node>,
    pub(super) members: Vec<Member>,
    pub(super) links: Vec<u32>,
    pub(super) classes: Vec<Arc<str>>,
    pub(super) layouts: Vec<Arc<Steps>>,
    pub(super) packs: Vec<Numbers>,
    pub(super) made: Vec<(DType, Box<[u8]>)>,
    pub(super) faults: Vec<(u32, Error)>,
    pub(super) unread: u32,
    pub(super) leftovers: Vec<Leftover>,
    pub(super) marks: Option<Marks>,
}

/// Bytes of an object, a base or a container behind everything that is known of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leftover {
    /// The class whose object it is in.
    pub class: Arc<str>,
    /// Offset of the first byte.
    pub begin: usize,
    /// The number of bytes.
    pub length: usize,
}

/// The kinds of lists of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Values in order.
    List,
    /// Values of a set.
    Set,
    /// Keys and values of a map, in turn.
    Map,
    /// The two values of a pair.
    Pair,
}

/// One object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) class: u32,
    pub(super) version: i16,
    pub(super) begin: u32,
    pub(super) body: u32,
    pub(super) end: u32,
    pub(super) contents: Contents,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Contents {
    Members { layout: u32, first: u32 },
    Items { first: u32, count: u32, name: (u32, u32) },
    Member { first: u32 },
    Opaque,
}

/// One member.
#[derive(Clone, Copy, Debug)]
pub(super) enum Member {
    Null,
    Bool(bool),
    Int(i64),
    UInt(u64),
    Float(f64),
    Text(u32, u32),
    Array(DType, u32, u32),
    Packed(u16, u32, u32),
    /// Numbers that were made of those in the payload.
    Made(u32),
    List(Shape, u32, u32),
    Object(u32),
    Objects(u32, u32),
    Elsewhere(u32),
    Skipped(u32, u32),
}

/// No object, among links.
pub(super) const NONE: u32 = u32::MAX;

/// An object: a view into [`Objects`].
#[derive(Clone, Copy)]
pub struct Object<'a> {
    objects: &'a Objects,
    number: u32,
}

/// A member's value.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Value<'a> {
    /// A null pointer.
    Null,
    /// A truth value.
    Bool(bool),
    /// A signed number.
    Int(i64),
    /// An unsigned number.
    UInt(u64),
    /// A floating-point number.
    Float(f64),
    /// Text, in whatever encoding the writer used: see [`text`].
    Text(&'a [u8]),
    /// Numbers.
    Array(Array<'a>),
    /// Packed numbers.
    Packed(Packed<'a>),
    /// Values of a container.
    List(List<'a>),
    /// An object in place, or a pointer's.
    Object(Object<'a>),
    /// Several objects.
    Objects(Items<'a>),
    /// A pointer to something at this position of the payload that was not read as an object.
    Elsewhere(usize),
    /// Something that was passed over: its bytes, with byte count.
    Skipped(&'a [u8]),
}

/// Numbers as they are stored.
#[derive(Clone, Copy, Debug)]
pub struct Array<'a> {
    /// Their kind.
    pub basic: DType,
    /// Their bytes, big-endian.
    pub bytes: &'a [u8],
}

/// Packed numbers as they are stored.
#[derive(Clone, Copy, Debug)]
pub struct Packed<'a> {
    numbers: Numbers,
    bytes: &'a [u8],
}

/// Values of a container, in order; keys and values of a map take turns.
#[derive(Clone, Debug)]
pub struct List<'a> {
    objects: &'a Objects,
    shape: Shape,
    members: std::slice::Iter<'a, Member>,
}

/// A base of an object's class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base<'a> {
    /// Its class.
    pub class: &'a str,
    /// Its class version.
    pub version: i32,
    /// Which of the object's members are its own and its bases'.
    pub members: Range<usize>,
    /// 0 if it is a base of the class itself, 1 if it is one of a base, and so on.
    pub depth: u32,
}

/// Objects of a collection, in order. Null pointers are kept as `None`.
#[derive(Clone, Debug)]
pub struct Items<'a> {
    objects: &'a Objects,
    links: std::slice::Iter<'a, u32>,
}

impl Objects {
    /// The object that the record is.
    #[must_use]
    pub fn top(&self) -> Object<'_> {
        // There is always one: reading begins with it.
        Object { objects: self, number: 0 }
    }

    /// The object of this number ([`Object::number`]).
    #[must_use]
    pub fn object(&self, number: u32) -> Option<Object<'_>> {
        ((number as usize) < self.nodes.len()).then_some(Object { objects: self, number })
    }

    /// Number of objects, those in place included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Never: there is always the top object.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Every object, in the order of the payload.
    pub fn iter(&self) -> impl Iterator<Item = Object<'_>> {
        (0..self.nodes.len() as u32).map(|number| Object { objects: self, number })
    }

    /// Number of objects and bases with bytes behind the members that the infos know. ROOT warns of them and
    /// goes on.
    #[must_use]
    pub fn unread(&self) -> u32 {
        self.unread
    }

    /// The faults themselves: the first hundred.
    #[must_use]
    pub fn leftovers(&self) -> &[Leftover] {
        &self.leftovers
    }

    /// A part of an object that could not be read: it and everything in it are opaque, or a member is
    /// skipped.
    pub fn faults(&self) -> impl Iterator<Item = (Object<'_>, &Error)> {
        self.faults.iter().map(|(number, error)| (Object { objects: self, number: *number }, error))
    }

    /// The payload that ranges and positions refer to.
    #[must_use]
    pub fn payload(&self) -> &Bytes {
        &self.payload
    }

    /// Length of the key before the payload.
    #[must_use]
    pub fn origin(&self) -> u32 {
        self.origin
    }

    pub(crate) fn marks(&self) -> Option<&Marks> {
        self.marks.as_ref()
    }

    fn bytes(&self, start: u32, length: u32) -> &[u8] {
        // Ranges were checked when they were made.
        self.payload.get(start as usize..(start + length) as usize).unwrap_or_default()
    }

    fn items(&self, first: u32, count: u32) -> Items<'_> {
        let links = self.links.get(first as usize..(first + count) as usize).unwrap_or_default();
        Items { objects: self, links: links.iter() }
    }
}

impl<'a> Object<'a> {
    /// Its number: the same for every pointer to it.
    #[must_use]
    pub fn number(self) -> u32 {
        self.number
    }

    /// Its class.
    #[must_use]
    pub fn class(self) -> &'a str {
        &self.objects.classes[self.node().class as usize]
    }

    /// Its class version; 0 if its class has none.
    #[must_use]
    pub fn version(self) -> i16 {
        self.node().version
    }

    /// Its range in the payload, from its byte count and class on.
    #[must_use]
    pub fn range(self) -> Range<usize> {
        self.node().begin as usize..self.node().end as usize
    }

    /// The range of its contents, from their own byte count on: bytes that a class with a streamer of its own
    /// wrote.
    #[must_use]
    pub fn body(self) -> Range<usize> {
        self.node().body as usize..self.node().end as usize
    }

    /// Whether its contents were passed over: the class or its version is not known, or is one that only its
    /// own code can read.
    #[must_use]
    pub fn is_opaque(self) -> bool {
        matches!(self.node().contents, Contents::Opaque)
    }

    /// Why its contents were passed over, if they should have been readable.
    #[must_use]
    pub fn fault(self) -> Option<&'a Error> {
        self.objects.faults.iter().find(|(number, _)| *number == self.number).map(|(_, error)| error)
    }

    /// The object itself, unless its contents were passed over: then the reason is the error.
    ///
    /// # Errors
    /// The reason why its contents were passed over.
    pub fn readable(self) -> Result<Self> {
        if !self.is_opaque() {
            return Ok(self);
        }
        let class = self.class();
        let error = match self.fault() {
            Some(Error { kind, place }) => {
                let kind = ErrorKind::NotA {
                    what: "what its streamer info says",
                    found: format!("{class} ({kind})"),
                };
                Error { kind, place: place.clone() }
            }
            None => Error::unsupported(format!(
                "class {class} version {}, which the file does not describe",
                self.version()
            )),
        };
        Err(if error.place.byte.is_some() { error } else { error.at_byte(self.range().start as u64) })
    }

    /// A cursor over its contents, for classes that write them by hand.
    ///
    /// # Errors
    /// The contents are not within the record.
    pub fn cursor(self) -> Result<Cursor<'a>> {
        let Range { start, end } = self.body();
        let mut cursor = Cursor::with_origin(&self.objects.payload, self.objects.origin);
        cursor.seek(start)?;
        cursor.carve(end.saturating_sub(start))
    }

    /// A member, of the class or a base.
    #[must_use]
    pub fn member(self, name: &str) -> Option<Value<'a>> {
        let (steps, first) = self.steps()?;
        Some(self.value(self.objects.members[first + steps.slot(name)? as usize]))
    }

    /// Where a member stands in the payload, of an object that was [read to be edited](super::Walker::read_to_edit).
    #[must_use]
    pub fn place(self, name: &str) -> Option<Range<usize>> {
        let (steps, first) = self.steps()?;
        self.objects.marks.as_ref()?.place(first + steps.slot(name)? as usize)
    }

    /// Where the pointers of a collection of ROOT's stand, in their order, and where the objects begin that they lead to; of one that
    /// was [read to be edited](super::Walker::read_to_edit).
    pub fn pointers(self) -> impl Iterator<Item = (Range<usize>, Option<usize>)> + use<'a> {
        let body = self.body();
        let spots = self.objects.marks.as_ref().map_or(&[][..], |marks| &marks.spots);
        let first = spots.partition_point(|spot| spot.begin < body.start);
        let mut behind = body.start;
        spots[first..].iter().take_while(move |spot| spot.begin < body.end).filter_map(move |spot| {
            let target = match spot.kind {
                _ if spot.begin < behind => return None,
                SpotKind::Frame => return None,
                SpotKind::Fixed => None,
                SpotKind::Reference(position) => Some(position),
                SpotKind::Object { .. } => Some(spot.begin),
            };
            behind = spot.end;
            Some((spot.begin..spot.end, target))
        })
    }

    /// Every member with its name, bases first.
    pub fn members(self) -> impl Iterator<Item = (&'a str, Value<'a>)> {
        let (names, first) = self.steps().map_or((&[][..], 0), |(steps, first)| (&*steps.names, first));
        let members = &self.objects.members[first..];
        names.iter().zip(members).map(move |(name, member)| (&**name, self.value(*member)))
    }

    /// Dimensions of a member that is an array of arrays, as it has this many items. None if they are not
    /// those of as many, or there are none.
    #[must_use]
    pub fn dimensions(self, slot: usize, items: usize) -> Option<Vec<usize>> {
        let declared = self.steps()?.0.dimensions.get(&u32::try_from(slot).ok()?)?;
        let mut dimensions: Vec<usize> = declared.iter().map(|&size| size as usize).collect();
        let product = |sizes: &[usize]| sizes.iter().try_fold(1_usize, |all, &size| all.checked_mul(size));
        if declared.last() == Some(&COUNTED) {
            dimensions.pop();
            dimensions.push(items.checked_div(product(&dimensions)?)?);
        }
        (items > 0 && product(&dimensions)? == items).then_some(dimensions)
    }

    /// The bases of its class and theirs, each before its own.
    pub fn bases(self) -> impl Iterator<Item = Base<'a>> {
        let spans = self.steps().into_iter().flat_map(|(steps, _)| &steps.bases);
        spans.map(|span| Base {
            class: &span.class,
            version: span.version,
            members: span.begin as usize..span.end as usize,
            depth: span.depth,
        })
    }

    /// A whole number. Old versions keep some counts as floating-point numbers: whole ones are taken, too.
    #[must_use]
    pub fn int(self, name: &str) -> Option<i64> {
        match self.member(name)? {
            Value::Bool(value) => Some(i64::from(value)),
            Value::Int(value) => Some(value),
            Value::UInt(value) => i64::try_from(value).ok(),
            // 2^63: larger numbers would be clipped.
            Value::Float(value) if value.fract() == 0.0 && value.abs() < 9.3e18 => Some(value as i64),
            _ => None,
        }
    }

    /// A number.
    #[must_use]
    pub fn float(self, name: &str) -> Option<f64> {
        match self.member(name)? {
            Value::Int(value) => Some(value as f64),
            Value::UInt(value) => Some(value as f64),
            Value::Float(value) => Some(value),
            _ => None,
        }
    }

    /// Text.
    #[must_use]
    pub fn text(self, name: &str) -> Option<String> {
        match self.innermost(name)? {
            Value::Text(bytes) => Some(text(bytes)),
            _ => None,
        }
    }

    /// An object in place, or a pointer's unless it is null.
    #[must_use]
    pub fn object(self, name: &str) -> Option<Self> {
        match self.member(name)? {
            Value::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The objects of a collection in place, or of one that a pointer leads to; none if that is null.
    #[must_use]
    pub fn list(self, name: &str) -> Items<'a> {
        match self.member(name) {
            Some(Value::Object(object)) => object.items(),
            Some(Value::Objects(items)) => items,
            _ => self.objects.items(0, 0),
        }
    }

    /// Numbers.
    #[must_use]
    pub fn array(self, name: &str) -> Option<Array<'a>> {
        match self.innermost(name)? {
            Value::Array(array) => Some(array),
            _ => None,
        }
    }

    /// If it is a collection, its objects; a map's keys and values take turns. Otherwise none.
    #[must_use]
    pub fn items(self) -> Items<'a> {
        match self.node().contents {
            Contents::Items { first, count, .. } => self.objects.items(first, count),
            _ => self.objects.items(0, 0),
        }
    }

    /// If it is a collection, its own name.
    #[must_use]
    pub fn collection_name(self) -> Option<String> {
        match self.node().contents {
            Contents::Items { name: (start, length), .. } => Some(text(self.objects.bytes(start, length))),
            _ => None,
        }
    }

    /// If it is a `TString` or one of the `TArray…` classes, what it holds.
    #[must_use]
    pub fn inner(self) -> Option<Value<'a>> {
        match self.node().contents {
            Contents::Member { first } => Some(self.value(self.objects.members[first as usize])),
            _ => None,
        }
    }

    /// A member, or what it holds that is all of an object.
    fn innermost(self, name: &str) -> Option<Value<'a>> {
        match self.member(name)? {
            Value::Object(object) => object.inner(),
            value => Some(value),
        }
    }

    /// How its members were read, and where they begin.
    fn steps(self) -> Option<(&'a Steps, usize)> {
        let Contents::Members { layout, first } = self.node().contents else { return None };
        Some((&self.objects.layouts[layout as usize], first as usize))
    }

    fn node(self) -> &'a Node {
        &self.objects.nodes[self.number as usize]
    }

    fn value(self, member: Member) -> Value<'a> {
        let objects = self.objects;
        match member {
            Member::Null => Value::Null,
            Member::Bool(value) => Value::Bool(value),
            Member::Int(value) => Value::Int(value),
            Member::UInt(value) => Value::UInt(value),
            Member::Float(value) => Value::Float(value),
            Member::Text(start, length) => Value::Text(objects.bytes(start, length)),
            Member::Array(basic, start, length) => {
                Value::Array(Array { basic, bytes: objects.bytes(start, length) })
            }
            Member::Made(number) => {
                let (basic, bytes) = &objects.made[number as usize];
                Value::Array(Array { basic: *basic, bytes })
            }
            Member::Packed(pack, start, length) => Value::Packed(Packed {
                numbers: objects.packs[usize::from(pack)],
                bytes: objects.bytes(start, length),
            }),
            Member::List(shape, first, count) => {
                let range = first as usize..(first + count) as usize;
                let members = objects.members.get(range).unwrap_or_default().iter();
                Value::List(List { objects, shape, members })
            }
            Member::Object(number) => Value::Object(Object { objects, number }),
            Member::Objects(first, count) => Value::Objects(objects.items(first, count)),
            Member::Elsewhere(position) => Value::Elsewhere(position as usize),
            Member::Skipped(start, length) => Value::Skipped(objects.bytes(start, length)),
        }
    }
}

impl std::fmt::Debug for Object<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Not its members: they may lead back here.
        write!(f, "Object({} {}, {:?})", self.number, self.class(), self.range())
    }
}

impl PartialEq for Object<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.objects, other.objects) && self.number == other.number
    }
}
