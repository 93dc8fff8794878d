//! What items of containers are: C++ types with what the file says of the classes in them.

use crate::class::{Native, native};
use crate::cpp::{Basic, CppType, Holds, Number};
use crate::streamer::{Streamers, code};

/// How an item of a container, or a container, is stored.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// A number.
    Number(Basic),
    /// A `Float16_t` without a range.
    Float16,
    /// A `std::string` or `TString`.
    Text,
    /// A `char*`: four bytes of length.
    LongText,
    /// A pointer to an object.
    Pointer,
    /// An object in place.
    Class(Box<str>),
    /// An object of a class that no streamer info describes by this name, or a number of an enumeration.
    Unknown(Box<str>),
    /// A count, and so many items.
    List(Shape, Box<Self>),
    /// A count, and so many keys with a value each.
    Map(Box<Self>, Box<Self>),
    /// Two values.
    Pair(Box<Self>, Box<Self>),
}

/// What a list of values is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Values in order.
    List,
    /// Values of a set.
    Set,
    /// Keys and values of a map, in turn.
    Map,
    /// The two values of a pair.
    Pair,
}

impl Kind {
    /// The container that a type is, if it is one. `content` is how its items are stored, if that is known.
    pub(super) fn container(kind: &CppType, content: Option<Basic>, streamers: &Streamers) -> Option<Self> {
        let mut kind = kind.is_container().then(|| Self::of(kind, streamers))?;
        if let (Self::List(_, item), Some(basic)) = (&mut kind, content)
            && matches!(**item, Self::Class(_) | Self::Unknown(_))
        {
            // An enumeration.
            **item = Self::Number(basic);
        }
        Some(kind)
    }

    /// How values of a type are stored, where the file describes the classes in it.
    fn of(kind: &CppType, streamers: &Streamers) -> Self {
        let of = |kind: &CppType| Box::new(Self::of(kind, streamers));
        match kind {
            CppType::Number(number) => number.basic.map_or(Self::Float16, Self::Number),
            CppType::Text(_) => Self::Text,
            CppType::Pointer(to) => match **to {
                CppType::Number(number) if number.codes.contains(&code::CHAR) => Self::LongText,
                _ => Self::Pointer,
            },
            CppType::Sequence(container, item) => {
                let shape = if container.of == Holds::Set { Shape::Set } else { Shape::List };
                Self::List(shape, of(item))
            }
            CppType::Bitset(_) => Self::List(Shape::List, Box::new(Self::Number(Basic::Bool))),
            CppType::Map(_, key, value) => Self::Map(of(key), of(value)),
            // Whether an array in it is an object of its own, its info tells.
            CppType::Pair(first, second) => {
                let has_array = [first, second].iter().any(|half| matches!(***half, CppType::Array(..)));
                match streamers.spelled(kind).filter(|_| has_array) {
                    Some(name) => Self::Class(name.into()),
                    None => Self::Pair(of(first), of(second)),
                }
            }
            CppType::Array(..) => match streamers.spelled(kind) {
                Some(name) => Self::Class(name.into()),
                None => Self::Unknown(kind.spelling().into()),
            },
            CppType::Other(name) if native(name) != Native::ByInfo || streamers.describes(name) => {
                Self::Class(name.as_str().into())
            }
            CppType::Other(name) => {
                let number = streamers.enumeration(name).and_then(Number::coded);
                let basic = number.and_then(|number| number.basic);
                basic.map_or_else(|| Self::Unknown(name.as_str().into()), Self::Number)
            }
        }
    }

    /// The class of pairs of these that the file describes.
    pub(super) fn pair<'a>(key: &Self, value: &Self, streamers: &'a Streamers) -> Option<&'a str> {
        let pairs = streamers.classes().map(|(name, _)| name).filter(|name| name.starts_with("pair<"));
        let is_it = |name: &&str| match CppType::parse(name) {
            CppType::Pair(first, second) => {
                Self::of(&first, streamers) == *key && Self::of(&second, streamers) == *value
            }
            _ => false,
        };
        pairs.into_iter().find(is_it)
    }

    /// Whether it is a `std::array` that the file describes.
    pub(super) fn is_array_class(&self) -> bool {
        matches!(self, Self::Class(name) if is_array(name))
    }

    /// Fewest bytes of an item.
    pub(super) fn least(&self) -> usize {
        match self {
            Self::Number(basic) => basic.size(),
            Self::Unknown(_) => 4,
            Self::Float16 => 3,
            Self::Text => 1,
            Self::LongText | Self::Pointer | Self::List(..) | Self::Map(..) => 4,
            // A class may store nothing.
            Self::Class(_) => 0,
            Self::Pair(first, second) => first.least() + second.least(),
        }
    }
}

/// Whether it is a `std::array`.
pub(super) fn is_array(name: &str) -> bool {
    matches!(CppType::parse(name), CppType::Array(..))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn container(name: &str) -> Option<Kind> {
        Kind::container(&CppType::parse(name), None, &Streamers::default())
    }

    #[test]
    fn names_of_containers_are_understood() {
        let list = |item| Some(Kind::List(Shape::List, Box::new(item)));
        assert_eq!(container("vector<int>"), list(Kind::Number(Basic::I32)));
        assert_eq!(container("const std::vector<Double32_t>"), list(Kind::Number(Basic::F32)));
        assert_eq!(container("vector<TNamed*>"), list(Kind::Pointer));
        assert_eq!(container("bitset<16>"), list(Kind::Number(Basic::Bool)));
        assert_eq!(
            container("map<string,vector<pair<A,float> > >"),
            Some(Kind::Map(
                Box::new(Kind::Text),
                Box::new(Kind::List(
                    Shape::List,
                    Box::new(Kind::Pair(
                        Box::new(Kind::Unknown("A".into())),
                        Box::new(Kind::Number(Basic::F32))
                    ))
                ))
            ))
        );
        assert_eq!(container("TNamed"), None);
        assert_eq!(container("vector<"), None);
        assert_eq!(container(&"vector<".repeat(1000)), None);
        let deep = format!("{}int{}", "vector<".repeat(1000), ">".repeat(1000));
        assert!(container(&deep).is_some(), "read as far as anybody goes");
    }
}
