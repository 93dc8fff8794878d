//! Items of containers: C++ types with what the file says of the classes in them.

use std::sync::Arc;

use super::layout::{Member, Numbers, Value};
use super::{Layouts, Native, is_described, native};
use crate::cpp::{Container, CppType, Number, code};

/// How an item of a container, or a container, is stored.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A number, without a range.
    Number(&'static Number),
    /// A `std::string` or `TString`.
    Text,
    /// A `char*`: text behind four bytes of length.
    LongText,
    /// A pointer to a value of this type.
    Pointer(CppType),
    /// An object in place.
    Class(Arc<str>),
    /// An object of a class that nothing describes, or a number of an enumeration.
    Unknown(Arc<str>),
    /// An object of a class without members, which files do not describe.
    Memberless(Arc<str>),
    /// A count, and as many items.
    List(&'static Container, Arc<Self>),
    /// A count, and as many keys with a value each.
    Map(&'static Container, Arc<Pair>),
    /// Two values, as an object of its own.
    Pair(Arc<Pair>),
    /// A `std::array`, which is an object of its own with one member.
    Array(Arc<Member>),
}

/// The two values of a pair, or of all pairs of a map.
#[derive(Debug, PartialEq)]
pub struct Pair {
    /// The one spelling of the pair.
    pub name: Box<str>,
    /// Key and value of a map, which stand one after the other.
    pub items: [Arc<Item>; 2],
    /// The members of the object that a pair is by itself, or that the pairs of a map are together.
    pub members: [Member; 2],
}

impl Item {
    /// How values of a type are stored in a container, by the file.
    pub fn of(kind: &CppType, file: &Layouts) -> Self {
        let of = |kind: &CppType| Arc::new(Self::of(kind, file));
        match kind {
            CppType::Number(number) => Self::Number(number),
            CppType::Text(_) => Self::Text,
            CppType::Pointer(to) => match &**to {
                CppType::Number(number) if number.codes.contains(&code::CHAR) => Self::LongText,
                to => Self::Pointer(to.clone()),
            },
            CppType::Sequence(container, item) => Self::List(container, of(item)),
            CppType::Bitset(_) => Self::List(Container::bits(), of(&CppType::parse("bool"))),
            CppType::Map(container, key, value) => Self::Map(container, Arc::new(Pair::of(key, value, file))),
            CppType::Pair(first, second) => Self::Pair(Arc::new(Pair::of(first, second, file))),
            CppType::Array(..) => Self::Array(Arc::new(array(kind, file))),
            CppType::Other(name) => {
                let streamers = &file.streamers;
                if native(name) != Native::ByInfo || is_described(streamers, name) {
                    return Self::Class(name.as_str().into());
                }
                match streamers.enumeration(name).and_then(Number::coded) {
                    Some(number) => Self::Number(number),
                    None => Self::Unknown(name.as_str().into()),
                }
            }
        }
    }

    /// The same, where a streamer element says of a container how its items are stored, or 0: those of an
    /// enumeration.
    pub(super) fn with_content(kind: &CppType, content: i32, file: &Layouts) -> Self {
        let item = Self::of(kind, file);
        match (item, Number::coded(content % code::POINTER)) {
            (Self::List(container, item), Some(number))
                if number.basic.is_some() && matches!(*item, Self::Class(_) | Self::Unknown(_)) =>
            {
                Self::List(container, Arc::new(Self::Number(number)))
            }
            (item, _) => item,
        }
    }

    /// Fewest bytes of an item.
    pub(crate) fn least(&self) -> usize {
        match self {
            Self::Number(number) => number.basic.map_or(3, forthwith_columns::DType::size),
            Self::Unknown(_) => 4,
            Self::Text => 1,
            Self::LongText | Self::Pointer(_) | Self::List(..) | Self::Map(..) => 4,
            // A class may store nothing.
            Self::Class(_) | Self::Memberless(_) | Self::Array(_) => 0,
            // Behind a byte count and a version.
            Self::Pair(_) => 6,
        }
    }
}

impl Pair {
    fn of(first: &CppType, second: &CppType, file: &Layouts) -> Self {
        let kind = CppType::Pair(Box::new(first.clone()), Box::new(second.clone()));
        let items = [first, second].map(|half| Arc::new(Item::of(half, file)));
        // Whether an array in it is an object of its own, its info tells. Of pairs that ROOT has no
        // dictionary of, files describe only the first; arrays in them are such objects, which files describe
        // in turn.
        let mut codes = [None; 2];
        if items.iter().any(|item| matches!(**item, Item::Array(_))) {
            let streamers = &file.streamers;
            let info = streamers.spelled(&kind).and_then(|name| streamers.latest(name).ok().flatten());
            codes = match info.as_ref().map(|info| info.elements.as_slice()) {
                Some([first, second]) => [Some(first.code), Some(second.code)],
                _ => [first, second].map(|half| streamers.spelled(half).map(|_| code::ANY)),
            };
        }
        let members = [half(first, &items[0], codes[0]), half(second, &items[1], codes[1])];
        Self { name: kind.spelling().into(), items, members }
    }
}

/// A half of a pair. Of its streamer element only the code counts: what it says of types could lead back to
/// the pair.
fn half(kind: &CppType, item: &Arc<Item>, code: Option<i32>) -> Member {
    match (&**item, code) {
        (Item::Array(_), Some(code::OBJECT | code::ANY)) => Member::of_value(Value::Item(item.clone())),
        (Item::Array(array), Some(code::STL | code::STREAMER | STL_ARRAY | STREAMER_ARRAY)) => {
            (**array).clone()
        }
        _ => Member::typed(kind, item),
    }
}

impl Member {
    /// A value of some type as a member of a class: containers and strings have a frame. `item` is the same
    /// in a container.
    pub fn typed(kind: &CppType, item: &Arc<Item>) -> Self {
        Self::of_value(match (kind, &**item) {
            (CppType::Text("std::string"), _) => Value::StdText,
            (CppType::Text(_), _) => Value::Text,
            (CppType::Number(number), _) => match Numbers::coded(number.codes[0], None) {
                Some(numbers) => Value::Number(numbers),
                None => Value::Unsupported,
            },
            (_, Item::List(..) | Item::Map(..)) => Value::Container(item.clone()),
            // As an array of C, which has the items of containers, without their frames.
            (_, Item::Array(array)) => match &array.value {
                Value::Container(of) => return Self { value: Value::Bare(of.clone()), ..(**array).clone() },
                _ => return (**array).clone(),
            },
            _ => Value::Item(item.clone()),
        })
    }
}

/// The only member of a `std::array`, or what stands in its place: all containers or strings in it within one
/// frame.
fn array(mut kind: &CppType, file: &Layouts) -> Member {
    let mut dimensions = Vec::new();
    while let CppType::Array(inner, size) = kind {
        dimensions.push(*size);
        kind = inner;
    }
    let all = dimensions.iter().try_fold(1_u64, |all, &size| all.checked_mul(size));
    let Some(all) = all.and_then(|all| u32::try_from(all).ok()) else {
        return Member::of_value(Value::Unsupported);
    };
    let value = match kind {
        CppType::Text(_) => Value::StdText,
        kind => Member::typed(kind, &Arc::new(Item::of(kind, file))).value,
    };
    let dimensions = dimensions.into_iter().filter_map(|size| u32::try_from(size).ok()).collect();
    Member { value, array: Some(all), dimensions }
}

const STL_ARRAY: i32 = code::ARRAY + code::STL;
const STREAMER_ARRAY: i32 = code::ARRAY + code::STREAMER;
