//! Objects that are given as the values of their members, and written as the description of their class says: what
//! `object/` does, run backwards.

use std::collections::BTreeMap;

use forthwith_plan::{Error, ErrorKind, Result};

use super::{Buffer, described_class};
use crate::cpp::{CppType, Number};
use crate::streamer::{Element, ElementKind, StreamerInfo, code};

/// An object: its class, and the members of the class and its bases by their names.
#[derive(Clone, Debug, PartialEq)]
pub struct GivenObject {
    /// The class.
    pub class: String,
    /// The members. An array that is a base (`TArrayD`) has the name of its class; what a collection holds is called `items`.
    pub members: BTreeMap<String, Given>,
}

/// The value of a member.
#[derive(Clone, Debug, PartialEq)]
pub enum Given {
    /// A pointer to nothing.
    Null,
    /// A whole number.
    Int(i64),
    /// A whole number that needs 64 bits without a sign.
    Unsigned(u64),
    /// Any other number.
    Float(f64),
    /// A text.
    Text(String),
    /// Numbers.
    Numbers(Vec<f64>),
    /// An object, or what a pointer means.
    Object(Box<GivenObject>),
    /// Values one after the other: what a collection holds, or a container.
    List(Vec<Self>),
}

impl Given {
    const fn name(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Int(_) | Self::Unsigned(_) => "a whole number",
            Self::Float(_) => "a number",
            Self::Text(_) => "a text",
            Self::Numbers(_) => "numbers",
            Self::Object(_) => "an object",
            Self::List(_) => "a list",
        }
    }
}

/// Appends an object.
///
/// # Errors
/// A class that is not one of those that [`described_class`] has; a member that is missing, or is not what its class says; more objects
/// within each other than readers follow.
pub(super) fn write_object(buffer: &mut Buffer, object: &GivenObject) -> Result<()> {
    Writer { buffer, depth: 0 }.class(&object.class, object)
}

/// The classes of an object and of all that is in it.
pub(super) fn classes_of(object: &GivenObject) -> Vec<&str> {
    let mut classes = vec![&*object.class];
    let mut rest: Vec<&Given> = object.members.values().collect();
    while let Some(value) = rest.pop() {
        match value {
            Given::Object(inner) => {
                classes.push(&inner.class);
                rest.extend(inner.members.values());
            }
            Given::List(items) => rest.extend(items),
            _ => {}
        }
    }
    classes.sort_unstable();
    classes.dedup();
    classes
}

struct Writer<'b> {
    buffer: &'b mut Buffer,
    depth: u32,
}

