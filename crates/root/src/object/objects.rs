//! Objects that were read: flat tables, and views of these.

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

/// The object of a record, with all objects to which it points.
///
/// Objects are indexes into shared tables, and text and arrays are ranges of the payload: a tree with
/// thousands of branches takes a handful of allocations, and pointers may form cycles.
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

/// Bytes of an object, a base or a container after its last known member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leftover {
    /// Class of the object.
    pub class: Arc<str>,
    /// Offset of the first byte.
    pub begin: usize,
    /// Number of bytes.
    pub length: usize,
}

/// Kind of a list of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Values in order.
    List,
    /// Values of a set.
    Set,
    /// Alternating keys and values of a map.
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
    /// Numbers that were computed from those in the payload.
    Made(u32),
    List(Shape, u32, u32),
    Object(u32),
    Objects(u32, u32),
    Elsewhere(u32),
    Skipped(u32, u32),
}

/// Link that leads to no object.
pub(super) const NONE: u32 = u32::MAX;

/// View of an object in [`Objects`].
#[derive(Clone, Copy)]
pub struct Object<'a> {
    objects: &'a Objects,
    number: u32,
}

/// Value of a member.
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
    /// An object in place, or the target of a pointer.
    Object(Object<'a>),
    /// Several objects.
    Objects(Items<'a>),
    /// A pointer to this position of the payload, at which no object was read.
    Elsewhere(usize),
    /// The bytes of a member that was skipped, with its byte count.
    Skipped(&'a [u8]),
}

/// Numbers as stored.
#[derive(Clone, Copy, Debug)]
pub struct Array<'a> {
    /// Type of the numbers.
    pub basic: DType,
    /// Bytes of the numbers, big-endian.
    pub bytes: &'a [u8],
}

/// Packed numbers as stored.
#[derive(Clone, Copy, Debug)]
pub struct Packed<'a> {
    numbers: Numbers,
    bytes: &'a [u8],
}

/// Values of a container, in order. Keys and values of a map alternate.
#[derive(Clone, Debug)]
pub struct List<'a> {
    objects: &'a Objects,
    shape: Shape,
    members: std::slice::Iter<'a, Member>,
}

/// Base class of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base<'a> {
    /// Name of the base class.
    pub class: &'a str,
    /// Version of the base class.
    pub version: i32,
    /// Members of the base class and its bases, among those of the object.
    pub members: Range<usize>,
    /// 0 for a base of the class itself, 1 for a base of such a base, and so on.
    pub depth: u32,
}

/// Objects of a collection, in order. Null pointers are `None`.
#[derive(Clone, Debug)]
pub struct Items<'a> {
    objects: &'a Objects,
    links: std::slice::Iter<'a, u32>,
}

