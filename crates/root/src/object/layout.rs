//! Layouts: streamer infos compiled to flat lists of steps, bases included.

use std::collections::HashMap;
use std::sync::Arc;

use forthwith_plan::{Error, Result};

use super::native::{Native, native};
use crate::streamer::{Element, ElementKind, Packing, StreamerInfo, Streamers, builtin, code};

/// How one version of a class is read.
#[derive(Debug, Default)]
pub(super) struct Layout {
    pub(super) steps: Vec<Step>,
    /// Names of the members, by slot.
    pub(super) names: Vec<Box<str>>,
    /// Slots by name. Where a base has a member of the same name, the derived class's.
    slots: HashMap<Box<str>, u32>,
}

/// One thing to be read. Unless it says otherwise, it fills the next slot.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    /// A base begins. No slot.
    Enter(Expected),
    /// The innermost base ends. No slot.
    Leave,
    /// A `TObject`: two slots, `fUniqueID` and `fBits`.
    TObject,
    /// A number.
    Number(Basic),
    /// A fixed number of numbers.
    Array(Basic, u32),
    /// A packed number.
    Packed(Packing),
    /// Packed numbers, so many bytes of them, which are passed over.
    Raw(u32),
    /// Packed numbers of so many bytes each behind a byte that tells whether there are any, as many as the member in
    /// the slot says. Passed over.
    RawCounted(u32, u32),
    /// Numbers behind a byte that tells whether there are any, as many as the member in the slot says.
    Counted(Basic, u32),
    /// The same, except that the byte tells whether they have 32 or 64 bits: where the baskets of old branches are.
    Seeks(u32),
    /// The end of a `TRef`: a process id, or a UUID as text if the status bits before it say so.
    Process,
    /// Status bits, and behind them a process id if they say so.
    Bits,
    /// A `TString`.
    Text,
    /// So many `TString`s.
    Texts(u32),
    /// A `char*`: four bytes of length.
    LongText,
    /// A `std::string`, with or without a frame.
    StdString,
    /// An object in place.
    Embedded(Box<str>),
    /// So many objects in place.
    EmbeddedArray(Box<str>, u32),
    /// A pointer to an object.
    Pointer,
    /// So many pointers to objects.
    Pointers(u32),
    /// Something with a byte count, which is passed over.
    Framed,
}

/// The version of a base that a layout has been compiled for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Expected {
    pub(super) class: Box<str>,
    pub(super) version: i32,
    /// Without an info for it, the base is passed over whatever its version is.
    pub(super) known: bool,
    /// The class has version 0, and nothing else stands for it.
    pub(super) unversioned: bool,
}

/// Kinds of numbers as they are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basic {
    /// One byte, signed.
    I8,
    /// Two bytes, signed.
    I16,
    /// Four bytes, signed.
    I32,
    /// Eight bytes, signed.
    I64,
    /// One byte.
    U8,
    /// Two bytes.
    U16,
    /// Four bytes.
    U32,
    /// Eight bytes.
    U64,
    /// Four bytes, floating point.
    F32,
    /// Eight bytes, floating point.
    F64,
    /// One byte, zero or not.
    Bool,
}

impl Basic {
    /// Bytes of a number.
    #[must_use]
    pub fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 | Self::Bool => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    /// The number kind that one of ROOT's type codes is stored as, if it is always the same.
    pub(super) fn of_code(code: i32) -> Option<Self> {
        Some(match code {
            code::CHAR | code::LEGACY_CHAR => Self::I8,
            code::SHORT => Self::I16,
            code::INT | code::COUNTER => Self::I32,
            code::LONG | code::LONG64 => Self::I64,
            code::UCHAR => Self::U8,
            code::USHORT => Self::U16,
            code::UINT | code::BITS => Self::U32,
            code::ULONG | code::ULONG64 => Self::U64,
            code::FLOAT => Self::F32,
            code::DOUBLE => Self::F64,
            code::BOOL => Self::Bool,
            _ => return None,
        })
    }
}

