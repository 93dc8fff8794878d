//! Members of classes, by their streamer elements.

use std::sync::Arc;

use forthwith_columns::{DType, Encoding};
use forthwith_program::Layout;

use super::budget::{MAX_ARRAY_MEMBERS, MAX_MEMBERS, too_many};
use super::{Classes, Unsupported, fixed, native, shared};
use crate::class::Native;
use crate::class::{self as table, Member, Value};
use crate::{Counter, Element, ElementKind, OwnMember, Packing, StreamerInfo, code, is_unframed};
use crate::{CppType, Number};

impl Classes<'_> {
    /// Names and schemas of a class's members, bases among them.
    pub(super) fn members(&mut self, info: &Arc<StreamerInfo>) -> Result<Vec<(String, Layout)>, Unsupported> {
        for element in &info.elements {
            if let Some(counter) = element.counter() {
                let class = if counter.class.is_empty() { &info.class } else { &counter.class };
                let known = self.counters.iter().any(|(of, name, _)| of == class && *name == counter.name);
                if !known {
                    self.slots += 1;
                    self.counters.push((class.clone(), counter.name.clone(), self.slots));
                }
            }
        }
        let mut fields: Vec<(String, Layout)> = Vec::with_capacity(info.elements.len());
        for element in &info.elements {
            let budget = if self.named_arrays > 0 {
                &mut self.budget.array_members_left
            } else {
                &mut self.budget.members_left
            };
            let Some(left) = budget.checked_sub(1) else {
                self.arrays_spent |= self.named_arrays > 0;
                if let (0, Some(noted)) = (self.named_arrays, self.noted) {
                    noted.members_spent.set(true);
                }
                let most = if self.named_arrays > 0 { MAX_ARRAY_MEMBERS } else { MAX_MEMBERS };
                return Err(too_many(&info.class, most));
            };
            *budget = left;
            let name = member_name(element);
            let schema = match element.is_base() {
                true => self.base(element)?,
                false => {
                    let outer = std::mem::take(&mut self.together);
                    let member = self.member(info, element);
                    self.together = outer;
                    Some(member?)
                }
            };
            if let Some(schema) = schema {
                fields.push(native::delivered(&info.class, name, schema));
            }
        }
        hide_repeated(&mut fields);
        Ok(fields)
    }

    /// A base class of items that are stored member by member; `None` if nothing is stored of it.
    pub fn base_of_many(&mut self, element: &Element) -> Result<Option<Layout>, Unsupported> {
        let outer = std::mem::replace(&mut self.together, true);
        let base = self.base(element);
        self.together = outer;
        base
    }

    /// A base class; `None` if nothing is stored of it.
    pub fn base(&mut self, element: &Element) -> Result<Option<Layout>, Unsupported> {
        let class = &*element.name;
        let kind = table::native(class);
        match kind {
            Native::Nothing => return Ok(None),
            Native::TObject => return Ok(Some(Layout::Passed(native::TOBJECT.into()))),
            _ => {}
        }
        if native::schema(class, kind).is_some() {
            return self.object(class).map(Some);
        }
        let container = CppType::parse(class);
        if container.is_container() {
            return self.container(&container, &[]).map(Some);
        }
        if let (false, ElementKind::Base { version: Some(-1), .. }) = (self.describes(class), &element.kind) {
            // ROOT did not know it either.
            return Ok(None);
        }
        if !self.describes(class) {
            // Of a class without members there is nothing to describe.
            let frame = Layout::Framed { shared: false, of: Box::new(Layout::Blank) };
            return Ok(Some(Layout::Skipped(Box::new(frame))));
        }
        let base = match self.together && is_unframed(class) && self.streamers.knows(class) {
            true => {
                self.switched = true;
                super::framed(self.versions(class)?)
            }
            false => match self.object(class)? {
                Layout::Between(before, record, _) if before.is_empty() => *record,
                // Its own code writes it, of each item by itself also where other members of many items stand together.
                object if element.code == code::TNAMED || kind == Native::Own => {
                    Layout::Between(Vec::new(), Box::new(object), Vec::new())
                }
                object => object,
            },
        };
        Ok(Some(Layout::Base(Box::new(base))))
    }

    /// A member that is no base.
    pub fn member(&mut self, info: &StreamerInfo, element: &Element) -> Result<Layout, Unsupported> {
        let refused = || format!("{}::{} of type {}", info.class, element.name, element.type_name);
        let Member { value, array } = Member::of(element).ok_or_else(refused)?;
        let dimensions = if array.is_some() { dimensions(element) } else { Vec::new() };
        let number = |code| wire(code, element.packing).map(Layout::Number).ok_or_else(refused);
        let slot = |counter: &Counter| self.slot(info, &counter.class, &counter.name).ok_or_else(refused);
        Ok(match value {
            Value::Words(Some(dtype), words) => Layout::Computed(dtype, words.to_owned().into()),
            Value::Words(None, words) => Layout::Passed(words.to_owned().into()),
            Value::Number(code) if array.is_none() && !is_real(code) => {
                match self.counter(&info.class, &element.name) {
                    Some(slot) => Layout::Counter(slot, Box::new(number(code)?)),
                    None => number(code)?,
                }
            }
            Value::Number(code) => fixed(number(code)?, &dimensions),
            Value::Counted(code, counter) => {
                let slot = slot(counter)?;
                let of = Box::new(match code {
                    code::CHAR_STAR => Layout::LongText,
                    code => number(code)?,
                });
                let counted = match dimensions.as_slice() {
                    [] => Layout::Counted { slot, flag: true, of },
                    sizes => {
                        let counted = Layout::Counted { slot, flag: false, of };
                        Layout::Flagged(Box::new(fixed(counted, sizes)))
                    }
                };
                self.given_first(slot, counted)
            }
            Value::Bits => Layout::Computed(DType::UInt32, BITS.into()),
            Value::LongText => fixed(Layout::LongText, &dimensions),
            Value::Text if array.is_none() => Layout::Text,
            Value::Text | Value::StdText => shared(fixed(Layout::Text, &dimensions)),
            Value::TObject => fixed(self.object("TObject")?, &dimensions),
            Value::Container(kind) if kind.is_container() => self.container(&kind, &dimensions)?,
            Value::Container(kind @ (CppType::Array(..) | CppType::Pointer(_))) => {
                fixed(self.member_of(&kind)?, &dimensions)
            }
            Value::Container(kind) => return Err(kind.spelling()),
            Value::Bare(kind) => fixed(self.item(&kind)?, &dimensions),
            Value::Object(class) => {
                let object = match CppType::parse(class) {
                    CppType::Other(_) | CppType::Pair(..) => self.object(class)?,
                    kind @ CppType::Array(..) => self.item(&kind)?,
                    kind => self.member_of(&kind)?,
                };
                fixed(object, &dimensions)
            }
            Value::Pointer(class) => fixed(self.pointer(pointee(class))?, &dimensions),
            Value::Loop { class, pointers, counter } => {
                let slot = slot(counter)?;
                let of = match pointers && self.root > OLD_LOOPS {
                    true => self.pointer(class)?,
                    false => self.contained(class)?,
                };
                let of = fixed(Layout::Counted { slot, flag: false, of: Box::new(of) }, &dimensions);
                shared(self.given_first(slot, of))
            }
            Value::Own(code, own) => {
                let number = || Number::coded(code).and_then(|number| number.wire(None)).ok_or_else(refused);
                match own {
                    OwnMember::Bare(counter, 1) => {
                        let of = Box::new(Layout::Number(number()?));
                        Layout::Counted { slot: slot(counter)?, flag: false, of }
                    }
                    OwnMember::Sized => Layout::Number(number()?).list(),
                    OwnMember::Triangle(rows) => Layout::Triangle(slot(rows)?, number()?),
                    _ => return Err(refused()),
                }
            }
            Value::Framed => return Err(refused()),
        })
    }

    /// Says that the counter of a member is a branch of its own, with numbers of this type.
    pub fn give(&mut self, info: &StreamerInfo, element: &Element, numbers: DType) {
        if let Some(counter) = element.counter() {
            let class = if counter.class.is_empty() { &info.class } else { &counter.class };
            self.slots += 1;
            self.counters.push((class.clone(), counter.name.clone(), self.slots));
            self.given = Some((self.slots, numbers));
        }
    }

    /// A value that is counted by the number of a slot, which may have to be fetched.
    fn given_first(&self, slot: u32, of: Layout) -> Layout {
        match self.given {
            Some((given, numbers)) if given == slot => {
                Layout::Between(vec![Layout::Given(slot, numbers)], Box::new(of), Vec::new())
            }
            _ => of,
        }
    }

    fn counter(&self, class: &str, name: &str) -> Option<u32> {
        let mut known = self.counters.iter().rev();
        known.find(|(of, counter, _)| **of == *class && **counter == *name).map(|(.., slot)| *slot)
    }

    fn slot(&self, info: &StreamerInfo, class: &str, name: &str) -> Option<u32> {
        self.counter(if class.is_empty() { &info.class } else { class }, name)
    }
}