impl Writer<'_> {
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
        if let Some(number) = array_of(class) {
            let values = numbers(
                class,
                class,
                member(class, object, class).or_else(|_| member(class, object, "fArray"))?,
            )?;
            self.buffer.count(values.len());
            return values
                .iter()
                .try_for_each(|&value| self.number(number, &Given::Float(value), class, class));
        }
        match class {
            "TObject" => {
                let of = |name| object.members.get(name).map_or(Ok(0), |value| whole(class, name, value));
                let (id, bits) = (of("fUniqueID")?, of("fBits")?);
                // Bits of the moment: that it is in memory, and has not been deleted.
                self.buffer.tobject(id as u32, bits as u32 & !0x0300_0000);
                Ok(())
            }
            "TList" | "THashList" => self.collection(class, 5, object, |writer, item| {
                writer.pointer(class, "items", item)?;
                // How it is drawn.
                writer.buffer.string("");
                Ok(())
            }),
            "TObjArray" => {
                self.collection(class, 3, object, |writer, item| writer.pointer(class, "items", item))
            }
            "TMap" => self.collection(class, 3, object, |writer, item| match item {
                Given::List(pair) if pair.len() == 2 => {
                    pair.iter().try_for_each(|half| writer.pointer(class, "items", half))
                }
                other => Err(wrong(class, "items", "a list of two objects", other)),
            }),
            _ => {
                let Some(info) = described_class(class) else {
                    return Err(Error::unsupported(format!("writing objects of class {class}")));
                };
                let version = i16::try_from(info.version).unwrap_or(0);
                self.framed(version, |writer| {
                    info.elements.iter().try_for_each(|element| writer.element(&info, element, object))
                })
            }
        }
    }

    fn framed(&mut self, version: i16, body: impl FnOnce(&mut Writer<'_>) -> Result<()>) -> Result<()> {
        let depth = self.depth;
        self.buffer.frame(version, |buffer| body(&mut Writer { buffer, depth }))
    }

    fn collection(
        &mut self,
        class: &str,
        version: i16,
        object: &GivenObject,
        mut each: impl FnMut(&mut Writer<'_>, &Given) -> Result<()>,
    ) -> Result<()> {
        let items = match object.members.get("items") {
            Some(Given::List(items)) => &**items,
            None => &[],
            Some(other) => return Err(wrong(class, "items", "a list", other)),
        };
        let name = match object.members.get("fName") {
            Some(Given::Text(name)) => name,
            None => "",
            Some(other) => return Err(wrong(class, "fName", "a text", other)),
        };
        self.framed(version, |writer| {
            writer.class("TObject", object)?;
            writer.buffer.string(name);
            writer.buffer.count(items.len());
            if class == "TObjArray" {
                writer.buffer.i32(0);
            }
            items.iter().try_for_each(|item| each(writer, item))
        })
    }

    fn element(&mut self, info: &StreamerInfo, element: &Element, object: &GivenObject) -> Result<()> {
        let (class, name) = (&*info.class, &*element.name);
        if element.is_base() {
            return self.class(name, object);
        }
        let value = member(class, object, name)?;
        let inner = element.type_name.trim_end_matches('*');
        match element.code {
            code::TSTRING => match value {
                Given::Text(text) => {
                    self.buffer.string(text);
                    Ok(())
                }
                other => Err(wrong(class, name, "a text", other)),
            },
            code::OBJECT | code::ANY | code::OBJECT_INPLACE => self.in_place(class, name, inner, value),
            code::OBJECT_POINTER => self.pointer(class, name, value),
            code::STL | code::STREAMER => self.container(class, element, value),
            code if (code::POINTER..code::OBJECT).contains(&code) => {
                let values = numbers(class, name, value)?;
                if let ElementKind::BasicPointer(counter) = &element.kind {
                    let count = whole(class, &counter.name, member(class, object, &counter.name)?)?;
                    if usize::try_from(count) != Ok(values.len()) {
                        let what = format!(
                            "member {name} of class {class} has {} numbers, and {} says {count}",
                            values.len(),
                            counter.name
                        );
                        return Err(Error::new(ErrorKind::Invalid { what }));
                    }
                }
                self.buffer.bool(!values.is_empty());
                self.numbers(code - code::POINTER, values, class, name)
            }
            code if (code::ARRAY..code::POINTER).contains(&code) => {
                let values = numbers(class, name, value)?;
                if values.len() != element.array_length as usize {
                    let what = format!(
                        "member {name} of class {class} has {} numbers instead of {}",
                        values.len(),
                        element.array_length
                    );
                    return Err(Error::new(ErrorKind::Invalid { what }));
                }
                self.numbers(code - code::ARRAY, values, class, name)
            }
            code => self.number(code, value, class, name),
        }
    }

    /// An object without a place for a pointer before it.
    fn in_place(&mut self, class: &str, name: &str, inner: &str, value: &Given) -> Result<()> {
        match value {
            Given::Object(object) => self.class(inner, object),
            Given::Numbers(values) if let Some(number) = array_of(inner) => {
                self.buffer.count(values.len());
                self.numbers(number, values, class, name)
            }
            other => Err(wrong(class, name, "an object", other)),
        }
    }

    /// An object behind a pointer.
    fn pointer(&mut self, class: &str, name: &str, value: &Given) -> Result<()> {
        match value {
            Given::Null => {
                self.buffer.null();
                Ok(())
            }
            Given::Object(object) => {
                let (depth, mut done) = (self.depth, Ok(()));
                self.buffer.object(&object.class, |buffer| {
                    done = Writer { buffer, depth }.class(&object.class, object);
                });
                done
            }
            other => Err(wrong(class, name, "an object or nothing", other)),
        }
    }

    /// A container of the standard library, of numbers or texts.
    fn container(&mut self, class: &str, element: &Element, value: &Given) -> Result<()> {
        let name = &*element.name;
        let items: Vec<Given> = match value {
            Given::List(items) => items.clone(),
            Given::Numbers(values) => values.iter().map(|&value| Given::Float(value)).collect(),
            other => return Err(wrong(class, name, "a list", other)),
        };
        let parsed = CppType::parse(&element.type_name);
        let CppType::Sequence(_, item) = parsed else {
            return Err(Error::unsupported(format!(
                "writing member {name} of class {class}: {}",
                element.type_name
            )));
        };
        self.framed(STL_VERSION, |writer| {
            writer.buffer.count(items.len());
            items.iter().try_for_each(|value| match (&*item, value) {
                (CppType::Number(number), value) => writer.number(number.codes[0], value, class, name),
                (CppType::Text(_), Given::Text(text)) => {
                    writer.buffer.string(text);
                    Ok(())
                }
                _ => {
                    let what =
                        format!("writing items of member {name} of class {class}: {}", element.type_name);
                    Err(Error::unsupported(what))
                }
            })
        })
    }

    fn numbers(&mut self, code: i32, values: &[f64], class: &str, name: &str) -> Result<()> {
        values.iter().try_for_each(|&value| self.number(code, &Given::Float(value), class, name))
    }

    fn number(&mut self, code: i32, value: &Given, class: &str, name: &str) -> Result<()> {
        let buffer = &mut *self.buffer;
        macro_rules! write {
            ($type:ident) => {
                buffer.$type(fit::<$type>(class, name, value)?)
            };
        }
        match code {
            code::CHAR => write!(i8),
            code::SHORT => write!(i16),
            code::INT | code::COUNTER => write!(i32),
            code::LONG | code::LONG64 => write!(i64),
            code::UCHAR => write!(u8),
            code::USHORT => write!(u16),
            code::UINT | code::BITS => write!(u32),
            code::ULONG | code::ULONG64 => write!(u64),
            code::BOOL => buffer.bool(fit::<i64>(class, name, value)? != 0),
            code::FLOAT => buffer.f32(float(class, name, value)? as f32),
            code::DOUBLE => buffer.f64(float(class, name, value)?),
            _ => {
                let what = format!("writing member {name} of class {class}, whose type has code {code}");
                return Err(Error::unsupported(what));
            }
        }
        Ok(())
    }
}

/// The code of the numbers of one of ROOT's arrays.
fn array_of(class: &str) -> Option<i32> {
    let letter = class.strip_prefix("TArray")?;
    let number = |name| Number::named(name).map(|number| number.codes[0]);
    match letter {
        "C" => Some(code::CHAR),
        "S" => number("short"),
        "I" => number("int"),
        "L64" => Some(code::LONG64),
        "F" => number("float"),
        "D" => number("double"),
        _ => None,
    }
}

fn member<'o>(class: &str, object: &'o GivenObject, name: &str) -> Result<&'o Given> {
    object.members.get(name).ok_or_else(|| {
        let what = format!("an object of class {} without member {name} of class {class}", object.class);
        Error::new(ErrorKind::Invalid { what })
    })
}

