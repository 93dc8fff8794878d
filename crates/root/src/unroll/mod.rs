//! Classes as columns: streamer infos are unrolled to a [`Layout`], from which the shared translator makes a
//! program.
//!
//! A schema is finite and classes may contain themselves, so that a [`Budget`] says how far they are
//! unrolled.
//!
//! `member.rs` handles each member, `evolve.rs` reads other versions of a class as the latest one,
//! `pointed.rs` chooses the classes that a pointer may lead to, `written.rs` says in which layout values are written, and
//! `budget.rs` limits how far classes are unrolled that contain themselves. Frames, versions, items stored member by member and pointers are words
//! of the schema (`program/translate/framed.rs`), which knows nothing else of ROOT.
//!
//! * Versions of a class may pack one number in several ways. The numbers are kept as they are stored, each
//!   with its way of packing, until `columns::Finisher::Mixed` converts them.
//! * The classes that a pointer may lead to follow from the streamer infos. The class of one object is read
//!   where the data name it, by looking back in the data, so a program keeps no state.
//! * A reference to an object pauses the program. The engine (`engine/objects.rs`) looks the object up among
//!   those that pointers of the same place wrote, and `columns::Finisher::Objects` makes the index of rows.

mod budget;
mod evolve;
mod member;
mod native;
mod pointed;
mod program;
mod within;
mod written;

use std::collections::HashMap;
use std::sync::Arc;

use forthwith_columns::{DType, Encoding};
use forthwith_program::{Layout, When, Words};

use crate::class::{self as table, Item, Layouts, Member, Native, Pair};
use crate::cpp::CppType;
use crate::streamer::{Counter, Element, StreamerInfo, any_unframed, is_unframed, registered};
pub use budget::{Budget, Noted};
pub use pointed::{OWN_ITEMS, UNDESCRIBED_ITEMS};
pub use program::{columns, dialect, program};
pub use written::{container, has_objects, is_counted_elsewhere, written};

/// Schemas of classes, by the file's own account of them.
pub struct Classes<'a> {
    file: &'a Layouts,
    /// Classes that are being looked at: none can contain itself for ever.
    within: Vec<Box<str>>,
    /// Those of them that are looked at again, within themselves.
    again: Vec<Box<str>>,
    /// The rest of the budget.
    budget: Budget,
    /// The position in `within` of the value that is looked at: behind the innermost list or pointer.
    value_start: usize,
    /// The number of lists and pointers around the value that is looked at.
    indirections: usize,
    /// The number of classes around that are there again by way of others.
    recursions: usize,
    /// Whether these had more members than the budget has for them.
    recursion_spent: bool,
    /// Whether something was refused since the budget has no more levels, or members, for it.
    cut_short: bool,
    /// Members that count the items of others: class, name and slot.
    counters: Vec<(Box<str>, Box<str>, u32)>,
    slots: u32,
    /// The slot of a number that another branch has, and its type.
    given: Option<(u32, DType)>,
    /// The number of values of several possible classes around. Choices within choices multiply.
    choices: usize,
    /// Within how many choices an array may be whose class only the data name, of what is being looked at.
    choices_allowed: usize,
    /// The number of such arrays around.
    named_arrays: usize,
    /// Whether the items of such arrays had more members than the budget has for them.
    arrays_spent: bool,
    /// Whether bases are stored member by member, as the file describes them, whatever streamer they have by
    /// themselves.
    together: bool,
    /// Whether that made a difference.
    switched: bool,
    /// The class of the items of a `TClonesArray`, where that is known.
    items: String,
    /// Classes that arrays in the data name as that of their items.
    seen: &'a [String],
    /// Notes made on the way.
    noted: Option<&'a Noted>,
    /// Classes with those derived from them, as far as that was asked.
    families: HashMap<Box<str>, Vec<String>>,
}

/// Why something has no schema, as a phrase.
pub type Unsupported = String;

