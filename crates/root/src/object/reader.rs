//! Reading one payload, object by object.

use std::sync::Arc;

use forthwith_plan::{Error, ErrorKind, Result};

use super::kind::{Kind, Shape};
use super::layout::{Layout, Pack, Step};
use super::objects::{Contents, Leftover, Member, Node, number};
use super::walk::{Walker, Wanted};
use crate::class::{Native, known};
use crate::cpp::{Basic, CppType};
use crate::record::BasketHeader;
use crate::record::{Cursor, out_of_range};
use crate::record::{Frame, Tag};

/// The state of reading one payload.
pub(super) struct Reader<'a> {
    walker: &'a Walker,
    pub(super) cursor: Cursor<'a>,
    pub(super) nodes: Vec<Node>,
    pub(super) members: Vec<Member>,
    pub(super) links: Vec<u32>,
    pub(super) classes: Vec<Class>,
    pub(super) layouts: Vec<Arc<Layout>>,
    pub(super) packs: Vec<Pack>,
    pub(super) made: Vec<(Basic, Box<[u8]>)>,
    pub(super) faults: Vec<(u32, Error)>,
    /// Bases that have been entered.
    frames: Vec<Frame>,
    /// Objects and bases that had bytes left over.
    pub(super) unread: u32,
    pub(super) leftovers: Vec<Leftover>,
    /// The object that is being read.
    current: u32,
    /// Containers met as classes of their own.
    kinds: Vec<(u32, Option<Arc<Kind>>)>,
    /// The classes of the pairs of maps that have arrays, by the address of the kind of their keys.
    pairs: Vec<(usize, Option<u32>)>,
    /// Objects that pointers can refer to, by where they begin: ascending, since reading goes forward.
    begun: Vec<(u32, u32)>,
    /// Classes by the address of a name seen before: references to a class lead to the same bytes.
    seen: Vec<(usize, u32)>,
    /// Objects and members left: what a file may cost is bounded by its length. Nearly all members have at least a byte.
    budget: u64,
}

pub(super) struct Class {
    pub(super) name: Arc<str>,
    pub(super) native: Native,
    /// The layout used last.
    layout: Option<(i32, Option<u32>, u32)>,
}

/// What a pointer leads to.
pub(super) enum Target {
    Nothing,
    Object(u32),
    Elsewhere(usize),
}

