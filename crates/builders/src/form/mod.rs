//! Forms in the whole of Awkward Array's vocabulary: what a builder can be asked for.

mod json;
mod parse;
mod primitive;
mod text;

pub use primitive::{Primitive, TimeUnit, Unit};

use forthwith_columns::DType;
use serde_json::Value as Json;

/// Parameters of a node, as Awkward Array has them.
pub type Parameters = serde_json::Map<String, Json>;

/// A node of a structure: what [`forthwith_columns::Form`] says, and what only Awkward Array's own Forms can
/// say (masks, indirections, integer widths, complex numbers, dates, parameters).
#[derive(Clone, Debug, PartialEq)]
pub struct Form {
    /// The kind of node.
    pub kind: Kind,
    /// Its parameters: `__record__` is the name of a record, `__array__` makes a list of bytes a string.
    pub parameters: Parameters,
    /// The beginning of the names of its buffers, when it has any.
    pub key: Option<String>,
}

/// The kinds of nodes, one for each class of Awkward Array's Forms.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Kind {
    /// Nothing is known of the items and there are none.
    Empty,
    /// Numbers, with fixed inner dimensions, outermost first.
    Numpy {
        /// The type of a number.
        primitive: Primitive,
        /// The inner dimensions.
        shape: Vec<u64>,
    },
    /// Lists of one length.
    Regular {
        /// That length.
        size: u64,
        /// The items.
        content: Box<Form>,
    },
    /// Lists one after the other.
    ListOffset {
        /// The type of the offsets.
        offsets: Index,
        /// The items.
        content: Box<Form>,
    },
    /// Lists that begin and end anywhere.
    List {
        /// The type of starts and stops.
        starts: Index,
        /// The items.
        content: Box<Form>,
    },
    /// Named fields, or the slots of a tuple when `fields` is `None`.
    Record {
        /// The names.
        fields: Option<Vec<String>>,
        /// One node a field.
        contents: Vec<Form>,
    },
    /// Rows of the content in any order.
    Indexed {
        /// The type of the index.
        index: Index,
        /// The node it points into.
        content: Box<Form>,
    },
    /// Rows of the content, or null where the index is negative.
    IndexedOption {
        /// The type of the index.
        index: Index,
        /// The node it points into.
        content: Box<Form>,
    },
    /// Null where a byte says so.
    ByteMasked {
        /// The byte of values that are there.
        valid_when: bool,
        /// The values, with something in the place of nulls.
        content: Box<Form>,
    },
    /// Null where a bit says so.
    BitMasked {
        /// The bit of values that are there.
        valid_when: bool,
        /// Whether the first row is the least significant bit.
        lsb_order: bool,
        /// The values, with something in the place of nulls.
        content: Box<Form>,
    },
    /// Null in type, never in fact.
    Unmasked {
        /// The values.
        content: Box<Form>,
    },
    /// One of several types.
    Union {
        /// The type of the index; tags are always int8.
        index: Index,
        /// The alternatives, in the order of their tags.
        contents: Vec<Form>,
    },
}

/// Integer types of offsets and indexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Index {
    /// 32 bits.
    I32,
    /// 32 bits without a sign.
    U32,
    /// 64 bits.
    I64,
}

/// The meaning of a list of bytes, by its `__array__`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Text {
    /// Text in UTF-8.
    String,
    /// Bytes.
    Bytes,
}

/// A type or a Form that cannot be understood, or that nothing can be built of.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FormError {
    /// Not JSON, with the parser's message.
    #[error("this is no JSON: {0}")]
    Json(String),
    /// JSON that is no Form.
    #[error("{place}: {what}")]
    Node {
        /// The path of the node: `content.contents[1]`.
        place: String,
        /// The fault, as a phrase.
        what: String,
    },
    /// A text that is no type.
    #[error("at character {at} of the type {text:?}: expected {expected}")]
    Type {
        /// Characters before the place.
        at: usize,
        /// The whole text.
        text: String,
        /// The value that would have been right.
        expected: String,
    },
    /// Structure within structure beyond reason.
    #[error("more than {} levels of structure", Form::DEEPEST)]
    Deep,
    /// A type that exists and that is not supported.
    #[error("{0} cannot be built")]
    Unsupported(String),
}

/// Whether brackets are nested deeper than this, wherever they stand in the text.
fn nests_deeper(text: &str, most: usize) -> bool {
    let mut depth = 0_usize;
    text.bytes().any(|byte| {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > most
    })
}

/// The part of a text that was parsed before an error.
fn before<'t>(text: &'t str, error: &serde_json::Error) -> &'t str {
    let line_start: usize =
        text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    let end = line_start.saturating_add(error.column()).min(text.len());
    text.get(..end).unwrap_or(text)
}

/// Brackets within brackets that `serde_json` parses.
const DEEPEST_JSON: usize = 127;

/// The nodes below one: all of its contents, or its only one as a slice.
macro_rules! contents {
    ($kind:expr, $only:path) => {
        match $kind {
            Kind::Empty | Kind::Numpy { .. } => Default::default(),
            Kind::Record { contents, .. } | Kind::Union { contents, .. } => contents,
            Kind::Regular { content, .. }
            | Kind::ListOffset { content, .. }
            | Kind::List { content, .. }
            | Kind::Indexed { content, .. }
            | Kind::IndexedOption { content, .. }
            | Kind::ByteMasked { content, .. }
            | Kind::BitMasked { content, .. }
            | Kind::Unmasked { content } => $only(content),
        }
    };
}

