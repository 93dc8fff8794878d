//! How one version of a class is stored: the one dispatch over the codes that streamer elements have.
//!
//! Objects walk a layout (`object/values.rs`), and columns are unrolled from it (`unroll/member.rs`).

use std::sync::Arc;

use forthwith_columns::{DType, Encoding};

use super::{Item, Layouts, Native, is_described, known};
use crate::cpp::{CppType, MANTISSA, Number};
use crate::streamer::{Counter, Element, ElementKind, Packing, StreamerInfo, code};

/// One version of a class: its bases and members in the order in which they are stored. Other classes are
/// meant by name, since a class may contain itself.
#[derive(Debug)]
pub struct Layout {
    /// The class, its version, and of each member name, type and comment.
    pub info: Arc<StreamerInfo>,
    /// How each of the info's elements is stored.
    pub members: Box<[Member]>,
}

/// How a base or member of a class is stored, or a fixed array of such.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// The stored value.
    pub value: Value,
    /// The number of values that stand one after the other, if it is an array.
    pub array: Option<u32>,
    /// The sizes of the array, the outermost first; none where they are not those of as many.
    pub dimensions: Box<[u32]>,
}

/// The stored form of a member.
// With a tag of its own, which the walker need not work out of other fields.
#[repr(u8)]
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A base class.
    Base(Base),
    /// A `TObject` in place.
    TObject,
    /// The status bits of a `TObject`. Two more bytes follow those of an object that is referenced.
    Bits,
    /// A number.
    Number(Numbers),
    /// A flag, and if that is set, as many numbers as another member says. Of an array of such, one flag
    /// stands before all.
    Counted(Numbers, Arc<Counter>),
    /// The same of texts behind four bytes of length.
    CountedTexts(Arc<Counter>),
    /// The same, except that the flag tells whether numbers have 32 or 64 bits: where the baskets of old
    /// branches are.
    Seeks(Arc<Counter>),
    /// A `char*`: text behind four bytes of length.
    LongText,
    /// A `TString`. Several are in one frame.
    Text,
    /// A `std::string` in a frame, or several in one.
    StdText,
    /// A container in a frame, or several in one.
    Container(Arc<Item>),
    /// Containers without frames: those of a `std::array`.
    Bare(Arc<Item>),
    /// A container as an object of its own, which has a frame or none.
    Whole(Arc<Item>),
    /// A value as it stands in a container.
    Item(Arc<Item>),
    /// A `std::array` by itself.
    Array(Arc<Member>),
    /// An object of this class in place.
    Object(Arc<str>),
    /// A pointer to an object of this class, or of one derived from it.
    Pointer(Arc<str>),
    /// As many objects of this class in a frame as another member says, or pointers to them.
    Loop {
        /// The class.
        class: Arc<str>,
        /// Whether pointers to objects are stored.
        pointers: bool,
        /// The member that counts them.
        counter: Arc<Counter>,
    },
    /// Numbers with no flag before them: a multiple of the number that another member holds.
    Repeated(Numbers, Arc<Counter>, u32),
    /// Numbers behind four bytes of how many there are.
    Sized(Numbers),
    /// The upper right half of a square matrix with as many rows as another member says.
    Triangle(Numbers, Arc<Counter>),
    /// As many numbers as the product of two other members.
    Area(Numbers, Arc<[Counter; 2]>),
    /// As many rows as another member says, of these numbers.
    Rows(Arc<[DType]>, Arc<Counter>),
    /// Four bytes of how many rows there are, and rows of this many `TString`s.
    Table(u32),
    /// As many pointers to objects of any class as another member says.
    Pointers(Arc<Counter>),
    /// The end of a `TRef`: a process id, or a UUID as text if the status bits before it say so.
    Process,
    /// There only if another member, a truth value, is this one.
    Only(Arc<Counter>, bool, Arc<Self>),
    /// A member that a user told in words: the number that they leave, or the bytes that they step over.
    Words(Option<DType>, Arc<str>),
    /// Something with a byte count that no code says more of.
    Framed,
    /// Nothing is known of it, not even where it ends.
    Unsupported,
}

/// A base class.
#[derive(Clone, Debug, PartialEq)]
pub struct Base {
    /// Its stored form.
    pub stored: StoredBase,
    /// Its version; 0 or less if it has none of its own. Unknown in very old files.
    pub version: Option<i32>,
    /// Its checksum; 0 in old files.
    pub checksum: u32,
}

/// The stored form of a base class.
#[derive(Clone, Debug, PartialEq)]
pub enum StoredBase {
    /// No bytes.
    Nothing,
    /// A `TObject`.
    TObject,
    /// Something with a byte count, of which nothing is known.
    Framed,
    /// A container in a frame.
    Container(Arc<Item>),
    /// An object as code of its own writes it.
    Whole,
    /// Its members in a frame.
    Members {
        /// Its own code writes it: of each item by itself also where other members of many items stand
        /// together.
        apart: bool,
    },
}

