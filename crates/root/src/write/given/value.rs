//! Values of members: the walk over what a class's layout says of them.

use forthwith_plan::{Error, ErrorKind, Result};

use super::defaults::defaults;
use super::number::{Values, stored, whole};
use super::object::Writer;
use super::{Given, GivenObject};
use crate::class::{Member, Numbers, Value};
use crate::cpp::{Basic, CppType};
use crate::streamer::{Counter, Element};
use crate::write::Buffer;

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
    fn count(&self, counter: &Counter) -> Result<usize> {
        let count = whole(self, self.counter(counter)?)?;
        usize::try_from(count)
            .map_err(|_| self.invalid(format!("has {count} items, as {} says", counter.name)))
    }

    /// As many as other members say.
    fn expect(&self, values: &Values<'_>, expected: usize, counter: &Counter) -> Result<()> {
        if values.len() == expected {
            return Ok(());
        }
        let what = format!("has {} numbers, and {} says {expected}", values.len(), counter.name);
        Err(self.invalid(what))
    }

    pub(super) fn wrong(&self, expected: &str, found: &Given) -> Error {
        self.invalid(format!("is {}, and has to be {expected}", found.name()))
    }

    pub(super) fn no_room(&self, given: i128) -> Error {
        let (class, name) = (self.class, self.name);
        let what = format!("{given} as member {name} of class {class}, which has no room for it");
        Error::new(ErrorKind::Invalid { what })
    }

    pub(super) fn invalid(&self, what: String) -> Error {
        let what = format!("member {} of class {} {what}", self.name, self.class);
        Error::new(ErrorKind::Invalid { what })
    }

    pub(super) fn unsupported(&self, what: &str) -> Error {
        Error::unsupported(format!("writing member {} of class {}: {what}", self.name, self.class))
    }
}

/// The member of an object, or what it is if it is left out.
fn find<'o>(object: &'o GivenObject, class: &str, name: &str) -> Result<&'o Given> {
    object.members.get(name).or_else(|| defaults().get(name)).ok_or_else(|| {
        let what = format!("an object of class {} without member {name} of class {class}", object.class);
        Error::new(ErrorKind::Invalid { what })
    })
}