fn numbers<'g>(class: &str, name: &str, value: &'g Given) -> Result<&'g [f64]> {
    match value {
        Given::Numbers(values) => Ok(values),
        Given::List(items) if items.is_empty() => Ok(&[]),
        Given::Null => Ok(&[]),
        other => Err(wrong(class, name, "numbers", other)),
    }
}

fn whole(class: &str, name: &str, value: &Given) -> Result<i64> {
    fit(class, name, value)
}

/// A whole number of a type that has room for it.
fn fit<T: TryFrom<i128>>(class: &str, name: &str, value: &Given) -> Result<T> {
    let given = match *value {
        Given::Int(value) => i128::from(value),
        Given::Unsigned(value) => i128::from(value),
        Given::Float(value) if value.fract() == 0.0 && value.abs() < 2e19 => value as i128,
        ref other => return Err(wrong(class, name, "a whole number", other)),
    };
    T::try_from(given).map_err(|_| {
        let what = format!("{given} as member {name} of class {class}, which has no room for it");
        Error::new(ErrorKind::Invalid { what })
    })
}

fn float(class: &str, name: &str, value: &Given) -> Result<f64> {
    match *value {
        Given::Int(value) => Ok(value as f64),
        Given::Unsigned(value) => Ok(value as f64),
        Given::Float(value) => Ok(value),
        ref other => Err(wrong(class, name, "a number", other)),
    }
}

