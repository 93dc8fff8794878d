//! Look-up of members by class and name, and their names in errors.

use forthwith_plan::{Error, Result};

use super::defaults::defaults;
use super::{Given, GivenObject};
use crate::cpp::CppType;
use crate::streamer::{Counter, Element};

/// A member of a class in an object, to look up it and its counters, and for errors.
pub(super) struct Place<'o> {
    pub(super) class: &'o str,
    pub(super) name: &'o str,
    /// Type of the member; empty if it is not described by an element.
    type_name: &'o str,
    /// Type of the part of the member that is being written; `None` for the whole member.
    part: Option<&'o CppType>,
    /// The object that has the member.
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

    /// Returns the same member, restricted to a part of this type.
    pub(super) fn part<'k>(&self, kind: &'k CppType) -> Place<'k>
    where
        'o: 'k,
    {
        Place { part: Some(kind), ..*self }
    }

    /// Returns the type of the member or part; that of a pointer's target.
    pub(super) fn kind(&self) -> CppType {
        match self.part.cloned().unwrap_or_else(|| CppType::parse(self.type_name)) {
            CppType::Pointer(of) => *of,
            kind => kind,
        }
    }

    pub(super) fn member(&self) -> Result<&'o Given> {
        find(self.object, self.class, self.name)
    }

    /// Returns the qualified name and the value of the member, if it is given by its qualified name.
    pub(super) fn member_of_class(&self) -> Option<(&'o str, &'o Given)> {
        let found = self.object.members.get_key_value(&format!("{}::{}", self.class, self.name))?;
        Some((found.0, found.1))
    }

    /// Returns the value of the member that counts the items of this one.
    pub(super) fn counter(&self, counter: &Counter) -> Result<&'o Given> {
        let of_class = self.object.members.get(&format!("{}::{}", counter.class, counter.name));
        of_class.map_or_else(|| find(self.object, &counter.class, &counter.name), Ok)
    }

    /// Returns the number of items that the counter states.
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

/// Returns the value of a member, or its default if it is omitted.
fn find<'o>(object: &'o GivenObject, class: &str, name: &str) -> Result<&'o Given> {
    object.members.get(name).or_else(|| defaults().get(name)).ok_or_else(|| {
        Error::invalid(format!("an object of class {} without member {name} of class {class}", object.class))
    })
}

pub(super) fn whole(at: &Place<'_>, value: &Given) -> Result<i64> {
    fit(at, value)
}

/// Converts a number to a boolean: whether it is not 0.
pub(super) fn flag(at: &Place<'_>, value: &Given) -> Result<bool> {
    Ok(whole(at, value)? != 0)
}

/// Converts a number to an integer type. Fails if it is not an integer or out of range.
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
