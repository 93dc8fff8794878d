//! Structure of arrays: Awkward Array's Form vocabulary.

use crate::{DType, LogicalType};
use serde::{Deserialize, Serialize};
use std::{borrow::Cow, collections::HashSet};

/// Structure of an array, apart from its buffers. `key` names a node; its buffers are `key-data`,
/// `key-offsets`, `key-index` and `key-tags`, as `ak.from_buffers` names them. Offsets are always int64.
/// Several nodes may share one key, and so one offsets buffer, if their data are equal.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Form {
    /// An array of unknown type, without items.
    Empty,
    /// Numbers. `shape` holds the fixed inner dimensions, outermost first; empty for plain numbers.
    Numpy {
        /// Key of the buffer `key-data`.
        key: String,
        /// Element type.
        dtype: DType,
        /// Inner dimensions, outermost first.
        shape: Vec<u64>,
    },
    /// UTF-8 (or, with `binary`, arbitrary) byte strings: offsets in `key-offsets`, bytes in `key-data`.
    String {
        /// Key of both buffers.
        key: String,
        /// Byte strings rather than text.
        binary: bool,
    },
    /// Lists of any length.
    List {
        /// Key of the buffer `key-offsets`.
        key: String,
        /// The items.
        content: Box<Self>,
    },
    /// Lists of one fixed length.
    Regular {
        /// Number of items in each list.
        size: u64,
        /// The items.
        content: Box<Self>,
    },
    /// Named fields, or the slots of a tuple when `fields` is `None`.
    Record {
        /// Field names, in order.
        fields: Option<Vec<String>>,
        /// Forms of the fields.
        contents: Vec<Self>,
        /// Class name of the record, if it has one.
        name: Option<String>,
    },
    /// Values or nulls: `key-index` (int64) holds the row of `content`, negative for null.
    Option {
        /// Key of the buffer `key-index`.
        key: String,
        /// The values.
        content: Box<Self>,
    },
    /// One of several types: `key-tags` (int8) and `key-index` (int64).
    Union {
        /// Key of both buffers.
        key: String,
        /// The alternatives, in tag order.
        contents: Vec<Self>,
    },
    /// Dictionary-encoded text: `key-index` (int32) holds the number of the category, `key-offsets` and
    /// `key-data` the categories.
    Categorical {
        /// Key of the buffers.
        key: String,
        /// The categories.
        categories: Vec<String>,
    },
    /// Numbers or byte strings with a logical type, which does not affect their storage.
    Logical {
        /// The logical type.
        meaning: LogicalType,
        /// Form of the stored values.
        content: Box<Self>,
    },
}

/// Record name of the key-value pairs of a map with keys other than text, so that its lists are written as a
/// map again.
pub const MAP: &str = "map";

impl Form {
    /// Returns the stored Form: the content of logical types, at any depth of nesting; other nodes
    /// themselves.
    #[must_use]
    pub fn kept(&self) -> &Self {
        match self {
            Self::Logical { content, .. } => content.kept(),
            other => other,
        }
    }

    /// Returns the direct children: the content of lists, options and logical types, the fields or the
    /// alternatives.
    #[must_use]
    pub fn contents(&self) -> &[Self] {
        match self {
            Self::Empty | Self::Numpy { .. } | Self::String { .. } | Self::Categorical { .. } => &[],
            Self::List { content, .. }
            | Self::Regular { content, .. }
            | Self::Option { content, .. }
            | Self::Logical { content, .. } => std::slice::from_ref(content),
            Self::Record { contents, .. } | Self::Union { contents, .. } => contents,
        }
    }

    /// Returns the [`contents`](Self::contents), mutably.
    pub fn contents_mut(&mut self) -> &mut [Self] {
        match self {
            Self::Empty | Self::Numpy { .. } | Self::String { .. } | Self::Categorical { .. } => &mut [],
            Self::List { content, .. }
            | Self::Regular { content, .. }
            | Self::Option { content, .. }
            | Self::Logical { content, .. } => std::slice::from_mut(content),
            Self::Record { contents, .. } | Self::Union { contents, .. } => contents,
        }
    }

    /// Returns the class name of a record, if it has one.
    #[must_use]
    pub fn record_name(&self) -> Option<&str> {
        if let Self::Record { name, .. } = self { name.as_deref() } else { None }
    }

    /// Returns the length and the content of fixed-size lists, of which the dimensions of numbers are a case.
    #[must_use]
    pub fn fixed(&self) -> Option<(u64, Cow<'_, Self>)> {
        match self {
            Self::Regular { size, content } => Some((*size, Cow::Borrowed(content))),
            Self::Numpy { key, dtype, shape } => {
                let (size, inner) = shape.split_first()?;
                let inner = Self::Numpy { key: key.clone(), dtype: *dtype, shape: inner.to_vec() };
                Some((*size, Cow::Owned(inner)))
            }
            _ => None,
        }
    }

    /// Returns key and element type of numbers or booleans, at any depth of lists and options; `None` for
    /// other Forms.
    #[must_use]
    pub fn numbers(&self) -> Option<(&str, DType)> {
        match self {
            Self::Numpy { key, dtype, .. } => Some((key, *dtype)),
            Self::List { content, .. } | Self::Regular { content, .. } | Self::Option { content, .. } => {
                content.numbers()
            }
            _ => None,
        }
    }

