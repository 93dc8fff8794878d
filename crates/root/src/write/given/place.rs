//! Members by their places in classes: how they are found, and how errors name them.

use forthwith_plan::{Error, Result};

use super::defaults::defaults;
use super::{Given, GivenObject};
use crate::cpp::CppType;
use crate::streamer::{Counter, Element};

/// A member of a class, as errors name it and as those that it depends on are found.
pub(super) struct Place<'o> {
    pub(super) class: &'o str,
    pub(super) name: &'o str,
    /// The type of the member, if an element says it.
    type_name: &'o str,
    /// The type of the part of the member that is meant, if that is not all of it.
    part: Option<&'o CppType>,
    /// The object that the member belongs to.
    object: &'o GivenObject,
}

impl<'o> Place<'o> {
    pub(super) fn of(class: &'o str, name: &'o str, object: &'o GivenObject) -> Self {
        Self { class, name, type_name: "", part: None, object }
    }

    pub(super) fn of_element(class: &'o str, element: &'o Element, object: &'o GivenObject) -> Self {
        let type_name = if element.is_base() { &element.name } else { &element.type_name };
        Self { class, name: &element.name, type_name, part: None, object }
    }

    /// A part of the member that is of this type.
    pub(super) fn part<'k>(&self, kind: &'k CppType) -> Place<'k>
    where
        'o: 'k,
    {
        Place { part: Some(kind), ..*self }
    }

    /// The type, without a pointer to it.
    pub(super) fn kind(&self) -> CppType {
        match self.part.cloned().unwrap_or_else(|| CppType::parse(self.type_name)) {
            CppType::Pointer(of) => *of,
            kind => kind,
        }
    }

    pub(super) fn member(&self) -> Result<&'o Given> {
        find(self.object, self.class, self.name)
    }

    /// The member where it is told of which class it is.
    pub(super) fn member_of_class(&self) -> Option<(&'o str, &'o Given)> {
        let found = self.object.members.get_key_value(&format!("{}::{}", self.class, self.name))?;
        Some((found.0, found.1))
    }

    /// The value of a member that this one depends on.
    pub(super) fn counter(&self, counter: &Counter) -> Result<&'o Given> {
        let of_class = self.object.members.get(&format!("{}::{}", counter.class, counter.name));
        of_class.map_or_else(|| find(self.object, &counter.class, &counter.name), Ok)
    }

    /// The number of items that another member says this one has.
    pub(super) fn count(&self, counter: &Counter) -> Result<usize> {
        let count = whole(self, self.counter(counter)?)?;
        usize::try_from(count)
            .map_err(|_| self.invalid(format!("has {count} items, as {} says", counter.name)))
    }

    pub(super) fn wrong(&self, expected: &str, found: &Given) -> Error {
        self.invalid(format!("is {}, and has to be {expected}", found.name()))
    }

    pub(super) fn no_room(&self, given: i128) -> Error {
        let (class, name) = (self.class, self.name);
        Error::invalid(format!("{given} as member {name} of class {class}, which has no room for it"))
    }

    pub(super) fn invalid(&self, what: String) -> Error {
        Error::invalid(format!("member {} of class {} {what}", self.name, self.class))
    }

    pub(super) fn unsupported(&self, what: &str) -> Error {
        Error::unsupported(format!("writing member {} of class {}: {what}", self.name, self.class))
    }
}

/// The member of an object, or what it is if it is left out.
fn find<'o>(object: &'o GivenObject, class: &str, name: &str) -> Result<&'o Given> {
    object.members.get(name).or_else(|| defaults().get(name)).ok_or_else(|| {
        Error::invalid(format!("an object of class {} without member {name} of class {class}", object.class))
    })
}

pub(super) fn whole(at: &Place<'_>, value: &Given) -> Result<i64> {
    fit(at, value)
}

/// A truth value: any number but 0.
pub(super) fn flag(at: &Place<'_>, value: &Given) -> Result<bool> {
    Ok(whole(at, value)? != 0)
}

/// A whole number of a type that has room for it.
pub(super) fn fit<T: TryFrom<i128>>(at: &Place<'_>, value: &Given) -> Result<T> {
    let given = match *value {
        Given::Int(value) => i128::from(value),
        Given::Unsigned(value) => i128::from(value),
        Given::Float(value) if value.fract() == 0.0 && value.abs() < 2e19 => value as i128,
        ref other => return Err(at.wrong("a whole number", other)),
    };
    T::try_from(given).map_err(|_| at.no_room(given))
}

pub(super) fn float(at: &Place<'_>, value: &Given) -> Result<f64> {
    match *value {
        Given::Int(value) => Ok(value as f64),
        Given::Unsigned(value) => Ok(value as f64),
        Given::Float(value) => Ok(value),
        ref other => Err(at.wrong("a number", other)),
    }
}
