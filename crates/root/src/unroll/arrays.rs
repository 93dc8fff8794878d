//! `std::array`, which is an object of its own in some places and an array of C in others; pairs, which may have such; and enumerations.

use forthwith_program::Layout;

use super::{Classes, Unsupported, fixed, shared};
use crate::code;
use crate::{CppType, Number};

impl Classes<'_> {
    /// A pair without a frame around it.
    pub fn pair(&mut self, kind: &CppType, first: &CppType, second: &CppType) -> Result<Layout, Unsupported> {
        let [first, second] = self.halves(first, second)?;
        let fields = vec![("first".to_owned(), first), ("second".to_owned(), second)];
        Ok(Layout::Record { name: Some(kind.spelling()), fields })
    }

    /// The members of a pair. Whether an array among them is an object of its own, the file may say.
    pub(super) fn halves(&mut self, first: &CppType, second: &CppType) -> Result<[Layout; 2], Unsupported> {
        let is_array = |half: &CppType| matches!(half, CppType::Array(..));
        let mut codes = [None; 2];
        if is_array(first) || is_array(second) {
            let kind = CppType::Pair(Box::new(first.clone()), Box::new(second.clone()));
            let streamers = self.streamers;
            let name = streamers.spelled(&kind);
            let info = name.and_then(|name| streamers.latest(name).ok().flatten());
            if let Some([first, second]) = info.as_ref().map(|info| info.elements.as_slice()) {
                codes = [Some(first.code), Some(second.code)];
            }
        }
        let [first_code, second_code] = codes;
        Ok([self.half(first, first_code)?, self.half(second, second_code)?])
    }

    /// One of them. Of its element only the code counts: what it says of types could lead back to the pair.
    fn half(&mut self, kind: &CppType, code: Option<i32>) -> Result<Layout, Unsupported> {
        match (kind, code) {
            (CppType::Array(..), Some(code::OBJECT | code::ANY)) => self.item(kind),
            (CppType::Array(..), Some(code::STL | code::STREAMER | STL_ARRAY | STREAMER_ARRAY)) => {
                self.array_of(kind)
            }
            _ => self.member_of(kind),
        }
    }

    /// A `std::array` that is an object by itself, as its only member is: all containers or strings in it within one frame.
    pub fn array_of(&mut self, kind: &CppType) -> Result<Layout, Unsupported> {
        let (item, sizes) = array(kind);
        match item {
            CppType::Text(_) => Ok(shared(fixed(Layout::Text, &sizes))),
            _ if item.is_container() => self.container(item, &sizes),
            _ => Ok(fixed(self.member_of(item)?, &sizes)),
        }
    }

    /// An item of a type that the file says is an enumeration.
    pub(super) fn enumeration(&self, name: &str) -> Option<Layout> {
        Number::coded(self.streamers.enumeration(name)?)?.wire(None).map(Layout::Number)
    }
}

/// The items of arrays in arrays, and how many there are in each.
pub(super) fn array(mut kind: &CppType) -> (&CppType, Vec<u64>) {
    let mut sizes = Vec::new();
    while let CppType::Array(inner, size) = kind {
        sizes.push(*size);
        kind = inner;
    }
    (kind, sizes)
}

const STL_ARRAY: i32 = code::ARRAY + code::STL;
const STREAMER_ARRAY: i32 = code::ARRAY + code::STREAMER;
