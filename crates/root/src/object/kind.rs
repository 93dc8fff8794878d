//! What items of containers are: C++ type names, as far as they decide how values are stored.

use super::layout::Basic;
use super::native::{Native, native};
use crate::streamer::Streamers;

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
    /// The container that a type name names, if it does. `content` is ROOT's code of the items' type, if that is known.
    pub(super) fn container(name: &str, content: Option<Basic>, streamers: &Streamers) -> Option<Self> {
        let parser = Parser { streamers };
        let mut kind = parser.container(strip(name), 0)?;
        if let (Self::List(_, item), Some(basic)) = (&mut kind, content)
            && matches!(**item, Self::Class(_) | Self::Unknown(_))
        {
            // An enumeration.
            **item = Self::Number(basic);
        }
        Some(kind)
    }

    /// The class of pairs of these that the file describes.
    pub(super) fn pair<'a>(key: &Self, value: &Self, streamers: &'a Streamers) -> Option<&'a str> {
        let parser = Parser { streamers };
        let is_it = |name: &&str| match arguments(name) {
            Some(("pair", of)) => {
                let mut halves = of.iter().map(|half| parser.kind(half, 0));
                halves.next().flatten().as_ref() == Some(key)
                    && halves.next().flatten().as_ref() == Some(value)
            }
            _ => false,
        };
        streamers.classes().map(|(name, _)| name).find(is_it)
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

struct Parser<'a> {
    streamers: &'a Streamers,
}

impl Parser<'_> {
    fn kind(&self, name: &str, depth: usize) -> Option<Kind> {
        let name = strip(name);
        if depth > MAX_DEPTH {
            return None;
        }
        if let Some(pointee) = name.strip_suffix('*') {
            return Some(if strip(pointee) == "char" { Kind::LongText } else { Kind::Pointer });
        }
        if let Some(basic) = number(name) {
            return Some(Kind::Number(basic));
        }
        match name {
            "Float16_t" => return Some(Kind::Float16),
            "string" | "TString" | "basic_string<char>" => return Some(Kind::Text),
            _ => {}
        }
        if let Some(kind) = self.container(name, depth) {
            return Some(kind);
        }
        let (template, arguments) = arguments(name).unwrap_or((name, Vec::new()));
        Some(match (template, &*arguments) {
            // Whether an array in it is an object of its own, its info tells.
            ("pair", [first, second]) if (is_array(first) || is_array(second)) && self.is_known(name) => {
                Kind::Class(name.into())
            }
            ("pair", [first, second]) => {
                Kind::Pair(Box::new(self.kind(first, depth + 1)?), Box::new(self.kind(second, depth + 1)?))
            }
            ("unique_ptr" | "shared_ptr", _) => Kind::Pointer,
            ("atomic", [value]) => self.kind(value, depth + 1)?,
            _ if !self.is_known(name) => match self.streamers.enumeration(name).and_then(Basic::of_code) {
                Some(basic) => Kind::Number(basic),
                None => Kind::Unknown(name.into()),
            },
            _ => Kind::Class(name.into()),
        })
    }

    fn container(&self, name: &str, depth: usize) -> Option<Kind> {
        if depth > MAX_DEPTH {
            return None;
        }
        let (template, arguments) = arguments(name)?;
        let list = |shape| {
            let item = self.kind(arguments.first()?, depth + 1)?;
            Some(Kind::List(shape, Box::new(item)))
        };
        match template {
            "vector" | "list" | "deque" | "forward_list" | "RVec" | "VecOps::RVec" | "ROOT::RVec"
            | "ROOT::VecOps::RVec" => list(Shape::List),
            "set" | "multiset" | "unordered_set" | "unordered_multiset" => list(Shape::Set),
            "bitset" => Some(Kind::List(Shape::List, Box::new(Kind::Number(Basic::Bool)))),
            "map" | "multimap" | "unordered_map" | "unordered_multimap" => {
                let key = self.kind(arguments.first()?, depth + 1)?;
                let value = self.kind(arguments.get(1)?, depth + 1)?;
                Some(Kind::Map(Box::new(key), Box::new(value)))
            }
            _ => None,
        }
    }

    fn is_known(&self, name: &str) -> bool {
        native(name.as_bytes()) != Native::ByInfo || !matches!(self.streamers.latest(name), Ok(None))
    }
}

/// Whether it is a `std::array`.
pub(super) fn is_array(name: &str) -> bool {
    strip(name).starts_with("array<")
}

/// Without what does not change how a value is stored.
fn strip(name: &str) -> &str {
    let mut name = name.trim();
    while let Some(rest) = ["const ", "std::", "volatile ", "struct ", "class "]
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix))
        .or_else(|| name.strip_suffix(" const"))
    {
        name = rest.trim();
    }
    name
}

/// A template's name and its arguments.
fn arguments(name: &str) -> Option<(&str, Vec<&str>)> {
    let (template, inner) = name.strip_suffix('>')?.split_once('<')?;
    let (mut depth, mut begin, mut parts) = (0_usize, 0, Vec::new());
    for (at, letter) in inner.char_indices() {
        match letter {
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' => depth = depth.checked_sub(1)?,
            ',' if depth == 0 => {
                parts.push(&inner[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&inner[begin..]);
    (depth == 0).then_some((template.trim(), parts))
}

/// Numbers as they are stored in containers.
fn number(name: &str) -> Option<Basic> {
    Some(match name {
        "bool" | "Bool_t" => Basic::Bool,
        "char" | "Char_t" | "signed char" | "int8_t" | "Int8_t" => Basic::I8,
        "unsigned char" | "UChar_t" | "uint8_t" | "byte" | "UInt8_t" => Basic::U8,
        "short" | "Short_t" | "int16_t" | "Version_t" | "short int" => Basic::I16,
        "unsigned short" | "UShort_t" | "uint16_t" | "unsigned short int" => Basic::U16,
        "int" | "Int_t" | "int32_t" | "signed int" | "signed" => Basic::I32,
        "unsigned int" | "UInt_t" | "uint32_t" | "unsigned" => Basic::U32,
        "long" | "Long_t" | "long long" | "Long64_t" | "int64_t" | "long int" | "long long int" => Basic::I64,
        "unsigned long" | "ULong_t" | "unsigned long long" | "ULong64_t" | "uint64_t" | "size_t" => {
            Basic::U64
        }
        "float" | "Float_t" | "Double32_t" => Basic::F32,
        "double" | "Double_t" => Basic::F64,
        _ => return None,
    })
}

/// Deeper nesting of types is a mistake, or an attack.
const MAX_DEPTH: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    fn container(name: &str) -> Option<Kind> {
        Kind::container(name, None, &Streamers::default())
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
