//! The meaning of columns: Awkward Array's Form vocabulary.

use crate::{DType, LogicalType};
use serde::{Deserialize, Serialize};
use std::{borrow::Cow, collections::HashSet};

/// The structure of an array, apart from its buffers. `key` names a node; its buffers are `key-data`,
/// `key-offsets`, `key-index` and `key-tags`, as `ak.from_buffers` spells them. Offsets are always int64.
/// Several nodes may share one key (and so one offsets buffer) when the data guarantees it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Form {
    /// Nothing is known of the items and there are none.
    Empty,
    /// Numbers. `shape` holds the fixed inner dimensions, outermost first; empty for plain numbers.
    Numpy {
        /// Names the buffer `key-data`.
        key: String,
        /// Element type.
        dtype: DType,
        /// Inner dimensions.
        shape: Vec<u64>,
    },
    /// UTF-8 (or, with `binary`, arbitrary) byte strings: offsets in `key-offsets`, bytes in `key-data`.
    String {
        /// Names both buffers.
        key: String,
        /// Byte strings rather than text.
        binary: bool,
    },
    /// Lists of any length.
    List {
        /// Names the buffer `key-offsets`.
        key: String,
        /// The items.
        content: Box<Self>,
    },
    /// Lists of one fixed length.
    Regular {
        /// Items in each list.
        size: u64,
        /// The items.
        content: Box<Self>,
    },
    /// Named fields, or the slots of a tuple when `fields` is `None`.
    Record {
        /// Field names, in order.
        fields: Option<Vec<String>>,
        /// One Form a field.
        contents: Vec<Self>,
        /// The record's class name, if it has one.
        name: Option<String>,
    },
    /// Values or nulls: `key-index` (int64) holds the row of `content`, negative for null.
    Option {
        /// Names the buffer `key-index`.
        key: String,
        /// The values.
        content: Box<Self>,
    },
    /// One of several types: `key-tags` (int8) and `key-index` (int64).
    Union {
        /// Names both buffers.
        key: String,
        /// The alternatives, in tag order.
        contents: Vec<Self>,
    },
    /// Texts of which there are few different ones: `key-index` (int32) holds the number of the category,
    /// `key-offsets` and `key-data` the categories.
    Categorical {
        /// Names the buffers.
        key: String,
        /// The categories.
        categories: Vec<String>,
    },
    /// Numbers or byte strings that mean something beyond that. They are kept as without it.
    Logical {
        /// The logical type of the numbers.
        meaning: LogicalType,
        /// How they are kept.
        content: Box<Self>,
    },
}

/// The name of the tuples of key and value in lists that were maps, if the keys are no texts: such lists are
/// written as maps again.
pub const MAP: &str = "map";

impl Form {
    /// The node without what it means.
    #[must_use]
    pub fn kept(&self) -> &Self {
        match self {
            Self::Logical { content, .. } => content.kept(),
            other => other,
        }
    }

    /// What this node is made of: the items of lists, the values that there are, the fields or the alternatives.
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

    /// The same, to change it.
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

    /// The class name of a record, if it has one.
    #[must_use]
    pub fn record_name(&self) -> Option<&str> {
        if let Self::Record { name, .. } = self { name.as_deref() } else { None }
    }

    /// The length of lists of one length, and what they hold. Dimensions of numbers are such lists.
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

    /// The key and the type of numbers or truth values, in lists or not, if that is what these are.
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

    /// The type of numbers, in lists or not, if that is what these are. Truth values are none.
    #[must_use]
    pub fn number(&self) -> Option<DType> {
        self.numbers().map(|(_, dtype)| dtype).filter(|dtype| *dtype != DType::Bool)
    }

    /// Numbers of another type, in the same lists. What has no numbers stays as it is.
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

    /// Lists of this length of it, the opposite of [`fixed`](Self::fixed): of numbers a dimension more.
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

    /// This node and all below, each before what it is made of.
    pub fn nodes(&self) -> impl Iterator<Item = &Self> {
        let mut rest = vec![self];
        std::iter::from_fn(move || {
            let node = rest.pop()?;
            rest.extend(node.contents().iter().rev());
            Some(node)
        })
    }

    /// Changes this node, and then what it is made of.
    pub fn change(&mut self, change: &mut dyn FnMut(&mut Self)) {
        change(self);
        self.contents_mut().iter_mut().for_each(|content| content.change(change));
    }

    /// The key of the node's buffers, if it has any.
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

    /// The same, to change it.
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

    /// Puts this before all keys.
    pub fn prefix_keys(&mut self, prefix: &str) {
        self.rename_keys(&mut |key| format!("{prefix}{key}"));
    }

    /// Gives each node other keys, made of those that they have.
    pub fn rename_keys(&mut self, name: &mut dyn FnMut(&str) -> String) {
        self.change(&mut |node| {
            if let Some(key) = node.key_mut() {
                *key = name(key);
            }
        });
    }

    /// The keys of this node and all below.
    pub(crate) fn keys(&self) -> HashSet<&str> {
        self.nodes().filter_map(Self::key).collect()
    }

    /// The datashape-like type of one item, such as `var * 3 * float32`.
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

/// A name in a type: in quotes unless it is a word.
fn spelled(name: &str) -> Cow<'_, str> {
    let is_word = !name.starts_with(|c: char| c.is_ascii_digit())
        && !name.is_empty()
        && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    if is_word { Cow::Borrowed(name) } else { Cow::Owned(format!("{name:?}")) }
}
