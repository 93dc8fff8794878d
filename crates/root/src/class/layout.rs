//! Layout of one version of a class: the single place that interprets the type codes of streamer elements.
//!
//! Objects are read by a layout (`object/values.rs`), and columns are unrolled from it (`unroll/member.rs`).

use std::sync::Arc;

use forthwith_columns::{DType, Encoding};

use super::{Item, Layouts, Native, is_described, known};
use crate::cpp::{CppType, MANTISSA, Number};
use crate::streamer::{Counter, Element, ElementKind, Packing, StreamerInfo, code};

/// Layout of one version of a class: its bases and members in the order in which they are stored. Other
/// classes are referred to by name, since a class may contain itself.
#[derive(Debug)]
pub struct Layout {
    /// Streamer info: the class and its version, and the name, type and comment of each member.
    pub info: Arc<StreamerInfo>,
    /// Layout of each of the info's elements.
    pub members: Box<[Member]>,
}

/// Layout of a base or member of a class, or of a fixed array of members.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// The stored value.
    pub value: Value,
    /// Total number of values, if it is an array.
    pub array: Option<u32>,
    /// Dimensions of the array, the outermost first; empty if they contradict the number of values.
    pub dimensions: Box<[u32]>,
}

/// Stored form of a member.
// With a tag of its own, so that it is not encoded in the niches of other fields.
#[repr(u8)]
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A base class.
    Base(Base),
    /// A `TObject` in place.
    TObject,
    /// Status bits of a `TObject`, followed by two more bytes if the object is referenced.
    Bits,
    /// A number.
    Number(Numbers),
    /// A flag and, if that is set, numbers, which another member counts. An array of these has a single flag.
    Counted(Numbers, Arc<Counter>),
    /// A flag and, if that is set, texts after lengths of four bytes, which another member counts.
    CountedTexts(Arc<Counter>),
    /// A flag and numbers, which another member counts. The flag tells whether they have 32 or 64 bits:
    /// positions of baskets in old branches.
    Seeks(Arc<Counter>),
    /// A `char*`: text after a length of four bytes.
    LongText,
    /// A `TString`. An array of them is in one frame.
    Text,
    /// A `std::string` in a frame, or several in one frame.
    StdText,
    /// A container in a frame, or several in one frame.
    Container(Arc<Item>),
    /// Containers without frames, in a `std::array`.
    Bare(Arc<Item>),
    /// A container as an object, with or without a frame.
    Whole(Arc<Item>),
    /// A value as in a container.
    Item(Arc<Item>),
    /// A `std::array` that is not in a container.
    Array(Arc<Member>),
    /// An object of this class in place.
    Object(Arc<str>),
    /// A pointer to an object of this class, or of one derived from it.
    Pointer(Arc<str>),
    /// Objects of this class in a frame, or pointers to them, which another member counts.
    Loop {
        /// The class.
        class: Arc<str>,
        /// Whether pointers to objects are stored.
        pointers: bool,
        /// Member with the number of objects.
        counter: Arc<Counter>,
    },
    /// Numbers without a flag: a multiple of the number in another member.
    Repeated(Numbers, Arc<Counter>, u32),
    /// Numbers after their count in four bytes.
    Sized(Numbers),
    /// Upper triangle of a square matrix, whose number of rows is in another member.
    Triangle(Numbers, Arc<Counter>),
    /// Numbers whose count is the product of two other members.
    Area(Numbers, Arc<[Counter; 2]>),
    /// Rows of these numbers, which another member counts.
    Rows(Arc<[DType]>, Arc<Counter>),
    /// The number of rows in four bytes, and rows of this many `TString`s.
    Table(u32),
    /// Pointers to objects of any class, which another member counts.
    Pointers(Arc<Counter>),
    /// End of a `TRef`: a process id, or a UUID as text if the status bits say so.
    Process,
    /// A value that is present only if a boolean member has this value.
    Only(Arc<Counter>, bool, Arc<Self>),
    /// A member that a user described by words of a program: a number that they compute, or bytes that they
    /// skip.
    Words(Option<DType>, Arc<str>),
    /// Contents with a byte count that are not described.
    Framed,
    /// An unsupported member, whose length is unknown, too.
    Unsupported,
}

