//! Layouts of members, from their streamer elements.

use forthwith_columns::DType;
use forthwith_program::{EncodedValue, Layout, Words};

use super::budget::{MAX_ARRAY_MEMBERS, MAX_MEMBERS, too_many};
use super::{Classes, Unsupported, fixed, native, shared};
use crate::class::{self as table, Base, Item, Member, StoredBase, Value};
use crate::cpp::CppType;
use crate::streamer::{Counter, Element, StreamerInfo, is_unframed};

impl Classes<'_> {
    /// Returns the names and layouts of a class's bases and members.
    pub(super) fn members(&mut self, layout: &table::Layout) -> Result<Vec<(String, Layout)>, Unsupported> {
        let info = &layout.info;
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
        for (element, member) in layout.members() {
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
            let schema = match &member.value {
                Value::Base(base) => self.base_of(&element.name, base)?,
                _ => {
                    let outer = std::mem::take(&mut self.together);
                    let member = self.member_as(info, element, member);
                    self.together = outer;
                    Some(member?)
                }
            };
            if let Some(schema) = schema {
                fields.push(native::delivered(&info.class, name, schema));
            }
        }
        Ok(fields)
    }

    /// Returns the layout of a base class of items that are stored member-wise; `None` if the base is not
    /// stored.
    pub fn base_of_many(&mut self, element: &Element) -> Result<Option<Layout>, Unsupported> {
        let outer = std::mem::replace(&mut self.together, true);
        let base = self.base(element);
        self.together = outer;
        base
    }

    /// Returns the layout of a base class; `None` if the base is not stored.
    pub fn base(&mut self, element: &Element) -> Result<Option<Layout>, Unsupported> {
        match Member::of(element, self.file).value {
            Value::Base(base) => self.base_of(&element.name, &base),
            _ => Err(format!("{}, which is no base", element.name)),
        }
    }

    fn base_of(&mut self, class: &str, base: &Base) -> Result<Option<Layout>, Unsupported> {
        let apart = match &base.stored {
            StoredBase::Nothing => return Ok(None),
            StoredBase::TObject => return Ok(Some(native::object_base())),
            StoredBase::Container(item) => return self.container(item, &[]).map(Some),
            StoredBase::Framed => {
                let frame = Layout::Framed { shared: false, of: Box::new(Layout::Blank) };
                return Ok(Some(Layout::Skipped(Box::new(frame))));
            }
            StoredBase::Whole if native::schema(class, table::native(class)).is_some() => {
                return self.object(class).map(Some);
            }
            StoredBase::Whole => false,
            StoredBase::Members { apart } => *apart,
        };
        let base = match self.together && is_unframed(class) && self.file.streamers.knows(class) {
            true => {
                self.switched = true;
                super::framed(self.versions(class)?)
            }
            false => match self.object(class)? {
                Layout::Between(before, record, _) if before.is_empty() => *record,
                // A custom streamer writes this base for each item separately, even among members that are
                // stored member-wise.
                object if apart => Layout::Between(Vec::new(), Box::new(object), Vec::new()),
                object => object,
            },
        };
        Ok(Some(Layout::Base(Box::new(base))))
    }

    /// Returns the stored form of the base or member that an element describes.
    #[must_use]
    pub fn member_described(&self, element: &Element) -> Member {
        Member::of(element, self.file)
    }

    /// Returns the layout of a member that is not a base.
    pub fn member(&mut self, info: &StreamerInfo, element: &Element) -> Result<Layout, Unsupported> {
        self.member_as(info, element, &Member::of(element, self.file))
    }

    fn member_as(
        &mut self,
        info: &StreamerInfo,
        element: &Element,
        member: &Member,
    ) -> Result<Layout, Unsupported> {
        let refused = || format!("{}::{} of type {}", info.class, element.name, element.type_name);
        let slot = |classes: &Self, counter: &Counter| {
            let class = if counter.class.is_empty() { &info.class } else { &counter.class };
            classes.counter(class, &counter.name).ok_or_else(refused)
        };
        let dimensions = &*member.dimensions;
        Ok(match &member.value {
            Value::Number(numbers) if member.array.is_none() && numbers.can_count() => {
                let number = Layout::Number(numbers.encoding().ok_or_else(refused)?);
                match self.counter(&info.class, &element.name) {
                    Some(slot) => Layout::Counter(slot, Box::new(number)),
                    None => number,
                }
            }
            Value::Counted(numbers, counter) => {
                let of = Layout::Number(numbers.encoding().ok_or_else(refused)?);
                self.counted(slot(self, counter)?, of, dimensions)
            }
            Value::CountedTexts(counter) => self.counted(slot(self, counter)?, Layout::LongText, dimensions),
            Value::Loop { class, pointers, counter } => {
                let slot = slot(self, counter)?;
                let of = if *pointers { self.pointer(class)? } else { self.contained(class)? };
                let of = fixed(Layout::Counted { slot, flag: false, of: Box::new(of) }, dimensions);
                shared(self.given_first(slot, of))
            }
            Value::Repeated(numbers, counter, 1) => {
                let of = Box::new(Layout::Number(numbers.encoding().ok_or_else(refused)?));
                Layout::Counted { slot: slot(self, counter)?, flag: false, of }
            }
            Value::Triangle(numbers, rows) => {
                Layout::Triangle(slot(self, rows)?, numbers.encoding().ok_or_else(refused)?)
            }
            _ => self.stored(member).map_err(|why| if why.is_empty() { refused() } else { why })?,
        })
    }

    /// Returns the layout of a member without a counter. The error is empty if the member itself is
    /// unsupported, rather than a part of it.
    pub(super) fn stored(&mut self, member: &Member) -> Result<Layout, Unsupported> {
        let one = match &member.value {
            Value::Words(Some(dtype), words) => Layout::Computed(*dtype, Words::new(words.to_string())),
            Value::Words(None, words) => Layout::Passed(Words::new(words.to_string())),
            Value::Number(numbers) => Layout::Number(numbers.encoding().ok_or_else(String::new)?),
            Value::Bits => Layout::Computed(DType::UInt32, Words::of(EncodedValue::StatusBits, BITS)),
            Value::LongText => Layout::LongText,
            Value::Text if member.array.is_none() => Layout::Text,
            Value::Text | Value::StdText => return Ok(shared(fixed(Layout::Text, &member.dimensions))),
            Value::TObject => self.object("TObject")?,
            Value::Container(item) => return self.container(item, &member.dimensions),
            Value::Whole(item) => self.container(item, &[])?,
            Value::Bare(item) | Value::Item(item) => self.item(item)?,
            Value::Array(array) => self.stored(array)?,
            Value::Object(class) => match CppType::parse(class) {
                CppType::Text("std::string") => shared(Layout::Text),
                CppType::Other(_) | CppType::Pair(..) => self.object(class)?,
                kind => {
                    let item = Item::of(&kind, self.file);
                    self.item(&item)?
                }
            },
            Value::Pointer(class) => self.pointer(class)?,
            Value::Sized(numbers) => Layout::Number(numbers.encoding().ok_or_else(String::new)?).list(),
            _ => return Err(String::new()),
        };
        Ok(fixed(one, &member.dimensions))
    }

    /// Returns the layout of a flag, followed by as many items as the counter in a slot states, or by fixed
    /// arrays of such arrays.
    fn counted(&self, slot: u32, of: Layout, dimensions: &[u32]) -> Layout {
        let of = Box::new(of);
        let counted = match dimensions {
            [] => Layout::Counted { slot, flag: true, of },
            sizes => Layout::Flagged(Box::new(fixed(Layout::Counted { slot, flag: false, of }, sizes))),
        };
        self.given_first(slot, counted)
    }

    /// Registers that the counter of a member is in a branch of its own, with numbers of this type.
    pub fn give(&mut self, info: &StreamerInfo, element: &Element, numbers: DType) {
        if let Some(counter) = element.counter() {
            let class = if counter.class.is_empty() { &info.class } else { &counter.class };
            self.slots += 1;
            self.counters.push((class.clone(), counter.name.clone(), self.slots));
            self.given = Some((self.slots, numbers));
        }
    }

    /// Prepends the counter in a slot to the layout of its array, if it is in another branch.
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
}

/// Returns the name of a member, without the `*` and the dimensions that some elements have in it.
fn member_name(element: &Element) -> String {
    element.name.trim_start_matches('*').split('[').next().unwrap_or_default().to_owned()
}

/// Words that read the status bits of an object, and skip its process id if it is referenced.
const BITS: &str = "data !I-> stack dup 16 and if 2 data skip then";