/// The class a pointer leads to, if the type's name is that of a smart one.
fn pointee(class: &str) -> &str {
    let plain = class.strip_prefix("std::").unwrap_or(class);
    let inner = plain.strip_prefix("unique_ptr<").or_else(|| plain.strip_prefix("shared_ptr<"));
    inner
        .and_then(|inner| inner.strip_suffix('>'))
        .map_or(class, |inner| inner.split(',').next().unwrap_or(inner).trim().trim_end_matches('*').trim())
}

/// Of members of the same name, the last is meant: that of the most derived class.
fn hide_repeated(fields: &mut [(String, Layout)]) {
    let names: Vec<String> = fields
        .iter()
        .filter(|(_, field)| !matches!(field, Layout::Base(_)))
        .map(|(name, _)| name.clone())
        .collect();
    let mut later: Vec<String> = names;
    for (_, field) in fields.iter_mut().rev() {
        if let Layout::Base(of) = field {
            hide(of, &later);
            collect(of, &mut later);
        }
    }
}

/// Hides the fields of a base that have one of these names.
fn hide(schema: &mut Layout, names: &[String]) {
    match schema {
        Layout::Framed { of, .. } | Layout::Base(of) | Layout::Between(_, of, _) => hide(of, names),
        Layout::Versioned(arms) => arms.iter_mut().for_each(|(_, arm)| hide(arm, names)),
        Layout::Record { fields, .. } => {
            for (name, field) in fields {
                match field {
                    Layout::Base(_) => hide(field, names),
                    _ if field.is_skipped() || !names.contains(name) => {}
                    _ => {
                        let hidden = std::mem::replace(field, Layout::Null);
                        *field = Layout::Skipped(Box::new(hidden));
                    }
                }
            }
        }
        _ => {}
    }
}

