//! Containers of the standard library, and whatever else repeats: item by item, or member by member.

use forthwith_plan::{Error, ErrorKind, Result};

use super::cursor::{BYTE_COUNT, out_of_range};
use super::kind::{Kind, Shape};
use super::layout::{Repeated, Step};
use super::objects::{Contents, Member, Node};
use super::reader::{Reader, Target};

impl Reader<'_> {
    /// A container behind a frame.
    pub(super) fn framed(&mut self, kind: &Kind, depth: usize) -> Result<Member> {
        let frame = self.cursor.frame()?;
        let member = if frame.member_wise {
            self.by_member(kind, frame.version, depth + 1)?
        } else {
            self.item(kind, depth + 1)?
        };
        self.leave(&frame);
        Ok(member)
    }

    /// A container that is an object of its own: a record, or what a pointer leads to.
    ///
    /// ROOT writes it without a frame, its count first, where the class is streamed by a dictionary's own code, and with one where
    /// it is streamed as a collection, which can be member by member. A count that could be taken for a byte count would be
    /// of 2^30 items, more than a record has bytes. `ends` says that the cursor ends where the object does, as its tag told.
    pub(super) fn whole_container(&mut self, kind: &Kind, ends: bool, depth: usize) -> Result<Member> {
        let mut ahead = self.cursor;
        if ahead.u32()? & BYTE_COUNT != 0 {
            return self.framed(kind, depth);
        }
        let member = self.item(kind, depth + 1)?;
        // Nothing else says how long it is, so that a wrong count would leave out values.
        if (ends || self.is_record()) && self.cursor.remaining() > 0 {
            let (expected, found) = (self.cursor.end() as u64, self.cursor.position() as u64);
            let what = "end of a container";
            return Err(Error::new(ErrorKind::Mismatch { what, expected, found }).at_byte(found));
        }
        Ok(member)
    }

    /// Several containers behind one frame.
    pub(super) fn framed_many(&mut self, kind: &Kind, count: usize, depth: usize) -> Result<Member> {
        let frame = self.cursor.frame()?;
        let member = self.values(Shape::List, count, 4, |reader, _| match frame.member_wise {
            true => reader.by_member(kind, frame.version, depth + 1),
            false => reader.item(kind, depth + 1),
        })?;
        self.leave(&frame);
        Ok(member)
    }

    /// So many values, each of at least `least` bytes.
    pub(super) fn values(
        &mut self,
        shape: Shape,
        count: usize,
        least: usize,
        mut read: impl FnMut(&mut Self, usize) -> Result<Member>,
    ) -> Result<Member> {
        let first = self.room(count, least)?;
        for index in 0..count {
            self.members[first + index] = read(self, index)?;
        }
        Ok(Member::List(shape, first as u32, count as u32))
    }

    /// Room for so many values, if as many can follow.
    fn room(&mut self, count: usize, least: usize) -> Result<usize> {
        let limit = self.cursor.remaining() / least.max(1);
        if count > limit && least > 0 {
            return Err(out_of_range("number of items", count as i64, limit as i64));
        }
        self.spend(count as u64)?;
        let first = self.members.len();
        self.members.resize(first + count, Member::Null);
        Ok(first)
    }

    /// One item, as it stands in a container that is stored item by item.
    pub(super) fn item(&mut self, kind: &Kind, depth: usize) -> Result<Member> {
        Ok(match kind {
            Kind::Number(basic) => super::objects::number(*basic, self.cursor.take(basic.size())?),
            Kind::Float16 => self.float16()?,
            Kind::Text => self.text()?,
            Kind::LongText => {
                let length = self.cursor.i32()?;
                let length = self.cursor.count("length of text", length, 1)?;
                self.bytes(length)?
            }
            Kind::Pointer => match self.pointer(depth)? {
                Target::Nothing => Member::Null,
                Target::Object(number) => Member::Object(number),
                Target::Elsewhere(position) => Member::Elsewhere(position as u32),
            },
            Kind::Class(class) => Member::Object(self.embedded(class, depth)?),
            Kind::Unknown(class) => {
                let mut ahead = self.cursor;
                match ahead.frame().ok().and_then(|frame| frame.end.map(|end| end - frame.begin)) {
                    Some(6..) => Member::Object(self.embedded(class, depth)?),
                    _ => Member::Int(i64::from(self.cursor.i32()?)),
                }
            }
            Kind::List(shape, item) => {
                let count = self.size()?;
                match **item {
                    Kind::Number(basic) => {
                        self.numbers(basic, self.cursor.count(ITEMS, count, basic.size())?)?
                    }
                    _ => {
                        let count = self.cursor.count(ITEMS, count, item.least())?;
                        self.values(*shape, count, item.least(), |reader, _| reader.item(item, depth + 1))?
                    }
                }
            }
            Kind::Map(key, value) => {
                let count = self.size()?;
                let least = key.least() + value.least();
                let count = self.cursor.count(ITEMS, count, least)?;
                self.values(Shape::Map, 2 * count, least / 2, |reader, index| {
                    reader.item(if index % 2 == 0 { key } else { value }, depth + 1)
                })?
            }
            // As an object of its own.
            Kind::Pair(first, second) => {
                let frame = self.cursor.frame()?;
                let pair = self.values(Shape::Pair, 2, 0, |reader, index| {
                    reader.member(if index == 0 { first } else { second }, depth + 1)
                })?;
                self.leave(&frame);
                pair
            }
        })
    }

    /// A value as the member of a class.
    fn member(&mut self, kind: &Kind, depth: usize) -> Result<Member> {
        match kind {
            Kind::Text => self.std_string(),
            Kind::List(..) | Kind::Map(..) => self.framed(kind, depth),
            _ => self.item(kind, depth),
        }
    }

    fn size(&mut self) -> Result<i32> {
        self.cursor.i32()
    }

    fn float16(&mut self) -> Result<Member> {
        let packing = crate::streamer::Packing::Mantissa { bits: 12 };
        Ok(Member::Float(packing.value(self.cursor.take(3)?)))
    }

    /// The contents of a container whose items are stored member by member. `streamed` is the version in the frame: that of ROOT's
    /// class of streamer infos, which before version 7 wrote members of no items, too.
    fn by_member(&mut self, kind: &Kind, streamed: i16, depth: usize) -> Result<Member> {
        let version = self.cursor.i16()?;
        let checksum = if version <= 0 { Some(self.cursor.u32()?) } else { None };
        match kind {
            Kind::List(shape, item) => {
                let count = self.size()?;
                let count = self.cursor.count(ITEMS, count, 0)?;
                match &**item {
                    _ if count == 0 && streamed >= 7 => self.values(*shape, 0, 0, |_, _| Ok(Member::Null)),
                    Kind::Class(class) | Kind::Unknown(class) => {
                        let class = self.class(class.as_bytes());
                        let first = self.member_wise(class, i32::from(version), checksum, count, depth)?;
                        self.values(*shape, count, 0, |_, index| Ok(Member::Object(first + index as u32)))
                    }
                    Kind::Pair(first, second) => {
                        let pairs = self.room(3 * count, 0)?;
                        let halves = pairs + count;
                        for pair in 0..count {
                            self.members[pairs + pair] =
                                Member::List(Shape::Pair, (halves + 2 * pair) as u32, 2);
                        }
                        self.column(first, halves, 2, count, depth)?;
                        self.column(second, halves + 1, 2, count, depth)?;
                        Ok(Member::List(*shape, pairs as u32, count as u32))
                    }
                    _ => Err(Error::unsupported("a container of numbers that is stored member by member")),
                }
            }
            Kind::Map(key, value) => {
                let count = self.size()?;
                let count = self.cursor.count(ITEMS, count, key.least().min(1))?;
                let first = self.room(2 * count, 0)?;
                if count == 0 && streamed >= 7 {
                    return Ok(Member::List(Shape::Map, first as u32, 0));
                }
                self.column(key, first, 2, count, depth)?;
                self.column(value, first + 1, 2, count, depth)?;
                Ok(Member::List(Shape::Map, first as u32, 2 * count as u32))
            }
            _ => Err(Error::unsupported("an item that is stored member by member")),
        }
    }

    /// One member of many items, into every `stride`th slot from `first` on.
    fn column(&mut self, kind: &Kind, first: usize, stride: usize, count: usize, depth: usize) -> Result<()> {
        if kind == &Kind::Text {
            return self.text_column(first, stride, count);
        }
        if !matches!(kind, Kind::List(..) | Kind::Map(..)) {
            for index in 0..count {
                self.members[first + index * stride] = self.item(kind, depth + 1)?;
            }
            return Ok(());
        }
        // One frame for all of them.
        let frame = self.cursor.frame()?;
        for index in 0..count {
            self.members[first + index * stride] = match frame.member_wise {
                true => self.by_member(kind, frame.version, depth + 1)?,
                false => self.item(kind, depth + 1)?,
            };
        }
        self.leave(&frame);
        Ok(())
    }

    /// Strings, with one frame for all of them or without.
    fn text_column(&mut self, first: usize, stride: usize, count: usize) -> Result<()> {
        let bare = self.cursor;
        if let Ok(frame) = self.cursor.frame()
            && frame.end.is_some()
        {
            let read = self.texts(first, stride, count);
            if self.cursor.leave(&frame) == 0 && read.is_ok() {
                return Ok(());
            }
        }
        self.cursor = bare;
        self.texts(first, stride, count)
    }

    fn texts(&mut self, first: usize, stride: usize, count: usize) -> Result<()> {
        for index in 0..count {
            self.members[first + index * stride] = self.text()?;
        }
        Ok(())
    }

    /// So many `std::string`s that are one member.
    pub(super) fn std_strings(&mut self, count: usize) -> Result<Member> {
        let first = self.room(count, 1)?;
        self.text_column(first, 1, count)?;
        Ok(Member::List(Shape::List, first as u32, count as u32))
    }

    /// Objects of one class, their first members one after the other, then their second ones, and so on. Answers the number
    /// of the first object; those of the others follow.
    pub(super) fn member_wise(
        &mut self,
        class: u32,
        version: i32,
        checksum: Option<u32>,
        count: usize,
        depth: usize,
    ) -> Result<u32> {
        if depth > super::reader::MAX_DEPTH {
            return Err(out_of_range(
                "depth of nested objects",
                depth as i64,
                super::reader::MAX_DEPTH as i64,
            ));
        }
        let mut bases = Vec::new();
        let start = self.cursor;
        let mark = self.mark();
        loop {
            let Some(layout) = self.layout(class, version, checksum, &bases)? else {
                return Err(self.unknown(class, version as i16));
            };
            let steps = self.layouts[layout as usize].clone();
            let width = steps.names.len();
            self.spend((count as u64).saturating_mul(width as u64 + 1))?;
            let (first, node) = (self.members.len(), self.nodes.len());
            self.members.resize(first + count * width, Member::Null);
            let here = self.cursor.position() as u32;
            self.nodes.extend((0..count).map(|index| Node {
                class,
                version: version as i16,
                begin: here,
                body: here,
                end: here,
                contents: Contents::Members { layout, first: (first + index * width) as u32 },
            }));
            let Some(base) = self.columns(&steps.steps, first, width, count, depth)? else {
                return Ok(node as u32);
            };
            self.back_to(mark);
            self.cursor = start;
            if bases.iter().any(|(class, _): &(Box<str>, i32)| *class == base.0) {
                return Err(self.unknown(class, version as i16));
            }
            bases.push(base);
        }
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
                Step::Container(kind) => self.column(kind, first + slot, width, count, depth)?,
                Step::StdString => self.text_column(first + slot, width, count)?,
                // Its members take part.
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

    /// Objects in place, or pointers, in a frame.
    pub(super) fn repeated(&mut self, repeated: &Repeated, count: usize, depth: usize) -> Result<Member> {
        let frame = self.cursor.frame()?;
        let count = count.saturating_mul(repeated.times as usize);
        let links = if repeated.pointers {
            self.pointers(count, depth)? as usize
        } else {
            let links = self.links(count, 1)?;
            for link in links..links + count {
                self.links[link] = self.embedded(&repeated.class, depth)?;
            }
            links
        };
        self.leave(&frame);
        Ok(Member::Objects(links as u32, count as u32))
    }
}

/// Where the steps end that belong together with the one at `at`: a base is one with everything in it. And how many slots they fill.
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

const ITEMS: &str = "number of items";
