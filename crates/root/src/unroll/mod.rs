//! Classes as columns: streamer infos are unrolled to a [`Layout`], from which the shared translator makes a
//! program.
//!
//! A layout is finite, but classes may contain themselves: a [`Budget`] limits how far they are unrolled.
//!
//! `member.rs` handles members, `evolve.rs` reads older versions of a class as the latest, `pointed.rs` lists
//! the classes of the targets of pointers, `written.rs` derives the layout for writing, and `budget.rs`
//! limits recursive classes. A layout describes frames, versions, member-wise items and pointers in general
//! terms (`program/translate/framed.rs`), without other knowledge of ROOT.
//!
//! * Versions of a class may pack a number differently. The numbers are kept as they are stored, each with
//!   its packing, until `columns::Finisher::Mixed` converts them.
//! * The streamer infos determine the possible classes of a pointer's target. The class of each object is
//!   read where the data first name it, by seeking back, so a program keeps no state.
//! * A reference to an object pauses the program. The engine (`engine/objects.rs`) looks up the object among
//!   those read earlier for the same pointer, and `columns::Finisher::Objects` makes the index of rows.

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

/// Unrolls the classes of a file to layouts.
pub struct Classes<'a> {
    file: &'a Layouts,
    /// The classes being unrolled, outermost first.
    within: Vec<Box<str>>,
    /// Those of them that are unrolled within themselves directly.
    again: Vec<Box<str>>,
    /// Remaining budget.
    budget: Budget,
    /// Index in `within` of the first class since the innermost list or pointer.
    value_start: usize,
    /// Number of lists and pointers around the current value.
    indirections: usize,
    /// Number of enclosing classes that contain themselves through others.
    recursions: usize,
    /// Whether these exceeded their number of members.
    recursion_spent: bool,
    /// Whether a class was refused because levels or members of the budget are exhausted.
    cut_short: bool,
    /// Members that count the items of others: class, name and slot.
    counters: Vec<(Box<str>, Box<str>, u32)>,
    slots: u32,
    /// Slot and type of a counter that is in another branch.
    given: Option<(u32, DType)>,
    /// Number of enclosing values that may be of several classes. Nested choices multiply.
    choices: usize,
    /// Maximum number of choices around an array whose class only the data name.
    choices_allowed: usize,
    /// Number of such arrays around the current value.
    named_arrays: usize,
    /// Whether the items of such arrays exceeded their number of members.
    arrays_spent: bool,
    /// Whether bases are stored member-wise, as the file describes them, regardless of their own streamers.
    together: bool,
    /// Whether `together` changed a layout.
    switched: bool,
    /// Class of the items of a `TClonesArray`; empty if only the data name it.
    items: String,
    /// Item classes that the data of arrays name.
    seen: &'a [String],
    /// Observations for the choice of the next budget.
    noted: Option<&'a Noted>,
    /// Cache of [`derived`](Self::derived).
    families: HashMap<Box<str>, Vec<String>>,
}

/// Reason why a type has no layout, as a phrase.
pub type Unsupported = String;

impl<'a> Classes<'a> {
    /// Creates an unroller of the classes that a file describes.
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

    /// Sets the class of the items of a `TClonesArray`, which otherwise only the data name.
    #[must_use]
    pub fn with_items(mut self, class: &str) -> Self {
        self.items = class.into();
        self
    }

    /// Sets the item classes that the data of arrays name, and where observations are recorded. If the file
    /// describes one possible class for an array, the array may also have items of the described classes in
    /// `seen`; if it describes several, only those in `seen` are unrolled, if there are any.
    #[must_use]
    pub fn seeing(mut self, seen: &'a [String], noted: &'a Noted) -> Self {
        (self.seen, self.noted) = (seen, Some(noted));
        self
    }

    /// Returns the layout of a value of some type as a member of a class. Containers and strings have a
    /// frame.
    pub fn member_of(&mut self, kind: &CppType) -> Result<Layout, Unsupported> {
        let item = Arc::new(Item::of(kind, self.file));
        self.stored(&Member::typed(kind, &item))
            .map_err(|why| if why.is_empty() { kind.spelling() } else { why })
    }

    /// Returns the layout of a pair or `std::array` without the frame of an object; of any other type, that
    /// of a member.
    pub fn bare_of(&mut self, kind: &CppType) -> Result<Layout, Unsupported> {
        match Item::of(kind, self.file) {
            Item::Pair(pair) => self.pair(&pair),
            Item::Array(array) => self.stored(&array),
            _ => self.member_of(kind),
        }
    }

    /// Returns the layout of a pair without a frame.
    fn pair(&mut self, pair: &Pair) -> Result<Layout, Unsupported> {
        let [first, second] = self.halves(pair)?;
        let fields = vec![("first".to_owned(), first), ("second".to_owned(), second)];
        Ok(Layout::Record { name: Some(pair.name.to_string()), fields })
    }

    /// Returns the layouts of the two members of a pair, or of all pairs of a map.
    fn halves(&mut self, pair: &Pair) -> Result<[Layout; 2], Unsupported> {
        let [first, second] = &pair.members;
        Ok([self.stored(first)?, self.stored(second)?])
    }

    /// Returns the layout of a container with its frame, or of a fixed array of containers.
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

    /// Returns the layouts of a container's items that are stored member-wise, by class version; `None` if
    /// the items are not objects.
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

