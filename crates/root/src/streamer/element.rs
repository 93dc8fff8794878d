//! Streamer elements: one member or base of a class each.

use forthwith_columns::DType;
use forthwith_plan::Result;

use super::{Packing, code};
use crate::cpp::Container;
use crate::record::{Cursor, text};

/// One member or base of a class, as it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Element {
    /// Its kind, with the facts that only such elements have.
    pub kind: ElementKind,
    /// Its name; for a base, the base's name.
    pub name: Box<str>,
    /// Its comment in the C++ header.
    pub title: Box<str>,
    /// ROOT's code of its type: see [`code`].
    pub code: i32,
    /// Its size in memory.
    pub size: i32,
    /// Number of items of a fixed-size array, all dimensions together; 0 if it is no array.
    pub array_length: u32,
    /// The array's dimensions.
    pub dimensions: Vec<u32>,
    /// Name of its type in C++.
    pub type_name: Box<str>,
    /// How a `Float16_t` or `Double32_t` is packed.
    pub packing: Option<Packing>,
}

/// The kinds of streamer elements.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ElementKind {
    /// A base class.
    Base {
        /// Its version; 0 or less if it has none of its own. Unknown in very old files.
        version: Option<i32>,
        /// Its checksum; 0 in old files.
        checksum: u32,
    },
    /// A number.
    Basic,
    /// A pointer to numbers, as many as another member says.
    BasicPointer(Counter),
    /// A pointer to objects, as many as another member says.
    Loop(Counter),
    /// An object that is a `TObject`.
    Object,
    /// An object that is none.
    ObjectAny,
    /// A pointer to an object that is a `TObject`.
    ObjectPointer,
    /// A pointer to an object that is none.
    ObjectAnyPointer,
    /// A `TString`.
    String,
    /// A container of the standard library.
    Stl {
        /// Which container: ROOT's `ESTLType`, put right where old files have it wrong.
        container: i32,
        /// Code of the items' type.
        content: i32,
    },
    /// A `std::string`.
    StlString,
    /// As only code of a class's own writes it, and ROOT's for streamer elements never does (`class/own.rs`).
    /// Numbers are of the element's code.
    Own {
        /// How it does.
        word: Box<str>,
        /// The numbers behind the word.
        numbers: Box<[i32]>,
        /// The member that counts its items.
        counter: Option<Counter>,
    },
    /// There only if another member, a truth value, is this one.
    Only(Counter, bool, Box<Element>),
    /// Told by a user: the type of a number that these words leave on the stack; without one, bytes that they
    /// step over.
    Words(Option<DType>, Box<str>),
    /// Made by a schema evolution rule.
    Artificial,
    /// Anything newer, kept as it is.
    Unknown(Box<str>),
}

impl ElementKind {
    /// ROOT's class of such elements.
    #[must_use]
    pub fn class(&self) -> &str {
        match self {
            Self::Base { .. } => "TStreamerBase",
            Self::Basic | Self::Own { .. } | Self::Only(..) | Self::Words(..) => "TStreamerBasicType",
            Self::BasicPointer(_) => "TStreamerBasicPointer",
            Self::Loop(_) => "TStreamerLoop",
            Self::Object => "TStreamerObject",
            Self::ObjectAny => "TStreamerObjectAny",
            Self::ObjectPointer => "TStreamerObjectPointer",
            Self::ObjectAnyPointer => "TStreamerObjectAnyPointer",
            Self::String => "TStreamerString",
            Self::Stl { .. } => "TStreamerSTL",
            Self::StlString => "TStreamerSTLstring",
            Self::Artificial => "TStreamerElement",
            Self::Unknown(class) => class,
        }
    }
}

/// The member that counts another's items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counter {
    /// Version of its class.
    pub version: i32,
    /// Its name.
    pub name: Box<str>,
    /// Its class.
    pub class: Box<str>,
}

impl Element {
    /// A member of a type, whose name, code and items are to be set.
    #[must_use]
    pub fn typed(type_name: &str) -> Self {
        Self {
            kind: ElementKind::Basic,
            name: "".into(),
            title: "".into(),
            code: 0,
            size: 0,
            array_length: 0,
            dimensions: Vec::new(),
            type_name: type_name.into(),
            packing: None,
        }
    }

    /// A base, as ROOT describes one of that class.
    pub(super) fn base_of(name: &str, version: Option<i32>) -> Self {
        // Their own code writes these, of each item by itself also where other members of many items stand
        // together.
        let code = match name {
            "TObject" => code::TOBJECT,
            "TNamed" => code::TNAMED,
            _ => code::BASE,
        };
        let kind = ElementKind::Base { version, checksum: 0 };
        Self { kind, name: name.into(), code, ..Self::typed("BASE") }
    }

    /// The member that counts its items, if another does.
    #[must_use]
    pub fn counter(&self) -> Option<&Counter> {
        match &self.kind {
            ElementKind::BasicPointer(counter) | ElementKind::Loop(counter) => Some(counter),
            ElementKind::Own { word, counter, .. } if matches!(&**word, "bare" | "triangle") => {
                counter.as_ref()
            }
            _ => None,
        }
    }

