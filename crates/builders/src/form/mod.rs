//! Forms with all node types of Awkward Array: the types that a builder can be created for.

mod json;
mod parse;
mod primitive;
mod text;

pub use primitive::{Primitive, TimeUnit, Unit};

use forthwith_columns::DType;
use serde_json::Value as Json;

/// Parameters of a node, as in Awkward Array.
pub type Parameters = serde_json::Map<String, Json>;

/// Node of a type. In addition to [`forthwith_columns::Form`], it represents masks, indirections, integer
/// widths, complex numbers, dates and parameters of Awkward Array.
#[derive(Clone, Debug, PartialEq)]
pub struct Form {
    /// Kind of node.
    pub kind: Kind,
    /// Parameters: `__record__` is the name of a record, `__array__` makes a list of bytes a string.
    pub parameters: Parameters,
    /// Prefix of the names of its buffers.
    pub key: Option<String>,
}

/// Kind of node, one for each class of Awkward Array's Forms.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Kind {
    /// No items, of unknown type.
    Empty,
    /// Numbers, with fixed inner dimensions.
    Numpy {
        /// Type of a number.
        primitive: Primitive,
        /// Inner dimensions, outermost first.
        shape: Vec<u64>,
    },
    /// Lists of a fixed length.
    Regular {
        /// Length of each list.
        size: u64,
        /// Items of the lists.
        content: Box<Form>,
    },
    /// Consecutive lists.
    ListOffset {
        /// Integer type of the offsets.
        offsets: Index,
        /// Items of the lists.
        content: Box<Form>,
    },
    /// Lists with arbitrary starts and stops.
    List {
        /// Integer type of starts and stops.
        starts: Index,
        /// Items of the lists.
        content: Box<Form>,
    },
    /// Records, or tuples if `fields` is `None`.
    Record {
        /// Names of the fields.
        fields: Option<Vec<String>>,
        /// Nodes of the fields.
        contents: Vec<Form>,
    },
    /// Rows of the content, in the order of an index.
    Indexed {
        /// Integer type of the index.
        index: Index,
        /// Indexed node.
        content: Box<Form>,
    },
    /// Rows of the content, in the order of an index whose negative items are nulls.
    IndexedOption {
        /// Integer type of the index.
        index: Index,
        /// Indexed node.
        content: Box<Form>,
    },
    /// Nullable values with a mask of bytes.
    ByteMasked {
        /// Mask value of values that are not null.
        valid_when: bool,
        /// Values, with arbitrary ones in place of nulls.
        content: Box<Form>,
    },
    /// Nullable values with a mask of bits.
    BitMasked {
        /// Mask value of values that are not null.
        valid_when: bool,
        /// Whether the least significant bit of a byte is its first row.
        lsb_order: bool,
        /// Values, with arbitrary ones in place of nulls.
        content: Box<Form>,
    },
    /// Values of a nullable type without nulls.
    Unmasked {
        /// Values.
        content: Box<Form>,
    },
    /// Values of one of several types.
    Union {
        /// Integer type of the index; tags are always int8.
        index: Index,
        /// Alternatives in the order of their tags.
        contents: Vec<Form>,
    },
}

/// Integer type of offsets and indexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Index {
    /// 32 bits, signed.
    I32,
    /// 32 bits, unsigned.
    U32,
    /// 64 bits, signed.
    I64,
}

/// Meaning of a list of bytes, from its `__array__` parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Text {
    /// UTF-8 string.
    String,
    /// Byte string.
    Bytes,
}

/// Error for a type or Form that is invalid or unsupported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FormError {
    /// The text is not JSON, with the message of the parser.
    #[error("this is no JSON: {0}")]
    Json(String),
    /// The JSON is not a Form.
    #[error("{place}: {what}")]
    Node {
        /// Path of the node, such as `content.contents[1]`.
        place: String,
        /// Description of the fault.
        what: String,
    },
    /// The text is not a type.
    #[error("at character {at} of the type {text:?}: expected {expected}")]
    Type {
        /// Number of characters before the fault.
        at: usize,
        /// Whole text.
        text: String,
        /// Description of the expected input.
        expected: String,
    },
    /// The type is nested too deeply.
    #[error("more than {} levels of structure", Form::DEEPEST)]
    Deep,
    /// The type is valid but not supported.
    #[error("{0} cannot be built")]
    Unsupported(String),
}

/// Whether brackets are nested deeper than `most`, without regard to strings.
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