impl<'a> Classes<'a> {
    /// Classes as a file describes them, unrolled as far as the budget says.
    #[must_use]
    pub fn new(file: &'a Layouts, budget: Budget) -> Self {
        Self {
            file,
            within: Vec::new(),
            again: Vec::new(),
            budget,
            value_start: 0,
            indirections: 0,
            recursions: 0,
            recursion_spent: false,
            cut_short: false,
            counters: Vec::new(),
            slots: 0,
            given: None,
            choices: 0,
            choices_allowed: budget.nested_choices,
            named_arrays: 0,
            arrays_spent: false,
            together: false,
            switched: false,
            items: String::new(),
            seen: &[],
            noted: None,
            families: HashMap::new(),
        }
    }

    /// Arrays that only the data name the class of have items of this class.
    #[must_use]
    pub fn with_items(mut self, class: &str) -> Self {
        self.items = class.into();
        self
    }

    /// Arrays of which the file describes one class may be of these of ROOT's own, too; those of which it
    /// describes several are of these alone, if any of them is among those. Arrays of either kind are noted.
    #[must_use]
    pub fn seeing(mut self, seen: &'a [String], noted: &'a Noted) -> Self {
        (self.seen, self.noted) = (seen, Some(noted));
        self
    }

    /// A value of some type as a member of a class: containers and strings have a frame.
    pub fn member_of(&mut self, kind: &CppType) -> Result<Layout, Unsupported> {
        let item = Arc::new(Item::of(kind, self.file));
        self.stored(&Member::typed(kind, &item))
            .map_err(|why| if why.is_empty() { kind.spelling() } else { why })
    }

    /// A pair or a `std::array` without the frame that it has as an object of its own; a value as a member,
    /// if it is neither.
    pub fn bare_of(&mut self, kind: &CppType) -> Result<Layout, Unsupported> {
        match Item::of(kind, self.file) {
            Item::Pair(pair) => self.pair(&pair),
            Item::Array(array) => self.stored(&array),
            _ => self.member_of(kind),
        }
    }

    /// A pair without a frame around it.
    fn pair(&mut self, pair: &Pair) -> Result<Layout, Unsupported> {
        let [first, second] = self.halves(pair)?;
        let fields = vec![("first".to_owned(), first), ("second".to_owned(), second)];
        Ok(Layout::Record { name: Some(pair.name.to_string()), fields })
    }

    /// The members of a pair, or of all pairs of a map.
    fn halves(&mut self, pair: &Pair) -> Result<[Layout; 2], Unsupported> {
        let [first, second] = &pair.members;
        Ok([self.stored(first)?, self.stored(second)?])
    }

    /// A container within its frame, or an array of them.
    fn container(&mut self, item: &Item, dimensions: &[u32]) -> Result<Layout, Unsupported> {
        let apart = fixed(self.item(item)?, dimensions);
        let together = self.together(item)?;
        let mut arms = vec![(When::Any, apart)];
        if let Some(of) = together {
            let of = of
                .into_iter()
                .map(|(when, items)| (when, fixed(Layout::Columns(Box::new(items)), dimensions)));
            arms.push((When::Together, Layout::Versioned(of.collect())));
        }
        Ok(Layout::Framed { shared: true, of: Box::new(Layout::Versioned(arms)) })
    }

    /// The items of a container if they are stored member by member, by their class's version.
    fn together(&mut self, container: &Item) -> Result<Option<Vec<(When, Layout)>>, Unsupported> {
        Ok(match container {
            Item::Map(_, pair) => Some(vec![(When::AnyClass, Layout::Tuple(self.halves(pair)?.into()))]),
            Item::List(_, item) => match &**item {
                Item::Pair(_) | Item::Array(_) | Item::Class(_) | Item::Unknown(_) | Item::Memberless(_) => {
                    match self.item(item)? {
                        Layout::Framed { of, shared: false } => match *of {
                            Layout::Versioned(arms) => Some(self.by_members(item, arms)?),
                            _ => None,
                        },
                        unknown @ (Layout::Unknown(_) | Layout::Refused(_)) => {
                            Some(vec![(When::AnyClass, unknown)])
                        }
                        _ => None,
                    }
                }
                _ => None,
            },
            _ => None,
        })
    }