impl Layout {
    /// The slot of a member.
    pub(super) fn slot(&self, name: &str) -> Option<u32> {
        self.slots.get(name).copied()
    }

    /// Compiles the layout of a class version. `versions` are those of bases that differ from what the info expects.
    ///
    /// # Errors
    /// An info cannot be parsed, or something in it has no layout: the object must then be passed over.
    pub(super) fn compile(
        streamers: &Streamers,
        class: &str,
        version: i32,
        checksum: Option<u32>,
        versions: &[(Box<str>, i32)],
    ) -> Result<Option<Self>> {
        let mut layout = Self::default();
        let mut compiler = Compiler { streamers, versions, layout: &mut layout };
        match native(class.as_bytes()) {
            Native::TObject => compiler.tobject(),
            Native::Ref => {
                compiler.tobject();
                compiler.step("pid", Step::Process);
            }
            _ => match find(streamers, class, version, checksum)? {
                Some(info) => compiler.class(&info, 0)?,
                None => return Ok(None),
            },
        }
        layout.slots =
            layout.names.iter().enumerate().map(|(slot, name)| (name.clone(), slot as u32)).collect();
        Ok(Some(layout))
    }
}

/// The info of a class version: from the file, else one of those built in.
pub(super) fn find(
    streamers: &Streamers,
    class: &str,
    version: i32,
    checksum: Option<u32>,
) -> Result<Option<Arc<StreamerInfo>>> {
    match streamers.describe(class, version, checksum)? {
        Some(info) => Ok(Some(info)),
        // A class without a version of its own counts as version 1.
        None => Ok(builtin(class, if checksum.is_some() { 1 } else { version })),
    }
}

struct Compiler<'a> {
    streamers: &'a Streamers,
    versions: &'a [(Box<str>, i32)],
    layout: &'a mut Layout,
}

