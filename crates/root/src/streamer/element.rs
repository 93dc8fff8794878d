//! Streamer elements, each of which describes one member or base of a class.

use forthwith_columns::DType;
use forthwith_plan::Result;

use super::{Packing, code};
use crate::cpp::Container;
use crate::record::{Cursor, text};

/// One member or base of a class, as it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Element {
    /// Kind of the element.
    pub kind: ElementKind,
    /// Name of the member or base.
    pub name: Box<str>,
    /// Comment in the C++ header.
    pub title: Box<str>,
    /// ROOT's type code: see [`code`].
    pub code: i32,
    /// Size in memory in bytes.
    pub size: i32,
    /// Total number of items of a fixed array; 0 if it is not an array.
    pub array_length: u32,
    /// Dimensions of the array.
    pub dimensions: Vec<u32>,
    /// C++ name of the type.
    pub type_name: Box<str>,
    /// Packing of a `Float16_t` or `Double32_t`.
    pub packing: Option<Packing>,
}

/// Kind of a streamer element.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ElementKind {
    /// A base class.
    Base {
        /// Version of the base; 0 or less if it has none of its own. Unknown in very old files.
        version: Option<i32>,
        /// Checksum of the base; 0 in old files.
        checksum: u32,
    },
    /// A number.
    Basic,
    /// A pointer to numbers, which another member counts.
    BasicPointer(Counter),
    /// A pointer to objects, which another member counts.
    Loop(Counter),
    /// An object that inherits from `TObject`.
    Object,
    /// An object that does not inherit from `TObject`.
    ObjectAny,
    /// A pointer to an object that inherits from `TObject`.
    ObjectPointer,
    /// A pointer to an object that does not inherit from `TObject`.
    ObjectAnyPointer,
    /// A `TString`.
    String,
    /// A container of the standard library.
    Stl {
        /// ROOT's `ESTLType` of the container, corrected for old files.
        container: i32,
        /// Type code of the items.
        content: i32,
    },
    /// A `std::string`.
    StlString,
    /// A form that only custom streamers write, and ROOT's streamer elements cannot describe
    /// (`class/own.rs`). The element's code is that of its numbers.
    Own {
        /// Word for the form.
        word: Box<str>,
        /// Numbers after the word.
        numbers: Box<[i32]>,
        /// Member that counts the items.
        counter: Option<Counter>,
    },
    /// A member that is present only if another, boolean member has this value.
    Only(Counter, bool, Box<Element>),
    /// A member that a user described in words: the type of a number that they leave on the stack or, without
    /// a type, bytes that they step over.
    Words(Option<DType>, Box<str>),
    /// A member that a schema evolution rule makes.
    Artificial,
    /// An element of an unknown class.
    Unknown(Box<str>),
}

impl ElementKind {
    /// Returns ROOT's class of such elements.
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

/// Member that counts the items of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counter {
    /// Version of its class.
    pub version: i32,
    /// Name of the member.
    pub name: Box<str>,
    /// Class of the member.
    pub class: Box<str>,
}

impl Element {
    /// Returns a member of a type, without name, code and items.
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

    /// Returns a base, as ROOT describes one of that class.
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

    /// Returns the member that counts the items of this one, if there is one.
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

    /// Returns whether the element is a base class.
    #[must_use]
    pub const fn is_base(&self) -> bool {
        matches!(self.kind, ElementKind::Base { .. })
    }

    /// Parses the contents of an element of class `class`, a `TStreamerElement` or a subclass of it.
    ///
    /// # Errors
    /// Returns an error if the bytes end early, or if a byte count is wrong.
    pub(super) fn parse(class: &[u8], cursor: &mut Cursor<'_>) -> Result<Self> {
        let frame = cursor.frame()?;
        // An element of a derived class has a frame of its own around that of its base.
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
                // The checksum of a base is in the place of dimensions.
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

    /// Parses the part that all elements have. Returns the element, and the array of five dimensions.
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

/// Returns ROOT's `ESTLType` of a container's type name. Some versions of ROOT stored wrong types: sets and
/// multimaps were swapped, and early versions stored all containers as vectors.
fn container_of(type_name: &str) -> Option<i32> {
    let name = type_name.strip_prefix("const ").unwrap_or(type_name);
    let name = name.strip_prefix("std::").unwrap_or(name);
    let name = name.split(['<', ' ', '*']).next().unwrap_or(name);
    match name {
        "string" | "basic_string" => Some(STRING),
        _ => Container::named(name).map(|container| container.stl),
    }
}

/// Status bit of an element whose comment has a range.
const HAS_RANGE: u32 = 1 << 6;
const STRING: i32 = 365;
