//! The reader of one payload.

use std::sync::Arc;

use forthwith_plan::{Error, ErrorKind, Result};

use super::marks::Marks;
use super::objects::{Contents, Leftover, Member, Node, Objects, number};
use super::steps::{Step, Steps};
use super::walk::{Walker, Wanted};
use crate::class::{Item, Native, known};
use crate::record::BasketHeader;
use crate::record::Cursor;
use crate::record::{Frame, Tag};

/// State of reading one payload.
pub(super) struct Reader<'a> {
    walker: &'a Walker,
    pub(super) cursor: Cursor<'a>,
    /// Result, except for the classes.
    pub(super) to: Objects,
    pub(super) classes: Vec<Class>,
    /// Frames of the bases that are being read, outermost first.
    frames: Vec<Frame>,
    /// Index of the object being read.
    pub(super) current: u32,
    /// Offset and index of each object that pointers can refer to, in ascending order, since reading proceeds
    /// forward.
    begun: Vec<(u32, u32)>,
    /// Classes by the address of their names: references to a class lead to the same bytes.
    seen: Vec<(usize, u32)>,
    /// Remaining number of objects and members. It bounds the cost of a file by its length, since nearly all
    /// members have at least one byte.
    pub(super) budget: u64,
}

pub(super) struct Class {
    pub(super) name: Arc<str>,
    pub(super) native: Native,
    /// Version, checksum and index of the layout used last.
    layout: Option<(i32, Option<u32>, u32)>,
    /// The container that the class is, if any; `None` until it is looked up.
    container: Option<Option<Arc<Item>>>,
}

/// The target of a pointer.
pub(super) enum Target {
    Nothing,
    Object(u32),
    Elsewhere(usize),
}