/// Lengths of the tables, to go back to.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    nodes: usize,
    members: usize,
    links: usize,
    made: usize,
    faults: usize,
    frames: usize,
    begun: usize,
    unread: u32,
    leftovers: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(walker: &'a Walker, cursor: Cursor<'a>) -> Self {
        let length = cursor.data().len();
        Self {
            walker,
            cursor,
            // About as many as trees have; the memory is in proportion to the payload's.
            nodes: Vec::with_capacity((length / 64).min(MAX_ROOM)),
            members: Vec::with_capacity((length / 12).min(MAX_ROOM)),
            links: Vec::new(),
            classes: Vec::new(),
            layouts: Vec::new(),
            packs: Vec::new(),
            made: Vec::new(),
            faults: Vec::new(),
            frames: Vec::new(),
            unread: 0,
            leftovers: Vec::new(),
            current: 0,
            kinds: Vec::new(),
            pairs: Vec::new(),
            begun: Vec::new(),
            seen: Vec::new(),
            budget: 100_000 + 2 * length as u64,
        }
    }

    /// Notes an object that begins here, or did at its tag.
    pub(super) fn open(&mut self, class: u32, begin: usize) -> u32 {
        let number = self.nodes.len() as u32;
        let body = self.cursor.position() as u32;
        let contents = Contents::Opaque;
        self.nodes.push(Node { class, version: 0, begin: begin as u32, body, end: body, contents });
        number
    }

    /// Reads the contents of an object that was noted, up to `end` if its tag told.
    pub(super) fn contents(&mut self, node: u32, end: Option<usize>, depth: usize) -> Result<()> {
        if depth > MAX_DEPTH {
            return Err(out_of_range("depth of nested objects", depth as i64, MAX_DEPTH as i64));
        }
        self.spend(1)?;
        let outside = std::mem::replace(&mut self.current, node);
        let class = self.nodes[node as usize].class;
        let (version, contents) = match self.classes[class as usize].native {
            Native::ByInfo => match self.container_class(class) {
                Some(kind) => (0, {
                    let container = self.whole_container(&kind, end.is_some(), depth)?;
                    self.single(container)
                }),
                None => self.by_info(class, true, depth)?,
            },
            Native::Own | Native::Uncounted => self.by_info(class, true, depth)?,
            Native::TObject | Native::Bare => self.by_info(class, false, depth)?,
            Native::Clones => self.clones(depth)?,
            Native::Bag => self.bag(depth)?,
            Native::List => self.list(depth)?,
            Native::ObjArray => self.array(depth)?,
            Native::Map => self.map(depth)?,
            Native::Text => {
                let text = self.text()?;
                (0, self.single(text))
            }
            Native::LongText => {
                let text = self.long_text()?;
                (0, self.single(text))
            }
            Native::Btree => self.btree(depth)?,
            Native::Numbers(basic) => {
                let numbers = self.sized(basic)?;
                (0, self.single(numbers))
            }
            Native::Basket => {
                // Usually its tag tells where it ends; in old files only its contents do.
                match end {
                    Some(end) => self.cursor.seek(end)?,
                    None => {
                        BasketHeader::parse(&mut self.cursor)?.embedded(&mut self.cursor)?;
                    }
                }
                (0, Contents::Opaque)
            }
            Native::Opaque => {
                let frame = self.cursor.frame()?;
                if frame.end.is_none() && end.is_none() {
                    return Err(self.unknown(class, frame.version));
                }
                self.cursor.leave(&frame);
                (frame.version, Contents::Opaque)
            }
            Native::Nothing => (0, Contents::Opaque),
        };
        self.current = outside;
        let here = self.cursor.position();
        let node = &mut self.nodes[node as usize];
        node.version = version;
        node.contents = contents;
        node.end = end.unwrap_or(here) as u32;
        Ok(())
    }

    fn by_info(&mut self, class: u32, framed: bool, depth: usize) -> Result<(i16, Contents)> {
        let outer = self.cursor;
        let mut frame = if framed { self.cursor.frame()? } else { Frame::none(&self.cursor) };
        let version = i32::from(frame.version);
        if let (0, Some(checksum)) = (version, frame.checksum) {
            // A class of version 0 has no checksum behind it; one without a version has. The infos tell which it is.
            if self.walker.is_unversioned(&self.classes[class as usize].name, checksum)? {
                self.cursor = outer;
                frame = self.cursor.frame_without_checksum()?;
            }
        }
        let mut bases = Vec::new();
        loop {
            let mark = self.mark();
            let body = self.cursor;
            let Some(layout) = self.layout(class, version, frame.checksum, &bases)? else {
                if frame.end.is_none() {
                    return Err(self.unknown(class, frame.version));
                }
                self.cursor.leave(&frame);
                return Ok((frame.version, Contents::Opaque));
            };
            let steps = self.layouts[layout as usize].clone();
            let first = self.members.len();
            self.spend(steps.names.len() as u64)?;
            self.members.resize(first + steps.names.len(), Member::Null);
            match self.steps(&steps.steps, first, first, depth)? {
                None => {
                    self.leave(&frame);
                    return Ok((frame.version, Contents::Members { layout, first: first as u32 }));
                }
                Some(base) => {
                    // Once more, with what has been learnt. Every turn fixes one more base.
                    self.back_to(mark);
                    self.cursor = body;
                    if bases.iter().any(|(class, _): &(Box<str>, i32)| *class == base.0) {
                        // The same base twice, in two versions.
                        return Err(self.unknown(class, frame.version));
                    }
                    bases.push(base);
                }
            }
        }
    }

    /// Reads members one after the other. Stops at a base whose version is not the one the layout is for.
    ///
    /// `first` is where the object's members begin, `slot` where those of the steps do.
    pub(super) fn steps(
        &mut self,
        steps: &[Step],
        first: usize,
        mut slot: usize,
        depth: usize,
    ) -> Result<Option<(Box<str>, i32)>> {
        for step in steps {
            let member = match step {
                Step::Enter(expected) => {
                    let frame = match expected.unversioned {
                        true => self.cursor.frame_without_checksum()?,
                        false => self.cursor.frame()?,
                    };
                    let version = i32::from(frame.version);
                    if expected.known && version > 0 && version != expected.version {
                        return Ok(Some((expected.class.clone(), version)));
                    }
                    if let (false, Some(end)) = (expected.known, frame.end) {
                        self.cursor.seek(end)?;
                    }
                    self.frames.push(frame);
                    continue;
                }
                Step::Leave => {
                    // Steps come in pairs.
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
                Step::Number(basic) => number(*basic, self.cursor.take(basic.size())?),
                Step::Array(basic, length) => self.numbers(*basic, *length as usize)?,
                Step::Packed(pack) => Member::Float(pack.value(self.cursor.take(pack.size())?)),
                Step::PackedArray(pack, length) => self.packed(*pack, *length as usize)?,
                Step::PackedCounted(pack, counter) => match self.cursor.u8()? {
                    0 => Member::Null,
                    _ => {
                        let count = self.count(first + *counter as usize, pack.size())?;
                        self.packed(*pack, count)?
                    }
                },
                Step::Bare(basic, counter, times) => {
                    let times = *times as usize;
                    let count = self.count(first + *counter as usize, times * basic.size())?;
                    self.numbers(*basic, times * count)?
                }
                Step::PackedBare(pack, counter, times) => {
                    let times = *times as usize;
                    let count = self.count(first + *counter as usize, times * pack.size())?;
                    self.packed(*pack, times * count)?
                }
                Step::Flagged(step) => match self.cursor.u8()? {
                    0 => Member::Null,
                    _ => {
                        self.steps(std::slice::from_ref(&**step), first, slot, depth)?;
                        self.members[slot]
                    }
                },
                Step::Triangle(basic, rows) => {
                    let rows = self.count(first + *rows as usize, basic.size())?;
                    self.symmetric(*basic, rows)?
                }
                Step::Links(counter) => {
                    let count = self.count(first + *counter as usize, 4)?;
                    let links = self.pointers(count, depth)?;
                    Member::Objects(links, count as u32)
                }
                Step::Loop(repeated) => {
                    let count = self.count(first + repeated.counter as usize, 0)?;
                    self.repeated(repeated, count, depth)?
                }
                Step::Counted(basic, counter) => match self.cursor.u8()? {
                    0 => Member::Null,
                    _ => self.counted(*basic, first + *counter as usize)?,
                },
                Step::Seeks(counter) => match self.cursor.u8()? {
                    0 => Member::Null,
                    2 => self.counted(Basic::I64, first + *counter as usize)?,
                    _ => self.counted(Basic::I32, first + *counter as usize)?,
                },
                Step::Bits => {
                    let bits = self.cursor.u32()?;
                    if bits & crate::record::IS_REFERENCED != 0 {
                        self.cursor.u16()?;
                    }
                    Member::UInt(u64::from(bits))
                }
                Step::Process => match self.members[slot - 1] {
                    Member::UInt(bits) if bits & HAS_UUID != 0 => self.text()?,
                    _ => Member::UInt(u64::from(self.cursor.u16()?)),
                },
                Step::Text => self.text()?,
                Step::Table(width) => {
                    let rows = self.cursor.i32()?;
                    let rows = self.cursor.count("number of rows", rows, *width as usize)?;
                    self.values(Shape::List, rows * *width as usize, 1, |reader, _| reader.text())?
                }
                Step::Rows(row, counter) => {
                    let count =
                        self.count(first + *counter as usize, row.iter().map(|of| of.size()).sum())?;
                    self.rows(row, count)?
                }
                Step::Sized(basic) => self.sized(*basic)?,
                Step::Area(basic, width, height) => {
                    let width = self.count(first + *width as usize, 0)?;
                    let height = self.count(first + *height as usize, 0)?;
                    self.numbers(*basic, width.saturating_mul(height))?
                }
                Step::Only(flag, when, step) => match self.members[first + *flag as usize] {
                    Member::Bool(flag) if flag == *when => {
                        // One step, which is no base.
                        self.steps(std::slice::from_ref(&**step), first, slot, depth)?;
                        self.members[slot]
                    }
                    _ => Member::Null,
                },
                Step::LongText => self.long_text()?,
                Step::StdString => self.std_string()?,
                Step::Strings(length) => {
                    self.strings(slot, 1, 1, *length as usize)?;
                    self.members[slot]
                }
                Step::Container(kind) => self.isolated(|reader| reader.framed(kind, depth))?,
                Step::BareContainers(kind, length) => {
                    self.values(Shape::List, *length as usize, 4, |reader, _| reader.item(kind, depth + 1))?
                }
                Step::Containers(kind, length) => {
                    self.isolated(|reader| reader.framed_many(kind, *length as usize, depth))?
                }
                Step::Embedded(class) => Member::Object(self.embedded(class, depth)?),
                Step::EmbeddedArray(class, length) => {
                    let links = self.links(*length as usize, 1)?;
                    for link in links..links + *length as usize {
                        self.links[link] = self.embedded(class, depth)?;
                    }
                    Member::Objects(links as u32, *length)
                }
                Step::Pointer => match self.pointer(depth)? {
                    Target::Nothing => Member::Null,
                    Target::Object(number) => Member::Object(number),
                    Target::Elsewhere(position) => Member::Elsewhere(position as u32),
                },
                Step::Pointers(length) => {
                    let links = self.pointers(*length as usize, depth)?;
                    Member::Objects(links, *length)
                }
                Step::Framed => {
                    let begin = self.cursor.position();
                    let frame = self.cursor.frame()?;
                    if frame.end.is_none() {
                        return Err(Error::unsupported("a container without a byte count"));
                    }
                    self.cursor.leave(&frame);
                    self.skipped(begin)
                }
            };
            self.members[slot] = member;
            slot += 1;
        }
        Ok(None)
    }

    /// Whether what is being read is the record itself, and not something in it.
    pub(super) fn is_record(&self) -> bool {
        self.current == 0 && self.nodes.first().is_some_and(|node| node.body == 0)
    }

    /// Reads what stands where a pointer was written.
    pub(super) fn pointer(&mut self, depth: usize) -> Result<Target> {
        let (class, begin, end) = match self.cursor.tag()? {
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
            return Ok(Target::Object(node));
        };
        if end == self.cursor.position() {
            // A class that ROOT cannot stream leaves nothing but its name.
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
            self.nodes[node as usize].contents = Contents::Opaque;
            self.nodes[node as usize].end = end as u32;
            self.faults.push((node, error));
        }
        self.cursor = outer;
        Ok(Target::Object(node))
    }

    pub(super) fn embedded(&mut self, class: &str, depth: usize) -> Result<u32> {
        let class = self.class(class.as_bytes());
        let begin = self.cursor.position();
        let node = self.open(class, begin);
        self.contents(node, None, depth + 1)?;
        Ok(node)
    }

    fn tobject(&mut self, slot: usize) -> Result<()> {
        let object = self.cursor.tobject()?;
        self.members[slot] = Member::UInt(u64::from(object.unique_id));
        self.members[slot + 1] = Member::UInt(u64::from(object.bits));
        Ok(())
    }

    pub(super) fn text(&mut self) -> Result<Member> {
        let length = self.cursor.string()?.len();
        Ok(Member::Text((self.cursor.position() - length) as u32, length as u32))
    }

    /// A `std::string` as a member has a frame in some places and none in others.
    pub(super) fn std_string(&mut self) -> Result<Member> {
        let bare = self.cursor;
        if let Ok(frame) = self.cursor.frame()
            && frame.end.is_some()
        {
            let text = self.text();
            let unread = self.cursor.leave(&frame);
            if text.is_ok() && unread == 0 {
                return text;
            }
        }
        self.cursor = bare;
        self.text()
    }

    fn counted(&mut self, basic: Basic, counter: usize) -> Result<Member> {
        let count = self.count(counter, basic.size())?;
        self.numbers(basic, count)
    }

    /// What the member in a slot counts, if as many things of `size` bytes can follow.
    pub(super) fn count(&self, counter: usize, size: usize) -> Result<usize> {
        let count = match self.members[counter] {
            Member::Bool(count) => i32::from(count),
            Member::Int(count) => i32::try_from(count).unwrap_or(-1),
            Member::UInt(count) => i32::try_from(count).unwrap_or(-1),
            _ => -1,
        };
        self.cursor.count("number of array items", count, size)
    }

    fn long_text(&mut self) -> Result<Member> {
        let length = self.cursor.i32()?;
        let length = self.cursor.count("length of text", length, 1)?;
        self.bytes(length)
    }

    /// How many numbers there are, and the numbers.
    fn sized(&mut self, basic: Basic) -> Result<Member> {
        let count = self.cursor.i32()?;
        let count = self.cursor.count("number of array items", count, basic.size())?;
        self.numbers(basic, count)
    }

    /// So many rows of numbers.
    fn rows(&mut self, row: &[Basic], count: usize) -> Result<Member> {
        self.values(Shape::List, count, 1, |reader, _| {
            reader.values(Shape::Pair, row.len(), 1, |reader, at| {
                Ok(number(row[at], reader.cursor.take(row[at].size())?))
            })
        })
    }

    pub(super) fn numbers(&mut self, basic: Basic, count: usize) -> Result<Member> {
        let begin = self.cursor.position();
        let bytes = self.cursor.take(count.saturating_mul(basic.size()))?;
        Ok(Member::Array(basic, begin as u32, bytes.len() as u32))
    }

    /// A symmetric matrix, row by row, of which each row has only what is not left of the diagonal.
    fn symmetric(&mut self, basic: Basic, rows: usize) -> Result<Member> {
        let size = basic.size();
        let half = self.cursor.take((rows.saturating_mul(rows + 1) / 2).saturating_mul(size))?;
        let mut full = vec![0; rows * rows * size].into_boxed_slice();
        let mut places = (0..rows).flat_map(|row| (row..rows).map(move |column| (row, column)));
        for (number, (row, column)) in half.chunks_exact(size).zip(&mut places) {
            for at in [row * rows + column, column * rows + row] {
                full[at * size..(at + 1) * size].copy_from_slice(number);
            }
        }
        self.made.push((basic, full));
        Ok(Member::Made(self.made.len() as u32 - 1))
    }

    fn packed(&mut self, pack: Pack, count: usize) -> Result<Member> {
        let begin = self.cursor.position();
        let bytes = self.cursor.take(count.saturating_mul(pack.size()))?;
        let known = self.packs.iter().position(|known| *known == pack);
        let number = known.unwrap_or(self.packs.len());
        if known.is_none() {
            self.packs.push(pack);
        }
        match u16::try_from(number) {
            Ok(number) => Ok(Member::Packed(number, begin as u32, bytes.len() as u32)),
            Err(_) => Err(Error::unsupported("an object with that many different packings")),
        }
    }

    /// Text of so many bytes.
    pub(super) fn bytes(&mut self, length: usize) -> Result<Member> {
        let begin = self.cursor.position();
        self.cursor.take(length)?;
        Ok(Member::Text(begin as u32, length as u32))
    }

    /// Reads something in a frame. If that fails, it is passed over.
    fn isolated(&mut self, read: impl FnOnce(&mut Self) -> Result<Member>) -> Result<Member> {
        let (mark, before, current) = (self.mark(), self.cursor, self.current);
        let error = match read(self) {
            Ok(member) => return Ok(member),
            Err(error) if self.budget == 0 => return Err(error),
            Err(error) => error,
        };
        self.back_to(mark);
        (self.cursor, self.current) = (before, current);
        let frame = self.cursor.frame()?;
        if frame.end.is_none() {
            return Err(error);
        }
        self.cursor.leave(&frame);
        self.faults.push((self.current, error));
        Ok(self.skipped(before.position()))
    }

    pub(super) fn skipped(&self, begin: usize) -> Member {
        Member::Skipped(begin as u32, (self.cursor.position() - begin) as u32)
    }

    fn single(&mut self, member: Member) -> Contents {
        let first = self.members.len() as u32;
        self.members.push(member);
        Contents::Member { first }
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
        let Some(layout) = self.walker.layout(&wanted)? else { return Ok(None) };
        let number = match self.layouts.iter().position(|known| Arc::ptr_eq(known, &layout)) {
            Some(number) => number,
            None => {
                self.layouts.push(layout);
                self.layouts.len() - 1
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

    /// How a class that is a container is stored.
    fn container_class(&mut self, class: u32) -> Option<Arc<Kind>> {
        if let Some((_, kind)) = self.kinds.iter().find(|(known, _)| *known == class) {
            return kind.clone();
        }
        let name = &self.classes[class as usize].name;
        if !name.ends_with('>') {
            return None;
        }
        let kind = Kind::container(&CppType::parse(name), None, &self.walker.streamers).map(Arc::new);
        self.kinds.push((class, kind.clone()));
        kind
    }

    /// The class of pairs of these, if the file describes it.
    pub(super) fn pair(&mut self, key: &Kind, value: &Kind) -> Option<u32> {
        // Kinds stay where they are as long as what they are of is read.
        let address = std::ptr::from_ref(key) as usize;
        if let Some(&(_, pair)) = self.pairs.iter().find(|&&(known, _)| known == address) {
            return pair;
        }
        let name = Kind::pair(key, value, &self.walker.streamers).map(str::to_owned);
        let pair = name.map(|name| self.class_by_name(&name));
        self.pairs.push((address, pair));
        pair
    }

    pub(super) fn class_by_name(&mut self, name: &str) -> u32 {
        let place = self.classes.iter().position(|class| &*class.name == name);
        place.unwrap_or_else(|| {
            let native = known(name);
            self.classes.push(Class { name: name.into(), native, layout: None });
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
                let bytes = self.members.len() as u64 * size_of::<Member>() as u64;
                Err(ErrorKind::OutOfMemory { what: "an object out of proportion to its bytes", bytes }.into())
            }
        }
    }

    pub(super) fn leave(&mut self, frame: &Frame) {
        let begin = self.cursor.position();
        let length = self.cursor.leave(frame);
        if length > 0 {
            self.unread += 1;
            if self.leftovers.len() < MAX_LEFTOVERS {
                let class = self.nodes[self.current as usize].class;
                let class = self.classes[class as usize].name.clone();
                self.leftovers.push(Leftover { class, begin, length });
            }
        }
    }

    pub(super) fn mark(&self) -> Mark {
        Mark {
            nodes: self.nodes.len(),
            members: self.members.len(),
            links: self.links.len(),
            made: self.made.len(),
            faults: self.faults.len(),
            frames: self.frames.len(),
            begun: self.begun.len(),
            unread: self.unread,
            leftovers: self.leftovers.len(),
        }
    }

    pub(super) fn back_to(&mut self, mark: Mark) {
        self.nodes.truncate(mark.nodes);
        self.members.truncate(mark.members);
        self.links.truncate(mark.links);
        self.made.truncate(mark.made);
        self.faults.truncate(mark.faults);
        self.frames.truncate(mark.frames);
        self.begun.truncate(mark.begun);
        self.unread = mark.unread;
        self.leftovers.truncate(mark.leftovers);
    }

    #[cold]
    pub(super) fn unknown(&self, class: u32, version: i16) -> Error {
        let class = &self.classes[class as usize].name;
        Error::unsupported(format!("class {class} version {version}, of which the file has no streamer info"))
            .at_byte(self.cursor.position() as u64)
    }
}

/// Set in a `TRef`'s bits if it names its object by UUID.
const HAS_UUID: u64 = 0x20;
/// More objects with bytes left over are counted only.
const MAX_LEFTOVERS: usize = 100;
/// Deeper nesting is a mistake, or an attack on the stack.
pub(super) const MAX_DEPTH: usize = 100;
/// Room is not made for more members in advance.
const MAX_ROOM: usize = 1 << 16;
/// More names of classes in one record are looked up one by one.
const MAX_SEEN: usize = 64;
