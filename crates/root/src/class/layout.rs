//! What the members of a class are: the one dispatch over the codes that streamer elements have for them.
//!
//! Objects make steps of members (`object/layout.rs`), and columns schemas (`unroll/member.rs`).

use forthwith_columns::DType;

use crate::cpp::{CppType, Number};
use crate::streamer::{Counter, Element, ElementKind, OwnMember, code};

/// A member of a class, or a fixed array of such.
#[derive(Debug)]
pub struct Member<'e> {
    /// What is stored.
    pub value: Value<'e>,
    /// How many of them stand one after the other, if it is an array.
    pub array: Option<u32>,
}

/// What is stored of a member. Classes are meant by name: a class may contain itself.
#[derive(Debug)]
pub enum Value<'e> {
    /// A `TObject` in place.
    TObject,
    /// The status bits of a `TObject`. Two more bytes follow those of an object that is referenced.
    Bits,
    /// A number of one of ROOT's codes.
    Number(i32),
    /// A flag, and if that is set, as many numbers as another member says. Of an array of such, one flag stands before all.
    Counted(i32, &'e Counter),
    /// A `char*`: text behind four bytes of length.
    LongText,
    /// A `TString`. Several are in one frame.
    Text,
    /// A `std::string` in a frame, or several in one.
    StdText,
    /// A container of the standard library, or a type that stands for one. Several are in one frame.
    Container(CppType),
    /// Containers without frames: those of a `std::array`.
    Bare(CppType),
    /// An object of this class in place.
    Object(&'e str),
    /// A pointer to an object of this class, or of one derived from it.
    Pointer(&'e str),
    /// As many objects of this class in a frame as another member says, or pointers to them.
    Loop {
        /// The class.
        class: &'e str,
        /// Whether pointers to objects are stored.
        pointers: bool,
        /// The member that counts them.
        counter: &'e Counter,
    },
    /// What only code of the class's own writes: numbers of one of ROOT's codes, if any.
    Own(i32, &'e OwnMember),
    /// What a user told in words: the number that they leave, or the bytes that they step over.
    Words(Option<DType>, &'e str),
    /// Something with a byte count that no code says more of.
    Framed,
}

impl<'e> Member<'e> {
    /// The member that an element describes; `None` for a base, and for codes that ROOT does not write.
    pub fn of(element: &'e Element) -> Option<Self> {
        let (code, is_array) = without_array(element.code);
        let length = Some(element.array_length).filter(|&length| length > 0);
        let array = is_array.then_some(element.array_length);
        let class = || plain_class(&element.type_name);
        let (value, array) = match &element.kind {
            ElementKind::Base { .. } => return None,
            ElementKind::Own(own) => (Value::Own(code, own), None),
            ElementKind::Words(number, words) => (Value::Words(*number, words), None),
            // Files have the code of one for arrays, too.
            ElementKind::StlString => (Value::StdText, length.or(is_array.then_some(1))),
            ElementKind::Stl { .. } => {
                let value = match CppType::parse(&element.type_name) {
                    CppType::Pointer(of) if of.is_container() => Value::Container(*of),
                    CppType::Text(_) => Value::StdText,
                    kind => Value::Container(kind),
                };
                (value, length.or(is_array.then_some(1)))
            }
            kind => match code {
                code::TOBJECT => (Value::TObject, array),
                code::BITS if !is_array => (Value::Bits, None),
                code::CHAR_STAR => (Value::LongText, array),
                code::TSTRING => (Value::Text, array),
                // Arrays of numbers that a member counts have a length, but no other code.
                COUNTED_FIRST..=COUNTED_LAST => {
                    let ElementKind::BasicPointer(counter) = kind else { return None };
                    (Value::Counted(code - code::POINTER, counter), length)
                }
                code::STREAM_LOOP => {
                    let pointers = element.type_name.trim().ends_with("**");
                    match kind {
                        ElementKind::Loop(counter) => {
                            (Value::Loop { class: class(), pointers, counter }, length)
                        }
                        _ => (Value::Framed, None),
                    }
                }
                code::OBJECT | code::ANY | code::OBJECT_INPLACE | code::TNAMED | code::ANY_INPLACE => {
                    let class = class();
                    let container = CppType::parse(class);
                    match is_array && container.is_container() {
                        true => (Value::Bare(container), array),
                        false => (Value::Object(class), array),
                    }
                }
                // Arrays of pointers have the code of one, or that of arrays.
                code::OBJECT_POINTER | code::ANY_POINTER | code::ANY_POINTER_NO_VT => {
                    (Value::Pointer(class()), length)
                }
                code::STL | code::STL_POINTER | code::STL_STRING | code::STREAMER => (Value::Framed, None),
                COUNTED_STL | COUNTED_LOOP => (Value::Framed, None),
                _ => {
                    Number::coded(code)?;
                    (Value::Number(code), array)
                }
            },
        };
        Some(Self { value, array })
    }
}

/// A code without what says that it is of an array.
fn without_array(code: i32) -> (i32, bool) {
    let plain = code - code::ARRAY;
    let is_array = matches!(
        plain,
        code::CHAR..=code::FLOAT16
            | code::OBJECT..=code::STL_POINTER
            | code::STL
            | code::STL_STRING
            | code::STREAMER
            | code::STREAM_LOOP
    );
    if is_array { (plain, true) } else { (code, false) }
}

/// A type's name without `const` and `*`.
fn plain_class(name: &str) -> &str {
    let name = name.trim().trim_end_matches('*').trim();
    name.strip_prefix("const ").unwrap_or(name)
}

const COUNTED_FIRST: i32 = code::POINTER + code::CHAR;
const COUNTED_LAST: i32 = code::POINTER + code::FLOAT16;
const COUNTED_STL: i32 = code::POINTER + code::STL;
const COUNTED_LOOP: i32 = code::POINTER + code::STREAM_LOOP;