/// A base class.
#[derive(Clone, Debug, PartialEq)]
pub struct Base {
    /// Stored form of the base.
    pub stored: StoredBase,
    /// Version of the base, 0 or less if the class has none; `None` in very old files.
    pub version: Option<i32>,
    /// Checksum of the base; 0 in old files.
    pub checksum: u32,
}

/// Stored form of a base class.
#[derive(Clone, Debug, PartialEq)]
pub enum StoredBase {
    /// No bytes.
    Nothing,
    /// A `TObject`.
    TObject,
    /// Bytes with a byte count, which are not described.
    Framed,
    /// A container in a frame.
    Container(Arc<Item>),
    /// An object in the form of its custom streamer.
    Whole,
    /// The members of the base in a frame.
    Members {
        /// Whether a custom streamer writes the base, for each item separately even if other members of items
        /// are stored member-wise.
        apart: bool,
    },
}

/// Stored form of numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Numbers {
    /// ROOT's type code.
    pub code: i32,
    /// Type of the numbers; `None` if they are packed.
    pub basic: Option<DType>,
    /// Packing, if the comment of the member has a range.
    packing: Option<Packing>,
}

impl Layout {
    pub(super) fn of(info: &Arc<StreamerInfo>, file: &Layouts) -> Self {
        let members = info.elements.iter().map(|element| {
            let member = Member::of(element, file);
            match member.value {
                // Up to version 9, a custom streamer wrote this member.
                Value::Counted(_, counter)
                    if &*element.name == "fBasketSeek" && &*info.class == "TBranch" && info.version < 10 =>
                {
                    Member::of_value(Value::Seeks(counter))
                }
                _ => member,
            }
        });
        Self { members: members.collect(), info: info.clone() }
    }

    /// Returns the bases and members with their streamer elements.
    pub fn members(&self) -> impl Iterator<Item = (&Element, &Member)> {
        self.info.elements.iter().zip(&self.members)
    }
}

impl Member {
    /// Creates a member that is a single value.
    pub(crate) fn of_value(value: Value) -> Self {
        Self { value, array: None, dimensions: Box::default() }
    }