    /// How items are stored member by member that are stored by themselves like this.
    fn by_members(
        &mut self,
        item: &Item,
        apart: Vec<(When, Layout)>,
    ) -> Result<Vec<(When, Layout)>, Unsupported> {
        let (Item::Class(class) | Item::Unknown(class)) = item else { return Ok(apart) };
        if !any_unframed() || registered(class).is_some() {
            return Ok(apart);
        }
        let outer = std::mem::replace(&mut self.together, true);
        let switched = std::mem::take(&mut self.switched);
        let arms = self.versions(class);
        self.together = outer;
        if !std::mem::replace(&mut self.switched, switched) {
            return Ok(apart);
        }
        let Some((_, wanted)) = apart.first() else { return Ok(apart) };
        // A value that cannot be delivered by itself is a fault where it is met.
        let read = |(when, arm)| {
            evolve::read_as(&arm, wanted).filter(|arm| !arm.lacks_some()).map(|arm| (when, arm))
        };
        Ok(arms?.into_iter().filter_map(read).collect())
    }

    /// An item of a container, which has no frame unless it is an object.
    fn item(&mut self, item: &Item) -> Result<Layout, Unsupported> {
        Ok(match item {
            Item::Number(number) => match number.wire(None) {
                Some(wire) => Layout::Number(wire),
                None => return Err(number.spelling.into()),
            },
            Item::Text => Layout::Text,
            Item::LongText => Layout::LongText,
            Item::List(_, item) => self.item(item)?.list(),
            Item::Map(_, pair) => {
                let [key, value] = &pair.items;
                Layout::Tuple(vec![self.item(key)?, self.item(value)?]).list()
            }
            // An object, of which only the items are of interest.
            Item::Array(array) => framed(vec![(When::AnyClass, self.stored(array)?)]),
            Item::Pointer(CppType::Other(class)) => self.pointer(class)?,
            Item::Pointer(kind) => return Err(format!("{}*", kind.spelling())),
            Item::Pair(pair) => framed(vec![(When::AnyClass, self.pair(pair)?)]),
            Item::Memberless(_) => {
                framed(vec![(When::AnyClass, Layout::Record { name: None, fields: Vec::new() })])
            }
            // One that nothing is inside of any more is an error where it is met.
            Item::Class(class) | Item::Unknown(class) if self.is_own(class) => match self.own(class) {
                Ok(schema) => schema,
                Err(why) => Layout::Refused(why),
            },
            Item::Class(class) | Item::Unknown(class) => self.contained(class)?,
        })
    }

    /// An object in place.
    pub fn object(&mut self, class: &str) -> Result<Layout, Unsupported> {
        if let Some(info) = registered(class) {
            let record = self.record(&self.file.of(&info))?;
            return Ok(match is_unframed(class) {
                // By itself also where other members of many items stand together.
                true => Layout::Between(Vec::new(), Box::new(record), Vec::new()),
                false => framed(vec![(When::AnyClass, record)]),
            });
        }
        let native = table::native(class);
        if let Some(schema) = native::schema(class, native) {
            return Ok(schema);
        }
        match native {
            Native::Clones => return self.clones(),
            Native::List | Native::ObjArray | Native::Map => return self.pointers(class, native),
            Native::Bare if let Some(schema) = self.bare(class)? => return Ok(schema),
            _ => {}
        }
        if let Some(container) = self.file.container(class).map_err(|error| error.to_string())? {
            return self.container(&container, &[]);
        }
        Ok(match self.versions(class)? {
            // Files describe what was written to them, so most probably there is none.
            arms if arms.is_empty() => match Item::of(&CppType::Other(class.into()), self.file) {
                number @ Item::Number(_) => self.item(&number)?,
                _ => Layout::Unknown(class.into()),
            },
            arms if native == Native::Uncounted => {
                let count = Layout::Passed(Words::new(native::BYTE_COUNT_IF_ANY));
                Layout::Between(vec![count], Box::new(Layout::Versioned(arms)), Vec::new())
            }
            arms => framed(arms),
        })
    }

