//! Reading the few members of trees, branches and leaves that matter, by the layouts the file itself describes.
//!
//! The classes of a tree's metadata have changed many times. The file's streamer infos say how; from them a short list of
//! steps is made for each class and version, once, and every object of it is then read by these steps: most of them only skip.

use std::{rc::Rc, sync::Arc};

use forthwith_plan::{Error, ErrorKind, Result};

use crate::{
    Cursor, Frame, Tag,
    streamer::{Element, ElementKind, StreamerInfo, Streamers},
};

/// The description of a class: by checksum if that is given and known, else by version.
pub(super) fn describe(
    streamers: &Streamers,
    class: &str,
    version: i32,
    checksum: Option<u32>,
) -> Result<Option<Arc<StreamerInfo>>> {
    if let Some(checksum) = checksum.filter(|&checksum| checksum != 0)
        && let Some(info) = streamers.by_checksum(class, checksum)?
    {
        return Ok(Some(info));
    }
    streamers.find(class, version)
}

macro_rules! slots {
    ($($slot:ident)*) => {
        /// A member that matters. The name is that of the member without its `f`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Slot { $($slot),* }

        impl Slot {
            const COUNT: usize = [$(Self::$slot),*].len();

            fn by_name(name: &str) -> Option<Self> {
                match name.strip_prefix('f')? {
                    $(stringify!($slot) => Some(Self::$slot),)*
                    _ => None,
                }
            }
        }
    };
}

slots! {
    Name Title
    // TTree
    Weight AutoFlush NClusterRange ClusterRangeEnd ClusterSize IOFeatures Aliases
    // TTree and TBranch
    Entries TotBytes ZipBytes Branches Leaves
    // TBranch
    EntryOffsetLen WriteBasket EntryNumber MaxBaskets FirstEntry Baskets BasketBytes BasketEntry BasketSeek FileName
    // TBranchElement, TBranchObject
    ClassName CheckSum ClassVersion ID Type StreamerType
    // TLeaf
    Len IsUnsigned LeafCount
}

/// The value of a member, or where it is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Value {
    /// The class has no such member.
    #[default]
    Absent,
    /// An integer.
    Int(i64),
    /// A number that need not be one.
    Real(f64),
    /// A string's bytes.
    Text { begin: u32, end: u32 },
    /// An array: its first byte, how many, and bytes of each.
    Array { begin: u32, count: u32, width: u8 },
    /// An object with its frame.
    Object { begin: u32 },
    /// A pointer to an object.
    Pointer { begin: u32 },
}

/// The members of one object.
#[derive(Clone, Debug)]
pub(super) struct Values([Value; Slot::COUNT]);

impl Values {
    fn new() -> Self {
        Self([Value::Absent; Slot::COUNT])
    }

    pub(super) fn of(&self, slot: Slot) -> Value {
        self.0[slot as usize]
    }

    /// An integer. Early versions kept counts as floating-point numbers.
    pub(super) fn int(&self, slot: Slot) -> Option<i64> {
        match self.of(slot) {
            Value::Int(value) => Some(value),
            Value::Real(value) => Some(value as i64),
            _ => None,
        }
    }

    /// A count or length: not negative.
    pub(super) fn count(&self, slot: Slot) -> u64 {
        self.int(slot).and_then(|value| u64::try_from(value).ok()).unwrap_or(0)
    }

    /// A string's bytes, empty if there is no such member.
    pub(super) fn text<'a>(&self, slot: Slot, data: &'a [u8]) -> &'a [u8] {
        match self.of(slot) {
            Value::Text { begin, end } => data.get(begin as usize..end as usize).unwrap_or_default(),
            _ => &[],
        }
    }

    fn set(&mut self, slot: Option<Slot>, value: Value) {
        if let Some(slot) = slot {
            self.0[slot as usize] = value;
        }
    }
}

/// A number's width and how its bytes are read.
#[derive(Clone, Copy, Debug)]
enum Number {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    F32,
    F64,
}