impl Compiler<'_> {
    fn class(&mut self, info: &StreamerInfo, depth: usize) -> Result<()> {
        if depth > MAX_BASES || self.layout.steps.len() > MAX_STEPS {
            return Err(Error::unsupported(format!("class {} with that many bases and members", info.class)));
        }
        for element in &info.elements {
            match &element.kind {
                ElementKind::Base { version, checksum } => self.base(element, *version, *checksum, depth)?,
                _ => self.member(info, element)?,
            }
        }
        Ok(())
    }

    fn base(&mut self, element: &Element, version: Option<i32>, checksum: u32, depth: usize) -> Result<()> {
        let class = &*element.name;
        match native(class.as_bytes()) {
            Native::Nothing => return Ok(()),
            Native::TObject => {
                self.tobject();
                return Ok(());
            }
            Native::ByInfo => {}
            _ => {
                self.step(class, Step::Embedded(class.into()));
                return Ok(());
            }
        }
        let found = self.versions.iter().find(|(name, _)| **name == *class);
        let version = found.map(|&(_, version)| version).or(version);
        let info = match version {
            Some(version) if version > 0 => find(self.streamers, class, version, None)?,
            // No version of its own, or written before bases had one.
            _ => match find(self.streamers, class, 1, Some(checksum).filter(|&checksum| checksum != 0))? {
                Some(info) => Some(info),
                None => self.streamers.latest(class)?,
            },
        };
        let known = info.is_some();
        let unversioned = version == Some(0);
        let version = version.filter(|&version| version > 0);
        let version = version.or(info.as_ref().map(|info| info.version)).unwrap_or(0);
        self.layout.steps.push(Step::Enter(Expected { class: class.into(), version, known, unversioned }));
        if let Some(info) = info {
            self.class(&info, depth + 1)?;
        }
        self.layout.steps.push(Step::Leave);
        Ok(())
    }

    fn member(&mut self, info: &StreamerInfo, element: &Element) -> Result<()> {
        let name = &*element.name;
        let length = element.array_length;
        let class = || element.type_name.trim_end_matches('*').into();
        let is_array = length > 0;
        let step = match element.code {
            code::TOBJECT => {
                self.tobject();
                return Ok(());
            }
            code::BITS => Step::Bits,
            code::CHAR_STAR => Step::LongText,
            code::TSTRING => Step::Text,
            85 => Step::Texts(length),
            code::OBJECT
            | code::ANY
            | code::TNAMED
            | code::OBJECT_INPLACE
            | code::ANY_INPLACE
            | code::ANY_POINTER_NO_VT
                if !is_array =>
            {
                match (element.code, &element.kind) {
                    (code::ANY_POINTER_NO_VT, _) => Step::Pointer,
                    _ => Step::Embedded(class()),
                }
            }
            81 | 82 => Step::EmbeddedArray(class(), length),
            code::OBJECT_POINTER | code::ANY_POINTER => Step::Pointer,
            84 | 89 => Step::Pointers(length),
            code::STL_STRING if !is_array => Step::StdString,
            code::STL | code::STREAMER if matches!(element.kind, ElementKind::StlString) && !is_array => {
                Step::StdString
            }
            code::STL
            | code::STL_POINTER
            | code::STREAMER
            | code::STREAM_LOOP
            | 91
            | 320
            | 340
            | 365
            | 385
            | 520
            | 521
            | 541 => Step::Framed,
            number => self.number(element, number).ok_or_else(|| {
                let (class, kind) = (&info.class, &element.type_name);
                Error::unsupported(format!("member {class}::{name} of type {kind} (code {number})"))
            })?,
        };
        // Written by hand, not by the info, up to version 9.
        let step = match step {
            Step::Counted(_, slot)
                if name == "fBasketSeek" && &*info.class == "TBranch" && info.version < 10 =>
            {
                Step::Seeks(slot)
            }
            step => step,
        };
        self.step(name, step);
        Ok(())
    }

    fn number(&self, element: &Element, number: i32) -> Option<Step> {
        let counter = || {
            let ElementKind::BasicPointer(counter) = &element.kind else { return None };
            self.layout.names.iter().rposition(|name| **name == *counter.name).map(|slot| slot as u32)
        };
        let length = element.array_length;
        Some(match number {
            code::CHAR..=code::FLOAT16 => match Stored::of(number, element.packing)? {
                Stored::Plain(basic) => Step::Number(basic),
                Stored::Packed(packing) => Step::Packed(packing),
            },
            21..=39 => match Stored::of(number - code::ARRAY, element.packing)? {
                Stored::Plain(basic) => Step::Array(basic, length),
                Stored::Packed(packing) => Step::Raw(length.saturating_mul(packed_size(packing))),
            },
            41..=59 => match Stored::of(number - code::POINTER, element.packing)? {
                Stored::Plain(basic) => Step::Counted(basic, counter()?),
                Stored::Packed(packing) => Step::RawCounted(packed_size(packing), counter()?),
            },
            _ => return None,
        })
    }

    fn tobject(&mut self) {
        self.layout.steps.push(Step::TObject);
        self.layout.names.extend(["fUniqueID".into(), "fBits".into()]);
    }

    fn step(&mut self, name: &str, step: Step) {
        self.layout.steps.push(step);
        self.layout.names.push(name.into());
    }
}

/// How a number is stored.
enum Stored {
    Plain(Basic),
    Packed(Packing),
}

impl Stored {
    fn of(number: i32, packing: Option<Packing>) -> Option<Self> {
        Some(match (number, packing) {
            (code::DOUBLE32, None) => Self::Plain(Basic::F32),
            (code::FLOAT16, None) => Self::Packed(Packing::Mantissa { bits: 12 }),
            (code::DOUBLE32 | code::FLOAT16, Some(packing)) => Self::Packed(packing),
            (number, _) => Self::Plain(Basic::of_code(number)?),
        })
    }
}

/// Bytes of a packed number.
pub(super) fn packed_size(packing: Packing) -> u32 {
    match packing {
        Packing::Range { .. } => 4,
        Packing::Mantissa { .. } => 3,
    }
}

/// Deeper inheritance is a mistake, or an attack.
const MAX_BASES: usize = 64;
/// So are more members. (Bases can multiply them without bound.)
const MAX_STEPS: usize = 50_000;