fn wrong(class: &str, name: &str, expected: &str, found: &Given) -> Error {
    let what = format!("member {name} of class {class} is {}, and has to be {expected}", found.name());
    Error::new(ErrorKind::Invalid { what })
}

/// Objects within each other that readers follow.
const DEEPEST: u32 = 60;
/// The version that stands before a container's items.
const STL_VERSION: i16 = 10;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a test fails by panicking

    use super::*;

    fn object(class: &str, members: &[(&str, Given)]) -> GivenObject {
        let members = members.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        GivenObject { class: class.into(), members }
    }

    fn error(object: &GivenObject) -> String {
        write_object(&mut Buffer::new(70), object).unwrap_err().to_string()
    }

    #[test]
    fn members_are_written_in_the_order_of_the_class() {
        let text = |text: &str| Given::Text(text.into());
        let parameter = object(
            "TParameter<int>",
            &[("fVal", Given::Int(-2)), ("fName", text("n")), ("fBits", Given::Int(8))],
        );
        let mut buffer = Buffer::new(70);
        write_object(&mut buffer, &parameter).unwrap();
        let expected = [0x40, 0, 0, 18, 0, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 8, 1, b'n', 255, 255, 255, 254];
        assert_eq!(buffer.bytes(), expected);
        let list =
            object("TList", &[("items", Given::List(vec![Given::Object(Box::new(parameter)), Given::Null]))]);
        assert_eq!(classes_of(&list), ["TList", "TParameter<int>"]);
        write_object(&mut Buffer::new(70), &list).unwrap();
    }

    #[test]
    fn what_does_not_fit_is_refused_by_name() {
        let named = |value| object("TParameter<int>", &[("fName", Given::Text("n".into())), ("fVal", value)]);
        assert!(
            error(&named(Given::Int(1 << 40)))
                .contains("1099511627776 as member fVal of class TParameter<int>")
        );
        assert!(error(&named(Given::Float(0.5))).contains("a number, and has to be a whole number"));
        assert!(error(&named(Given::Null)).contains("nothing, and has to be"));
        assert!(error(&object("TNamed", &[])).contains("without member fName of class TNamed"));
        assert!(error(&object("TSomething", &[])).contains("writing objects of class TSomething"));
        let mut deep = object("TList", &[]);
        for _ in 0..100 {
            deep = object("TList", &[("items", Given::List(vec![Given::Object(Box::new(deep))]))]);
        }
        assert!(error(&deep).contains("deep"));
        let graph = object("TGraph", &[("fNpoints", Given::Int(2)), ("fX", Given::Numbers(vec![1.0]))]);
        assert!(error(&graph).contains("without member"));
    }
}