#[derive(Clone, Debug)]
enum Step {
    Skip(u64),
    Number(Slot, Number),
    Text(Option<Slot>),
    CharStar,
    Bits,
    TObject,
    TNamed,
    /// A flag, then as many values as the counter says.
    Array {
        slot: Option<Slot>,
        width: u8,
        counter: Slot,
    },
    /// As `Array`, from before version 10 of `TBranch`: always there, and 8 bytes wide if the flag is 2.
    OldSeek(Slot),
    /// A count, then as many values.
    Counted {
        slot: Slot,
        width: u8,
    },
    /// A base class with members that matter.
    Base(Rc<str>),
    /// Something with a frame.
    Framed(Option<Slot>),
    /// A class that once had no length before it, and then this many bytes.
    Early(u64),
    /// A `TObjArray`.
    ObjArray(Slot),
    /// What stands where a pointer was.
    Pointer(Option<Slot>),
    /// A `TArray` of values this wide.
    TArray(u8),
}

/// The steps of a class, by its version and checksum.
struct Known {
    class: Rc<str>,
    version: i32,
    checksum: Option<u32>,
    steps: Rc<[Step]>,
}

/// The steps of the classes met so far.
pub(super) struct Layouts<'c> {
    streamers: &'c Streamers,
    known: Vec<Known>,
}

impl<'c> Layouts<'c> {
    pub(super) fn new(streamers: &'c Streamers) -> Self {
        Self { streamers, known: Vec::new() }
    }

    /// Reads an object of a class from its frame on, and leaves the cursor behind it.
    pub(super) fn object(&mut self, cursor: &mut Cursor<'_>, class: &str) -> Result<Values> {
        let mut values = Values::new();
        self.framed(cursor, class, &mut values, 0)?;
        Ok(values)
    }

    /// Reads a leaf of any class, of which only what all have in common matters.
    pub(super) fn leaf(&mut self, cursor: &mut Cursor<'_>) -> Result<Values> {
        let mut values = Values::new();
        let frame = cursor.frame()?;
        self.framed(cursor, "TLeaf", &mut values, 0)?;
        cursor.leave(&frame);
        Ok(values)
    }

    fn framed(
        &mut self,
        cursor: &mut Cursor<'_>,
        class: &str,
        values: &mut Values,
        depth: usize,
    ) -> Result<()> {
        if depth > MAX_DEPTH {
            let what = "depth of base classes";
            return Err(ErrorKind::OutOfRange { what, found: depth as i64, limit: MAX_DEPTH as i64 }.into());
        }
        let frame = cursor.frame()?;
        match self.steps(class, &frame)? {
            Some(steps) => {
                for step in &*steps {
                    self.step(step, cursor, values, depth)?;
                }
                // Leaves and branches of newer versions may have more, which does not matter here.
                cursor.leave(&frame);
                Ok(())
            }
            // A base class that nobody asks for need not be understood.
            None if depth > 0 && frame.end.is_some() && !is_needed(class) => {
                cursor.leave(&frame);
                Ok(())
            }
            None => {
                let what = format!("{class} version {}, which the file does not describe", frame.version);
                Err(Error::unsupported(what).at_byte(frame.begin as u64))
            }
        }
    }

    fn steps(&mut self, class: &str, frame: &Frame) -> Result<Option<Rc<[Step]>>> {
        let version = i32::from(frame.version);
        let is_same = |known: &&Known| {
            *known.class == *class && known.version == version && known.checksum == frame.checksum
        };
        if let Some(known) = self.known.iter().find(is_same) {
            return Ok(Some(known.steps.clone()));
        }
        if !is_needed(class) && frame.end.is_some() {
            return Ok(None);
        }
        let steps = match describe(self.streamers, class, version, frame.checksum)? {
            _ if is_early(class, version) => builtin(class, version),
            Some(info) => compile(class, version, &info.elements),
            None => builtin(class, version),
        };
        let Some(steps) = steps else { return Ok(None) };
        let steps: Rc<[Step]> = steps.into();
        self.known.push(Known {
            class: class.into(),
            version,
            checksum: frame.checksum,
            steps: steps.clone(),
        });
        Ok(Some(steps))
    }

