//! Layouts: streamer infos compiled to flat lists of steps, bases included.

use std::collections::HashMap;
use std::sync::Arc;

use forthwith_plan::{Error, Result};

use super::kind::Kind;
use crate::class::{Member, Native, Value, describe, known};
use crate::cpp::{Basic, MANTISSA, Number};
use crate::streamer::{Counter, Element, ElementKind, OwnMember, Packing, StreamerInfo, Streamers, code};

/// How one version of a class is read.
#[derive(Debug, Default)]
pub(super) struct Layout {
    pub(super) steps: Vec<Step>,
    /// Names of the members, by slot.
    pub(super) names: Vec<Box<str>>,
    /// Slots by name. Where a base has a member of the same name, the derived class's.
    slots: HashMap<Box<str>, u32>,
    /// Bases, outermost first, each before its own.
    pub(super) bases: Vec<BaseSpan>,
    /// Dimensions of members that are arrays of arrays, by slot.
    pub(super) dimensions: HashMap<u32, Box<[u32]>>,
}

/// Which slots are a base's.
#[derive(Debug)]
pub(super) struct BaseSpan {
    pub(super) class: Box<str>,
    pub(super) version: i32,
    pub(super) begin: u32,
    pub(super) end: u32,
    /// 0 for a base of the class itself.
    pub(super) depth: u32,
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
    Packed(Pack),
    /// A fixed number of packed numbers.
    PackedArray(Pack, u32),
    /// Packed numbers behind a byte that tells whether there are any, as many as the member in the slot says.
    PackedCounted(Pack, u32),
    /// Numbers with no such byte, so many times what the member in the slot says.
    Bare(Basic, u32, u32),
    /// Packed numbers with no such byte, so many times what the member in the slot says.
    PackedBare(Pack, u32, u32),
    /// A byte that tells whether there is what follows.
    Flagged(Box<Self>),
    /// The upper right half of a square matrix with as many rows as the member in the slot says.
    Triangle(Basic, u32),
    /// Pointers, as many as the member in the slot says.
    Links(u32),
    /// Objects or pointers to them in a frame, so many times what the member in the slot says.
    Loop(Repeated),
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
    /// A count, and so many rows of this many `TString`s.
    Table(u32),
    /// Rows of these numbers, as many as the member in the slot says.
    Rows(Box<[Basic]>, u32),
    /// Four bytes of how many, and so many numbers.
    Sized(Basic),
    /// So many numbers as the product of the members in two slots.
    Area(Basic, u32, u32),
    /// There only if the truth value in the slot is this one.
    Only(u32, bool, Box<Self>),
    /// A `char*`: four bytes of length.
    LongText,
    /// A `std::string`, with or without a frame.
    StdString,
    /// So many strings in one frame.
    Strings(u32),
    /// A container.
    Container(Arc<Kind>),
    /// So many containers without any frame.
    BareContainers(Arc<Kind>, u32),
    /// So many containers in one frame.
    Containers(Arc<Kind>, u32),
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

/// How a `Float16_t` or `Double32_t` is packed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pack {
    pub(super) packing: Packing,
    /// Whether it is a `float` in memory.
    pub(super) single: bool,
}

/// What a loop repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Repeated {
    pub(super) class: Box<str>,
    pub(super) pointers: bool,
    pub(super) counter: u32,
    pub(super) times: u32,
}