/// Numbers as they are stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Numbers {
    /// ROOT's code.
    pub code: i32,
    /// Their kind, unless they are packed.
    pub basic: Option<DType>,
    /// How they are packed, if that is said.
    packing: Option<Packing>,
}

impl Layout {
    pub(super) fn of(info: &Arc<StreamerInfo>, file: &Layouts) -> Self {
        let members = info.elements.iter().map(|element| {
            let member = Member::of(element, file);
            match member.value {
                // Written by hand, not by the info, up to version 9.
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

    /// Bases and members, with what the info says of them.
    pub fn members(&self) -> impl Iterator<Item = (&Element, &Member)> {
        self.info.elements.iter().zip(&self.members)
    }
}

impl Member {
    /// One value.
    pub(crate) fn of_value(value: Value) -> Self {
        Self { value, array: None, dimensions: Box::default() }
    }

    /// The base or member that an element describes.
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
            // Files have the code of one for arrays, too.
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
                // Arrays of numbers that a member counts have a length, but no other code.
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
                        // Up to some version, ROOT wrote what an array of pointers leads to without the
                        // classes.
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
                // Arrays of pointers have the code of one, or that of arrays.
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

/// The stored form of a base class.
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
                    // ROOT did not know it either.
                    _ if version == Some(-1) => StoredBase::Nothing,
                    // Of a class without members there is nothing to describe.
                    _ => StoredBase::Framed,
                },
            }
        }
        _ => StoredBase::Whole,
    }
}

/// The stored form of a member that only code of a class's own writes, by the word for it.
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
    /// Numbers of one of ROOT's codes.
    pub(super) fn coded(code: i32, packing: Option<Packing>) -> Option<Self> {
        let is_packed = packing.is_some() && matches!(code, code::DOUBLE32 | code::FLOAT16);
        let basic = Number::coded(code)?.basic.filter(|_| !is_packed);
        Some(Self { code, basic, packing })
    }

    /// Those of a number without a range.
    pub(crate) const fn of(number: &Number) -> Self {
        Self { code: number.codes[0], basic: number.basic, packing: None }
    }

    /// Bytes of one of them.
    #[must_use]
    pub fn size(&self) -> usize {
        self.basic.map_or_else(|| self.packing().size(), DType::size)
    }

    /// The number that these bytes of a packed one mean.
    pub(crate) fn unpacked(&self, bytes: &[u8]) -> f64 {
        let value = self.packing().value(bytes);
        if self.is_single() { f64::from(value as f32) } else { value }
    }

    /// How they are packed that are not of some [basic](Self::basic) kind.
    #[must_use]
    pub fn packing(&self) -> Packing {
        self.packing.unwrap_or(Packing::Mantissa { bits: MANTISSA.into() })
    }

    /// Whether packed ones are `float`s in memory.
    #[must_use]
    pub const fn is_single(&self) -> bool {
        self.code == code::FLOAT16
    }

    /// How columns read them; `None` where ROOT does not read back what it wrote.
    #[must_use]
    pub fn encoding(&self) -> Option<Encoding> {
        Number::coded(self.code)?.wire(self.packing)
    }

    /// Whether one of them can say how many items another member has.
    #[must_use]
    pub const fn can_count(&self) -> bool {
        !matches!(
            self.code,
            code::BOOL | code::FLOAT | code::DOUBLE | code::DOUBLE32 | code::FLOAT16 | code::LEGACY_CHAR
        )
    }
}

/// A code without what says that it is of an array.
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

/// A type's name without `const` and `*`.
fn plain_class(name: &str) -> &str {
    let name = name.trim().trim_end_matches('*').trim();
    name.strip_prefix("const ").unwrap_or(name)
}

/// The class a pointer leads to, if the type's name is that of a smart one.
fn pointee(class: &str) -> &str {
    let plain = class.strip_prefix("std::").unwrap_or(class);
    let inner = plain.strip_prefix("unique_ptr<").or_else(|| plain.strip_prefix("shared_ptr<"));
    inner
        .and_then(|inner| inner.strip_suffix('>'))
        .map_or(class, |inner| inner.split(',').next().unwrap_or(inner).trim().trim_end_matches('*').trim())
}

/// The sizes of a fixed array, as far as they are those of as many items.
#[must_use]
pub fn dimensions(element: &Element) -> Box<[u32]> {
    let product = element.dimensions.iter().try_fold(1_u32, |all, &size| all.checked_mul(size));
    match element.array_length {
        0 => Box::default(),
        length if product == Some(length) => element.dimensions.as_slice().into(),
        length => Box::new([length]),
    }
}

/// Up to this version, ROOT wrote what an array of pointers leads to without the classes.
pub(crate) const OLD_LOOPS: i32 = 51508;
const COUNTED_FIRST: i32 = code::POINTER + code::CHAR;
const COUNTED_LAST: i32 = code::POINTER + code::FLOAT16;
const COUNTED_TEXT: i32 = code::POINTER + code::CHAR_STAR;
const COUNTED_STL: i32 = code::POINTER + code::STL;
const COUNTED_LOOP: i32 = code::POINTER + code::STREAM_LOOP;