    fn step(
        &mut self,
        step: &Step,
        cursor: &mut Cursor<'_>,
        values: &mut Values,
        depth: usize,
    ) -> Result<()> {
        let begin = cursor.position() as u32;
        match step {
            Step::Skip(length) => cursor.skip(*length)?,
            Step::Number(slot, number) => values.set(Some(*slot), read(cursor, *number)?),
            Step::Text(slot) => {
                let length = cursor.string()?.len() as u32;
                let end = cursor.position() as u32;
                values.set(*slot, Value::Text { begin: end - length, end });
            }
            Step::CharStar => {
                let length = cursor.u32()?;
                cursor.skip(u64::from(length))?;
            }
            Step::Bits => {
                let bits = cursor.u32()?;
                cursor.skip(if bits & IS_REFERENCED != 0 { 2 } else { 0 })?;
            }
            Step::TObject => {
                cursor.tobject()?;
            }
            Step::TNamed => {
                let frame = cursor.frame()?;
                cursor.tobject()?;
                for slot in [Slot::Name, Slot::Title] {
                    self.step(&Step::Text(Some(slot)), cursor, values, depth)?;
                }
                cursor.leave(&frame);
            }
            Step::Array { slot, width, counter } => {
                if cursor.u8()? != 0 {
                    let count = values.int(*counter).unwrap_or(0);
                    array(cursor, values, *slot, *width, count)?;
                }
            }
            Step::OldSeek(slot) => {
                let width = if cursor.u8()? == 2 { 8 } else { 4 };
                let count = values.int(Slot::MaxBaskets).unwrap_or(0);
                array(cursor, values, Some(*slot), width, count)?;
            }
            Step::Counted { slot, width } => {
                let count = cursor.i32()?;
                array(cursor, values, Some(*slot), *width, count.into())?;
            }
            Step::Base(class) => self.framed(cursor, class, values, depth + 1)?,
            Step::Framed(slot) => {
                let frame = cursor.frame()?;
                if frame.end.is_none() {
                    let what = "an object without a length in the tree's metadata";
                    return Err(Error::unsupported(what).at_byte(u64::from(begin)));
                }
                cursor.leave(&frame);
                values.set(*slot, Value::Object { begin });
            }
            Step::Early(length) => {
                let frame = cursor.frame()?;
                if frame.end.is_none() {
                    cursor.skip(*length)?;
                }
                cursor.leave(&frame);
            }
            Step::ObjArray(slot) => {
                let frame = cursor.frame()?;
                if frame.end.is_none() {
                    cursor.seek(frame.begin)?;
                    let mut array = ObjArray::enter(cursor)?;
                    while let Some(tag) = array.next(cursor)? {
                        pass(cursor, &tag, begin)?;
                    }
                }
                cursor.leave(&frame);
                values.set(Some(*slot), Value::Object { begin });
            }
            Step::Pointer(slot) => {
                let tag = cursor.tag()?;
                pass(cursor, &tag, begin)?;
                values.set(*slot, Value::Pointer { begin });
            }
            Step::TArray(width) => {
                let count = cursor.u32()?;
                cursor.skip(u64::from(count) * u64::from(*width))?;
            }
        }
        Ok(())
    }
}

/// Passes over an object whose tag has been read.
fn pass(cursor: &mut Cursor<'_>, tag: &Tag<'_>, begin: u32) -> Result<()> {
    match tag {
        Tag::Object { end: Some(end), .. } => cursor.seek(*end),
        Tag::Object { end: None, .. } => {
            let what = "an object without a length in the tree's metadata";
            Err(Error::unsupported(what).at_byte(u64::from(begin)))
        }
        _ => Ok(()),
    }
}

