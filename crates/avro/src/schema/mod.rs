//! Schemas: what a file says its values are.

mod canonical;
mod parse;
#[cfg(test)]
mod tests;

pub use parse::SchemaError;

use serde_json::{Map, Value as Json};
use std::{collections::HashMap, fmt};

/// A parsed schema: types that refer to each other by [`Id`], because types may contain themselves.
///
/// ```
/// use forthwith_avro::{Kind, Schema};
///
/// let schema: Schema = r#"{"type": "record", "name": "a.Point", "fields": [{"name": "x", "type": ["null", "double"]}]}"#.parse()?;
/// let Kind::Record { name, fields } = &schema.root().kind else { panic!() };
/// assert_eq!((name.full.as_str(), schema.describe(fields[0].schema).as_str()), ("a.Point", "union[null, double]"));
/// # Ok::<(), forthwith_avro::SchemaError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Schema {
    types: Vec<Type>,
    root: Id,
    named: HashMap<String, Id>,
}

/// A type of a [`Schema`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Id(u32);

/// One type.
#[derive(Clone, Debug, PartialEq)]
pub struct Type {
    /// How it is written.
    pub kind: Kind,
    /// The logical type, if the schema names one.
    pub logical: Option<Logical>,
    /// The description its author gave it.
    pub doc: Option<String>,
    /// Everything else the schema says of it.
    pub properties: Map<String, Json>,
}

/// How a type is written.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// No bytes.
    Null,
    /// One byte.
    Boolean,
    /// A varint of 32 bits.
    Int,
    /// A varint of 64 bits.
    Long,
    /// Four bytes.
    Float,
    /// Eight bytes.
    Double,
    /// A length and bytes.
    Bytes,
    /// A length and UTF-8.
    String,
    /// Blocks of items.
    Array(Id),
    /// Blocks of names and values.
    Map(Id),
    /// A number and the value of the type it says.
    Union(Vec<Id>),
    /// So many bytes.
    Fixed {
        /// The name.
        name: Name,
        /// Bytes.
        size: u64,
    },
    /// The number of a symbol.
    Enum {
        /// The name.
        name: Name,
        /// The symbols.
        symbols: Vec<String>,
        /// The symbol that stands for those a reader does not know.
        default: Option<String>,
    },
    /// Fields, one after the other.
    Record {
        /// The name.
        name: Name,
        /// The fields.
        fields: Vec<Field>,
    },
}

/// The name of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// With its namespace.
    pub full: String,
    /// Other names it may be known by, with their namespaces.
    pub aliases: Vec<String>,
}

impl Name {
    /// The name without its namespace.
    #[must_use]
    pub fn short(&self) -> &str {
        self.full.rsplit('.').next().unwrap_or(&self.full)
    }
}

/// One field of a record.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its type.
    pub schema: Id,
    /// Its value where the data have none, as the schema spells it.
    pub default: Option<Json>,
    /// Other names it may be known by.
    pub aliases: Vec<String>,
    /// The description its author gave it.
    pub doc: Option<String>,
    /// Everything else the schema says of it.
    pub properties: Map<String, Json>,
}

/// The meaning of a type beyond how it is written. A meaning that does not fit the type it is given to is
/// none, as the specification wants it; neither is one that is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Logical {
    /// A number with digits behind the point, in bytes or fixed: two's complement, most significant byte
    /// first.
    Decimal {
        /// Digits.
        precision: u32,
        /// Digits behind the point.
        scale: u32,
    },
    /// A string, or fixed of 16 bytes.
    Uuid,
    /// Days since 1970.
    Date,
    /// Time of day.
    Time(Unit),
    /// Time since 1970 in UTC.
    Timestamp(Unit),
    /// Time since 1970 wherever it was.
    LocalTimestamp(Unit),
    /// Fixed of 12 bytes: months, days and milliseconds.
    Duration,
}

/// The unit of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// 1/1000 s.
    Milli,
    /// 1/1000000 s.
    Micro,
    /// 1/1000000000 s.
    Nano,
}

