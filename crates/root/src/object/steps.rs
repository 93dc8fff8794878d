//! Steps: the layouts of a class and its bases in one row, which the walker goes along.

use std::collections::HashMap;

use forthwith_plan::{Error, Result};

use super::walk::Wanted;
use crate::class::{Base, Layout, Layouts, Member, Native, Numbers, StoredBase, Value, known};
use crate::streamer::{Counter, Element};
use forthwith_columns::DType;

/// How one version of a class is read.
#[derive(Debug, Default)]
pub(super) struct Steps {
    pub(super) steps: Vec<Step>,
    /// Names of the members, by slot.
    pub(super) names: Vec<Box<str>>,
    /// Hashes of names and their slots, in order; of the slots of one name, that of the most derived class is last.
    slots: Vec<(u32, u32)>,
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
#[repr(u8)]
#[derive(Debug)]
pub(super) enum Step {
    /// A base begins. No slot.
    Enter(Expected),
    /// The innermost base ends. No slot.
    Leave,
    /// A `TObject`: two slots, `fUniqueID` and `fBits`.
    TObject,
    /// A number, as most members are.
    Number(DType),
    /// There only if the truth value in the slot is this one.
    Only(u32, bool, Box<Self>),
    /// A member, or as many of it as an array has, with the slots of members that count it.
    Member(Value, Option<u32>, [u32; 2]),
}

/// The version of a base that steps have been made for.
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

impl Steps {
    /// The slot of a member.
    pub(super) fn slot(&self, name: &str) -> Option<u32> {
        let wanted = hash(name);
        let behind = self.slots.partition_point(|&(hash, _)| hash <= wanted);
        let alike = self.slots[..behind].iter().rev().take_while(|&&(hash, _)| hash == wanted);
        alike.map(|&(_, slot)| slot).find(|&slot| *self.names[slot as usize] == *name)
    }

    /// The steps of a class version.
    ///
    /// # Errors
    /// An info cannot be parsed, or something in it cannot be read: the object must then be passed over.
    pub(super) fn of(file: &Layouts, wanted: &Wanted) -> Result<Option<Self>> {
        let mut steps = Self::default();
        let mut maker = Maker { file, versions: &wanted.bases, to: &mut steps };
        match known(&wanted.class) {
            Native::TObject => maker.tobject(),
            _ => match file.describe(&wanted.class, wanted.version, wanted.checksum)? {
                Some(layout) => maker.class(&layout, 0)?,
                None => return Ok(None),
            },
        }
        steps.slots = steps.names.iter().zip(0..).map(|(name, slot)| (hash(name), slot)).collect();
        steps.slots.sort_unstable();
        Ok(Some(steps))
    }
}

/// FNV-1a, which takes less time for names of a few letters than to compare them with others.
fn hash(name: &str) -> u32 {
    name.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

struct Maker<'a> {
    file: &'a Layouts,
    versions: &'a [(Box<str>, i32)],
    to: &'a mut Steps,
}

impl Maker<'_> {
    fn class(&mut self, layout: &Layout, depth: usize) -> Result<()> {
        self.bound(&layout.info.class, depth)?;
        for (element, member) in layout.members() {
            match &member.value {
                Value::Base(base) => self.base(&element.name, base, depth)?,
                Value::TObject if member.array.is_none() => self.tobject(),
                _ => self.member(layout, element, member)?,
            }
        }
        Ok(())
    }

    fn bound(&self, class: &str, depth: usize) -> Result<()> {
        match depth > MAX_BASES || self.to.steps.len() > MAX_STEPS {
            true => Err(Error::unsupported(format!("class {class} with that many bases and members"))),
            false => Ok(()),
        }
    }

