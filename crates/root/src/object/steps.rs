//! Steps: the layouts of a class and its bases, flattened to a sequence for the walker.

use std::collections::HashMap;

use forthwith_plan::{Error, Result};

use super::walk::Wanted;
use crate::class::{Base, Layout, Layouts, Member, Native, Numbers, StoredBase, Value, known};
use crate::streamer::{Counter, Element};
use forthwith_columns::DType;

/// Steps that read one version of a class.
#[derive(Debug, Default)]
pub(super) struct Steps {
    pub(super) steps: Vec<Step>,
    /// Names of the members, by slot.
    pub(super) names: Vec<Box<str>>,
    /// Hashes of names and their slots, sorted. Of several slots with the same name, that of the most derived
    /// class is last.
    slots: Vec<(u32, u32)>,
    /// Bases in the order of their beginnings, each before its own bases.
    pub(super) bases: Vec<BaseSpan>,
    /// Dimensions of arrays of arrays, by slot.
    pub(super) dimensions: HashMap<u32, Box<[u32]>>,
}

/// The slots of a base.
#[derive(Debug)]
pub(super) struct BaseSpan {
    pub(super) class: Box<str>,
    pub(super) version: i32,
    pub(super) begin: u32,
    pub(super) end: u32,
    /// Level of inheritance; 0 for a base of the class itself.
    pub(super) depth: u32,
}

/// One part of an object. A step fills one slot, unless its documentation says otherwise.
#[repr(u8)]
#[derive(Debug)]
pub(super) enum Step {
    /// The beginning of a base. Fills no slot.
    Enter(Expected),
    /// The end of the innermost base. Fills no slot.
    Leave,
    /// A `TObject`. Fills two slots: `fUniqueID` and `fBits`.
    TObject,
    /// A number, the most frequent step.
    Number(DType),
    /// A step that is taken only if the boolean in a slot has this value. Its slot is null otherwise.
    Only(u32, bool, Box<Self>),
    /// A member, with its length if it is a fixed array, and the slots of the members that count it.
    Member(Value, Option<u32>, [u32; 2]),
}

/// A base and the version that its steps are for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Expected {
    pub(super) class: Box<str>,
    pub(super) version: i32,
    /// Whether the version is described. A base that is not is skipped, whatever its version.
    pub(super) known: bool,
    /// Whether the base has no frame if objects are stored member-wise.
    pub(super) flat: bool,
    /// Whether the class has version 0, which is not followed by a checksum.
    pub(super) unversioned: bool,
}

impl Steps {
    /// Returns the slot of a member. Of several members with the same name, it is that of the most derived
    /// class.
    pub(super) fn slot(&self, name: &str) -> Option<u32> {
        let wanted = hash(name);
        let behind = self.slots.partition_point(|&(hash, _)| hash <= wanted);
        let alike = self.slots[..behind].iter().rev().take_while(|&&(hash, _)| hash == wanted);
        alike.map(|&(_, slot)| slot).find(|&slot| *self.names[slot as usize] == *name)
    }

    /// Returns the steps of a class version, or `None` if the class is not described.
    ///
    /// # Errors
    /// Returns an error if a streamer info cannot be parsed, or a member is not supported: the object then
    /// has to be skipped.
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

/// Returns the FNV-1a hash of a name, which is fast for short names.
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
            // The class has no version, or was written before bases had one.
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

    /// Returns the step that reads a member; `None` if the member is not supported, or its counter is
    /// unknown.
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

/// Placeholder for a dimension that another member counts.
pub(super) const COUNTED: u32 = u32::MAX;
/// Upper bound on the depth of inheritance.
const MAX_BASES: usize = 64;
/// Upper bound on the steps of a class, since bases can multiply members exponentially.
const MAX_STEPS: usize = 50_000;