/// The version of a base that a layout has been compiled for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Expected {
    pub(super) class: Box<str>,
    pub(super) version: i32,
    /// Without an info for it, the base is passed over whatever its version is.
    pub(super) known: bool,
    /// Stored without a frame where objects are stored member by member.
    pub(super) flat: bool,
    /// The class has version 0, and nothing else stands for it.
    pub(super) unversioned: bool,
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
        match known(class) {
            Native::TObject => compiler.tobject(),
            _ => match describe(streamers, class, version, checksum)? {
                Some(info) => compiler.class(&info, 0)?,
                None => return Ok(None),
            },
        }
        layout.slots =
            layout.names.iter().enumerate().map(|(slot, name)| (name.clone(), slot as u32)).collect();
        Ok(Some(layout))
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
        let kind = known(class);
        match kind {
            Native::Nothing => return Ok(()),
            Native::TObject => {
                self.tobject();
                return Ok(());
            }
            Native::ByInfo | Native::Own | Native::Uncounted => {}
            _ => {
                let (begin, version) = (self.layout.names.len() as u32, version.unwrap_or(0));
                self.step(class, Step::Embedded(class.into()));
                self.layout.bases.push(BaseSpan {
                    class: class.into(),
                    version,
                    begin,
                    end: begin + 1,
                    depth: depth as u32,
                });
                return Ok(());
            }
        }
        if depth > MAX_BASES || self.layout.steps.len() > MAX_STEPS {
            return Err(Error::unsupported(format!("class {class} with that many bases and members")));
        }
        let found = self.versions.iter().find(|(name, _)| **name == *class);
        let version = found.map(|&(_, version)| version).or(version);
        let info = match version {
            _ if kind == Native::Own => describe(self.streamers, class, version.unwrap_or(0), None)?,
            Some(version) if version > 0 => describe(self.streamers, class, version, None)?,
            // No version of its own, or written before bases had one.
            _ => {
                match describe(self.streamers, class, 1, Some(checksum).filter(|&checksum| checksum != 0))? {
                    Some(info) => Some(info),
                    None => self.streamers.latest(class)?,
                }
            }
        };
        let known = info.is_some();
        let flat = known && kind != Native::Own && element.code == code::BASE;
        let unversioned = version == Some(0);
        let version = version.filter(|&version| version > 0);
        let version = version.or(info.as_ref().map(|info| info.version)).unwrap_or(0);
        self.layout.steps.push(Step::Enter(Expected {
            class: class.into(),
            version,
            known,
            flat,
            unversioned,
        }));
        let (span, begin) = (self.layout.bases.len(), self.layout.names.len() as u32);
        let empty = BaseSpan { class: class.into(), version, begin, end: begin, depth: depth as u32 };
        self.layout.bases.push(empty);
        if let Some(info) = info {
            self.class(&info, depth + 1)?;
        }
        self.layout.bases[span].end = self.layout.names.len() as u32;
        self.layout.steps.push(Step::Leave);
        Ok(())
    }

    fn member(&mut self, info: &StreamerInfo, element: &Element) -> Result<()> {
        let name = &*element.name;
        if let ElementKind::Words(..) = element.kind {
            return Err(Error::unsupported(format!(
                "member {}::{name}, which is told in words for columns",
                info.class
            )));
        }
        let step = self.step_of(element).ok_or_else(|| {
            let (class, kind, code) = (&info.class, &element.type_name, element.code);
            Error::unsupported(format!("member {class}::{name} of type {kind} (code {code})"))
        })?;
        if step == Step::TObject {
            self.tobject();
            return Ok(());
        }
        // Written by hand, not by the info, up to version 9.
        let step = match step {
            Step::Counted(_, slot)
                if name == "fBasketSeek" && &*info.class == "TBranch" && info.version < 10 =>
            {
                Step::Seeks(slot)
            }
            step => step,
        };
        let is_counted = matches!(element.kind, ElementKind::BasicPointer(_) | ElementKind::Loop(_));
        if element.dimensions.len() > usize::from(!is_counted) {
            let mut dimensions = element.dimensions.clone();
            if is_counted {
                dimensions.push(COUNTED);
            }
            self.layout.dimensions.insert(self.layout.names.len() as u32, dimensions.into());
        }
        self.step(name, step);
        Ok(())
    }

    fn slot(&self, name: &str) -> Option<u32> {
        self.layout.names.iter().rposition(|known| **known == *name).map(|slot| slot as u32)
    }

    /// How a member is read; `None` if that is not known.
    fn step_of(&self, element: &Element) -> Option<Step> {
        let Member { value, array } = Member::of(element)?;
        let packing = element.packing;
        Some(match (value, array) {
            (Value::TObject, None) => Step::TObject,
            (Value::TObject, Some(length)) => Step::EmbeddedArray("TObject".into(), length),
            (Value::Bits, _) => Step::Bits,
            (Value::Number(code), None) => match Stored::of(code, packing)? {
                Stored::Plain(basic) => Step::Number(basic),
                Stored::Packed(pack) => Step::Packed(pack),
            },
            (Value::Number(code), Some(length)) => match Stored::of(code, packing)? {
                Stored::Plain(basic) => Step::Array(basic, length),
                Stored::Packed(pack) => Step::PackedArray(pack, length),
            },
            (Value::Counted(code, counter), None) => match Stored::of(code, packing)? {
                Stored::Plain(basic) => Step::Counted(basic, self.slot(&counter.name)?),
                Stored::Packed(pack) => Step::PackedCounted(pack, self.slot(&counter.name)?),
            },
            (Value::Counted(code, counter), Some(length)) => {
                let counter = self.slot(&counter.name)?;
                Step::Flagged(Box::new(match Stored::of(code, packing)? {
                    Stored::Plain(basic) => Step::Bare(basic, counter, length),
                    Stored::Packed(pack) => Step::PackedBare(pack, counter, length),
                }))
            }
            (Value::LongText, None) => Step::LongText,
            (Value::LongText, Some(length)) => Step::BareContainers(Arc::new(Kind::LongText), length),
            (Value::Text, None) => Step::Text,
            (Value::StdText, None) => Step::StdString,
            (Value::Text | Value::StdText, Some(length)) => Step::Strings(length),
            (Value::Container(kind), array) => {
                let ElementKind::Stl { content, .. } = element.kind else { return None };
                let content = Number::coded(content % code::POINTER).and_then(|number| number.basic);
                let kind = Kind::container(&kind, content, self.streamers).map(Arc::new);
                match (kind, array) {
                    (None, _) => Step::Framed,
                    (Some(kind), None) => Step::Container(kind),
                    (Some(kind), Some(length)) => Step::Containers(kind, length),
                }
            }
            (Value::Bare(kind), array) => {
                Step::BareContainers(Arc::new(Kind::container(&kind, None, self.streamers)?), array?)
            }
            (Value::Object(class), None) => Step::Embedded(class.into()),
            (Value::Object(class), Some(length)) => Step::EmbeddedArray(class.into(), length),
            (Value::Pointer(_), None) => Step::Pointer,
            (Value::Pointer(_), Some(length)) => Step::Pointers(length),
            (Value::Loop { class, pointers, counter }, array) => match self.slot(&counter.name) {
                Some(counter) => {
                    let times = array.unwrap_or(1);
                    Step::Loop(Repeated { class: class.into(), pointers, counter, times })
                }
                None => Step::Framed,
            },
            (Value::Framed, _) => Step::Framed,
            (Value::Own(code, own), _) => self.own(code, own)?,
            (Value::Words(..), _) => return None,
        })
    }

    /// How a member is read that only code of the class's own writes.
    fn own(&self, code: i32, own: &OwnMember) -> Option<Step> {
        let basic = |code| Number::coded(code).and_then(|number| number.basic);
        let slot = |counter: &Counter| self.slot(&counter.name);
        Some(match own {
            OwnMember::Bare(counter, times) => Step::Bare(basic(code)?, slot(counter)?, *times),
            OwnMember::Sized => Step::Sized(basic(code)?),
            OwnMember::Triangle(rows) => Step::Triangle(basic(code)?, slot(rows)?),
            OwnMember::Area([width, height]) => Step::Area(basic(code)?, slot(width)?, slot(height)?),
            OwnMember::Rows(codes, rows) => {
                Step::Rows(codes.iter().map(|&code| basic(code)).collect::<Option<_>>()?, slot(rows)?)
            }
            OwnMember::Table(width) => Step::Table(*width),
            OwnMember::Pointers(counter) => Step::Links(slot(counter)?),
            OwnMember::Process => Step::Process,
            OwnMember::Only(flag, when, of) => Step::Only(slot(flag)?, *when, Box::new(self.step_of(of)?)),
        })
    }

    fn tobject(&mut self) {
        let begin = self.layout.names.len() as u32;
        self.layout.bases.push(BaseSpan {
            class: "TObject".into(),
            version: 1,
            begin,
            end: begin + 2,
            depth: 0,
        });
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
    Packed(Pack),
}

impl Stored {
    fn of(number: i32, packing: Option<Packing>) -> Option<Self> {
        let row = Number::coded(number)?;
        let packed = |packing| Self::Packed(Pack { packing, single: number == code::FLOAT16 });
        Some(match (row.basic, packing) {
            (_, Some(packing)) if matches!(number, code::DOUBLE32 | code::FLOAT16) => packed(packing),
            (Some(basic), _) => Self::Plain(basic),
            (None, _) => packed(Packing::Mantissa { bits: MANTISSA.into() }),
        })
    }
}

impl Pack {
    /// Bytes of a number.
    pub(super) fn size(self) -> usize {
        match self.packing {
            Packing::Range { .. } => 4,
            Packing::Mantissa { .. } => 3,
        }
    }

    /// The number that these bytes are.
    pub(super) fn value(self, bytes: &[u8]) -> f64 {
        let value = self.packing.value(bytes);
        if self.single { f64::from(value as f32) } else { value }
    }
}

/// What stands for a dimension that another member counts.
pub(super) const COUNTED: u32 = u32::MAX;
/// Deeper inheritance is a mistake, or an attack.
const MAX_BASES: usize = 64;
/// So are more members. (Bases can multiply them without bound.)
const MAX_STEPS: usize = 50_000;
