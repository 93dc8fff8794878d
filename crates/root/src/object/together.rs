//! Items that are stored member by member: the first member of all of them, then the second.

use forthwith_plan::{Error, Result};

use super::items::ITEMS;
use super::kind::{Kind, Shape};
use super::layout::Step;
use super::objects::{Contents, Member, Node};
use super::reader::Reader;
use crate::record::Frame;
use crate::record::out_of_range;

impl Reader<'_> {
    /// The version of items that are stored member by member.
    pub(super) fn written(&mut self, frame: &Frame) -> Result<Written> {
        let version = self.cursor.i16()?;
        let checksum = if version <= 0 { Some(self.cursor.u32()?) } else { None };
        Ok(Written { streamed: frame.version, version, checksum })
    }

    /// The contents of a container whose items are stored member by member.
    pub(super) fn by_member(&mut self, kind: &Kind, written: Written, depth: usize) -> Result<Member> {
        let Written { streamed, version, checksum } = written;
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
                if [key, value].into_iter().any(|half| half.is_array_class())
                    && let Some(pair) = self.pair(key, value)
                {
                    // Whether an array is an object of its own, the info of pairs tells.
                    let pairs = self.member_wise(pair, i32::from(version), checksum, count, depth)?;
                    for index in 0..count {
                        if let Contents::Members { layout, first: halves } =
                            self.nodes[pairs as usize + index].contents
                            && self.layouts[layout as usize].names.len() == 2
                        {
                            let halves = halves as usize;
                            self.members.copy_within(halves..halves + 2, first + 2 * index);
                        }
                    }
                    return Ok(Member::List(Shape::Map, first as u32, 2 * count as u32));
                }
                self.column(key, first, 2, count, depth)?;
                self.column(value, first + 1, 2, count, depth)?;
                Ok(Member::List(Shape::Map, first as u32, 2 * count as u32))
            }
            _ => Err(Error::unsupported("an item that is stored member by member")),
        }
    }

    /// One member of many items, into every `stride`th slot from `first` on.
    pub(super) fn column(
        &mut self,
        kind: &Kind,
        first: usize,
        stride: usize,
        count: usize,
        depth: usize,
    ) -> Result<()> {
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
        let written = if frame.member_wise { Some(self.written(&frame)?) } else { None };
        for index in 0..count {
            self.members[first + index * stride] = match written {
                Some(written) => self.by_member(kind, written, depth + 1)?,
                None => self.item(kind, depth + 1)?,
            };
        }
        self.leave(&frame);
        Ok(())
    }

    /// Strings, with one frame for all of them or without.
    pub(super) fn text_column(&mut self, first: usize, stride: usize, count: usize) -> Result<()> {
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

    /// Arrays of `length` strings that are one member of so many objects, into every `stride`th slot from `first` on.
    pub(super) fn strings(&mut self, first: usize, stride: usize, count: usize, length: usize) -> Result<()> {
        let all = count.saturating_mul(length);
        let texts = self.room(all, 1)?;
        self.text_column(texts, 1, all)?;
        for index in 0..count {
            let begin = (texts + index * length) as u32;
            self.members[first + index * stride] = Member::List(Shape::List, begin, length as u32);
        }
        Ok(())
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
                // One frame for those of all objects.
                Step::Strings(length) => self.strings(first + slot, width, count, *length as usize)?,
                Step::Containers(kind, length) => {
                    let length = *length as usize;
                    let frame = self.cursor.frame()?;
                    let all = self.inside(kind, count.saturating_mul(length), &frame, depth)?;
                    self.leave(&frame);
                    if let Member::List(shape, begin, _) = all {
                        for index in 0..count {
                            let begin = begin + (index * length) as u32;
                            self.members[first + index * width + slot] =
                                Member::List(shape, begin, length as u32);
                        }
                    }
                }
                Step::Loop(repeated) => {
                    let frame = self.cursor.frame()?;
                    for object in (0..count).map(|index| first + index * width) {
                        let times = self.count(object + repeated.counter as usize, 0)?;
                        self.members[object + slot] = self.repetitions(repeated, times, depth)?;
                    }
                    self.leave(&frame);
                }
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
}

/// How items are written that are stored member by member.
#[derive(Clone, Copy)]
pub(super) struct Written {
    /// The version in the frame: that of ROOT's class of streamer infos, which before version 7 wrote members of no items, too.
    streamed: i16,
    /// The version of the items' class.
    version: i16,
    checksum: Option<u32>,
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