/// Lengths of the tables, to undo a failed read.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    nodes: usize,
    members: usize,
    links: usize,
    made: usize,
    faults: usize,
    frames: usize,
    marks: (usize, usize),
    begun: usize,
    unread: u32,
    leftovers: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(walker: &'a Walker, cursor: Cursor<'a>, marks: Option<Marks>) -> Self {
        let length = cursor.data().len();
        // Typical densities of objects and members in trees. The memory is proportional to the payload.
        let nodes = Vec::with_capacity((length / 64).min(MAX_ROOM));
        let members = Vec::with_capacity((length / 12).min(MAX_ROOM));
        Self {
            walker,
            cursor,
            to: Objects { nodes, members, marks, ..Objects::default() },
            classes: Vec::new(),
            frames: Vec::new(),
            current: 0,
            begun: Vec::new(),
            seen: Vec::new(),
            budget: 100_000 + 2 * length as u64,
        }
    }

    /// Adds an object whose contents are at the current position, and its tag at `begin`. Returns its index.
    pub(super) fn open(&mut self, class: u32, begin: usize) -> u32 {
        let number = self.to.nodes.len() as u32;
        let body = self.cursor.position() as u32;
        let contents = Contents::Opaque;
        self.to.nodes.push(Node { class, version: 0, begin: begin as u32, body, end: body, contents });
        number
    }

    /// Reads the contents of an object that was added, up to `end` if its tag has a byte count.
    pub(super) fn contents(&mut self, node: u32, end: Option<usize>, depth: usize) -> Result<()> {
        if depth > MAX_DEPTH {
            return Err(Error::out_of_range("depth of nested objects", depth, MAX_DEPTH));
        }
        self.spend(1)?;
        let outside = std::mem::replace(&mut self.current, node);
        let class = self.to.nodes[node as usize].class;
        let (version, contents) = match self.classes[class as usize].native {
            Native::ByInfo => match self.container_class(class)? {
                Some(item) => self.single(|reader| reader.whole_container(&item, end.is_some(), depth))?,
                None => self.by_info(class, true, depth)?,
            },
            Native::Own | Native::Uncounted => self.by_info(class, true, depth)?,
            Native::TObject | Native::Bare => self.by_info(class, false, depth)?,
            Native::Clones => self.clones(depth)?,
            kind @ (Native::Bag | Native::List | Native::ObjArray | Native::Map) => self.bag(kind, depth)?,
            Native::Text => self.single(Self::text)?,
            Native::LongText => self.single(Self::long_text)?,
            Native::Btree => self.btree(depth)?,
            Native::Numbers(basic) => self.single(|reader| reader.sized(basic))?,
            Native::Basket => {
                let begin = self.cursor.position();
                // The end is that of the tag, except in old files, in which it follows from the contents.
                match end {
                    Some(end) => self.cursor.seek(end)?,
                    None => {
                        BasketHeader::parse(&mut self.cursor)?.embedded(&mut self.cursor)?;
                    }
                }
                self.note_passed(begin);
                (0, Contents::Opaque)
            }
            Native::Opaque => {
                let frame = self.frame()?;
                self.opaque(class, &frame, end)?
            }
            Native::Nothing => (0, Contents::Opaque),
        };
        self.current = outside;
        let here = self.cursor.position();
        let node = &mut self.to.nodes[node as usize];
        node.version = version;
        node.contents = contents;
        node.end = end.unwrap_or(here) as u32;
        Ok(())
    }

    fn by_info(&mut self, class: u32, framed: bool, depth: usize) -> Result<(i16, Contents)> {
        let outer = self.cursor;
        let mut frame = if framed { self.frame()? } else { Frame::none(&self.cursor) };
        let version = i32::from(frame.version);
        if let (0, Some(checksum)) = (version, frame.checksum) {
            // Version 0 may be the class's version, or mean that a checksum follows. The streamer infos tell
            // which.
            if self.walker.is_unversioned(&self.classes[class as usize].name, checksum)? {
                self.cursor = outer;
                frame = self.frame_without_checksum()?;
            }
        }
        let members = self.by_layout(class, version, frame.checksum, |reader, layout, steps| {
            let first = reader.to.members.len();
            reader.spend(steps.names.len() as u64)?;
            reader.to.members.resize(first + steps.names.len(), Member::Null);
            let base = reader.steps(&steps.steps, first, first, depth)?;
            Ok((Contents::Members { layout, first: first as u32 }, base))
        })?;
        let Some(members) = members else { return self.opaque(class, &frame, None) };
        self.leave(&frame);
        Ok((frame.version, members))
    }

    /// Skips the rest of an object. Fails if neither its frame nor its tag has a byte count.
    fn opaque(&mut self, class: u32, frame: &Frame, end: Option<usize>) -> Result<(i16, Contents)> {
        if frame.end.or(end).is_none() {
            return Err(self.unknown(class, frame.version));
        }
        self.cursor.leave(frame);
        self.note_passed(frame.body);
        Ok((frame.version, Contents::Opaque))
    }

    /// Reads members by the layout of a class version, and repeats that for each base whose stored version
    /// differs from that of the layout. Returns `None` if the class is not described.
    pub(super) fn by_layout<T>(
        &mut self,
        class: u32,
        version: i32,
        checksum: Option<u32>,
        mut read: impl FnMut(&mut Self, u32, &Steps) -> Result<(T, Option<(Box<str>, i32)>)>,
    ) -> Result<Option<T>> {
        let mut bases: Vec<(Box<str>, i32)> = Vec::new();
        let (start, mark) = (self.cursor, self.mark());
        loop {
            let Some(layout) = self.layout(class, version, checksum, &bases)? else { return Ok(None) };
            let steps = self.to.layouts[layout as usize].clone();
            let (members, base) = read(self, layout, &steps)?;
            let Some(base) = base else { return Ok(Some(members)) };
            // Repeat with the version of this base; each pass fixes one more base.
            self.back_to(mark);
            self.cursor = start;
            if bases.iter().any(|(class, _)| *class == base.0) {
                // A base occurs twice, in two versions.
                return Err(self.unknown(class, version as i16));
            }
            bases.push(base);
        }
    }

    /// Reads members in order. Stops at a base whose version differs from that of the layout, and returns the
    /// base and its version.
    ///
    /// `first` is the index of the object's first member, `slot` that of the first member of `steps`.
    pub(super) fn steps(
        &mut self,
        steps: &[Step],
        first: usize,
        mut slot: usize,
        depth: usize,
    ) -> Result<Option<(Box<str>, i32)>> {
        for step in steps {
            let begin = self.cursor.position();
            let member = match step {
                Step::Enter(expected) => {
                    let frame = match expected.unversioned {
                        true => self.frame_without_checksum()?,
                        false => self.frame()?,
                    };
                    let version = i32::from(frame.version);
                    if expected.known && version > 0 && version != expected.version {
                        return Ok(Some((expected.class.clone(), version)));
                    }
                    if let (false, Some(end)) = (expected.known, frame.end) {
                        self.cursor.seek(end)?;
                        self.note_passed(frame.body);
                    }
                    self.frames.push(frame);
                    continue;
                }
                Step::Leave => {
                    // Every `Leave` follows its `Enter`.
                    if let Some(frame) = self.frames.pop() {
                        self.leave(&frame);
                    }
                    continue;
                }
                Step::TObject => {
                    self.tobject(slot)?;
                    slot += 2;
                    continue;
                }
                Step::Only(flag, when, step) => match self.to.members[first + *flag as usize] {
                    Member::Bool(flag) if flag == *when => {
                        // The step is not a base, so that the result is `None`.
                        self.steps(std::slice::from_ref(&**step), first, slot, depth)?;
                        self.to.members[slot]
                    }
                    _ => Member::Null,
                },
                Step::Number(basic) => number(*basic, self.cursor.take(basic.size())?),
                Step::Member(value, array, slots) => {
                    self.value(value, *array, (first, *slots), slot, depth)?
                }
            };
            self.to.members[slot] = member;
            self.note_place(slot, begin..self.cursor.position());
            slot += 1;
        }
        Ok(None)
    }

    /// Whether the object being read is the record itself, rather than a part of it.
    pub(super) fn is_record(&self) -> bool {
        self.current == 0 && self.to.nodes.first().is_some_and(|node| node.body == 0)
    }

    /// Reads a pointer, and the object that follows the first pointer to it.
    pub(super) fn pointer(&mut self, depth: usize) -> Result<Target> {
        let spot = self.cursor.position();
        let tag = self.cursor.tag()?;
        let spot = self.note_pointer(spot, &tag);
        let (class, begin, end) = match tag {
            Tag::Null => return Ok(Target::Nothing),
            Tag::Itself => return Ok(Target::Object(0)),
            Tag::Reference(position) => {
                let found = self.begun.binary_search_by_key(&position, |&(begin, _)| begin as usize);
                return Ok(match found {
                    Ok(index) => Target::Object(self.begun[index].1),
                    Err(_) => Target::Elsewhere(position),
                });
            }
            Tag::Object { class, begin, end } => (class, begin, end),
        };
        let class = self.class(class);
        let node = self.open(class, begin);
        self.begun.push((begin as u32, node));
        let Some(end) = end else {
            self.contents(node, None, depth + 1)?;
            self.note_end(spot);
            return Ok(Target::Object(node));
        };
        if end == self.cursor.position() {
            // An object of a class that ROOT cannot stream consists of its tag.
            return Ok(Target::Object(node));
        }
        let (mark, current) = (self.mark(), self.current);
        let mut outer = self.cursor;
        self.cursor = outer.carve(end.saturating_sub(outer.position()))?;
        if let Err(error) = self.contents(node, Some(end), depth + 1) {
            if self.budget == 0 {
                return Err(error);
            }
            self.back_to(mark);
            self.current = current;
            self.to.nodes[node as usize].contents = Contents::Opaque;
            self.to.nodes[node as usize].end = end as u32;
            self.to.faults.push((node, error));
            let body = self.to.nodes[node as usize].body as usize;
            self.cursor = outer;
            self.note_passed(body);
        }
        self.cursor = outer;
        self.note_end(spot);
        Ok(Target::Object(node))
    }

    pub(super) fn embedded(&mut self, class: &str, depth: usize) -> Result<u32> {
        let class = self.class(class.as_bytes());
        let begin = self.cursor.position();
        let node = self.open(class, begin);
        self.contents(node, None, depth + 1)?;
        Ok(node)
    }

    /// Reads a pointer as the value of a member.
    #[inline]
    pub(super) fn pointed(&mut self, depth: usize) -> Result<Member> {
        Ok(match self.pointer(depth)? {
            Target::Nothing => Member::Null,
            Target::Object(number) => Member::Object(number),
            Target::Elsewhere(position) => Member::Elsewhere(position as u32),
        })
    }

    fn tobject(&mut self, slot: usize) -> Result<()> {
        let object = self.cursor.tobject()?;
        self.to.members[slot] = Member::UInt(u64::from(object.unique_id));
        self.to.members[slot + 1] = Member::UInt(u64::from(object.bits));
        let behind = if object.process_id.is_some() { 2 } else { 0 };
        let end = self.cursor.position().saturating_sub(behind);
        self.note_place(slot, end.saturating_sub(8)..end.saturating_sub(4));
        self.note_place(slot + 1, end.saturating_sub(4)..end);
        Ok(())
    }

    /// Reads an object that consists of a single value.
    fn single(&mut self, read: impl FnOnce(&mut Self) -> Result<Member>) -> Result<(i16, Contents)> {
        let member = read(self)?;
        let first = self.to.members.len() as u32;
        self.to.members.push(member);
        Ok((0, Contents::Member { first }))
    }

    pub(super) fn layout(
        &mut self,
        class: u32,
        version: i32,
        checksum: Option<u32>,
        bases: &[(Box<str>, i32)],
    ) -> Result<Option<u32>> {
        let known = &mut self.classes[class as usize];
        if let Some((last, sum, layout)) = known.layout
            && (last, sum) == (version, checksum)
            && bases.is_empty()
        {
            return Ok(Some(layout));
        }
        let wanted = Wanted { class: (&*known.name).into(), version, checksum, bases: bases.to_vec() };
        let Some(layout) = self.walker.steps(&wanted)? else { return Ok(None) };
        let number = match self.to.layouts.iter().position(|known| Arc::ptr_eq(known, &layout)) {
            Some(number) => number,
            None => {
                self.to.layouts.push(layout);
                self.to.layouts.len() - 1
            }
        } as u32;
        if bases.is_empty() {
            known.layout = Some((version, checksum, number));
        }
        Ok(Some(number))
    }

    pub(super) fn class(&mut self, name: &[u8]) -> u32 {
        let address = name.as_ptr() as usize;
        if let Some(&(_, class)) = self.seen.iter().find(|&&(seen, _)| seen == address) {
            return class;
        }
        let class = self.class_by_name(&crate::record::text(name));
        if self.seen.len() < MAX_SEEN {
            self.seen.push((address, class));
        }
        class
    }

    /// Returns the container that a class is, or `None` if it is not a container.
    fn container_class(&mut self, class: u32) -> Result<Option<Arc<Item>>> {
        let class = &mut self.classes[class as usize];
        if class.container.is_none() {
            class.container = Some(self.walker.file.container(&class.name)?);
        }
        Ok(class.container.clone().flatten())
    }

    pub(super) fn class_by_name(&mut self, name: &str) -> u32 {
        let place = self.classes.iter().position(|class| &*class.name == name);
        place.unwrap_or_else(|| {
            let native = known(name);
            self.classes.push(Class { name: name.into(), native, layout: None, container: None });
            self.classes.len() - 1
        }) as u32
    }

    pub(super) fn spend(&mut self, work: u64) -> Result<()> {
        match self.budget.checked_sub(work) {
            Some(left) if left > 0 => {
                self.budget = left;
                Ok(())
            }
            _ => {
                self.budget = 0;
                let bytes = self.to.members.len() as u64 * size_of::<Member>() as u64;
                Err(ErrorKind::OutOfMemory { what: "an object out of proportion to its bytes", bytes }.into())
            }
        }
    }

    pub(super) fn leave(&mut self, frame: &Frame) {
        let begin = self.cursor.position();
        let length = self.cursor.leave(frame);
        if length > 0 {
            self.note_passed(begin);
            self.to.unread += 1;
            if self.to.leftovers.len() < MAX_LEFTOVERS {
                let class = self.to.nodes[self.current as usize].class;
                let class = self.classes[class as usize].name.clone();
                self.to.leftovers.push(Leftover { class, begin, length });
            }
        }
    }

    pub(super) fn mark(&self) -> Mark {
        Mark {
            nodes: self.to.nodes.len(),
            members: self.to.members.len(),
            links: self.to.links.len(),
            made: self.to.made.len(),
            faults: self.to.faults.len(),
            frames: self.frames.len(),
            marks: self.to.marks.as_ref().map_or((0, 0), Marks::lengths),
            begun: self.begun.len(),
            unread: self.to.unread,
            leftovers: self.to.leftovers.len(),
        }
    }

    pub(super) fn back_to(&mut self, mark: Mark) {
        self.to.nodes.truncate(mark.nodes);
        self.to.members.truncate(mark.members);
        self.to.links.truncate(mark.links);
        self.to.made.truncate(mark.made);
        self.to.faults.truncate(mark.faults);
        self.frames.truncate(mark.frames);
        self.begun.truncate(mark.begun);
        if let Some(marks) = &mut self.to.marks {
            marks.back_to(mark.marks, mark.members);
        }
        self.to.unread = mark.unread;
        self.to.leftovers.truncate(mark.leftovers);
    }

    #[cold]
    pub(super) fn unknown(&self, class: u32, version: i16) -> Error {
        let class = &self.classes[class as usize].name;
        Error::unsupported(format!("class {class} version {version}, of which the file has no streamer info"))
            .at_byte(self.cursor.position() as u64)
    }
}

/// Number of objects with unread bytes that are listed; more are only counted.
const MAX_LEFTOVERS: usize = 100;
/// Upper bound on the depth of nested objects, which protects the stack.
pub(super) const MAX_DEPTH: usize = 100;
/// Upper bound on the objects and members for which memory is reserved in advance.
const MAX_ROOM: usize = 1 << 16;
/// Number of class names that are cached by address.
const MAX_SEEN: usize = 64;