    /// A container of pointers to objects of any class.
    fn pointers(&mut self, class: &str, native: Native) -> Result<Layout, Unsupported> {
        if self.within.iter().any(|outer| &**outer == ANYTHING) {
            return Err(format!("{class} within another"));
        }
        self.within.push(ANYTHING.into());
        let item = self.pointer("TObject");
        self.within.pop();
        let item = match native {
            Native::Map => {
                let item = item?;
                Layout::Tuple(vec![item.clone(), item])
            }
            // Each item has an option, as text.
            Native::List => {
                Layout::Between(Vec::new(), Box::new(item?), vec![Layout::Passed(Words::new(OPTION))])
            }
            _ => item?,
        };
        self.slots += 1;
        let slot = self.slots;
        let count = Layout::Counter(slot, Box::new(big(DType::Int32)));
        let mut before = vec![native::object_base(), Layout::Text, count];
        if native == Native::ObjArray {
            before.push(Layout::Opaque(4));
        }
        let items = Layout::Counted { slot, flag: false, of: Box::new(item) };
        let of = Layout::Between(before, Box::new(items), Vec::new());
        Ok(framed(vec![(When::Any, of)]))
    }

    /// A class that code of its own streams without a frame.
    fn bare(&mut self, class: &str) -> Result<Option<Layout>, Unsupported> {
        let layouts = self.file.versions(class).map_err(|error| error.to_string())?;
        let Some(layout) = layouts.first().filter(|layout| layout.info.version == table::ANY_VERSION) else {
            return Ok(None);
        };
        let info = &layout.info;
        // The counter of a member is to be there.
        let is_missing = |counter: &Counter| counter.class != info.class && !self.describes(&counter.class);
        match info.elements.iter().filter_map(Element::counter).any(is_missing) {
            true => Ok(Some(Layout::Unknown(class.into()))),
            false => self.record(layout).map(Some),
        }
    }

    /// An object without a frame, of a version that is known.
    pub fn unframed(&mut self, class: &str, version: i32, checksum: u32) -> Result<Layout, Unsupported> {
        if let Some(schema) = native::schema(class, table::native(class)) {
            return Ok(schema);
        }
        if let Some(container) = self.file.container(class).map_err(|error| error.to_string())? {
            return self.container(&container, &[]);
        }
        let checksum = Some(checksum).filter(|&checksum| checksum != 0);
        match self.file.describe(class, version, checksum).map_err(|error| error.to_string())? {
            Some(layout) => self.record(&layout),
            None => Err(format!("{class}, which the file does not describe")),
        }
    }

    /// The versions of a class that the file describes, the latest first; the others deliver what that does.
    /// None if the file does not describe it.
    fn versions(&mut self, class: &str) -> Result<Vec<(When, Layout)>, Unsupported> {
        let mut layouts = self.file.versions(class).map_err(|error| error.to_string())?;
        if let [only] = layouts.as_slice()
            && only.info.version == table::ANY_VERSION
        {
            return Ok(vec![(When::Any, self.record(only)?)]);
        }
        let mut numbers: Vec<i32> = layouts.iter().map(|layout| layout.info.version).collect();
        numbers.sort_unstable();
        // A version that several infos have says nothing: ROOT lists the classes of the program that wrote
        // last first.
        if numbers.windows(2).all(|pair| pair[0] != pair[1]) {
            layouts.sort_by_key(|layout| std::cmp::Reverse(layout.info.version));
        }
        let Some(first) = layouts.first() else {
            return self.sibling(class);
        };
        let mut latest = self.record(first)?;
        // One that cannot be read, or not as the latest, is a fault where it is met.
        let mut older = Vec::new();
        for layout in &layouts[1..] {
            if let Ok(record) = self.record(layout) {
                evolve::mix(&record, &mut latest);
                older.push((&layout.info, record));
            }
        }
        let mut arms = Vec::new();
        let (mut versions, mut sums) = (Vec::new(), Vec::new());
        let mut add = |arms: &mut Vec<(When, Layout)>, info: &StreamerInfo, schema: Layout| {
            let version = u16::try_from(info.version).ok().filter(|version| !versions.contains(version));
            let sum = Some(info.checksum).filter(|sum| *sum != 0 && !sums.contains(sum));
            versions.extend(version);
            sums.extend(sum);
            // One arm for both: schemas within schemas must not double at each level.
            let when = match (version, sum) {
                (Some(version), Some(sum)) => When::Class(version, sum),
                (Some(version), None) => When::Version(version),
                (None, Some(sum)) => When::Checksum(sum),
                (None, None) => return,
            };
            arms.push((when, schema));
        };
        add(&mut arms, &first.info, latest.clone());
        for (info, record) in older {
            if let Some(schema) = evolve::read_as(&record, &latest) {
                add(&mut arms, info, schema);
            }
        }
        Ok(arms)
    }