fn read(cursor: &mut Cursor<'_>, number: Number) -> Result<Value> {
    Ok(match number {
        Number::I8 => Value::Int(cursor.i8()?.into()),
        Number::U8 => Value::Int(cursor.u8()?.into()),
        Number::I16 => Value::Int(cursor.i16()?.into()),
        Number::U16 => Value::Int(cursor.u16()?.into()),
        Number::I32 => Value::Int(cursor.i32()?.into()),
        Number::U32 => Value::Int(cursor.u32()?.into()),
        Number::I64 => Value::Int(cursor.i64()?),
        Number::F32 => Value::Real(cursor.f32()?.into()),
        Number::F64 => Value::Real(cursor.f64()?),
    })
}

fn array(
    cursor: &mut Cursor<'_>,
    values: &mut Values,
    slot: Option<Slot>,
    width: u8,
    found: i64,
) -> Result<()> {
    let at = cursor.position();
    let limit = (cursor.remaining() / usize::from(width)) as i64;
    if found < 0 || found > limit {
        return Err(
            Error::new(ErrorKind::OutOfRange { what: "length of an array", found, limit }).at_byte(at as u64)
        );
    }
    cursor.skip(found as u64 * u64::from(width))?;
    // Both fit: the bytes are in the record, and records are shorter than 2^32.
    values.set(slot, Value::Array { begin: at as u32, count: found as u32, width });
    Ok(())
}

/// The items of a `TObjArray`.
pub(super) struct ObjArray {
    left: usize,
}

impl ObjArray {
    /// Reads the array's own members and stops before its first item.
    pub(super) fn enter(cursor: &mut Cursor<'_>) -> Result<Self> {
        let frame = cursor.frame()?;
        if frame.version > 2 {
            cursor.tobject()?;
        }
        if frame.version > 1 {
            cursor.string()?;
        }
        let count = cursor.i32()?;
        cursor.skip(4)?; // lower bound
        let left = cursor.count("number of objects in an array", count, 4)?;
        Ok(Self { left })
    }

    /// The next item. What it holds is left to the caller to read or pass over.
    pub(super) fn next<'a>(&mut self, cursor: &mut Cursor<'a>) -> Result<Option<Tag<'a>>> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        cursor.tag().map(Some)
    }
}

/// Classes with members that matter. Others are passed over by their length.
fn is_needed(class: &str) -> bool {
    matches!(class, "TTree" | "TNtuple" | "TNtupleD" | "TChain" | "TLeaf") || class.starts_with("TBranch")
}

/// The steps of a class, unless a member's length cannot be told.
fn compile(class: &str, version: i32, members: &[Element]) -> Option<Vec<Step>> {
    let mut steps: Vec<Step> = Vec::with_capacity(members.len());
    let old_branch = class == "TBranch" && version < 10;
    for member in members {
        let slot = Slot::by_name(&member.name);
        let step = match (member.code, slot) {
            (NO_TYPE, _) => continue,
            (BASE, _) => match &*member.name {
                "TObject" => Step::TObject,
                "TNamed" => Step::TNamed,
                other => Step::Base(other.into()),
            },
            (TOBJECT, _) => Step::TObject,
            (TNAMED, _) => Step::TNamed,
            (TSTRING, slot) => Step::Text(slot),
            (CHAR_STAR, _) => Step::CharStar,
            (BITS, _) => Step::Bits,
            (1..=19, slot) => {
                let (number, width) = number(member.code, member.packing.is_some())?;
                match (slot, number) {
                    (Some(slot), Some(number)) => Step::Number(slot, number),
                    _ => Step::Skip(width),
                }
            }
            (21..=39, _) => {
                let (_, width) = number(member.code - 20, member.packing.is_some())?;
                Step::Skip(width * u64::from(member.array_length))
            }
            (41..=59, Some(slot @ Slot::BasketSeek)) if old_branch => Step::OldSeek(slot),
            (41..=59, slot) => {
                let (_, width) = number(member.code - 40, member.packing.is_some())?;
                let ElementKind::BasicPointer(counter) = &member.kind else { return None };
                Step::Array { slot, width: width as u8, counter: Slot::by_name(&counter.name)? }
            }
            (61..=63 | 68 | 500, slot) => match &*member.type_name {
                "TArrayC" => Step::TArray(1),
                "TArrayS" => Step::TArray(2),
                "TArrayI" | "TArrayF" => Step::TArray(4),
                "TArrayL" | "TArrayL64" | "TArrayD" => Step::TArray(8),
                _ => Step::Framed(slot),
            },
            (64 | 69, slot) => Step::Pointer(slot),
            _ => return None,
        };
        match (steps.last_mut(), &step) {
            (Some(Step::Skip(before)), Step::Skip(more)) => *before = before.checked_add(*more)?,
            _ => steps.push(step),
        }
    }
    Some(steps)
}