impl Objects {
    /// Returns the object in the record.
    #[must_use]
    pub fn top(&self) -> Object<'_> {
        // It exists, as reading begins with it.
        Object { objects: self, number: 0 }
    }

    /// Returns the object with this index ([`Object::number`]).
    #[must_use]
    pub fn object(&self, number: u32) -> Option<Object<'_>> {
        ((number as usize) < self.nodes.len()).then_some(Object { objects: self, number })
    }

    /// Returns the number of objects, including those in place.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns `false`, as there is always the top object.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Returns every object, in the order of the payload.
    pub fn iter(&self) -> impl Iterator<Item = Object<'_>> {
        (0..self.nodes.len() as u32).map(|number| Object { objects: self, number })
    }

    /// Returns the number of objects and bases with bytes after their last known member, which ROOT ignores
    /// with a warning.
    #[must_use]
    pub fn unread(&self) -> u32 {
        self.unread
    }

    /// Returns the first hundred ranges of such bytes.
    #[must_use]
    pub fn leftovers(&self) -> &[Leftover] {
        &self.leftovers
    }

    /// Returns the objects with parts that could not be read, and the errors: such an object is opaque, or a
    /// member is skipped.
    pub fn faults(&self) -> impl Iterator<Item = (Object<'_>, &Error)> {
        self.faults.iter().map(|(number, error)| (Object { objects: self, number: *number }, error))
    }

    /// Returns the payload to which ranges and positions refer.
    #[must_use]
    pub fn payload(&self) -> &Bytes {
        &self.payload
    }

    /// Returns the length of the key before the payload.
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
    /// Returns the index of the object, which is the same for every pointer to it.
    #[must_use]
    pub fn number(self) -> u32 {
        self.number
    }

    /// Returns the class of the object.
    #[must_use]
    pub fn class(self) -> &'a str {
        &self.objects.classes[self.node().class as usize]
    }

    /// Returns the version of the class; 0 if it has none.
    #[must_use]
    pub fn version(self) -> i16 {
        self.node().version
    }

    /// Returns the range in the payload, including the byte count and class.
    #[must_use]
    pub fn range(self) -> Range<usize> {
        self.node().begin as usize..self.node().end as usize
    }

    /// Returns the range of the contents, including their own byte count: the bytes that a custom streamer
    /// wrote.
    #[must_use]
    pub fn body(self) -> Range<usize> {
        self.node().body as usize..self.node().end as usize
    }

    /// Returns whether the contents were skipped: the class or its version is unknown, or has a custom
    /// streamer that is not supported.
    #[must_use]
    pub fn is_opaque(self) -> bool {
        matches!(self.node().contents, Contents::Opaque)
    }

    /// Returns the error for which the contents were skipped, if they should have been readable.
    #[must_use]
    pub fn fault(self) -> Option<&'a Error> {
        self.objects.faults.iter().find(|(number, _)| *number == self.number).map(|(_, error)| error)
    }

    /// Returns the object itself, or an error if its contents were skipped.
    ///
    /// # Errors
    /// Returns the reason why the contents were skipped.
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

    /// Returns a cursor over the contents, for classes with custom streamers.
    ///
    /// # Errors
    /// Returns an error if the contents are not within the record.
    pub fn cursor(self) -> Result<Cursor<'a>> {
        let Range { start, end } = self.body();
        let mut cursor = Cursor::with_origin(&self.objects.payload, self.objects.origin);
        cursor.seek(start)?;
        cursor.carve(end.saturating_sub(start))
    }

    /// Returns a member of the class or a base, or `None` if there is none with this name.
    #[must_use]
    pub fn member(self, name: &str) -> Option<Value<'a>> {
        let (steps, first) = self.steps()?;
        Some(self.value(self.objects.members[first + steps.slot(name)? as usize]))
    }

    /// Returns the range of a member in the payload. `None` if the member does not exist, or the object was
    /// not [read to be edited](super::Walker::read_to_edit).
    #[must_use]
    pub fn place(self, name: &str) -> Option<Range<usize>> {
        let (steps, first) = self.steps()?;
        self.objects.marks.as_ref()?.place(first + steps.slot(name)? as usize)
    }

    /// Returns the pointers of one of ROOT's collections in order: the range of each, and the offset at which
    /// its target begins, or `None` for a null pointer. Empty if the object was not [read to be
    /// edited](super::Walker::read_to_edit).
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

    /// Returns every member with its name, bases first.
    pub fn members(self) -> impl Iterator<Item = (&'a str, Value<'a>)> {
        let (names, first) = self.steps().map_or((&[][..], 0), |(steps, first)| (&*steps.names, first));
        let members = &self.objects.members[first..];
        names.iter().zip(members).map(move |(name, member)| (&**name, self.value(*member)))
    }

    /// Returns the dimensions of a member that is an array of arrays with this number of items. `None` if
    /// there are none, or their product differs from the number of items.
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

    /// Returns the bases of the class and their bases, each before its own.
    pub fn bases(self) -> impl Iterator<Item = Base<'a>> {
        let spans = self.steps().into_iter().flat_map(|(steps, _)| &steps.bases);
        spans.map(|span| Base {
            class: &span.class,
            version: span.version,
            members: span.begin as usize..span.end as usize,
            depth: span.depth,
        })
    }

    /// Returns a member as an integer, or `None` if it is not an integer. Old versions store some counts as
    /// floating-point numbers, which are accepted if they are integral.
    #[must_use]
    pub fn int(self, name: &str) -> Option<i64> {
        match self.member(name)? {
            Value::Bool(value) => Some(i64::from(value)),
            Value::Int(value) => Some(value),
            Value::UInt(value) => i64::try_from(value).ok(),
            // About 2^63: larger numbers would saturate.
            Value::Float(value) if value.fract() == 0.0 && value.abs() < 9.3e18 => Some(value as i64),
            _ => None,
        }
    }

    /// Returns a member as a floating-point number, or `None` if it is not a number.
    #[must_use]
    pub fn float(self, name: &str) -> Option<f64> {
        match self.member(name)? {
            Value::Int(value) => Some(value as f64),
            Value::UInt(value) => Some(value as f64),
            Value::Float(value) => Some(value),
            _ => None,
        }
    }

    /// Returns a member as text, or `None` if it is not text.
    #[must_use]
    pub fn text(self, name: &str) -> Option<String> {
        match self.innermost(name)? {
            Value::Text(bytes) => Some(text(bytes)),
            _ => None,
        }
    }

    /// Returns the object of a member or of its pointer, or `None` if it is null or has another type.
    #[must_use]
    pub fn object(self, name: &str) -> Option<Self> {
        match self.member(name)? {
            Value::Object(object) => Some(object),
            _ => None,
        }
    }

    /// Returns the objects of a collection that is a member, or the target of a member; empty if that is
    /// null.
    #[must_use]
    pub fn list(self, name: &str) -> Items<'a> {
        match self.member(name) {
            Some(Value::Object(object)) => object.items(),
            Some(Value::Objects(items)) => items,
            _ => self.objects.items(0, 0),
        }
    }

    /// Returns a member as an array of numbers, or `None` if it has another type.
    #[must_use]
    pub fn array(self, name: &str) -> Option<Array<'a>> {
        match self.innermost(name)? {
            Value::Array(array) => Some(array),
            _ => None,
        }
    }

    /// Returns the objects of a collection, in which keys and values of a map alternate. Other objects have
    /// none.
    #[must_use]
    pub fn items(self) -> Items<'a> {
        match self.node().contents {
            Contents::Items { first, count, .. } => self.objects.items(first, count),
            _ => self.objects.items(0, 0),
        }
    }

    /// Returns the name of a collection, or `None` for other objects.
    #[must_use]
    pub fn collection_name(self) -> Option<String> {
        match self.node().contents {
            Contents::Items { name: (start, length), .. } => Some(text(self.objects.bytes(start, length))),
            _ => None,
        }
    }

    /// Returns the value of a `TString` or of a `TArray…` class, or `None` for other objects.
    #[must_use]
    pub fn inner(self) -> Option<Value<'a>> {
        match self.node().contents {
            Contents::Member { first } => Some(self.value(self.objects.members[first as usize])),
            _ => None,
        }
    }

    /// Returns a member, or the value of the object in it.
    fn innermost(self, name: &str) -> Option<Value<'a>> {
        match self.member(name)? {
            Value::Object(object) => object.inner(),
            value => Some(value),
        }
    }

    /// Returns how the members were read, and the index of the first.
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
        // Without its members, as these may lead back to the object.
        write!(f, "Object({} {}, {:?})", self.number, self.class(), self.range())
    }
}

impl PartialEq for Object<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.objects, other.objects) && self.number == other.number
    }
}