    /// Whether it is a base class.
    #[must_use]
    pub const fn is_base(&self) -> bool {
        matches!(self.kind, ElementKind::Base { .. })
    }

    /// Parses the contents of an element of class `class`, a `TStreamerElement` or one derived from it.
    ///
    /// # Errors
    /// The bytes end before, or a byte count lies.
    pub(super) fn parse(class: &[u8], cursor: &mut Cursor<'_>) -> Result<Self> {
        let frame = cursor.frame()?;
        // An element of a derived class has a frame of its own around that of the class before.
        let container = if class == b"TStreamerSTLstring" { Some(cursor.frame()?) } else { None };
        let (mut element, indices) = match class {
            b"TStreamerElement" => Self::common(cursor, frame.version)?,
            _ => {
                let inner = cursor.frame()?;
                let common = Self::common(cursor, inner.version)?;
                cursor.leave(&inner);
                common
            }
        };
        element.kind = match class {
            b"TStreamerElement" | b"TStreamerArtificial" => ElementKind::Artificial,
            b"TStreamerBase" => {
                let version = if frame.version > 2 { Some(cursor.i32()?) } else { None };
                // Bases keep it in the room for dimensions.
                ElementKind::Base { version, checksum: indices[1] }
            }
            b"TStreamerBasicType" => ElementKind::Basic,
            b"TStreamerBasicPointer" => ElementKind::BasicPointer(Counter::parse(cursor)?),
            b"TStreamerLoop" => ElementKind::Loop(Counter::parse(cursor)?),
            b"TStreamerObject" => ElementKind::Object,
            b"TStreamerObjectAny" => ElementKind::ObjectAny,
            b"TStreamerObjectPointer" => ElementKind::ObjectPointer,
            b"TStreamerObjectAnyPointer" => ElementKind::ObjectAnyPointer,
            b"TStreamerString" => ElementKind::String,
            b"TStreamerSTL" | b"TStreamerSTLstring" => {
                let (stored, content) = (cursor.i32()?, cursor.i32()?);
                match container_of(&element.type_name) {
                    Some(STRING) => ElementKind::StlString,
                    _ if container.is_some() => ElementKind::StlString,
                    named => ElementKind::Stl { container: named.unwrap_or(stored), content },
                }
            }
            other => ElementKind::Unknown(text(other).into()),
        };
        if let Some(container) = &container {
            cursor.leave(container);
        }
        cursor.leave(&frame);
        Ok(element)
    }

    /// What all elements have, and the room for five dimensions.
    fn common(cursor: &mut Cursor<'_>, version: i16) -> Result<(Self, [u32; 5])> {
        let frame = cursor.frame()?;
        let bits = cursor.tobject()?.bits;
        let name = text(cursor.string()?).into();
        let title = text(cursor.string()?);
        cursor.leave(&frame);
        let mut code = cursor.i32()?;
        let size = cursor.i32()?;
        let array_length = cursor.u32()?;
        let rank = cursor.u32()?;
        let stored = if version == 1 { cursor.u32()? } else { 5 };
        let mut indices = [0; 5];
        for position in 0..stored {
            let index = cursor.u32()?;
            if let Some(place) = indices.get_mut(position as usize) {
                *place = index;
            }
        }
        let type_name = text(cursor.string()?);
        if code == code::UCHAR && matches!(&*type_name, "Bool_t" | "bool") {
            // Old files have no code for it.
            code = code::BOOL;
        }
        let packing = match version {
            3 => Packing::from_stored(cursor.f64()?, cursor.f64()?, cursor.f64()?),
            4.. if bits & HAS_RANGE != 0 => Packing::from_comment(&title),
            _ => None,
        };
        let (title, dimensions) = (title.into(), indices[..rank.min(5) as usize].to_vec());
        let element =
            Self { name, title, code, size, array_length, dimensions, packing, ..Self::typed(&type_name) };
        Ok((element, indices))
    }
}

impl Counter {
    fn parse(cursor: &mut Cursor<'_>) -> Result<Self> {
        let version = cursor.i32()?;
        let name = text(cursor.string()?).into();
        let class = text(cursor.string()?).into();
        Ok(Self { version, name, class })
    }
}

/// The container that a C++ type name names, by ROOT's `ESTLType`. Recorded wrongly by some versions of ROOT:
/// sets and multimaps changed places, and early ones called everything a vector.
fn container_of(type_name: &str) -> Option<i32> {
    let name = type_name.strip_prefix("const ").unwrap_or(type_name);
    let name = name.strip_prefix("std::").unwrap_or(name);
    let name = name.split(['<', ' ', '*']).next().unwrap_or(name);
    match name {
        "string" | "basic_string" => Some(STRING),
        _ => Container::named(name).map(|container| container.stl),
    }
}

/// Set in the bits of an element whose comment holds a range.
const HAS_RANGE: u32 = 1 << 6;
const STRING: i32 = 365;
