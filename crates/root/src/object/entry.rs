//! Reads entries of branches so that they can be [written](crate::write::Edits::write) at another offset.
//!
//! Class tags and references within an entry are offsets from the start of the basket's buffer. An entry that
//! is moved has to be read as far as pointers are concerned, and rewritten.

use std::sync::Arc;

use bytes::Bytes;
use forthwith_plan::{Error, Result};

use super::marks::{Marks, SpotKind};
use super::objects::{self, Objects};
use super::reader::Reader;
use super::walk::Walker;
use crate::class::{Base, Item, Layouts, Member, Native, Pair, StoredBase, Value, native};
use crate::cpp::CppType;
use crate::record::{BEFORE, Cursor, is_bad_reference, text};
use crate::streamer::Element;

/// Type of the entries of a branch.
#[derive(Clone, Debug)]
pub struct EntryValue(Stored);

#[derive(Clone, Debug)]
enum Stored {
    /// An object in place.
    Object(Arc<str>),
    /// The members of an object without a frame, in a version or with a checksum.
    Members(Arc<str>, i32, Option<u32>),
    /// The values of a pair without a frame.
    Halves(Arc<Pair>),
    /// A member of a class, or that of all items of a collection.
    Member(Member),
    /// An object after its class name.
    Named(Arc<str>),
}

impl EntryValue {
    /// Returns the value of a branch of whole objects of a class. A split branch only has the members, in the
    /// version or with the checksum given.
    #[must_use]
    pub fn of_object(class: &str, divided: Option<(i32, u32)>, file: &Layouts) -> Self {
        let kind = CppType::parse(class);
        let item = || Arc::new(Item::of(&kind, file));
        Self(match (&kind, divided) {
            (CppType::Other(class), Some((version, checksum)))
                if matches!(native(class), Native::ByInfo | Native::Own | Native::Uncounted) =>
            {
                let checksum = Some(checksum).filter(|&checksum| checksum != 0);
                match file.container(class).ok().flatten() {
                    Some(item) => Stored::Member(Member::of_value(Value::Container(item))),
                    None => Stored::Members(class.as_str().into(), version, checksum),
                }
            }
            (CppType::Other(class), _) => Stored::Object(class.as_str().into()),
            (CppType::Pair(..), Some(_)) if let Item::Pair(pair) = &*item() => {
                Stored::Halves(Arc::clone(pair))
            }
            (CppType::Array(..), _) if let Item::Array(array) = &*item() => Stored::Member((**array).clone()),
            _ => Stored::Member(Member::typed(&kind, &item())),
        })
    }

    /// Returns the value of a branch for the base or member of an element or, with `items`, for that of all
    /// items of a collection. Returns `None` for a base of items, whose members cannot be separated without
    /// the number of items.
    #[must_use]
    pub fn of_member(element: &Element, items: bool, file: &Layouts) -> Option<Self> {
        let member = Member::of(element, file);
        Some(Self(match member.value {
            Value::Base(_) if items => return None,
            Value::Base(Base { stored: StoredBase::Container(item), .. }) => {
                Stored::Member(Member::of_value(Value::Container(item)))
            }
            Value::Base(_) => Stored::Object(element.name.as_ref().into()),
            _ => Stored::Member(member),
        }))
    }

    /// Returns the value of a branch whose objects follow their class name. If that is empty, it is that of
    /// the branch.
    #[must_use]
    pub fn of_named_object(class: &str) -> Self {
        Self(Stored::Named(class.into()))
    }

    /// Returns whether an entry may have pointers to objects. The members of classes are not considered.
    #[must_use]
    pub fn may_point(&self) -> bool {
        match &self.0 {
            Stored::Object(class) => !matches!(
                native(class),
                Native::TObject | Native::Text | Native::LongText | Native::Numbers(_)
            ),
            Stored::Member(member) => member_may_point(member),
            Stored::Halves(pair) => pair.members.iter().any(member_may_point),
            Stored::Members(..) | Stored::Named(_) => true,
        }
    }
}

fn member_may_point(member: &Member) -> bool {
    match &member.value {
        Value::Number(_)
        | Value::Counted(..)
        | Value::CountedTexts(_)
        | Value::Seeks(_)
        | Value::LongText
        | Value::Text
        | Value::StdText
        | Value::Bits
        | Value::TObject => false,
        Value::Container(item) | Value::Bare(item) | Value::Whole(item) | Value::Item(item) => {
            item_may_point(item)
        }
        Value::Array(array) => member_may_point(array),
        _ => true,
    }
}

fn item_may_point(item: &Item) -> bool {
    match item {
        Item::Number(_) | Item::Text | Item::LongText => false,
        Item::List(_, item) => item_may_point(item),
        Item::Map(_, pair) => pair.items.iter().any(|item| item_may_point(item)),
        Item::Pair(pair) => pair.members.iter().any(member_may_point),
        Item::Array(array) => member_may_point(array),
        _ => true,
    }
}

