//! Serialisation of objects that are given by the values of their members. It follows the layouts of classes,
//! as `object/` does for reading.

mod defaults;
mod items;
mod object;
mod place;
mod plain;
mod value;
mod writer;

use std::collections::BTreeMap;

use forthwith_plan::Result;

use super::Buffer;
use crate::class::Layouts;

/// An object: its class, and the members of the class and its bases by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GivenObject {
    /// Name of the class.
    pub class: String,
    /// Values of the members. A base that is an array, such as `TArrayD`, has the name of its class; the
    /// contents of a collection are named `items`. If several classes of the object have a member of the same
    /// name, the name is qualified: `Base::x`.
    pub members: BTreeMap<String, Given>,
    /// Number by which [`Given::Again`] refers to the object.
    pub number: u32,
}

/// The value of a member.
#[derive(Clone, Debug, PartialEq)]
pub enum Given {
    /// A null pointer.
    Null,
    /// An integer.
    Int(i64),
    /// An unsigned integer, which may exceed `i64`.
    Unsigned(u64),
    /// A floating-point number.
    Float(f64),
    /// A string.
    Text(String),
    /// Floating-point numbers, in row-major order for an array of arrays.
    Numbers(Vec<f64>),
    /// Integers, in row-major order for an array of arrays.
    Integers(Vec<i64>),
    /// An object, either a part of another one or the target of a pointer.
    Object(Box<GivenObject>),
    /// A pointer to the object with this number, which is serialised before.
    Again(u32),
    /// Values in order: the contents of a collection or container. Entries of a map are lists of two.
    List(Vec<Self>),
    /// Values by name: a map whose keys are strings, or an object whose class is that of the member.
    Named(BTreeMap<String, Self>),
}

impl Given {
    const fn name(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Int(_) | Self::Unsigned(_) => "a whole number",
            Self::Float(_) => "a number",
            Self::Text(_) => "a text",
            Self::Numbers(_) | Self::Integers(_) => "numbers",
            Self::Object(_) => "an object",
            Self::Again(_) => "an object that was met before",
            Self::List(_) => "a list",
            Self::Named(_) => "values by names",
        }
    }
}

/// Appends an object.
///
/// # Errors
/// Returns an error if a class is not described or has a member of an unsupported kind, if a member is
/// missing or does not match its class, or if objects are nested deeper than readers follow.
pub(super) fn write_object(buffer: &mut Buffer, layouts: &Layouts, object: &GivenObject) -> Result<()> {
    writer::Writer::new(buffer, layouts, object).whole(&object.class, object)
}

/// Returns the classes of an object and of all objects in it, sorted and without duplicates.
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
            Given::Named(items) => rest.extend(items.values()),
            _ => {}
        }
    }
    classes.sort_unstable();
    classes.dedup();
    classes
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a test fails by panicking

    use super::*;
    use crate::streamer::Streamers;

    /// Returns the layouts of a file without descriptions.
    fn none() -> Layouts {
        Layouts::new(Streamers::default().into(), i32::MAX)
    }

    fn object(class: &str, members: &[(&str, Given)]) -> GivenObject {
        let members = members.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        GivenObject { class: class.into(), members, number: 0 }
    }

    fn error(object: &GivenObject) -> String {
        write_object(&mut Buffer::new(70), &none(), object).unwrap_err().to_string()
    }

    #[test]
    fn members_are_written_in_the_order_of_the_class() {
        let text = |text: &str| Given::Text(text.into());
        let parameter = object(
            "TParameter<int>",
            &[("fVal", Given::Int(-2)), ("fName", text("n")), ("fBits", Given::Int(8))],
        );
        let mut buffer = Buffer::new(70);
        write_object(&mut buffer, &none(), &parameter).unwrap();
        let expected = [0x40, 0, 0, 18, 0, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 8, 1, b'n', 255, 255, 255, 254];
        assert_eq!(buffer.bytes(), expected);
        let list =
            object("TList", &[("items", Given::List(vec![Given::Object(Box::new(parameter)), Given::Null]))]);
        assert_eq!(classes_of(&list), ["TList", "TParameter<int>"]);
        write_object(&mut Buffer::new(70), &none(), &list).unwrap();
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
