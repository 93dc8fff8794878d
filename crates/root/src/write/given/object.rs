//! Serialisation of objects, of their bases, and of classes that ROOT streams by their own code.

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
    /// Appends an object of a class; fails if it has members that the class lacks.
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

    /// Appends an object that is not the target of a pointer: a member, a base or an item.
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

    /// Appends a pointer: null, a reference, or an object with its class tag.
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

    /// Appends the members of an object that a class has: all of the object, or a base.
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
                    // The object's draw option.
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
            // ROOT accepts a byte count also for classes that it writes without one.
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

    /// Returns the layout by which objects of a class are written: ROOT's own classes in the version of ROOT
    /// that is written, others in the highest version that is described.
    fn layout(&self, class: &str) -> Result<Option<Arc<Layout>>> {
        if let Some(info) = described_class(class) {
            return Ok(Some(self.layouts.of(&info)));
        }
        let latest = self.layouts.latest(class)?;
        match (known(class), latest) {
            (Native::Own | Native::Bare, Some(latest)) => {
                self.layouts.describe(class, latest.info.version, None)
            }
            // Their objects have no version.
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

    /// Appends a `TClonesArray` object by object, which ROOT reads as well as the member-wise form that it
    /// writes.
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

    /// Returns the items and the name of a collection.
    fn collected<'o>(&mut self, class: &str, object: &'o GivenObject) -> Result<(&'o [Given], &'o str)> {
        // ROOT's own JSON names them `arr` and `name`.
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

    /// Returns the value of a member. Fails if another class of the object has a member of this name, unless
    /// the name is qualified.
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

    /// Appends a `TObject` without the status bits `without`.
    fn tobject_with(&mut self, object: &GivenObject, without: u32) -> Result<()> {
        let of = |name| match object.members.get(name) {
            Some(value) => whole(&Place::of("TObject", name, object), value),
            None => Ok(0),
        };
        let (id, bits) = (of("fUniqueID")?, of("fBits")?);
        // `kIsOnHeap` and `kNotDeleted` only describe an object in memory.
        self.buffer.tobject(id as u32, bits as u32 & !(0x0300_0000 | without));
        Ok(())
    }
}

/// Members that any object may have: those of a `TObject`, and the name that it has as a key.
const OF_ALL: [&str; 3] = ["fUniqueID", "fBits", "fName"];
/// Key among the members of an object that could not be read.
const NOT_READ: &str = "unread";
/// `TClonesArray::kBypassStreamer`: the objects are stored member-wise.
const MEMBER_BY_MEMBER: u32 = 1 << 12;
/// Upper bound on the depth of nested objects that readers follow.
const DEEPEST: u32 = 90;
