//! Objects, their bases, and those that code of their own streams.

use std::mem::take;
use std::sync::Arc;

use forthwith_plan::{Error, Result};

use super::place::{Place, flag, whole};
use super::plain::Values;
use super::writer::Writer;
use super::{Given, GivenObject};
use crate::class::{Base, Layout, Native, StoredBase, Value, known};
use crate::cpp::tidy;
use crate::write::{STL_VERSION, described_class};

impl Writer<'_> {
    /// An object, of whatever class its place says.
    pub(super) fn whole(&mut self, class: &str, object: &GivenObject) -> Result<()> {
        if object.members.contains_key(NOT_READ) {
            let what = format!("writing an object of class {class} that was not understood when it was read");
            return Err(Error::unsupported(what));
        }
        let outer = take(&mut self.names);
        let done = self.class(class, object);
        let names = std::mem::replace(&mut self.names, outer);
        done?;
        let unknown = |name: &&String| !names.contains(&***name) && !OF_ALL.contains(&&***name);
        match object.members.keys().find(unknown) {
            None => Ok(()),
            Some(name) => {
                let what = format!("an object with a member {name}, which class {class} does not have");
                Err(Error::invalid(what))
            }
        }
    }

    /// An object without a place for a pointer before it.
    pub(super) fn in_place(&mut self, at: &Place<'_>, class: &str, value: &Given) -> Result<()> {
        match (known(class), value) {
            (Native::Text, Given::Text(text)) => {
                self.buffer.string(text);
                Ok(())
            }
            (
                Native::Numbers(basic),
                Given::Numbers(_) | Given::Integers(_) | Given::List(_) | Given::Null,
            ) => {
                let values = Values::of(value);
                self.buffer.count(values.len());
                self.numbers(at, basic, &values)
            }
            (_, Given::Object(object)) if tidy(&object.class) == tidy(class) => {
                self.written.entry(object.number).or_insert(None);
                self.whole(class, object)
            }
            (_, Given::Object(object)) => {
                let found = format!("an object of class {}", object.class);
                Err(at.invalid(format!("is {found}, and has to be one of class {class}")))
            }
            (_, Given::Named(members)) => {
                let members = members.clone();
                let object = GivenObject { class: class.into(), members, number: u32::MAX };
                self.whole(class, &object)
            }
            (_, other) => Err(at.wrong(&format!("an object of class {class}"), other)),
        }
    }

    /// An object behind a pointer.
    pub(super) fn pointer(&mut self, at: &Place<'_>, value: &Given) -> Result<()> {
        match value {
            Given::Null => self.buffer.null(),
            Given::Again(number) => match self.written.get(number) {
                Some(Some(place)) => self.buffer.reference(*place),
                Some(None) => {
                    return Err(at.unsupported("a pointer to an object that is a part of another one"));
                }
                None => return Err(at.invalid(format!("means object {number}, which is not written before"))),
            },
            Given::Object(object) => {
                self.written.insert(object.number, Some(self.buffer.place() + 2));
                return self.byte_counted(|writer| {
                    writer.buffer.class(&object.class);
                    writer.whole(&object.class, object)
                });
            }
            other => return Err(at.wrong("an object or nothing", other)),
        }
        Ok(())
    }

    /// The part of an object that a class says how to write: all of it, or a base.
    fn class(&mut self, class: &str, object: &GivenObject) -> Result<()> {
        if self.depth >= DEEPEST {
            let what = format!("objects within each other, more than {DEEPEST} deep");
            return Err(Error::unsupported(what));
        }
        self.depth += 1;
        let done = self.class_below(class, object);
        self.depth -= 1;
        done
    }

    fn class_below(&mut self, class: &str, object: &GivenObject) -> Result<()> {
        let native = known(class);
        match native {
            Native::TObject => self.tobject(object),
            Native::Numbers(_) => {
                self.names.extend([class.into(), "fArray".into()]);
                let at = Place::of(class, class, object);
                let value = at.member().or_else(|_| Place::of(class, "fArray", object).member())?;
                self.in_place(&at, class, value)
            }
            Native::List if matches!(class, "TList" | "THashList") => {
                self.collection(class, 5, object, |writer, at, item| {
                    writer.pointer(at, item)?;
                    // How it is drawn.
                    writer.buffer.string("");
                    Ok(())
                })
            }
            Native::ObjArray => self.collection(class, 3, object, Self::pointer),
            Native::Clones => self.clones(class, object),
            Native::Map => self.collection(class, 3, object, |writer, at, item| match item {
                Given::List(pair) if pair.len() == 2 => {
                    pair.iter().try_for_each(|half| writer.pointer(at, half))
                }
                other => Err(at.wrong("a list of two objects", other)),
            }),
            // ROOT reads those without a byte count also with one.
            Native::ByInfo | Native::Own | Native::Bare | Native::Uncounted => {
                let Some(layout) = self.layout(class)? else {
                    let what = format!("writing objects of class {class}, which the file does not describe");
                    return Err(Error::unsupported(what));
                };
                match native {
                    Native::Bare => self.members(&layout, object),
                    _ => self.framed(&layout.info, |writer| writer.members(&layout, object)),
                }
            }
            _ => Err(Error::unsupported(format!("writing objects of class {class}"))),
        }
    }

    /// The layout that objects of a class are written by: ROOT's own classes as ROOT has them now, others in the highest
    /// version that is described.
    fn layout(&self, class: &str) -> Result<Option<Arc<Layout>>> {
        if let Some(info) = described_class(class) {
            return Ok(Some(self.layouts.of(&info)));
        }
        let latest = self.layouts.latest(class)?;
        match (known(class), latest) {
            (Native::Own | Native::Bare, Some(latest)) => {
                self.layouts.describe(class, latest.info.version, None)
            }
            // No version stands before them.
            (Native::Bare, None) => self.layouts.describe(class, 1, None),
            (_, latest) => Ok(latest),
        }
    }

    fn collection(
        &mut self,
        class: &str,
        version: i16,
        object: &GivenObject,
        mut each: impl FnMut(&mut Self, &Place<'_>, &Given) -> Result<()>,
    ) -> Result<()> {
        let (items, name) = self.collected(class, object)?;
        let at = Place::of(class, "items", object);
        self.frame(version, |writer| {
            writer.tobject(object)?;
            writer.buffer.string(name);
            writer.buffer.count(items.len());
            if class == "TObjArray" {
                writer.buffer.i32(0);
            }
            items.iter().try_for_each(|item| each(writer, &at, item))
        })
    }

    /// An array of objects of one class, one object after the other: ROOT reads these as well as those that it writes member by
    /// member.
    fn clones(&mut self, class: &str, object: &GivenObject) -> Result<()> {
        let (items, name) = self.collected(class, object)?;
        let at = Place::of(class, "items", object);
        let first = items.iter().find_map(|item| match item {
            Given::Object(item) => Some(&*item.class),
            _ => None,
        });
        let Some(of) = first else {
            return Err(at.unsupported("an array of objects without any, whose class nothing says"));
        };
        let Some(layout) = self.layout(of)? else {
            return Err(at.unsupported(&format!("objects of class {of}, which the file does not describe")));
        };
        self.frame(4, |writer| {
            writer.tobject_with(object, MEMBER_BY_MEMBER)?;
            writer.buffer.string(name);
            writer.buffer.string(format!("{of};{}", layout.info.version));
            writer.buffer.count(items.len());
            writer.buffer.i32(0);
            items.iter().try_for_each(|item| {
                writer.buffer.bool(*item != Given::Null);
                if *item == Given::Null { Ok(()) } else { writer.in_place(&at, of, item) }
            })
        })
    }

    /// The items of a collection, and its name.
    fn collected<'o>(&mut self, class: &str, object: &'o GivenObject) -> Result<(&'o [Given], &'o str)> {
        // ROOT's own JSON has other names for them.
        self.names.extend(["items", "arr", "fName", "name"].map(Box::from));
        let of = |name, other| object.members.get(name).or_else(|| object.members.get(other));
        let items = match of("items", "arr") {
            Some(Given::List(items)) => &**items,
            None | Some(Given::Null) => &[],
            Some(Given::Integers(none)) if none.is_empty() => &[],
            Some(other) => return Err(Place::of(class, "items", object).wrong("a list", other)),
        };
        match of("fName", "name") {
            Some(Given::Text(name)) => Ok((items, name)),
            None => Ok((items, "")),
            Some(other) => Err(Place::of(class, "fName", object).wrong("a text", other)),
        }
    }

    fn members(&mut self, layout: &Layout, object: &GivenObject) -> Result<()> {
        for (element, member) in layout.members() {
            let at = Place::of_element(&layout.info.class, element, object);
            match &member.value {
                Value::Base(base) => self.base(&at, base, object)?,
                Value::TObject if member.array.is_none() && !object.members.contains_key(at.name) => {
                    self.tobject(object)?;
                }
                Value::Only(of, when, value) => {
                    self.names.insert(at.name.into());
                    if flag(&at, at.counter(of)?)? == *when {
                        let given = at.member()?;
                        self.one(&at, value, given)?;
                    }
                }
                _ => {
                    let given = self.given(&at)?;
                    self.value(&at, member, given)?;
                }
            }
        }
        Ok(())
    }

    /// What is given as a member. There is one of each name, unless it is told of which class it is.
    fn given<'o>(&mut self, at: &Place<'o>) -> Result<&'o Given> {
        if let Some((name, value)) = at.member_of_class() {
            if !self.names.insert(name.into()) {
                return Err(
                    at.unsupported("several bases have it, and a dict does not tell which of them is meant")
                );
            }
            return Ok(value);
        }
        let value = at.member()?;
        if !self.names.insert(at.name.into()) {
            let (class, name) = (at.class, at.name);
            let what =
                format!("has another one of its name in the same object: {class}::{name} has to be given");
            return Err(at.invalid(what));
        }
        Ok(value)
    }

    fn base(&mut self, at: &Place<'_>, base: &Base, object: &GivenObject) -> Result<()> {
        match &base.stored {
            StoredBase::Nothing => Ok(()),
            StoredBase::TObject => self.tobject(object),
            StoredBase::Whole | StoredBase::Members { .. } => self.class(at.name, object),
            StoredBase::Container(item) => {
                let value = self.given(at)?;
                self.frame(STL_VERSION, |writer| writer.item(at, item, &at.kind(), value))
            }
            StoredBase::Framed => {
                Err(at.unsupported("a base of this class, which the file does not describe"))
            }
        }
    }

    fn tobject(&mut self, object: &GivenObject) -> Result<()> {
        self.tobject_with(object, 0)
    }

    /// The same without some bits.
    fn tobject_with(&mut self, object: &GivenObject, without: u32) -> Result<()> {
        let of = |name| match object.members.get(name) {
            Some(value) => whole(&Place::of("TObject", name, object), value),
            None => Ok(0),
        };
        let (id, bits) = (of("fUniqueID")?, of("fBits")?);
        // Bits of the moment: that it is in memory, and has not been deleted.
        self.buffer.tobject(id as u32, bits as u32 & !(0x0300_0000 | without));
        Ok(())
    }
}

/// Members that any object may be given with: those of a `TObject`, and the name that it has as a key.
const OF_ALL: [&str; 3] = ["fUniqueID", "fBits", "fName"];
/// What stands for the members of an object that was not understood.
const NOT_READ: &str = "unread";
/// The bit of a `TClonesArray` whose objects are stored member by member.
const MEMBER_BY_MEMBER: u32 = 1 << 12;
/// Objects within each other that readers follow.
const DEEPEST: u32 = 90;