    /// Returns the layout of the base or member that an element describes.
    pub fn of(element: &Element, file: &Layouts) -> Self {
        let (code, is_array) = without_array(element.code);
        let length = Some(element.array_length).filter(|&length| length > 0);
        let array = is_array.then_some(element.array_length);
        let class = || plain_class(&element.type_name);
        let numbers = |code| Numbers::coded(code, element.packing);
        let item = |kind: &CppType| Arc::new(Item::of(kind, file));
        let counter = |counter: &Counter| Arc::new(counter.clone());
        let (value, array) = match &element.kind {
            ElementKind::Base { version, checksum } => {
                let stored = base(element, *version, file);
                (Value::Base(Base { stored, version: *version, checksum: *checksum }), None)
            }
            ElementKind::Own { word, numbers, counter } => {
                let value = own(element, word, numbers, counter.as_ref());
                (value.unwrap_or(Value::Unsupported), None)
            }
            ElementKind::Only(flag, when, of) => {
                (Value::Only(counter(flag), *when, Arc::new(Self::of(of, file).value)), None)
            }
            ElementKind::Words(number, words) => (Value::Words(*number, (&**words).into()), None),
            // An array of strings may have the code of a single string.
            ElementKind::StlString => (Value::StdText, length.or(is_array.then_some(1))),
            ElementKind::Stl { content, .. } => {
                let container =
                    |kind: &CppType| Value::Container(Arc::new(Item::with_content(kind, *content, file)));
                let value = match CppType::parse(&element.type_name) {
                    CppType::Pointer(of) if of.is_container() => container(&of),
                    CppType::Text(_) => Value::StdText,
                    kind if kind.is_container() => container(&kind),
                    kind @ CppType::Array(..) => Value::Array(Arc::new(Self::typed(&kind, &item(&kind)))),
                    kind @ CppType::Pointer(_) => Value::Item(item(&kind)),
                    _ => Value::Framed,
                };
                (value, length.or(is_array.then_some(1)))
            }
            kind => match code {
                code::TOBJECT => (Value::TObject, array),
                code::BITS if !is_array => (Value::Bits, None),
                code::CHAR_STAR => (Value::LongText, array),
                code::TSTRING => (Value::Text, array),
                // Counted arrays of numbers may have a fixed length, too, which their code does not tell.
                COUNTED_FIRST..=COUNTED_LAST => match kind {
                    ElementKind::BasicPointer(of) if code == COUNTED_TEXT => {
                        (Value::CountedTexts(counter(of)), length)
                    }
                    ElementKind::BasicPointer(of) => match numbers(code - code::POINTER) {
                        Some(numbers) => (Value::Counted(numbers, counter(of)), length),
                        None => (Value::Unsupported, None),
                    },
                    _ => (Value::Unsupported, None),
                },
                code::STREAM_LOOP => match kind {
                    ElementKind::Loop(of) => {
                        // Up to `OLD_LOOPS`, ROOT wrote the objects of such an array without their classes.
                        let pointers = element.type_name.trim().ends_with("**");
                        let pointers = pointers && file.written_by > OLD_LOOPS;
                        (Value::Loop { class: class().into(), pointers, counter: counter(of) }, length)
                    }
                    _ => (Value::Framed, None),
                },
                code::OBJECT | code::ANY | code::OBJECT_INPLACE | code::TNAMED | code::ANY_INPLACE => {
                    let value = match CppType::parse(class()) {
                        kind if kind.is_container() && is_array => Value::Bare(item(&kind)),
                        kind if kind.is_container() => Value::Whole(item(&kind)),
                        kind @ CppType::Array(..) => Value::Item(item(&kind)),
                        _ => Value::Object(class().into()),
                    };
                    (value, array)
                }
                // Arrays of pointers have the code of one pointer, or of arrays.
                code::OBJECT_POINTER | code::ANY_POINTER | code::ANY_POINTER_NO_VT => {
                    (Value::Pointer(pointee(class()).into()), length)
                }
                code::STL | code::STL_POINTER | code::STL_STRING | code::STREAMER => (Value::Framed, None),
                COUNTED_STL | COUNTED_LOOP => (Value::Framed, None),
                code => match numbers(code) {
                    Some(numbers) => (Value::Number(numbers), array),
                    None => (Value::Unsupported, None),
                },
            },
        };
        let dimensions = if array.is_some() { dimensions(element) } else { Box::default() };
        Self { value, array, dimensions }
    }
}

/// Returns the stored form of a base class.
fn base(element: &Element, version: Option<i32>, file: &Layouts) -> StoredBase {
    let class = &*element.name;
    let native = known(class);
    match native {
        Native::Nothing => StoredBase::Nothing,
        Native::TObject => StoredBase::TObject,
        Native::ByInfo | Native::Own | Native::Uncounted => {
            let apart = native == Native::Own || element.code != code::BASE;
            match is_described(&file.streamers, class) {
                true => StoredBase::Members { apart },
                false => match CppType::parse(class) {
                    kind if kind.is_container() => StoredBase::Container(Arc::new(Item::of(&kind, file))),
                    // Version -1 means that ROOT did not know the class when it wrote the file.
                    _ if version == Some(-1) => StoredBase::Nothing,
                    // A class without members has no streamer info.
                    _ => StoredBase::Framed,
                },
            }
        }
        _ => StoredBase::Whole,
    }
}

/// Returns the stored form of a member that only a custom streamer writes, by its word in the table.
fn own(element: &Element, word: &str, numbers: &[i32], counter: Option<&Counter>) -> Option<Value> {
    let of = || Numbers::coded(element.code, None);
    let first = numbers.first().and_then(|&number| u32::try_from(number).ok()).unwrap_or(1);
    let basic = |&code: &i32| Number::coded(code).and_then(|number| number.basic);
    Some(match (word, counter.map(|counter| Arc::new(counter.clone()))) {
        ("bare", Some(counter)) => Value::Repeated(of()?, counter, first),
        ("sized", None) => Value::Sized(of()?),
        ("triangle", Some(rows)) => Value::Triangle(of()?, rows),
        ("area", Some(sides)) => {
            let (width, height) = sides.name.split_once('*')?;
            let side = |name: &str| Counter { name: name.into(), ..(*sides).clone() };
            Value::Area(of()?, Arc::new([side(width), side(height)]))
        }
        ("rows", Some(rows)) => Value::Rows(numbers.iter().map(basic).collect::<Option<_>>()?, rows),
        ("table", None) => Value::Table(first),
        ("pointers", Some(counter)) => Value::Pointers(counter),
        ("process", None) => Value::Process,
        _ => return None,
    })
}