fn collect(schema: &Layout, names: &mut Vec<String>) {
    match schema {
        Layout::Framed { of, .. } | Layout::Base(of) | Layout::Between(_, of, _) => collect(of, names),
        Layout::Versioned(arms) => {
            if let Some((_, first)) = arms.first() {
                collect(first, names);
            }
        }
        Layout::Record { fields, .. } => {
            for (name, field) in fields {
                match field {
                    Layout::Base(_) => collect(field, names),
                    _ => names.push(name.clone()),
                }
            }
        }
        _ => {}
    }
}

/// The name of a member. Pointers may have kept their star.
fn member_name(element: &Element) -> String {
    element.name.trim_start_matches('*').split('[').next().unwrap_or_default().to_owned()
}

/// The dimensions of a fixed array.
pub fn dimensions(element: &Element) -> Vec<u64> {
    let stated: Vec<u64> = element.dimensions.iter().copied().map(u64::from).collect();
    let product = stated.iter().try_fold(1u64, |all, &size| all.checked_mul(size));
    match u64::from(element.array_length) {
        0 => Vec::new(),
        length if product == Some(length) => stated,
        length => vec![length],
    }
}

/// How ROOT's codes of numbers are stored.
fn wire(code: i32, packing: Option<Packing>) -> Option<Encoding> {
    Number::coded(code)?.wire(packing)
}

/// Up to this version, ROOT wrote what an array of pointers leads to without the classes.
const OLD_LOOPS: i32 = 51508;
/// Status bits of an object, with two more bytes if it is referenced.
const BITS: &str = "data !I-> stack dup 16 and if 2 data skip then";

/// Whether it is the code of numbers that cannot count.
fn is_real(code: i32) -> bool {
    matches!(
        code,
        code::BOOL | code::FLOAT | code::DOUBLE | code::DOUBLE32 | code::FLOAT16 | code::LEGACY_CHAR
    )
}