impl Walker {
    /// Reads an entry of a branch, and records the positions of its pointers. `origin` is the offset of the
    /// entry's first byte from the start of the basket's key.
    ///
    /// # Errors
    /// Returns an error if the bytes are not such a value, or if its class has no streamer info.
    pub fn read_entry(&self, entry: Bytes, origin: u32, value: &EntryValue) -> Result<Objects> {
        if u32::try_from(entry.len()).is_err() {
            return Err(Error::out_of_range("length of an entry", entry.len(), u32::MAX));
        }
        let cursor = Cursor::with_origin(&entry, origin);
        let mut reader = Reader::new(self, cursor, Some(Marks::default()));
        // The entry itself, which is not an object to which pointers could lead.
        let class = reader.class_by_name("");
        reader.open(class, 0);
        reader.to.nodes[0].body = entry.len() as u32;
        reader.entry(value)?;
        let rest = reader.cursor.position();
        reader.cursor.seek(entry.len())?;
        reader.note_passed(rest);
        let Reader { mut to, classes, .. } = reader;
        to.classes = classes.into_iter().map(|class| class.name).collect();
        (to.payload, to.origin) = (entry, origin);
        Ok(to)
    }
}

impl Walker {
    /// Checks that the class tags and references in an entry lead to classes and objects in it. Other errors
    /// of the entry are ignored.
    ///
    /// # Errors
    /// Returns an error if a tag or reference leads to neither.
    pub fn check_pointers(&self, entry: Bytes, origin: u32, value: &EntryValue) -> Result<()> {
        let objects = match self.read_entry(entry, origin, value) {
            Err(error) if is_bad_reference(&error) => return Err(error),
            Err(_) => return Ok(()),
            Ok(objects) => objects,
        };
        let begins = |place: usize| objects.iter().any(|object| object.range().start == place);
        if let Some(spot) = objects.dangling(begins) {
            let reference = objects.origin() as usize + spot.1 + 2;
            return Err(Error::not_a(BEFORE, reference.to_string()).at_byte(spot.0 as u64));
        }
        let fault = objects.faults.into_iter().map(|(_, error)| error).find(is_bad_reference);
        fault.map_or(Ok(()), Err)
    }
}

impl Objects {
    /// Returns the position of a reference that does not lead to an object, and its target.
    fn dangling(&self, is_object: impl Fn(usize) -> bool) -> Option<(usize, usize)> {
        let spots = &self.marks.as_ref()?.spots;
        spots.iter().find_map(|spot| match spot.kind {
            SpotKind::Reference(to) if !is_object(to) => Some((spot.begin, to)),
            _ => None,
        })
    }
}

impl Reader<'_> {
    fn entry(&mut self, value: &EntryValue) -> Result<()> {
        match &value.0 {
            Stored::Object(class) => self.embedded(class, 0).map(drop),
            Stored::Members(class, version, checksum) => self.members_alone(class, *version, *checksum),
            Stored::Halves(pair) => pair.members.iter().try_for_each(|half| self.apart(half, 0).map(drop)),
            Stored::Member(member) => self.until_end(member),
            Stored::Named(class) => {
                let name = match self.cursor.u8()? {
                    0 => class.to_string(),
                    length => {
                        let name = self.cursor.take(length.into())?;
                        self.cursor.u8()?;
                        text(name)
                    }
                };
                self.embedded(&name, 0).map(drop)
            }
        }
    }

    /// Reads the members of an object without a frame.
    fn members_alone(&mut self, class: &str, version: i32, checksum: Option<u32>) -> Result<()> {
        let class = self.class_by_name(class);
        let read = self.by_layout(class, version, checksum, |reader, _, steps| {
            let first = reader.to.members.len();
            reader.spend(steps.names.len() as u64)?;
            reader.to.members.resize(first + steps.names.len(), objects::Member::Null);
            Ok(((), reader.steps(&steps.steps, first, first, 0)?))
        })?;
        read.ok_or_else(|| self.unknown(class, version as i16))
    }

    /// Reads values of a member up to the end. Those of all items of a collection are contiguous.
    fn until_end(&mut self, member: &Member) -> Result<()> {
        while self.cursor.remaining() > 0 {
            let before = self.cursor.position();
            self.lone_member(member)?;
            if self.cursor.position() == before {
                return Err(Error::unsupported("items that store nothing"));
            }
        }
        Ok(())
    }

    /// Reads a member of a branch. Its counter is in another branch, so that its items extend to the end of
    /// the frame.
    fn lone_member(&mut self, member: &Member) -> Result<()> {
        match &member.value {
            Value::Loop { class, pointers, .. } => self.in_frame(|reader, _| {
                while reader.cursor.remaining() > 0 {
                    reader.repetitions(class, *pointers, 1, 0)?;
                }
                Ok(())
            }),
            Value::Container(item) => self.in_frame(|reader, frame| {
                let written = if frame.member_wise { Some(reader.written(frame)?) } else { None };
                while reader.cursor.remaining() > 0 {
                    match written {
                        Some(written) => reader.by_member(item, written, 1)?,
                        None => reader.item(item, 1)?,
                    };
                }
                Ok(())
            }),
            Value::Number(_)
            | Value::Text
            | Value::StdText
            | Value::LongText
            | Value::Bare(_)
            | Value::Whole(_)
            | Value::Item(_)
            | Value::Array(_)
            | Value::TObject
            | Value::Object(_)
            | Value::Pointer(_)
            | Value::Framed => self.value(&member.value, member.array, (0, [0; 2]), 0, 0).map(drop),
            _ => Err(Error::unsupported("a member that cannot be read without others of its class")),
        }
    }
}

