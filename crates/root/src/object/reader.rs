//! Reading one payload, object by object.

use std::sync::Arc;

use forthwith_plan::{Error, ErrorKind, Result};

use super::objects::{Contents, Leftover, Member, Node, Shape, number};
use super::steps::{Pack, Step, Steps};
use super::walk::{Walker, Wanted};
use crate::class::{self, Item, Native, Numbers, Value, known};
use crate::cpp::Basic;
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
    pub(super) layouts: Vec<Arc<Steps>>,
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
    containers: Vec<(u32, Option<Arc<Item>>)>,
    /// Objects that pointers can refer to, by where they begin: ascending, since reading goes forward.
    begun: Vec<(u32, u32)>,
    /// Classes by the address of a name seen before: references to a class lead to the same bytes.
    seen: Vec<(usize, u32)>,
    /// Objects and members left: what a file may cost is bounded by its length. Nearly all members have at least a byte.
    budget: u64,
}

/// Where the members of an object begin, and the slots from there of those that count another.
type Counters = (usize, [u32; 2]);

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
            containers: Vec::new(),
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
            Native::ByInfo => match self.container_class(class)? {
                Some(item) => (0, {
                    let container = self.whole_container(&item, end.is_some(), depth)?;
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
                Step::Only(flag, when, step) => match self.members[first + *flag as usize] {
                    Member::Bool(flag) if flag == *when => {
                        // One step, which is no base.
                        self.steps(std::slice::from_ref(&**step), first, slot, depth)?;
                        self.members[slot]
                    }
                    _ => Member::Null,
                },
                Step::Number(basic) => number(*basic, self.cursor.take(basic.size())?),
                Step::Member(value, slots) => self.value_here(value, (first, *slots), slot, depth)?,
                Step::Array(value, length, slots) => {
                    self.several(value, *length, (first, *slots), slot, depth)?
                }
            };
            self.members[slot] = member;
            slot += 1;
        }
        Ok(None)
    }

    /// Reads one member of a class. Those that count it have slots from `first` on, and `slot` is its own.
    #[inline(always)]
    fn value_here(&mut self, value: &Value, counters: Counters, slot: usize, depth: usize) -> Result<Member> {
        let counter = |(first, slots): Counters| first + slots[0] as usize;
        Ok(match value {
            Value::Number(numbers) => match numbers.basic {
                Some(basic) => number(basic, self.cursor.take(basic.size())?),
                None => {
                    let pack = Pack::of(numbers);
                    Member::Float(pack.value(self.cursor.take(pack.size())?))
                }
            },
            Value::Counted(numbers, _) => match self.cursor.u8()? {
                0 => Member::Null,
                _ => self.repeated(numbers, counter(counters), 1)?,
            },
            Value::Repeated(numbers, _, times) => self.repeated(numbers, counter(counters), *times)?,
            Value::Seeks(_) => match self.cursor.u8()? {
                0 => Member::Null,
                2 => self.counted(Basic::I64, counter(counters))?,
                _ => self.counted(Basic::I32, counter(counters))?,
            },
            Value::CountedTexts(_) => self.counted_texts(counter(counters), 1)?,
            Value::Bits => {
                let bits = self.cursor.u32()?;
                if bits & crate::record::IS_REFERENCED != 0 {
                    self.cursor.u16()?;
                }
                Member::UInt(u64::from(bits))
            }
            Value::Text => self.text()?,
            Value::LongText => self.long_text()?,
            Value::StdText => self.std_string()?,
            Value::Container(item) => self.isolated(|reader| reader.framed(item, depth))?,
            Value::Whole(item) => self.whole_container(item, false, depth)?,
            Value::Bare(item) | Value::Item(item) => self.item(item, depth + 1)?,
            Value::Array(array) => self.apart(array, depth + 1)?,
            Value::TObject => Member::Object(self.embedded("TObject", depth)?),
            Value::Object(class) => Member::Object(self.embedded(class, depth)?),
            Value::Pointer(_) => self.pointed(depth)?,
            Value::Pointers(_) => {
                let count = self.count(counter(counters), 4)?;
                Member::Objects(self.pointers(count, depth)?, count as u32)
            }
            Value::Loop { class, pointers, .. } => {
                let count = self.count(counter(counters), 0)?;
                self.looped(class, *pointers, count, depth)?
            }
            Value::Sized(numbers) => self.sized(plain(numbers)?)?,
            Value::Triangle(numbers, _) => self.symmetric(plain(numbers)?, counter(counters))?,
            Value::Area(numbers, _) => {
                let (first, [width, height]) = counters;
                let width = self.count(first + width as usize, 0)?;
                let height = self.count(first + height as usize, 0)?;
                self.numbers(plain(numbers)?, width.saturating_mul(height))?
            }
            Value::Rows(row, _) => self.rows(row, counter(counters))?,
            Value::Table(width) => {
                let rows = self.cursor.i32()?;
                let rows = self.cursor.count("number of rows", rows, *width as usize)?;
                self.values(Shape::List, rows * *width as usize, 1, |reader, _| reader.text())?
            }
            Value::Process => match slot.checked_sub(1).and_then(|bits| self.members.get(bits)) {
                Some(Member::UInt(bits)) if bits & HAS_UUID != 0 => self.text()?,
                _ => Member::UInt(u64::from(self.cursor.u16()?)),
            },
            Value::Framed => {
                let begin = self.cursor.position();
                let frame = self.cursor.frame()?;
                if frame.end.is_none() {
                    return Err(Error::unsupported("a container without a byte count"));
                }
                self.cursor.leave(&frame);
                self.skipped(begin)
            }
            // No step is made of these.
            Value::Base(_) | Value::Only(..) | Value::Words(..) | Value::Unsupported => {
                return Err(Error::unsupported("a member that nothing describes"));
            }
        })
    }

    /// Reads as many of a member as an array has.
    fn several(
        &mut self,
        value: &Value,
        length: u32,
        counters: Counters,
        slot: usize,
        depth: usize,
    ) -> Result<Member> {
        let (first, [counter, _]) = counters;
        let (counter, many) = (first + counter as usize, length as usize);
        Ok(match value {
            Value::Number(numbers) => self.many(numbers, many)?,
            Value::Counted(numbers, _) => match self.cursor.u8()? {
                0 => Member::Null,
                _ => self.repeated(numbers, counter, length)?,
            },
            Value::CountedTexts(_) => self.counted_texts(counter, many)?,
            Value::Text | Value::StdText => {
                let texts = self.room(many, 1)?;
                self.text_column(texts, 1, many)?;
                Member::List(Shape::List, texts as u32, length)
            }
            Value::Container(item) => self.isolated(|reader| reader.framed_many(item, many, depth))?,
            Value::Object(class) => self.repetitions(class, false, many, depth)?,
            Value::TObject => self.repetitions("TObject", false, many, depth)?,
            Value::Pointer(class) => self.repetitions(class, true, many, depth)?,
            Value::Loop { class, pointers, .. } => {
                let count = self.count(counter, 0)?.saturating_mul(many);
                self.looped(class, *pointers, count, depth)?
            }
            // Of others, one after the other.
            value => self
                .values(Shape::List, many, 0, |reader, _| reader.value_here(value, counters, slot, depth))?,
        })
    }

    /// Reads a member that nothing counts and that has no slot, such as a half of a pair: of arrays in arrays, a list for each.
    pub(super) fn apart(&mut self, member: &class::Member, depth: usize) -> Result<Member> {
        let all = self.value(&member.value, member.array, (0, [0; 2]), 0, depth)?;
        self.shaped(all, &member.dimensions)
    }

    /// Reads a member of a class, or as many as an array has.
    pub(super) fn value(
        &mut self,
        value: &Value,
        array: Option<u32>,
        counters: Counters,
        slot: usize,
        depth: usize,
    ) -> Result<Member> {
        match array {
            None => self.value_here(value, counters, slot, depth),
            Some(length) => self.several(value, length, counters, slot, depth),
        }
    }

    /// The items of an array of these dimensions.
    pub(super) fn shaped(&mut self, all: Member, dimensions: &[u32]) -> Result<Member> {
        match dimensions {
            [outer @ .., _] if !outer.is_empty() => self.nested(all, outer),
            _ => Ok(all),
        }
    }

    /// The items of an array of arrays, as lists in lists.
    fn nested(&mut self, all: Member, sizes: &[u32]) -> Result<Member> {
        let [size, inner @ ..] = sizes else { return Ok(all) };
        let part = |length: u32, row: usize| (length / size * row as u32, length / size);
        self.values(Shape::List, *size as usize, 0, |reader, row| {
            let row = match all {
                Member::Array(basic, start, length) => {
                    let (offset, length) = part(length, row);
                    Member::Array(basic, start + offset, length)
                }
                Member::Packed(pack, start, length) => {
                    let (offset, length) = part(length, row);
                    Member::Packed(pack, start + offset, length)
                }
                Member::List(shape, first, count) => {
                    let (offset, count) = part(count, row);
                    Member::List(shape, first + offset, count)
                }
                Member::Objects(first, count) => {
                    let (offset, count) = part(count, row);
                    Member::Objects(first + offset, count)
                }
                other => other,
            };
            reader.nested(row, inner)
        })
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

    /// A pointer as a value.
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

    /// Numbers, so many times what the member in a slot counts.
    fn repeated(&mut self, numbers: &Numbers, counter: usize, times: u32) -> Result<Member> {
        match numbers.basic {
            Some(basic) if times == 1 => self.counted(basic, counter),
            basic => {
                let size = basic.map_or_else(|| Pack::of(numbers).size(), Basic::size);
                let count = self.count(counter, times as usize * size)?;
                self.many(numbers, times as usize * count)
            }
        }
    }

    /// So many numbers.
    fn many(&mut self, numbers: &Numbers, count: usize) -> Result<Member> {
        match numbers.basic {
            Some(basic) => self.numbers(basic, count),
            None => self.packed(Pack::of(numbers), count),
        }
    }

    /// A flag, and so many texts for each that the member in a slot counts.
    fn counted_texts(&mut self, counter: usize, times: usize) -> Result<Member> {
        if self.cursor.u8()? == 0 {
            return Ok(Member::Null);
        }
        let count = self.count(counter, 4)?.saturating_mul(times);
        self.values(Shape::List, count, 4, |reader, _| reader.long_text())
    }

    /// So many objects or pointers in a frame.
    fn looped(&mut self, class: &str, pointers: bool, count: usize, depth: usize) -> Result<Member> {
        let frame = self.cursor.frame()?;
        let member = self.repetitions(class, pointers, count, depth)?;
        self.leave(&frame);
        Ok(member)
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

    pub(super) fn long_text(&mut self) -> Result<Member> {
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

    /// Rows of numbers, as many as the member in a slot counts.
    fn rows(&mut self, row: &[Basic], counter: usize) -> Result<Member> {
        let count = self.count(counter, row.iter().map(|of| of.size()).sum())?;
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
    fn symmetric(&mut self, basic: Basic, counter: usize) -> Result<Member> {
        let size = basic.size();
        let rows = self.count(counter, size)?;
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
        let Some(layout) = self.walker.steps(&wanted)? else { return Ok(None) };
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
    fn container_class(&mut self, class: u32) -> Result<Option<Arc<Item>>> {
        if let Some((_, item)) = self.containers.iter().find(|(known, _)| *known == class) {
            return Ok(item.clone());
        }
        let name = &self.classes[class as usize].name;
        if !name.ends_with('>') {
            return Ok(None);
        }
        let item = self.walker.file.container(name)?;
        self.containers.push((class, item.clone()));
        Ok(item)
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

/// The kind of numbers that are never packed.
fn plain(numbers: &Numbers) -> Result<Basic> {
    numbers.basic.ok_or_else(|| Error::unsupported("packed numbers where a class's own code writes them"))
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