    fn base(&mut self, class: &str, base: &Base, depth: usize) -> Result<()> {
        let (version, begin) = (base.version, self.to.names.len() as u32);
        let depth_of_span = depth as u32;
        let whole = match &base.stored {
            StoredBase::Nothing => return Ok(()),
            StoredBase::TObject => {
                self.tobject();
                return Ok(());
            }
            StoredBase::Whole => Some(Value::Object(class.into())),
            StoredBase::Container(item) => Some(Value::Container(item.clone())),
            StoredBase::Framed | StoredBase::Members { .. } => None,
        };
        if let Some(value) = whole {
            self.step(class, Step::Member(value, None, [0; 2]));
            let (version, end) = (version.unwrap_or(0), begin + 1);
            self.to.bases.push(BaseSpan { class: class.into(), version, begin, end, depth: depth_of_span });
            return Ok(());
        }
        self.bound(class, depth)?;
        let found = self.versions.iter().find(|(name, _)| **name == *class);
        let version = found.map(|&(_, version)| version).or(version);
        let is_own = known(class) == Native::Own;
        let layout = match version {
            _ if base.stored == StoredBase::Framed => None,
            _ if is_own => self.file.describe(class, version.unwrap_or(0), None)?,
            Some(version) if version > 0 => self.file.describe(class, version, None)?,
            // No version of its own, or written before bases had one.
            _ => {
                let checksum = Some(base.checksum).filter(|&checksum| checksum != 0);
                match self.file.describe(class, 1, checksum)? {
                    Some(layout) => Some(layout),
                    None => self.file.latest(class)?,
                }
            }
        };
        let known = layout.is_some();
        let flat = known && base.stored == StoredBase::Members { apart: false };
        let unversioned = version == Some(0);
        let version = version.filter(|&version| version > 0);
        let version = version.or(layout.as_ref().map(|layout| layout.info.version)).unwrap_or(0);
        let expected = Expected { class: class.into(), version, known, flat, unversioned };
        self.to.steps.push(Step::Enter(expected));
        let span = self.to.bases.len();
        let empty = BaseSpan { class: class.into(), version, begin, end: begin, depth: depth_of_span };
        self.to.bases.push(empty);
        if let Some(layout) = layout {
            self.class(&layout, depth + 1)?;
        }
        self.to.bases[span].end = self.to.names.len() as u32;
        self.to.steps.push(Step::Leave);
        Ok(())
    }

    fn member(&mut self, layout: &Layout, element: &Element, member: &Member) -> Result<()> {
        let name = &*element.name;
        let step = self.step_of(&member.value, member.array).ok_or_else(|| {
            let (class, kind, code) = (&layout.info.class, &element.type_name, element.code);
            Error::unsupported(match member.value {
                Value::Words(..) => format!("member {class}::{name}, which is told in words for columns"),
                _ => format!("member {class}::{name} of type {kind} (code {code})"),
            })
        })?;
        let is_counted = matches!(
            member.value,
            Value::Counted(..) | Value::CountedTexts(_) | Value::Seeks(_) | Value::Loop { .. }
        );
        if element.dimensions.len() > usize::from(!is_counted) {
            let mut dimensions = element.dimensions.clone();
            if is_counted {
                dimensions.push(COUNTED);
            }
            self.to.dimensions.insert(self.to.names.len() as u32, dimensions.into());
        }
        self.step(name, step);
        Ok(())
    }

    /// How a member is read; `None` if that is not known.
    fn step_of(&self, value: &Value, array: Option<u32>) -> Option<Step> {
        let slot = |counter: &Counter| {
            let known = self.to.names.iter().rposition(|known| *known == counter.name);
            known.map(|slot| slot as u32)
        };
        let mut slots = [0; 2];
        match value {
            Value::Counted(_, counter)
            | Value::CountedTexts(counter)
            | Value::Seeks(counter)
            | Value::Repeated(_, counter, _)
            | Value::Triangle(_, counter)
            | Value::Rows(_, counter)
            | Value::Pointers(counter) => slots[0] = slot(counter)?,
            Value::Area(_, sides) => slots = [slot(&sides[0])?, slot(&sides[1])?],
            Value::Loop { counter, .. } => match slot(counter) {
                Some(counter) => slots[0] = counter,
                None => return Some(Step::Member(Value::Framed, None, slots)),
            },
            Value::Only(flag, when, of) => {
                return Some(Step::Only(slot(flag)?, *when, Box::new(self.step_of(of, None)?)));
            }
            Value::Words(..) | Value::Unsupported => return None,
            Value::Number(Numbers { basic: Some(basic), .. }) if array.is_none() => {
                return Some(Step::Number(*basic));
            }
            _ => {}
        }
        Some(Step::Member(value.clone(), array, slots))
    }

    fn tobject(&mut self) {
        let begin = self.to.names.len() as u32;
        let end = begin + 2;
        self.to.bases.push(BaseSpan { class: "TObject".into(), version: 1, begin, end, depth: 0 });
        self.to.steps.push(Step::TObject);
        self.to.names.extend(["fUniqueID".into(), "fBits".into()]);
    }

    fn step(&mut self, name: &str, step: Step) {
        self.to.steps.push(step);
        self.to.names.push(name.into());
    }
}

/// A mark in the place of a dimension that another member counts.
pub(super) const COUNTED: u32 = u32::MAX;
/// Deeper inheritance is a mistake, or an attack.
const MAX_BASES: usize = 64;
/// So are more members. (Bases can multiply them without bound.)
const MAX_STEPS: usize = 50_000;