impl Schema {
    /// Parses a schema that is asked for.
    ///
    /// # Errors
    /// It is none, and where it is not.
    pub fn parse(text: &str) -> forthwith_plan::Result<Self> {
        text.parse()
            .map_err(|bad: SchemaError| forthwith_plan::Error::invalid(format!("not an Avro schema: {bad}")))
    }

    /// The outermost type.
    #[must_use]
    pub fn root(&self) -> &Type {
        self.get(self.root)
    }

    /// The outermost type's place.
    #[must_use]
    pub const fn root_id(&self) -> Id {
        self.root
    }

    /// The type at a place in this schema.
    #[must_use]
    pub fn get(&self, id: Id) -> &Type {
        // Ids are made by parsing alone; one of another schema is a mistake of the caller's, answered with
        // the outermost type.
        self.types.get(id.0 as usize).unwrap_or(&self.types[self.root.0 as usize])
    }

    /// The type of this full name.
    #[must_use]
    pub fn named(&self, full: &str) -> Option<Id> {
        self.named.get(full).copied()
    }

    /// A type in a few words: `array[union[null, Point]]`. Named types go by their names.
    #[must_use]
    pub fn describe(&self, id: Id) -> String {
        let ty = self.get(id);
        let base = match &ty.kind {
            Kind::Array(item) => format!("array[{}]", self.describe(*item)),
            Kind::Map(value) => format!("map[{}]", self.describe(*value)),
            Kind::Union(branches) => {
                let branches: Vec<_> = branches.iter().map(|branch| self.describe(*branch)).collect();
                format!("union[{}]", branches.join(", "))
            }
            Kind::Fixed { name, size } => format!("fixed {}[{size}]", name.short()),
            Kind::Enum { name, symbols, .. } => {
                let listed =
                    symbols.iter().take(MOST_SYMBOLS).map(String::as_str).collect::<Vec<_>>().join(", ");
                let more = if symbols.len() > MOST_SYMBOLS { ", …" } else { "" };
                format!("enum {}[{listed}{more}]", name.short())
            }
            Kind::Record { name, .. } => name.short().to_owned(),
            kind => kind.primitive().unwrap_or_default().to_owned(),
        };
        match &ty.logical {
            Some(logical) => format!("{logical} ({base})"),
            None => base,
        }
    }

    /// The name of a named type.
    #[must_use]
    pub fn name(&self, id: Id) -> Option<&Name> {
        match &self.get(id).kind {
            Kind::Fixed { name, .. } | Kind::Enum { name, .. } | Kind::Record { name, .. } => Some(name),
            _ => None,
        }
    }
}

/// The types that are no more than a word.
pub(crate) static PRIMITIVES: [(&str, Kind); 8] = [
    ("null", Kind::Null),
    ("boolean", Kind::Boolean),
    ("int", Kind::Int),
    ("long", Kind::Long),
    ("float", Kind::Float),
    ("double", Kind::Double),
    ("bytes", Kind::Bytes),
    ("string", Kind::String),
];

impl Kind {
    /// The word for it, if it is one of those types.
    pub(crate) fn primitive(&self) -> Option<&'static str> {
        PRIMITIVES.iter().find(|(_, kind)| kind == self).map(|(name, _)| *name)
    }
}

/// Symbols that the name of a type lists.
const MOST_SYMBOLS: usize = 8;

impl fmt::Display for Logical {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = |unit| match unit {
            Unit::Milli => "millis",
            Unit::Micro => "micros",
            Unit::Nano => "nanos",
        };
        match *self {
            Self::Decimal { precision, scale } => write!(f, "decimal[{precision}, {scale}]"),
            Self::Uuid => f.write_str("uuid"),
            Self::Date => f.write_str("date"),
            Self::Time(u) => write!(f, "time-{}", unit(u)),
            Self::Timestamp(u) => write!(f, "timestamp-{}", unit(u)),
            Self::LocalTimestamp(u) => write!(f, "local-timestamp-{}", unit(u)),
            Self::Duration => f.write_str("duration"),
        }
    }
}