    /// Returns the versions of an item that is stored member-wise. `apart` are those of an item that is
    /// stored object-wise.
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
        // A version that cannot be converted is an error for the entries that have it.
        let read = |(when, arm)| {
            evolve::read_as(&arm, wanted).filter(|arm| !arm.lacks_some()).map(|arm| (when, arm))
        };
        Ok(arms?.into_iter().filter_map(read).collect())
    }

    /// Returns the layout of a container's item. Only objects have a frame.
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
            // The frame is that of an object, of which only the items are delivered.
            Item::Array(array) => framed(vec![(When::AnyClass, self.stored(array)?)]),
            Item::Pointer(CppType::Other(class)) => self.pointer(class)?,
            Item::Pointer(kind) => return Err(format!("{}*", kind.spelling())),
            Item::Pair(pair) => framed(vec![(When::AnyClass, self.pair(pair)?)]),
            Item::Memberless(_) => {
                framed(vec![(When::AnyClass, Layout::Record { name: None, fields: Vec::new() })])
            }
            // A class within itself that exceeds the budget is an error for the entries that have such
            // objects.
            Item::Class(class) | Item::Unknown(class) if self.is_own(class) => match self.own(class) {
                Ok(schema) => schema,
                Err(why) => Layout::Refused(why),
            },
            Item::Class(class) | Item::Unknown(class) => self.contained(class)?,
        })
    }

    /// Returns the layout of an object that is not the target of a pointer.
    pub fn object(&mut self, class: &str) -> Result<Layout, Unsupported> {
        if let Some(info) = registered(class) {
            let record = self.record(&self.file.of(&info))?;
            return Ok(match is_unframed(class) {
                // Stored object-wise, even among members that are stored member-wise.
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
            // Files describe the classes that were written to them, so objects of others are unlikely.
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

    /// Returns the layout of a container of pointers to objects of any class.
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
            // Each item has a draw option, as text.
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

    /// Returns the layout of a class that a custom streamer writes without a frame; `None` if this crate does
    /// not know the class without the file.
    fn bare(&mut self, class: &str) -> Result<Option<Layout>, Unsupported> {
        let layouts = self.file.versions(class).map_err(|error| error.to_string())?;
        let Some(layout) = layouts.first().filter(|layout| layout.info.version == table::ANY_VERSION) else {
            return Ok(None);
        };
        let info = &layout.info;
        // The class of a counter has to be described.
        let is_missing = |counter: &Counter| counter.class != info.class && !self.describes(&counter.class);
        match info.elements.iter().filter_map(Element::counter).any(is_missing) {
            true => Ok(Some(Layout::Unknown(class.into()))),
            false => self.record(layout).map(Some),
        }
    }

    /// Returns the layout of an object without a frame, of a known version.
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

    /// Returns the versions of a class that the file describes. The latest is the first, and the others are
    /// converted to it. Empty if the file does not describe the class.
    fn versions(&mut self, class: &str) -> Result<Vec<(When, Layout)>, Unsupported> {
        let mut layouts = self.file.versions(class).map_err(|error| error.to_string())?;
        if let [only] = layouts.as_slice()
            && only.info.version == table::ANY_VERSION
        {
            return Ok(vec![(When::Any, self.record(only)?)]);
        }
        let mut numbers: Vec<i32> = layouts.iter().map(|layout| layout.info.version).collect();
        numbers.sort_unstable();
        // If several infos have the same version, the file's order decides: ROOT lists the classes of the
        // last program that wrote first.
        if numbers.windows(2).all(|pair| pair[0] != pair[1]) {
            layouts.sort_by_key(|layout| std::cmp::Reverse(layout.info.version));
        }
        let Some(first) = layouts.first() else {
            return self.sibling(class);
        };
        let mut latest = self.record(first)?;
        // A version that cannot be read, or not as the latest, is an error for the entries that have it.
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
            // A single arm for version and checksum: two would double nested layouts at each level.
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

    /// Returns the layout of an instance of a class template that the file does not describe. It is derived
    /// from other instances if there are at least two, and all have the same members, whose types do not
    /// depend on the template's arguments; otherwise the result is empty.
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

    /// Whether the file has a streamer info of a class.
    fn describes(&self, class: &str) -> bool {
        table::is_described(&self.file.streamers, class)
    }
}

/// Whether the type of a member is or contains an argument of the class's template.
fn depends(element: &Element, class: &str) -> bool {
    let arguments = class.split_once('<').map_or("", |(_, rest)| rest.trim_end_matches('>'));
    let of = if element.is_base() { &element.name } else { &element.type_name };
    let plain = |text: &str| text.replace(' ', "");
    let of = plain(of);
    let parts = arguments.split([',', '<', '>']).map(plain).filter(|part| !part.is_empty());
    let is_part = |part: &String| of.split([',', '<', '>', '*', '&']).any(|word| word == part);
    parts.into_iter().any(|part| is_part(&part))
}

/// Returns the layout of a value after a byte count and a version that is ignored.
fn shared(of: Layout) -> Layout {
    Layout::Framed { shared: true, of: Box::new(Layout::Versioned(vec![(When::Any, of)])) }
}

fn framed(arms: Vec<(When, Layout)>) -> Layout {
    Layout::Framed { shared: false, of: Box::new(Layout::Versioned(arms)) }
}

/// Returns the layout of an array with these dimensions, or the given one if there are none.
#[must_use]
pub fn fixed(schema: Layout, dimensions: &[impl Copy + Into<u64>]) -> Layout {
    dimensions.iter().rev().fold(schema, |inner, &size| Layout::Fixed(size.into(), Box::new(inner)))
}

/// Returns the layout of big-endian numbers.
fn big(dtype: DType) -> Layout {
    Layout::Number(Encoding::Big(dtype))
}

/// Entry of `within` for an object of any class.
const ANYTHING: &str = "TObject*";
/// Words that skip the draw option after an item of a list.
const OPTION: &str = "data B-> stack dup 255 = if drop data !I-> stack then data skip";
/// Maximum number of instances of a template that are compared.
const MAX_SIBLINGS: usize = 16;