impl Form {
    /// Forms nested deeper are refused.
    pub const DEEPEST: usize = 256;

    /// A node without parameters and key.
    #[must_use]
    pub fn new(kind: Kind) -> Self {
        Self { kind, parameters: Parameters::new(), key: None }
    }

    /// A number.
    #[must_use]
    pub fn number(primitive: Primitive) -> Self {
        Self::new(Kind::Numpy { primitive, shape: Vec::new() })
    }

    /// A string of any length.
    #[must_use]
    pub fn text(text: Text) -> Self {
        let kind = Kind::ListOffset { offsets: Index::I64, content: Box::new(text.item()) };
        Self::new(kind).with_parameter("__array__", text.list_name().into())
    }

    /// Lists of this.
    #[must_use]
    pub fn list(self) -> Self {
        Self::new(Kind::ListOffset { offsets: Index::I64, content: Box::new(self) })
    }

    /// This or null.
    #[must_use]
    pub fn option(self) -> Self {
        Self::new(Kind::IndexedOption { index: Index::I64, content: Box::new(self) })
    }

    /// The same node with one more parameter.
    #[must_use]
    pub fn with_parameter(mut self, name: &str, value: Json) -> Self {
        self.parameters.insert(name.into(), value);
        self
    }

    /// The name of a record.
    #[must_use]
    pub fn record_name(&self) -> Option<&str> {
        self.parameter_text("__record__").filter(|_| matches!(self.kind, Kind::Record { .. }))
    }

    /// Whether a list is really a string, and which kind.
    #[must_use]
    pub fn as_text(&self) -> Option<Text> {
        let (Kind::Regular { content, .. } | Kind::ListOffset { content, .. } | Kind::List { content, .. }) =
            &self.kind
        else {
            return None;
        };
        let bytes =
            matches!(&content.kind, Kind::Numpy { primitive: Primitive::UInt8, shape } if shape.is_empty());
        match self.parameter_text("__array__") {
            Some("string") if bytes => Some(Text::String),
            Some("bytestring") if bytes => Some(Text::Bytes),
            _ => None,
        }
    }

    /// The nodes directly below.
    #[must_use]
    pub fn contents(&self) -> &[Self] {
        contents!(&self.kind, std::slice::from_ref::<Self>)
    }

    /// The nodes directly below.
    pub(crate) fn contents_mut(&mut self) -> &mut [Self] {
        contents!(&mut self.kind, std::slice::from_mut::<Self>)
    }

    /// Reads a Form in JSON or a type, whichever it is.
    ///
    /// # Errors
    /// As [`from_json`](Self::from_json) for what is JSON, as [`from_type`](Self::from_type) for all else.
    pub fn parse(text: &str) -> Result<Self, FormError> {
        match serde_json::from_str::<Json>(text) {
            Ok(Json::Object(map)) if !map.is_empty() => Self::from_json(text),
            Ok(Json::String(_)) => Self::from_json(text),
            // JSON beyond the depth of its parser is not a type either.
            Err(error) if nests_deeper(before(text, &error), DEEPEST_JSON) => Self::from_json(text),
            _ => Self::from_type(text),
        }
    }

    /// The same structure with keys `node0`, `node1`, … in the order of the text.
    ///
    /// # Errors
    /// [`FormError::Deep`].
    pub fn with_keys(mut self) -> Result<Self, FormError> {
        fn number(form: &mut Form, next: &mut usize, depth: usize) -> Result<(), FormError> {
            if depth > Form::DEEPEST {
                return Err(FormError::Deep);
            }
            form.key = Some(format!("node{next}"));
            *next += 1;
            form.contents_mut().iter_mut().try_for_each(|content| number(content, next, depth + 1))
        }
        number(&mut self, &mut 0, 0)?;
        Ok(self)
    }

    fn parameter_text(&self, name: &str) -> Option<&str> {
        self.parameters.get(name).and_then(Json::as_str)
    }
}

impl Index {
    const ALL: [Self; 3] = [Self::I32, Self::U32, Self::I64];

    /// The one of that name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|index| index.name() == name)
    }

    /// The one whose items are of that type.
    pub(crate) fn from_dtype(dtype: DType) -> Option<Self> {
        Self::ALL.into_iter().find(|index| index.dtype() == dtype)
    }

    /// The type of its items.
    pub(crate) const fn dtype(self) -> DType {
        match self {
            Self::I32 => DType::Int32,
            Self::U32 => DType::UInt32,
            Self::I64 => DType::Int64,
        }
    }

    /// Awkward's word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::I32 => "i32",
            Self::U32 => "u32",
            Self::I64 => "i64",
        }
    }

    /// The largest number it holds.
    #[must_use]
    pub const fn most(self) -> i64 {
        match self {
            Self::I32 => i32::MAX as i64,
            Self::U32 => u32::MAX as i64,
            Self::I64 => i64::MAX,
        }
    }
}

impl Text {
    /// The `__array__` of the list.
    #[must_use]
    pub const fn list_name(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Bytes => "bytestring",
        }
    }

    /// The bytes in it.
    #[must_use]
    pub fn item(self) -> Form {
        let name = match self {
            Self::String => "char",
            Self::Bytes => "byte",
        };
        Form::number(Primitive::UInt8).with_parameter("__array__", name.into())
    }
}