impl Writer<'_> {
    /// A member, or as many of it as an array has.
    pub(super) fn value(
        &mut self,
        buffer: &mut Buffer,
        at: &Place<'_>,
        member: &Member,
        value: &Given,
    ) -> Result<()> {
        match member.array {
            None => self.one(buffer, at, &member.value, value),
            Some(length) => self.several(buffer, at, member, length as usize, value),
        }
    }

    pub(super) fn one(
        &mut self,
        buffer: &mut Buffer,
        at: &Place<'_>,
        how: &Value,
        value: &Given,
    ) -> Result<()> {
        match how {
            Value::Number(numbers) => stored(buffer, at, numbers, value),
            Value::Counted(..) | Value::CountedTexts(_) | Value::Loop { .. } => {
                self.counted(buffer, at, how, 1, value)
            }
            Value::Repeated(numbers, counter, times) => {
                let values = Values::of(value);
                at.expect(&values, at.count(counter)?.saturating_mul(*times as usize), counter)?;
                self.stored_numbers(buffer, at, numbers, &values)
            }
            Value::Sized(numbers) => {
                let values = Values::of(value);
                buffer.count(values.len());
                self.stored_numbers(buffer, at, numbers, &values)
            }
            Value::Triangle(numbers, counter) => {
                self.triangle(buffer, at, numbers, at.count(counter)?, value)
            }
            Value::Area(numbers, sides) => {
                let values = Values::of(value);
                let all = at.count(&sides[0])?.saturating_mul(at.count(&sides[1])?);
                at.expect(&values, all, &sides[0])?;
                self.stored_numbers(buffer, at, numbers, &values)
            }
            Value::Table(width) => {
                let texts = Values::of(value);
                let width = (*width).max(1) as usize;
                if !texts.len().is_multiple_of(width) {
                    return Err(at.invalid(format!("has {} texts, and rows are of {width}", texts.len())));
                }
                buffer.count(texts.len() / width);
                (0..texts.len()).try_for_each(|index| text(buffer, at, &texts.at(index)))
            }
            Value::Pointers(counter) => {
                let items = items(at, value)?;
                if items.len() != at.count(counter)? {
                    return Err(at.invalid(format!("has {} items, unlike {}", items.len(), counter.name)));
                }
                items.iter().try_for_each(|item| self.pointer(buffer, at, item))
            }
            Value::Bits => {
                let bits = whole(at, value)?;
                buffer.u32(bits as u32 & !crate::record::IS_REFERENCED);
                Ok(())
            }
            Value::Text => text(buffer, at, value),
            Value::LongText => long_text(buffer, at, value),
            Value::StdText => buffer.frame(STL_VERSION, |buffer| text(buffer, at, value)),
            Value::Container(item) => {
                buffer.frame(STL_VERSION, |buffer| self.item(buffer, at, item, &at.kind(), value))
            }
            Value::Whole(item) | Value::Bare(item) | Value::Item(item) => {
                self.item(buffer, at, item, &at.kind(), value)
            }
            Value::Array(array) => self.value(buffer, at, array, value),
            Value::TObject => self.in_place(buffer, at, "TObject", value),
            Value::Object(class) => self.in_place(buffer, at, class, value),
            Value::Pointer(_) => self.pointer(buffer, at, value),
            Value::Process => Err(at.unsupported("a reference to an object of a process")),
            Value::Rows(..) | Value::Seeks(_) => Err(at.unsupported("what only code of its class writes")),
            Value::Base(_) | Value::Only(..) | Value::Words(..) | Value::Framed | Value::Unsupported => {
                Err(at.unsupported("nothing says how it is stored"))
            }
        }
    }

    fn several(
        &mut self,
        buffer: &mut Buffer,
        at: &Place<'_>,
        member: &Member,
        length: usize,
        value: &Given,
    ) -> Result<()> {
        let how = &member.value;
        match (how, value) {
            (Value::Counted(..) | Value::CountedTexts(_) | Value::Loop { .. }, _) => {
                return self.counted(buffer, at, how, length, value);
            }
            (Value::Number(Numbers { basic: Some(Basic::I8 | Basic::U8), .. }), Given::Text(text)) => {
                // An array of characters, of which those behind the text are 0.
                if text.len() > length {
                    return Err(at.invalid(format!("has {} letters, and room for {length}", text.len())));
                }
                buffer.extend(text.as_bytes());
                (text.len()..length).for_each(|_| buffer.u8(0));
                return Ok(());
            }
            (Value::Number(numbers), _) => {
                let values = Values::of(value);
                if values.len() != length {
                    let what = format!("has {} numbers instead of {length}", values.len());
                    return Err(at.invalid(what));
                }
                return self.stored_numbers(buffer, at, numbers, &values);
            }
            _ => {}
        }
        // Lists in lists for arrays in arrays.
        let mut all: Vec<&Given> = items(at, value)?.iter().collect();
        for _ in 1..member.dimensions.len() {
            let rows: Result<Vec<&[Given]>> = all.into_iter().map(|row| items(at, row)).collect();
            all = rows?.into_iter().flatten().collect();
        }
        if all.len() != length {
            return Err(at.invalid(format!("has {} items instead of {length}", all.len())));
        }
        match how {
            Value::Text | Value::StdText => {
                buffer.frame(STL_VERSION, |buffer| all.iter().try_for_each(|item| text(buffer, at, item)))
            }
            Value::Container(item) => buffer.frame(STL_VERSION, |buffer| {
                all.iter().try_for_each(|value| self.item(buffer, at, item, &at.kind(), value))
            }),
            how => all.iter().try_for_each(|value| self.one(buffer, at, how, value)),
        }
    }

    /// As many as another member says, times the length of an array of such.
    fn counted(
        &mut self,
        buffer: &mut Buffer,
        at: &Place<'_>,
        how: &Value,
        times: usize,
        value: &Given,
    ) -> Result<()> {
        let (Value::Counted(_, counter) | Value::CountedTexts(counter) | Value::Loop { counter, .. }) = how
        else {
            return Err(at.unsupported("nothing counts it"));
        };
        let expected = at.count(counter)?.saturating_mul(times);
        let values = Values::of(value);
        match how {
            Value::Loop { class, pointers, .. } => {
                at.expect(&values, expected, counter)?;
                buffer.frame(STL_VERSION, |buffer| {
                    (0..expected).try_for_each(|index| match pointers {
                        true => self.pointer(buffer, at, &values.at(index)),
                        false => self.in_place(buffer, at, class, &values.at(index)),
                    })
                })
            }
            // There may be no array, whatever counts it.
            _ if *value == Given::Null => {
                buffer.bool(false);
                Ok(())
            }
            Value::Counted(numbers, _) => {
                at.expect(&values, expected, counter)?;
                buffer.bool(expected > 0);
                self.stored_numbers(buffer, at, numbers, &values)
            }
            _ => {
                at.expect(&values, expected, counter)?;
                buffer.bool(expected > 0);
                (0..expected).try_for_each(|index| long_text(buffer, at, &values.at(index)))
            }
        }
    }

    /// The upper right half of a square matrix that is given whole, or that half.
    fn triangle(
        &mut self,
        buffer: &mut Buffer,
        at: &Place<'_>,
        numbers: &Numbers,
        rows: usize,
        value: &Given,
    ) -> Result<()> {
        let values = Values::of(value);
        let (all, half) = (rows.saturating_mul(rows), rows.saturating_mul(rows.saturating_add(1)) / 2);
        if values.len() == half {
            return self.stored_numbers(buffer, at, numbers, &values);
        }
        if values.len() != all {
            let what = format!(
                "has {} numbers, and a matrix of {rows} rows has {all} or half of them",
                values.len()
            );
            return Err(at.invalid(what));
        }
        let mut places = (0..rows).flat_map(|row| (row..rows).map(move |column| row * rows + column));
        places.try_for_each(|place| stored(buffer, at, numbers, &values.at(place)))
    }
}

/// The items of a list.
fn items<'g>(at: &Place<'_>, value: &'g Given) -> Result<&'g [Given]> {
    match value {
        Given::List(items) => Ok(items),
        other => Err(at.wrong("a list", other)),
    }
}

/// A text behind its length.
pub(super) fn text(buffer: &mut Buffer, at: &Place<'_>, value: &Given) -> Result<()> {
    match value {
        Given::Text(text) => {
            buffer.string(text);
            Ok(())
        }
        other => Err(at.wrong("a text", other)),
    }
}

/// A text behind four bytes of length.
pub(super) fn long_text(buffer: &mut Buffer, at: &Place<'_>, value: &Given) -> Result<()> {
    match value {
        Given::Text(text) => {
            buffer.count(text.len());
            buffer.extend(text.as_bytes());
            Ok(())
        }
        Given::Null => {
            buffer.count(0);
            Ok(())
        }
        other => Err(at.wrong("a text", other)),
    }
}

/// The version that stands before a container's items.
pub(super) const STL_VERSION: i16 = 10;
