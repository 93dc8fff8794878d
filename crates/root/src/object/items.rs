//! Containers of the standard library, and other repeated values.

use forthwith_plan::{Error, Result};

use super::objects::{Member, Shape};
use super::reader::Reader;
use crate::class::{Item, Numbers};
use crate::cpp::{Container, Holds, Number};
use crate::record::BYTE_COUNT;

impl Reader<'_> {
    /// Reads a container in a frame.
    pub(super) fn framed(&mut self, item: &Item, depth: usize) -> Result<Member> {
        self.in_frame(|reader, frame| match frame.member_wise {
            true => {
                let written = reader.written(frame)?;
                reader.by_member(item, written, depth + 1)
            }
            false => reader.item(item, depth + 1),
        })
    }

    /// Reads a container that is an object of its own: a record, or the target of a pointer.
    ///
    /// If the class is streamed by the code of a dictionary, ROOT writes it without a frame, beginning with
    /// its count. If it is streamed as a collection, it has a frame, and may be stored member-wise. A count
    /// that looks like a byte count would be of 2^30 items, more than a record has bytes. `ends` tells that
    /// the cursor ends where the object does, according to its tag.
    pub(super) fn whole_container(&mut self, item: &Item, ends: bool, depth: usize) -> Result<Member> {
        let mut ahead = self.cursor;
        if ahead.u32()? & BYTE_COUNT != 0 {
            return self.framed(item, depth);
        }
        let member = self.item(item, depth + 1)?;
        // Only this end detects a wrong count, which would drop values.
        if (ends || self.is_record()) && self.cursor.remaining() > 0 {
            let (expected, found) = (self.cursor.end() as u64, self.cursor.position() as u64);
            return Err(Error::mismatch("end of a container", expected, found).at_byte(found));
        }
        Ok(member)
    }

    /// Reads several containers in one frame.
    pub(super) fn framed_many(&mut self, item: &Item, count: usize, depth: usize) -> Result<Member> {
        self.in_frame(|reader, frame| {
            // The frame has the version of the items' class once.
            let written = if frame.member_wise { Some(reader.written(frame)?) } else { None };
            reader.values(Shape::List, count, 4, |reader, _| match written {
                Some(written) => reader.by_member(item, written, depth + 1),
                None => reader.item(item, depth + 1),
            })
        })
    }

    /// Reads `count` values of at least `least` bytes each.
    pub(super) fn values(
        &mut self,
        shape: Shape,
        count: usize,
        least: usize,
        mut read: impl FnMut(&mut Self, usize) -> Result<Member>,
    ) -> Result<Member> {
        let first = self.room(count, least)?;
        for index in 0..count {
            self.to.members[first + index] = read(self, index)?;
        }
        Ok(Member::List(shape, first as u32, count as u32))
    }

    /// Reserves this number of values, if the remaining bytes suffice.
    pub(super) fn room(&mut self, count: usize, least: usize) -> Result<usize> {
        let limit = self.cursor.remaining() / least.max(1);
        if count > limit && least > 0 {
            return Err(Error::out_of_range("number of items", count, limit));
        }
        self.spend(count as u64)?;
        let first = self.to.members.len();
        self.to.members.resize(first + count, Member::Null);
        Ok(first)
    }

    /// Reads one item as in a container that is stored object-wise.
    pub(super) fn item(&mut self, item: &Item, depth: usize) -> Result<Member> {
        Ok(match item {
            Item::Number(number) => match number.basic {
                Some(basic) => super::objects::number(basic, self.cursor.take(basic.size())?),
                None => self.packed_number(&Numbers::of(number))?,
            },
            Item::Text => self.text()?,
            Item::LongText => self.long_text()?,
            Item::Pointer(_) => self.pointed(depth)?,
            Item::Class(class) | Item::Memberless(class) => Member::Object(self.embedded(class, depth)?),
            Item::Unknown(class) => {
                let mut ahead = self.cursor;
                match ahead.frame().ok().and_then(|frame| frame.end.map(|end| end - frame.begin)) {
                    Some(6..) => Member::Object(self.embedded(class, depth)?),
                    _ => Member::Int(i64::from(self.cursor.i32()?)),
                }
            }
            Item::List(container, item) => {
                let (count, least) = (self.cursor.i32()?, item.least());
                let count = self.cursor.count(ITEMS, count, least)?;
                match **item {
                    Item::Number(Number { basic: Some(basic), .. }) => self.numbers(*basic, count)?,
                    _ => {
                        self.values(shape(container), count, least, |reader, _| reader.item(item, depth + 1))?
                    }
                }
            }
            Item::Map(_, pair) => {
                let [key, value] = &pair.items;
                let count = self.cursor.i32()?;
                let least = key.least() + value.least();
                let count = self.cursor.count(ITEMS, count, least)?;
                self.values(Shape::Map, 2 * count, least / 2, |reader, index| {
                    reader.item(if index % 2 == 0 { key } else { value }, depth + 1)
                })?
            }
            // A pair is an object of its own.
            Item::Pair(pair) => self.in_frame(|reader, _| {
                reader
                    .values(Shape::Pair, 2, 0, |reader, index| reader.apart(&pair.members[index], depth + 1))
            })?,
            Item::Array(array) => self.in_frame(|reader, _| reader.apart(array, depth + 1))?,
        })
    }

    /// Reads `count` objects in place, or pointers.
    pub(super) fn repetitions(
        &mut self,
        class: &str,
        pointers: bool,
        count: usize,
        depth: usize,
    ) -> Result<Member> {
        let links = if pointers {
            self.pointers(count, depth)? as usize
        } else {
            let links = self.links(count, 1)?;
            for link in links..links + count {
                self.to.links[link] = self.embedded(class, depth)?;
            }
            links
        };
        Ok(Member::Objects(links as u32, count as u32))
    }
}

/// Returns the kind of list for the items of a container.
pub(super) fn shape(container: &Container) -> Shape {
    if container.of == Holds::Set { Shape::Set } else { Shape::List }
}

pub(super) const ITEMS: &str = "number of items";
