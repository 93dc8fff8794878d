//! Items that are stored member-wise: the first member of all items, then the second.

use forthwith_plan::{Error, Result};

use super::items::{ITEMS, shape};
use super::objects::{Contents, Member, Node, Shape};
use super::reader::Reader;
use super::steps::Step;
use crate::class::{self, Item, Value};
use crate::record::Frame;

impl Reader<'_> {
    /// Reads the version of items that are stored member-wise.
    pub(super) fn written(&mut self, frame: &Frame) -> Result<Written> {
        let version = self.cursor.i16()?;
        let checksum = if version <= 0 { Some(self.cursor.u32()?) } else { None };
        Ok(Written { streamed: frame.version, version, checksum })
    }

    /// Reads the contents of a container whose items are stored member-wise.
    pub(super) fn by_member(&mut self, item: &Item, written: Written, depth: usize) -> Result<Member> {
        let Written { streamed, version, checksum } = written;
        let (shape, item, pair) = match item {
            Item::List(container, item) => match &**item {
                Item::Pair(pair) => (shape(container), None, Some(&pair.members)),
                item => (shape(container), Some(item), None),
            },
            Item::Map(_, pair) => (Shape::Map, None, Some(&pair.members)),
            _ => return Err(Error::unsupported("an item that is stored member by member")),
        };
        let count = self.cursor.i32()?;
        let count = self.cursor.count(ITEMS, count, 0)?;
        if count == 0 && streamed >= 7 {
            return self.values(shape, 0, 0, |_, _| Ok(Member::Null));
        }
        if let Some(members) = pair {
            // Keys and values of a map alternate, and the values of pairs are in lists of their own.
            let lists = if shape == Shape::Map { 0 } else { count };
            let pairs = self.room(lists + 2 * count, 0)?;
            let halves = pairs + lists;
            for pair in 0..lists {
                self.to.members[pairs + pair] = Member::List(Shape::Pair, (halves + 2 * pair) as u32, 2);
            }
            for (half, member) in members.iter().enumerate() {
                let to = Column { first: halves + half, slot: 0, width: 2, count };
                self.apart_column(member, to, depth)?;
            }
            let length = if shape == Shape::Map { 2 * count } else { count };
            return Ok(Member::List(shape, pairs as u32, length as u32));
        }
        match item {
            Some(Item::Class(class) | Item::Unknown(class) | Item::Memberless(class)) => {
                let class = self.class(class.as_bytes());
                let first = self.member_wise(class, i32::from(version), checksum, count, depth)?;
                self.values(shape, count, 0, |_, index| Ok(Member::Object(first + index as u32)))
            }
            // The only member of each array.
            Some(Item::Array(array)) => {
                let first = self.room(count, 0)?;
                self.apart_column(array, Column { first, slot: 0, width: 1, count }, depth)?;
                Ok(Member::List(shape, first as u32, count as u32))
            }
            _ => Err(Error::unsupported("a container of numbers that is stored member by member")),
        }
    }

    /// Reads one member of many values, without a counter.
    fn apart_column(&mut self, member: &class::Member, to: Column, depth: usize) -> Result<()> {
        self.column(&member.value, member.array, [0; 2], to, depth)?;
        for place in (0..to.count).map(|index| to.first + index * to.width) {
            self.to.members[place] = self.shaped(self.to.members[place], &member.dimensions)?;
        }
        Ok(())
    }

    /// Reads one member of many objects.
    fn column(
        &mut self,
        value: &Value,
        array: Option<u32>,
        counters: [u32; 2],
        to: Column,
        depth: usize,
    ) -> Result<()> {
        let Column { first, slot, width, count } = to;
        let length = array.unwrap_or(1) as usize;
        match value {
            // One frame for the containers of all objects.
            Value::Container(item) => {
                let all = self.framed_many(item, count.saturating_mul(length), depth)?;
                self.share(all, array, to);
            }
            Value::StdText if array.is_none() => self.text_column(first + slot, width, count)?,
            Value::Text | Value::StdText if array.is_some() => {
                let all = self.texts(count.saturating_mul(length))?;
                self.share(all, array, to);
            }
            Value::Loop { class, pointers, .. } => self.in_frame(|reader, _| {
                for object in (0..count).map(|index| first + index * width) {
                    let times = reader.count(object + counters[0] as usize, 0)?.saturating_mul(length);
                    reader.to.members[object + slot] = reader.repetitions(class, *pointers, times, depth)?;
                }
                Ok(())
            })?,
            _ => {
                for object in (0..count).map(|index| first + index * width) {
                    self.to.members[object + slot] =
                        self.value(value, array, (object, counters), object + slot, depth)?;
                }
            }
        }
        Ok(())
    }

    /// Distributes a list among objects: an item for each, or as many as an array has.
    fn share(&mut self, all: Member, array: Option<u32>, to: Column) {
        let Member::List(_, begin, _) = all else { return };
        for index in 0..to.count {
            let begin = begin + index as u32 * array.unwrap_or(1);
            self.to.members[to.first + index * to.width + to.slot] = match array {
                None => self.to.members[begin as usize],
                Some(length) => Member::List(Shape::List, begin, length),
            };
        }
    }

    /// Reads strings, perhaps in one frame, into every `stride`th slot from `first` on.
    fn text_column(&mut self, first: usize, stride: usize, count: usize) -> Result<()> {
        self.perhaps_framed(|reader| {
            for index in 0..count {
                reader.to.members[first + index * stride] = reader.text()?;
            }
            Ok(())
        })
    }

    /// Reads a list of strings, perhaps in one frame.
    pub(super) fn texts(&mut self, count: usize) -> Result<Member> {
        let first = self.room(count, 1)?;
        self.text_column(first, 1, count)?;
        Ok(Member::List(Shape::List, first as u32, count as u32))
    }

    /// Reads objects of one class: the first member of all objects, then the second. Returns the index of the
    /// first object, after which are the others.
    pub(super) fn member_wise(
        &mut self,
        class: u32,
        version: i32,
        checksum: Option<u32>,
        count: usize,
        depth: usize,
    ) -> Result<u32> {
        if depth > super::reader::MAX_DEPTH {
            return Err(Error::out_of_range("depth of nested objects", depth, super::reader::MAX_DEPTH));
        }
        let node = self.by_layout(class, version, checksum, |reader, layout, steps| {
            let width = steps.names.len();
            reader.spend((count as u64).saturating_mul(width as u64 + 1))?;
            let (first, node) = (reader.to.members.len(), reader.to.nodes.len());
            reader.to.members.resize(first + count * width, Member::Null);
            let here = reader.cursor.position() as u32;
            reader.to.nodes.extend((0..count).map(|index| Node {
                class,
                version: version as i16,
                begin: here,
                body: here,
                end: here,
                contents: Contents::Members { layout, first: (first + index * width) as u32 },
            }));
            Ok((node as u32, reader.columns(&steps.steps, first, width, count, depth)?))
        })?;
        node.ok_or_else(|| self.unknown(class, version as i16))
    }

    fn columns(
        &mut self,
        steps: &[Step],
        first: usize,
        width: usize,
        count: usize,
        depth: usize,
    ) -> Result<Option<(Box<str>, i32)>> {
        let (mut at, mut slot) = (0, 0);
        while at < steps.len() {
            let (next, slots) = group(steps, at);
            match &steps[at] {
                Step::Member(value, array, counters) => {
                    self.column(value, *array, *counters, Column { first, slot, width, count }, depth)?;
                }
                // The members of the base are among those of the class.
                Step::Enter(base) if base.flat => {
                    at += 1;
                    continue;
                }
                Step::Leave => {
                    at += 1;
                    continue;
                }
                _ => {
                    for index in 0..count {
                        let object = first + index * width;
                        let base = self.steps(&steps[at..next], object, object + slot, depth)?;
                        if base.is_some() {
                            return Ok(base);
                        }
                    }
                }
            }
            (at, slot) = (next, slot + slots);
        }
        Ok(None)
    }
}

/// Slots of one member of many objects.
#[derive(Clone, Copy)]
struct Column {
    /// First slot of the first object's members.
    first: usize,
    /// Slot of this member.
    slot: usize,
    /// Number of slots of each object.
    width: usize,
    /// Number of objects.
    count: usize,
}

/// Version of items that are stored member-wise.
#[derive(Clone, Copy)]
pub(super) struct Written {
    /// Version in the frame, which is that of `TStreamerInfo`. Before version 7, members were written even
    /// without items.
    streamed: i16,
    /// Version of the items' class.
    version: i16,
    checksum: Option<u32>,
}

/// Returns the end of the steps that belong to the one at `at` (for a base, all of its steps), and the number
/// of slots that they fill.
fn group(steps: &[Step], at: usize) -> (usize, usize) {
    let (mut next, mut slots, mut depth) = (at, 0, 0_usize);
    loop {
        match steps.get(next) {
            Some(Step::Enter(_)) => depth += 1,
            Some(Step::Leave) => depth = depth.saturating_sub(1),
            Some(Step::TObject) => slots += 2,
            Some(_) => slots += 1,
            None => return (next, slots),
        }
        next += 1;
        if depth == 0 {
            return (next, slots);
        }
    }
}