/// Returns whether bytes contain a class name in place of a pointer, as every entry with pointers to objects
/// does. The name follows a byte count and a tag. Other bytes seldom look like that.
#[must_use]
pub fn names_class(bytes: &[u8]) -> bool {
    let is_name = |(at, window): (usize, &[u8])| {
        if window[4..] != NAMED || window[0] & 0xC0 != 0x40 {
            return false;
        }
        let count = u32::from_be_bytes([window[0] & 0x3F, window[1], window[2], window[3]]) as usize;
        // The count includes the tag, the name and the contents.
        let rest = &bytes[at + 4..];
        let Some(name) = rest.get(4..count) else { return false };
        let length = name.iter().position(|&byte| byte == 0).unwrap_or(0);
        length > 0 && name[..length].iter().all(|&byte| byte >= b' ')
    };
    bytes.windows(8).enumerate().any(is_name)
}

/// Tag before a class name.
const NAMED: [u8; 4] = [0xFF; 4];

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a test fails by panicking

    use super::*;
    use crate::streamer::Streamers;
    use crate::write::{Buffer, Edits};

    fn walker() -> Walker {
        Walker::new(Arc::new(Streamers::default()))
    }

    /// Returns an entry of `vector<TNamed*>`: two objects, the first again, and null.
    fn entry(origin: u16) -> Vec<u8> {
        let mut buffer = Buffer::new(origin);
        buffer.frame(9, |buffer| {
            buffer.count(4);
            let first = buffer.object("TNamed", |buffer| buffer.tnamed(0, "one", ""));
            buffer.object("TNamed", |buffer| buffer.tnamed(0, "two", "2"));
            buffer.reference(first);
            buffer.null();
        });
        buffer.into_bytes()
    }

    #[test]
    fn an_entry_moves_with_its_pointers() {
        let walker = walker();
        let value = EntryValue::of_object("vector<TNamed*>", None, &walker.file);
        assert!(value.may_point() && names_class(&entry(100)));
        for (from, to) in [(100, 100), (100, 5000), (7000, 60)] {
            let objects = walker.read_entry(entry(from).into(), from.into(), &value).unwrap();
            let mut moved = Buffer::at(to.into());
            Edits::new(&objects).unwrap().write(&mut moved).unwrap();
            assert_eq!(moved.bytes(), entry(to), "from {from} to {to}");
        }
    }

    #[test]
    fn an_entry_from_elsewhere_is_refused() {
        let walker = walker();
        let value = EntryValue::of_object("vector<TNamed*>", None, &walker.file);
        // The tags are those of another offset.
        let objects = walker.read_entry(entry(100).into(), 90, &value);
        let moved = objects.and_then(|objects| Edits::new(&objects)?.write(&mut Buffer::at(60)));
        assert!(moved.is_err());
        assert!(walker.check_pointers(entry(100).into(), 90, &value).is_err());
        assert!(walker.check_pointers(entry(100).into(), 100, &value).is_ok());
        // One tag of a class and one of an object, after the first name.
        let mut changed = entry(100);
        let at = changed.windows(4).rposition(|word| word == [0, 0, 0, 112]).unwrap();
        changed[at + 3] += 1;
        assert!(walker.check_pointers(changed.into(), 100, &value).is_err());
        let mut changed = entry(100);
        let at = changed.windows(2).position(|word| word == [0x80, 0]).unwrap();
        changed[at + 3] += 1;
        assert!(walker.check_pointers(changed.into(), 100, &value).is_err());
        for cut in [0, 1, 20, 60] {
            let _ = walker.read_entry(entry(100)[..cut].to_vec().into(), 100, &value);
        }
    }

    #[test]
    fn numbers_and_texts_do_not_point() {
        let walker = walker();
        let of = |class: &str| EntryValue::of_object(class, None, &walker.file).may_point();
        let plain = [
            "vector<int>",
            "map<string,vector<Double32_t> >",
            "bitset<8>",
            "TString",
            "vector<pair<int,string> >",
        ];
        let others =
            ["vector<TNamed*>", "map<int,Hit*>", "Hit", "vector<Hit>", "TList", "vector<pair<int,Hit> >"];
        assert!(!plain.into_iter().any(of));
        assert!(others.into_iter().all(of));
        assert!(
            !names_class(&[0xFF; 64]) && !names_class(b"@\0\0\x06\xff\xff\xff\xff\0\0") && !names_class(&[])
        );
        assert!(names_class(b"xy@\0\0\x06\xff\xff\xff\xffA\0z"));
        assert!(
            !names_class(b"xy@\0\0\x05\xff\xff\xff\xffA\0z")
                && !names_class(b"xy@\0\0\x60\xff\xff\xff\xffA\0z")
        );
    }
}