/// Returns the part of a text before a JSON error.
fn before<'t>(text: &'t str, error: &serde_json::Error) -> &'t str {
    let line_start: usize =
        text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    let end = line_start.saturating_add(error.column()).min(text.len());
    text.get(..end).unwrap_or(text)
}

/// Maximum nesting depth of `serde_json`.
const DEEPEST_JSON: usize = 127;

/// Returns the child nodes as a slice.
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
    /// Maximum nesting depth of a Form.
    pub const DEEPEST: usize = 256;

    /// Creates a node without parameters and key.
    #[must_use]
    pub fn new(kind: Kind) -> Self {
        Self { kind, parameters: Parameters::new(), key: None }
    }

    /// Creates a number type.
    #[must_use]
    pub fn number(primitive: Primitive) -> Self {
        Self::new(Kind::Numpy { primitive, shape: Vec::new() })
    }

    /// Creates a string type.
    #[must_use]
    pub fn text(text: Text) -> Self {
        let kind = Kind::ListOffset { offsets: Index::I64, content: Box::new(text.item()) };
        Self::new(kind).with_parameter("__array__", text.list_name().into())
    }

    /// Creates the type of lists of this type.
    #[must_use]
    pub fn list(self) -> Self {
        Self::new(Kind::ListOffset { offsets: Index::I64, content: Box::new(self) })
    }

    /// Creates the nullable version of this type.
    #[must_use]
    pub fn option(self) -> Self {
        Self::new(Kind::IndexedOption { index: Index::I64, content: Box::new(self) })
    }

    /// Returns the node with an additional parameter.
    #[must_use]
    pub fn with_parameter(mut self, name: &str, value: Json) -> Self {
        self.parameters.insert(name.into(), value);
        self
    }

    /// Returns the name of a record; `None` for other nodes and for records without a name.
    #[must_use]
    pub fn record_name(&self) -> Option<&str> {
        self.parameter_text("__record__").filter(|_| matches!(self.kind, Kind::Record { .. }))
    }

    /// Returns the kind of string that a list is; `None` if it is not a string.
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

    /// Returns the child nodes.
    #[must_use]
    pub fn contents(&self) -> &[Self] {
        contents!(&self.kind, std::slice::from_ref::<Self>)
    }

    /// Returns the child nodes for modification.
    pub(crate) fn contents_mut(&mut self) -> &mut [Self] {
        contents!(&mut self.kind, std::slice::from_mut::<Self>)
    }

    /// Parses a Form in JSON, or a type.
    ///
    /// # Errors
    /// Returns the errors of [`from_json`](Self::from_json) if the text is JSON, otherwise those of
    /// [`from_type`](Self::from_type).
    pub fn parse(text: &str) -> Result<Self, FormError> {
        match serde_json::from_str::<Json>(text) {
            Ok(Json::Object(map)) if !map.is_empty() => Self::from_json(text),
            Ok(Json::String(_)) => Self::from_json(text),
            // JSON beyond the depth limit of its parser is not a type either.
            Err(error) if nests_deeper(before(text, &error), DEEPEST_JSON) => Self::from_json(text),
            _ => Self::from_type(text),
        }
    }

    /// Returns the Form with keys `node0`, `node1`, … in preorder.
    ///
    /// # Errors
    /// Returns [`FormError::Deep`] if the Form is nested too deeply.
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

    /// Returns the integer type with this name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|index| index.name() == name)
    }

    /// Returns the integer type whose items are of this dtype.
    pub(crate) fn from_dtype(dtype: DType) -> Option<Self> {
        Self::ALL.into_iter().find(|index| index.dtype() == dtype)
    }

    /// Returns the dtype of the items.
    pub(crate) const fn dtype(self) -> DType {
        match self {
            Self::I32 => DType::Int32,
            Self::U32 => DType::UInt32,
            Self::I64 => DType::Int64,
        }
    }

    /// Returns Awkward Array's name of the type.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::I32 => "i32",
            Self::U32 => "u32",
            Self::I64 => "i64",
        }
    }

    /// Returns the maximum of the type.
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
    /// Returns the `__array__` parameter of the list.
    #[must_use]
    pub const fn list_name(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Bytes => "bytestring",
        }
    }

    /// Returns the type of a byte of the string.
    #[must_use]
    pub fn item(self) -> Form {
        let name = match self {
            Self::String => "char",
            Self::Bytes => "byte",
        };
        Form::number(Primitive::UInt8).with_parameter("__array__", name.into())
    }
}