impl Numbers {
    /// Returns the numbers of a type code, or `None` if it is not that of a number.
    pub(super) fn coded(code: i32, packing: Option<Packing>) -> Option<Self> {
        let is_packed = packing.is_some() && matches!(code, code::DOUBLE32 | code::FLOAT16);
        let basic = Number::coded(code)?.basic.filter(|_| !is_packed);
        Some(Self { code, basic, packing })
    }

    /// Returns numbers of this kind without a range.
    pub(crate) const fn of(number: &Number) -> Self {
        Self { code: number.codes[0], basic: number.basic, packing: None }
    }

    /// Returns the size of one number in bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        self.basic.map_or_else(|| self.packing().size(), DType::size)
    }

    /// Decodes a packed number.
    pub(crate) fn unpacked(&self, bytes: &[u8]) -> f64 {
        let value = self.packing().value(bytes);
        if self.is_single() { f64::from(value as f32) } else { value }
    }

    /// Returns the packing, by default that of a number without a [basic](Self::basic) type.
    #[must_use]
    pub fn packing(&self) -> Packing {
        self.packing.unwrap_or(Packing::Mantissa { bits: MANTISSA.into() })
    }

    /// Returns whether packed numbers are `float` in memory.
    #[must_use]
    pub const fn is_single(&self) -> bool {
        self.code == code::FLOAT16
    }

    /// Returns the encoding for columns, or `None` if ROOT does not read what it wrote.
    #[must_use]
    pub fn encoding(&self) -> Option<Encoding> {
        Number::coded(self.code)?.wire(self.packing)
    }

    /// Returns whether a number can be the count of another member.
    #[must_use]
    pub const fn can_count(&self) -> bool {
        !matches!(
            self.code,
            code::BOOL | code::FLOAT | code::DOUBLE | code::DOUBLE32 | code::FLOAT16 | code::LEGACY_CHAR
        )
    }
}

/// Splits a type code into that of an item and whether it is of an array.
fn without_array(code: i32) -> (i32, bool) {
    let plain = code.wrapping_sub(code::ARRAY);
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

/// Returns a type's name without `const` and `*`.
fn plain_class(name: &str) -> &str {
    let name = name.trim().trim_end_matches('*').trim();
    name.strip_prefix("const ").unwrap_or(name)
}

/// Returns the class to which a smart pointer points, or the class itself.
fn pointee(class: &str) -> &str {
    let plain = class.strip_prefix("std::").unwrap_or(class);
    let inner = plain.strip_prefix("unique_ptr<").or_else(|| plain.strip_prefix("shared_ptr<"));
    inner
        .and_then(|inner| inner.strip_suffix('>'))
        .map_or(class, |inner| inner.split(',').next().unwrap_or(inner).trim().trim_end_matches('*').trim())
}

/// Returns the dimensions of a fixed array, or its length if they contradict it.
#[must_use]
pub fn dimensions(element: &Element) -> Box<[u32]> {
    let product = element.dimensions.iter().try_fold(1_u32, |all, &size| all.checked_mul(size));
    match element.array_length {
        0 => Box::default(),
        length if product == Some(length) => element.dimensions.as_slice().into(),
        length => Box::new([length]),
    }
}

/// Last version in which ROOT wrote the objects of pointers in an array without their classes.
pub(crate) const OLD_LOOPS: i32 = 51508;
const COUNTED_FIRST: i32 = code::POINTER + code::CHAR;
const COUNTED_LAST: i32 = code::POINTER + code::FLOAT16;
const COUNTED_TEXT: i32 = code::POINTER + code::CHAR_STAR;
const COUNTED_STL: i32 = code::POINTER + code::STL;
const COUNTED_LOOP: i32 = code::POINTER + code::STREAM_LOOP;