/// Whether a class is from before ROOT 3 described its classes, or described them as they are stored.
fn is_early(class: &str, version: i32) -> bool {
    matches!((class, version), ("TTree", ..=4) | ("TBranch", ..=5) | ("TLeaf", ..=1))
}

/// The steps of early classes, and of those that some writers do not describe.
fn builtin(class: &str, version: i32) -> Option<Vec<Step>> {
    use Step::{Early, ObjArray, Skip, TNamed};
    let int = |slot| Step::Number(slot, Number::I32);
    let real = |slot| Step::Number(slot, Number::F64);
    match (class, version) {
        ("TLeaf", ..=2) => Some(vec![
            TNamed,
            int(Slot::Len),
            Skip(9),
            Step::Number(Slot::IsUnsigned, Number::U8),
            Step::Pointer(Some(Slot::LeafCount)),
        ]),
        // The rest does not matter, and is passed over.
        ("TTree", 1..=4) => Some(vec![
            TNamed,
            Early(6),
            Early(4),
            Early(8),
            Skip(12),
            real(Slot::Entries),
            real(Slot::TotBytes),
            real(Slot::ZipBytes),
            Skip(8),
            ObjArray(Slot::Branches),
        ]),
        ("TBranch", 2..=5) => {
            let mut steps = vec![
                TNamed,
                Skip(8),
                int(Slot::EntryOffsetLen),
                int(Slot::MaxBaskets),
                int(Slot::WriteBasket),
                int(Slot::EntryNumber),
                real(Slot::Entries),
                real(Slot::TotBytes),
                real(Slot::ZipBytes),
                Skip(4),
                ObjArray(Slot::Branches),
                ObjArray(Slot::Leaves),
                ObjArray(Slot::Baskets),
                Step::Counted { slot: Slot::BasketEntry, width: 4 },
            ];
            if version > 4 {
                steps.push(Step::Counted { slot: Slot::BasketBytes, width: 4 });
            }
            steps.push(Step::Counted { slot: Slot::BasketSeek, width: 4 });
            if version > 2 {
                steps.push(Step::Text(Some(Slot::FileName)));
            }
            Some(steps)
        }
        _ => None,
    }
}

/// How a number is read, and its width in the file.
fn number(code: i32, packed: bool) -> Option<(Option<Number>, u64)> {
    Some(match code {
        1 => (Some(Number::I8), 1),
        11 | 18 => (Some(Number::U8), 1),
        2 => (Some(Number::I16), 2),
        12 => (Some(Number::U16), 2),
        3 | 6 => (Some(Number::I32), 4),
        13 => (Some(Number::U32), 4),
        4 | 14 | 16 | 17 => (Some(Number::I64), 8),
        5 => (Some(Number::F32), 4),
        8 => (Some(Number::F64), 8),
        9 if !packed => (Some(Number::F32), 4),
        19 if !packed => (None, 3),
        _ => return None,
    })
}

const NO_TYPE: i32 = -1;
const BASE: i32 = 0;
const CHAR_STAR: i32 = 7;
const BITS: i32 = 15;
const TSTRING: i32 = 65;
const TOBJECT: i32 = 66;
const TNAMED: i32 = 67;
/// In a `TObject`'s bits: the number of a process follows.
const IS_REFERENCED: u32 = 0x10;
/// Base classes are not nested deeper.
const MAX_DEPTH: usize = 20;