    /// A class of a template, as others of the same template: if there are several, and all have the same
    /// members, none of a type that is an argument of theirs. Nothing else could tell that the members are
    /// the same here.
    fn sibling(&mut self, class: &str) -> Result<Vec<(When, Layout)>, Unsupported> {
        let Some((template, _)) = class.split_once('<') else { return Ok(Vec::new()) };
        let is_sibling = |name: &str| name.split_once('<').is_some_and(|(known, _)| known == template);
        let names = self.file.streamers.classes().map(|(name, _)| name.to_owned());
        let mut names: Vec<String> = names.filter(|name| is_sibling(name)).collect();
        names.sort_unstable();
        names.dedup();
        names.truncate(MAX_SIBLINGS);
        if names.len() < 2 {
            return Ok(Vec::new());
        }
        let mut found: Option<Layout> = None;
        for name in names {
            let infos = self.file.streamers.versions(&name).map_err(|error| error.to_string())?;
            for info in infos {
                if info.elements.iter().any(|element| depends(element, &name)) {
                    return Ok(Vec::new());
                }
                let Ok(Layout::Record { fields, .. }) = self.record(&self.file.of(&info)) else {
                    return Ok(Vec::new());
                };
                let record = Layout::Record { name: Some(class.into()), fields };
                if found.as_ref().is_some_and(|known| *known != record) {
                    return Ok(Vec::new());
                }
                found = Some(record);
            }
        }
        Ok(found.map(|record| (When::AnyClass, record)).into_iter().collect())
    }

    /// Whether there is an info of a class.
    fn describes(&self, class: &str) -> bool {
        table::is_described(&self.file.streamers, class)
    }
}

/// Whether the type of a member is, or has in it, an argument of the template that the class is of.
fn depends(element: &Element, class: &str) -> bool {
    let arguments = class.split_once('<').map_or("", |(_, rest)| rest.trim_end_matches('>'));
    let of = if element.is_base() { &element.name } else { &element.type_name };
    let plain = |text: &str| text.replace(' ', "");
    let of = plain(of);
    let parts = arguments.split([',', '<', '>']).map(plain).filter(|part| !part.is_empty());
    let is_part = |part: &String| of.split([',', '<', '>', '*', '&']).any(|word| word == part);
    parts.into_iter().any(|part| is_part(&part))
}

/// A value behind a byte count and a version that means nothing.
fn shared(of: Layout) -> Layout {
    Layout::Framed { shared: true, of: Box::new(Layout::Versioned(vec![(When::Any, of)])) }
}

fn framed(arms: Vec<(When, Layout)>) -> Layout {
    Layout::Framed { shared: false, of: Box::new(Layout::Versioned(arms)) }
}

/// An array of these dimensions, or the value itself if there are none.
#[must_use]
pub fn fixed(schema: Layout, dimensions: &[impl Copy + Into<u64>]) -> Layout {
    dimensions.iter().rev().fold(schema, |inner, &size| Layout::Fixed(size.into(), Box::new(inner)))
}

/// Numbers of a class, as a record of one or a list.
fn big(dtype: DType) -> Layout {
    Layout::Number(Encoding::Big(dtype))
}

/// The word in the list of classes for any class.
const ANYTHING: &str = "TObject*";
/// The option behind an item of a list.
const OPTION: &str = "data B-> stack dup 255 = if drop data !I-> stack then data skip";
/// Classes of one template that are compared.
const MAX_SIBLINGS: usize = 16;
