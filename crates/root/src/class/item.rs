//! Items of containers: C++ types resolved with the classes of the file.

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
    /// A `char*`: text after a length of four bytes.
    LongText,
    /// A pointer to a value of this type.
    Pointer(CppType),
    /// An object in place.
    Class(Arc<str>),
    /// An object of a class without streamer info, or a number of an enumeration.
    Unknown(Arc<str>),
    /// An object of a class without members, for which files have no streamer info.
    Memberless(Arc<str>),
    /// A count, then the items.
    List(&'static Container, Arc<Self>),
    /// A count, then the keys with their values.
    Map(&'static Container, Arc<Pair>),
    /// Two values, as an object.
    Pair(Arc<Pair>),
    /// A `std::array`, which is an object with one member.
    Array(Arc<Member>),
}

/// The two values of a pair, or of all pairs of a map.
#[derive(Debug, PartialEq)]
pub struct Pair {
    /// Normalized spelling of the pair.
    pub name: Box<str>,
    /// Key and value of a map, which are stored one after the other.
    pub items: [Arc<Item>; 2],
    /// The members of a pair as an object, or of the pairs of a map that are stored member-wise.
    pub members: [Member; 2],
}

impl Item {
    /// Returns how values of a type are stored in a container.
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

    /// Returns how values of a type are stored, as [`of`](Self::of) does. `content` is the type code of the
    /// items in the streamer element of a container, or 0; it distinguishes enumerations.
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

    /// Returns the minimum size of an item in bytes.
    pub(crate) fn least(&self) -> usize {
        match self {
            Self::Number(number) => number.basic.map_or(3, forthwith_columns::DType::size),
            Self::Unknown(_) => 4,
            Self::Text => 1,
            Self::LongText | Self::Pointer(_) | Self::List(..) | Self::Map(..) => 4,
            // A class may store nothing.
            Self::Class(_) | Self::Memberless(_) | Self::Array(_) => 0,
            // A byte count and a version.
            Self::Pair(_) => 6,
        }
    }
}

impl Pair {
    fn of(first: &CppType, second: &CppType, file: &Layouts) -> Self {
        let kind = CppType::Pair(Box::new(first.clone()), Box::new(second.clone()));
        let items = [first, second].map(|half| Arc::new(Item::of(half, file)));
        // The streamer info tells whether an array in a pair is an object. Of pairs for which ROOT has no
        // dictionary, files only describe the first; arrays in them are such objects, which files describe in
        // turn.
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

/// Returns a member of a pair. Only the type code of its streamer element is used, as its type could lead
/// back to the pair.
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
    /// Returns a value of a type as a member of a class, in which containers and strings have a frame. `item`
    /// is the value in a container.
    pub fn typed(kind: &CppType, item: &Arc<Item>) -> Self {
        Self::of_value(match (kind, &**item) {
            (CppType::Text("std::string"), _) => Value::StdText,
            (CppType::Text(_), _) => Value::Text,
            (CppType::Number(number), _) => match Numbers::coded(number.codes[0], None) {
                Some(numbers) => Value::Number(numbers),
                None => Value::Unsupported,
            },
            (_, Item::List(..) | Item::Map(..)) => Value::Container(item.clone()),
            // Stored like a C array, with the items of containers but without their frames.
            (_, Item::Array(array)) => match &array.value {
                Value::Container(of) => return Self { value: Value::Bare(of.clone()), ..(**array).clone() },
                _ => return (**array).clone(),
            },
            _ => Value::Item(item.clone()),
        })
    }
}

/// Returns the only member of a `std::array`. Its containers or strings are in a single frame.
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