    /// Returns the type of numbers, at any depth of lists and options; `None` for booleans and other Forms.
    #[must_use]
    pub fn number(&self) -> Option<DType> {
        self.numbers().map(|(_, dtype)| dtype).filter(|dtype| *dtype != DType::Bool)
    }

    /// Replaces the type of the numbers that [`number`](Self::number) returns. Other Forms are unchanged.
    #[must_use]
    pub fn with_number(mut self, number: DType) -> Self {
        if self.number().is_some() {
            let mut node = &mut self;
            while let Self::List { content, .. }
            | Self::Regular { content, .. }
            | Self::Option { content, .. } = node
            {
                node = content;
            }
            if let Self::Numpy { dtype, .. } = node {
                *dtype = number;
            }
        }
        self
    }

    /// Wraps the Form in lists of `size` items, the inverse of [`fixed`](Self::fixed): numbers get another
    /// dimension.
    #[must_use]
    pub fn repeated(self, size: u64) -> Self {
        match self {
            Self::Numpy { key, dtype, mut shape } => {
                shape.insert(0, size);
                Self::Numpy { key, dtype, shape }
            }
            content => Self::Regular { size, content: Box::new(content) },
        }
    }

    /// Iterates over this node and its descendants, parents first.
    pub fn nodes(&self) -> impl Iterator<Item = &Self> {
        let mut rest = vec![self];
        std::iter::from_fn(move || {
            let node = rest.pop()?;
            rest.extend(node.contents().iter().rev());
            Some(node)
        })
    }

    /// Calls `change` for this node and its descendants, parents first.
    pub fn change(&mut self, change: &mut dyn FnMut(&mut Self)) {
        change(self);
        self.contents_mut().iter_mut().for_each(|content| content.change(change));
    }

    /// Returns the key of the node's buffers, if it has any.
    fn key(&self) -> Option<&str> {
        match self {
            Self::Numpy { key, .. }
            | Self::String { key, .. }
            | Self::Categorical { key, .. }
            | Self::List { key, .. }
            | Self::Option { key, .. }
            | Self::Union { key, .. } => Some(key),
            Self::Empty | Self::Regular { .. } | Self::Logical { .. } | Self::Record { .. } => None,
        }
    }

    /// Returns the [`key`](Self::key), mutably.
    fn key_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::Numpy { key, .. }
            | Self::String { key, .. }
            | Self::Categorical { key, .. }
            | Self::List { key, .. }
            | Self::Option { key, .. }
            | Self::Union { key, .. } => Some(key),
            Self::Empty | Self::Regular { .. } | Self::Logical { .. } | Self::Record { .. } => None,
        }
    }

    /// Prepends a prefix to all keys.
    pub fn prefix_keys(&mut self, prefix: &str) {
        self.rename_keys(&mut |key| format!("{prefix}{key}"));
    }

    /// Replaces each key by the result of `name`.
    pub fn rename_keys(&mut self, name: &mut dyn FnMut(&str) -> String) {
        self.change(&mut |node| {
            if let Some(key) = node.key_mut() {
                *key = name(key);
            }
        });
    }

    /// Returns the keys of this node and its descendants.
    pub(crate) fn keys(&self) -> HashSet<&str> {
        self.nodes().filter_map(Self::key).collect()
    }

    /// Returns the type of one item in a notation like datashape, such as `var * 3 * float32`.
    #[must_use]
    pub fn type_string(&self) -> String {
        match self {
            Self::Empty => "unknown".into(),
            Self::Numpy { dtype, shape, .. } => {
                let mut text = String::new();
                for n in shape {
                    text.push_str(&format!("{n} * "));
                }
                text + dtype.name()
            }
            Self::String { binary: false, .. } => "string".into(),
            Self::String { binary: true, .. } => "bytes".into(),
            Self::Categorical { .. } => "categorical[string]".into(),
            Self::List { content, .. } => format!("var * {}", content.type_string()),
            Self::Regular { size, content } => format!("{size} * {}", content.type_string()),
            Self::Record { fields: None, contents, .. } => {
                let slots: Vec<_> = contents.iter().map(Self::type_string).collect();
                format!("({})", slots.join(", "))
            }
            Self::Record { fields: Some(names), contents, .. } => {
                let slots: Vec<_> = names
                    .iter()
                    .zip(contents)
                    .map(|(n, c)| format!("{}: {}", spelled(n), c.type_string()))
                    .collect();
                format!("{{{}}}", slots.join(", "))
            }
            Self::Logical { meaning, .. } => meaning.to_string(),
            Self::Option { content, .. } => format!("?{}", content.type_string()),
            Self::Union { contents, .. } => {
                let slots: Vec<_> = contents.iter().map(Self::type_string).collect();
                format!("union[{}]", slots.join(", "))
            }
        }
    }
}

/// Quotes a name in a type unless it is a word.
fn spelled(name: &str) -> Cow<'_, str> {
    let is_word = !name.starts_with(|c: char| c.is_ascii_digit())
        && !name.is_empty()
        && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    if is_word { Cow::Borrowed(name) } else { Cow::Owned(format!("{name:?}")) }
}
